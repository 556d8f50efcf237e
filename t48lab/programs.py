"""Programs: an agent's or spawner's parameters as the arrays that a compiled search reads."""

from __future__ import annotations

import functools
import importlib
import sys
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import PlainValidator

from t48lab.board import DIRECTIONS
from t48lab.evaluators import PRESETS, Evaluator, get_evaluator
from t48lab.kernels import layout
from t48lab.rules import Rules

ENGINE = "1"
"""Version of the rules, spawns and searches; goes up when games of every agent change, see `Agent.engine`."""

COMPILING = "compiling kernels, once per machine: about 30 s\n"
COMPILING_AGAIN = "compiling kernels, about 30 s each time: set NUMBA_CACHE_DIR to a folder that can be written to\n"
_MEMORIES_KEPT = 3


@dataclass(frozen=True, eq=False)
class Program:
    """What a compiled search needs, see `kernels/layout.py`; shared between threads and never changed."""

    kernel: str
    settings: NDArray[np.int64]
    reals: NDArray[np.float64]
    moves: NDArray[np.uint16]
    rules: NDArray[np.uint64]
    lines: NDArray[np.int32]
    extra: NDArray[np.int64]
    memory_words: int
    timed: bool = False
    purpose: int = layout.SEARCH_STREAM


def assemble(
    kernel: str,
    rules: Rules,
    integers: Mapping[int, int] | None = None,
    reals: Mapping[int, float] | None = None,
    evaluator: str | Evaluator | None = None,
    order: Sequence[str] = DIRECTIONS,
    memory_words: int = 1,
    seed: int = 0,
) -> Program:
    """The program of a kernel with the given settings by place; without an evaluator its tables are blank."""
    settings = np.zeros(layout.SETTINGS_SIZE, np.int64)
    settings[layout.ORDER : layout.ORDER + 4] = [DIRECTIONS.index(name) for name in order]
    for place, number in (integers or {}).items():
        settings[place] = number
    numbers = np.zeros(layout.REALS_SIZE, np.float64)
    for place, real in (reals or {}).items():
        numbers[place] = real
    moves, board_rules = rules.arrays()
    lines, extra = _tables(evaluator, rules)
    timed = bool(numbers[layout.SECONDS] > 0)
    purpose = layout.SEARCH_STREAM + 2 * seed
    return Program(kernel, settings, numbers, moves, board_rules, lines, extra, memory_words, timed, purpose)


def with_bounds(program: Program) -> Program:
    """The program with tables behind its evaluator's that bound a board's value by the sum of its tiles.

    Without them when the evaluator has terms that are no sums over lines.
    """
    if program.extra[layout.CLASS] != layout.PURE_LINES:
        return program
    rows, columns = program.extra[[layout.BLOCKS + layout.ROW_TABLES, layout.BLOCKS + layout.COLUMN_TABLES]]
    bounds = load("tilesums").tables(program.lines, np.uint64(rows), np.uint64(columns))
    settings = program.settings.copy()
    settings[layout.BOUNDS] = len(program.lines)
    return replace(program, settings=settings, lines=np.concatenate([program.lines, bounds]))


def _tables(evaluator: str | Evaluator | None, rules: Rules) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    if evaluator is None:
        return np.zeros(1, np.int32), np.zeros(layout.BLOCKS + layout.BLOCK, np.int64)
    compiled = get_evaluator(evaluator).compile(rules)
    return compiled.lines, compiled.extra


def evaluator_choice(value: object) -> str | Evaluator:
    """A preset's name, or an evaluator read from a file, an object or a mapping; equal presets go by name."""
    if isinstance(value, str) and value in PRESETS:
        return value
    evaluator = Evaluator(**value) if isinstance(value, dict) else get_evaluator(value)  # type: ignore[arg-type]
    return next((name for name, preset in PRESETS.items() if preset == evaluator), evaluator)


EvaluatorChoice = Annotated[str | Evaluator, PlainValidator(evaluator_choice)]


@functools.cache
def load(kernel: str) -> Any:
    """The module of a compiled kernel; says on stderr when that has to compile first."""
    with _notice():
        return importlib.import_module(kernel if "." in kernel else f"t48lab.kernels.{kernel}")


_told = threading.Event()


@contextmanager
def _notice() -> Iterator[None]:
    from numba.core import event

    from t48lab.kernels.caching import homeless

    class Compiling(event.Listener):
        def on_start(self, event: Any) -> None:
            if not _told.is_set():
                _told.set()
                sys.stderr.write(COMPILING_AGAIN if homeless else COMPILING)
                sys.stderr.flush()

        def on_end(self, event: Any) -> None:
            pass

    with event.install_listener("numba:compile", Compiling()):
        yield


class _Memories(threading.local):
    def __init__(self) -> None:
        self.searches = 0
        self.kept: OrderedDict[tuple[str, int], NDArray[np.uint64]] = OrderedDict()


_memories = _Memories()


def memory(program: Program) -> NDArray[np.uint64]:
    """This thread's array for programs of one kernel and size (uint64), kept and used again.

    What other searches left in it never matches: every search and every game has a generation of its own.
    """
    key = (program.kernel, program.memory_words)
    kept = _memories.kept
    if key not in kept:
        kept[key] = np.zeros(program.memory_words, np.uint64)
        if len(kept) > _MEMORIES_KEPT:
            kept.popitem(last=False)
    kept.move_to_end(key)
    return kept[key]


def fresh_generation() -> int:
    """An odd number below 2^63 that this thread's memories have not seen: the salt of one search."""
    _memories.searches += 1
    return (_memories.searches * 0x9E3779B97F4A7C15) & (2**63 - 1) | 1

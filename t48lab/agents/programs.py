"""Programs: an agent's or spawner's parameters as the arrays that a compiled search reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from t48lab.board import DIRECTIONS
from t48lab.compiled import load, memory
from t48lab.evaluators import BaseEvaluator, get_evaluator
from t48lab.kernels import layout
from t48lab.rules import Rules

ENGINE = "1"
"""Version of the rules, spawns and searches; goes up when games of every agent change, see `Agent.engine`."""


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

    def memory(self) -> NDArray[np.uint64]:
        """This thread's array for programs of this kernel and size, see `compiled.memory`."""
        return memory(self.kernel, self.memory_words)


def assemble(
    kernel: str,
    rules: Rules,
    integers: Mapping[int, int] | None = None,
    reals: Mapping[int, float] | None = None,
    evaluator: str | BaseEvaluator | None = None,
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


def _tables(evaluator: str | BaseEvaluator | None, rules: Rules) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    if evaluator is None:
        return np.zeros(1, np.int32), np.zeros(layout.BLOCKS + layout.BLOCK, np.int64)
    compiled = get_evaluator(evaluator).compile(rules)
    return compiled.lines, compiled.extra

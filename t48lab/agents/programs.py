"""Programs: an agent's or spawner's parameters as the arrays that a compiled search reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from t48lab.board import DIRECTIONS
from t48lab.compiled import load, memory
from t48lab.evaluators import BaseEvaluator, get_evaluator
from t48lab.kernels.layout import BLOCK, CLASS, EXTRA, REALS, SETTINGS, STREAM, AgentArrays
from t48lab.rules import Rules

ENGINE = "1"
"""Version of the rules, spawns and searches; goes up when games of every agent change, see `Agent.engine`."""


NO_BOOK = np.zeros(1, np.uint64)
"""The book of an agent without one."""
NO_BOOK.flags.writeable = False


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
    book: NDArray[np.uint64] = field(default_factory=lambda: NO_BOOK)
    timed: bool = False
    purpose: int = STREAM.SEARCH

    def memory(self) -> NDArray[np.uint64]:
        """This thread's array for programs of this kernel and size, see `compiled.memory`."""
        return memory(self.kernel, self.memory_words)

    def agent(self, generation: int = 0, best_only: bool = False) -> AgentArrays:
        """What one call of the search is handed on this thread: settings of its own, this thread's memory, the rest.

        A game loop chooses the generation itself.
        """
        settings = self.settings.copy()
        settings[SETTINGS.GENERATION], settings[SETTINGS.BEST_ONLY] = generation, best_only
        memory = self.memory()
        return AgentArrays(settings, self.reals, self.moves, self.rules, self.lines, self.extra, memory, self.book)


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
    settings = np.zeros(SETTINGS.SIZE, np.int64)
    settings[SETTINGS.ORDER : SETTINGS.ORDER + 4] = [DIRECTIONS.index(name) for name in order]
    for place, number in (integers or {}).items():
        settings[place] = number
    numbers = np.zeros(REALS.SIZE, np.float64)
    for place, real in (reals or {}).items():
        numbers[place] = real
    moves, board_rules = rules.arrays()
    lines, extra = _tables(evaluator, rules)
    timed = bool(numbers[REALS.SECONDS] > 0)
    purpose = STREAM.SEARCH + 2 * seed
    arrays = settings, numbers, moves, board_rules, lines, extra
    return Program(kernel, *arrays, memory_words, timed=timed, purpose=purpose)


def with_bounds(program: Program) -> Program:
    """The program with tables behind its evaluator's that bound a board's value by the sum of its tiles.

    Without them when the evaluator has terms that are no sums over lines.
    """
    if program.extra[EXTRA.CLASS] != CLASS.LINES:
        return program
    rows, columns = program.extra[[EXTRA.BLOCKS + BLOCK.ROW_TABLES, EXTRA.BLOCKS + BLOCK.COLUMN_TABLES]]
    bounds = load("tilesums").tables(program.lines, np.uint64(rows), np.uint64(columns))
    settings = program.settings.copy()
    settings[SETTINGS.BOUNDS] = len(program.lines)
    return replace(program, settings=settings, lines=np.concatenate([program.lines, bounds]))


def _tables(evaluator: str | BaseEvaluator | None, rules: Rules) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    if evaluator is None:
        return np.zeros(1, np.int32), np.zeros(EXTRA.BLOCKS + BLOCK.SIZE, np.int64)
    compiled = get_evaluator(evaluator).compile(rules)
    return compiled.lines, compiled.extra

"""Searches written as the five systems published them, slowly and with every step counted.

What a memo, an order of moves, a bound or a legality check saves is a property of the published program, not of
the fast kernels here, which save in other ways. So these programs exist to be counted: they find the same values.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np

from t48lab.board import DIRECTIONS, Board
from t48lab.compiled import load
from t48lab.evaluators import Evaluator, get_evaluator
from t48lab.kernels.layout import EXTRA, RULES, TABLE
from t48lab.records import Record, parameter
from t48lab.rules import Rules

Evaluate = Callable[[int], float]
Grid = list[list[int]]


class Switches(Record):
    """What a published program does beside searching."""

    name: ClassVar[str] = "a published program"
    layers: int = parameter(4, "layers of player and chance nodes below the root", "layers", ge=1, le=8)
    memo: Literal["none", "values", "evaluations"] = parameter(
        "none",
        "keep values by (board, layers left, kind) for one search, or evaluations by board from search to search",
    )
    capacity: int = parameter(10_000, "evaluations kept, the least recently used goes first", "boards", ge=1)
    ordered: bool = parameter(False, "try the moves with the best evaluated afterstates first")
    skip_illegal: bool = parameter(True, "leave out moves that change nothing")
    beta: float | None = parameter(None, "stop looking at a player node's moves once one is worth this much")
    full_leaf: bool = parameter(False, "a full board is a leaf")


@dataclass
class Counts:
    """What a search did and found; `visits` = nodes reached, `nodes` = those that the memo of values did not answer."""

    visits: int = 0
    nodes: int = 0
    expanded: int = 0
    evaluations: int = 0
    lookups: int = 0
    hits: int = 0
    best: str | None = None
    values: dict[str, float] = field(default_factory=dict)


class Published:
    """A program that searches 4x4 boards up to 32768; its memo of evaluations lives as long as it does."""

    def __init__(
        self,
        evaluator: str | Evaluator,
        switches: Switches,
        order: Iterable[str] = DIRECTIONS,
        evaluate: Evaluate | None = None,
    ) -> None:
        self.switches, self.order = switches, [DIRECTIONS.index(name) for name in order]
        self.evaluate = evaluate or compiled(evaluator)
        self.kept: OrderedDict[int, float] = OrderedDict()
        self.values: dict[tuple[int, int, bool], float] = {}
        self.slide, self.moves = load("bitboard").slide, Rules().arrays()[0]
        self.counts = Counts()

    def search(self, board: Board | str) -> Counts:
        """What searching a position takes, and finds."""
        b = Board.parse(board).low
        self.counts, self.values = Counts(visits=1, nodes=1, expanded=1), {}
        beta = math.inf if self.switches.beta is None else self.switches.beta
        found = [
            (d, self._node(after, self.switches.layers - 1, False, -math.inf, beta)) for d, after in self._moves(b)
        ]
        self.counts.values = {DIRECTIONS[d]: value for d, value in found}
        if found:
            self.counts.best = DIRECTIONS[max(found, key=lambda pair: pair[1])[0]]
        return self.counts

    def _moves(self, b: int) -> list[tuple[int, int]]:
        """(direction, afterstate) of the moves that the program looks at, in its order."""
        moves = [(d, int(self.slide(b, d, self.moves))) for d in self.order]
        if self.switches.skip_illegal:
            moves = [(d, after) for d, after in moves if after != b]
        if self.switches.ordered:
            moves.sort(key=lambda move: -self._evaluated(move[1]))
        return moves

    def _node(self, b: int, left: int, player: bool, alpha: float, beta: float) -> float:
        """The value of a board with `left` layers below it, with the player to move or before a spawn."""
        self.counts.visits += 1
        key = (b, left, player)
        if self.switches.memo == "values":
            self.counts.lookups += 1
            if key in self.values:
                self.counts.hits += 1
                return self.values[key]
        self.counts.nodes += 1
        full = not any((b >> shift) & 15 == 0 for shift in range(0, 64, 4))
        if left == 0 or (full and (not player or self.switches.full_leaf)):
            value = self._evaluated(b)
        else:
            self.counts.expanded += 1
            value = self._best(b, left, alpha, beta) if player else self._mean(b, left, alpha, beta)
        if self.switches.memo == "values":
            self.values[key] = value
        return value

    def _best(self, b: int, left: int, alpha: float, beta: float) -> float:
        best = -math.inf
        for _, after in self._moves(b):
            best = max(best, self._node(after, left - 1, False, alpha, beta))
            alpha = max(alpha, best)
            if alpha >= beta:
                break
        return best if best > -math.inf else self._evaluated(b)

    def _mean(self, b: int, left: int, alpha: float, beta: float) -> float:
        places = [shift for shift in range(0, 64, 4) if (b >> shift) & 15 == 0]
        total = 0.0
        for shift in places:
            total += 0.9 * self._node(b | 1 << shift, left - 1, True, alpha, beta)
            total += 0.1 * self._node(b | 2 << shift, left - 1, True, alpha, beta)
        return total / len(places)

    def _evaluated(self, b: int) -> float:
        if self.switches.memo != "evaluations":
            self.counts.evaluations += 1
            return self.evaluate(b)
        self.counts.lookups += 1
        if b in self.kept:
            self.counts.hits += 1
            self.kept.move_to_end(b)
            return self.kept[b]
        self.counts.evaluations += 1
        value = self.kept[b] = self.evaluate(b)
        if len(self.kept) > self.switches.capacity:
            self.kept.popitem(last=False)
        return value


def compiled(evaluator: str | Evaluator) -> Evaluate:
    """The evaluator as a function of packed 4x4 boards."""
    lines, extra = get_evaluator(evaluator).compile()
    evaluate, mask = load("lines").evaluate, Rules().arrays()[1][RULES.MASK]
    unit = 2.0 ** -int(extra[EXTRA.SHIFT])
    return lambda b: float(evaluate(b, lines, extra, mask)) * unit


def plain_d4(b: int) -> float:
    """System D's final evaluator as its author would write it, in loops over a grid of tile values."""
    grid = grid_of(b)
    cells = [tile for row in grid for tile in row]
    empty, largest = cells.count(0), max(cells)
    if empty == 0:
        return -1e9
    violations = sum(a > c > 0 for row in grid for a, c in pairwise(row))
    for column in zip(*grid, strict=True):
        tiles = [tile for tile in column if tile]
        violations += sum(a > c for a, c in pairwise(tiles))
    rough = 0
    for i in range(4):
        for j in range(4):
            for k, m in ((i, j + 1), (i + 1, j)):
                if k < 4 and m < 4 and grid[i][j] and grid[k][m]:
                    rough += abs(grid[i][j] - grid[k][m])
    corner = largest * (1.0 if grid[0][0] == largest else 0.25)
    return largest + 2.7 * empty - violations - 0.1 * rough + corner


def grid_of(b: int) -> Grid:
    """The tile values of a packed board, row by row."""
    ranks = [(b >> shift) & 15 for shift in range(60, -4, -4)]
    values = [1 << rank if rank else 0 for rank in ranks]
    return [values[i : i + 4] for i in range(0, 16, 4)]


def left_of_bits(b: int) -> int:
    """The board after a move to the left: four look-ups."""
    table = _rows()
    high = table[b >> 48] << 48 | table[b >> 32 & 0xFFFF] << 32
    return high | table[b >> 16 & 0xFFFF] << 16 | table[b & 0xFFFF]


@cache
def _rows() -> list[int]:
    rows: list[int] = Rules().arrays()[0][:TABLE].tolist()
    return rows


def left_of_lists(grid: Grid) -> Grid:
    """A copy of a grid after a move to the left, on lists of lists."""
    after = [row[:] for row in grid]
    for row in after:
        row[:] = _packed(row)
    return after


def left_of_array(grid: Any) -> Any:
    """A copy of a grid after a move to the left, on a NumPy array."""
    after = grid.copy()
    for i in range(4):
        after[i] = _packed(after[i])
    return after


def _packed(row: Any) -> list[int]:
    """A row after a move to its start: `2 2 4 . -> 4 4 . .`."""
    tiles = [tile for tile in row if tile]
    packed, i = [], 0
    while i < len(tiles):
        twins = i + 1 < len(tiles) and tiles[i] == tiles[i + 1]
        packed.append(2 * tiles[i] if twins else tiles[i])
        i += 2 if twins else 1
    return packed + [0] * (4 - len(packed))


def array_of(b: int) -> Any:
    """The tile values of a packed board as a NumPy array."""
    return np.array(grid_of(b))

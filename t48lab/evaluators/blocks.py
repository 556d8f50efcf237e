"""A stage's numbers before they become fixed point: what the kinds of terms write, and `tables.py` reads."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from t48lab.kernels.layout import BLOCK, CORNER, TABLE

Reals = NDArray[np.float64]
Ranks = NDArray[np.int64]
Function = Callable[..., Reals]


class Block:
    """A stage's numbers in float64: eight line tables, and everything by largest rank, empty cells or heat."""

    def __init__(self, rows: int, cols: int) -> None:
        self.row, self.column = np.zeros((2, TABLE))
        self.placed: dict[int, Reals] = {}
        self.inside, self.outside = np.zeros((2, 16))
        self.empty, self.squash = np.zeros(17), np.zeros(BLOCK.SQUASH_SIZE)
        self.rule = CORNER.ANYWHERE
        self.heat: Ranks | None = None
        self.rows, self.cols = rows, cols

    def tables(self) -> list[Reals | None]:
        """The tables of row 0 to 3 and column 0 to 3, None for lines that the board does not have."""
        rows = [self.row + self.placed.get(i, 0.0) for i in range(self.rows)]
        columns = [self.column] * self.cols
        return [*rows, *[None] * (4 - self.rows), *columns, *[None] * (4 - self.cols)]

    def others(self) -> Iterator[tuple[int, Reals]]:
        """Place in the block and float64 numbers of everything but the line tables."""
        yield BLOCK.PEAK_OUT, self.outside
        yield BLOCK.PEAK_IN, self.inside
        yield BLOCK.EMPTY, self.empty
        yield BLOCK.SQUASH, self.squash


@functools.cache
def all_lines(cells: int) -> Ranks:
    """Ranks of the first `cells` cells of all lines, int64[65536, cells]; do not change them."""
    lines = np.arange(TABLE)
    return np.stack([(lines >> (12 - 4 * i)) & 15 for i in range(cells)], axis=1)


@functools.lru_cache(maxsize=32)
def line_values(function: Function, cells: int, exponent: float | None) -> Reals:
    """A line term's value of all lines, float64[65536]; do not change it. Kept: tuning asks with other weights."""
    return function(all_lines(cells), exponent)

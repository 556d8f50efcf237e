"""The rules of a game: the board's size and how often a spawned tile is a 4."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from t48lab.compiled import load
from t48lab.records import Record, parameter


class Rules(Record):
    """Rules of one kind of game; two records are equal when all parameters are."""

    rows: int = parameter(4, "Rows of the board", ge=2, le=4)
    cols: int = parameter(4, "Columns of the board", ge=2, le=4)
    four_probability: float = parameter(0.1, "Probability that a spawned tile is a 4", ge=0.0, le=1.0)

    def arrays(self) -> tuple[NDArray[np.uint16], NDArray[np.uint64]]:
        """(moves, rules) as every kernel reads them; shared, not to be changed.

        moves: uint16[3*65536], see `kernels.bitboard.build_moves`. rules: uint64[4], see `kernels/layout.py`;
        a spawn is a 4 when 32 random bits are below round(four_probability * 2^32).
        """
        return _moves(self.rows, self.cols), _numbers(self.rows, self.cols, self.four_probability)


@cache
def _moves(rows: int, cols: int) -> NDArray[np.uint16]:
    moves: NDArray[np.uint16] = load("bitboard").build_moves(rows, cols)
    return moves


@cache
def _numbers(rows: int, cols: int, four_probability: float) -> NDArray[np.uint64]:
    mask = sum(1 << (60 - 4 * (4 * r + c)) for r in range(rows) for c in range(cols))
    return np.array([mask, round(four_probability * 2**32), rows, cols], np.uint64)

"""Slides through raw pointers, for the recursive searches: whole boards, and what one changed line does.

A slide packs rows; up and down pack the rows of the transposed board. Tables start at `table_of(direction)`.
"""

import numpy as np
from numba import njit, types

from t48lab.kernels.bitboard import transpose
from t48lab.kernels.layout import TABLE
from t48lab.kernels.pointers import P_U16
from t48lab.kernels.signature import I64, KERNEL, U64

U = np.uint64
LINE, COLUMN = U(0xFFFF), U(0x000F000F000F000F)


@njit(U64(I64), **KERNEL)
def table_of(direction):
    """Where the move table of a direction starts: left and up share the first."""
    return U(TABLE * (direction % 3))


@njit(U64(U64, U64, P_U16), **KERNEL)
def packed(b, table, moves):
    """The board with its four rows replaced through the move table at offset `table`."""
    high = (U(moves[table + (b >> U(48))]) << U(48)) | (U(moves[table + ((b >> U(32)) & LINE)]) << U(32))
    return high | (U(moves[table + ((b >> U(16)) & LINE)]) << U(16)) | U(moves[table + (b & LINE)])


@njit(U64(U64, I64, P_U16), **KERNEL)
def afterstate(b, direction, moves):
    """The board after a move; the same board when the move is illegal."""
    table = table_of(direction)
    return packed(b, table, moves) if direction & 1 else transpose(packed(transpose(b), table, moves))


@njit(types.boolean(U64, P_U16), **KERNEL)
def stuck(b, moves):
    """Whether no move is legal."""
    for direction in range(4):
        if afterstate(b, direction, moves) != b:
            return False
    return True


@njit(U64(U64), **KERNEL)
def spread(line):
    """The four cells of a line as the first cells of four lines: `a b c d` becomes a column."""
    x = (line | (line << U(24))) & U(0x000000FF000000FF)
    return (x | (x << U(12))) & COLUMN

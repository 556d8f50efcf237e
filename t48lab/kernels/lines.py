"""The evaluator in compiled form: tables over 16-bit lines, and the few terms that need the whole board.

An evaluator travels as `lines` (int32, tables of 65536 fixed-point entries) and `extra` (int64, see
layout.py); a value is `fixed * 2**-extra[SHIFT]`. Every function takes arrays or raw pointers to them.
"""

import numpy as np
from numba import njit, types

from t48lab.kernels.bitboard import count_empty, transpose
from t48lab.kernels.layout import (
    ANY_CORNER,
    BLOCK,
    BLOCKS,
    CLASS,
    COLUMN_TABLES,
    CONSTANT,
    CORNER_RULE,
    CORNERS,
    EMPTY,
    FIRST_IN_CORNER,
    FULL_ALONE,
    GENERAL,
    HEAT,
    LINES_AND_PEAK,
    LOST,
    LOST_KIND,
    PEAK_IN,
    PEAK_OUT,
    PHASE_TABLE,
    PHASES,
    ROW_TABLES,
    SQUASH,
    SQUASH_SIZE,
    TOP_LEFT,
)
from t48lab.kernels.pointers import P_I32, P_I64
from t48lab.kernels.signature import EXTRA, I64, KERNEL, LINES, U64

U, I = np.uint64, np.int64
ZERO, LINE = U(0), U(0xFFFF)
TOP_BITS = U(0x8888888888888888)
TOP_LEFT_CELL = U(0x8000000000000000)


@njit([I64(U64, U64, LINES), I64(U64, U64, P_I32)], **KERNEL)
def four_lines(b, table, lines):
    """Sum of one table's entries for the four rows of `b`; `table` is its offset in `lines`."""
    return (
        I(lines[table + (b >> U(48))])
        + I(lines[table + ((b >> U(32)) & LINE)])
        + I(lines[table + ((b >> U(16)) & LINE)])
        + I(lines[table + (b & LINE)])
    )


@njit(types.Tuple((U64, I64))(U64), **KERNEL)
def largest(b):
    """Top bits of the cells that hold the largest rank, and that rank: all 16 and 0 on the empty board."""
    cells, rank = TOP_BITS, I(0)
    for bit in range(4):
        higher = (b << U(bit)) & cells
        if higher != ZERO:
            cells = higher
            rank += I(8 >> bit)
    return cells, rank


@njit([I64(U64, I64, EXTRA), I64(U64, I64, P_I64)], **KERNEL)
def peak(b, block, extra):
    """Fixed-point value of the largest tile, by its rank and whether the corner rule of the block holds."""
    cells, rank = largest(b)
    rule = extra[block + CORNER_RULE]
    corners = cells & (U(extra[block + CORNERS]) << U(3))
    holds = False
    if rule == ANY_CORNER:
        holds = corners != ZERO
    elif rule == TOP_LEFT:
        holds = (cells & TOP_LEFT_CELL) != ZERO
    elif rule == FIRST_IN_CORNER:
        holds = corners > (cells ^ corners)  # the highest bit is the first cell, row by row
    return extra[block + PEAK_IN + rank] if holds else extra[block + PEAK_OUT + rank]


@njit([I64(U64, U64, I64, LINES, EXTRA), I64(U64, U64, I64, P_I32, P_I64)], **KERNEL)
def _own_lines(b, t, block, lines, extra):
    """Sum of eight table entries, every row and column with a table of its own; `t` is `b` transposed."""
    total = I(0)
    for i in range(4):
        shift = U(48 - 16 * i)
        total += I(lines[U(extra[block + ROW_TABLES + i]) + ((b >> shift) & LINE)])
        total += I(lines[U(extra[block + COLUMN_TABLES + i]) + ((t >> shift) & LINE)])
    return total


@njit([I64(U64, LINES, EXTRA, U64), I64(U64, P_I32, P_I64, U64)], **KERNEL)
def _general(b, lines, extra, mask):
    """Fixed-point value with every kind of term; slower than the two other classes."""
    free = count_empty(b, mask)
    block = I(BLOCKS)
    if extra[PHASES] > 1:
        block += BLOCK * extra[PHASE_TABLE + 17 * largest(b)[1] + free]
    if free == 0 and extra[block + FULL_ALONE] != 0:
        return extra[block + EMPTY]
    t = transpose(b)
    total = _own_lines(b, t, block, lines, extra) + peak(b, block, extra)
    total += extra[block + EMPTY + free] + extra[block + CONSTANT]
    if extra[block + HEAT] >= 0:
        heat = U(extra[block + HEAT])
        warmth = (four_lines(b, heat, lines) + four_lines(t, heat, lines)) >> 1
        total += extra[block + SQUASH + min(warmth, I(SQUASH_SIZE - 1))]
    return total


@njit([I64(U64, LINES, EXTRA, U64), I64(U64, P_I32, P_I64, U64)], **KERNEL)
def evaluate(b, lines, extra, mask):
    """Fixed-point value of board `b`; `mask` is the rules' mask of playable cells."""
    kind = extra[CLASS]
    if kind == GENERAL:
        return _general(b, lines, extra, mask)
    total = four_lines(b, U(extra[BLOCKS + ROW_TABLES]), lines)
    total += four_lines(transpose(b), U(extra[BLOCKS + COLUMN_TABLES]), lines)
    if kind == LINES_AND_PEAK:
        total += peak(b, I(BLOCKS), extra)
    return total


@njit([I64(U64, LINES, EXTRA, U64), I64(U64, P_I32, P_I64, U64)], **KERNEL)
def lost_value(b, lines, extra, mask):
    """Fixed-point value of a position without a legal move: the evaluator's number, or its evaluation."""
    if extra[LOST_KIND] == 0:
        return extra[LOST]
    return evaluate(b, lines, extra, mask)

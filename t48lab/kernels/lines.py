"""The evaluator in compiled form: tables over 16-bit lines, and the few terms that need the whole board.

An evaluator travels as `lines` (int32, tables of fixed-point entries, 65536 for each kind of line) and `extra` (int64,
see layout.py); a value is `fixed * 2**-extra[EXTRA.SHIFT]`. Every function takes arrays or raw pointers to them.

`EXTRA.CLASS` says what a search may assume, `EXTRA.FORM` how the evaluator of a whole board is stored: a new form is
one more branch in `whole_board`, and no search knows of it.
"""

import numpy as np
from numba import njit, types

from t48lab.kernels.bitboard import LINE, count_empty, max_rank, slide, transpose
from t48lab.kernels.cells import tuples
from t48lab.kernels.layout import BLOCK, CLASS, CORNER, EXTRA, FORM, LOST
from t48lab.kernels.netlanes import points_of
from t48lab.kernels.netvalue import net_value
from t48lab.kernels.pointers import P_I32, P_I64, P_U16, pointer
from t48lab.kernels.signature import I32S, I64, I64S, KERNEL, U16S, U64

U, I = np.uint64, np.int64
ZERO = U(0)
TOP_BITS = U(0x8888888888888888)
TOP_LEFT_CELL = U(0x8000000000000000)


@njit([I64(U64, U64, I32S), I64(U64, U64, P_I32)], **KERNEL)
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


@njit([I64(U64, I64, I64S), I64(U64, I64, P_I64)], **KERNEL)
def peak(b, block, extra):
    """Fixed-point value of the largest tile, by its rank and whether the corner rule of the block holds."""
    cells, rank = largest(b)
    rule = extra[block + BLOCK.CORNER_RULE]
    corners = cells & (U(extra[block + BLOCK.CORNERS]) << U(3))
    holds = False
    if rule == CORNER.ANY:
        holds = corners != ZERO
    elif rule == CORNER.TOP_LEFT:
        holds = (cells & TOP_LEFT_CELL) != ZERO
    elif rule == CORNER.FIRST:
        holds = corners > (cells ^ corners)  # the highest bit is the first cell, row by row
    return extra[block + BLOCK.PEAK_IN + rank] if holds else extra[block + BLOCK.PEAK_OUT + rank]


@njit([I64(U64, U64, I64, I32S, I64S), I64(U64, U64, I64, P_I32, P_I64)], **KERNEL)
def _own_lines(b, t, block, lines, extra):
    """Sum of eight table entries, every row and column with a table of its own; `t` is `b` transposed."""
    total = I(0)
    for i in range(4):
        shift = U(48 - 16 * i)
        total += I(lines[U(extra[block + BLOCK.ROW_TABLES + i]) + ((b >> shift) & LINE)])
        total += I(lines[U(extra[block + BLOCK.COLUMN_TABLES + i]) + ((t >> shift) & LINE)])
    return total


@njit([I64(U64, I32S, I64S, U64), I64(U64, P_I32, P_I64, U64)], **KERNEL)
def _terms(b, lines, extra, mask):
    """Fixed-point value with every kind of term; slower than a sum over lines."""
    free = count_empty(b, mask)
    block = I(EXTRA.BLOCKS)
    if extra[EXTRA.PHASES] > 1:
        block += BLOCK.SIZE * extra[EXTRA.PHASE_TABLE + 17 * largest(b)[1] + free]
    if free == 0 and extra[block + BLOCK.FULL_ALONE] != 0:
        return extra[block + BLOCK.EMPTY]
    t = transpose(b)
    total = _own_lines(b, t, block, lines, extra) + peak(b, block, extra)
    total += extra[block + BLOCK.EMPTY + free]
    if extra[block + BLOCK.HEAT] >= 0:
        heat = U(extra[block + BLOCK.HEAT])
        warmth = (four_lines(b, heat, lines) + four_lines(t, heat, lines)) >> 1
        total += extra[block + BLOCK.SQUASH + min(warmth, I(BLOCK.SQUASH_SIZE - 1))]
    return total


@njit([I64(U64, I32S, I64S, U64), I64(U64, P_I32, P_I64, U64)], **KERNEL)
def whole_board(b, lines, extra, mask):
    """Fixed-point value by an evaluator of which nothing is assumed, whatever its form."""
    if extra[EXTRA.FORM] == FORM.CELLS:
        return tuples(b, lines, extra)
    if extra[EXTRA.FORM] == FORM.NET:
        return net_value(b, transpose(b), pointer(lines), pointer(extra))
    return _terms(b, lines, extra, mask)


@njit([I64(U64, I32S, I64S, U64), I64(U64, P_I32, P_I64, U64)], **KERNEL)
def evaluate(b, lines, extra, mask):
    """Fixed-point value of board `b`; `mask` is the rules' mask of playable cells."""
    kind = extra[EXTRA.CLASS]
    if kind == CLASS.WHOLE_BOARD:
        return whole_board(b, lines, extra, mask)
    total = four_lines(b, U(extra[EXTRA.BLOCKS + BLOCK.ROW_TABLES]), lines)
    total += four_lines(transpose(b), U(extra[EXTRA.BLOCKS + BLOCK.COLUMN_TABLES]), lines)
    if kind == CLASS.LINES_AND_PEAK:
        total += peak(b, I(EXTRA.BLOCKS), extra)
    return total


@njit([I64(U64, I32S, I64S, U64), I64(U64, P_I32, P_I64, U64)], **KERNEL)
def lost_value(b, lines, extra, mask):
    """Fixed-point value of a position without a legal move: the evaluator's number, its evaluation, its points."""
    if extra[EXTRA.LOST_KIND] == LOST.NUMBER:
        return extra[EXTRA.LOST]
    if extra[EXTRA.LOST_KIND] == LOST.POTENTIAL:
        return points_of(b) << extra[EXTRA.SHIFT]
    return evaluate(b, lines, extra, mask)


@njit([I64(U64, I64S), I64(U64, P_I64)], **KERNEL)
def earned(b, extra):
    """What a value of a board contains of points that are made already, fixed point: `value - earned` is to come."""
    return points_of(b) << extra[EXTRA.SHIFT] if extra[EXTRA.EARNS] else I(0)


@njit([I64(U64, U16S, I32S, I64S, U64), I64(U64, P_U16, P_I32, P_I64, U64)], **KERNEL)
def standing(b, moves, lines, extra, mask):
    """Fixed-point value of a position that is looked into no further; by a net, that of the best next afterstate."""
    best, free = I(0), False
    for direction in range(4):
        after = slide(b, direction, moves)
        if after != b:
            if extra[EXTRA.EARNS] == 0:
                return evaluate(b, lines, extra, mask)
            value = evaluate(after, lines, extra, mask)
            best = max(best, value) if free else value
            free = True
    return best if free else lost_value(b, lines, extra, mask)


@njit([U64(U64, I64S), U64(U64, P_I64)], **KERNEL)
def fitted(b, extra):
    """The board as the evaluator knows it: ranks above the highest unused one fall while the largest is above TOP."""
    top = U(extra[EXTRA.TOP])
    while top != ZERO and U(max_rank(b)) > top:
        used, rest = U(1), b
        while rest != ZERO:
            used |= U(1) << (rest & U(15))
            rest >>= U(4)
        gap = U(max_rank(b)) - U(1)
        while (used >> gap) & U(1) != ZERO and gap > ZERO:
            gap -= U(1)
        if gap == ZERO:
            break
        for shift in range(0, 64, 4):
            if (b >> U(shift)) & U(15) > gap:
                b -= U(1) << U(shift)
    return b

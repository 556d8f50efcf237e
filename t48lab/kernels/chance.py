"""Chance nodes of expectimax: the mean over spawns of the best move, every value exact.

Two savings keep every answer as it is:

* Spawns in the same gap of a line give the same board once that line is packed, so a chance node
  visits one child per gap, tile and direction instead of one per cell, tile and direction.
* Above the leaves only one line differs between children, so a leaf costs five look-ups: the moved
  line's entry, and four crossing lines that are known but for one cell.

Leaf values are integers and are summed exactly, so no answer depends on the order of summation.

`memory` holds constants and counters, then scratch values per depth, then the transposition table:
two words an entry, the salted key and the value. The key covers the board, the remaining depth and the
remaining probability budget, so an entry only ever serves a node with the very same subtree.
"""

from typing import NamedTuple

import numpy as np
from numba import njit, types

from t48lab.kernels.bitboard import (
    COLUMN,
    LINE,
    empties,
    popcount,
    slide_rows,
    spread,
    stuck,
    trailing_zeros,
    transpose,
)
from t48lab.kernels.clock import cpu
from t48lab.kernels.layout import BLOCK, EXPECTIMAX_LEAVES, EXPECTIMAX_SCRATCH, EXPECTIMAX_TABLE, EXTRA, TABLE
from t48lab.kernels.lines import evaluate, lost_value
from t48lab.kernels.netleaves import net_moves
from t48lab.kernels.pointers import P_F64, P_I32, P_I64, P_U16, P_U64
from t48lab.kernels.rng import GOLDEN, times
from t48lab.kernels.signature import F64, I64, KERNEL, U64

U = np.uint64
ZERO, ONE = U(0), U(1)
NOT_LAST_CELL = U(0x1110111011101110)
ILLEGAL = -np.inf
NET_LEAVES = 3
BOOL = types.boolean
_lines = np.arange(TABLE)
_cells = np.stack([(_lines >> shift) & 15 for shift in (12, 8, 4, 0)])
TOPS = (_cells.max(axis=0) << 4 | _cells[[0, 3]].max(axis=0)).astype(np.uint8)


class Head(NamedTuple):
    """Of an expectimax memory: constants of one search, counters, budget costs by tile and empty cells, the rest."""

    MASK: int = 0
    SALT: int = 1
    ROWS: int = 2
    COLS: int = 3
    FAST: int = 4
    LEAF_STATE: int = 5
    USE_TABLE: int = 6
    TABLE_SHIFT: int = 7
    FOURS: int = 8
    FULL_IS_LEAF: int = 9
    WORST_COST: int = 10
    NODES: int = 11
    PROBES: int = 12
    HITS: int = 13
    LEAVES: int = 14
    STOPPED: int = 15
    NODE_LIMIT: int = 16
    FOUR_P: int = 17
    DEADLINE: int = 18
    FLOOR: int = 19
    PEAK_INSIDE: int = 20
    MOST: int = 21
    SLACK: int = 22
    FOUR_COST: int = 23
    COSTS: int = 32
    SCRATCH: int = EXPECTIMAX_SCRATCH
    TABLE_START: int = EXPECTIMAX_TABLE


HEAD = Head()


@njit(types.int32(U64, U64, P_I32), **KERNEL)
def line_sum(b, table, lines):
    """The sum of the four rows' entries in one evaluator table (fits 32 bits: entries stay below 2^27)."""
    high = lines[table + (b >> U(48))] + lines[table + ((b >> U(32)) & LINE)]
    return np.int32(high + lines[table + ((b >> U(16)) & LINE)] + lines[table + (b & LINE)])


@njit(types.void(U64, U64, U64, U64, U64, F64, BOOL, U64, F64, BOOL, U64, P_F64), **KERNEL)
def fill_gap(cell, repeated, line, tile, m, v, left_moves, q, u, right_moves, at, f):
    """Stores for each cell of a gap, from f[at] on, the better of two packings among those that are legal.

    All cells share the packed lines m and q and their values v and u; the spawn's own cell decides
    whether a packing changes the line. Each step goes to the next cell on the left.
    """
    while True:
        spawned = line | (tile << (cell & U(15)))
        left_value = v if left_moves | (m != spawned) else ILLEGAL
        right_value = u if right_moves | (q != spawned) else ILLEGAL
        f[at] = max(left_value, right_value)
        cell += U(4)
        if (repeated >> (cell & U(60))) & ONE == ZERO:
            return
        at += U(2)


@njit(U64(U64), **KERNEL)
def tops_of(b):
    """The board's largest rank in the high nibble of a byte, the largest rank in its corners in the low one."""
    first, last = U(TOPS[b >> U(48)]), U(TOPS[b & LINE])
    inner = max(U(TOPS[(b >> U(32)) & LINE]), U(TOPS[(b >> U(16)) & LINE]))
    return (max(max(first, last), inner) & U(240)) | max(first & U(15), last & U(15))


@njit(I64(U64, U64, BOOL, P_I64, P_I64), **KERNEL)
def peak_with(tops, line, outer, extra, i):
    """The peak term of a board without one row, whose `tops_of` is known, and with `line` as that row."""
    own = U(TOPS[line])
    rank = max(tops >> U(4), own >> U(4))
    corner = max(tops & U(15), own & U(15)) if outer else tops & U(15)
    return extra[(i[HEAD.PEAK_INSIDE] if corner == rank else np.int64(EXTRA.BLOCKS + BLOCK.PEAK_OUT)) + np.int64(rank)]


@njit(types.void(U64, U64, U64, U64, U64, U64, P_U16, P_I32, P_I64, P_I64, P_F64), **KERNEL)
def last_moves(b, free, back, along, across, first, moves, lines, extra, i, f):
    """Fills f[first + 2*cell + four] with the better of both packings of the rows after each spawn.

    `along` and `across` are the offsets of the tables for the packed and for the crossing lines.
    """
    left, right = slide_rows(b, ZERO, moves), slide_rows(b, back, moves)
    left_across, right_across = transpose(left), transpose(right)
    left_sum, right_sum = line_sum(left, along, lines), line_sum(right, along, lines)
    repeated = free & (free << U(4)) & NOT_LAST_CELL
    gaps = free & ~repeated
    while gaps != ZERO:
        bit = trailing_zeros(gaps)
        gaps &= gaps - ONE
        shift, turn = bit & U(48), (bit & U(48)) >> U(2)
        line, rest = (b >> shift) & LINE, ~(LINE << shift)
        cross_left, cross_right = left_across & ~(COLUMN << turn), right_across & ~(COLUMN << turn)
        base_left = np.int32(left_sum - lines[along + ((left >> shift) & LINE)])
        base_right = np.int32(right_sum - lines[along + ((right >> shift) & LINE)])
        left_moves, right_moves = (left ^ b) & rest != ZERO, (right ^ b) & rest != ZERO
        outer = (shift == ZERO) | (shift == U(48))
        left_tops = tops_of(left & rest) if i[HEAD.FAST] > 1 else ZERO
        right_tops = tops_of(right & rest) if i[HEAD.FAST] > 1 else ZERO
        for tile in range(2):
            spawned = line | (U(1 + tile) << (bit & U(15)))
            m, q = U(moves[spawned]), U(moves[back + spawned])
            cross = cross_left | (spread(m) << turn)
            v = np.float64(np.int32(base_left + lines[along + m] + line_sum(cross, across, lines)))
            cross = cross_right | (spread(q) << turn)
            u = np.float64(np.int32(base_right + lines[along + q] + line_sum(cross, across, lines)))
            if i[HEAD.FAST] > 1:
                v += peak_with(left_tops, m, outer, extra, i)
                u += peak_with(right_tops, q, outer, extra, i)
            at = first + (bit >> ONE) + U(tile)
            fill_gap(bit, repeated, line, U(1 + tile), m, v, left_moves, q, u, right_moves, at, f)


@njit(F64(F64, F64, I64, P_I64, P_F64), **KERNEL)
def weighted(twos, fours, count, i, f):
    """The mean over `count` cells of two sums of values, after a 2 and after a 4 in each cell.

    Where values contain points, the 4s are not among those that were made.
    """
    if count > i[HEAD.FOURS]:
        return twos / count
    return ((1.0 - f[HEAD.FOUR_P]) * twos + f[HEAD.FOUR_P] * (fours - count * f[HEAD.FOUR_COST])) / count


@njit(F64(U64, U64, P_I32, P_I64, P_U64, P_I64, P_F64), **KERNEL)
def spawn_mean(b, first, lines, extra, w, i, f):
    """The mean over spawns of the best move's value; rows' values at f[first], columns' at f[first + 32]."""
    free = empties(b, w[HEAD.MASK])
    twos, fours, count = 0.0, 0.0, popcount(free)
    while free != ZERO:
        bit = trailing_zeros(free)
        free &= free - ONE
        at, turned = first + (bit >> ONE), first + U(32) + (((bit & U(12)) | (bit >> U(4))) << ONE)
        v, u = max(f[at], f[turned]), max(f[at + ONE], f[turned + ONE])
        if v == ILLEGAL:
            v = np.float64(lost_value(b | (ONE << bit), lines, extra, w[HEAD.MASK]))
        if u == ILLEGAL:
            u = np.float64(lost_value(b | (U(2) << bit), lines, extra, w[HEAD.MASK]))
        twos += max(v, f[HEAD.FLOOR])
        fours += max(u, f[HEAD.FLOOR])
    return weighted(twos, fours, count, i, f)


@njit(F64(U64, U64, P_U16, P_I32, P_I64, P_U64, P_I64, P_F64), **KERNEL)
def last_chance(b, free, moves, lines, extra, w, i, f):
    """The value of an afterstate with one more move, with work shared between spawns."""
    first, right, down = U(HEAD.SCRATCH), U(TABLE), U(2 * TABLE)
    rows, cols = w[HEAD.ROWS], w[HEAD.COLS]
    if i[HEAD.FAST] == NET_LEAVES:
        leaves = np.int64(EXPECTIMAX_LEAVES)
        net_moves(b, free, right, first, leaves, moves, lines, extra, w, f)
        net_moves(transpose(b), transpose(free), down, first + U(32), leaves, moves, lines, extra, w, f)
        i[HEAD.LEAVES] += 4 * popcount(free)
        return spawn_mean(b, first, lines, extra, w, i, f)
    last_moves(b, free, right, rows, cols, first, moves, lines, extra, i, f)
    last_moves(transpose(b), transpose(free), down, cols, rows, first + U(32), moves, lines, extra, i, f)
    i[HEAD.LEAVES] += 4 * popcount(free)
    return spawn_mean(b, first, lines, extra, w, i, f)


@njit(F64(U64, P_U16, P_I32, P_I64, P_U64, P_I64, P_F64), **KERNEL)
def state_leaves(b, moves, lines, extra, w, i, f):
    """The mean value of the positions after each spawn on afterstate `b`, the leaves of the search."""
    free = empties(b, w[HEAD.MASK])
    count, twos, fours = popcount(free), 0.0, 0.0
    i[HEAD.LEAVES] += 2 * count
    while free != ZERO:
        bit = trailing_zeros(free)
        free &= free - ONE
        for tile in range(1, 3):
            s = b | (U(tile) << bit)
            lost = count == 1 and i[HEAD.FULL_IS_LEAF] == 0 and stuck(s, moves)
            v = lost_value(s, lines, extra, w[HEAD.MASK]) if lost else evaluate(s, lines, extra, w[HEAD.MASK])
            if tile == 1:
                twos += v
            else:
                fours += v
    return weighted(twos, fours, count, i, f)


@njit(BOOL(P_I64, P_F64), **KERNEL)
def exhausted(i, f):
    """Whether the node limit is reached or, looked at every 256 nodes, the deadline."""
    if i[HEAD.NODE_LIMIT] and i[HEAD.NODES] + i[HEAD.LEAVES] >= i[HEAD.NODE_LIMIT]:
        return True
    return f[HEAD.DEADLINE] > 0.0 and i[HEAD.NODES] & 255 == 0 and cpu() > f[HEAD.DEADLINE]


@njit(types.UniTuple(U64, 2)(U64, I64, I64, P_U64), **KERNEL)
def entry(b, depth, budget, w):
    """(slot, key) of a node in the transposition table; the slot is a place in `memory`."""
    place = b ^ times(U(depth * 4096 + budget), GOLDEN)
    slot = U(HEAD.TABLE_START) + ((times(place, U(0xD6E8FEB86659FD93)) >> w[HEAD.TABLE_SHIFT]) << ONE)
    return slot, place ^ w[HEAD.SALT]


@njit(F64(U64, I64, I64, P_U16, P_I32, P_I64, P_U64, P_I64, P_F64), **KERNEL)
def chance(b, depth, budget, moves, lines, extra, w, i, f):
    """The value of afterstate `b` with `depth` more moves to look ahead, in fixed-point units."""
    if depth == 0 and i[HEAD.LEAF_STATE]:
        return state_leaves(b, moves, lines, extra, w, i, f)
    if depth == 0 or budget < 0:
        i[HEAD.LEAVES] += 1
        return np.float64(evaluate(b, lines, extra, w[HEAD.MASK]))
    if i[HEAD.STOPPED] or exhausted(i, f):
        i[HEAD.STOPPED] = 1
        return 0.0
    i[HEAD.NODES] += 1
    budget = min(budget, i[HEAD.WORST_COST] * (depth - 1))
    slot, key = entry(b, depth, budget, w)
    if i[HEAD.USE_TABLE]:
        i[HEAD.PROBES] += 1
        if w[slot] == key:
            i[HEAD.HITS] += 1
            return f[slot + ONE]
    free = empties(b, w[HEAD.MASK])
    count, first = popcount(free), U(HEAD.SCRATCH + 64 * (depth - 1))
    if i[HEAD.FULL_IS_LEAF] and count == 1:
        value = state_leaves(b, moves, lines, extra, w, i, f)
    elif depth == 1 and i[HEAD.FAST]:
        value = last_chance(b, free, moves, lines, extra, w, i, f)
    else:
        for turned in range(2):
            x = transpose(b) if turned else b
            cells = transpose(free) if turned else free
            back = U(TABLE << turned)
            left, right = slide_rows(x, ZERO, moves), slide_rows(x, back, moves)
            repeated = cells & (cells << U(4)) & NOT_LAST_CELL
            gaps = cells & ~repeated
            while gaps != ZERO:
                bit = trailing_zeros(gaps)
                gaps &= gaps - ONE
                shift = bit & U(48)
                line, rest = (x >> shift) & LINE, ~(LINE << shift)
                left_moves, right_moves = (left ^ x) & rest != ZERO, (right ^ x) & rest != ZERO
                wide = (repeated >> ((bit + U(4)) & U(60))) & ONE != ZERO
                for tile in range(1 if count > i[HEAD.FOURS] else 2):
                    spawned = line | (U(1 + tile) << (bit & U(15)))
                    m, q = U(moves[spawned]), U(moves[back + spawned])
                    v, u, rest_budget = ILLEGAL, ILLEGAL, budget - i[HEAD.COSTS + 32 * tile + count]
                    if left_moves | (m != spawned):
                        after = (left & rest) | (m << shift)
                        after = transpose(after) if turned else after
                        v = chance(after, depth - 1, rest_budget, moves, lines, extra, w, i, f)
                    if wide | right_moves | (q != spawned):
                        after = (right & rest) | (q << shift)
                        after = transpose(after) if turned else after
                        u = chance(after, depth - 1, rest_budget, moves, lines, extra, w, i, f)
                    at = first + U(32 * turned + tile) + (bit >> ONE)
                    fill_gap(bit, repeated, line, U(1 + tile), m, v, left_moves, q, u, right_moves, at, f)
        value = spawn_mean(b, first, lines, extra, w, i, f)
    if i[HEAD.USE_TABLE] and i[HEAD.STOPPED] == 0:
        w[slot], f[slot + ONE] = key, value
    return value

"""The last layer of expectimax with a net: all look-ups of a chance node are found before the first is read.

Spawns in one gap that pack to the same line share a leaf, as in `chance.py`. A leaf takes LEAF.SIZE words, and four
more for each pattern, eight places of 32 bits: found in one loop and read in another, misses overlap.
"""

from typing import NamedTuple

import numpy as np
from numba import njit, types

from t48lab.kernels.bitboard import COLUMN, LINE, slide_rows, spread, trailing_zeros, transpose
from t48lab.kernels.lanes import fill, plus8, run, symmetric
from t48lab.kernels.layout import EXTRA, NET
from t48lab.kernels.netlanes import entries_kept, keep_half, points_of, thirty_two_times, touch, words_at
from t48lab.kernels.netvalue import RANK, first_entry, index8
from t48lab.kernels.pointers import P_F64, P_I32, P_I64, P_U16, P_U64
from t48lab.kernels.signature import I64, KERNEL, U64

U, I = np.uint64, np.int64
ZERO, ONE = U(0), U(1)
NOT_LAST_CELL = U(0x1110111011101110)
BOOL = types.boolean


class Leaf(NamedTuple):
    """Of a leaf: its gap's first cell, the line before the spawn and after it is packed, the tile, and the rest."""

    BIT: int = 0
    LINE: int = 1
    PACKED: int = 2
    TILE: int = 3
    MOVES: int = 4
    POINTS: int = 5
    SIZE: int = 6


LEAF = Leaf()


@njit(types.void(U64, U64, P_I32, P_U64, P_U64, I64), **KERNEL)
def find_leaf(b, turned, lines, network, w, at):
    """Writes the places that a board looks up into w from `at` on."""
    boards, first, group = symmetric(b, turned, network), first_entry(b, network), I(NET.GROUPS)
    for _ in range(I(network[NET.PAIRS])):
        index = plus8(fill(first + network[group + NET.START]), thirty_two_times(index8(boards, network, group)))
        keep_half(w, at, plus8(index, run(boards, network[group + NET.OWN], RANK)))
        index = plus8(index, fill(U(16)))
        keep_half(w, at + 4, plus8(index, run(boards, network[group + NET.OWN + 1], RANK)))
        touch(lines, w, at)
        at += 8
        group += NET.GROUP
    for _ in range(I(network[NET.SINGLES])):
        keep_half(w, at, plus8(fill(first + network[group + NET.START]), index8(boards, network, group)))
        touch(lines, w, at)
        at += 4
        group += NET.GROUP


@njit(I64(U64, U64, U64, I64, I64, P_U16, P_I32, P_U64, P_U64), **KERNEL)
def find_leaves(b, free, back, at, size, moves, lines, network, w):
    """Where the list of leaves ends that it writes from w[at] on: rows packed one way after each spawn in `free`."""
    packed = slide_rows(b, back, moves)
    across, toward_last = transpose(packed), back != ZERO
    repeated = free & (free << U(4)) & NOT_LAST_CELL
    gaps = free & ~repeated
    while gaps != ZERO:
        bit = trailing_zeros(gaps)
        gaps &= gaps - ONE
        shift, turn = bit & U(48), (bit & U(48)) >> U(2)
        line, rest = (b >> shift) & LINE, ~(LINE << shift)
        others_move = (packed ^ b) & rest != ZERO
        wide = toward_last and (repeated >> ((bit + U(4)) & U(60))) & ONE != ZERO
        for tile in range(1, 3):
            spawned = line | (U(tile) << (bit & U(15)))
            m = U(moves[back + spawned])
            if others_move | wide | (m != spawned):
                after = (packed & rest) | (m << shift)
                w[at + LEAF.BIT], w[at + LEAF.LINE], w[at + LEAF.PACKED] = bit, line, m
                w[at + LEAF.TILE], w[at + LEAF.MOVES] = U(tile), U(others_move)
                w[at + LEAF.POINTS] = U(points_of(after))
                find_leaf(after, (across & ~(COLUMN << turn)) | (spread(m) << turn), lines, network, w, at + LEAF.SIZE)
                at += size
    return at


@njit(types.void(U64, U64, I64, I64, I64, P_I32, P_I64, P_U64, P_F64), **KERNEL)
def read_leaves(free, first, at, end, size, lines, extra, w, f):
    """Raises f[first + 2*cell + four] to the value of each leaf in w[at:end] that the cell's spawn leads to."""
    repeated, shift = free & (free << U(4)) & NOT_LAST_CELL, extra[EXTRA.SHIFT]
    while at < end:
        total = I(w[at + LEAF.POINTS]) << shift
        for k in range(at + LEAF.SIZE, at + size, 4):
            total += entries_kept(lines, w, k)
        value, tile, m = np.float64(total), w[at + LEAF.TILE], w[at + LEAF.PACKED]
        cell = w[at + LEAF.BIT]
        while True:
            spawned = w[at + LEAF.LINE] | (tile << (cell & U(15)))
            place = first + (cell >> ONE) + tile - ONE
            if w[at + LEAF.MOVES] != ZERO or m != spawned:
                f[place] = max(f[place], value)
            cell += U(4)
            if (repeated >> (cell & U(60))) & ONE == ZERO:
                break
        at += size


@njit(types.void(U64, U64, U64, U64, I64, P_U16, P_I32, P_I64, P_U64, P_F64), **KERNEL)
def net_moves(b, free, back, first, at, moves, lines, extra, w, f):
    """As `last_moves` of `chance.py`, for the net of a square board, whose value is that of the board transposed."""
    network = words_at(extra, EXTRA.BLOCKS)
    size = LEAF.SIZE + 4 * (2 * I(network[NET.PAIRS]) + I(network[NET.SINGLES]))
    for place in range(first, first + U(32)):
        f[place] = -np.inf
    end = find_leaves(b, free, ZERO, at, size, moves, lines, network, w)
    end = find_leaves(b, free, back, end, size, moves, lines, network, w)
    read_leaves(free, first, at, end, size, lines, extra, w, f)

"""Exact play on small boards: one layer of positions of the same sum of tiles, forward and backward.

Positions with a move to make and afterstates take turns. A move keeps the sum, a spawn raises it by 2 or 4, so layer s
needs the layers s + 2 and s + 4 alone. A layer's afterstates are found once, however many positions lead to one, and
boards are made in blocks: their keys are written in loops without branches, which compile to vector instructions.

A sweep carries channels of values: further points, their square, and whether the largest tile gets to a rank. Points
of a move are a difference of potentials, so an afterstate is valued as points plus its potential, and a position takes
its own off again.
"""

import numpy as np
from numba import njit, types

from t48lab.kernels.bitboard import DOWN, LEFT, RIGHT, empties, max_rank, slide_rows, trailing_zeros, transpose
from t48lab.kernels.keys import KEYS, SLOTS, find, write_boards, write_keys
from t48lab.kernels.layout import RULES
from t48lab.kernels.signature import F64, F64S, I64, I64S, KERNEL, U16S, U64, U64S

U = np.uint64
VALUES = types.float64[:, ::1]
DIRECTIONS = types.int8[::1]
BLOCK, MOST_EMPTY = 256, 9
MEAN, LEAST = range(2)
LARGEST, AVERAGE = range(2)
POINTS, SQUARES = 0, -1
"""Kinds of channels; a positive number is the rank that the largest tile is to get to."""


@njit(types.void(KEYS, U64, U16S, U64S, I64, DIRECTIONS, KEYS), **KERNEL)
def write_afterstates(positions, total, moves, rules, symmetric, policy, keys):
    """Writes the keys of the afterstates of each position by direction, four a position, 0 where a move is illegal.

    A policy of one direction a position leaves out the other moves; it is empty where all count.
    """
    boards, afters, block = np.empty(BLOCK, np.uint64), np.empty(4 * BLOCK, np.uint64), len(positions)
    for first in range(0, len(positions), BLOCK):
        block = min(BLOCK, len(positions) - first)
        write_boards(positions, first, block, total, rules, boards)
        for i in range(block):
            b, t = boards[i], transpose(boards[i])
            afters[4 * i] = transpose(slide_rows(t, LEFT, moves))
            afters[4 * i + 1] = slide_rows(b, RIGHT, moves)
            afters[4 * i + 2] = transpose(slide_rows(t, DOWN, moves))
            afters[4 * i + 3] = slide_rows(b, LEFT, moves)
            for d in range(4):
                if afters[4 * i + d] == b or (len(policy) > 0 and policy[first + i] != d):
                    afters[4 * i + d] = U(0)
        write_keys(afters, 4 * block, rules, symmetric, keys[4 * first :])


@njit(I64(U64S, KEYS, I64, I64, U64S, U64S, U64S, I64S), **KERNEL)
def spawn_all(boards, afterstates, first, count, rules, twos, fours, ends):
    """How many boards follow from a block of slots; writes them with a 2 and with a 4, and where those of each end."""
    size = 0
    for i in range(count):
        if afterstates[first + i] != 0:
            free = empties(boards[i], rules[RULES.MASK])
            while free != U(0):
                place = trailing_zeros(free)
                twos[size], fours[size] = boards[i] | (U(1) << place), boards[i] | (U(2) << place)
                free &= free - U(1)
                size += 1
        ends[i] = size
    return size


@njit(I64(KEYS, U64, U64S, I64, KEYS, KEYS), **KERNEL)
def write_spawns(afterstates, total, rules, symmetric, keys_two, keys_four):
    """How many positions follow from a slice of a table of afterstates; writes their keys, with a 2 and with a 4."""
    boards, ends, size = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.int64), 0
    twos, fours = np.empty(BLOCK * MOST_EMPTY, np.uint64), np.empty(BLOCK * MOST_EMPTY, np.uint64)
    for first in range(0, len(afterstates), BLOCK):
        block = min(BLOCK, len(afterstates) - first)
        write_boards(afterstates, first, block, total, rules, boards)
        count = spawn_all(boards, afterstates, first, block, rules, twos, fours, ends)
        write_keys(twos, count, rules, symmetric, keys_two[size:])
        write_keys(fours, count, rules, symmetric, keys_four[size:])
        size += count
    return size


@njit(types.void(U64S, I64, F64S), **KERNEL)
def write_potentials(boards, count, out):
    """Writes the sum of (rank - 1) * 2^rank over the tiles of each board; an empty cell adds its (0 - 1) * 1 + 1."""
    for i in range(count):
        total = np.int64(0)
        for cell in range(16):
            rank = np.int64((boards[i] >> U(4 * cell)) & U(15))
            total += ((rank - 1) << rank) + np.int64(rank == 0)
        out[i] = np.float64(total)


@njit(types.void(VALUES, I64, I64S, F64), **KERNEL)
def shift(values, i, kinds, points):
    """Adds points to what column i expects: to its points, and to their square."""
    for k in range(len(kinds)):
        if kinds[k] == SQUARES:
            values[k, i] += points * (2.0 * values[0, i] + points)
    if kinds[0] == POINTS:
        values[0, i] += points


@njit(types.void(I64S, I64, F64S, F64S, SLOTS, SLOTS, F64, I64, F64S), **KERNEL)
def combine(ends, count, after_two, after_four, slots_two, slots_four, four, chance, out):
    """Writes the mean or the least value over the spawns of each afterstate of a block."""
    begin, two = 0, 1.0 - four
    for i in range(count):
        end = ends[i]
        total, least = 0.0, np.inf
        for j in range(begin, end):
            low, high = after_two[slots_two[j]], after_four[slots_four[j]]
            if chance == LEAST:
                least = min(least, low if two > 0.0 else high)
                least = min(least, high if four > 0.0 else low)
            total += two * low + four * high
        if end > begin:
            out[i] = least if chance == LEAST else total / (end - begin)
        begin = end


@njit(
    types.void(KEYS, I64, I64, U64, U64S, I64, F64, I64, I64S, KEYS, VALUES, KEYS, VALUES, VALUES),
    **KERNEL,
)
def answer(
    afterstates, begin, end, total, rules, symmetric, four, chance, kinds, next_two, two, next_four, four_on, out
):
    """Writes the values [channel, slot] of a range of slots of a table of afterstates, with the potential as points.

    `two` and `four_on` are values by slot of the layers after a 2 and after a 4; one never spawned has one slot.
    """
    boards, ends, points = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.int64), np.empty(BLOCK)
    twos, fours = np.empty(BLOCK * MOST_EMPTY, np.uint64), np.empty(BLOCK * MOST_EMPTY, np.uint64)
    slots_two, slots_four = np.zeros(BLOCK * MOST_EMPTY, np.int32), np.zeros(BLOCK * MOST_EMPTY, np.int32)
    keys = np.empty(BLOCK * MOST_EMPTY, np.uint32)
    for first in range(begin, end, BLOCK):
        block = min(BLOCK, end - first)
        write_boards(afterstates, first, block, total, rules, boards)
        write_potentials(boards, block, points)
        count = spawn_all(boards, afterstates, first, block, rules, twos, fours, ends)
        if four < 1.0:
            write_keys(twos, count, rules, symmetric, keys)
            find(keys, count, next_two, slots_two)
        if four > 0.0:
            write_keys(fours, count, rules, symmetric, keys)
            find(keys, count, next_four, slots_four)
        for k in range(len(kinds)):
            combine(ends, block, two[k], four_on[k], slots_two, slots_four, four, chance, out[k, first:])
        for i in range(block):
            shift(out, first + i, kinds, points[i])


@njit(types.void(KEYS, I64, I64, U64, U64S, SLOTS, VALUES, I64, I64S, VALUES), **KERNEL)
def decide(positions, begin, end, total, rules, slots, afterstates, choice, kinds, out):
    """Writes the values [channel, position] of a range of positions from those of their afterstates.

    `slots` (4 a position) are the slots of the afterstates, -1 where a move is illegal or left out. What counts is the
    move with the LARGEST first channel or the AVERAGE of all; a position without a move gets no further points.
    """
    boards, points = np.empty(BLOCK, np.uint64), np.empty(BLOCK)
    for first in range(begin, end, BLOCK):
        block = min(BLOCK, end - first)
        write_boards(positions, first, block, total, rules, boards)
        write_potentials(boards, block, points)
        for i in range(block):
            p, legal, best = first + i, 0, -1
            for d in range(4):
                slot = slots[4 * p + d]
                if slot >= 0:
                    legal += 1
                    if best < 0 or afterstates[0, slot] > afterstates[0, best]:
                        best = slot
            top = max_rank(boards[i]) if kinds[-1] > 0 else 0
            for k in range(len(kinds)):
                if kinds[k] > 0 and top >= kinds[k]:
                    out[k, p] = 1.0
                elif legal == 0:
                    out[k, p] = 0.0
                elif choice == LARGEST:
                    out[k, p] = afterstates[k, best]
                else:
                    out[k, p] = 0.0
                    for d in range(4):
                        if slots[4 * p + d] >= 0:
                            out[k, p] += afterstates[k, slots[4 * p + d]]
                    out[k, p] /= legal
            if legal:
                shift(out, p, kinds, -points[i])


@njit(types.void(VALUES, SLOTS, VALUES), **KERNEL)
def scatter(values, slots, out):
    """Writes the values [channel, position] of a layer to their slots."""
    for k in range(len(values)):
        for i in range(len(slots)):
            out[k, slots[i]] = values[k, i]

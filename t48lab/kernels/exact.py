"""Boards past rank 15, on two planes: low nibbles and `high`, the fifth bit of each rank in its nibble's lowest bit.

The packed board cannot show 65536 (rank 16) or merge two 32768s; these slower functions can.
"""

import numpy as np
from numba import njit, types

from t48lab.kernels.bitboard import JOINING, count_top, potential, slide
from t48lab.kernels.bitboard import max_rank as packed_max_rank
from t48lab.kernels.layout import RULES, AgentArrays
from t48lab.kernels.signature import AGENT, I64, I64S, KERNEL, U16S, U64, U64S

U = np.uint64
PLANES = types.UniTuple(U64, 2)


@njit(types.boolean(U64, U64), **KERNEL)
def fits(low, high):
    """Whether the packed functions are exact here: no rank above 15, and no two of rank 15."""
    return high == U(0) and count_top(low) < 2


@njit(I64S(U64, U64), **KERNEL)
def unpack(low, high):
    """The 16 ranks row by row, int64[16]."""
    ranks = np.zeros(16, np.int64)
    for cell in range(16):
        shift = U(60 - 4 * cell)
        ranks[cell] = np.int64((low >> shift) & U(15)) + 16 * np.int64((high >> shift) & U(1))
    return ranks


@njit(PLANES(I64S), **KERNEL)
def pack(ranks):
    """(low, high) of 16 ranks of at most 31."""
    low, high = U(0), U(0)
    for cell in range(16):
        shift = U(60 - 4 * cell)
        low |= U(ranks[cell] & 15) << shift
        high |= U(ranks[cell] >> 4) << shift
    return low, high


@njit(types.void(I64S, I64, I64, I64), **KERNEL)
def slide_line(ranks, first, step, length):
    """Packs the line of cells first, first + step, ... toward `first`, in place."""
    target, last = first, np.int64(0)
    for i in range(length):
        cell = first + i * step
        rank = ranks[cell]
        if rank == 0:
            continue
        ranks[cell] = 0
        if rank == last:
            ranks[target - step] = rank + 1
            last = np.int64(0)
        else:
            ranks[target] = rank
            target += step
            last = rank


@njit(types.void(I64S, I64, U64S), **KERNEL)
def slide_ranks(ranks, direction, rules):
    """Moves the ranks in place, which leaves them as they are when the move is illegal."""
    rows, cols = np.int64(rules[RULES.ROWS]), np.int64(rules[RULES.COLS])
    if direction == 0 or direction == 2:
        for c in range(cols):
            slide_line(ranks, c + (4 * (rows - 1) if direction else 0), -4 if direction else 4, rows)
    else:
        for r in range(rows):
            slide_line(ranks, 4 * r + (cols - 1 if direction == 1 else 0), -1 if direction == 1 else 1, cols)


@njit(PLANES(U64, U64, I64, U16S, U64S), **KERNEL)
def slide_planes(low, high, direction, moves, rules):
    """(low, high) of the afterstate for any ranks; unchanged when the move is illegal."""
    if fits(low, high):
        return slide(low, direction, moves), high
    ranks = unpack(low, high)
    slide_ranks(ranks, direction, rules)
    return pack(ranks)


@njit(I64(U64, U64), **KERNEL)
def max_rank(low, high):
    """The rank of the largest tile, for any ranks."""
    return packed_max_rank(low) if high == U(0) else 16 + packed_max_rank(low & (high * U(15)))


@njit(I64(U64, U64), **KERNEL)
def full_potential(low, high):
    """The sum of (rank - 1) * 2^rank over all tiles, for any ranks: points that building them from 2s earns."""
    total = potential(low & ~(high * U(15)))
    if high != U(0):
        ranks = unpack(low & (high * U(15)), high)
        for cell in range(16):
            if ranks[cell]:
                total += (ranks[cell] - 1) << ranks[cell]
    return total


@njit(U64(U64, U64), **KERNEL)
def ranked_down(low, high):
    """A packed board that keeps which tiles are equal and which cells are empty, and so which moves are legal.

    Ranks above the highest unused one fall by one until all fit and at most one 15 is left; the board itself
    when it fits. Sixteen tiles of 15 ranks or more leave no rank unused: then those above 15 count as 15, and two
    tiles of rank 15 are left, which `joins` tells apart.
    """
    if fits(low, high):
        return low
    ranks = unpack(low, high)
    while True:
        used, top, crowd = np.int64(1), np.int64(0), 0
        for rank in ranks:
            used |= 1 << rank
            top = max(top, rank)
            crowd += rank >= 15
        gap = top - 1
        while used >> gap & 1 and gap > 0:
            gap -= 1
        if (crowd < 2 and top <= 15) or gap <= 0:
            break
        for cell in range(16):
            ranks[cell] -= np.int64(ranks[cell] > gap)
    for cell in range(16):
        ranks[cell] = min(ranks[cell], np.int64(15))
    return pack(ranks)[0]


@njit(types.boolean(U64, U64, U64), **KERNEL)
def joins(seen, low, high):
    """Whether two tiles of rank 15 of a board that was ranked down are equal on the board itself.

    On such a full board all others differ, so the only merge is that of the two largest tiles, and where it can be
    made, it is a move. Searched with the tables of moves that join two 15s in one, the board moves as it should: what
    they leave is the board after the merge, ranked down.
    """
    if count_top(seen) < 2:
        return False
    largest, count = max_rank(low, high), 0
    for rank in unpack(low, high):
        count += rank == largest
    return count == 2


@njit(AGENT(AGENT), **KERNEL)
def joining(agent):
    """The agent's arrays with the tables of moves for boards on which two 15s join."""
    moves = agent.moves[JOINING:]
    return AgentArrays(
        agent.settings, agent.reals, moves, agent.rules, agent.lines, agent.extra, agent.memory, agent.book
    )

"""The value of a board under a net of 16-bit entries, for searches.

`lines` holds the entries of all stages, two in each int32, and `extra` from BLOCKS on where they are found, see NET in
`layout.py`. Source: Szubert, Jaskowski (2014), "Temporal difference learning of N-tuple networks for the game 2048",
CIG.
"""

import numpy as np
from numba import njit

from t48lab.kernels.bitboard import max_rank
from t48lab.kernels.lanes import WORDS8, fill, plus8, run, symmetric
from t48lab.kernels.layout import EXTRA, NET
from t48lab.kernels.netlanes import entries_at, points_of, thirty_two_times, words_at
from t48lab.kernels.pointers import P_I32, P_I64, P_U64
from t48lab.kernels.signature import I64, KERNEL, U64

U, I = np.uint64, np.int64
RANK = U(15)


@njit(U64(U64, P_U64), **KERNEL)
def first_entry(b, network):
    """Where the entries of a board's stage begin."""
    stage = U(0)
    if network[NET.STAGES] > U(1):
        rank = U(max_rank(b))
        for k in range(I(network[NET.STAGES]) - 1):
            stage += U(rank >= network[NET.STAGE_RANKS + k])
    return stage * network[NET.ENTRIES]


@njit(WORDS8(WORDS8, P_U64, I64), forceinline=True, **KERNEL)
def index8(boards, network, group):
    """The eight indices of a table's cells."""
    index = run(boards, network[group + NET.RUN], network[group + NET.RUN + 1])
    index = plus8(index, run(boards, network[group + NET.RUN + 2], network[group + NET.RUN + 3]))
    for r in range(2, I(network[group + NET.RUNS])):
        index = plus8(index, run(boards, network[group + NET.RUN + 2 * r], network[group + NET.RUN + 2 * r + 1]))
    return index


@njit(I64(U64, U64, P_I32, P_I64), **KERNEL)
def net_sum(b, turned, lines, extra):
    """The sum of the entries that a board looks up, of which `turned` is the transpose."""
    network = words_at(extra, EXTRA.BLOCKS)
    boards, first, total = symmetric(b, turned, network), first_entry(b, network), I(0)
    square, group = network[NET.SQUARE] != U(0), I(NET.GROUPS)
    for _ in range(I(network[NET.PAIRS])):
        index = plus8(fill(first + network[group + NET.START]), thirty_two_times(index8(boards, network, group)))
        total += entries_at(lines, plus8(index, run(boards, network[group + NET.OWN], RANK)), square)
        index = plus8(index, fill(U(16)))
        total += entries_at(lines, plus8(index, run(boards, network[group + NET.OWN + 1], RANK)), square)
        group += NET.GROUP
    for _ in range(I(network[NET.SINGLES])):
        index = plus8(fill(first + network[group + NET.START]), index8(boards, network, group))
        total += entries_at(lines, index, square)
        group += NET.GROUP
    return total


@njit(I64(U64, U64, P_I32, P_I64), **KERNEL)
def net_value(b, turned, lines, extra):
    """The fixed-point value of a board: the points that building its tiles has earned, and the net's estimate."""
    return (points_of(b) << extra[EXTRA.SHIFT]) + net_sum(b, turned, lines, extra)

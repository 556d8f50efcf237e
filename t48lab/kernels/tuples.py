"""The value of a board under an n-tuple network: the sum of one table entry for each pattern and symmetry.

A pattern is a set of cells. Its table has 16^cells float32 entries, indexed by the cells' ranks, the first cell's
the most significant. Cells that follow each other on the board are one run, which one shift and one mask index.
A network travels as `network` (uint64, see `netlayout.py`) and `weights` (float32, one table behind the other,
all of them again for each further stage). A board's look-ups are written to `places`, eight words a pattern, and
read from there, so that they can be found before they are needed and used again when the network learns.
Source: Szubert, Jaskowski (2014), "Temporal difference learning of n-tuple networks for the game 2048", CIG.
"""

import numpy as np
from numba import njit, types

from t48lab.kernels.bitboard import max_rank
from t48lab.kernels.lanes import P_F32, fill, gather, keep, nothing, plus8, run, symmetric, total
from t48lab.kernels.netlayout import BASE, ENTRIES, HEAD, LANES, PATTERN, PATTERNS, RUN, RUNS, STAGE_RANKS, STAGES, USED
from t48lab.kernels.pointers import P_U64
from t48lab.kernels.signature import I64, KERNEL, U64

U = np.uint64
F32 = types.float32


@njit(U64(U64, P_U64), **KERNEL)
def stage(b, network):
    """The stage of a board: how many of the network's stage ranks its largest tile reaches."""
    found = U(0)
    if network[STAGES] > U(1):
        rank = U(max_rank(b))
        for k in range(U(1), network[STAGES]):
            found += U(rank >= network[STAGE_RANKS + np.int64(k)])
    return found


@njit(types.void(U64, U64, P_U64, P_U64, I64), **KERNEL)
def find(b, turned, network, places, slot):
    """Writes the look-ups of a board, of which `turned` is the transpose, into `places` from `slot` on."""
    boards = symmetric(b, turned, network)
    first = stage(b, network) * network[ENTRIES]
    for k in range(np.int64(network[PATTERNS])):
        pattern = HEAD + PATTERN * k
        index = fill(first + network[pattern + BASE])
        for r in range(np.int64(network[pattern + RUNS])):
            part = run(boards, network[pattern + RUN + 2 * r], network[pattern + RUN + 2 * r + 1])
            index = plus8(index, part)
        keep(places, slot + LANES * k, index)


@njit(F32(P_U64, P_F32, P_U64, I64), **KERNEL)
def read(network, weights, places, slot):
    """The sum of the weights at the look-ups that `places` holds from `slot` on, float32 in a fixed order."""
    sums = nothing()
    for k in range(np.int64(network[PATTERNS])):
        sums = plus8(sums, gather(weights, places, slot + LANES * k))
    return total(sums, network[USED])


@njit(F32(U64, U64, P_U64, P_F32, P_U64, I64), **KERNEL)
def value(b, turned, network, weights, places, slot):
    """The value of a board; its look-ups are in `places` afterwards."""
    find(b, turned, network, places, slot)
    return read(network, weights, places, slot)

"""Minimax: the best move against the spawn that is worst for the player."""

import numpy as np
from numba import njit

from t48lab.kernels import layout
from t48lab.kernels.alphabeta import HITS, INFINITE, LEAVES, NODES, PROBES, STOPPED, blank_work, solve
from t48lab.kernels.bitboard import slide
from t48lab.kernels.pointers import pointer
from t48lab.kernels.signature import KERNEL, SEARCH

I = np.int64
@njit(SEARCH, **KERNEL)
def search(board, settings, reals, moves, rules, lines, extra, memory, stream, out):
    depth = settings[layout.DEPTH]
    work = blank_work(settings, reals, rules, memory)
    out[:] = 0
    best = -1
    for k in range(4):
        d = settings[layout.ORDER + k]
        a = slide(board, d, moves)
        out[d] = np.nan
        if a != board:
            v = solve(a, 2 * depth - 2, -INFINITE, INFINITE, pointer(moves), pointer(lines), pointer(extra), pointer(work), pointer(memory))
            out[d] = v
            if best < 0 or v > out[best]:
                best = d
    out[layout.NODES] = work[NODES]
    out[layout.LEAVES] = work[LEAVES]
    out[layout.PROBES] = work[PROBES]
    out[layout.HITS] = work[HITS]
    out[layout.DEPTH_REACHED] = depth
    return best

"""The first legal direction of a fixed order."""

import numpy as np
from numba import njit

from t48lab.kernels.bitboard import legal
from t48lab.kernels.layout import NODES, ORDER
from t48lab.kernels.signature import KERNEL, SEARCH


@njit(SEARCH, **KERNEL)
def search(board, settings, reals, moves, rules, lines, extra, memory, stream, out):
    """The first legal direction of settings[ORDER], -1 when there is none; no values, one node."""
    out[:] = np.nan
    out[NODES:] = 0.0
    out[NODES] = 1.0
    mask = legal(board, moves)
    for place in range(4):
        direction = settings[ORDER + place]
        if mask >> direction & 1:
            return direction
    return np.int64(-1)

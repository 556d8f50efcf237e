"""The positions of a logged game, one after another."""

import numpy as np
from numba import njit, types

from t48lab.kernels.exact import slide_planes
from t48lab.kernels.signature import KERNEL, U8S, U16S, U64S

U = np.uint64
PLANES = types.uint64[:, ::1]


@njit(types.void(U8S, U16S, U64S, PLANES), **KERNEL)
def positions(log, moves, rules, out):
    """Writes (low, high) of the position before each move i to out[i] (uint64[moves + 1, 2]), the last one the end.

    `log` is that of kernels/gameloop.py: a byte a move, the two first tiles before them.
    """
    low, high = U(0), U(0)
    for i in range(len(log)):
        byte = np.int64(log[i])
        if i >= 2:
            out[i - 2, 0], out[i - 2, 1] = low, high
            low, high = slide_planes(low, high, byte & 3, moves, rules)
        low |= U(1 + (byte >> 2 & 1)) << U(60 - 4 * (byte >> 4))
    out[len(log) - 2, 0], out[len(log) - 2, 1] = low, high

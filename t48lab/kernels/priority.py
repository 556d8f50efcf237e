"""The first legal direction of a fixed order."""

import numpy as np
from numba import njit

from t48lab.kernels.bitboard import legal
from t48lab.kernels.layout import OUT, SETTINGS
from t48lab.kernels.signature import KERNEL, SEARCH


@njit(SEARCH, **KERNEL)
def search(board, agent, stream, out):
    """The first legal direction of SETTINGS.ORDER, -1 when there is none; no values, one node."""
    out[:] = np.nan
    out[OUT.NODES :] = 0.0
    out[OUT.NODES] = 1.0
    mask = legal(board, agent.moves)
    for place in range(4):
        direction = agent.settings[SETTINGS.ORDER + place]
        if mask >> direction & 1:
            return direction
    return np.int64(-1)

"""Uniformly random legal moves: one draw of the search stream a move."""

import numpy as np
from numba import njit

from t48lab.kernels.bitboard import random_move
from t48lab.kernels.layout import OUT
from t48lab.kernels.rng import next_u64
from t48lab.kernels.signature import KERNEL, SEARCH


@njit(SEARCH, **KERNEL)
def search(board, agent, stream, out):
    """The direction of a legal move drawn uniformly, -1 when there is none; no values, one node."""
    out[:] = np.nan
    out[OUT.NODES :] = 0.0
    direction = random_move(board, next_u64(stream), agent.moves, 0)[1]
    out[OUT.NODES] = 1.0
    return direction

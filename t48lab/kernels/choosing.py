"""The move of a search in each of many positions."""

import numpy as np
from numba import njit, types

from t48lab.kernels.gameloop import SEARCHER
from t48lab.kernels.layout import OUT
from t48lab.kernels.signature import AGENT, KERNEL, U64S


@njit(types.void(SEARCHER, AGENT, U64S, types.int8[::1]), **KERNEL)
def choose(search, agent, boards, directions):
    """Writes the direction of the search on each board, -1 where no move is legal; its memory serves them all."""
    stream, out = np.zeros(1, np.uint64), np.zeros(OUT.SIZE)
    for i in range(len(boards)):
        directions[i] = search(boards[i], agent, stream, out)

"""The worst spawn on a small board, from tables of what best play can still be sure of."""

import numpy as np
from numba import njit

from t48lab.kernels.book import MOST_SPAWNS, value_spawns
from t48lab.kernels.layout import OUT
from t48lab.kernels.signature import KERNEL, SEARCH


@njit(SEARCH, **KERNEL)
def search(board, agent, stream, out):
    """The spawn on an afterstate that leaves the least, as cell * 2 + is_four, -1 on a full board; the first of equals.

    out[VALUES] is what it leaves.
    """
    boards, keys = np.empty(MOST_SPAWNS, np.uint64), np.empty(MOST_SPAWNS, np.uint32)
    codes, values = np.empty(MOST_SPAWNS, np.int64), np.empty(MOST_SPAWNS)
    out[:] = np.nan
    out[OUT.NODES :] = 0.0
    count = value_spawns(board, agent.rules, agent.lines, agent.book, boards, keys, codes, values)
    out[OUT.NODES] = count
    if count == 0:
        return np.int64(-1)
    chosen = np.argmin(values[:count])
    out[OUT.VALUES] = values[chosen]
    return codes[chosen]

"""The move that a search plays, given the values that it found."""

import numpy as np
from numba import njit

from t48lab.kernels.layout import ORDER, VALUES
from t48lab.kernels.signature import I64, KERNEL, REALS, SETTINGS

TIE = 1e-12


@njit(I64(REALS, SETTINGS), **KERNEL)
def preferred(out, settings):
    """The first direction in ORDER whose value is the best one or within 1e-12 of it, relative; -1 for none."""
    best = -np.inf
    for d in range(4):
        best = max(best, out[VALUES + d]) if out[VALUES + d] == out[VALUES + d] else best
    for k in range(4):
        d = settings[ORDER + k]
        if out[VALUES + d] >= best - TIE * abs(best):
            return d
    return -1

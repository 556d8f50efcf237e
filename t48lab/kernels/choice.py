"""The move that a search plays, given the values that it found."""

import numpy as np
from numba import njit

from t48lab.kernels.layout import OUT, SETTINGS
from t48lab.kernels.signature import F64S, I64, I64S, KERNEL

TIE = 1e-12


@njit(I64(F64S, I64S), **KERNEL)
def preferred(out, settings):
    """The first direction in ORDER whose value is the best one or within 1e-12 of it, relative; -1 for none."""
    best = -np.inf
    for d in range(4):
        best = max(best, out[OUT.VALUES + d]) if out[OUT.VALUES + d] == out[OUT.VALUES + d] else best
    for k in range(4):
        d = settings[SETTINGS.ORDER + k]
        if out[OUT.VALUES + d] >= best - TIE * abs(best):
            return d
    return -1

"""Evaluators that are tables over tuples of cells, anywhere on the board.

A table has an entry for each of the 16^n ways to fill the n cells of its tuple; the first cell counts most. Source of
such evaluators for 2048: Szubert, Jaskowski (2014), "Temporal difference learning of N-tuple networks for the game
2048", CIG.
"""

import numpy as np
from numba import njit

from t48lab.kernels.layout import EXTRA, TUPLES
from t48lab.kernels.pointers import P_I32, P_I64
from t48lab.kernels.signature import I32S, I64, I64S, KERNEL, U64

U = np.uint64


@njit([I64(U64, I32S, I64S), I64(U64, P_I32, P_I64)], **KERNEL)
def tuples(b, lines, extra):
    """The sum of one entry a tuple, fixed point; where tuples and tables are is read from `extra`, see TUPLES."""
    total, first = np.int64(0), EXTRA.BLOCKS + TUPLES.TUPLES
    for place in range(first, first + TUPLES.SIZE * extra[EXTRA.BLOCKS + TUPLES.COUNT], TUPLES.SIZE):
        index = U(0)
        for bit in range(place + TUPLES.BITS, place + TUPLES.BITS + extra[place + TUPLES.LENGTH]):
            index = (index << U(4)) | ((b >> U(extra[bit])) & U(15))
        total += lines[U(extra[place + TUPLES.START]) + index]
    return total

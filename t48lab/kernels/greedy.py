"""The best of the next moves alone: by its reward, or by the evaluation of its afterstate."""

import numpy as np
from numba import njit

from t48lab.kernels.bitboard import potential, slide
from t48lab.kernels.layout import BY, LEAVES, MASK, NODES, ORDER, SHIFT, VALUES
from t48lab.kernels.lines import evaluate
from t48lab.kernels.signature import KERNEL, SEARCH


@njit(SEARCH, **KERNEL)
def search(board, settings, reals, moves, rules, lines, extra, memory, stream, out):
    """The direction with the greatest value, -1 when none is legal; equal values go by settings[ORDER].

    settings[BY]: 0 = the value is the reward in points, 1 = the evaluation of the afterstate.
    A node is the position, and each afterstate.
    """
    out[:] = np.nan
    out[NODES:] = 0.0
    out[NODES] = 1.0
    best, chosen = np.int64(0), np.int64(-1)
    before = potential(board)
    scale = 2.0 ** -extra[SHIFT] if settings[BY] else 1.0
    for place in range(4):
        direction = settings[ORDER + place]
        after = slide(board, direction, moves)
        if after != board:
            out[NODES] += 1.0
            out[LEAVES] += 1.0
            value = evaluate(after, lines, extra, rules[MASK]) if settings[BY] else potential(after) - before
            out[VALUES + direction] = value * scale
            if chosen < 0 or value > best:
                best, chosen = value, direction
    return chosen

"""The best of the next moves alone: by its reward, or by the evaluation of its afterstate."""

import numpy as np
from numba import njit

from t48lab.kernels.bitboard import built, slide
from t48lab.kernels.layout import EXTRA, OUT, RULES, SETTINGS
from t48lab.kernels.lines import earned, evaluate, fitted
from t48lab.kernels.signature import KERNEL, SEARCH


@njit(SEARCH, **KERNEL)
def search(board, agent, stream, out):
    """The direction with the greatest value, -1 when none is legal; equal values go by SETTINGS.ORDER.

    SETTINGS.BY: 0 = the value is the reward in points, 1 = the evaluation of the afterstate, of which a net has
    points to come: the reward and the afterstate's value.
    A node is the position, and each afterstate.
    """
    settings, moves, lines, extra = agent.settings, agent.moves, agent.lines, agent.extra
    out[:] = np.nan
    out[OUT.NODES :] = 0.0
    out[OUT.NODES] = 1.0
    board = fitted(board, extra) if settings[SETTINGS.BY] else board
    best, chosen = np.int64(0), np.int64(-1)
    before = earned(board, extra) if settings[SETTINGS.BY] else built(board, moves)
    scale = 2.0 ** -extra[EXTRA.SHIFT] if settings[SETTINGS.BY] else 1.0
    for place in range(4):
        direction = settings[SETTINGS.ORDER + place]
        after = slide(board, direction, moves)
        if after != board:
            out[OUT.NODES] += 1.0
            out[OUT.LEAVES] += 1.0
            if settings[SETTINGS.BY]:
                value = evaluate(after, lines, extra, agent.rules[RULES.MASK]) - before
            else:
                value = built(after, moves) - before
            out[OUT.VALUES + direction] = value * scale
            if chosen < 0 or value > best:
                best, chosen = value, direction
    return chosen

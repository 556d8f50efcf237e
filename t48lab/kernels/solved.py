"""Best play on small boards, from tables of exact values."""

import numpy as np
from numba import njit

from t48lab.kernels.bitboard import built, four_probability, slide
from t48lab.kernels.book import MOST_SPAWNS, value_spawns
from t48lab.kernels.choice import preferred
from t48lab.kernels.layout import GOAL, OUT, SETTINGS
from t48lab.kernels.signature import F64, F64S, I64, I64S, KERNEL, SEARCH


@njit(F64(F64S, I64S, I64, I64, F64), **KERNEL)
def answer(values, codes, count, goal, four):
    """The mean of what spawns leave, or the least of it."""
    if goal == GOAL.ADVERSARY:
        return values[:count].min()
    twos, fours, share = 0.0, 0.0, 0
    for k in range(count):
        if codes[k] & 1:
            fours += values[k]
            share += 1
        else:
            twos += values[k]
    cells = max(share, count - share)
    return ((1.0 - four) * twos + four * fours) / cells


@njit(SEARCH, **KERNEL)
def search(board, agent, stream, out):
    """The best direction, -1 when none is legal; a value is a move's reward, but for tiles, and all that follows.

    A node is the position, and each spawn that was looked up.
    """
    settings, moves, rules = agent.settings, agent.moves, agent.rules
    boards, keys = np.empty(MOST_SPAWNS, np.uint64), np.empty(MOST_SPAWNS, np.uint32)
    codes, values = np.empty(MOST_SPAWNS, np.int64), np.empty(MOST_SPAWNS)
    goal, four = settings[SETTINGS.GOAL], four_probability(rules)
    out[:] = np.nan
    out[OUT.NODES :] = 0.0
    out[OUT.NODES] = 1.0
    before = built(board, moves)
    for direction in range(4):
        after = slide(board, direction, moves)
        if after == board:
            continue
        count = value_spawns(after, rules, agent.lines, agent.book, boards, keys, codes, values)
        reward = 0 if goal == GOAL.TILE else built(after, moves) - before
        out[OUT.VALUES + direction] = reward + answer(values, codes, count, goal, four)
        out[OUT.NODES] += count
    return preferred(out, settings)

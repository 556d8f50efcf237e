"""Minimax: the best move against the spawn that is worst for the player, by alpha-beta.

Spawns of a 2 and of a 4 count alike, in every empty cell; how probable they are plays no part, except that
rules without 4s (or without 2s) spawn none. Depth counts player moves. Each move of the root is searched
with a full window, so all four values are exact and equal moves go by ORDER.
"""

import numpy as np
from numba import njit, types

from t48lab.kernels.alphabeta import ILLEGAL, INFINITE, WORK, blank_work, report, slots, solve
from t48lab.kernels.bitboard import slide
from t48lab.kernels.choice import preferred
from t48lab.kernels.layout import EXTRA, OUT, REALS, SETTINGS
from t48lab.kernels.lines import earned, fitted
from t48lab.kernels.pointers import pointer
from t48lab.kernels.signature import F64S, I32S, I64, I64S, KERNEL, SEARCH, U16S, U64, U64S


@njit(types.boolean(U64, I64, U16S, I32S, I64S, I64S, U64S, F64S), **KERNEL)
def root(board, depth, moves, lines, extra, work, memory, out):
    """Whether a search to `depth` was finished; then it has filled the values of `out`."""
    addresses = pointer(moves), pointer(lines), pointer(extra), pointer(work), pointer(memory)
    for d in range(4):
        after = slide(board, d, moves)
        work[WORK.ROOT + d] = ILLEGAL
        if after != board:
            work[WORK.ROOT + d] = solve(after, 2 * depth - 2, -INFINITE, INFINITE, *addresses)
    if work[WORK.STOPPED]:
        return False
    past = earned(board, extra)
    for d in range(4):
        value = work[WORK.ROOT + d]
        out[OUT.VALUES + d] = np.nan if value == ILLEGAL else (value - past) * 2.0 ** -extra[EXTRA.SHIFT]
    out[OUT.DEPTH_REACHED] = depth
    return True


@njit(SEARCH, **KERNEL)
def search(board, agent, stream, out):
    """The best direction, -1 when none is legal; a node is an afterstate searched, or an evaluation.

    Under a limit of nodes or seconds it searches 1, 2, ... up to DEPTH moves ahead and keeps what the last
    finished depth found; one move ahead is always finished.
    """
    settings, reals, moves, rules, lines, extra, memory, _ = agent
    board = fitted(board, extra)
    work = blank_work(settings, reals, rules, extra)
    out[:] = np.nan
    last = settings[SETTINGS.DEPTH]
    limited = settings[SETTINGS.NODE_LIMIT] > 0 or reals[REALS.SECONDS] > 0.0
    for depth in range(1 if limited else last, last + 1):
        work[WORK.SLOTS] = slots(depth, settings, memory)
        if not root(board, depth, moves, lines, extra, work, memory, out):
            break
    report(work, out)
    return preferred(out, settings)

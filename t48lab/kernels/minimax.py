"""Minimax: the best move against the spawn that is worst for the player, by alpha-beta.

Spawns of a 2 and of a 4 count alike, in every empty cell; how probable they are plays no part, except that
rules without 4s (or without 2s) spawn none. Depth counts player moves. Each move of the root is searched
with a full window, so all four values are exact and equal moves go by ORDER.
"""

import numpy as np
from numba import njit, types

from t48lab.kernels import layout
from t48lab.kernels.alphabeta import ILLEGAL, INFINITE, ROOT, SLOTS, STOPPED, blank_work, report, slots, solve
from t48lab.kernels.bitboard import slide
from t48lab.kernels.choice import preferred
from t48lab.kernels.pointers import pointer
from t48lab.kernels.signature import EXTRA, I64, KERNEL, LINES, MOVES, REALS, SEARCH, U64, WORDS


@njit(types.boolean(U64, I64, MOVES, LINES, EXTRA, I64[::1], WORDS, REALS), **KERNEL)
def root(board, depth, moves, lines, extra, work, memory, out):
    """Whether a search to `depth` was finished; then it has filled the values of `out`."""
    addresses = pointer(moves), pointer(lines), pointer(extra), pointer(work), pointer(memory)
    for d in range(4):
        after = slide(board, d, moves)
        work[ROOT + d] = ILLEGAL
        if after != board:
            work[ROOT + d] = solve(after, 2 * depth - 2, -INFINITE, INFINITE, *addresses)
    if work[STOPPED]:
        return False
    for d in range(4):
        value = work[ROOT + d]
        out[layout.VALUES + d] = np.nan if value == ILLEGAL else value * 2.0 ** -extra[layout.SHIFT]
    out[layout.DEPTH_REACHED] = depth
    return True


@njit(SEARCH, **KERNEL)
def search(board, settings, reals, moves, rules, lines, extra, memory, stream, out):
    """The best direction, -1 when none is legal; a node is an afterstate searched, or an evaluation.

    Under a limit of nodes or seconds it searches 1, 2, ... up to DEPTH moves ahead and keeps what the last
    finished depth found; one move ahead is always finished.
    """
    work = blank_work(settings, reals, rules, extra)
    out[:] = np.nan
    last = settings[layout.DEPTH]
    limited = settings[layout.NODE_LIMIT] > 0 or reals[layout.SECONDS] > 0.0
    for depth in range(1 if limited else last, last + 1):
        work[SLOTS] = slots(depth, settings, memory)
        if not root(board, depth, moves, lines, extra, work, memory, out):
            break
    report(work, out)
    return preferred(out, settings)

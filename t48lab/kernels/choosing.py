"""The move of a search in each of many positions, as in games: only the best move is asked for."""

import numpy as np
from numba import njit, types

from t48lab.kernels.gameloop import AGENT, SEARCHER
from t48lab.kernels.layout import BEST_ONLY, GENERATION, OUT_SIZE
from t48lab.kernels.signature import KERNEL, WORDS


@njit(types.void(SEARCHER, *AGENT, WORDS, types.int8[::1]), **KERNEL)
def choose(search, settings, reals, moves, rules, lines, extra, memory, boards, directions):
    """Writes the direction of the search on each board, -1 where no move is legal; its memory serves them all."""
    settings, stream, out = settings.copy(), np.zeros(1, np.uint64), np.zeros(OUT_SIZE)
    settings[BEST_ONLY], settings[GENERATION] = 1, 1
    for i in range(len(boards)):
        directions[i] = search(boards[i], settings, reals, moves, rules, lines, extra, memory, stream, out)

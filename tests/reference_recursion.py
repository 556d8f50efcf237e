"""Slow twin of every search that values positions by looking ahead, compiled so that it can look at many.

One plain recursion: every legal move and every spawn is followed to the leaves, nothing is remembered, shared or left
out. A board is 16 ranks in 64 bits, the first cell on top. `evaluate(b, *tables)` values a board; values are float64.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from reference import slide_line

U = np.uint64
TOP, NOTHING = 15, -np.inf
WORST = -1.0
"""In place of the probability of a 4: the worst of all spawns counts."""

LINES = [tuple(line >> shift & 15 for shift in (12, 8, 4, 0)) for line in range(1 << 16)]
SLID = np.array([sum(r << 12 - 4 * i for i, r in enumerate(slide_line(line, TOP)[0])) for line in LINES], U)


def cell(direction, line, place):
    """The lowest bit of a cell; tiles of a direction's lines slide to place 0."""
    near = place if direction in (0, 3) else 3 - place
    row, col = (near, line) if direction in (0, 2) else (line, near)
    return 60 - 4 * (4 * row + col)


CELLS = np.array([[[cell(d, line, place) for place in range(4)] for line in range(4)] for d in range(4)], U)


class Game(NamedTuple):
    """What a search is asked: the probability of a 4, or WORST, and which positions are leaves."""

    four: float
    lost: float
    lost_is_evaluation: bool
    floor: float = NOTHING
    leaf_state: bool = False
    full_is_leaf: bool = False


@njit
def moved(b, direction):
    """The board after a move, the same one if the move is illegal."""
    after = U(0)
    for line in range(4):
        ranks = U(0)
        for place in range(4):
            ranks = (ranks << U(4)) | ((b >> CELLS[direction, line, place]) & U(15))
        ranks = SLID[ranks]
        for place in range(4):
            after |= ((ranks >> U(12 - 4 * place)) & U(15)) << CELLS[direction, line, place]
    return after


@njit
def empty(b):
    """How many cells are empty."""
    count = 0
    for shift in range(0, 64, 4):
        count += (b >> U(shift)) & U(15) == U(0)
    return count


@njit
def value(b, depth, to_move, game, evaluate, tables):
    """The value of a position (to_move) or of an afterstate, `depth` moves from its leaves."""
    if to_move:
        if game.full_is_leaf and empty(b) == 0:
            return float(evaluate(b, *tables))
        best, legal = NOTHING, False
        for direction in range(4):
            after = moved(b, direction)
            if after != b:
                legal = True
                if depth > 0:
                    best = max(best, value(after, depth - 1, False, game, evaluate, tables))
        if not legal:
            return float(evaluate(b, *tables)) if game.lost_is_evaluation else game.lost
        return max(best, game.floor) if depth > 0 else float(evaluate(b, *tables))
    if depth == 0 and not game.leaf_state:
        return float(evaluate(b, *tables))
    worst, total = np.inf, 0.0
    for shift in range(0, 64, 4):
        if (b >> U(shift)) & U(15) == U(0):
            two = value(b | (U(1) << U(shift)), depth, True, game, evaluate, tables)
            four = value(b | (U(2) << U(shift)), depth, True, game, evaluate, tables)
            worst = min(worst, two, four)
            total += (1.0 - game.four) * two + game.four * four
    return worst if game.four == WORST else total / empty(b)


@njit
def root_values(b, depth, game, evaluate, tables):
    """The values of the four moves, nan for an illegal one."""
    values = np.full(4, np.nan)
    for direction in range(4):
        after = moved(b, direction)
        if after != b:
            values[direction] = value(after, depth - 1, False, game, evaluate, tables)
    return values


@njit
def worst_spawn(b, depth, game, evaluate, tables):
    """(cell * 2 + is_four, value) of the spawn that leaves the player the least, the first of equals."""
    chosen, least = -1, np.inf
    for spawn in range(32):
        shift = U(60 - 4 * (spawn >> 1))
        if (b >> shift) & U(15) == U(0):
            worth = value(b | (U(1 + (spawn & 1)) << shift), depth, True, game, evaluate, tables)
            if worth < least:
                chosen, least = spawn, worth
    return chosen, least


@njit
def after_moves(b, depth, game, evaluate, tables):
    """The values of the positions that the four moves lead to when no tile is spawned, nan for an illegal one."""
    values = np.full(4, np.nan)
    for direction in range(4):
        after = moved(b, direction)
        if after != b:
            values[direction] = value(after, depth, True, game, evaluate, tables)
    return values

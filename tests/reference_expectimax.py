"""Slow twin of the expectimax search: every spawn and move is tried on lists of rows of ranks."""

from collections.abc import Callable
from dataclasses import dataclass
from math import log2

from reference_minimax import afterstates, spawned


@dataclass(frozen=True)
class Game:
    evaluate: Callable
    lost: float | str = 0.0
    floor: float | None = None
    leaf_state: bool = False
    full_is_leaf: bool = False
    four: float = 0.1
    fours_up_to: int = 99
    cutoff: float = 0.0


def cost(probability):
    return min(64, round(-2 * log2(probability)))


def empty_cells(board):
    return sum(rank == 0 for row in board for rank in row)


def position_value(board, depth, budget, game):
    """Value of a position with the player to move and `depth` moves to look ahead."""
    if game.full_is_leaf and empty_cells(board) == 0:
        return game.evaluate(board)
    moves = afterstates(board)
    if not moves:
        return game.evaluate(board) if game.lost == "evaluation" else game.lost
    if depth == 0:
        return game.evaluate(board)
    best = max(afterstate_value(after, depth - 1, budget, game) for after in moves.values())
    return best if game.floor is None else max(best, game.floor)


def afterstate_value(board, depth, budget, game):
    """Mean over spawns with `depth` more moves to look ahead; below the cut-off, the evaluation."""
    leaf = depth == 0 and not game.leaf_state
    if leaf or (depth > 0 and budget < 0):
        return game.evaluate(board)
    empty, total, weight = empty_cells(board), 0.0, 0.0
    for _, rank, after in spawned(board, (1, 2)):
        if rank == 2 and empty > game.fours_up_to:
            continue
        chance = game.four if rank == 2 else 1 - game.four
        spent = cost(chance / empty) if game.cutoff else 0
        total += chance * position_value(after, depth, budget - spent, game)
        weight += chance
    return total / weight


def root_values(board, depth, game):
    """{direction: value} of the legal moves."""
    budget = int(-2 * log2(game.cutoff)) if game.cutoff else 0
    return {d: afterstate_value(after, depth - 1, budget, game) for d, after in afterstates(board).items()}

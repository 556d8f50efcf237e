"""Slow twin of the minimax searches: every move and every spawn is tried on rows of ranks.

A record `Game` says what differs between runs: `evaluate(board) -> int`, the ranks that spawn, the value of
a position without a legal move (a number or "evaluation"), the least value of a position that has moves to
look ahead, and which positions are leaves.
"""

from collections.abc import Callable
from dataclasses import dataclass

from reference import empty_cells, move, with_tile

TOP = 15


@dataclass(frozen=True)
class Game:
    evaluate: Callable
    tiles: tuple = (1, 2)
    lost: int | str = 0
    floor: int | None = None
    leaf_state: bool = False
    full_is_leaf: bool = False


def afterstates(board):
    """{direction: afterstate} of the legal moves; boards are tuples of rows, or lists."""
    board = tuple(map(tuple, board))
    moves = {direction: move(board, direction, TOP)[0] for direction in range(4)}
    return {direction: after for direction, after in moves.items() if after != board}


def spawned(board, tiles):
    """All (cell, rank, board) after a spawn, cell by cell, the smaller rank first; a grid row has 4 cells."""
    for row, col in empty_cells(board):
        for rank in tiles:
            yield 4 * row + col, rank, with_tile(board, row, col, rank)


def position_value(board, depth, game):
    """Value of a position with the player to move and `depth` moves to look ahead."""
    if game.full_is_leaf and not empty_cells(board):
        return game.evaluate(board)
    moves = afterstates(board)
    if not moves:
        return game.evaluate(board) if game.lost == "evaluation" else game.lost
    if depth == 0:
        return game.evaluate(board)
    best = max(afterstate_value(after, depth - 1, game) for after in moves.values())
    return best if game.floor is None else max(best, game.floor)


def afterstate_value(board, depth, game):
    """Value of a board before the worst spawn, with `depth` more moves to look ahead."""
    if depth == 0 and not game.leaf_state:
        return game.evaluate(board)
    return min(position_value(after, depth, game) for _, _, after in spawned(board, game.tiles))


def root_values(board, depth, game):
    """{direction: value} of the legal moves."""
    return {direction: afterstate_value(after, depth - 1, game) for direction, after in afterstates(board).items()}


def worst_spawn(board, depth, game):
    """(cell * 2 + is_four, value) of the spawn that leaves the player the least, the first of equals."""
    options = [
        (position_value(after, depth, game), 2 * cell + (rank == 2)) for cell, rank, after in spawned(board, game.tiles)
    ]
    value, code = min(options)
    return code, value

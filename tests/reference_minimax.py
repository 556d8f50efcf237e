"""Slow twin of the minimax searches: boards are lists of four rows of ranks, every move and spawn is tried.

A record `Game` says what differs between runs: `evaluate(board) -> int`, the ranks that spawn, the value of
a position without a legal move (a number or "evaluation") and whether leaves are positions after a spawn.
"""

from dataclasses import dataclass
from typing import Callable

UP, RIGHT, DOWN, LEFT = range(4)


@dataclass(frozen=True)
class Game:
    evaluate: Callable
    tiles: tuple = (1, 2)
    lost: int | str = 0
    leaf_state: bool = False


def pushed(line):
    """The line after a slide to the left: 1 1 2 . -> 2 2 . . (ranks)."""
    tiles, out = [rank for rank in line if rank], []
    while tiles:
        rank = tiles.pop(0)
        if tiles and tiles[0] == rank and rank < 15:
            tiles.pop(0)
            rank += 1
        out.append(rank)
    return out + [0] * (len(line) - len(out))


def moved(board, direction):
    """The afterstate of a move, or the same board."""
    if direction in (UP, DOWN):
        turned = [list(column) for column in zip(*board)]
        return [list(row) for row in zip(*moved(turned, LEFT if direction == UP else RIGHT))]
    if direction == RIGHT:
        return [pushed(row[::-1])[::-1] for row in board]
    return [pushed(row) for row in board]


def afterstates(board):
    """{direction: afterstate} of the legal moves."""
    moves = {direction: moved(board, direction) for direction in range(4)}
    return {direction: after for direction, after in moves.items() if after != board}


def spawned(board, tiles):
    """All (cell, rank, board) after a spawn, cell by cell, the smaller rank first."""
    for cell in range(16):
        if board[cell // 4][cell % 4] == 0:
            for rank in tiles:
                after = [list(row) for row in board]
                after[cell // 4][cell % 4] = rank
                yield cell, rank, after


def position_value(board, depth, game):
    """Value of a position with the player to move and `depth` moves to look ahead."""
    moves = afterstates(board)
    if not moves:
        return game.evaluate(board) if game.lost == "evaluation" else game.lost
    if depth == 0:
        return game.evaluate(board)
    return max(afterstate_value(after, depth - 1, game) for after in moves.values())


def afterstate_value(board, depth, game):
    """Value of a board before the worst spawn, with `depth` more moves to look ahead."""
    if depth == 0 and not game.leaf_state:
        return game.evaluate(board)
    return min(position_value(after, depth, game) for _, _, after in spawned(board, game.tiles))


def root_values(board, depth, game):
    """{direction: value} of the legal moves."""
    return {direction: afterstate_value(after, depth - 1, game) for direction, after in afterstates(board).items()}


def worst_spawn(board, depth, game):
    """cell*2 + is_four of the spawn that leaves the player the least, the first of equals; and that value."""
    value, cell, rank = min(
        (position_value(after, depth, game), cell, rank) for cell, rank, after in spawned(board, game.tiles)
    )
    return 2 * cell + (rank == 2), value

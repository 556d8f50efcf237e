"""Slow twin of exact play: every position by itself in plain dictionaries, written from the rules alone."""

from functools import cache
from itertools import permutations, product

from reference import empty_cells, legal, move, with_tile


def spawns(board, four):
    """(probability, board) of each spawn that can happen."""
    free = empty_cells(board)
    for (row, col), (rank, p) in product(free, [(1, 1 - four), (2, four)]):
        if p > 0:
            yield p / len(free), with_tile(board, row, col, rank)


def starts(rows, cols, four):
    """(probability, board) of two tiles in distinct cells, one after the other."""
    empty = ((0,) * cols,) * rows
    cells = list(permutations(empty_cells(empty), 2))
    for (a, b), (first, p), (second, q) in product(cells, *[[(1, 1 - four), (2, four)]] * 2):
        if p * q > 0:
            yield p * q / len(cells), with_tile(with_tile(empty, *a, first), *b, second)


def top(board):
    return max(map(max, board))


def values(rows, cols, four, objective, tile_rank=None):
    """The value of every position that play reaches: score, random, adversary, or tile with the tile's rank.

    For tile play ends at the tile, so this is also a small board of more cells.
    """

    @cache
    def after(board):
        found = [(p, known(b)) for p, b in spawns(board, four)]
        return min(v for _, v in found) if objective == "adversary" else sum(p * v for p, v in found)

    @cache
    def known(board):
        if objective == "tile" and top(board) >= tile_rank:
            return 1.0
        moves = [move(board, direction) for direction in legal(board)]
        worth = [after(b) + (reward if objective != "tile" else 0) for b, reward in moves]
        if not worth:
            return 0.0
        return sum(worth) / len(worth) if objective == "random" else max(worth)

    reached = {}
    waiting = [board for _, board in starts(rows, cols, four)]
    while waiting:
        board = waiting.pop()
        if board not in reached:
            reached[board] = known(board)
            if objective != "tile" or top(board) < tile_rank:
                waiting += [b for d in legal(board) for _, b in spawns(move(board, d)[0], four)]
    return reached


def distribution(four, choose=legal):
    """A function from a position to the probability of each (further points, rank of the last board's largest tile).

    Play is uniform among the directions that `choose` gives, by default all legal ones.
    """

    @cache
    def known(board):
        moves = [move(board, direction) for direction in choose(board)]
        found = {} if moves else {(0, top(board)): 1.0}
        for after, reward in moves:
            for p, b in spawns(after, four):
                for (points, rank), q in known(b).items():
                    end = reward + points, rank
                    found[end] = found.get(end, 0.0) + p * q / len(moves)
        return found

    return known

"""Slow twin of searches with a net: rewards are counted as they are made, and values are points still to come.

Nothing here imports t48lab. A net is its patterns (lists of cells), stages (ranks) and weights, one list for all
tables of all stages; a board is a tuple of rows of ranks.
"""

from functools import lru_cache

from reference import empty_cells, legal, mirrored, move, transposed, with_tile

FOUR = 0.1


class Net:
    def __init__(self, patterns, stages, weights):
        self.patterns, self.stages, self.weights = patterns, stages, weights
        self.to_come = lru_cache(maxsize=None)(self._to_come)

    def _to_come(self, board):
        """The points still to come from an afterstate: one weight for each pattern and image of the board."""
        images = [board, board[::-1]]
        images += [mirrored(image) for image in images]
        images += [transposed(image) for image in images] if len(board) == len(board[0]) else []
        largest = max(max(row) for row in board)
        total, sizes = 0, [16 ** len(pattern) for pattern in self.patterns]
        for image in images:
            ranks = [rank for row in image for rank in row]
            start = sum(largest >= rank for rank in self.stages) * sum(sizes)
            for pattern, size in zip(self.patterns, sizes, strict=True):
                index = 0
                for cell in pattern:
                    index = 16 * index + ranks[cell]
                total += self.weights[start + index]
                start += size
        return total

    def root(self, board, depth, chance):
        """The value of each legal move, by direction: its reward and what comes after it."""
        found = {}
        for direction in legal(board):
            after, reward = move(board, direction)
            found[direction] = reward + (chance(self, after, depth - 1) if depth > 1 else self.to_come(after))
        return found


def best(net, board, depth, chance):
    return max(net.root(board, depth, chance).values(), default=0)


def mean(net, after, depth):
    """What an afterstate is worth to a player who looks `depth` more moves ahead."""
    cells = empty_cells(after)
    return sum(
        (FOUR if rank == 2 else 1 - FOUR) / len(cells) * best(net, with_tile(after, *cell, rank), depth, mean)
        for cell in cells
        for rank in (1, 2)
    )


def worst(net, after, depth):
    """The same against the spawn that leaves the player the least."""
    spawns = [with_tile(after, *cell, rank) for cell in empty_cells(after) for rank in (1, 2)]
    return min(best(net, board, depth, worst) for board in spawns)

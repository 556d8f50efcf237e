"""Slow twins of the fast functions, written from the rules alone; nothing here imports t48lab.

A board is a tuple of rows of ranks (0 = empty, 11 = 2048), a line one such row. A direction is a number:
0 up, 1 right, 2 down, 3 left.
"""

from functools import cache

WORD = 2**64 - 1
FOUR = round(0.1 * 2**32)


# the game


def points(rank):
    """Points that building one tile from 2s earns: (rank - 1) * 2^rank."""
    return (rank - 1) * 2**rank if rank else 0


@cache
def slide_line(line, top=99):
    """(the line after a slide to its start, points); tiles of rank `top` do not merge."""
    tiles = [rank for rank in line if rank]
    packed, reward = [], 0
    while tiles:
        if len(tiles) > 1 and tiles[0] == tiles[1] < top:
            packed.append(tiles[0] + 1)
            reward += 2 ** (tiles[0] + 1)
            tiles = tiles[2:]
        else:
            packed.append(tiles[0])
            tiles = tiles[1:]
    return tuple(packed + [0] * (len(line) - len(packed))), reward


def transposed(board):
    return tuple(zip(*board, strict=True))


def mirrored(board):
    return tuple(row[::-1] for row in board)


def move(board, direction, top=99):
    """(the board after a slide, points); the same board and 0 when the move is illegal."""
    if direction in (0, 2):
        after, reward = move(transposed(board), 3 if direction == 0 else 1, top)
        return transposed(after), reward
    if direction == 1:
        after, reward = move(mirrored(board), 3, top)
        return mirrored(after), reward
    slides = [slide_line(row, top) for row in board]
    return tuple(line for line, _ in slides), sum(reward for _, reward in slides)


def legal(board, top=99):
    return [direction for direction in range(4) if move(board, direction, top)[0] != board]


def symmetries(board):
    turned = [board]
    for _ in range(3):
        turned.append(mirrored(transposed(turned[-1])))
    return turned + [mirrored(b) for b in turned]


def empty_cells(board):
    """(row, column) of each empty cell, row by row."""
    return [(r, c) for r, row in enumerate(board) for c, rank in enumerate(row) if not rank]


def with_tile(board, row, col, rank):
    cells = [list(line) for line in board]
    cells[row][col] = rank
    return tuple(map(tuple, cells))


def board_points(board):
    return sum(points(rank) for row in board for rank in row)


# random streams


def mix64(z):
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & WORD
    z = (z ^ z >> 27) * 0x94D049BB133111EB & WORD
    return z ^ z >> 31


class Stream:
    """Splitmix64 from a given state."""

    def __init__(self, state):
        self.state = state

    @classmethod
    def of(cls, seed, game, purpose):
        state = 0
        for part in (seed, game, purpose):
            state = mix64((state ^ part) + 0x9E3779B97F4A7C15 & WORD)
        return cls(state)

    def next(self):
        self.state = self.state + 0x9E3779B97F4A7C15 & WORD
        return mix64(self.state)


def spawn(board, stream, four=FOUR):
    """The board with a new tile: the upper half of one draw picks the cell, the lower half a 4."""
    draw = stream.next()
    cells = empty_cells(board)[::-1]
    row, col = cells[(draw >> 32) * len(cells) >> 32]
    return with_tile(board, row, col, 2 if draw % 2**32 < four else 1)


def random_game(seed, game, rows=4, cols=4):
    """(final board, score, moves) of one game of random legal moves."""
    orders = [(a, b, c, d) for a in range(4) for b in range(4) for c in range(4) for d in range(4)]
    orders = [order for order in orders if len(set(order)) == 4]
    spawns, choices = Stream.of(seed, game, 0), Stream.of(seed, game, 1)
    board = spawn(spawn(((0,) * cols,) * rows, spawns), spawns)
    score = moves = 0
    while True:
        order = orders[(choices.next() >> 32) * 24 >> 32]
        direction = next((d for d in order if move(board, d)[0] != board), None)
        if direction is None:
            return board, score, moves
        board, reward = move(board, direction)
        board = spawn(board, spawns)
        score, moves = score + reward, moves + 1

"""The slow twin of the training kernel: weights in dictionaries, single precision in the order that it promises.

A network is a list of patterns, each a list of cells counted row by row. Nothing here imports t48lab.
"""

import numpy as np
from reference import Stream, mirrored, move, spawn, transposed

F = np.float32
TRAINING = 2


class Trainer:
    """A training: `weights` and `sums` by (stage, pattern, ranks of its cells)."""

    def __init__(
        self, patterns, rows, cols, coherent=False, backward=False, rate=1.0, final_rate=None, trace=0.5,
        initial=0.0, restart=0, stages=(), promotion=0, games=1, seed=1,
    ):  # fmt: skip
        self.patterns, self.rows, self.cols = [sorted(cells) for cells in patterns], rows, cols
        self.coherent, self.backward, self.restart, self.trace = coherent, backward, restart, F(trace)
        self.rate, self.final_rate, self.games, self.seed = rate, final_rate or rate, games, seed
        self.stages, self.promotion, self.staged = stages, promotion, False
        self.lanes = 8 if rows == cols else 4
        self.blank = F(F(initial) / F(self.lanes * len(patterns)))
        self.weights, self.sums, self.scores = {}, {}, []

    def symmetric(self, board):
        boards = [board, transposed(board)] if self.rows == self.cols else [board]
        return [image for b in boards for image in (b, mirrored(b), b[::-1], mirrored(b[::-1]))]

    def keys(self, board):
        stage = sum(max(map(max, board)) >= rank for rank in self.stages) if self.staged else 0
        cells = [[rank for row in image for rank in row] for image in self.symmetric(board)]
        return [
            [(stage, k, tuple(image[cell] for cell in pattern)) for image in cells]
            for k, pattern in enumerate(self.patterns)
        ]

    def value(self, board):
        lanes = [F(0)] * 8
        for keys in self.keys(board):
            for lane, key in enumerate(keys):
                lanes[lane] = F(lanes[lane] + self.weights.get(key, self.blank))
        while len(lanes) > 1:
            half = len(lanes) // 2
            lanes = [F(a + b) for a, b in zip(lanes[:half], lanes[half:], strict=True)]
        return lanes[0]

    def correct(self, board, error):
        step = F(self.share * error)
        for key in (key for keys in self.keys(board) for key in keys):
            if self.coherent:
                errors, sizes = self.sums.get(key, (F(0), F(0)))
                factor = F(abs(errors) / sizes) if sizes else F(1)
                self.sums[key] = F(errors + error), F(sizes + abs(error))
                self.weights[key] = F(self.weights.get(key, self.blank) + F(step * factor))
            else:
                self.weights[key] = F(self.weights.get(key, self.blank) + step)

    def choose(self, board):
        """(reward, value, afterstate) of the best move, the lowest direction among equals; None at the end."""
        best = None
        for direction in range(4):
            after, points = move(board, direction, 15)
            if after != board:
                value = self.value(after)
                if best is None or F(F(points) + value) > F(F(best[0]) + best[1]):
                    best = points, value, after
        return best

    def part(self, board, stream):
        """Afterstates and points of a game from a board on, learnt from."""
        path, old = [], None
        while True:
            best = self.choose(board)
            if path and not self.backward:
                last = path[-1][0]
                target = F(F(best[0]) + best[1]) if best else F(0)
                self.correct(last, F(target - (self.value(last) if self.coherent else old)))
            if best is None:
                break
            points, old, after = best
            path.append((after, points))
            board = spawn(after, stream)
        if self.backward:
            self.look_back(path)
        return board, path

    def look_back(self, path):
        returned = F(0)
        for after, points in reversed(path):
            self.correct(after, F(returned - self.value(after)))
            step = F(F(points) + F(F(F(1) - self.trace) * self.value(after)))
            returned = F(step + F(self.trace * returned))

    def promote(self):
        for stage in range(1, len(self.stages) + 1):
            self.weights |= {(stage, *key[1:]): w for key, w in self.weights.items() if key[0] == 0}
        self.staged = True

    def train(self, games):
        """Plays and learns from so many games, the first parts' scores noted in `scores`."""
        for game in range(games):
            if self.stages and game == self.promotion:
                self.promote()
            rate = self.rate + (self.final_rate - self.rate) * (game / self.games)
            self.share = F(F(rate) / F(self.lanes * len(self.patterns)))
            stream = Stream.of(self.seed, game, TRAINING)
            board = spawn(spawn(((0,) * self.cols,) * self.rows, stream), stream)
            first = None
            while True:
                _, path = self.part(board, stream)
                first = first or sum(points for _, points in path)
                if not self.restart or len(path) < self.restart:
                    break
                board = spawn(path[len(path) // 2][0], stream)
            self.scores.append(first)

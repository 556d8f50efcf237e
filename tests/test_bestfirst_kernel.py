"""The best-first kernel against slow twins, and what its searches promise."""

import functools

import numpy as np
import pytest
import reference_bestfirst as slow
from numba import config
from reference_minimax import Game

from t48lab import BestFirst, Board, Rules, get_evaluator, play
from t48lab.agents import NO_BOOK
from t48lab.kernels import bestfirst
from t48lab.kernels.layout import EXTRA, MODE, OUT, REALS, RULES, SETTINGS, AgentArrays
from t48lab.kernels.lines import evaluate

U = np.uint64
JIT = not config.DISABLE_JIT
SIZES = [(4, 4), (3, 3), (2, 3), (2, 2)]
STATE = 0x5EED


def packed(board):
    rows = [[*row, 0, 0, 0][:4] for row in board] + [[0] * 4] * (4 - len(board))
    return functools.reduce(lambda b, rank: b << 4 | int(rank), (rank for row in rows for rank in row), 0)


def positions(count, seed, rows, cols, empty):
    rng = np.random.default_rng(seed)
    for i in range(count):
        cells = rng.integers(1, 9 if i % 2 else 4, rows * cols)
        cells[: rng.integers(*empty)] = 0
        yield tuple(map(tuple, rng.permutation(cells).reshape(rows, cols).tolist()))


class Kernel:
    """The kernel with arrays of its own on boards of one size."""

    def __init__(self, rows, cols, evaluator, **settings):
        self.moves, self.rules = Rules(rows=rows, cols=cols).arrays()
        self.lines, self.extra = get_evaluator(evaluator).compile(Rules(rows=rows, cols=cols))
        self.scale = 2.0 ** -int(self.extra[EXTRA.SHIFT])
        self.settings, self.reals = np.zeros(SETTINGS.SIZE, np.int64), np.zeros(REALS.SIZE)
        self.settings[:4], self.settings[SETTINGS.GENERATION] = range(4), 0x5EED1
        for name, value in settings.items():
            self.settings[getattr(SETTINGS, name)] = value
        self.memory, self.out = np.zeros(1 << 16, np.uint64), np.zeros(OUT.SIZE)

    def search(self, board):
        """{direction: value} of the legal moves."""
        arrays = self.moves, self.rules, self.lines, self.extra, self.memory, NO_BOOK
        agent = AgentArrays(self.settings, self.reals, *arrays)
        self.best = int(bestfirst.search(U(packed(board)), agent, np.array([STATE], U), self.out))
        return {d: float(self.out[d]) for d in range(4) if not np.isnan(self.out[d])}

    def game(self):
        lost = "evaluation" if self.extra[EXTRA.LOST_KIND] else int(self.extra[EXTRA.LOST])
        return Game(lambda b: int(evaluate(U(packed(b)), self.lines, self.extra, self.rules[RULES.MASK])), lost=lost)


def scaled(values, scale):
    return {d: pytest.approx(value * scale, rel=1e-9, abs=1e-6) for d, value in values.items()}


@pytest.mark.parametrize("evaluator", ["e", "classic"])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_published_values_equal_brute_force(size, evaluator):
    kernel = Kernel(*size, evaluator, MODE=MODE.BY_EXPECTATION, CAPACITY=1 << 10)
    small = size[0] * size[1] < 8
    for depth, empty in ((1, (0, 9)), (2, (0, 4)), (3, (0, 2 if small else 1)))[: 3 if JIT or small else 2]:
        kernel.settings[SETTINGS.HORIZON] = depth
        for board in positions((10 if JIT else 2) if depth < 3 else (2 if JIT else 1), depth, *size, empty):
            expected = slow.published(board, depth, kernel.game())
            assert kernel.search(board) == scaled(expected, kernel.scale), board


@pytest.mark.parametrize("weight", [0.0, 1.0, 300.0])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_open_list_equals_its_twin(size, weight):
    kernel = Kernel(*size, "tuned", MODE=MODE.OPEN_LIST, CAPACITY=60, WORLDS=3)
    kernel.reals[REALS.REWARD_WEIGHT] = weight
    for board in positions(15 if JIT else 2, 3, *size, (0, 9)):
        values, valued = slow.open_list(board, 3, 60, STATE, weight, kernel.game(), packed, kernel.scale)
        assert kernel.search(board) == scaled(values, 1.0), board
        assert {d: int(kernel.out[OUT.VISITS + d]) for d in valued} == valued
        assert kernel.out[OUT.NODES] == sum(valued.values())


def test_whole_small_worlds_are_searched_to_their_ends():
    kernel = Kernel(2, 2, "tuned", MODE=MODE.OPEN_LIST, CAPACITY=4000, WORLDS=4)
    kernel.reals[REALS.REWARD_WEIGHT] = 1.0
    board = ((1, 0), (0, 1))
    values, valued = slow.open_list(board, 4, 4000, STATE, 1.0, kernel.game(), packed, kernel.scale)
    assert sum(valued.values()) < 4 * 4000
    assert kernel.search(board) == scaled(values, 1.0)


def test_without_a_legal_move_nothing_is_found():
    for mode in (MODE.BY_EXPECTATION, MODE.OPEN_LIST):
        kernel = Kernel(2, 2, "tuned", MODE=mode, CAPACITY=64, WORLDS=2, HORIZON=2)
        assert kernel.search(((1, 2), (2, 1))) == {}
        assert kernel.best == -1


@pytest.mark.parametrize("agent", [BestFirst(nodes=60, worlds=2), BestFirst(mode="published", depth=1, evaluator="e")])
def test_games_are_the_same_each_time_and_end_when_no_move_is_left(agent):
    rules = Rules(rows=3, cols=3)
    one, other = (play(agent, seed=4, rules=rules) for _ in range(2))
    assert one.actions == other.actions
    assert one.final == other.final
    assert Board.parse(one.final).is_over


def test_more_positions_find_no_worse_path_in_the_same_worlds():
    board = Board.parse("2 4 0 16 / 0 0 64 0 / 0 4 0 512 / 0 2 0 0")
    reached = [BestFirst(nodes=nodes, worlds=1, reward_weight=0).search(board) for nodes in (50, 500)]
    assert [sum(n or 0 for n in result.visits.values()) for result in reached] == [result.nodes for result in reached]
    assert reached[0].depth < reached[1].depth


def test_seed_chooses_the_worlds():
    board = Board.parse("2 4 0 16 / 0 0 64 0 / 0 4 0 512 / 0 2 0 0")
    found = {tuple(BestFirst(nodes=200, worlds=2, seed=seed).search(board).values.values()) for seed in range(4)}
    assert len(found) > 1

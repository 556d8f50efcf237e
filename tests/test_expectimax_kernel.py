"""The expectimax kernel against a list-based twin, and the oracle's root values."""

import csv
import functools
import time
from pathlib import Path

import numpy as np
import pytest
import reference_expectimax as slow
from numba import config, njit

from t48lab import Rules, get_evaluator, play
from t48lab.agents import NO_BOOK
from t48lab.games import replay
from t48lab.kernels import expectimax
from t48lab.kernels.bitboard import slide
from t48lab.kernels.layout import EXPECTIMAX_TABLE, EXTRA, OUT, REALS, RULES, SETTINGS, AgentArrays
from t48lab.kernels.lines import evaluate, lost_value

U = np.uint64
JIT = not config.DISABLE_JIT
BOARDS = 60 if JIT else 2
DIRECTIONS = ("up", "right", "down", "left")
ORACLE = Path(__file__).parent / "data" / "oracle_classic.csv"
MOVES, NUMBERS = Rules().arrays()


class Kernel:
    """The kernel with one memory for all its calls."""

    def __init__(self, evaluator="classic", depth=2, bits=10, cutoff=0.0, seconds=0.0, **settings):
        self.lines, self.extra = get_evaluator(evaluator).compile(Rules())
        self.settings = np.zeros(SETTINGS.SIZE, np.int64)
        self.settings[:4] = range(4)
        fixed = {"DEPTH": depth, "CAPACITY": 1 << bits, "GENERATION": 0x5EED1, "USE_TABLE": 1, "FOURS": 99}
        for name, value in {**fixed, **settings}.items():
            self.settings[getattr(SETTINGS, name)] = value
        self.reals = np.zeros(REALS.SIZE)
        self.reals[REALS.CUTOFF], self.reals[REALS.SECONDS] = cutoff, seconds
        self.memory = np.zeros(EXPECTIMAX_TABLE + (2 << bits), np.uint64)
        self.out = np.zeros(OUT.SIZE)

    def search(self, board):
        arrays = MOVES, NUMBERS, self.lines, self.extra, self.memory, NO_BOOK
        agent = AgentArrays(self.settings, self.reals, *arrays)
        self.best = expectimax.search(U(board), agent, np.zeros(1, np.uint64), self.out)
        return self.out[:4].copy()

    def evaluate(self, rows):
        fixed = evaluate(U(packed(rows)), self.lines, self.extra, NUMBERS[RULES.MASK])
        return fixed * 2.0 ** -int(self.extra[EXTRA.SHIFT])

    @property
    def lost(self):
        fixed = float(self.extra[EXTRA.LOST])
        return "evaluation" if self.extra[EXTRA.LOST_KIND] else fixed * 2.0 ** -int(self.extra[EXTRA.SHIFT])


def packed(rows):
    return functools.reduce(lambda b, rank: b << 4 | int(rank), (rank for row in rows for rank in row), 0)


def boards(count, seed, empty=(1, 9), top=12):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        cells = rng.integers(1, top, 16)
        cells[: rng.integers(*empty)] = 0
        yield rng.permutation(cells).reshape(4, 4).tolist()


def expected(rows, depth, game):
    values = slow.root_values(rows, depth, game)
    return np.array([values.get(d, np.nan) for d in range(4)])


def from_games(count, seed):
    """Positions from all parts of games that a search of one move plays, as packed boards."""
    games = (play("expectimax:depth=1,evaluator=classic", seed=seed + i) for i in range(10))
    positions = [int(at_play.board.hex, 16) for game in games for at_play in replay(game)]
    yield from np.random.default_rng(seed).choice(np.array(positions, np.uint64), count, replace=False)


@njit
def plain_value(b, depth, moves, lines, extra, mask):
    """Plain expectimax, compiled: every spawn and every move, nothing remembered and nothing shared."""
    if depth == 0:
        return float(evaluate(b, lines, extra, mask))
    total, count = 0.0, 0
    for shift in range(0, 64, 4):
        if (b >> U(shift)) & U(15):
            continue
        count += 1
        for rank, share in ((1, 0.9), (2, 0.1)):
            spawned = b | (U(rank) << U(shift))
            best = -np.inf
            for direction in range(4):
                after = slide(spawned, direction, moves)
                if after != spawned:
                    best = max(best, plain_value(after, depth - 1, moves, lines, extra, mask))
            if best == -np.inf:
                best = float(lost_value(spawned, lines, extra, mask))
            floor = float(extra[EXTRA.LOST]) if extra[EXTRA.FLOORED] else -np.inf
            total += share * max(best, floor)
    return total / count


def plainly(board, depth, kernel):
    """The four values that plain expectimax gives a position, and its move: the first of the best ones."""
    afters = [slide(U(board), d, MOVES) for d in range(4)]
    arrays = MOVES, kernel.lines, kernel.extra, NUMBERS[RULES.MASK]
    fixed = [plain_value(U(after), depth - 1, *arrays) if after != board else np.nan for after in afters]
    values = np.array(fixed) * 2.0 ** -int(kernel.extra[EXTRA.SHIFT])
    best = np.nanmax(values)
    return values, int(np.flatnonzero(values >= best - 1e-12 * abs(best))[0])


def oracle_rows():
    with ORACLE.open() as file:
        for row in csv.DictReader(file):
            ranks = [max(int(tile), 1).bit_length() - 1 for tile in row["board"].split()]
            yield packed([ranks]), int(row["depth"]), np.array([float(row[d] or "nan") for d in DIRECTIONS])


@pytest.mark.compiled
@pytest.mark.parametrize("bits", [6, 13])
def test_oracle_with_a_table_warm_from_other_positions(bits):
    kernels = {depth: Kernel(depth=depth, bits=bits) for depth in (1, 2, 3)}
    checked = 0
    for board, depth, values in oracle_rows():
        found = kernels[depth].search(board)
        np.testing.assert_allclose(found, values, rtol=1e-5, atol=1e-5)
        first, second = np.sort(np.nan_to_num(values, nan=-1e9))[:-3:-1]
        if first - second > 1e-5 * abs(first):
            assert kernels[depth].best == np.nanargmax(values)
        checked += 1
    assert checked == 460


@pytest.mark.parametrize("evaluator", ["classic", "tuned", "a", "d_basic", "d_final", "e"])
@pytest.mark.parametrize("leaf_state", [False, True])
def test_equals_brute_force(evaluator, leaf_state):
    kernel = Kernel(evaluator, LEAF_STATE=int(leaf_state))
    floor = kernel.lost if kernel.extra[EXTRA.FLOORED] else None
    game = slow.Game(kernel.evaluate, kernel.lost, floor, leaf_state)
    for depth in (1, 2):
        kernel.settings[SETTINGS.DEPTH] = depth
        for rows in boards(BOARDS // depth, depth):
            np.testing.assert_allclose(kernel.search(packed(rows)), expected(rows, depth, game), rtol=1e-9, atol=1e-6)


@pytest.mark.compiled
def test_three_moves_equal_brute_force():
    kernel = Kernel("tuned", depth=3)
    game = slow.Game(kernel.evaluate, kernel.lost)
    for rows in boards(12, 3, empty=(1, 4)):
        np.testing.assert_allclose(kernel.search(packed(rows)), expected(rows, 3, game), rtol=1e-9)


@pytest.mark.compiled
@pytest.mark.parametrize("evaluator", ["classic", "tuned", "a", "d_final"])
def test_five_hundred_positions_equal_plain_expectimax(evaluator):
    kernel = Kernel(evaluator, depth=3, bits=13)
    positions = [*from_games(250, 8), *(packed(rows) for rows in boards(250, 9, empty=(1, 7)))]
    assert len(positions) == 500
    for board in positions:
        values = kernel.search(board)
        expected_values, best = plainly(board, 3, kernel)
        np.testing.assert_allclose(values, expected_values, rtol=1e-9)
        assert kernel.best == best


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("settings", "game"),
    [
        ({"cutoff": 0.02}, {"cutoff": 0.02}),
        ({"cutoff": 0.002}, {"cutoff": 0.002}),
        ({"FOURS": 3}, {"fours_up_to": 3}),
        ({"FULL_IS_LEAF": 1, "LEAF_STATE": 1}, {"full_is_leaf": True, "leaf_state": True}),
    ],
)
def test_options_equal_brute_force(settings, game):
    kernel = Kernel("tuned", depth=3, **settings)
    twin = slow.Game(kernel.evaluate, kernel.lost, **game)
    for rows in boards(10, 4, empty=(1, 5)):
        np.testing.assert_allclose(kernel.search(packed(rows)), expected(rows, 3, twin), rtol=1e-9)


@pytest.mark.compiled
@pytest.mark.parametrize("cutoff", [0.0, 0.001])
def test_the_table_changes_no_value(cutoff):
    for depth in (1, 2, 3):
        with_table, without = Kernel(depth=depth, cutoff=cutoff), Kernel(depth=depth, cutoff=cutoff, USE_TABLE=0)
        for rows in boards(200, 5):
            board = packed(rows)
            np.testing.assert_allclose(with_table.search(board), without.search(board), rtol=1e-12)
            assert with_table.best == without.best


@pytest.mark.compiled
def test_limits_keep_the_last_finished_depth():
    plain, limited = Kernel("tuned"), Kernel("tuned", depth=5, NODE_LIMIT=20_000)
    for rows in boards(20, 6):
        values = limited.search(packed(rows))
        reached = int(limited.out[OUT.DEPTH_REACHED])
        assert 1 <= reached <= 5
        plain.settings[SETTINGS.DEPTH] = reached
        np.testing.assert_array_equal(values, plain.search(packed(rows)))


@pytest.mark.compiled
@pytest.mark.parametrize("seconds", [0.01, 0.05])
@pytest.mark.parametrize("evaluator", ["tuned", "d_final"])
def test_seconds_are_kept(evaluator, seconds):
    kernel = Kernel(evaluator, depth=12, seconds=seconds)
    taken = []
    for rows in boards(20, 7, empty=(4, 9)):
        start = time.thread_time()
        kernel.search(packed(rows))
        taken.append(time.thread_time() - start)
        assert kernel.out[OUT.DEPTH_REACHED] >= 2
    assert np.median(taken) < 1.1 * seconds


def test_adaptive_depth_follows_the_number_of_distinct_tiles():
    kernel = Kernel("tuned", depth=4 if JIT else 2, ADAPT=3, MIN_DEPTH=1)
    kernel.search(0x1120000000000000)
    assert kernel.out[OUT.DEPTH_REACHED] == 1
    kernel.search(0x1234567000000000)
    assert kernel.out[OUT.DEPTH_REACHED] == (4 if JIT else 2)


def test_no_legal_move():
    kernel = Kernel()
    assert np.isnan(kernel.search(0x1212212112122121)).all()
    assert kernel.best == -1

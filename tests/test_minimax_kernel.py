"""The minimax and adversary kernels against a list-based twin, and what alpha-beta must not change."""

import functools
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import reference_minimax as slow
from numba import config

from t48lab import Rules, get_evaluator
from t48lab.agents import NO_BOOK
from t48lab.kernels import adversary, minimax
from t48lab.kernels.layout import BLOCK, CLASS, EXTRA, OUT, REALS, RULES, SETTINGS, TABLE, AgentArrays
from t48lab.kernels.lines import evaluate

U = np.uint64
JIT = not config.DISABLE_JIT
BOARDS = 40 if JIT else 2
CASE_12 = [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], [2, 3, 1, 1]]
ONE_COLUMN = [[1, 0, 0, 0], [2, 0, 0, 0], [1, 0, 0, 0], [2, 0, 0, 0]]


def pure_lines(rows, columns, lost=0, shift=0):
    """(lines, extra) of an evaluator that is two tables over lines, one for rows and one for columns."""
    extra = np.zeros(EXTRA.BLOCKS + BLOCK.SIZE, np.int64)
    extra[EXTRA.SHIFT], extra[EXTRA.LOST], extra[EXTRA.PHASES] = shift, lost, 1
    extra[EXTRA.BLOCKS + BLOCK.HEAT] = -1
    extra[EXTRA.BLOCKS + BLOCK.COLUMN_TABLES : EXTRA.BLOCKS + BLOCK.COLUMN_TABLES + 4] = TABLE
    return np.concatenate([rows, columns]).astype(np.int32), extra


def random_lines(seed, **options):
    """An evaluator without structure: every line of rows and of columns has a value of its own."""
    rng = np.random.default_rng(seed)
    return pure_lines(*rng.integers(-(10**6), 10**6, (2, TABLE)), **options)


def counted_cells(weight=1):
    """The number of empty cells times a weight."""
    cells = [(np.arange(TABLE) >> shift) & 15 for shift in (12, 8, 4, 0)]
    return pure_lines(weight * sum(cell == 0 for cell in cells), np.zeros(TABLE))


class Kernel:
    """A kernel with one memory for all its calls."""

    def __init__(self, evaluator, depth=2, four=0.1, seconds=0.0, size=4, words=1 << 10, **settings):
        rules = Rules(rows=size, cols=size, four_probability=four)
        self.moves, self.rules = rules.arrays()
        compiled = get_evaluator(evaluator).compile(rules) if isinstance(evaluator, str) else None
        self.lines, self.extra = (compiled.lines, compiled.extra) if compiled else evaluator
        self.settings = np.zeros(SETTINGS.SIZE, np.int64)
        self.settings[:4] = range(4)
        fixed = {"DEPTH": depth, "CAPACITY": words // 2, "GENERATION": 0x5EED1, "USE_TABLE": 1}
        for name, value in {**fixed, **settings}.items():
            self.settings[getattr(SETTINGS, name)] = value
        self.reals = np.zeros(REALS.SIZE)
        self.reals[REALS.SECONDS] = seconds
        self.memory, self.out = np.zeros(words, np.uint64), np.zeros(OUT.SIZE)

    def _call(self, kernel, board):
        arrays = self.moves, self.rules, self.lines, self.extra, self.memory, NO_BOOK
        agent = AgentArrays(self.settings, self.reals, *arrays)
        return kernel.search(U(packed(board)), agent, np.zeros(1, np.uint64), self.out)

    def search(self, board):
        """{direction: fixed-point value} of the legal moves."""
        self.best = int(self._call(minimax, board))
        return {d: self.fixed(self.out[d]) for d in range(4) if not np.isnan(self.out[d])}

    def spawn(self, board):
        """(cell * 2 + is_four, its fixed-point value)."""
        return int(self._call(adversary, board)), self.fixed(self.out[OUT.VALUES])

    def fixed(self, value):
        return int(value * 2.0 ** int(self.extra[EXTRA.SHIFT]))

    def game(self, **options):
        """The twin's description of the same game."""
        tiles = {0.0: (1,), 1.0: (2,)}.get(float(self.rules[RULES.FOUR]) / 2**32, (1, 2))
        lost = "evaluation" if self.extra[EXTRA.LOST_KIND] else int(self.extra[EXTRA.LOST])
        floor = int(self.extra[EXTRA.LOST]) if self.extra[EXTRA.FLOORED] else None
        return slow.Game(self.evaluate, tiles, lost, floor, **options)

    def evaluate(self, board):
        return int(evaluate(U(packed(board)), self.lines, self.extra, self.rules[RULES.MASK]))


def packed(board):
    rows = [[*row, 0, 0, 0][:4] for row in board] + [[0] * 4] * (4 - len(board))
    return functools.reduce(lambda b, rank: b << 4 | int(rank), (rank for row in rows for rank in row), 0)


def boards(count, seed, empty=(1, 9), top=12, size=4):
    """Boards of `size` rows with a few ranks below `top`; about half of them crowded with small tiles."""
    rng = np.random.default_rng(seed)
    for i in range(count):
        cells = rng.integers(1, top if i % 2 else 4, size * size)
        cells[: rng.integers(*empty)] = 0
        yield rng.permutation(cells).reshape(size, size).tolist()


def agree(kernel, depths, count, empty, size=4, **options):
    game = kernel.game(**options)
    for depth in depths:
        kernel.settings[SETTINGS.DEPTH] = depth
        for board in boards(count, depth, empty, size=size):
            assert kernel.search(board) == slow.root_values(board, depth, game), board


@pytest.mark.parametrize("leaf_state", [False, True])
@pytest.mark.parametrize("use_table", [0, 1])
def test_values_equal_brute_force(leaf_state, use_table):
    kernel = Kernel(random_lines(1, lost=-(10**7)), LEAF_STATE=int(leaf_state), USE_TABLE=use_table)
    agree(kernel, (1, 2), BOARDS // 2, (0, 7 if leaf_state else 12), leaf_state=leaf_state)
    agree(kernel, (3,), BOARDS // 10, (0, 2 if leaf_state else 4), leaf_state=leaf_state)


@pytest.mark.parametrize("four", [0.0, 1.0])
def test_only_tiles_that_the_rules_spawn(four):
    kernel = Kernel(random_lines(2), four=four)
    agree(kernel, (2, 3), BOARDS // 4, (0, 4))


@pytest.mark.compiled
@pytest.mark.parametrize("leaf_state", [False, True])
@pytest.mark.parametrize("evaluator", ["classic", "tuned", "a", "d_basic", "d_final", "e"])
def test_every_kind_of_evaluator(evaluator, leaf_state):
    kernel = Kernel(evaluator, LEAF_STATE=int(leaf_state))
    agree(kernel, (1, 2), 8, (0, 5), leaf_state=leaf_state)
    agree(kernel, (3,), 2, (0, 2), leaf_state=leaf_state)


@pytest.mark.compiled
def test_all_kinds_of_lines_and_peaks_are_among_the_presets():
    kinds = {int(Kernel(name).extra[EXTRA.CLASS]) for name in ("classic", "tuned", "a", "d_basic", "d_final", "e")}
    assert kinds == {CLASS.LINES, CLASS.LINES_AND_PEAK, CLASS.WHOLE_BOARD}


def test_a_lost_position_may_be_worth_its_evaluation():
    kernel = Kernel(random_lines(3))
    kernel.extra[EXTRA.LOST_KIND] = 1
    agree(kernel, (2, 3), BOARDS // 2, (0, 3))


def test_no_position_with_moves_falls_below_the_floor():
    kernel = Kernel(random_lines(4, lost=200_000))
    kernel.extra[EXTRA.FLOORED] = 1
    agree(kernel, (2, 3), BOARDS // 2, (0, 3))


@pytest.mark.parametrize("leaf_state", [False, True])
def test_a_full_board_may_be_a_leaf(leaf_state):
    kernel = Kernel(random_lines(5), FULL_IS_LEAF=1, LEAF_STATE=int(leaf_state))
    agree(kernel, (1, 2), BOARDS // 2, (0, 3), leaf_state=leaf_state, full_is_leaf=True)
    agree(kernel, (3,), BOARDS // 8, (0, 2), leaf_state=leaf_state, full_is_leaf=True)


def test_boards_of_three_rows():
    kernel = Kernel("classic" if JIT else random_lines(6), size=3)
    agree(kernel, (1, 2, 3) if JIT else (1, 2), BOARDS // 4, (0, 4), size=3)


def test_the_worst_spawn_counts_and_not_its_probability():
    for lost in (0, -7):
        lines, extra = counted_cells()
        extra[EXTRA.LOST] = lost
        values = Kernel((lines, extra)).search(CASE_12)
        assert values == {1: lost, 3: lost}


@pytest.mark.compiled
@pytest.mark.parametrize("words", [16, 1 << 12])
def test_the_table_changes_nothing(words):
    evaluator = get_evaluator("classic").compile(Rules())
    with_table = Kernel((evaluator.lines, evaluator.extra), words=words)
    without = Kernel((evaluator.lines, evaluator.extra), USE_TABLE=0)
    hits = 0
    for board in boards(200, 7, (0, 8)):
        for depth in (1, 2, 3):
            with_table.settings[SETTINGS.DEPTH] = without.settings[SETTINGS.DEPTH] = depth
            assert with_table.search(board) == without.search(board)
            assert with_table.best == without.best
            hits += with_table.out[OUT.HITS]
            assert with_table.out[OUT.HITS] <= with_table.out[OUT.PROBES]
            assert without.out[OUT.PROBES] == without.out[OUT.HITS] == 0
    assert hits > 0


@pytest.mark.compiled
def test_entries_of_other_generations_never_match():
    one, other = Kernel(random_lines(8), depth=3), Kernel(random_lines(9), depth=3)
    other.memory = one.memory
    for generation, board in enumerate(boards(40, 8, (2, 6))):
        for kernel, seed in ((one, 8), (other, 9)):
            kernel.settings[SETTINGS.GENERATION] = 2 * generation + seed % 2
            fresh = Kernel(random_lines(seed), depth=3, GENERATION=2 * generation + seed % 2)
            assert kernel.search(board) == fresh.search(board)
            assert kernel.out[OUT.NODES] == fresh.out[OUT.NODES]


@pytest.mark.compiled
def test_the_table_stays_inside_its_memory():
    kernel = Kernel(random_lines(10), depth=4, words=1 << 10, CAPACITY=1 << 6)
    for board in boards(20, 9, (1, 4)):
        kernel.search(board)
    assert kernel.memory[: 1 << 7].any()
    assert not kernel.memory[1 << 7 :].any()
    kernel = Kernel(random_lines(10), depth=4, words=1)
    for board in boards(2, 9, (1, 3)):
        kernel.search(board)
    assert not kernel.memory.any()


@pytest.mark.parametrize("weight", [0, -1_000_000, 1_000_000])
@pytest.mark.parametrize("depth", [1, 2])
def test_a_position_without_good_moves_still_gets_one(weight, depth):
    kernel = Kernel(counted_cells(weight), depth=depth)
    assert set(kernel.search(ONE_COLUMN)) == {1}
    assert kernel.best == 1


def test_without_a_legal_move_there_is_no_answer():
    kernel = Kernel(counted_cells(), depth=3)
    for board in ([[1, 2, 1, 2], [2, 1, 2, 1]] * 2, [[0] * 4] * 4):
        assert kernel.search(board) == {}
        assert kernel.best == -1


def test_equal_moves_go_by_order():
    kernel = Kernel(counted_cells())
    board = [[1, 0, 0, 0], [0] * 4, [0] * 4, [0, 0, 0, 1]]
    for order in ([0, 1, 2, 3], [3, 1, 2, 0], [2, 3, 0, 1]):
        kernel.settings[:4] = order
        kernel.search(board)
        assert kernel.best == order[0]


def test_values_are_scaled_by_the_shift():
    plain, shifted = Kernel(counted_cells()), Kernel(counted_cells(1 << 6))
    shifted.extra[EXTRA.SHIFT] = 6
    for board in boards(BOARDS, 11):
        plain.search(board), shifted.search(board)
        np.testing.assert_array_equal(plain.out[:4], shifted.out[:4])


def test_every_number_of_the_answer_is_written():
    kernel = Kernel(counted_cells(), depth=1)
    kernel.out[:] = 99.0
    legal = len(kernel.search(ONE_COLUMN))
    assert np.isnan(kernel.out[OUT.VISITS : OUT.VISITS + 4]).all()
    assert kernel.out[OUT.NODES] == kernel.out[OUT.LEAVES] == legal
    assert kernel.out[OUT.DEPTH_REACHED] == 1
    assert kernel.out[OUT.PROBES] == kernel.out[OUT.HITS] == 0


@pytest.mark.compiled
def test_pruning_saves_most_evaluations():
    kernel = Kernel("classic", USE_TABLE=0)
    for depth, share in ((2, 0.8), (3, 0.25)):
        kernel.settings[SETTINGS.DEPTH] = depth
        evaluations, leaves = 0, 0
        for board in boards(10, 12, (3, 6)):
            calls = []
            slow.root_values(board, depth, slow.Game(lambda after, calls=calls: calls.append(after) or 0))
            evaluations += len(calls)
            kernel.search(board)
            leaves += kernel.out[OUT.LEAVES]
            assert kernel.out[OUT.LEAVES] < kernel.out[OUT.NODES] < 2 * kernel.out[OUT.LEAVES]
        assert leaves < share * evaluations


@pytest.mark.compiled
def test_a_limit_of_nodes_keeps_the_last_finished_depth():
    plain, limited = Kernel("classic"), Kernel("classic", depth=20, NODE_LIMIT=20_000)
    deepest = 0
    for board in boards(30, 13, (2, 8)):
        values = limited.search(board)
        plain.settings[SETTINGS.DEPTH] = depth = int(limited.out[OUT.DEPTH_REACHED])
        assert plain.search(board) == values
        assert plain.best == limited.best
        assert limited.out[OUT.NODES] < 20_000 + 400
        deepest = max(deepest, depth)
    assert deepest >= 4
    limited.settings[SETTINGS.NODE_LIMIT] = 1
    assert limited.search(board) == Kernel("classic", depth=1).search(board)
    assert limited.out[OUT.DEPTH_REACHED] == 1


@pytest.mark.compiled
@pytest.mark.parametrize("evaluator", ["classic", "d_final"])
def test_a_limit_of_time_is_kept(evaluator):
    kernel, taken = Kernel(evaluator, depth=20, seconds=0.01), []
    for board in boards(40, 14, (3, 8)):
        start = time.thread_time()
        kernel.search(board)
        taken.append(time.thread_time() - start)
        assert kernel.out[OUT.DEPTH_REACHED] >= 2
    assert np.quantile(taken, 0.05) < 0.011  # other processes may hold up most of the calls


@pytest.mark.parametrize("leaf_state", [False, True])
def test_the_worst_spawn_equals_brute_force(leaf_state):
    kernel = Kernel(random_lines(15, lost=-(10**7)), LEAF_STATE=int(leaf_state))
    game = kernel.game(leaf_state=leaf_state)
    for depth, empty in ((0, (1, 16)), (1, (1, 6)), (2, (1, 3))):
        kernel.settings[SETTINGS.DEPTH] = depth
        for board in boards(BOARDS // 2, depth, empty):
            assert kernel.spawn(board) == slow.worst_spawn(board, depth, game), board


@pytest.mark.parametrize("four", [0.0, 1.0])
def test_the_adversary_spawns_what_the_rules_allow(four):
    kernel = Kernel(random_lines(16), four=four)
    for depth in (0, 1):
        kernel.settings[SETTINGS.DEPTH] = depth
        for board in boards(BOARDS // 2, 16, (1, 6)):
            code, value = kernel.spawn(board)
            assert code & 1 == four
            assert (code, value) == slow.worst_spawn(board, depth, kernel.game())


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_of_equal_spawns_the_first_counts(depth):
    kernel = Kernel(counted_cells(0), depth=depth)
    game = kernel.game()
    for board in boards(4 if JIT else 1, 17, (1, 6)):
        first = 2 * [rank for row in board for rank in row].index(0)
        assert kernel.spawn(board) == slow.worst_spawn(board, depth, game) == (first, 0)
    few = Kernel(counted_cells(1), depth=depth)
    for board in boards(BOARDS // 2, 18, (1, 3)):
        assert few.spawn(board) == slow.worst_spawn(board, depth, few.game())


def test_on_a_full_board_nothing_spawns():
    assert Kernel(counted_cells(), depth=1).spawn(CASE_12)[0] == -1


@pytest.mark.compiled
def test_a_limited_adversary_keeps_the_last_finished_depth():
    limited, plain = Kernel("classic", depth=20, NODE_LIMIT=20_000), Kernel("classic")
    for board in boards(10, 19, (2, 8)):
        found = limited.spawn(board)
        plain.settings[SETTINGS.DEPTH] = limited.out[OUT.DEPTH_REACHED]
        assert plain.settings[SETTINGS.DEPTH] >= 1
        assert found == plain.spawn(board)


def answers():
    """Everything that both kernels write for a few boards, as text."""
    texts = []
    for depth in (1, 2, 3):
        for leaf_state in (0, 1):
            kernel = Kernel(random_lines(20), depth, LEAF_STATE=leaf_state)
            for board in boards(3, 20, (0, 3)):
                kernel.search(board)
                texts.append(f"{kernel.best} {kernel.out.tolist()}")
                texts.append(f"{kernel.spawn(board)} {kernel.out.tolist()}")
    return "\n".join(texts)


@pytest.mark.compiled
def test_plain_python_answers_the_same():
    tests = Path(__file__).parent
    path = os.pathsep.join(map(str, (tests, tests.parent)))
    code = "import test_minimax_kernel; print(test_minimax_kernel.answers())"
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": path}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert run.stdout.strip() == answers(), run.stderr

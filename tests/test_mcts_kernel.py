"""The Monte-Carlo tree search kernel on arrays made by hand, against its slow twin and exact values."""

import time
from collections import Counter
from itertools import product

import numpy as np
import pytest
import reference
import reference_mcts as twin
from numba import config

from t48lab.agents import NO_BOOK
from t48lab.kernels import bitboard, mcts
from t48lab.kernels.layout import (
    BLOCK,
    CHANCE,
    EXTRA,
    FINAL,
    NODE,
    OUT,
    REALS,
    REWARD,
    ROLLOUT,
    SETTINGS,
    TREE,
    AgentArrays,
    memory_words,
)

U = np.uint64
JIT = not config.DISABLE_JIT
MOVES = bitboard.build_moves()
NUMBERS = np.array([0x1111111111111111, round(0.1 * 2**32), 4, 4], np.uint64)
CHANCES = {"open": CHANCE.OPEN_LOOP, "closed": CHANCE.BY_SPAWN, "stored": CHANCE.ONE_SPAWN}
ROLLOUTS = {"uniform": ROLLOUT.UNIFORM, "merge": ROLLOUT.MERGE_FIRST, "evaluator": ROLLOUT.GUIDED}
REWARDS = {"points": REWARD.POINTS, "minmax": REWARD.MIN_MAX, "win": REWARD.WIN, "raw": REWARD.RAW}
FINALS = {"visits": FINAL.BY_VISITS, "mean": FINAL.BY_MEAN}
SHIFT, LOST = 4, 24

CROWDED = ((3, 1, 2, 4), (1, 5, 3, 2), (2, 3, 7, 1), (1, 2, 3, 0))
OPENING = ((0, 0, 0, 0), (0, 1, 0, 0), (0, 0, 0, 1), (0, 0, 0, 0))
MIDDLE = ((0, 4, 1, 2), (1, 2, 6, 1), (0, 1, 4, 3), (0, 0, 2, 1))
ONE_MOVE = ((1, 0, 0, 0), (2, 0, 0, 0), (1, 0, 0, 0), (2, 0, 0, 0))
LOST_BOARD = ((1, 2, 1, 2), (2, 1, 2, 1), (1, 2, 1, 2), (2, 1, 2, 1))
BIG = ((15, 15, 14, 1), (3, 9, 4, 2), (1, 4, 9, 3), (0, 1, 4, 4))
BOARDS = [CROWDED, OPENING, MIDDLE, ONE_MOVE, BIG]


def packed(board):
    return U(sum(rank << 60 - 4 * (4 * r + c) for r, row in enumerate(board) for c, rank in enumerate(row)))


def unpacked(b):
    return tuple(tuple(int(b) >> 60 - 4 * (4 * r + c) & 15 for c in range(4)) for r in range(4))


def evaluator():
    """(lines, extra) worth 1 for an empty cell and 5/16 for a rank in the top row and in the left column."""
    line = np.arange(65536)
    cells = [line >> shift & 15 for shift in (12, 8, 4, 0)]
    extra = np.zeros(EXTRA.BLOCKS + BLOCK.SIZE, np.int64)
    extra[EXTRA.SHIFT], extra[EXTRA.LOST] = SHIFT, LOST
    extra[EXTRA.BLOCKS + BLOCK.HEAT] = -1
    return (8 * sum(cell == 0 for cell in cells) + 5 * cells[0]).astype(np.int32), extra


LINES, TERMS = evaluator()


def worth(board):
    edge = sum(board[0]) + sum(row[0] for row in board)
    return (16 * len(reference.empty_cells(board)) + 5 * edge) / 2**SHIFT


class Kernel:
    """One agent's arrays, as a game owns them."""

    def __init__(self, setup=None, state=2048, seconds=0.0, reuse=False, generation=77, capacity=3000, moves=MOVES):
        self.setup = setup or twin.Setup()
        capacity = min(capacity, self.setup.capacity)
        self.settings = np.zeros(SETTINGS.SIZE, np.int64)
        self.settings[:4] = self.setup.order
        self.settings[SETTINGS.CAPACITY], self.settings[SETTINGS.GENERATION] = capacity, generation
        self.settings[SETTINGS.SIMULATIONS], self.settings[SETTINGS.ROLLOUT_LIMIT] = (
            self.setup.simulations,
            self.setup.limit,
        )
        self.settings[SETTINGS.CHANCE], self.settings[SETTINGS.ROLLOUT] = (
            CHANCES[self.setup.chance],
            ROLLOUTS[self.setup.rollout],
        )
        self.settings[SETTINGS.FINAL], self.settings[SETTINGS.REWARD] = (
            FINALS[self.setup.final],
            REWARDS[self.setup.reward],
        )
        self.settings[SETTINGS.REUSE], self.settings[SETTINGS.WIN_RANK] = reuse, self.setup.win
        self.reals = np.zeros(REALS.SIZE)
        self.reals[REALS.EXPLORATION], self.reals[REALS.SECONDS] = self.setup.exploration, seconds
        self.reals[REALS.EVALUATOR_PROBABILITY], self.reals[REALS.VALUE_WEIGHT] = (
            self.setup.probability,
            self.setup.weight,
        )
        self.memory = np.zeros(memory_words(capacity), np.uint64)
        self.stream = np.array([state], np.uint64)
        self.moves, self.rules = moves, NUMBERS
        self.out = np.zeros(OUT.SIZE)

    def search(self, board):
        agent = AgentArrays(self.settings, self.reals, self.moves, self.rules, LINES, TERMS, self.memory, NO_BOOK)
        return mcts.search(packed(board), agent, self.stream, self.out)

    @property
    def visits(self):
        return self.out[OUT.VISITS : OUT.VISITS + 4]

    @property
    def values(self):
        return self.out[OUT.VALUES : OUT.VALUES + 4]


def compare(kernel, search, board):
    """Both searches of a board agree on everything that the kernel reports, and on the stream after it."""
    direction = kernel.search(board)
    assert search.run() == direction
    for d in range(4):
        visits = search.root.visits.get(d, 0) if d in reference.legal(board, 15) else np.nan
        np.testing.assert_equal(kernel.visits[d], visits)
        np.testing.assert_allclose(kernel.values[d], search.root.mean(d) if visits > 0 else np.nan, rtol=1e-12)
    assert kernel.out[OUT.NODES] == search.nodes
    assert kernel.out[OUT.DEPTH_REACHED] == search.depth
    assert kernel.out[OUT.LEAVES] == search.setup.simulations
    assert kernel.out[OUT.TREE_SIZE] == search.stored
    assert int(kernel.stream[0]) == search.stream.state
    return direction


def setups():
    small = {"evaluate": worth, "lost": LOST / 2**SHIFT, "simulations": 40 if JIT else 12}
    for chance, rollout in product(CHANCES, ROLLOUTS):
        yield twin.Setup(**small, chance=chance, rollout=rollout)
    for reward, limit, final in product(REWARDS, (-1, 0, 6), FINALS):
        yield twin.Setup(**small, reward=reward, limit=limit, final=final, win=7)
    yield twin.Setup(**small, rollout="evaluator", probability=1.0, limit=9, weight=30.0, order=(3, 1, 0, 2))
    yield twin.Setup(**small, rollout="merge", limit=5, exploration=0.1)
    for chance, capacity in product(CHANCES, (1, 2, 7)):
        yield twin.Setup(**small, chance=chance, capacity=capacity)


@pytest.mark.parametrize(
    "setup", list(setups()), ids=lambda s: f"{s.chance}-{s.rollout}-{s.reward}-{s.limit}-{s.final}"
)
def test_search_equals_its_slow_twin(setup):
    for i, board in enumerate(BOARDS if JIT and setup.capacity > 100 else [CROWDED]):
        kernel = Kernel(setup, state=i)
        compare(kernel, twin.Search(setup, reference.Stream(i), twin.Node(board)), board)


@pytest.mark.parametrize("chance", CHANCES)
def test_reused_trees_equal_the_twin_s(chance):
    setup = twin.Setup(simulations=60 if JIT else 20, chance=chance)
    kernel, board, spawns, taken = Kernel(setup, reuse=True), CROWDED, reference.Stream(9), 0
    search = twin.Search(setup, reference.Stream(2048), twin.Node(board))
    for _ in range(12 if JIT else 3):
        before = sum(search.root.visits.get(d, 0) for d in reference.legal(board, 15))
        direction = compare(kernel, search, board)
        assert kernel.out[OUT.TAKEN_OVER] == before
        assert np.nansum(kernel.visits) == before + setup.simulations
        taken += before
        board = reference.spawn(reference.move(board, direction, 15)[0], spawns)
        if not reference.legal(board):
            break
        root = twin.successor(search.root, chance, board)
        scale = search.scale if root else 1.0
        search = twin.Search(setup, search.stream, root or twin.Node(board), scale)
        search.root.board = board
    assert taken > 0 or chance == "stored" or not JIT


def test_reuse_ignores_the_tree_of_another_game():
    used, fresh = Kernel(reuse=True), Kernel(reuse=True, generation=78, state=5)
    direction = used.search(CROWDED)
    board = reference.spawn(reference.move(CROWDED, direction)[0], reference.Stream(1))
    used.settings[SETTINGS.GENERATION], used.stream[0] = 78, 5
    assert used.search(board) == fresh.search(board)
    assert used.out[OUT.TAKEN_OVER] == 0
    np.testing.assert_array_equal(used.out, fresh.out)


def test_leftovers_in_memory_change_nothing():
    for setup in (twin.Setup(), twin.Setup(chance="open", reward="minmax"), twin.Setup(chance="stored", reward="raw")):
        clean, dirty = Kernel(setup), Kernel(setup)
        dirty.memory[:] = U(0xDEADBEEFDEADBEEF)
        assert clean.search(MIDDLE) == dirty.search(MIDDLE)
        np.testing.assert_array_equal(clean.out, dirty.out)


def test_same_stream_same_answer():
    first, again, other = Kernel(state=0), Kernel(state=0), Kernel(state=1)
    for kernel in (first, again, other):
        kernel.search(MIDDLE)
    np.testing.assert_array_equal(first.out, again.out)
    assert not np.array_equal(first.out, other.out, equal_nan=True)


def test_answer_is_pinned_with_and_without_jit():
    kernel = Kernel(twin.Setup(simulations=40))
    assert kernel.search(MIDDLE) == 3
    np.testing.assert_array_equal(kernel.visits, [10, np.nan, 13, 17])
    assert int(kernel.stream[0]) == 14050267054624802985


def positions(count):
    rng = np.random.default_rng(12)
    while count:
        ranks = rng.integers(0, rng.integers(3, 12), 16) * (rng.random(16) < rng.uniform(0.3, 1.0))
        board = tuple(tuple(map(int, row)) for row in ranks.reshape(4, 4))
        if reference.legal(board):
            yield board
            count -= 1


@pytest.mark.parametrize("chance", CHANCES)
@pytest.mark.parametrize("reward", REWARDS)
@pytest.mark.parametrize("final", FINALS)
def test_moves_are_legal_and_visits_add_up(chance, reward, final):
    for i, board in enumerate(positions(100 if JIT else 3)):
        for simulations in (1, 2, 5, 40 if JIT else 6):
            kernel = Kernel(twin.Setup(simulations, chance, reward=reward, final=final), state=i)
            legal = reference.legal(board)
            assert kernel.search(board) in legal
            assert np.nansum(kernel.visits) == simulations
            assert np.isnan(kernel.visits).tolist() == [d not in legal for d in range(4)]
            assert np.isnan(kernel.values).tolist() == [not v > 0 for v in kernel.visits]


def test_no_legal_move_is_minus_one():
    kernel = Kernel()
    assert kernel.search(LOST_BOARD) == -1
    assert np.isnan(kernel.out[:8]).all()
    assert not kernel.out[8:].any()
    assert kernel.stream[0] == 2048


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1)])
@pytest.mark.parametrize("reward", REWARDS)
def test_ties_go_by_order(reward, order):
    """Every move ends the game without a merge: all returns are 0, all visits equal."""
    board = ((3, 4, 5, 6), (7, 8, 9, 10), (3, 4, 5, 6), (7, 8, 9, 0))
    legal = reference.legal(board)
    setup = twin.Setup(10 * len(legal), reward=reward, limit=0, weight=0.0, order=order, win=14)
    for final in FINALS:
        setup.final = final
        kernel = Kernel(setup)
        assert kernel.search(board) == next(d for d in order if d in legal)
        assert [v for v in kernel.visits if v == v] == [10] * len(legal)
        assert {v for v in kernel.values if v == v} == {0.0}


@pytest.mark.parametrize("reward", ["points", "minmax"])
def test_exploration_does_not_depend_on_the_units_of_values(reward):
    """Returns of 1e6 and of 1e12 points get the same visits: neither swamps C, neither is flattened by it."""
    visits = []
    for weight in (2.0**20, 2.0**40):
        kernel = Kernel(twin.Setup(200 if JIT else 30, reward=reward, limit=0, weight=weight))
        kernel.search(MIDDLE)
        visits.append([v for v in kernel.visits if v == v])
    assert visits[0] == visits[1]
    assert min(visits[0]) > 1
    assert max(visits[0]) > 1.2 * sum(visits[0]) / len(visits[0])


def test_wins_are_counted_not_points():
    for win, value in ((7, 1.0), (14, 0.0)):
        kernel = Kernel(twin.Setup(20, reward="win", win=win))
        kernel.search(CROWDED)
        assert {v for v in kernel.values if v == v} == {value}


ENDGAMES = [
    (((10, 3, 2, 6), (4, 1, 7, 9), (8, 1, 1, 5), (12, 14, 13, 11)), 2),
    (((6, 4, 3, 3), (10, 4, 12, 5), (14, 13, 3, 8), (11, 4, 7, 9)), 1),
    (((4, 10, 7, 5), (3, 9, 14, 4), (3, 3, 6, 6), (13, 8, 12, 11)), 0),
    (((4, 4, 14, 6), (3, 7, 2, 8), (3, 5, 3, 13), (12, 10, 9, 11)), 2),
    (((6, 7, 12, 8), (11, 3, 13, 5), (10, 3, 5, 5), (9, 14, 6, 4)), 3),
]


@pytest.mark.compiled
@pytest.mark.parametrize("reward", ["points", "minmax"])
@pytest.mark.parametrize(("board", "best"), ENDGAMES)
def test_endgames_are_solved(board, best, reward):
    """Best play, computed exactly, often is not the move with most points; the closed loop finds it and its value."""
    exact = twin.exact_moves(board, {})
    assert max(exact, key=exact.get) == best
    kernel = Kernel(twin.Setup(20_000, reward=reward), capacity=20_001)
    assert kernel.search(board) == best
    if reward == "points":
        assert kernel.values[best] == pytest.approx(exact[best], rel=0.1)
        assert kernel.visits[best] > 10_000


@pytest.mark.compiled
def test_small_boards_are_played_by_their_own_tables():
    moves = bitboard.build_moves(2, 2)
    kernel = Kernel(twin.Setup(20_000), capacity=20_001, moves=moves)
    kernel.rules = np.array([0x1100110000000000, round(0.1 * 2**32), 2, 2], np.uint64)
    for board in (((1, 0), (0, 1)), ((3, 1), (0, 2)), ((2, 1), (3, 0))):
        exact, grid = twin.exact_moves(board, {}), tuple((*row, 0, 0) for row in board) + ((0,) * 4,) * 2
        best = kernel.search(grid)
        assert exact[best] == pytest.approx(max(exact.values()), rel=0.1)


def records(memory):
    """Yields (record, direction, child record) of all links of a tree in memory."""
    links = memory.view(np.int64)
    for node in range(TREE.ROOT, int(links[TREE.END]), NODE.SIZE):
        for d in range(4):
            child = links[node + NODE.CHILD + d]
            while child:
                yield node, d, child
                child = links[child + NODE.SIBLING]


@pytest.mark.compiled
@pytest.mark.parametrize("reuse", [False, True])
def test_tree_in_memory_is_sound(reuse):
    """Each record hangs from one link; its board follows from its parent's; visits of children add up."""
    kernel = Kernel(twin.Setup(2000), reuse=reuse, capacity=5000)
    board = MIDDLE
    for turn in range(5):
        board = reference.spawn(reference.move(board, kernel.search(board))[0], reference.Stream(turn))
    links, stats, memory = kernel.memory.view(np.int64), kernel.memory.view(np.float64), kernel.memory
    sums = Counter()
    children = []
    for node, d, child in records(memory):
        after = bitboard.slide(memory[node + NODE.BOARD], d, MOVES)
        spawned = int(memory[child + NODE.BOARD]) ^ int(after)
        assert spawned.bit_count() == 1
        assert not spawned & int(after)
        own = stats[child + NODE.VISITS : child + NODE.VISITS + 4].sum()
        alive = links[child + NODE.KNOWN] == 0 or links[child + NODE.KNOWN] & 15
        sums[node, d] += own + 1 if alive else np.nan
        children.append(child)
    assert sorted(children) == list(range(TREE.ROOT + NODE.SIZE, links[TREE.END], NODE.SIZE))
    for (node, d), visits in sums.items():
        assert np.isnan(visits) or stats[node + NODE.VISITS + d] == visits


@pytest.mark.compiled
def test_seconds_are_kept():
    kernel = Kernel(twin.Setup(0), seconds=0.01, capacity=20_000)
    kernel.search(MIDDLE)
    used = []
    for _ in range(20):
        start = time.thread_time()
        assert kernel.search(MIDDLE) in reference.legal(MIDDLE)
        used.append(time.thread_time() - start)
        assert np.nansum(kernel.visits) == kernel.out[OUT.LEAVES] > 10
    assert min(used) > 0.0099
    assert sorted(used)[10] < 0.011


def test_first_limit_reached_ends_the_search():
    for simulations, seconds, expected in ((5, 100.0, 5), (10**9, 1e-9, 1), (0, 1e-9, 1)):
        kernel = Kernel(twin.Setup(simulations), seconds=seconds)
        kernel.search(CROWDED)
        assert kernel.out[OUT.LEAVES] == expected


def test_root_counts_of_parallel_searches_merge():
    """Visits add up, values are means weighted by visits."""
    kernels = [Kernel(twin.Setup(30), state=state) for state in range(3)]
    for kernel in kernels:
        kernel.search(MIDDLE)
    visits = np.nansum([kernel.visits for kernel in kernels], axis=0)
    sums = np.nansum([kernel.visits * kernel.values for kernel in kernels], axis=0)
    assert visits.sum() == 90
    assert np.isnan(kernels[0].visits).tolist() == (visits == 0).tolist()
    for d in np.flatnonzero(visits):
        means = [kernel.values[d] for kernel in kernels]
        assert min(means) <= sums[d] / visits[d] <= max(means)

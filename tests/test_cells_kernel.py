"""An evaluator that is no sum over lines and no term: tables over tuples of cells, in every search unchanged."""

import numpy as np
import pytest
import reference
import reference_expectimax
import reference_mcts
import reference_minimax
from numba import config
from test_mcts_kernel import CROWDED, MIDDLE, compare
from test_mcts_kernel import Kernel as TreeKernel
from test_minimax_kernel import Kernel, boards, packed

from t48lab.kernels import bestfirst, expectimax, greedy
from t48lab.kernels.layout import BLOCK, CLASS, EXTRA, FORM, MODE, OUT, REALS, SETTINGS, TUPLES
from t48lab.kernels.lines import evaluate
from t48lab.rules import Rules

JIT = not config.DISABLE_JIT
MASK = Rules().arrays()[1][0]
CORNERS, MIDDLES = (0, 3, 12, 15), (5, 10)
TABLES = [np.random.default_rng(seed).integers(-(10**6), 10**6, 16**n) for seed, n in ((1, 4), (2, 2))]
LOST = -(10**7)


def evaluator():
    """(lines, extra): a table over the four corner cells, and one over two cells in the middle."""
    extra = np.zeros(EXTRA.BLOCKS + BLOCK.SIZE, np.int64)
    extra[EXTRA.CLASS], extra[EXTRA.FORM], extra[EXTRA.LOST] = CLASS.WHOLE_BOARD, FORM.CELLS, LOST
    extra[EXTRA.BLOCKS + TUPLES.COUNT] = 2
    for k, (cells, start) in enumerate(((CORNERS, 0), (MIDDLES, 16**4))):
        place = EXTRA.BLOCKS + TUPLES.TUPLES + TUPLES.SIZE * k
        bits = [60 - 4 * cell for cell in cells]
        extra[place + TUPLES.START], extra[place + TUPLES.LENGTH] = start, len(cells)
        extra[place + TUPLES.BITS : place + TUPLES.BITS + len(cells)] = bits
    return np.concatenate(TABLES).astype(np.int32), extra


def plain(board):
    """The same sum, from a board as rows of ranks."""
    ranks = [rank for row in board for rank in row]
    found = [np.ravel_multi_index([ranks[cell] for cell in cells], (16,) * len(cells)) for cells in (CORNERS, MIDDLES)]
    return int(TABLES[0][found[0]] + TABLES[1][found[1]])


def test_an_evaluator_over_cells_equals_its_twin():
    for board in boards(2000 if JIT else 50, 1):
        assert evaluate(np.uint64(packed(board)), *evaluator(), MASK) == plain(board)


@pytest.mark.parametrize("leaf_state", [False, True])
def test_expectimax(leaf_state):
    game = reference_expectimax.Game(plain, LOST, leaf_state=leaf_state)
    kernel = Kernel(evaluator(), LEAF_STATE=int(leaf_state), FOURS=99)
    kernel.memory = np.zeros(1 << 14, np.uint64)
    for depth in (1, 2):
        kernel.settings[SETTINGS.DEPTH] = depth
        for board in boards(20 if JIT else 1, depth, (1, 5)):
            kernel._call(expectimax, board)
            found = {d: kernel.out[d] for d in range(4) if not np.isnan(kernel.out[d])}
            expected = reference_expectimax.root_values(board, depth, game)
            assert found == {d: pytest.approx(value, rel=1e-9) for d, value in expected.items()}


@pytest.mark.parametrize("leaf_state", [False, True])
def test_minimax_and_the_adversary(leaf_state):
    game = reference_minimax.Game(plain, (1, 2), LOST, leaf_state=leaf_state)
    kernel = Kernel(evaluator(), LEAF_STATE=int(leaf_state))
    for depth in (1, 2, 3):
        kernel.settings[SETTINGS.DEPTH] = depth
        for board in boards(20 // depth if JIT else 1, depth, (1, 4 if depth < 3 else 2)):
            assert kernel.search(board) == reference_minimax.root_values(board, depth, game)
            if depth < 3:
                assert kernel.spawn(board) == reference_minimax.worst_spawn(board, depth, game)


def test_greedy():
    kernel = Kernel(evaluator(), BY=1)
    for board in boards(100 if JIT else 5, 3):
        kernel._call(greedy, board)
        found = {d: kernel.out[d] for d in range(4) if not np.isnan(kernel.out[d])}
        assert found == {d: plain(after) for d, after in reference_minimax.afterstates(board).items()}


@pytest.mark.parametrize("rollout", ["evaluator", "uniform"])
def test_mcts(rollout, monkeypatch):
    lines, extra = evaluator()
    monkeypatch.setattr("test_mcts_kernel.LINES", lines)
    monkeypatch.setattr("test_mcts_kernel.TERMS", extra)
    options = {"rollout": rollout, "limit": 5, "simulations": 40 if JIT else 8}
    setup = reference_mcts.Setup(evaluate=plain, lost=LOST, **options)
    for state, board in enumerate((CROWDED, MIDDLE)):
        search = reference_mcts.Search(setup, reference.Stream(state), reference_mcts.Node(board))
        compare(TreeKernel(setup, state=state), search, board)


def test_bestfirst_values_one_world_by_it():
    kernel = Kernel(evaluator(), CAPACITY=1, WORLDS=1, MODE=MODE.OPEN_LIST, words=1 << 12)
    kernel.reals[REALS.REWARD_WEIGHT] = 0.0
    for board in boards(20 if JIT else 2, 4, (1, 9)):
        kernel._call(bestfirst, board)
        for d, after in reference_minimax.afterstates(board).items():
            spawned = [plain(child) for _, _, child in reference_minimax.spawned(after, (1, 2))]
            assert kernel.out[OUT.VALUES + d] in [*spawned, LOST]

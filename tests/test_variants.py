"""Other boards: games on 2x2 to 4x4 end where no move is left, and the searches equal brute force there."""

import functools

import numpy as np
import pytest
import reference
import reference_expectimax as mean
import reference_minimax as worst
from numba import config

from t48lab import Board, Expectimax, Minimax, Rules, get_evaluator, make_agent, play, play_batch, replay

JIT = not config.DISABLE_JIT
SIZES = [(2, 2), (2, 3), (3, 2), (3, 3), (3, 4), (4, 3)]
PLAYERS = [
    "random",
    "priority",
    "greedy",
    "greedy:evaluator=tuned",
    "expectimax:depth=2",
    "expectimax:depth=1,evaluator=a,leaf=state",
    "minimax:depth=2",
    "mcts:simulations=20",
    "bestfirst:nodes=40,worlds=2",
    "bestfirst:mode=published,depth=1,evaluator=e",
]


def boards(count, seed, rows, cols, empty):
    """Boards as tuples of rows of ranks, half of them of small tiles alone."""
    rng = np.random.default_rng(seed)
    for i in range(count):
        cells = rng.integers(1, 8 if i % 2 else 3, rows * cols)
        cells[: min(int(rng.integers(*empty)), rows * cols - 1)] = 0
        yield tuple(map(tuple, rng.permutation(cells).reshape(rows, cols).tolist()))


def parsed(board):
    return Board.from_array([[1 << rank if rank else 0 for rank in row] for row in board])


def agrees(agent, board, expected):
    found = agent.search(parsed(board))
    values = {d: found.values[name] for d, name in enumerate(found.values) if found.values[name] is not None}
    assert values == {d: pytest.approx(value, rel=1e-6, abs=1e-6) for d, value in expected.items()}, board


@functools.cache
def worth(evaluator, board):
    return get_evaluator(evaluator).value(parsed(board))


def lost(evaluator):
    return get_evaluator(evaluator).lost


@pytest.mark.parametrize("evaluator", ["tuned", "a", "d_normal", "e"])
@pytest.mark.parametrize("leaf", ["afterstate", "state"])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_expectimax_equals_brute_force(size, leaf, evaluator):
    evaluate = functools.partial(worth, evaluator)
    game = mean.Game(evaluate, lost=lost(evaluator), leaf_state=leaf == "state")
    for depth, empty in ((1, (0, 8)), (2, (0, 4))):
        agent = Expectimax(depth=depth, evaluator=evaluator, leaf=leaf)
        for board in boards(6 if JIT else 1, depth, *size, empty):
            agrees(agent, board, mean.root_values(board, depth, game))


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_deep_expectimax_on_full_small_boards(size):
    game = mean.Game(functools.partial(worth, "tuned"), lost=lost("tuned"))
    for board in boards(3 if JIT else 1, 9, *size, (0, 2)):
        agrees(Expectimax(depth=3), board, mean.root_values(board, 3, game))


@pytest.mark.parametrize("leaf", ["afterstate", "state"])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_minimax_equals_brute_force(size, leaf):
    game = worst.Game(functools.partial(worth, "tuned"), lost=lost("tuned"), leaf_state=leaf == "state")
    for depth, empty in ((1, (0, 8)), (2, (0, 4))):
        for board in boards(6 if JIT else 1, depth, *size, empty):
            agrees(Minimax(depth=depth, leaf=leaf), board, worst.root_values(board, depth, game))


@pytest.mark.parametrize("spec", PLAYERS)
@pytest.mark.parametrize("size", SIZES if JIT else SIZES[:3], ids=str)
def test_games_end_when_no_move_is_left(size, spec):
    rules = Rules(rows=size[0], cols=size[1])
    record = play(spec, seed=11, rules=rules)
    final = Board.parse(record.final)
    assert (final.rows, final.cols) == size
    assert final.is_over
    assert record.moves == len(record.actions) > 0
    assert [place.board.hex for place in replay(record)][-1] == record.final
    row = play_batch(spec, games=1, seed=11, rules=rules).iloc[0]
    assert (row["final"], row["score"]) == (record.final, record.score)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_random_games_are_those_of_the_slow_twin(size):
    frame = play_batch("random", games=3, seed=6, rules=Rules(rows=size[0], cols=size[1]))
    for game, row in enumerate(frame.itertuples()):
        board, score, moves = reference.random_game(6, game, *size)
        assert (Board.parse(row.final).ranks().tolist(), row.score, row.moves) == (
            [list(r) for r in board],
            score,
            moves,
        )


@pytest.mark.parametrize("spec", PLAYERS)
def test_a_lone_move_is_found_on_every_size(spec):
    for rows, cols in SIZES:
        column = [[2 if r % 2 else 4] + [0] * (cols - 1) for r in range(rows)]
        assert make_agent(spec).search(Board.from_array(column)).best == "right"


def test_fours_only_and_twos_only():
    for share, tile in ((1.0, 4), (0.0, 2)):
        record = play("expectimax:depth=2", seed=2, rules=Rules(rows=2, cols=3, four_probability=share))
        assert {spawn[2] for spawn in record.spawns} == {tile}


@pytest.mark.compiled
def test_deeper_search_helps_on_a_small_board():
    rules = Rules(rows=3, cols=3)
    means = [
        play_batch(spec, games=200, seed=3, rules=rules)["score"].mean() for spec in ("random", "expectimax:depth=3")
    ]
    assert means[1] > 5 * means[0]

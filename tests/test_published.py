"""The counted programs find what the kernels find, and count what can be counted by hand."""

import math

import numpy as np
import pytest

from t48lab import Board, get_evaluator, make_agent
from t48lab.claims.published import (
    Published,
    Switches,
    array_of,
    grid_of,
    left_of_array,
    left_of_bits,
    left_of_lists,
    plain_d4,
)

CROWDED = Board.parse("2 4 8 16 / 16 32 64 128 / 4 4 256 512 / 0 2 8 1024")
OPEN = Board.parse("2 4 0 16 / 0 0 64 0 / 0 4 0 512 / 0 2 0 0")
FULL = Board.parse("2 2 8 16 / 16 32 64 128 / 4 8 256 512 / 8 2 8 1024")
AGENTS = {
    3: "expectimax:depth=2,leaf=afterstate",
    4: "expectimax:depth=2,leaf=state",
    5: "expectimax:depth=3,leaf=afterstate",
}


def boards(count, seed):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        ranks = rng.integers(0, rng.integers(3, 12), 16) * (rng.random(16) < rng.uniform(0.4, 1.0))
        yield Board.from_array(np.where(ranks > 0, 1 << ranks, 0).reshape(4, 4))


@pytest.mark.parametrize("layers", [3, 4, pytest.param(5, marks=pytest.mark.compiled)])
@pytest.mark.parametrize("switches", [{}, {"memo": "values"}, {"memo": "evaluations", "capacity": 50, "ordered": True}])
def test_values_are_those_of_the_kernel(layers, switches):
    program = Published("a", Switches(layers=layers, **switches))
    agent = make_agent(f"{AGENTS[layers]},evaluator=a")
    for board in (CROWDED, FULL) if layers == 5 else (CROWDED, OPEN, FULL):
        expected = {name: value for name, value in agent.search(board).values.items() if value is not None}
        assert program.search(board).values == pytest.approx(expected)


def test_full_boards_may_be_leaves():
    expected = make_agent("system_d:depth=2").search(CROWDED).values
    found = Published("d_final", Switches(layers=4, full_leaf=True)).search(CROWDED).values
    assert found == pytest.approx({name: value for name, value in expected.items() if value is not None})


def test_nodes_without_a_memo_are_the_whole_tree():
    counts = Published("a", Switches(layers=2)).search(OPEN)
    after = [OPEN.move(name).afterstate for name in OPEN.legal_moves]
    assert counts.nodes == 1 + len(after) + sum(2 * board.empty_count for board in after)
    assert counts.evaluations == sum(2 * board.empty_count for board in after)
    assert counts.visits == counts.nodes


def test_memo_answers_what_it_was_asked_before():
    plain, memo = (Published("a", Switches(memo=memo)).search(OPEN) for memo in ("none", "values"))
    assert memo.nodes < plain.nodes
    assert memo.visits == memo.nodes + memo.hits
    assert memo.lookups == memo.visits - 1
    ordered = Published("a", Switches(memo="values", ordered=True)).search(OPEN)
    assert (ordered.nodes, ordered.hits) == (memo.nodes, memo.hits)
    assert ordered.evaluations > memo.evaluations


def test_memo_of_evaluations_forgets_the_least_recently_used():
    program = Published("a", Switches(layers=1, memo="evaluations", capacity=2))
    for b in (1, 2, 1, 3, 1, 2):
        program._evaluated(b)
    assert list(program.kept) == [1, 2]


def test_moves_that_change_nothing_cost_nodes():
    skipped, searched = (Published("a", Switches(skip_illegal=skip)).search(CROWDED) for skip in (True, False))
    assert searched.expanded > skipped.expanded
    assert set(searched.values) > set(skipped.values)


def test_infinite_bounds_prune_nothing_and_finite_ones_do():
    plain = Published("d_final", Switches()).search(OPEN)
    infinite = Published("d_final", Switches(ordered=True)).search(OPEN)
    tight = Published("d_final", Switches(ordered=True, beta=max(plain.values.values()))).search(OPEN)
    assert infinite.nodes == plain.nodes > tight.nodes
    assert infinite.values == pytest.approx(plain.values)


def test_evaluator_in_plain_python_is_the_preset():
    evaluator = get_evaluator("d_final")
    for board in [*boards(200, 3), FULL]:
        assert math.isclose(plain_d4(board.low), evaluator.value(board), rel_tol=1e-6, abs_tol=1e-3)


def test_three_forms_of_a_board_move_alike():
    for board in boards(100, 4):
        after = board.move("left").afterstate if "left" in board.legal_moves else board
        assert left_of_bits(board.low) == after.low
        grid = grid_of(board.low)
        assert left_of_lists(grid) == after.to_array().tolist()
        assert grid == board.to_array().tolist()
        np.testing.assert_array_equal(left_of_array(array_of(board.low)), after.to_array())

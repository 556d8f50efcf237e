"""Searches merged at the root: counts add up, workers change nothing, and other agents are refused."""

import pytest

from t48lab import MCTS, Board, Greedy, T48Error
from t48lab.agents import search_together
from t48lab.commands.cli import status

BOARD = Board.parse("2 4 8 16 / 16 32 64 128 / 4 4 256 512 / 0 2 8 1024")
OVER = "2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 2"


def test_root_counts_are_merged():
    agent = MCTS(simulations=50, seed=3)
    parts = [MCTS(simulations=50, seed=3 + i).search(BOARD) for i in range(4)]
    found = search_together(agent, BOARD, 4, workers=2)
    for name in BOARD.legal_moves:
        assert found.visits[name] == sum(part.visits[name] for part in parts)
        total = sum(part.visits[name] * part.values[name] for part in parts)
        assert found.values[name] == pytest.approx(total / found.visits[name])
    assert sum(count or 0 for count in found.visits.values()) == 200
    assert found.best == max(BOARD.legal_moves, key=lambda name: found.visits[name])
    assert found.nodes == sum(part.nodes for part in parts)


def test_workers_change_nothing():
    one, four = (search_together(MCTS(simulations=60), BOARD, 4, workers=n) for n in (1, 4))
    assert (one.best, one.values, one.visits) == (four.best, four.values, four.visits)
    alone, single = MCTS(simulations=60).search(BOARD), search_together(MCTS(simulations=60), BOARD, 1)
    assert single.visits == alone.visits
    assert single.values == pytest.approx(alone.values)


def test_choice_by_mean_and_ends_of_games():
    found = search_together(MCTS(simulations=40, final="mean"), BOARD, 2)
    assert found.best == max(BOARD.legal_moves, key=lambda name: found.values[name])
    assert search_together(MCTS(simulations=5), OVER, 2).best is None


def test_other_agents_and_numbers_are_refused():
    with pytest.raises(T48Error, match="only mcts"):
        search_together(Greedy(), BOARD, 2)
    with pytest.raises(T48Error, match="searches must be from 1 to 10,000, got 0"):
        search_together(MCTS(), BOARD, 0)


def test_command_adds_up_the_searches(capsys):
    assert status(["advise", BOARD.hex, "--agent", "mcts:simulations=30", "--searches", "3"]) == 0
    assert "of 90 visits" in capsys.readouterr().out
    assert status(["advise", BOARD.hex, "--searches", "3"]) == 2


@pytest.mark.parametrize("searches", [10**9, 10_001, -1])
def test_numbers_of_searches_have_a_bound(searches):
    with pytest.raises(T48Error, match=f"searches must be from 1 to 10,000, got {searches}"):
        search_together(MCTS(simulations=1), "1200" + "0" * 12, searches)

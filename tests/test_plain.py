"""Agents written in Python: they play the very games of a compiled agent that decides alike, and fail in words."""

import numpy as np
import pytest

from t48lab import (
    AGENTS,
    Board,
    Greedy,
    PlainAgent,
    Rules,
    T48Error,
    get_evaluator,
    make_agent,
    play,
    play_batch,
    replay,
)
from t48lab.records import parameter


class SlowGreedy(PlainAgent):
    name = "slow_greedy"

    def values(self, board):
        evaluator = get_evaluator("tuned")
        return {name: evaluator.value(board.move(name).afterstate) for name in board.legal_moves}


class Wrong(PlainAgent):
    name = "wrong"
    answer: str = parameter("left", "what it always plays")

    def values(self, board):
        return {self.answer: 1.0}


MINE = {kind.name: AGENTS.pop(kind.name) for kind in (SlowGreedy, Wrong)}
"""Other tests go through AGENTS, so these are there only while a test needs them."""


@pytest.fixture
def known(monkeypatch):
    for name, kind in MINE.items():
        monkeypatch.setitem(AGENTS, name, kind)


SAME = ["game", "score", "max_tile", "moves", "final", "ended"]


@pytest.mark.parametrize(
    ("rules", "spawner", "stop_tile"),
    [
        (Rules(), "random", None),
        (Rules(), "random", 64),
        (Rules(rows=3, cols=3), "adversarial", None),
        (Rules(rows=2, cols=3, four_probability=0.5), "random", None),
    ],
)
def test_same_decisions_make_the_same_games_as_compiled(known, rules, spawner, stop_tile):
    options = {"games": 3, "seed": 5, "workers": 2, "spawner": spawner, "rules": rules, "stop_tile": stop_tile}
    slow, fast = play_batch(SlowGreedy(), **options), play_batch(Greedy(evaluator="tuned"), **options)
    assert slow[SAME].equals(fast[SAME])
    assert (slow["nodes"] > 0).all()
    assert not slow["timed"].any()


def test_a_single_game_is_logged_and_replays(known):
    record = play("slow_greedy", seed=3, game=1)
    assert record.actions == play(Greedy(evaluator="tuned"), seed=3, game=1).actions
    assert [position.board.hex for position in replay(record)][-1] == record.final


def test_search_says_what_each_move_is_worth(known):
    result = SlowGreedy().search("2 2 4 8 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0")
    assert result.best == Greedy(evaluator="tuned").search("2 2 4 8 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0").best
    assert result.values["up"] is None
    assert make_agent("slow_greedy").search("2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 2").best is None


@pytest.mark.parametrize("answer", ["up", "sideways"])
def test_illegal_answers_are_named(known, answer):
    board = Board.from_array(np.array([[2, 2, 0, 0], *[[0] * 4] * 3]))
    with pytest.raises(T48Error, match=f"wrong values '{answer}' on 1100000000000000, choose from right, down, left"):
        Wrong(answer=answer).search(board)
    with pytest.raises(T48Error, match="wrong values"):
        play_batch(Wrong(answer=answer), games=2)


def test_an_agent_without_values_says_so(known):
    class Blank(PlainAgent):
        pass

    with pytest.raises(NotImplementedError, match="values"):
        Blank().search("2 2 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0")


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf"), np.float64("nan"), "much", None])
def test_values_that_are_no_finite_numbers_are_refused(number):
    class Wrong(PlainAgent):
        name = "wrong_values_test"

        def values(self, board):
            return dict.fromkeys(board.legal_moves, 1.0) | {board.legal_moves[0]: number}

    with pytest.raises(T48Error, match=r"wrong_values_test values .* give a finite number, or leave it out"):
        Wrong().search("1200" + "0" * 12)
    with pytest.raises(T48Error, match="give a finite number"):
        play(Wrong())


def test_a_board_of_another_size_is_refused():
    class Even(PlainAgent):
        name = "even_test"

        def values(self, board):
            return dict.fromkeys(board.legal_moves, 1.0)

    with pytest.raises(T48Error, match="the rules are for 4x4"):
        Even().search("3x3:120000000", Rules())

"""Perfect players: exact values of moves, best play in games, and the worst spawns."""

import csv
from pathlib import Path

import numpy as np
import pytest
from numba import config

from t48lab import Board, Rules, T48Error, exact_value, make_agent, play, play_batch, replay, solve
from t48lab.agents import decision_tree
from t48lab.commands.cli import status

JIT = not config.DISABLE_JIT
SIZES = [(2, 2), *([(2, 3), (3, 2)] if JIT else [])]
with (Path(__file__).parent / "data" / "oracle_small.csv").open() as file:
    ORACLE = list(csv.DictReader(file))


def close(value):
    return pytest.approx(value, rel=1e-9)


@pytest.fixture(autouse=True)
def _cache(tmp_path_factory, monkeypatch):
    """Tables of this session's own, made once."""
    place = tmp_path_factory.getbasetemp() / "tables"
    monkeypatch.setattr("t48lab.exact.solution.cache", lambda: place)


@pytest.mark.parametrize(("objective", "column"), [("score", "optimal"), ("adversary", "guaranteed")])
def test_the_best_move_is_worth_what_an_independent_program_says(objective, column):
    agent, seen = make_agent(f"solved:objective={objective}"), 0
    for row in ORACLE:
        size = int(row["rows"]), int(row["cols"])
        board = Board.parse(np.array(row["board"].split(), int).reshape(size))
        if size in SIZES and not board.is_over:
            found = agent.search(board)
            assert found.values[found.best] == close(float(row[column]))
            seen += 1
    assert seen >= 10


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("objective", ["score", "adversary", "tile:16"])
def test_every_move_is_worth_what_the_solution_says(size, objective):
    rules = Rules(rows=size[0], cols=size[1])
    agent, known = make_agent(f"solved:objective={objective}"), solve(rules, objective)
    for board in {step for seed in range(4) for step in positions(seed, rules)}:
        values = {name: value for name, value in agent.search(board).values.items() if value is not None}
        assert values == close(known.moves(board))


def positions(seed, rules):
    return [step.board for step in replay(play("random", seed=seed, rules=rules)) if not step.board.is_over]


@pytest.mark.parametrize("four", [0.0, 0.1, 1.0])
def test_best_play_scores_what_the_solution_expects(four):
    rules = Rules(rows=2, cols=2, four_probability=four)
    assert exact_value("solved", rules).mean == close(solve(rules).expected)
    tiles = exact_value("solved:objective=tile:16", rules).tiles
    assert tiles[16] == close(solve(rules, "tile:16").expected)


def test_the_worst_spawns_leave_what_best_play_is_sure_of():
    rules = Rules(rows=2, cols=2)
    known = solve(rules, "adversary")
    for seed in range(20):
        record = play("solved:objective=adversary", seed=seed, rules=rules, spawner="perfect_adversary")
        assert record.score == known.value(next(replay(record)).board)


def test_no_adversary_is_worse():
    rules = Rules(rows=2, cols=2)
    scores = {
        spawner: play_batch("solved:objective=adversary", games=40, seed=3, rules=rules, spawner=spawner)["score"]
        for spawner in ("perfect_adversary", "adversarial", "random")
    }
    assert (scores["perfect_adversary"] <= scores["adversarial"]).all()
    assert (scores["perfect_adversary"] <= scores["random"]).all()


def test_a_tree_shows_the_exact_values():
    tree = decision_tree("solved", "2x2:1100")
    assert tree["value"] == close(solve(Rules(rows=2, cols=2)).value("2x2:1100"))


@pytest.mark.parametrize(
    ("spec", "board", "words"),
    [
        ("solved", "1100000000000000", "exact play takes boards of at most 9 cells"),
        ("solved", "2x2:5000", "no play reaches 2x2:5000 on 2x2"),
        ("solved:objective=points", "2x2:1100", "unknown objective 'points', choose from score, adversary or tile:N"),
        ("solved:objective=tile:64", "2x2:1100", "a tile 64 cannot be reached on 2x2, the largest is 32"),
    ],
)
def test_what_has_no_exact_value_is_refused_in_one_line(spec, board, words, capsys):
    with pytest.raises(T48Error, match=words):
        make_agent(spec).search(board)
    assert status(["advise", board, "--agent", spec]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1

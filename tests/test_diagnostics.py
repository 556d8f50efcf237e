"""Habits, logs and misjudged positions against a slow replay of the same games."""

import numpy as np
import pandas as pd
import pytest

from t48lab import Board, GameRecord, Rules, T48Error, play, play_batch, replay
from t48lab.commands.cli import status
from t48lab.games.diagnostics import (
    DECISIONS,
    HABITS,
    MISJUDGED,
    decisions,
    empties_over_time,
    habits,
    judged,
    misjudged,
    misjudged_page,
    ranks_of,
    records,
    retrace,
)

AGENT = "expectimax:depth=1,evaluator=tuned"
SMALL = Rules(rows=3, cols=3)


@pytest.fixture(scope="module")
def games():
    return [*records(AGENT, 2, seed=7, workers=2), *records("greedy", 2, seed=7, rules=SMALL)]


def test_games_are_those_of_a_batch(games):
    frame = play_batch(AGENT, games=2, seed=7)
    assert [record.score for record in games[:2]] == frame["score"].tolist()


def test_ranks_are_those_of_a_replay(games):
    for record in games:
        np.testing.assert_array_equal(ranks_of(record), [place.board.ranks() for place in replay(record)])


def slow_habits(record):
    boards = [place.board.to_array() for place in replay(record)]
    off = centre = crowded = empties = 0
    for board in boards:
        last_row, last_col = board.shape[0] - 1, board.shape[1] - 1
        places = [tuple(place) for place in np.argwhere(board == board.max()).tolist()]
        off += not any(r in (0, last_row) and c in (0, last_col) for r, c in places)
        centre += all(0 < r < last_row and 0 < c < last_col for r, c in places)
        crowded += (board == 0).sum() < 4
        empties += (board == 0).sum()
    opening = record.actions[:200]
    thrice = sum(len(set(opening[i : i + 3])) == 1 for i in range(len(opening) - 2))
    n = len(boards)
    return [thrice / (len(opening) - 2), off / n, centre / n, empties / n, crowded / n]


def test_habits_equal_a_slow_count(games):
    table = habits(games)
    assert list(table.columns) == HABITS
    for row, record in zip(table.itertuples(), games, strict=True):
        assert [row.repeats, row.off_corner, row.centre, row.empties, row.crowded] == pytest.approx(slow_habits(record))
        assert (row.score, row.moves, row.max_tile) == (record.score, record.moves, record.max_tile)
    assert table["hit_rate"].isna().tolist()[2:] == [True, True]


def test_empties_over_time_covers_every_position(games):
    table = empties_over_time(games, bins=5)
    assert table["positions"].sum() == sum(record.moves + 1 for record in games)
    assert (table["low"] <= table["mean"]).all()
    with pytest.raises(T48Error, match="no games"):
        empties_over_time([])


def test_log_of_decisions_leads_to_the_end(games):
    for record in games:
        log = decisions(record)
        assert list(log.columns) == DECISIONS
        assert (log["best"] == log["action"]).all()
        assert [board.hex for board in retrace(log)] == [place.board.hex for place in replay(record)]
        assert log["score"].tolist() == [place.score for place in replay(record)][:-1]
    assert retrace(log[:0]) == []


def test_log_survives_a_file_and_tells_tampering(games, tmp_path):
    log = decisions(games[0])
    log.to_csv(tmp_path / "log.csv", index=False)
    stored = pd.read_csv(tmp_path / "log.csv", dtype={"board": str})
    assert retrace(stored)[-1].hex == games[0].final
    wrong = log.copy()
    wrong.loc[5, "board"] = "1000000000000001"
    with pytest.raises(T48Error, match="move 5 starts from"):
        retrace(wrong)
    wrong = log.copy()
    wrong.loc[3, "spawn"] = "8@0,0"
    with pytest.raises(T48Error, match="move 3 is followed by 8@0,0"):
        retrace(wrong)


@pytest.mark.compiled
def test_misjudged_positions_are_the_worst_by_the_deeper_search(games):
    table = misjudged(games, "expectimax:depth=3,evaluator=tuned", most=4, every=9)
    assert list(table.columns) == MISJUDGED
    assert table["loss"].is_monotonic_decreasing
    assert (table["loss"] > 0).all()
    page = misjudged_page(table, "expectimax:depth=3,evaluator=tuned")
    assert page.count("<svg") == len(table) == 4
    for row in table.itertuples():
        assert {row.played, row.better} <= set(Board.parse(row.board).legal_moves)
    assert misjudged(games, AGENT, every=50)["loss"].le(0).sum() == 0
    every = judged(games, "expectimax:depth=3,evaluator=tuned", every=9)
    assert len(every) == sum(len(b.legal_moves) > 1 for g in games for b in list(retrace(decisions(g)))[:-1:9])
    assert list(every["empties"]) == [Board.parse(board).empty_count for board in every["board"]]
    assert (every.loc[every["better"] == every["played"], "loss"] == 0).all()
    assert "None" in misjudged_page(table[:0], AGENT)


@pytest.mark.compiled
def test_command_writes_what_it_says(tmp_path, capsys):
    out = tmp_path / "look"
    deeper = ["--deeper", "expectimax:depth=2", "--every", "40"]
    assert status(["diagnose", "greedy", "--games", "2", "--seed", "3", *deeper, "--out", str(out)]) == 0
    names = {path.name for path in out.iterdir()}
    pictures = {"misjudged.csv", "misjudged.html"}
    assert names == {
        "habits.csv",
        "empties.csv",
        *pictures,
        *(f"game-00{i}.{x}" for i in (0, 1) for x in ("csv", "json")),
    }
    record = GameRecord.load(out / "game-001.json")
    assert retrace(pd.read_csv(out / "game-001.csv", dtype={"board": str}))[-1].hex == record.final
    assert "for the third time running" in capsys.readouterr().out
    assert status(["diagnose", "greedy", "--games", "0"]) == 2


UNTIMED = (
    "random",
    "mcts:simulations=20",
    "mcts:simulations=20,reuse=true,chance=open,seed=3",
    "bestfirst:nodes=60",
    "expectimax:nodes=300",
    "expectimax:depth=3,evaluator=classic",
    "expectimax:depth=4,cutoff=0.02",
    "minimax:nodes=300",
)


@pytest.mark.parametrize("spec", UNTIMED)
def test_the_log_has_the_search_that_was_played(spec):
    """On the game's own stream, with what earlier moves left in the memory: `best` is the move played, in all rows."""
    log = decisions(play(spec, seed=5, game=2, rules=Rules(rows=3, cols=3), stop_tile=128))
    assert len(log) > 30
    assert (log["best"] == log["action"]).all()
    assert log["lead"].dropna().ge(0).mean() > 0.9 or spec == "random"


@pytest.mark.parametrize("games", [10_001, 10**9, -1])
def test_games_looked_at_have_a_bound(games):
    with pytest.raises(
        T48Error, match=f"games must be from 0 to 10,000, each with all its moves in memory, got {games}"
    ):
        records("random", games)

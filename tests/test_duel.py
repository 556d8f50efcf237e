"""Duels: verdicts that depend on agents and seed alone, games that are kept, and equal time that is equal."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from t48lab.agents import make_agent
from t48lab.analysis import SequentialTest, pairs
from t48lab.commands.cli import status
from t48lab.errors import T48Error
from t48lab.experiments import verify
from t48lab.experiments.duels import duel, equal_time, with_seconds
from t48lab.experiments.store import KEY, Store
from t48lab.games import play_batch

pytestmark = pytest.mark.compiled

ROOT = Path(__file__).parents[1]
STRONG, WEAK = "greedy:evaluator=tuned", "random"


def test_a_clear_winner_is_found_after_eight_deals_whoever_is_named_first():
    found, back = duel(STRONG, WEAK, seed=1), duel(WEAK, STRONG, seed=1)
    assert (found.verdict, found.wins, found.losses, found.ties) == ("first", 8, 0, 0)
    assert (back.verdict, back.wins, back.losses) == ("second", 0, 8)
    assert found.sentence == back.sentence
    assert found.sentence == (
        "greedy:by=evaluator beats random: it wins 100.0% of 8 deals (95% interval 56.8% to 100.0%)."
    )


@pytest.mark.compiled
def test_a_verdict_is_that_of_the_games_in_order_for_any_number_of_workers():
    one, other = (play_batch(spec, games=200, seed=5)["score"].to_numpy() for spec in ("priority", "random"))
    test = SequentialTest(200)
    wins, losses, n = 0, 0, 0
    while not (verdict := test.decide(wins, losses, n - wins - losses) if n else None):
        wins, losses, n = wins + int(one[n] > other[n]), losses + int(one[n] < other[n]), n + 1
    for workers in (1, 3):
        found = duel("priority", "random", games=200, seed=5, workers=workers)
        assert (found.verdict, found.wins, found.losses, found.deals) == (verdict, wins, losses, n)
        assert list(found.games["game"]) == [*range(n), *range(n)]
        assert list(found.games["score"]) == [*one[:n], *other[:n]]


@pytest.mark.compiled
def test_equal_agents_have_no_winner():
    found = duel("random:seed=1", "random:seed=2", games=100, seed=0)
    assert found.verdict in ("equal", "undecided")
    assert found.sentence.startswith("No winner: random:seed=1 wins ")
    low, high = found.interval()
    assert low < 0.5 < high


def test_agents_that_play_alike_tie_and_the_duel_ends_early():
    found = duel("expectimax:depth=1", "expectimax:depth=1,table=false", games=20)
    assert (found.verdict, found.ties, found.share) == ("equal", found.deals, 0.5)
    assert found.deals < 20


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["random", "random"], "both agents are random, every deal would be a tie"),
        (["random", "greedy", "--games", "19"], "games of a duel must be 20 to 10,000, got 19"),
        (["random", "greedy", "--games", "0"], "games must be 1 or more, got 0"),
        (["random", "gredy"], "unknown agent 'gredy', did you mean 'greedy'?"),
        (["mcts", "greedy", "--equal-time", "--ms", "1"], "greedy takes no time limit"),
        (["random", "mcts", "--equal-time"], "random takes no time limit"),
        (["mcts", "expectimax", "--equal-time", "--ms", "0"], "seconds must be more than 0"),
        (["mcts", "expectimax", "--ms", "1"], "give both or neither"),
        (["random", "greedy", "--seed", "-1"], "seed must be a whole number"),
        (["random", "greedy", "--workers", "0"], "workers must be 1 or more"),
    ],
)
def test_bad_duels_are_refused_in_one_line(arguments, words, capsys):
    assert status(["duel", *arguments]) == 2
    out, err = capsys.readouterr()
    assert words in err
    assert (out, err.count("\n")) == ("", 1)


def test_equal_time_gives_both_the_time_of_the_first():
    both = equal_time("mcts:simulations=50,exploration=2", "expectimax:depth=3,cutoff=0.01,evaluator=classic", ms=2.5)
    assert [agent.spec for agent in both] == [
        "mcts:simulations=0,exploration=2.0,seconds=0.0025",
        "expectimax:depth=16,evaluator=classic,seconds=0.0025,cutoff=0.01",
    ]
    assert equal_time("mcts:seconds=0.25", "minimax")[1] == with_seconds("minimax", 0.25)
    assert with_seconds("expectimax:nodes=100", 1.0) == make_agent("expectimax:seconds=1")


@pytest.mark.compiled
def test_equal_time_is_measured_and_kept_to():
    first, second = equal_time("mcts:simulations=400", "expectimax:depth=2")
    assert first.seconds == second.seconds
    frame = play_batch("mcts:simulations=400", games=4, seed=77, workers=1)
    assert first.seconds == pytest.approx(frame["seconds"].sum() / frame["moves"].sum(), rel=0.5)


@pytest.mark.compiled
@pytest.mark.parametrize("spec", ["mcts", "expectimax:cutoff=0.001", "minimax"])
def test_agents_take_the_time_they_are_given(spec):
    games = play_batch(with_seconds(spec, 0.0005), games=4, seed=1, stop_tile=256, workers=1)
    assert games["seconds"].sum() / games["moves"].sum() == pytest.approx(0.0005, rel=0.25)


def test_unequal_times_are_told():
    found = duel("mcts:simulations=1", "greedy", games=20)
    assert found.uneven().startswith("Times differ: ")
    even = found.games.assign(seconds=1e-6 * found.games["moves"])
    assert replace(found, games=even).uneven() is None


def test_a_duel_that_runs_out_of_deals_says_so():
    found = duel("random:seed=1", "random:seed=2", games=20, seed=50)
    assert (found.verdict, found.deals) == ("undecided", 20)
    assert found.sentence.endswith("that is too close to call with 20 deals.")


def test_games_are_kept_and_not_played_again(tmp_path, monkeypatch):
    folder = tmp_path / "duel"
    found = duel("priority", "random", games=30, seed=4, out=folder)
    stored = Store(folder).frame()
    assert not stored.duplicated(KEY).any()
    assert set(found.games["score"]) <= set(stored["score"])
    assert verify(folder).tables == ("summary.csv", "pairs.csv")
    monkeypatch.setattr("t48lab.experiments.duels.iter_batch", lambda *_, skip, **__: iter([]))
    again = duel("priority", "random", games=30, seed=4, out=folder)
    assert (again.verdict, again.deals) == (found.verdict, found.deals)


def test_games_of_another_seed_stay_stored_and_out_of_the_tables(tmp_path):
    for seed in (4, 5):
        found = duel("priority", "random", games=30, seed=seed, out=tmp_path)
    assert set(Store(tmp_path).frame()["seed"]) == {4, 5}
    assert set(Store(tmp_path).asked()["seed"]) == {5}
    table = pd.read_csv(tmp_path / "summary.csv")
    assert table["games"].min() >= found.deals
    assert table["games"].sum() == (Store(tmp_path).frame()["seed"] == 5).sum()
    assert verify(tmp_path).tables == ("summary.csv", "pairs.csv")


def test_another_pair_does_not_get_into_the_folder(tmp_path):
    duel(STRONG, WEAK, games=20, out=tmp_path / "duel")
    with pytest.raises(T48Error, match="choose another --out"):
        duel("priority", "greedy:by=reward", games=20, out=tmp_path / "duel")


def test_the_paired_difference_has_its_interval():
    found = duel(STRONG, WEAK, seed=1)
    row = pairs(found.games, found.second).iloc[0]
    assert found.difference() == (row["mean_difference"], row["difference_low"], row["difference_high"])
    assert found.points.startswith("Score of greedy:by=evaluator minus that of random, same deals: ")
    assert "in the mean" not in found.points
    back = duel(WEAK, STRONG, seed=1).difference()
    assert back[0] == -found.difference()[0]
    assert back[2] < 0


@pytest.mark.parametrize(("sign", "more"), [(1, "random:seed=1"), (-1, "random:seed=2")])
@pytest.mark.parametrize("verdict", ["equal", "undecided"])
def test_means_apart_without_a_winner_are_explained(sign, more, verdict):
    """Whoever wins half of the deals by much and loses the others by little."""
    found = duel("random:seed=1", "random:seed=2", games=20, seed=50)
    gain = [sign * (9000 if deal % 2 else -100) for deal in range(found.deals)]
    scores = [20000 + part for part in gain] + [20000] * found.deals
    told = replace(found, verdict=verdict, wins=10, losses=10, ties=0, games=found.games.assign(score=scores)).points
    assert f"{more} scores more in the mean; a winner has to win more deals" in told
    assert "has won 10, lost 10 and tied 0" in told
    level = replace(found, verdict=verdict, games=found.games.assign(score=20000)).points
    assert "in the mean" not in level


def test_the_command_prints_verdict_table_and_rates(capsys):
    assert status(["duel", STRONG, WEAK, "--games", "100", "--seed", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("greedy:by=evaluator beats random: it wins 100.0% of 7 deals")
    assert any("mean score (95%)" in line for line in lines)
    assert any("Seed 1, games 0 to 6" in line for line in lines)
    assert lines[-1] == (
        "Of duels between equal agents 5% at most have a winner; an agent that wins 68.0% of deals is found in "
        "80% or more. Most deals: 100."
    )


@pytest.mark.compiled
def test_ctrl_c_keeps_the_games(tmp_path):
    folder = tmp_path / "duel"
    command = [
        sys.executable,
        "-m",
        "t48lab",
        "duel",
        "mcts:simulations=40",
        "mcts:simulations=41",
        "--out",
        str(folder),
    ]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    while not list(folder.glob("games/*.parquet")):
        assert process.poll() is None
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert f"interrupted: finished games are kept in {folder}" in err
    assert len(Store(folder).frame()) > 0

"""Studies: the same games for all, honest figures, and nothing lost, repeated or mixed up when workers come and go."""

import json
import os
import signal
import time
import tomllib
from collections import Counter

import numpy as np
import optuna
import pandas as pd
import pytest
from study_files import SMALL, ended, start, wait_for, write

from t48lab.agents import make_agent
from t48lab.errors import T48Error
from t48lab.evaluators import Evaluator
from t48lab.games import play_batch
from t48lab.studies import trials_frame, tune
from t48lab.studies.journal import Journal
from t48lab.studies.liveness import WORKER, identity
from t48lab.studies.samplers import make_pruner, make_sampler
from t48lab.studies.spaces import placed
from t48lab.studies.storage import Storage
from t48lab.studies.study import make_study
from t48lab.studies.tuning import FIGURES, finished, open_study, run_trials

pytestmark = pytest.mark.compiled

STATES = optuna.trial.TrialState


def small(**changed):
    return make_study(tomllib.loads(SMALL) | changed, "small")


def run(plan, folder, workers=1):
    """The study after its trials, without confirmation."""
    storage = Storage(None, folder)
    study = open_study(plan, storage)
    run_trials(plan, study, storage, workers)
    return study


def said(lines):
    """The sentence of the winner."""
    return next(line for line in lines if line.startswith("Winner: "))


def known(study):
    """What must not depend on workers or interruptions: parameters and games of each finished trial."""
    return [(t.params, t.values, t.user_attrs[FIGURES]["n"], t.intermediate_values) for t in finished(study)]


@pytest.fixture(autouse=True)
def _no_figures(request, monkeypatch):
    """Drawing takes longer than playing here; one test draws."""
    if "figures" not in request.node.name:
        monkeypatch.setattr("t48lab.studies.outcomes.write_figures", lambda *_: [])


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    return run(small(trials=12), tmp_path_factory.mktemp("straight"))


@pytest.mark.compiled
def test_a_trial_plays_the_seeded_games(straight):
    plan = small()
    for trial in finished(straight):
        frame = play_batch(placed(plan.agent, trial.params), games=plan.games, seed=plan.tuning_seed, workers=1)
        scores = frame["score"].to_numpy(float)
        played = list(trial.intermediate_values)
        assert [trial.intermediate_values[game] for game in played] == scores[played].tolist()
        assert trial.value == pytest.approx(scores[played].mean())
        figures = trial.user_attrs[FIGURES]
        assert figures["n"] == len(played)
        assert figures["sd"] == pytest.approx(np.std(scores[played], ddof=1))
        assert figures["low"] < figures["mean"] < figures["high"]
        assert figures["moves"] == frame["moves"].to_numpy()[played].sum()


@pytest.mark.compiled
def test_games_come_in_shuffled_order_under_their_numbers(straight):
    orders = [list(trial.intermediate_values) for trial in finished(straight)]
    assert all(sorted(order) == sorted(set(order)) and max(order) < 12 for order in orders)
    full = [order for order in orders if len(order) == 12]
    assert len(full) > 1
    assert len({tuple(order) for order in full}) == len(full)
    assert all(order != sorted(order) for order in full)


@pytest.mark.compiled
def test_pruned_trials_keep_their_mean_and_never_are_the_best(tmp_path):
    study = run(small(trials=30, games=40, free={"monotonicity.weight": {"low": -400.0, "high": 400.0}}), tmp_path)
    figures = [trial.user_attrs[FIGURES] for trial in finished(study)]
    pruned = [f for f in figures if f["pruned"]]
    assert len(pruned) > 5
    assert all(f["n"] < 40 and f["n"] % 4 == 0 for f in pruned)
    assert all(f["n"] == 40 for f in figures if not f["pruned"])
    best = study.best_trial
    assert len(best.intermediate_values) == 40  # what the Wilcoxon test compares with
    assert sum(f["n"] for f in figures) < 0.8 * 30 * 40


@pytest.mark.compiled
def test_workers_and_interruptions_change_nothing(straight, tmp_path):
    parts = tmp_path / "parts"
    for trials in (1, 5, 6, 12):
        study = run(small(trials=trials), parts, workers=3)
        assert len(finished(study)) == trials
    assert known(study) == known(straight)


@pytest.mark.compiled
def test_resuming_never_repeats_parameters(tmp_path):
    for kind in ("random", "tpe", "cmaes"):
        plan = small(sampler={"kind": kind, "startup": 2}, games=4)
        for trials in (3, 6, 9):
            study = run(plan.model_copy(update={"trials": trials}), tmp_path / kind)
        points = Counter(tuple(trial.params.values()) for trial in finished(study))
        assert len(points) == 9
        assert finished(study)[0].params == plan.starts[0]


@pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
def test_samplers_name_every_option():
    tpe = make_sampler(small())._make(5)
    assert (tpe._multivariate, tpe._constant_liar, tpe._group, tpe._n_startup_trials) == (True, True, False, 4)
    assert tpe._n_ei_candidates == 24
    try:
        import torch  # noqa: F401
    except ImportError:
        with pytest.raises(T48Error, match="sampler gp needs PyTorch"):
            make_sampler(small(sampler="gp"))


def test_pruners_name_every_option():
    pruner = make_pruner(small().pruner)
    assert isinstance(pruner, optuna.pruners.WilcoxonPruner)
    assert (pruner._p_threshold, pruner._n_startup_steps) == (0.2, 4)
    assert isinstance(make_pruner(small(pruner="none").pruner), optuna.pruners.NopPruner)


@pytest.mark.compiled
def test_a_changed_study_is_refused_and_says_what_differs(tmp_path):
    run(small(trials=1, games=4), tmp_path)
    text = (tmp_path / "journal.log").read_bytes()
    changed = {
        "games was 4, now 5": {"games": 5},
        "tuning_seed was 101, now 9": {"games": 4, "tuning_seed": 9},
        "agent.depth was 1, now 2": {
            "games": 4,
            "agent": tomllib.loads(SMALL)["agent"] | {"agent": "expectimax:depth=2"},
        },
        "free.corner.weight.high was 100.0, now 200.0": {
            "games": 4,
            "free": tomllib.loads(SMALL)["free"] | {"corner.weight": {"low": 1.0, "high": 200.0, "log": True}},
        },
    }
    for words, change in changed.items():
        with pytest.raises(T48Error) as caught:
            tune(small(trials=1, **change), tmp_path)
        assert words in str(caught.value)
        assert "give the changed study another name" in str(caught.value)
    weights = tomllib.loads(SMALL)["agent"]
    weights["evaluator"]["terms"]["empty"] = 541.0
    with pytest.raises(T48Error, match=r"agent.evaluator.terms.empty.weight was 540.0, now 541.0"):
        tune(small(trials=1, games=4, agent=weights), tmp_path)
    kept = (tmp_path / "journal.log").read_bytes()
    assert kept.startswith(text)
    assert b'"op_code":4' not in kept[len(text) :]  # no trial was made


def test_a_study_of_another_program_is_refused(tmp_path):
    storage = Storage(None, tmp_path)
    other = optuna.create_study(study_name="small", storage=storage.optuna, direction="maximize")
    other.add_trial(optuna.trial.create_trial(value=1.0))
    with pytest.raises(T48Error, match="was not started by t48lab tune"):
        open_study(small(), storage)


@pytest.mark.compiled
def test_trials_of_dead_workers_are_failed_and_retried_once(tmp_path):
    plan = small(trials=3, games=4)
    storage = Storage(None, tmp_path)
    study = open_study(plan, storage)
    space = {free.name: free.distribution() for free in plan.space}
    lost = [study.ask(space) for _ in range(2)]
    for trial in lost:
        trial.set_user_attr(WORKER, identity() | {"process": 2**22 + 1})  # a number that no process has
    params = [trial.params for trial in lost]
    study = run(plan, tmp_path)
    trials = study.get_trials(deepcopy=False)
    assert [trial.state for trial in trials[:2]] == [STATES.FAIL] * 2
    assert len(finished(study)) == 3
    assert [trial.params for trial in finished(study)][:2] == params


def test_a_living_worker_elsewhere_is_waited_for():
    from t48lab.studies import liveness as workers

    here = identity()
    watch = workers.Watch(here)
    at = {"state": STATES.RUNNING, "number": 0, "trial_id": 0, "value": None, "datetime_start": None}
    at |= {"datetime_complete": None, "params": {}, "distributions": {}, "system_attrs": {}, "intermediate_values": {}}

    def running(**attributes):
        return optuna.trial.FrozenTrial(**at, user_attrs=attributes)

    alive = here | {"token": "another"}
    assert not watch.is_left(running(worker=alive))
    assert watch.is_left(running(worker=here))  # this worker's own, which it does not run any more
    assert watch.is_left(running(worker=alive | {"since": "1"}))  # its number was given to another process
    elsewhere = here | {"place": "elsewhere"}
    assert not watch.is_left(running(worker=elsewhere, beat=1))
    watch._seen[0] = (1, time.monotonic() - workers.SILENCE_SECONDS - 1)
    assert not watch.is_left(running(worker=elsewhere, beat=2))  # it has moved
    watch._seen[0] = (2, time.monotonic() - workers.SILENCE_SECONDS - 1)
    assert watch.is_left(running(worker=elsewhere, beat=2))


@pytest.mark.compiled
def test_two_objectives(tmp_path):
    changed = {"objective": ["mean_score", "nodes_per_move"], "free": {"depth": {"low": 1, "high": 2}, "cutoff": True}}
    plan = small(trials=6, games=4, pruner="none", **changed)
    tune(plan, tmp_path)
    study = open_study(plan, Storage(None, tmp_path))
    assert all(len(trial.values) == 2 for trial in finished(study))
    table = pd.read_csv(tmp_path / "confirm.csv")
    assert set(table["stage"]) == {"confirm", "report"}


@pytest.mark.compiled
@pytest.mark.parametrize("objective", ["mean_log_score", "rate_512"])
def test_other_objectives(objective, tmp_path):
    plan = small(trials=3, games=6, objective=objective)
    tune(plan, tmp_path)
    table = pd.read_csv(tmp_path / "confirm.csv")
    high = 20 if objective == "mean_log_score" else 1
    assert table["value"].between(0, high).all()
    assert (table["value_low"] <= table["value"]).all()


@pytest.mark.compiled
def test_confirmation_is_on_games_that_no_trial_has_seen(tmp_path):
    plan = small()
    lines = tune(plan, tmp_path)
    table = pd.read_csv(tmp_path / "confirm.csv").set_index(["stage", "agent"])
    assert set(table["seed"]) == {102, 103}
    trial = next(agent for stage, agent in table.index if stage == "confirm" and agent.startswith("trial"))
    row = table.loc["confirm", trial]
    study = open_study(plan, Storage(None, tmp_path))
    best = finished(study)[int(row["trial"])]
    frame = play_batch(placed(plan.agent, best.params), games=10, seed=102)
    assert row["value"] == pytest.approx(frame["score"].mean())
    assert row["tuning_value"] == pytest.approx(best.value)  # the optimist's figure stands beside it
    base = play_batch(make_agent("greedy:by=reward"), games=12, seed=103)
    assert table.loc["report", "reward"]["value"] == pytest.approx(base["score"].mean())
    report = table.loc["report"]
    assert (
        report["mean_difference"].notna().sum() == len(report) - 1
    )  # all but the baseline that they are compared with
    assert any("optimist" in line for line in lines)
    again = {path: path.read_bytes() for path in tmp_path.rglob("*.parquet")}
    assert tune(plan, tmp_path, confirm_only=True) == lines
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.parquet")} == again  # nothing was played again


@pytest.mark.compiled
def test_the_baseline_wins_when_nothing_beats_it(tmp_path):
    free = {"monotonicity.weight": {"low": -1000.0, "high": -100.0}}
    plan = small(trials=3, games=6, free=free, agent=tomllib.loads(SMALL)["agent"], baselines={})
    lines = tune(plan, tmp_path)
    assert said(lines).startswith("Winner: start, no trial is confirmed to beat it.")
    assert json.loads((tmp_path / "manifest.json").read_text())["found"]["trial"] is None
    assert Evaluator.from_toml(tmp_path / "best.toml") == plan.agent.evaluator


@pytest.mark.compiled
def test_a_trial_wins_when_it_is_confirmed(tmp_path):
    agent = tomllib.loads(SMALL)["agent"]
    agent["evaluator"]["terms"]["monotonicity"]["weight"] = -300.0
    free = {"monotonicity.weight": {"low": -300.0, "high": 300.0}}
    plan = small(trials=10, games=12, agent=agent, free=free, confirm={"games": 20, "report_games": 40})
    lines = tune(plan, tmp_path)
    found = json.loads((tmp_path / "manifest.json").read_text())["found"]
    assert found["trial"] is not None
    assert "it beats every baseline" in said(lines)
    best = make_agent(f"expectimax:depth=1,evaluator={tmp_path / 'best.toml'}")
    assert best.key() == found["agent_key"]
    text = (tmp_path / "best.toml").read_text()
    for words in ("optimist", "Confirmed", "seed 103", "Commit", "95%", f"evaluator={tmp_path / 'best.toml'}"):
        assert words in text


def test_confirming_needs_a_trial(tmp_path):
    with pytest.raises(T48Error, match="has no finished trial to confirm"):
        tune(small(), tmp_path, confirm_only=True)


@pytest.mark.compiled
def test_the_trials_table(straight):
    plan = small(trials=12)
    frame = trials_frame(plan, straight)
    assert list(frame["trial"]) == [trial.number for trial in finished(straight)]
    assert {free.name for free in plan.space} <= set(frame.columns)
    assert list(frame["start"]) == [True] + [False] * 11
    assert frame["best"].is_monotonic_increasing
    assert frame["best"].iloc[-1] == straight.best_value


@pytest.mark.compiled
def test_choices_are_words_in_tables(tmp_path):
    free = {"rollout_limit": [3, 20, "none"], "reuse": True, "rollout": ["merge", "uniform"]}
    plan = small(
        trials=6, games=2, agent="mcts:simulations=5", free=free, pruner="none", sensitivity={"points": 2, "games": 2}
    )
    tune(plan, tmp_path)
    frame = pd.read_parquet(tmp_path / "trials.parquet")
    assert set(frame["rollout_limit"]) <= {"3", "20", "none"}
    assert set(frame["reuse"]) <= {"true", "false"}
    assert frame["rollout_limit"].iloc[0] == "none"  # as the agent has it
    curves = pd.read_csv(tmp_path / "sensitivity.csv", keep_default_na=False)
    assert list(curves.loc[curves["parameter"] == "rollout_limit", "value"]) == ["3", "20", "none"]


def test_a_line_that_a_kill_cut_short_is_taken_off(tmp_path):
    path = tmp_path / "journal.log"
    plan = small()
    open_study(plan, Storage(None, tmp_path))
    whole = path.read_bytes()
    for torn in (b'{"op_code":4,"wor', b"x" * 10_000):
        with path.open("ab") as file:
            file.write(torn)
        study = open_study(plan, Storage(None, tmp_path))
        study.ask()
        lines = path.read_bytes().splitlines()
        assert path.read_bytes().startswith(whole)
        assert all(json.loads(line) for line in lines)


def test_reports_are_written_at_once(tmp_path):
    journal = Journal(tmp_path / "journal.log")
    with journal.together():
        for number in range(3):
            journal.append_logs([{"op_code": number}])
        assert not (tmp_path / "journal.log").exists()
    assert len((tmp_path / "journal.log").read_bytes().splitlines()) == 3


SECRET = "s3cret/pass"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:s3cret%2Fpass@127.0.0.1:1/none",
        "postgresql://me:s3cret%2Fpass@[::1/none",
        "nosuch://me:s3cret%2Fpass@host/none",
        "mysql://me:s3cret%2Fpass@host/none",
        "me:s3cret%2Fpass@host",
    ],
)
def test_passwords_are_never_shown(url, tmp_path):
    with pytest.raises(T48Error) as caught:
        Storage(url, tmp_path)
    shown = str(caught.value)
    assert "\n" not in shown
    assert "s3cret" not in shown


SLOW = (
    SMALL.replace("games = 12", "games = 400")
    .replace("block = 4", "block = 50")
    .replace("startup = 4 }\nconfirm", "startup = 100 }\nconfirm")
)


def journal_lines(folder, code):
    """How many lines of a kind the journal holds."""
    try:
        return (folder / "journal.log").read_bytes().count(b'{"op_code":%d,' % code)
    except FileNotFoundError:
        return 0


def stored(folder, plan):
    return open_study(plan, Storage(None, folder)).get_trials(deepcopy=False)


@pytest.mark.faults
@pytest.mark.slow
@pytest.mark.compiled
def test_killed_studies_end_with_exactly_their_trials(tmp_path):
    """kill -9 in the middle of a trial, four times at odd moments, then to the end."""
    path, out = write(tmp_path, SLOW), tmp_path / "out"
    for reports in (60, 230, 10, 480):
        before = journal_lines(out, 7)
        process = start(path, "--out", out, "--workers", 2)
        wait_for(lambda: journal_lines(out, 7) >= before + reports, process)  # noqa: B023
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=60)
        assert process.returncode == -signal.SIGKILL
    output, _ = ended(start(path, "--out", out))
    assert "Winner" in output
    plan = make_study(tomllib.loads(SLOW), "small")
    trials = stored(out, plan)
    done = [trial for trial in trials if trial.state == STATES.COMPLETE]
    assert len(done) == 8
    assert not [trial for trial in trials if trial.state in (STATES.RUNNING, STATES.WAITING)]
    assert len([trial for trial in trials if trial.state == STATES.FAIL]) == 4
    points = Counter(tuple(trial.params.values()) for trial in done)
    assert max(points.values()) == 1
    assert done[0].params == plan.starts[0] or plan.starts[0] in [trial.params for trial in done]


@pytest.mark.faults
@pytest.mark.slow
@pytest.mark.compiled
def test_an_interrupted_study_goes_on(tmp_path):
    path, out = write(tmp_path, SLOW), tmp_path / "out"
    process = start(path, "--out", out)
    wait_for(lambda: journal_lines(out, 7) >= 500, process)
    process.send_signal(signal.SIGINT)
    _, errors = ended(process, 130)
    assert errors.splitlines()[-1] == (
        f"t48lab: interrupted: finished trials and games are kept in {out}, the same command goes on from there"
    )
    plan = make_study(tomllib.loads(SLOW), "small")
    states = Counter(trial.state for trial in stored(out, plan))
    assert states[STATES.COMPLETE] >= 1
    assert states[STATES.RUNNING] == 0
    assert len(pd.read_parquet(out / "trials.parquet")) == states[STATES.COMPLETE]
    ended(start(path, "--out", out))
    assert Counter(trial.state for trial in stored(out, plan))[STATES.COMPLETE] == 8


@pytest.mark.slow
@pytest.mark.compiled
def test_six_processes_open_one_new_study(tmp_path):
    path, out = write(tmp_path, SLOW.replace("trials = 8", "trials = 20")), tmp_path / "out"
    outputs = [ended(process)[0] for process in [start(path, "--out", out, "--workers", 1) for _ in range(6)]]
    plan = make_study(tomllib.loads(SLOW) | {"trials": 20}, "small")
    trials = stored(out, plan)
    done = [trial for trial in trials if trial.state == STATES.COMPLETE]
    assert len(done) == 20
    assert len({tuple(trial.params.values()) for trial in done}) == 20
    assert any("Winner" in output for output in outputs)
    assert len({trial.user_attrs[WORKER]["process"] for trial in done}) > 1
    assert sum(trial.params == plan.starts[0] for trial in done) == 1  # the baseline is tried once


@pytest.mark.compiled
def test_files_and_figures(tmp_path):
    tune(small(sensitivity={"points": 3, "games": 4}), tmp_path)
    files = {path.name for path in tmp_path.iterdir()}
    assert files >= {"trials.parquet", "confirm.csv", "importances.csv", "spread.csv", "sensitivity.csv"}
    assert files >= {"best.toml", "manifest.json", "journal.log"}
    drawn = {path.stem for path in (tmp_path / "figures").glob("*.png")}
    assert drawn == {"history", "slices", "maps", "spread", "importances", "confirmed", "sensitivity"}
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["trials"]["finished"] == 8
    assert manifest["games"]["played"] + manifest["games"]["saved"] == 8 * 12
    assert set(manifest["seeds"].values()) == {101, 102, 103, 104}
    assert {"optuna", "numpy", "t48lab"} <= set(manifest["versions"])
    assert str(tmp_path) not in json.dumps(manifest)


@pytest.mark.compiled
def test_a_study_ends_when_its_time_is_over(tmp_path):
    lines = tune(small(minutes=1e-9), tmp_path)
    assert lines == ["Study small has 0 of 8 trials; the worker that finished the last one confirms."]
    assert pd.read_parquet(tmp_path / "trials.parquet").empty

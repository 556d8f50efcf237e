"""Experiments: files that are checked before anything is played, and runs that never lose or repeat a game."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from t48lab.agents import make_agent
from t48lab.errors import T48Error
from t48lab.experiments import load_experiment, make_experiment, run_experiment
from t48lab.experiments.store import KEY, Store
from t48lab.games import play_batch

ROOT = Path(__file__).parents[1]
QUICK = {"games": 6, "seed": 0, "agents": {"random": "random", "greedy": "greedy"}}


def file(tmp_path, text, name="try.toml"):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_a_file_with_everything(tmp_path):
    path = file(
        tmp_path,
        """
        name = "named"
        title = "A title"
        games = 30
        seed = 0
        spawners = ["random", "adversarial:depth=0"]
        stop_tile = 1024
        baseline = "first"
        rules = { rows = 3, cols = 4 }
        [agents]
        first = "greedy:by=reward"
        [agents."expectimax 2"]
        agent = "expectimax:evaluator=classic"
        depth = 2
        games = 5
        group = "Searches"
        """,
    )
    experiment = load_experiment(path)
    assert (experiment.name, experiment.title, experiment.seed) == ("named", "A title", 0)
    assert [spawner.name for spawner in experiment.spawners] == ["random", "adversarial"]
    assert (experiment.rules.rows, experiment.stop_tile, experiment.baseline) == (3, 1024, "first")
    first, second = experiment.entries
    assert (first.label, first.games, first.group) == ("first", 30, "")
    assert (second.label, second.games, second.group) == ("expectimax 2", 5, "Searches")
    assert second.agent == make_agent("expectimax:depth=2,evaluator=classic")
    assert len(experiment.keys) == 4


def test_defaults_and_overrides(tmp_path):
    path = file(tmp_path, '[agents]\na = "random"\nb = { agent = "greedy", games = 7 }\n')
    experiment = load_experiment(path)
    assert (experiment.name, experiment.seed, experiment.baseline) == ("try", 2048, "a")
    assert [entry.games for entry in experiment.entries] == [100, 7]
    changed = load_experiment(path, games=3, seed=0)
    assert changed.seed == 0
    assert [entry.games for entry in changed.entries] == [3, 3]
    assert changed.keys == experiment.keys


BAD_FILES = {
    "misspelt key": ('gmaes = 3\n[agents]\na = "random"', "unknown key 'gmaes', did you mean 'games'?"),
    "misspelt table": ('[agnets]\na = "random"', "unknown key 'agnets', did you mean 'agents'?"),
    "no agents": ("games = 3", "agents must be a table"),
    "empty agents": ("[agents]", "agents is empty"),
    "agents as text": ('agents = "random"', "agents must be a table"),
    "unknown agent": ('[agents]\na = "expectmax"', "agent 'a': unknown agent 'expectmax', did you mean 'expectimax'?"),
    "unknown parameter": ('[agents]\na = "greedy:bi=reward"', "agent 'a': greedy has no parameter 'bi'"),
    "unknown key of an agent": (
        '[agents]\na = { agent = "mcts", simulatons = 9 }',
        "agent 'a': unknown key 'simulatons', did you mean 'simulations'?",
    ),
    "misspelt games of an agent": (
        '[agents]\na = { agent = "mcts", gaems = 9 }',
        "agent 'a': unknown key 'gaems', did you mean 'games'?",
    ),
    "an agent without a kind": ("[agents]\na = { depth = 3 }", "agent 'a': it needs a kind or spec"),
    "given twice": ('[agents]\na = { agent = "mcts:simulations=5", simulations = 6 }', "simulations is given twice"),
    "out of range": ('[agents]\na = "expectimax:depth=0"', "depth must be 1 or more player moves, got 0"),
    "of the wrong kind": ('[agents]\na = { agent = "expectimax", depth = "deep" }', "depth must be a whole number"),
    "zero games": ('games = 0\n[agents]\na = "random"', "games must be 1 or more, got 0"),
    "zero games of an agent": ('[agents]\na = { agent = "random", games = 0 }', "agent 'a': games must be 1 or more"),
    "games as text": ('games = "many"\n[agents]\na = "random"', "games must be 1 or more, got 'many'"),
    "a negative seed": ('seed = -1\n[agents]\na = "random"', "seed must be a whole number"),
    "a huge seed": (f'seed = {2**63}\n[agents]\na = "random"', "seed must be a whole number"),
    "unknown baseline": ('baseline = "b"\n[agents]\na = "random"', "baseline 'b' is no agent of this experiment"),
    "unknown spawner": ('spawners = ["ransom"]\n[agents]\na = "random"', "unknown spawner 'ransom', did you mean"),
    "a spawner twice": ('spawners = ["random", "random"]\n[agents]\na = "random"', "spawners must be a list"),
    "no spawner": ('spawners = []\n[agents]\na = "random"', "spawners must be a list"),
    "spawners of numbers": ('spawners = [1]\n[agents]\na = "random"', "spawner must be a spec"),
    "bad rules": ('[rules]\nrows = 9\n[agents]\na = "random"', "rows must be 4 or less"),
    "unknown rule": ('[rules]\nraws = 3\n[agents]\na = "random"', "did you mean 'rows'?"),
    "bad stop tile": ('stop_tile = 1000\n[agents]\na = "random"', "stop_tile must be a power of two"),
    "a stop tile as text": ('stop_tile = "2048"\n[agents]\na = "random"', "stop_tile must be a power of two"),
    "bad name": ('name = "../up"\n[agents]\na = "random"', "name must be letters"),
    "title of a number": ('title = 3\n[agents]\na = "random"', "title must be text, got 3"),
    "the same agent twice": ('[agents]\na = "random"\nb = "random"', "agents 'a' and 'b' have the same parameters"),
    "empty label": ('[agents]\n" " = "random"', "needs a label"),
    "no TOML": ("games = = 3", "is not valid TOML: Invalid value (at line 1, column 9)"),
    "a key twice": ("games = 3\ngames = 4", "is not valid TOML"),
}


@pytest.mark.parametrize(("text", "words"), BAD_FILES.values(), ids=BAD_FILES)
def test_bad_files(tmp_path, text, words):
    path = file(tmp_path, text)
    with pytest.raises(T48Error) as caught:
        load_experiment(path)
    message = str(caught.value)
    assert words in message
    assert str(path) in message
    assert "\n" not in message


def test_files_that_cannot_be_read(tmp_path):
    for path in (tmp_path / "missing.toml", tmp_path):
        with pytest.raises(T48Error, match=r"cannot read .* give the path of an experiment's \.toml file"):
            load_experiment(path)
    path = tmp_path / "bytes.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(T48Error, match="is not valid TOML"):
        load_experiment(path)
    with pytest.raises(T48Error, match="games must be 1 or more, got 0"):
        load_experiment(tmp_path / "missing.toml", games=0)


@pytest.mark.parametrize("path", sorted((ROOT / "experiments").glob("*.toml")), ids=lambda path: path.stem)
def test_committed_experiments_load(path):
    if "agents" in path.read_text():
        assert load_experiment(path).title


def test_quick_and_compare_hold_what_they_promise():
    quick, compare = (load_experiment(ROOT / "experiments" / f"{name}.toml") for name in ("quick", "compare"))
    kinds = {"random", "priority", "greedy", "expectimax", "minimax", "mcts"}
    for experiment, least in ((quick, 20), (compare, 200)):
        assert {entry.agent.name for entry in experiment.entries} >= kinds
        assert all(entry.games >= least for entry in experiment.entries if entry.agent.name in ("random", "greedy"))
    depths = {entry.agent.name: set() for entry in compare.entries}
    for entry in compare.entries:
        if not entry.agent.timed:
            depths[entry.agent.name].add(getattr(entry.agent, "depth", getattr(entry.agent, "simulations", None)))
    assert depths["expectimax"] >= {1, 2, 3, 4}
    assert depths["minimax"] >= {1, 2, 3}
    assert depths["mcts"] >= {100, 1000}
    times = {entry.agent.seconds for entry in compare.entries if entry.agent.timed}
    assert times >= {0.0001, 0.001}


def test_a_run_equals_its_batches(tmp_path):
    frame = run_experiment(make_experiment(QUICK, "try"), tmp_path / "out", workers=2)
    assert list(frame["agent"]) == ["random"] * 6 + ["greedy"] * 6
    for label, spec in QUICK["agents"].items():
        batch = play_batch(spec, games=6, seed=0)
        mine = frame[frame["agent"] == label].reset_index(drop=True)
        same = ["agent_key", "seed", "game", "score", "moves", "final"]
        pd.testing.assert_frame_equal(mine[same], batch[same], check_dtype=False)


def test_running_again_plays_nothing_and_more_games_only_the_missing(tmp_path):
    out = tmp_path / "out"
    first = run_experiment(make_experiment(QUICK, "try"), out)
    manifest = (out / "manifest.json").read_bytes()
    pd.testing.assert_frame_equal(run_experiment(make_experiment(QUICK, "try"), out), first)
    assert (out / "manifest.json").read_bytes() == manifest
    more = run_experiment(make_experiment(QUICK, "try", games=9), out)
    assert len(more) == 18
    assert not more.duplicated(KEY).any()
    kept = more[more["game"] < 6].reset_index(drop=True)
    pd.testing.assert_frame_equal(kept, first)  # with the same seconds: nothing was played again
    fewer = run_experiment(make_experiment(QUICK, "try", games=2), out)
    pd.testing.assert_frame_equal(fewer, more[more["game"] < 2].reset_index(drop=True))
    pd.testing.assert_frame_equal(Store(out).frame(), more)


def test_agents_and_seeds_may_be_added(tmp_path):
    out = tmp_path / "out"
    run_experiment(make_experiment(QUICK, "try"), out)
    wider = {**QUICK, "seed": 5, "agents": {"priority": "priority", "renamed": "random"}}
    asked = run_experiment(make_experiment(wider, "try"), out)
    assert dict(asked.groupby("agent").size()) == {"priority": 6, "renamed": 6}
    frame = Store(out).frame()
    assert dict(frame.groupby("agent").size()) == {"greedy": 6, "priority": 6, "renamed": 12}
    manifest = Store(out).manifest()
    assert manifest["seeds"] == [0, 5]
    assert list(manifest["agents"]) == ["priority", "renamed", "greedy"]
    assert len(manifest["runs"]) == 2


def test_several_spawners(tmp_path):
    data = {**QUICK, "games": 2, "spawners": ["random", "adversarial:depth=0,evaluator=classic"]}
    frame = run_experiment(make_experiment(data, "try"), tmp_path / "out")
    assert len(frame) == 8
    assert frame.groupby("agent")["agent_key"].nunique().tolist() == [2, 2]
    assert frame["agent"].tolist() == ["random"] * 4 + ["greedy"] * 4


def test_another_experiments_folder_is_left_alone(tmp_path):
    out = tmp_path / "out"
    run_experiment(make_experiment(QUICK, "try"), out)
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    changed = {**QUICK, "agents": {"random": "random", "greedy": "greedy:by=evaluator"}}
    for other in (make_experiment(QUICK, "other"), make_experiment(changed, "try")):
        with pytest.raises(T48Error, match="choose another --out"):
            run_experiment(other, out)
    with pytest.raises(T48Error, match="workers must be 1 or more"):
        run_experiment(make_experiment(QUICK, "try"), tmp_path / "new", workers=0)
    assert not (tmp_path / "new").exists()
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def test_the_manifest_says_what_was_played(tmp_path):
    run_experiment(make_experiment({**QUICK, "title": "T"}, "try"), tmp_path / "out")
    manifest = Store(tmp_path / "out").manifest()
    assert manifest["experiment"] == "try"
    assert manifest["seeds"] == [0]
    assert manifest["started"] <= manifest["finished"]
    assert set(manifest["versions"]) >= {"t48lab", "python", "numpy", "numba"}
    assert set(manifest["machine"]) == {"processor", "cores", "system"}
    assert {"commit", "rules", "stop_tile", "spawners", "baseline", "title"} <= set(manifest)
    greedy = manifest["agents"]["greedy"]
    assert greedy["parameters"]["by"] == "reward"
    assert isinstance(greedy["parameters"]["evaluator"], dict)
    assert str(tmp_path) not in (tmp_path / "out" / "manifest.json").read_text()


SLOW = """
name = "slow"
games = 24
[agents]
mcts = "mcts:simulations=200"
expectimax = "expectimax:depth=3,evaluator=tuned"
"""


@pytest.fixture
def start(tmp_path):
    """A function that starts a run of SLOW in a process of its own; what still runs at the end is killed."""
    code = "from signal import *; signal(SIGINT, default_int_handler); from t48lab.commands.cli import main; main()"
    out, path, processes = tmp_path / "out", file(tmp_path, SLOW, "slow.toml"), []

    def function(*extra):
        command = [sys.executable, "-c", code, "run", str(path), "--out", str(out), *extra]
        processes.append(subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return processes[-1]

    yield function
    for process in processes:
        process.kill()
        process.communicate()


def stop_after(process, out, parts, number):
    """The exit status and stderr of a run that gets a signal once so many parts of games are on disk."""
    deadline = time.monotonic() + 120
    while len(list(out.glob("games/*.parquet"))) < parts and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.002)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    return process.returncode, errors


@pytest.mark.slow
@pytest.mark.compiled
def test_interrupted_and_killed_runs_end_with_every_game_once(tmp_path, start):
    """Ctrl-C, kill -9 twice, then to the end: no game is lost and none is there twice."""
    out = tmp_path / "out"
    status, errors = stop_after(start(), out, 1, signal.SIGINT)
    assert status == 130
    assert errors.splitlines()[-1] == (
        f"t48lab: interrupted: finished games are kept in {out}, the same command goes on from there"
    )
    assert "Traceback" not in errors
    before = Store(out).frame()
    assert 0 < len(before) < 48
    for parts in (1, 2):
        status, _ = stop_after(start(), out, len(list(out.glob("games/*.parquet"))) + parts % 3, signal.SIGKILL)
        assert status in (-signal.SIGKILL, 0)
        after = Store(out).frame()
        merged = before.merge(after, on=[*KEY, "score", "moves", "final", "seconds"])
        assert len(merged) == len(before)  # what was there is there, never played again
        before = after
    process = start()
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    frame = Store(out).frame()
    assert not frame.duplicated(KEY).any()
    assert frame.groupby("agent")["game"].apply(sorted).tolist() == [list(range(24))] * 2
    for entry in load_experiment(tmp_path / "slow.toml").entries:
        batch = play_batch(entry.agent, games=24)
        same = ["game", "score", "moves", "final"]
        mine = frame[frame["agent"] == entry.label].reset_index(drop=True)
        pd.testing.assert_frame_equal(mine[same], batch[same], check_dtype=False)
    assert len(list(out.glob("games/*.parquet"))) == 1
    assert not list(out.rglob("*.tmp"))


@pytest.mark.slow
@pytest.mark.compiled
def test_two_runs_at_once_do_not_play_twice(tmp_path, start):
    out = tmp_path / "out"
    first = start("--games", "100000")
    deadline = time.monotonic() + 120
    while not (out / "manifest.json").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    second = start()
    _, errors = second.communicate(timeout=60)
    assert first.poll() is None
    assert second.returncode == 2
    assert errors == f"t48lab: {out} is in use by another run, wait for its end or choose another --out\n"
    first.send_signal(signal.SIGINT)
    first.communicate(timeout=60)
    assert first.returncode == 130
    assert not Store(out).frame().duplicated(KEY).any()

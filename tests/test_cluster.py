"""A real scheduler and real worker processes, some of which are killed: games are neither lost nor repeated."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from t48lab.commands.cli import status
from t48lab.errors import T48Error
from t48lab.experiments import load_experiment, run_experiment, verify
from t48lab.experiments.store import KEY, Store
from t48lab.games import cluster, play_batch

pytest.importorskip("distributed", reason="the extra t48lab[cluster] is not installed")
pytestmark = [pytest.mark.cluster, pytest.mark.compiled]

ROOT = Path(__file__).parents[1]
GAMES = 40
FILE = f"""
games = {GAMES}
seed = 11
[agents]
"tree" = "mcts:simulations=150"
"expectimax 2" = {{ agent = "expectimax:depth=2", games = 12 }}
"""
RESULT = ["score", "max_tile", "moves", "nodes", "final", "ended", "probes", "hits"]


def started(folder, *arguments):
    code = f"from distributed.cli import dask_{arguments[0]} as tool; tool.main()"
    where = {**os.environ, "PYTHONPATH": str(ROOT), "DASK_DISTRIBUTED__WORKER__DAEMON": "false"}
    with (folder / f"{arguments[0]}-{time.monotonic_ns()}.log").open("w") as log:
        return subprocess.Popen(
            [sys.executable, "-c", code, *arguments[1:]], cwd=folder, env=where, stdout=log, stderr=log
        )


class Dask:
    """A scheduler on a port of its own, and workers."""

    def __init__(self, folder):
        self.folder, self.workers = folder, []
        file = folder / "scheduler.json"
        self.scheduler = started(
            folder, "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)
        )
        end = time.monotonic() + 60
        while not (file.exists() and file.read_text().strip()):
            assert self.scheduler.poll() is None
            assert time.monotonic() < end
            time.sleep(0.1)
        self.address = json.loads(file.read_text())["address"]

    def add_worker(self):
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1")
        self.workers.append(started(self.folder, "worker", self.address, *options))
        return self.workers[-1]

    def stop(self):
        for process in [*self.workers, self.scheduler]:
            process.kill()
            process.wait(timeout=30)


@pytest.fixture
def dask(tmp_path):
    dask = Dask(tmp_path)
    yield dask
    dask.stop()


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "try.toml"
    path.write_text(FILE)
    return path


def command(file, dask, out):
    return [sys.executable, "-m", "t48lab", "run", str(file), "--cluster", dask.address, "--out", str(out)]


def rows(out):
    return len(Store(out).frame())


def wait_for(what, process=None, seconds=120):
    end = time.monotonic() + seconds
    while not what():
        assert process is None or process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.05)


def assert_complete(out, file):
    """Every game once, and each the one that this process plays."""
    frame = Store(out).frame()
    assert not frame.duplicated(KEY).any()
    for entry in load_experiment(file).entries:
        games = frame[frame["agent"] == entry.label].reset_index(drop=True)
        assert list(games["game"]) == list(range(entry.games))
        here = play_batch(entry.agent, games=entry.games, seed=11)
        assert games[RESULT].to_dict("list") == here[RESULT].to_dict("list")


def test_killed_workers_cost_no_game_and_new_ones_help(dask, file, tmp_path):
    out = tmp_path / "out"
    first, second = dask.add_worker(), dask.add_worker()
    process = subprocess.Popen(
        command(file, dask, out), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    wait_for(lambda: rows(out) > 3, process)
    first.kill()
    before = rows(out)
    wait_for(lambda: rows(out) > before, process)
    second.kill()
    dask.add_worker()
    text, _ = process.communicate(timeout=300)
    assert process.returncode == 0, text
    assert_complete(out, file)
    assert verify(out, games=1).replayed == 2
    run = Store(out).manifest()["runs"][0]
    assert 1 <= run["cluster"]["threads"] <= 2
    assert run["cluster"]["processors"] == [run["machine"]["processor"]]


def test_a_run_goes_on_after_the_scheduler_was_killed(dask, file, tmp_path):
    out = tmp_path / "out"
    dask.add_worker()
    process = subprocess.Popen(
        command(file, dask, out), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    wait_for(lambda: rows(out) > 3, process)
    dask.scheduler.kill()
    _, err = process.communicate(timeout=300)
    assert process.returncode == 2, err
    assert "what is finished is kept, run the same again to go on" in err.splitlines()[-1]
    kept = rows(out)
    assert kept > 3
    run_experiment(load_experiment(file), out)
    assert_complete(out, file)


def test_ctrl_c_keeps_what_is_finished(dask, file, tmp_path):
    out = tmp_path / "out"
    dask.add_worker()
    process = subprocess.Popen(
        command(file, dask, out), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    wait_for(lambda: rows(out) > 3, process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert err.splitlines()[-1].startswith(f"t48lab: interrupted: finished games are kept in {out}")
    assert rows(out) > 3


def test_a_worker_with_another_t48lab_is_refused(dask, monkeypatch):
    dask.add_worker()
    with cluster.connected(dask.address) as executor:
        monkeypatch.setattr(cluster, "identity", lambda: ("9.9", "1", "0123456789ab"))
        with pytest.raises(T48Error, match=r"a worker runs t48lab .* where this is 9\.9 1 0123456789ab, install"):
            play_batch("random", games=3, executor=executor)


def test_a_scheduler_without_workers_is_told(dask):
    with (
        pytest.raises(T48Error, match=r"has no workers, start some: dask worker tcp"),
        cluster.connected(dask.address, patience=1),
    ):
        pass


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("tcp://127.0.0.1:1", "no Dask scheduler answers at tcp://127.0.0.1:1"),
        ("nonsense://host", "no Dask scheduler answers at nonsense://host"),
        ("127.0.0.1:8786", "--cluster must be an address such as tcp://host:8786, got '127.0.0.1:8786'"),
    ],
)
def test_addresses_without_a_scheduler_are_told_in_one_line(address, words, file, monkeypatch, capsys):
    monkeypatch.setattr(cluster, "connected", lambda address, connect=cluster.connected: connect(address, patience=1))
    assert status(["run", str(file), "--cluster", address]) == 2
    assert words in capsys.readouterr().err
    assert not Path("results/try").exists()


def test_without_dask_the_remedy_is_named(file, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert status(["run", str(file), "--cluster", "tcp://127.0.0.1:1"]) == 2
    assert "pip install 't48lab[cluster]'" in capsys.readouterr().err

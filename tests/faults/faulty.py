"""What the fault tests share: real processes, and the games that they must end up with."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from t48lab.experiments.store import KEY, Store

ROOT = Path(__file__).parents[2]
KILLS = int(os.environ.get("T48LAB_KILLS", "3"))
"""How often `run` is killed; `tune` a third as often. `make faults` sets a large number."""
SEED = int(os.environ.get("T48LAB_FAULT_SEED", "2048"))
"""Seed of the instants at which processes are killed."""

EXPERIMENT = """
title = "Killed"
games = 400
seed = 5
baseline = "greedy"
[agents]
greedy = "greedy:evaluator=tuned"
random = { agent = "random", games = 3000 }
tree = { agent = "mcts:simulations=40", games = 40 }
"""
SAME = "agent spec agent_key spawner seed game score max_tile moves nodes final ended timed probes hits".split()


def write(folder, text=EXPERIMENT, name="killed.toml"):
    """The path of a file with this text."""
    path = Path(folder) / name
    path.write_text(text)
    return path


def environment(**changes):
    """The variables of a child process; byte code is kept outside of the checkout, so that starting is quick."""
    where = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": "/tmp/t48lab-bytecode"}
    where.pop("PYTHONDONTWRITEBYTECODE", None)
    return {name: value for name, value in (where | changes).items() if value is not None}


def start(*arguments, cwd=ROOT, **changes):
    """A process that runs `t48lab` with these arguments, in a group of its own."""
    handler = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    code = f"{handler}; from t48lab.commands.cli import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=cwd,
        env=environment(**changes),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def ended(process, status=0, seconds=600):
    """(stdout, stderr) of a process that ends with this status and without a traceback."""
    out, err = process.communicate(timeout=seconds)
    assert process.returncode == status, err
    assert "Traceback" not in err
    return out, err


def run(*arguments, status=0, **options):
    """(stdout, stderr) of `t48lab` with these arguments."""
    return ended(start(*arguments, **options), status)


def refused(*arguments, **options):
    """The one line with which `t48lab` refuses these arguments."""
    _, err = run(*arguments, status=2, **options)
    lines = [line for line in err.splitlines() if line.startswith("t48lab: ")]
    assert len(lines) == 1, err
    return lines[0]


def kill(process):
    """Whether the process was still running, after kill -9 of it and its children."""
    running = process.poll() is None
    if running:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    return running


def wait_for(condition, process=None, seconds=120):
    """Nothing, once the condition holds; fails when the process ends before."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert process is None or process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.005)


def size(folder, name="*.parquet"):
    """Bytes of the files of these names in a folder; a file that goes meanwhile counts nothing."""
    sizes = 0
    for path in Path(folder).glob(name):
        with suppress(FileNotFoundError):
            sizes += path.stat().st_size
    return sizes


def wait(process, draw, seconds, grown, growth):
    """Nothing, at a random instant: by the clock or, as often, by how much of a size has been added by then."""
    if draw.random() < 0.5:
        time.sleep(draw.uniform(0.0, 1.1 * seconds))
        return
    end = grown() + draw.uniform(0.0, growth)
    while grown() < end and process.poll() is None:
        time.sleep(0.001)
    time.sleep(draw.uniform(0.0, 0.05 * seconds))


def stored(folder):
    """All stored games in order, without what time they took."""
    frame = Store(folder).frame()
    assert not frame.duplicated(KEY).any()
    return frame[SAME].sort_values(KEY).reset_index(drop=True)


def keys(frame):
    """The key of each game."""
    return set(frame[KEY].itertuples(index=False, name=None))


def assert_part_of(frame, whole):
    """Nothing; every row of the frame is that of the same game in the whole."""
    both = frame.merge(whole, on=SAME, how="inner")
    assert len(both) == len(frame)


def leftovers(folder):
    """Drafts of files that were never finished."""
    return [path for path in Path(folder).rglob("*.tmp") if path.is_file()]

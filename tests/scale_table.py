"""The tables of docs/scale.md: what games cost in time, on the wire, on disk and to the processes that hand them out.

    python tests/scale_table.py

prints them, in two minutes of one thread.
"""

import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
from distributed.protocol import serialize_bytes
from test_cluster import Dask

from t48lab.agents import make_agent
from t48lab.experiments import Store
from t48lab.games import Task
from t48lab.games.batch import play_batch, play_chunk
from t48lab.games.cluster import connected, identity
from t48lab.machine import machine
from t48lab.rules import Rules

SEED = 5
CORES, GAMES = 1000, 100_000
AGENTS = {
    "random": 20_000,
    "greedy:by=evaluator,evaluator=tuned": 400,
    "expectimax:depth=1": 100,
    "expectimax:depth=2": 40,
    "expectimax:depth=3": 10,
    "mcts:simulations=100": 20,
    "mcts:simulations=1000": 5,
}
SMALL, LARGE = 40, 4000
MILLION = 1_000_000
TASKS = 400


def played(spec, games):
    """The rows of an agent's games, played by one thread after a first one that is not counted."""
    play_batch(spec, games=1, seed=SEED + 1, workers=1)
    return play_batch(spec, games=games, seed=SEED, workers=1)


def needed(seconds):
    """How long so many seconds of work take, as text: on all cores, or on one where that is enough."""
    alone = seconds * GAMES
    return f"one core plays them in {alone:.1f} s" if alone < 60 else f"{alone / CORES:.1f} s"


def times_table():
    """Seconds a game as Markdown."""
    lines = [
        f"| agent | games | moves/game | seconds/game | {GAMES:,} games on {CORES:,} cores |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for spec, games in AGENTS.items():
        frame = played(spec, games)
        seconds = frame["seconds"].mean()
        lines.append(f"| `{spec}` | {games:,} | {frame['moves'].mean():,.0f} | {seconds:.2g} | {needed(seconds)} |")
    return "\n".join(lines)


def task(games, first=0):
    """A task of the random agent."""
    return Task(make_agent("random").spec, "random", Rules(), 0, SEED, first, games)


def on_the_wire():
    """Bytes of a task, of an answer without its games, and of each game in it."""
    cancel = np.zeros(1, np.int64)
    small, large = (len(serialize_bytes(play_chunk(task(games), cancel))) for games in (SMALL, LARGE))
    each = (large - small) / (LARGE - SMALL)
    return len(serialize_bytes((identity(), play_chunk, task(SMALL), cancel))), small - SMALL * each, each


def clocks():
    """Processor and wall seconds of this process."""
    return np.array([time.process_time(), time.monotonic()])


def on_disk(frame, folder):
    """Bytes a game of a large part and of a small one; processor and wall seconds of storing a part."""
    store, bytes_each, seconds = Store(folder), [], []
    for games in (1, LARGE, SMALL):
        before = clocks()
        path = store.add(frame[:games])
        seconds.append(clocks() - before)
        bytes_each.append(path.stat().st_size / games)
    return *bytes_each[1:], *np.mean(seconds[1:], axis=0)


def merging(frame, folder):
    """Processor seconds of merging parts that hold a million games."""
    store = Store(folder)
    for first in range(0, MILLION, MILLION // 10):
        store.add(frame[first : first + MILLION // 10])
    before = clocks()
    store.compact()
    return (clocks() - before)[0]


def used(process):
    """Processor seconds of a process."""
    return sum(process.cpu_times()[:2])


def on_a_cluster(folder):
    """Seconds a task of this process and of the scheduler; MB of the scheduler and of a worker."""
    dask = Dask(folder)
    try:
        scheduler, worker = (psutil.Process(started.pid) for started in (dask.scheduler, dask.add_worker()))
        with connected(dask.address) as executor:
            play_batch("random", games=LARGE, executor=executor)
            before = clocks()[0], used(scheduler)
            cancel = np.zeros(1, np.int64)
            for future in [executor.submit(play_chunk, task(1, first), cancel) for first in range(TASKS)]:
                future.result()
            here, there = clocks()[0] - before[0], used(scheduler) - before[1]
            return here / TASKS, there / TASKS, *(p.memory_info().rss / 2**20 for p in (scheduler, worker))
    finally:
        dask.stop()


def costs_table():
    """What else a batch costs, as Markdown."""
    frame = pd.concat([play_batch("random", games=MILLION // 10, seed=SEED + i, workers=1) for i in range(10)])
    asked, answered, each = on_the_wire()
    with tempfile.TemporaryDirectory() as folder:
        large, small, processor, wall = on_disk(frame, Path(folder) / "parts")
        merge = merging(frame, Path(folder) / "million")
        here, there, *memory = on_a_cluster(Path(folder))
    return "\n".join([
        "| what | measured |",
        "| --- | --- |",
        f"| on the wire, a task | {asked:,} bytes |",
        f"| on the wire, its answer | {answered:,.0f} bytes and {each:.0f} a game |",
        f"| on disk, a game | {large:.0f} bytes in a part of {LARGE:,}, {small:.0f} in one of {SMALL} |",
        f"| storing a part | {1000 * processor:.0f} ms of processor time, {1000 * wall:.0f} ms in all |",
        f"| merging all parts of {MILLION:,} games | {merge:.1f} s |",
        f"| the process that runs it, a task | {1000 * here:.1f} ms of processor time |",
        f"| the scheduler, a task | {1000 * there:.1f} ms of processor time, {memory[0]:.0f} MB |",
        f"| a worker process | {memory[1]:.0f} MB |",
    ])  # fmt: skip


if __name__ == "__main__":
    print(f"One thread of {machine()['processor']}, seed {SEED}", times_table(), costs_table(), sep="\n\n")

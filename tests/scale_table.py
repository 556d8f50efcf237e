"""The measured tables of docs/scale.md: what games cost in time, on the wire and on disk.

    taskset -c 0 python tests/scale_table.py

prints them, in a minute or two of one thread.
"""

import tempfile
import time

from distributed.protocol import serialize_bytes

from t48lab.agents import make_agent
from t48lab.batch import play_batch
from t48lab.chunks import Task, run_games
from t48lab.manifest import machine
from t48lab.results import Store
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
PARTS = (40, 4000)


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


def on_the_wire(spec, games):
    """Bytes of a task, and of its answer."""
    task = Task(make_agent(spec).spec, "random", Rules(), 0, SEED, 0, games)
    return len(serialize_bytes(task)), len(serialize_bytes(run_games(task, [0])))


def on_disk(spec, games):
    """(bytes, processor seconds, wall seconds) of storing a part with so many games."""
    frame = play_batch(spec, games=games, seed=SEED, workers=1)
    with tempfile.TemporaryDirectory() as folder:
        store = Store(folder)
        store.add(frame[:1])
        processor, wall = time.process_time(), time.monotonic()
        path = store.add(frame)
        return path.stat().st_size, time.process_time() - processor, time.monotonic() - wall


if __name__ == "__main__":
    print(f"One thread of {machine()['processor']}, seed {SEED}", times_table(), sep="\n\n")
    for games in PARTS:
        print(games, on_the_wire("random", games), on_disk("random", games))

"""Batches: the same games whoever plays them, nothing finished lost."""

import os
import signal
import subprocess
import sys
import time
from collections import deque
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from t48lab import BatchInterrupted, Expectimax, RandomAgent, Rules, T48Error, iter_batch, play, play_batch
from t48lab.games import COLUMNS
from t48lab.progress import Progress, duration

ROOT = Path(__file__).parents[1]
SPECS = ["random", "priority", "greedy", "expectimax:depth=2", "minimax:depth=1", "mcts:simulations=5"]
SHORT = {"stop_tile": 64}


def games_of(frame):
    """Everything but the time that the games took."""
    return frame.drop(columns="seconds")


def test_frame_has_its_columns_types_and_order():
    frame = play_batch("random", games=7, seed=3, workers=2)
    assert list(frame.columns) == [column.name for column in COLUMNS]
    text = ["agent", "spec", "agent_key", "spawner", "final", "ended"]
    assert {str(frame[name].dtype) for name in text} == {"str"}
    whole = ["seed", "game", "score", "max_tile", "moves", "nodes", "probes", "hits"]
    assert {str(frame[name].dtype) for name in whole} == {"int64"}
    assert frame["game"].tolist() == list(range(7))
    assert (frame["seed"] == 3).all()
    assert not frame["timed"].any()
    assert (frame["seconds"] > 0).all()
    assert frame["agent_key"].unique().tolist() == [RandomAgent().key()]


@pytest.mark.parametrize("spec", SPECS)
def test_row_is_the_game_that_play_plays(spec):
    frame = play_batch(spec, games=4, seed=11, workers=2, **SHORT)
    for row in frame.itertuples():
        record = play(spec, seed=11, game=row.game, **SHORT)
        for name in ("score", "max_tile", "moves", "nodes", "final", "ended", "agent_key", "probes", "hits"):
            assert getattr(record, name) == getattr(row, name), name


@pytest.mark.compiled
@pytest.mark.parametrize(
    "spec",
    [
        *SPECS,
        "expectimax:depth=3,cutoff=0.01,table_bits=10",
        "minimax:depth=3,table_bits=10",
        "mcts:simulations=20,reuse=true",
    ],
)
def test_workers_do_not_matter(spec):
    one = play_batch(spec, games=50, seed=0, workers=1, stop_tile=256)
    four = play_batch(spec, games=50, seed=0, workers=4, stop_tile=256)
    assert_frame_equal(games_of(one), games_of(four))
    alone = pd.concat(iter_batch(spec, games=50, seed=0, skip=range(49), stop_tile=256), ignore_index=True)
    assert_frame_equal(games_of(alone), games_of(one.tail(1).reset_index(drop=True)))


FRESH = """
import numpy, sys
numpy.random.seed(int(sys.argv[1]))
from t48lab import play_batch
for spec in {specs!r}:
    frame = play_batch(spec, games=2, seed=0, workers=1, stop_tile=32)
    print(frame[["score", "moves", "final", "nodes"]].to_string())
"""


@pytest.mark.slow
@pytest.mark.compiled
def test_fresh_process_and_plain_python_play_the_same_games():
    def output(seed, **environment):
        command = [sys.executable, "-c", FRESH.format(specs=SPECS), str(seed)]
        done = subprocess.run(
            command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, check=True
        )
        return done.stdout

    compiled = output(1)
    assert compiled.count("\n") == 3 * len(SPECS)
    assert output(2) == compiled
    assert output(3, NUMBA_DISABLE_JIT="1") == compiled


@pytest.mark.slow
@pytest.mark.compiled
def test_processes_play_the_games_that_threads_play():
    threads = play_batch("expectimax:depth=1", games=30, workers=2)
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        processes = play_batch("expectimax:depth=1", games=30, executor=pool)
    assert_frame_equal(games_of(processes), games_of(threads))
    with ThreadPoolExecutor(1) as pool:
        assert_frame_equal(games_of(play_batch("expectimax:depth=1", games=30, executor=pool)), games_of(threads))


def test_parts_come_as_they_are_finished_and_leave_out_what_is_there():
    skip = {0, 3, 4, 9, 17, 18, 19}
    parts = list(iter_batch("random", games=20, seed=5, workers=2, skip=skip, label="chance"))
    assert len(parts) > 1
    frame = pd.concat(parts).sort_values("game", ignore_index=True)
    assert frame["game"].tolist() == [game for game in range(20) if game not in skip]
    assert set(frame["agent"]) == {"chance"}
    whole = play_batch("random", games=20, seed=5)
    kept = whole[~whole["game"].isin(skip)].reset_index(drop=True)
    assert_frame_equal(games_of(frame).drop(columns="agent"), games_of(kept).drop(columns="agent"))
    assert list(iter_batch("random", games=3, skip=range(3))) == []


def test_game_of_the_next_seed_is_another_game():
    first, second = (play_batch("random", games=30, seed=seed) for seed in (7, 8))
    assert not set(first["final"]) & set(second["final"])


def test_small_boards_and_adversaries_have_their_columns():
    frame = play_batch("random", games=3, rules=Rules(rows=2, cols=3), spawner="adversarial:depth=0")
    assert frame["final"].str.fullmatch("2x3:[0-9a-h]{6}").all()
    assert set(frame["spawner"]) == {"adversarial:depth=0,evaluator=classic"}


def test_timed_agents_say_so():
    frame = play_batch(Expectimax(seconds=0.0005), games=1, stop_tile=16)
    assert frame["timed"].all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"games": 0}, "games must be 1 or more, got 0"),
        ({"games": 2.5}, "games must be 1 or more, got 2.5"),
        ({"workers": 0}, "workers must be 1 or more, got 0"),
        ({"seed": -3}, "seed must be a whole number from 0 to 2\\^63 - 1, got -3"),
        ({"stop_tile": 7}, "stop_tile must be a power of two from 8 to 131072, or None, got 7"),
        ({"spawner": "ramdom"}, "unknown spawner 'ramdom', did you mean 'random'?"),
    ],
)
def test_bad_arguments_are_named_before_anything_is_played(arguments, message):
    with pytest.raises(T48Error, match=message.replace("?", r"\?")):
        iter_batch("random", **arguments)


class Lazy(Executor):
    """Plays at once in this thread; the third task fails."""

    def __init__(self):
        self.tasks = 0

    def submit(self, function, /, *args, **kwargs):
        future = Future()
        self.tasks += 1
        if self.tasks == 3:
            future.set_exception(MemoryError("a worker died"))
        else:
            future.set_result(function(*args, **kwargs))
        return future


def test_fault_in_a_worker_comes_after_what_is_finished():
    finished = []
    with pytest.raises(MemoryError, match="a worker died"):
        finished.extend(iter_batch("random", games=1000, workers=2, executor=Lazy()))
    assert 1 <= sum(map(len, finished)) < 1000


def test_ctrl_c_keeps_finished_games_and_the_handler_that_was_there():
    before = signal.getsignal(signal.SIGINT)
    finished = []

    def store(frame):
        finished.append(frame)
        if len(finished) == 5:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        deque(map(store, iter_batch("random", games=10**9, workers=2)))
    frame = pd.concat(finished)
    assert len(finished) >= 5
    assert frame["game"].is_unique
    assert signal.getsignal(signal.SIGINT) == before


def test_second_ctrl_c_ends_at_once():
    parts = iter_batch("random", games=10**9, workers=1)
    next(parts)
    os.kill(os.getpid(), signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
    parts.close()


INTERRUPTED = """
from t48lab import iter_batch
finished, ended = [], set()
try:
    for frame in iter_batch("expectimax:depth=3", games=100000, workers=2, progress=True):
        print("finished", flush=True)
        finished += frame["game"].tolist()
        ended |= set(frame["ended"])
except KeyboardInterrupt:
    print(len(finished) - len(set(finished)), *ended)
    raise SystemExit(130)
"""


@pytest.mark.slow
@pytest.mark.compiled
def test_interrupted_process_ends_soon_with_its_finished_games():
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", INTERRUPTED], cwd=ROOT, text=True, **pipes) as process:
        assert process.stdout.readline() == "finished\n"
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        started = time.monotonic()
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert time.monotonic() - started < 10
    assert out.splitlines()[-1] == "0 no legal move"
    assert "games" in err
    assert "left" in err


def test_interrupted_batch_hands_over_what_is_finished(monkeypatch):
    monkeypatch.setattr("t48lab.games.batch._CHUNK_SECONDS", 0.01)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: (time.sleep(0.5), os.kill(os.getpid(), signal.SIGINT)))
        with pytest.raises(BatchInterrupted) as interrupted:
            play_batch("random", games=10**7, workers=1)
    frame = interrupted.value.finished
    assert 0 < len(frame) < 10**7
    assert frame["game"].is_monotonic_increasing


def test_bar_appears_on_stderr_after_a_while_only(monkeypatch, capsys):
    monkeypatch.setattr("t48lab.progress._PATIENCE", 0.0)
    play_batch("random", games=5, progress=False)
    assert capsys.readouterr().err == ""
    play_batch("random", games=5, progress=True)
    shown = capsys.readouterr()
    assert "5/5 games" in shown.err
    assert shown.out == ""
    monkeypatch.setattr("t48lab.progress._PATIENCE", 60.0)
    with Progress(10, "label", True) as bar:
        bar.refresh()
    assert capsys.readouterr().err == ""
    assert [duration(s) for s in (45, 180, 9000)] == ["45 s", "3 min", "2.5 h"]


def test_numpy_numbers_are_numbers():
    frame = play_batch("random", games=np.int64(2), seed=np.int64(1))
    assert len(frame) == 2

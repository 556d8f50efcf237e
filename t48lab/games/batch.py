"""Batches of seeded games over threads, processes or a cluster: nothing finished is lost, order does not matter."""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections.abc import Collection, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from t48lab.agents import Agent, Spawner, make_agent, make_spawner
from t48lab.games.chunks import Chunk, Task, prepare, run_games
from t48lab.games.rows import empty_frame, frame_of
from t48lab.machine import cores
from t48lab.progress import Progress
from t48lab.records import Count, Seed, StopTile, checked, stop_rank
from t48lab.rules import Rules

if TYPE_CHECKING:
    import pandas as pd

_CHUNK_SECONDS = 0.5
_CHUNKS_A_SECOND = 20
"""Most chunks that all workers together should finish: storing one took 26 ms when measured, see docs/scale.md."""
_GROWTH = 16
_SHORTEST = 64
"""Toward the end of a batch tasks become shorter, down to this part of a usual one."""


class BatchInterrupted(KeyboardInterrupt):
    """Ctrl-C during `play_batch`; `finished` is the frame of the games that were finished by then."""

    def __init__(self, finished: pd.DataFrame) -> None:
        super().__init__(f"interrupted after {len(finished)} games")
        self.finished = finished


def play_batch(
    agent: Agent | str,
    games: int = 100,
    seed: int = 2048,
    workers: int | None = None,
    executor: Executor | None = None,
    spawner: Spawner | str = "random",
    rules: Rules = Rules(),
    stop_tile: int | None = None,
    progress: bool = False,
) -> pd.DataFrame:
    """One row a game (columns: see rows.py), games 0 to games - 1 of base seed `seed` in order.

    A row depends on (seed, game, agent, spawner, rules, stop_tile) alone, not on workers, executor or machine;
    only `seconds` differs, and all of it when the agent is timed. Threads play unless an executor is given.
    Ctrl-C raises BatchInterrupted, which holds the finished games; a second one ends at once.
    """
    frames: list[pd.DataFrame] = []
    parts = iter_batch(agent, games, seed, workers, executor, spawner, rules, stop_tile, progress)
    try:
        for frame in parts:
            frames.append(frame)
    except KeyboardInterrupt:
        raise BatchInterrupted(_joined(frames)) from None
    return _joined(frames)


def iter_batch(
    agent: Agent | str,
    games: int = 100,
    seed: int = 2048,
    workers: int | None = None,
    executor: Executor | None = None,
    spawner: Spawner | str = "random",
    rules: Rules = Rules(),
    stop_tile: int | None = None,
    progress: bool = False,
    skip: Collection[int] = (),
    label: str | None = None,
) -> Iterator[pd.DataFrame]:
    """The rows of `play_batch` as frames, each as soon as its games are finished, without the games in `skip`.

    `label` is what the column `agent` says, by default the agent's own label. After Ctrl-C or a fault in a
    worker what is finished by then still comes, and then the KeyboardInterrupt or the fault is raised.
    """
    agent, spawner = make_agent(agent), make_spawner(spawner)
    workers = checked(Count, workers, "workers") if workers is not None else _workers_of(executor)
    stop_tile = checked(StopTile, stop_tile, "stop_tile")
    seed, games = checked(Seed, seed, "seed"), checked(Count, games, "games")
    whole = Task(agent.spec, spawner.spec, rules, stop_rank(stop_tile), seed, 0, games)
    stated = {
        "agent": label or agent.label,
        "spec": agent.spec,
        "agent_key": agent.key(rules, stop_tile, spawner),
        "spawner": spawner.spec,
        "seed": whole.seed,
        "timed": agent.timed,
    }
    return _play(_Work(whole, skip, workers), stated, executor, workers, progress)


def _workers_of(executor: Executor | None) -> int:
    """How many tasks an executor runs at once; the processors that this process may use when it does not say."""
    return getattr(executor, "_max_workers", None) or cores()


class _Work:
    """The games still to be handed out, cut into tasks of about half a second or a single game.

    With many workers the tasks are longer.
    """

    def __init__(self, whole: Task, skip: Collection[int], workers: int) -> None:
        self.whole, self.workers, self.size = whole, workers, 1
        self.runs = _gaps(whole.count, skip)[::-1]
        self.total = self.left = sum(run for _, run in self.runs)

    def next_task(self) -> Task | None:
        """The next task; None when every game is handed out."""
        if not self.runs:
            return None
        first, run = self.runs.pop()
        share = max(-(-self.left // (2 * self.workers)), self.size // _SHORTEST)
        count = min(run, self.size, share)
        if count < run:
            self.runs.append((first + count, run - count))
        self.left -= count
        return replace(self.whole, first=first, count=count)

    def learn(self, chunk: Chunk) -> None:
        """Sets the size of further tasks by the time that a chunk took."""
        games = len(chunk.rows)
        if games:
            seconds = max(_CHUNK_SECONDS, self.workers / _CHUNKS_A_SECOND)
            self.size = max(1, min(_GROWTH * games, int(seconds * games / max(chunk.wall, 1e-6))))


def _gaps(count: int, skip: Collection[int]) -> list[tuple[int, int]]:
    """(first, number) of each run of games from 0 to count - 1 that are not in `skip`."""
    runs, start = [], 0
    for game in [*sorted({game for game in skip if 0 <= game < count}), count]:
        if game > start:
            runs.append((start, game - start))
        start = game + 1
    return runs


def play_chunk(task: Task, cancel: NDArray[np.int64]) -> Chunk:
    """The finished games of a task, in whatever worker; a worker process leaves Ctrl-C to the one that started it."""
    if multiprocessing.parent_process() and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return run_games(task, cancel)


def _play(
    work: _Work, stated: dict[str, Any], executor: Executor | None, workers: int, progress: bool
) -> Iterator[pd.DataFrame]:
    if not work.total:
        return
    prepare(work.whole)
    cancel = np.zeros(1, np.int64)
    with (
        _pool(executor, workers, cancel) as pool,
        Interrupts(cancel) as interrupts,
        Progress(work.total, stated["agent"], progress) as bar,
    ):
        run = _Run(work, pool, 2 * workers, cancel, interrupts, bar)
        for chunk in run.chunks():
            yield frame_of(chunk, stated, work.whole.rules)
    if run.failure:
        raise run.failure


class _Run:
    """Tasks under way: hands them out, takes them in, and after a failure takes in what is left."""

    def __init__(
        self,
        work: _Work,
        pool: Executor,
        most: int,
        cancel: NDArray[np.int64],
        interrupts: Interrupts,
        bar: Progress,
    ) -> None:
        self.work, self.pool, self.most = work, pool, most
        self.cancel, self.interrupts, self.bar = cancel, interrupts, bar
        self.pending: set[Future[Chunk]] = set()
        self.failure: BaseException | None = None

    def chunks(self) -> Iterator[Chunk]:
        """Chunks that hold games, as they are finished."""
        while self._hand_out():
            done, self.pending = wait(self.pending, self.bar.interval, FIRST_COMPLETED)
            for future in done:
                chunk = self._take(future)
                if chunk is not None and len(chunk.rows):
                    yield chunk
            self.bar.refresh()

    def _hand_out(self) -> bool:
        """Whether anything is under way, after handing out what may be."""
        if self.interrupts.seen:
            self.failure = self.failure or KeyboardInterrupt()
        if self.failure:
            self.pending = {future for future in self.pending if not future.cancel()}
        while not self.failure and len(self.pending) < self.most and (task := self.work.next_task()):
            self.pending.add(self.pool.submit(play_chunk, task, self.cancel))
        return bool(self.pending)

    def _take(self, future: Future[Chunk]) -> Chunk | None:
        try:
            chunk = future.result()
        except BaseException as error:
            self.cancel[0] = 1
            self.failure = self.failure or error
            return None
        self.work.learn(chunk)
        self.bar.advance(len(chunk.rows))
        return chunk


@contextmanager
def _pool(executor: Executor | None, workers: int, cancel: NDArray[np.int64]) -> Iterator[Executor]:
    """The given executor, or threads that stop after the move at hand when the context is left early."""
    pool = executor or ThreadPoolExecutor(workers, "t48lab")
    try:
        yield pool
    finally:
        cancel[0] = 1
        if executor is None:
            pool.shutdown(wait=False, cancel_futures=True)


class Interrupts:
    """A context in which the first Ctrl-C only asks the games to stop, and the second raises KeyboardInterrupt."""

    def __init__(self, cancel: NDArray[np.int64]) -> None:
        self.cancel, self.seen = cancel, False
        self.previous: Any = None

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            self.previous = signal.getsignal(signal.SIGINT)
            if self.previous != signal.SIG_IGN:
                signal.signal(signal.SIGINT, self._handle)
        return self

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.seen:
            raise KeyboardInterrupt
        self.seen = True
        self.cancel[0] = 1

    def __exit__(self, *_: object) -> None:
        if self.previous is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, self.previous)


def _joined(frames: list[pd.DataFrame]) -> pd.DataFrame:
    import pandas as pd

    if not frames:
        return empty_frame()
    in_order = sorted(frames, key=lambda frame: int(frame["game"].to_numpy()[0]))
    return pd.concat(in_order, ignore_index=True)

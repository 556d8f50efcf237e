"""One trial: an agent at a point of the space plays the study's games in shuffled order, until it is clearly worse."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from t48lab.agents import Agent
from t48lab.analysis import OBJECTIVES
from t48lab.games import Chunk, Task, prepare, run_games
from t48lab.kernels.layout import ROW
from t48lab.rules import Rules
from t48lab.studies.study import Plan

Values = NDArray[np.float64]
Look = Callable[[list[int], Values], bool]
"""Is told some games and their values, and says whether the trial should end."""


@dataclass(frozen=True)
class Played:
    """The games of a trial in the order in which they were played; `pruned` when it ended early."""

    order: NDArray[np.int64]
    rows: NDArray[np.int64]
    seconds: Values
    wall: float
    pruned: bool

    def figures(self, plan: Plan) -> dict[str, Any]:
        """What is stored with a trial: spread, interval and cost, as plain data."""
        values, moves = values_of(self.rows, plan.objectives[0]), int(self.rows[:, ROW.MOVES].sum())
        mean, low, high = float(values.mean()), *OBJECTIVES[plan.objectives[0]].quick_interval(values)
        spread = float(values.std(ddof=1)) if len(values) > 1 else float("nan")
        return {
            "n": len(values),
            "pruned": self.pruned,
            "mean": mean,
            "sd": spread,
            "low": low,
            "high": high,
            "mean_score": float(self.rows[:, ROW.SCORE].mean()),
            "moves": moves,
            "ms_per_move": 1000 * float(self.seconds.sum()) / max(moves, 1),
            "nodes_per_move": float(self.rows[:, ROW.NODES].sum()) / max(moves, 1),
            "seconds": self.wall,
        }


def values_of(rows: NDArray[np.int64], objective: str) -> Values:
    """The objective's value of each game."""
    return OBJECTIVES[objective].of(rows[:, ROW.SCORE], 1 << rows[:, ROW.MAX_RANK])


class Stopped(Exception):
    """The trial's games were cancelled."""


def play_trial(
    agent: Agent, plan: Plan, number: int, pool: ThreadPoolExecutor, workers: int, cancel: NDArray[np.int64], look: Look
) -> Played:
    """The games of trial `number`; `look` is asked after each block. Raises Stopped once `cancel[0]` is 1.

    All trials play the same games, each in an order of its own, drawn from (study's seed, number). What is played
    ahead of a look is thrown away, so the outcome does not depend on the number of workers.
    """
    whole = Task(agent.spec, "random", Rules(), 0, plan.tuning_seed, 0, 1)
    prepare(whole)
    order = np.random.default_rng([plan.seed, number]).permutation(plan.games)
    size = plan.games if plan.pruner.kind == "none" else plan.pruner.block
    start, played = perf_counter(), list[Chunk]()
    with closing(_chunks(whole, order, pool, 2 * workers, cancel)) as chunks:
        while block := list(islice(chunks, size)):
            values = values_of(np.concatenate([chunk.rows for chunk in block]), plan.objectives[0])
            games = order[len(played) : len(played) + len(block)].tolist()
            played += block
            if look(games, values):
                break
    rows = np.concatenate([chunk.rows for chunk in played])
    seconds = np.concatenate([chunk.seconds for chunk in played])
    return Played(order[: len(rows)], rows, seconds, perf_counter() - start, len(rows) < plan.games)


def _chunks(
    whole: Task, order: NDArray[np.int64], pool: ThreadPoolExecutor, ahead: int, cancel: NDArray[np.int64]
) -> Generator[Chunk]:
    """The games in this order, `ahead` of them under way or waiting; the rest is cancelled when nobody asks on."""
    pending: deque[Future[Chunk]] = deque()
    games = iter(order.tolist())
    try:
        for game in games:
            pending.append(pool.submit(run_games, replace(whole, first=game), cancel))
            if len(pending) >= ahead:
                yield _finished(pending.popleft())
        while pending:
            yield _finished(pending.popleft())
    finally:
        cancel[0] = 1
        for future in pending:
            future.cancel()


def _finished(future: Future[Chunk]) -> Chunk:
    chunk = future.result()
    if not len(chunk.rows):
        raise Stopped
    return chunk

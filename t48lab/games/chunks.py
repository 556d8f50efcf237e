"""Chunks of games: a task as plain data, played in any thread or process, by compiled code wherever there is any."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from time import perf_counter, thread_time

import numpy as np
from numpy.typing import NDArray

from t48lab.agents import PlainAgent, Program, make_agent, make_spawner, play_plainly
from t48lab.compiled import load
from t48lab.kernels.layout import ROW, AgentArrays
from t48lab.rules import Rules


@dataclass(frozen=True)
class Task:
    """Games `first`, `first + 1`, ... of a base seed: text and numbers, so that any worker can rebuild the rest."""

    spec: str
    spawner: str
    rules: Rules
    stop_rank: int
    seed: int
    first: int
    count: int


@dataclass(frozen=True)
class Chunk:
    """The finished games of a task: rows as kernels/layout.py numbers them, processor seconds, and the wall time."""

    first: int
    rows: NDArray[np.int64]
    seconds: NDArray[np.float64]
    wall: float


def run_games(task: Task, cancel: NDArray[np.int64], log: NDArray[np.uint8] | None = None) -> Chunk:
    """The finished games of a task; `cancel[0] = 1` from another thread ends it after the current move.

    `log` (uint8, of one game only) takes the moves and spawns, see log.py.
    """
    start = perf_counter()
    agent = make_agent(task.spec)
    if isinstance(agent, PlainAgent):
        return _run_plainly(agent, task, cancel, log)
    program, opponent = programs(task.spec, task.spawner, task.rules)
    rows, seconds = np.zeros((task.count, ROW.SIZE), np.int64), np.zeros(task.count)
    finished = load("gameloop").play_games(
        load(program.kernel).search,
        load(opponent.kernel).search,
        int(opponent is not program),
        int(program.kernel == "random"),
        cleared(program),
        cleared(opponent),
        np.uint64(task.seed),
        task.first,
        task.stop_rank,
        np.uint64(program.purpose),
        rows,
        seconds,
        np.zeros(0, np.uint8) if log is None else log,
        cancel,
    )
    return Chunk(task.first, rows[:finished], seconds[:finished], perf_counter() - start)


def _run_plainly(agent: PlainAgent, task: Task, cancel: NDArray[np.int64], log: NDArray[np.uint8] | None) -> Chunk:
    start, opponent = perf_counter(), make_spawner(task.spawner).compile(task.rules)
    rows, seconds = np.zeros((task.count, ROW.SIZE), np.int64), np.zeros(task.count)
    log = np.zeros(0, np.uint8) if log is None else log
    finished = 0
    for game in range(task.count):
        begun, row = thread_time(), rows[game]
        if not play_plainly(
            agent, opponent, task.rules, task.seed, task.first + game, task.stop_rank, row, log, cancel
        ):
            break
        seconds[game] = thread_time() - begun
        finished += 1
    return Chunk(task.first, rows[:finished], seconds[:finished], perf_counter() - start)


@functools.lru_cache(maxsize=64)
def programs(spec: str, spawner: str, rules: Rules) -> tuple[Program, Program]:
    """The programs of an agent and of its opponent; random spawns need none, then the agent's stands for it."""
    program = make_agent(spec).compile(rules)
    return program, make_spawner(spawner).compile(rules) or program


def prepare(task: Task) -> None:
    """Compiles what the task needs, here and once, before workers ask for it."""
    load("gameloop")
    if not isinstance(make_agent(task.spec), PlainAgent):
        for program in programs(task.spec, task.spawner, task.rules):
            load(program.kernel)


def cleared(program: Program) -> AgentArrays:
    """The program's arrays, this thread's memory for it all zero: a game played twice must not meet its own entries."""
    agent = program.agent()
    agent.memory.fill(0)
    return agent

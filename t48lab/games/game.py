"""Games: play one, write it down, replay it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from t48lab.agents import Agent, Spawner, make_agent, make_spawner
from t48lab.board import Board
from t48lab.errors import T48Error
from t48lab.files import read_text, write_whole
from t48lab.games.chunks import Task, run_games
from t48lab.games.log import FIRST, Spawn, decode
from t48lab.games.rows import played
from t48lab.records import Record, Seed, StopTile, checked, stop_rank
from t48lab.rules import Rules

_LONGEST = 1 << 18
"""More moves than any game has: each adds 2 or more to a sum of tiles that stays below 2^18."""


LARGEST_RECORD = 16_000_000
"""Most bytes of a record's file: three times those of the longest game."""


class GameRecord(Record):
    """A whole game: what was played, by whom, from which seed; plain data that JSON keeps.

    Its numbers are those of a row (see rows.py); `agent` is the spec, which a batch may give another label.
    """

    format: Literal[1] = 1
    agent: str
    agent_key: str
    spawner: str
    seed: int
    game: int
    rules: Rules
    stop_tile: int | None
    score: int
    max_tile: int
    moves: int
    final: str
    ended: str
    nodes: int
    probes: int
    hits: int
    seconds: float
    timed: bool
    actions: tuple[str, ...]
    """The directions played, in order."""
    spawns: tuple[Spawn, ...]
    """(row, column, tile) of the two first tiles and of the spawn after each action."""

    def save(self, path: str | Path) -> Path:
        """The path, which now holds the record as JSON."""
        write_whole(Path(path), f"{self.model_dump_json()}\n".encode())
        return Path(path)

    @classmethod
    def load(cls, path: str | Path) -> GameRecord:
        """The record that a file of at most LARGEST_RECORD bytes holds; raises T48Error when it holds none."""
        try:
            data = json.loads(read_text(Path(path), LARGEST_RECORD))
        except (OSError, ValueError, RecursionError) as error:
            raise T48Error(f"{path} is no record of a game: {error}") from None
        if not isinstance(data, dict):
            raise T48Error(f"{path} is no record of a game: it needs keys such as seed and actions")
        return cls(**data)

    def __str__(self) -> str:
        return repr(self)

    def __repr__(self) -> str:
        return (
            f"GameRecord({self.agent}, seed={self.seed}, game={self.game}: score {self.score:,}, "
            f"max tile {self.max_tile}, {self.moves:,} moves, {self.ended})"
        )


class Position(NamedTuple):
    """A position of a game: the score so far, and the move that was played there (None at the end)."""

    board: Board
    score: int
    action: str | None


def play(
    agent: Agent | str,
    seed: int = 1,
    spawner: Spawner | str = "random",
    rules: Rules = Rules(),
    stop_tile: int | None = None,
    game: int = 0,
) -> GameRecord:
    """One game, the same as game `game` of a batch with this base seed; Ctrl-C ends it after the current move."""
    agent, spawner = make_agent(agent), make_spawner(spawner)
    seed, game = checked(Seed, seed, "seed"), checked(Seed, game, "game")
    stop_tile = checked(StopTile, stop_tile, "stop_tile")
    task = Task(agent.spec, spawner.spec, rules, stop_rank(stop_tile), seed, game, 1)
    log, cancel = np.zeros(_LONGEST, np.uint8), np.zeros(1, np.int64)
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(run_games, task, cancel, log)
        try:
            chunk = future.result()
        except KeyboardInterrupt:
            cancel[0] = 1
            raise
    known = played(chunk, rules)
    actions, spawns = decode(log[: known["moves"] + FIRST])
    return GameRecord(
        agent=agent.spec,
        agent_key=agent.key(rules, stop_tile, spawner),
        spawner=spawner.spec,
        seed=seed,
        rules=rules,
        stop_tile=stop_tile,
        timed=agent.timed,
        actions=actions,
        spawns=spawns,
        **known,
    )


def replay(record: GameRecord) -> Iterator[Position]:
    """The positions of a game in order, the one after the two first tiles first; raises T48Error.

    The error comes where a move is illegal, a spawn falls on a tile, or the end is not what the record says.
    """
    needed = len(record.actions) + FIRST
    if len(record.spawns) != needed:
        raise T48Error(f"the record has {len(record.spawns)} spawns, {needed} are needed")
    board, score = Board(rows=record.rules.rows, cols=record.rules.cols), 0
    for spawn in record.spawns[:FIRST]:
        board = _spawned(board, spawn)
    for action, spawn in zip(record.actions, record.spawns[FIRST:], strict=True):
        yield Position(board, score, action)
        move = board.move(action)
        board, score = _spawned(move.afterstate, spawn), score + move.reward
    reached, stated = (board.hex, score, len(record.actions)), (record.final, record.score, record.moves)
    if reached != stated:
        raise T48Error(f"the record says (final, score, moves) = {stated}, its moves lead to {reached}")
    yield Position(board, score, None)


def _spawned(board: Board, spawn: Spawn) -> Board:
    for *place, after in board.spawns():
        if tuple(place) == spawn:
            return after
    row, col, tile = spawn
    raise T48Error(f"the record spawns {tile} at row {row}, column {col} of {board.hex}, which cannot be")

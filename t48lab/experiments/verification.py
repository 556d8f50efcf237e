"""Verifying a results folder: parts and tables are what was written, and games come out again from seed and agent.

A part that is damaged, foreign or newer is refused when it is read, see store.py. What is left to ask is whether
the rows are true: whether each could be a game at all, whether the tables follow from the rows, and, for a sample,
whether the agent plays that very game again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from t48lab.agents import AGENTS, Agent, Spawner, make_spawner
from t48lab.analysis import pairs, summary
from t48lab.board import Board
from t48lab.errors import T48Error
from t48lab.experiments.store import Store
from t48lab.games import COLUMNS, iter_batch
from t48lab.kernels import sources
from t48lab.rules import Rules

if TYPE_CHECKING:
    import pandas as pd

REPLAYED = [column.name for column in COLUMNS if column.replayed == "always"]
"""Columns that a replay must repeat, in the order in which differences are reported."""
COUNTED = [column.name for column in COLUMNS if column.replayed == "same kernels"]
SAMPLE = 2
"""Games of each agent and spawner that are replayed, unless told otherwise."""

_CLOSE = 1e-9


@dataclass(frozen=True)
class Verified:
    """What was found in order."""

    games: int
    agents: int
    replayed: int
    timed: int
    recounted: int
    tables: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """One line for people."""
        tables = f"; {' and '.join(self.tables)} follow from them" if self.tables else ""
        counts = f"; {self.recounted:,} of them took other kernels more or fewer nodes" if self.recounted else ""
        timed = f"; {self.timed:,} games of timed agents cannot be replayed" if self.timed else ""
        return (
            f"verified: {self.games:,} games of {self.agents} agents are intact{tables}; "
            f"{self.replayed:,} replayed without a difference{counts}{timed}"
        )


@dataclass(frozen=True)
class _Player:
    """Who played some rows, rebuilt from the manifest."""

    label: str
    agent: Agent
    spawner: Spawner
    rules: Rules
    stop_tile: int | None


def verify(
    folder: str | Path, games: int = SAMPLE, seed: int = 0, workers: int | None = None, progress: bool = False
) -> Verified:
    """What is in order in a folder, after replaying `games` games of each agent and spawner, drawn with `seed`.

    Raises T48Error that names the first difference. Rows of timed agents are checked but not replayed.
    """
    store = Store(folder)
    frame, manifest = store.frame(), store.manifest()
    if frame.empty:
        raise T48Error(f"{folder} holds no games, give the folder of an experiment that has been run")
    for row in frame.to_dict("records"):
        _check_row(row)
    sample = list(_sample(frame, manifest, games, seed))
    tables = tuple(_check_tables(store, store.asked(), frame))
    same_kernels = all(run.get("kernels") == sources() for run in manifest.get("runs", []))
    columns = REPLAYED + COUNTED if same_kernels else REPLAYED
    replayed = recounted = 0
    for case in sample:
        for stored, played in _replays(*case, workers, progress):
            _compare_game(stored, played, columns)
            replayed += 1
            recounted += bool(_difference(stored, played, COUNTED))
    timed = int(frame["timed"].sum())
    return Verified(len(frame), frame["agent_key"].nunique(), replayed, timed, recounted, tables)


def _check_row(row: dict[Any, Any]) -> None:
    """Raises T48Error when no game ends like this.

    The tiles of the final board are worth sum (rank - 1) 2^rank points, less 4 for each 4 that was spawned.
    """
    try:
        board = Board.parse(row["final"])
    except T48Error as error:
        raise T48Error(f"{_named(row)}: final is no board: {error}") from None
    ranks = board.ranks().ravel()
    most = int(((ranks - 1) * (1 << ranks))[ranks > 0].sum())
    fours, rest = divmod(most - row["score"], 4)
    if board.max_tile != row["max_tile"]:
        raise T48Error(f"{_named(row)}: max_tile is stored as {row['max_tile']}, {board.hex} shows {board.max_tile}")
    if rest or not 0 <= fours <= row["moves"] + 2:
        raise T48Error(f"{_named(row)}: no game ends on {board.hex} with {row['score']} points")
    if row["ended"] == "no legal move" and not board.is_over:
        raise T48Error(f"{_named(row)}: {board.hex} is stored as an end and has a legal move")


def _check_tables(store: Store, asked: pd.DataFrame, frame: pd.DataFrame) -> Iterator[str]:
    """The names of the tables that are there and follow from the games; raises T48Error for one that does not.

    They are of the games that were asked for, or of all, as `report --older` writes them.
    """
    compute: dict[str, Callable[[pd.DataFrame, pd.DataFrame], pd.DataFrame]] = {
        "summary": lambda games, _: summary(games),
        "pairs": lambda games, stored: pairs(games, stored["baseline"].iloc[0]),
    }
    for name, table in compute.items():
        stored = store.read_table(name)
        if stored is not None and len(stored):
            try:
                _compare_tables(store.folder / f"{name}.csv", stored, table(asked, stored))
            except T48Error:
                if len(asked) == len(frame):
                    raise
                _compare_tables(store.folder / f"{name}.csv", stored, table(frame, stored))
            yield f"{name}.csv"


def _compare_tables(path: Path, stored: pd.DataFrame, computed: pd.DataFrame) -> None:
    if list(stored.columns) != list(computed.columns) or len(stored) != len(computed):
        raise T48Error(f"{path} has other rows or columns than its games give, write it again with `t48lab report`")
    for column in computed.columns:
        for there, here in zip(stored[column], computed[column], strict=True):
            if not _same(there, here):
                raise T48Error(f"{path}: {column} is stored as {there}, the games give {here}")


def _same(there: str, here: Any) -> bool:
    if not isinstance(here, (int, float)):
        return there == str(here)
    try:
        number = float(there or "nan")
    except ValueError:
        return False
    return bool(np.isclose(number, here, rtol=_CLOSE, atol=_CLOSE, equal_nan=True))


def _sample(
    frame: pd.DataFrame, manifest: dict[str, Any], games: int, seed: int
) -> Iterator[tuple[_Player, pd.DataFrame]]:
    """Each player with the rows to replay, by label, spawner, seed and game."""
    draw = np.random.default_rng(seed)
    known = {
        key: (label, agent, spec)
        for label, agent in manifest.get("agents", {}).items()
        for spec, key in agent["agent_keys"].items()
    }
    for key, rows in frame[~frame["timed"]].groupby("agent_key", sort=False):
        if key not in known:
            raise T48Error(f"{_named(rows.iloc[0])}: manifest.json does not know agent_key {key}, restore it")
        chosen = np.sort(draw.permutation(len(rows))[:games])
        yield _player(str(key), *known[str(key)], manifest), rows.iloc[chosen]


def _player(key: str, label: str, agent: dict[str, Any], spawner: str, manifest: dict[str, Any]) -> _Player:
    """The player of the manifest's parameters; raises T48Error when they are not those that its key stands for."""
    rules, stop_tile = Rules(**manifest.get("rules", {})), manifest.get("stop_tile")
    player = _Player(label, _agent(agent["parameters"]), make_spawner(spawner), rules, stop_tile)
    if player.agent.key(rules, stop_tile, player.spawner) != key:
        raise T48Error(
            f"{label}: the parameters in manifest.json do not make agent_key {key}: they were changed, "
            "or another engine played these games"
        )
    return player


def _agent(parameters: dict[str, Any]) -> Agent:
    """The agent of resolved parameters: its stored weights, whatever a preset's name stands for by now."""
    kind = AGENTS.get(parameters["name"])
    if kind is None:
        raise T48Error(f"manifest.json has an agent of kind {parameters['name']!r}, which this t48lab does not know")
    return kind(**{key: value for key, value in parameters.items() if key != "name"})


def _replays(
    player: _Player, rows: pd.DataFrame, workers: int | None, progress: bool
) -> Iterator[tuple[dict[Any, Any], dict[Any, Any]]]:
    """Each stored game with the same game played again."""
    for seed, stored in rows.groupby("seed"):
        games = stored.set_index("game")
        last = int(games.index.max())
        parts = iter_batch(
            player.agent,
            last + 1,
            int(str(seed)),
            workers,
            None,
            player.spawner,
            player.rules,
            player.stop_tile,
            progress,
            set(range(last + 1)) - set(games.index),
            f"verify {player.label}",
        )
        played = {row["game"]: row for part in parts for row in part.to_dict("records")}
        for game, row in games.to_dict("index").items():
            yield {**row, "game": game, "seed": seed}, played[game]


def _compare_game(stored: dict[Any, Any], played: dict[Any, Any], columns: list[str]) -> None:
    if column := _difference(stored, played, columns):
        raise T48Error(f"{_named(stored)}: {column} is stored as {stored[column]}, replayed as {played[column]}")


def _difference(stored: dict[Any, Any], played: dict[Any, Any], columns: list[str]) -> str | None:
    """The first of these columns that differs; one that is NaN was stored before there was such a column."""
    known = (column for column in columns if stored[column] == stored[column])
    return next((column for column in known if stored[column] != played[column]), None)


def _named(row: Any) -> str:
    return f"game {row['game']} of {row['agent']} (seed {row['seed']})"

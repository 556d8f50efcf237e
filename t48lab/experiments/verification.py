"""Verifying a results folder: parts and tables are what was written, and games come out again from seed and agent.

A part that is damaged, foreign or newer is refused when it is read, see store.py. What is left to ask is whether
the rows are true: whether each could be a game at all, whether the tables follow from the rows, and, for a sample,
whether the agent plays that very game again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from t48lab.errors import T48Error
from t48lab.experiments.possible import Player, check_row, named, players
from t48lab.experiments.store import Store, as_cell
from t48lab.experiments.tables import TABLES, make_tables
from t48lab.games import COLUMNS, iter_batch
from t48lab.kernels import sources

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
        tables = f"; {_listed(self.tables)} from them" if self.tables else ""
        counts = f"; {self.recounted:,} of them took other kernels more or fewer nodes" if self.recounted else ""
        timed = f"; {self.timed:,} games of timed agents cannot be replayed" if self.timed else ""
        return (
            f"verified: {self.games:,} games of {self.agents} agents are intact{tables}; "
            f"{self.replayed:,} replayed without a difference{counts}{timed}"
        )


def _listed(tables: tuple[str, ...]) -> str:
    *most, last = tables
    return f"{', '.join(most)} and {last} follow" if most else f"{last} follows"


def verify(
    folder: str | Path, games: int = SAMPLE, seed: int = 0, workers: int | None = None, progress: bool = False
) -> Verified:
    """What is in order in a folder, after replaying `games` games of each agent and spawner, drawn with `seed`.

    Raises T48Error that names the first difference. Rows of timed agents are checked but not replayed.
    """
    store = Store(folder)
    frame, manifest = store.finished(), store.manifest()
    known = players(frame, manifest)
    for row in frame.to_dict("records"):
        check_row(row, known[row["agent_key"]])
    tables = _checked_tables(store, frame, manifest.get("baseline"))
    same_kernels = all(run.get("kernels") == sources() for run in manifest.get("runs", []))
    columns = REPLAYED + COUNTED if same_kernels else REPLAYED
    replayed = recounted = 0
    for case in _sample(frame, known, games, seed):
        for stored, played in _replays(*case, workers, progress):
            _compare_game(stored, played, columns)
            replayed += 1
            recounted += bool(_difference(stored, played, COUNTED))
    timed = int(frame["timed"].sum())
    return Verified(len(frame), frame["agent_key"].nunique(), replayed, timed, recounted, tables)


def _checked_tables(store: Store, frame: pd.DataFrame, baseline: str | None) -> tuple[str, ...]:
    """The tables that follow from the games that were asked for, or from all, as `report --older` writes them."""
    asked = store.asked()
    try:
        return tuple(_check_tables(store, asked, baseline))
    except T48Error:
        if len(asked) == len(frame):
            raise
        return tuple(_check_tables(store, frame, baseline))


def _check_tables(store: Store, frame: pd.DataFrame, baseline: str | None) -> Iterator[str]:
    """The names of the tables that are there and follow from the games; raises T48Error for one that does not.

    The baseline of pairs.csv is its own, since a report may have been asked for another than the experiment's.
    """
    read = {name: store.read_table(name) for name in TABLES}
    stored = {name: table for name, table in read.items() if table is not None}
    against = stored.get("pairs", frame[:0]).get("baseline")
    cells = {as_cell(label): label for label in frame["agent"].unique()}
    if against is not None and len(against):
        baseline = cells.get(against.iloc[0])
    computed = make_tables(frame, baseline if baseline in cells.values() else None, stored)
    for name, table in stored.items():
        _compare_tables(store.folder / f"{name}.csv", table, computed[name])
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
        return there == str(as_cell(here))
    try:
        number = float(there or "nan")
    except ValueError:
        return False
    return bool(np.isclose(number, here, rtol=_CLOSE, atol=_CLOSE, equal_nan=True))


def _sample(
    frame: pd.DataFrame, known: dict[str, Player], games: int, seed: int
) -> Iterator[tuple[Player, pd.DataFrame]]:
    """Each player that can play its games again, with the rows to replay, by spawner, seed and game."""
    draw = np.random.default_rng(seed)
    for key, rows in frame.groupby("agent_key", sort=False):
        if not known[str(key)].agent.timed:
            chosen = np.sort(draw.permutation(len(rows))[:games])
            yield known[str(key)], rows.iloc[chosen]


def _replays(
    player: Player, rows: pd.DataFrame, workers: int | None, progress: bool
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
        raise T48Error(f"{named(stored)}: {column} is stored as {stored[column]}, replayed as {played[column]}")


def _difference(stored: dict[Any, Any], played: dict[Any, Any], columns: list[str]) -> str | None:
    """The first of these columns that differs; one that is NaN was stored before there was such a column."""
    known = (column for column in columns if stored[column] == stored[column])
    return next((column for column in known if stored[column] != played[column]), None)

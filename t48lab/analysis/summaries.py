"""The summary of finished games: a row an agent, its columns in one table of records.

A column more is one more record in STATISTICS: summary.csv, the report's table and `verify` follow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from t48lab.analysis.numbers import percent, short, whole
from t48lab.analysis.stats import GROUP, TILES, Interval, mean_interval, need, share_interval


@dataclass(frozen=True)
class Statistic:
    """A column of the summary: a number from an agent's games, with `ends` two more for its 95% interval.

    A report heads it `heading`, none without one, and writes it by `show`; `one_of_many` columns give way where it
    is narrow, and the `speed` of a machine stands behind everything else.
    """

    name: str
    compute: Callable[[pd.DataFrame], float]
    interval: Callable[[pd.DataFrame], Interval] | None = None
    ends: tuple[str, str] | None = None
    heading: str = ""
    show: Callable[[float], str] = short
    one_of_many: bool = False
    speed: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns."""
        return (self.name, *(self.ends or ()))

    def of(self, games: pd.DataFrame) -> dict[str, Any]:
        """Its numbers by column."""
        ends = self.interval(games) if self.interval else ()
        return dict(zip(self.columns, (self.compute(games), *ends), strict=True))


def _rate(tile: int) -> Statistic:
    name = f"rate_{tile}"

    def reached(games: pd.DataFrame) -> int:
        return int((games["max_tile"].to_numpy() >= tile).sum())

    return Statistic(
        name,
        lambda games: reached(games) / len(games),
        lambda games: share_interval(reached(games), len(games)),
        (f"{name}_low", f"{name}_high"),
        str(tile),
        percent,
        one_of_many=True,
    )


def _scores(games: pd.DataFrame) -> Any:
    return games["score"].to_numpy(float)


def _sum(games: pd.DataFrame, column: str) -> float:
    return float(games[column].sum())


def _ms_per_move(games: pd.DataFrame) -> float:
    seconds, moves = _sum(games, "seconds"), _sum(games, "moves")
    return 1000 * seconds / moves if moves and seconds > 0 else np.nan


def _moves_per_s(games: pd.DataFrame) -> float:
    seconds = _sum(games, "seconds")
    return _sum(games, "moves") / seconds if seconds > 0 else np.nan


def _nodes_per_move(games: pd.DataFrame) -> float:
    moves = _sum(games, "moves")
    return _sum(games, "nodes") / moves if moves else np.nan


STATISTICS = [
    Statistic("games", len, heading="games", show=str),
    Statistic(
        "mean_score",
        lambda games: _scores(games).mean(),
        lambda games: mean_interval(_scores(games)),
        ("mean_low", "mean_high"),
        "mean score",
        whole,
    ),
    Statistic("median_score", lambda games: float(np.median(_scores(games))), heading="median", show=whole),
    *map(_rate, TILES),
    Statistic("mean_moves", lambda games: _sum(games, "moves") / len(games), heading="moves", show=whole),
    Statistic("moves_per_s", _moves_per_s),
    Statistic("ms_per_move", _ms_per_move, heading="µs/move", show=lambda ms: short(1000 * ms), speed=True),
    Statistic("nodes_per_move", _nodes_per_move, heading="nodes/move"),
]


def summary_columns() -> list[str]:
    """The columns of `summary` in order."""
    return [*GROUP, *(column for statistic in STATISTICS for column in statistic.columns)]


def summary(games: pd.DataFrame) -> pd.DataFrame:
    """One row an agent and spawner, in order of appearance, with the columns `summary_columns()`.

    Scores are points, speeds are per second of processor time. `mean_low` and `mean_high` are a
    bootstrap interval (see `mean_interval`), `rate_T` is the share of games whose largest tile is at
    least T with its Wilson interval. Speeds are NaN where no time was measured.
    """
    need(games, [*GROUP, "score", "max_tile", "moves", "nodes", "seconds"])
    rows = [_describe(group) for _, group in games.groupby(GROUP, sort=False)]
    return pd.DataFrame(rows, columns=summary_columns())


def _describe(group: pd.DataFrame) -> dict[str, Any]:
    row = {column: group[column].iloc[0] for column in GROUP}
    for statistic in STATISTICS:
        row |= statistic.of(group)
    return row

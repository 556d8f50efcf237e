"""The tables that follow from an experiment's games, by name: what `report` writes and `verify` computes again."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from t48lab.analysis import correlations, pairs, pareto_front, summary

if TYPE_CHECKING:
    import pandas as pd

TABLES = ("summary", "pairs", "correlations", "front")


def make_tables(
    games: pd.DataFrame, baseline: str | None = None, names: Collection[str] = TABLES
) -> dict[str, pd.DataFrame]:
    """The tables of these names; the baseline is the first agent by default.

    `front` has the rows of `summary` that nothing faster beats.
    """
    tables = {}
    if {"summary", "front"} & set(names):
        tables["summary"] = summary(games)
    if "pairs" in names:
        tables["pairs"] = pairs(games, baseline or str(games["agent"].iloc[0]))
    if "correlations" in names:
        tables["correlations"] = correlations(games)
    if "front" in names:
        tables["front"] = pareto_front(tables["summary"], "ms_per_move", "mean_score")
    return {name: tables[name] for name in TABLES if name in names}

"""The figures of a report, each a drawing under its name; one more is one more call of `figure`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from t48lab import analysis
from t48lab.experiments.table_memory import table_sizes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Findings(NamedTuple):
    """What a report shows: the games, its tables by name, and the group of each agent's label."""

    games: pd.DataFrame
    tables: dict[str, pd.DataFrame]
    groups: dict[str, str]


Draw = Callable[[Findings], "Axes | None"]
"""Axes with what was found; None when it has nothing to show."""

MOST = 40
"""Agents that a figure shows at most: more can be neither read nor drawn in reasonable memory."""

FIGURES: dict[str, Draw] = {}
"""The drawings by name, in a report's order."""


def foremost(found: Findings, most: int = MOST) -> tuple[Findings, str]:
    """What figures have room for, the agents with the highest mean scores, and what to say of the others."""
    table = found.tables["summary"]
    best = table.groupby("agent", sort=False)["mean_score"].max()
    if len(best) <= most:
        return found, ""
    kept = set(best.nlargest(most).index)
    tables = {name: rows[rows["agent"].isin(kept)] for name, rows in found.tables.items()}
    tables["correlations"] = tables["correlations"][tables["correlations"]["other"].isin(kept)]
    words = f"The {most} of {len(best)} agents with the highest mean scores; the tables have all."
    return Findings(found.games[found.games["agent"].isin(kept)], tables, found.groups), words


def figure(name: str) -> Callable[[Draw], Draw]:
    """What makes a drawing the figure of this name in every report from now on."""

    def keep(draw: Draw) -> Draw:
        FIGURES[name] = draw
        return draw

    return keep


def write_figures(found: Findings, folder: Path) -> list[str]:
    """Names of the figures that are now in the folder, each as PNG and SVG."""
    names, (shown, left_out) = [], foremost(found)
    for name, draw in FIGURES.items():
        axes = draw(shown)
        if axes is not None:
            if left_out:
                analysis.remark(axes, left_out)
            analysis.write_figure(axes, folder, name)
            names.append(name)
    return names


@figure("scores")
def _scores(found: Findings) -> Axes | None:
    return analysis.plot_scores(found.games)


@figure("rates")
def _rates(found: Findings) -> Axes | None:
    return analysis.plot_rates(found.tables["summary"])


@figure("speed")
def _speed(found: Findings) -> Axes | None:
    table = found.tables["summary"]
    return analysis.plot_speed(table, front=found.tables["front"]) if table["ms_per_move"].notna().any() else None


@figure("differences")
def _differences(found: Findings) -> Axes | None:
    table = found.tables["pairs"]
    return analysis.plot_differences(table) if len(table) else None


@figure("correlations")
def _correlations(found: Findings) -> Axes | None:
    table = found.tables["correlations"]
    return analysis.plot_correlations(_of_first_spawner(table)) if len(table) else None


@figure("table_sizes")
def _table_sizes(found: Findings) -> Axes | None:
    sizes = table_sizes(found.games)
    return analysis.plot_table_sizes(sizes) if _has_sizes(sizes) else None


@figure("curves")
def _curves(found: Findings) -> Axes | None:
    """A line a family, where there are two or more; a study of table sizes has another figure for that."""
    if _has_sizes(table_sizes(found.games)):
        return None
    lines = analysis.curves(_of_first_spawner(found.games), _families(found))
    several = lines["group"].nunique() > 1
    return analysis.plot_curves(lines, front=found.tables["front"]) if several else None


def _has_sizes(sizes: pd.DataFrame) -> bool:
    return sizes["table_bits"].nunique() > 2


def _of_first_spawner(table: pd.DataFrame) -> pd.DataFrame:
    first: pd.DataFrame = table[table["spawner"] == table["spawner"].iloc[0]]
    return first


def _families(found: Findings) -> dict[str, str]:
    """The groups by agent, without those that are not three or more agents of one kind: a line could not join them."""
    agents = found.games.drop_duplicates("agent").set_index("agent")
    kinds = agents["spec"].str.partition(":")[0].groupby(agents.index.map(found.groups))
    joined = set(kinds.size()[(kinds.size() > 2) & (kinds.nunique() == 1)].index) - {""}
    return {agent: group for agent, group in found.groups.items() if group in joined}

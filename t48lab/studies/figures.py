"""The figures of a study's folder, from its tables."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import pandas as pd

from t48lab.analysis import pareto_front
from t48lab.studies.study import Plan

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLUMNS = 3
_MOST_MAPPED = 5


class Tables(NamedTuple):
    """What a study's figures show; `confirmed` and `sensitivity` are None before a study is confirmed."""

    trials: pd.DataFrame
    importances: pd.DataFrame
    spread: pd.DataFrame
    confirmed: pd.DataFrame | None = None
    sensitivity: pd.DataFrame | None = None


def write_figures(plan: Plan, tables: Tables, folder: Path) -> list[str]:
    """Names of the figures that are now in the folder, each as PNG and SVG."""
    from t48lab.analysis import write_figure

    drawings = _drawings(plan, tables)
    for name, draw in drawings.items():
        write_figure(draw(), folder, name)
    return list(drawings)


def _drawings(plan: Plan, tables: Tables) -> dict[str, Callable[[], Axes]]:
    from t48lab import analysis as draw

    trials, objective, logs = tables.trials, plan.objectives[0], {free.name: free.log for free in plan.space}
    if trials.empty:
        return {}
    drawings: dict[str, Callable[[], Axes]] = {
        "history": lambda: draw.plot_history(trials, objective=objective),
        "slices": lambda: panels(
            list(logs), lambda name, ax: draw.plot_slice(trials, name, log=logs[name], objective=objective, ax=ax)
        ),
        "spread": lambda: draw.plot_spread(tables.spread),
    }
    if len(tables.importances):
        drawings["importances"] = lambda: draw.plot_importances(tables.importances)
    mapped = list(itertools.combinations([*tables.importances["parameter"], *logs][: min(_MOST_MAPPED, len(logs))], 2))
    if mapped:
        drawings["maps"] = lambda: panels(
            mapped, lambda pair, ax: draw.plot_map(trials, *pair, log=(logs[pair[0]], logs[pair[1]]), ax=ax)
        )
    if len(plan.objectives) > 1:
        front = pareto_front(trials, plan.objectives[1], "mean")
        drawings["front"] = lambda: draw.plot_front(trials, front, plan.objectives[1], objective=objective)
    if tables.confirmed is not None:
        drawings["confirmed"] = lambda: draw.plot_confirmed(cast(pd.DataFrame, tables.confirmed))
    return drawings | _sensitivity(tables.sensitivity, logs, objective)


def _sensitivity(found: pd.DataFrame | None, logs: dict[str, bool], objective: str) -> dict[str, Callable[[], Axes]]:
    from t48lab import analysis as draw

    if found is None or found.empty:
        return {}
    names = list(dict.fromkeys(found["parameter"]))

    def one(name: str, ax: Axes) -> Axes:
        return draw.plot_sensitivity(found, name, log=logs[name], objective=objective, ax=ax)

    return {"sensitivity": lambda: panels(names, one)}


def panels(items: Sequence[Any], draw: Callable[[Any, Axes], Axes]) -> Axes:
    """The first axes of a new figure of small drawings: `draw(item, ax)` for each item, two or three in a row."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    from t48lab.analysis import STYLE

    columns = 2 if len(items) == 4 else min(_COLUMNS, len(items))
    rows = -(-len(items) // columns)
    with mpl.rc_context(cast(Any, STYLE)):
        _, grid = plt.subplots(rows, columns, figsize=(3.9 * columns, 3.2 * rows), squeeze=False)
    for ax, item in itertools.zip_longest(grid.flat, items):
        if item is None:
            ax.set_visible(False)
        else:
            draw(item, ax)
    return cast("Axes", grid.flat[0])

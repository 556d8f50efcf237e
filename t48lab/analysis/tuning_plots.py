"""Figures of studies, drawn like those of plots.py: frames in, axes out, nothing computed but places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.ticker import FuncFormatter, MaxNLocator

from t48lab.analysis.objectives import OBJECTIVES
from t48lab.analysis.plots import log_points, new_axes, short_points, styled
from t48lab.plaintext import for_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TRIAL, BEST, BASELINE, FAINT = "#0072B2", "#D55E00", "#009E73", "#9a9a9a"
_JITTER = {"x": 0.754878, "y": 0.569840}


@styled
def plot_history(frame: pd.DataFrame, *, objective: str = "mean_score", ax: Axes | None = None) -> Axes:
    """Axes with the mean of each trial (a frame of trials.parquet) by number, with 95% intervals and the best so far.

    Rings are trials that were pruned: their means are of fewer games.
    """
    ax = ax or new_axes(7.6, 4.2)
    pruned = frame["pruned"].to_numpy(bool)
    for part, color, fill in ((frame[pruned], FAINT, "none"), (frame[~pruned], TRIAL, TRIAL)):
        ax.vlines(part["trial"], part["low"], part["high"], color=color, linewidth=0.7, alpha=0.5)
        ax.scatter(part["trial"], part["mean"], s=14, facecolors=fill, edgecolors=color, linewidths=0.8, zorder=3)
    starts = frame[frame["start"]]
    ax.scatter(starts["trial"], starts["mean"], marker="D", s=42, color=BASELINE, zorder=4, label="baseline")
    ax.plot(frame["trial"], frame["best"], drawstyle="steps-post", color=BEST, label="largest mean so far", zorder=2)
    if len(frame):
        top, bottom = frame["mean"].max(), frame["mean"].min()
        ax.set_ylim(bottom - 0.08 * (top - bottom or 1), top + 0.25 * (top - bottom or 1))
    ax.yaxis.set_major_formatter(FuncFormatter(short_points))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("trial")
    ax.set_ylabel(OBJECTIVES[objective].label)
    ax.legend(loc="lower right")
    ax.set_title(f"{len(frame)} trials of at most {_most(frame)} games, 95% intervals; rings: {pruned.sum()} pruned")
    return ax


def _most(frame: pd.DataFrame) -> int:
    return int(frame["n"].max()) if len(frame) else 0


@styled
def plot_importances(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Axes with the importance of each parameter (a frame of `importances`) as bars, the largest on top."""
    ax = ax or new_axes(6.4, 1.3 + 0.36 * len(frame))
    places = np.arange(len(frame))
    ax.barh(places, frame["importance"].to_numpy(float), color=TRIAL, height=0.62)
    ax.set_yticks(places, list(map(for_figure, frame["parameter"])))
    ax.invert_yaxis()
    ax.grid(visible=False, axis="y")
    name, trials = (frame["evaluator"].iloc[0], frame["trials"].iloc[0]) if len(frame) else ("", 0)
    ax.set_xlabel(f"share of the importance, by {name}")
    ax.set_title(f"What told good trials from bad ones; {trials} trials")
    return ax


@styled
def plot_slice(
    frame: pd.DataFrame,
    parameter: str,
    *,
    log: bool = False,
    objective: str = "mean_score",
    ax: Axes | None = None,
) -> Axes:
    """Axes with each trial's mean against one parameter; darker trials are later, rings were pruned."""
    ax = ax or new_axes(4.2, 3.4)
    x = _places(ax, "x", frame[parameter], log)
    pruned = frame["pruned"].to_numpy(bool)
    shades = mpl.colormaps["Blues"](np.linspace(0.3, 1.0, max(len(frame), 1)))[: len(frame)]
    y = frame["mean"].to_numpy(float)
    ax.scatter(x[pruned], y[pruned], s=12, facecolors="none", edgecolors=FAINT, linewidths=0.7)
    ax.scatter(x[~pruned], y[~pruned], s=18, c=shades[~pruned], linewidths=0, zorder=3)
    ax.yaxis.set_major_formatter(FuncFormatter(short_points))
    ax.set_xlabel(for_figure(parameter) + (" [log scale]" if log else ""))
    ax.set_ylabel(OBJECTIVES[objective].label)
    ax.set_title("darker: later; rings: pruned")
    return ax


@styled
def plot_map(
    frame: pd.DataFrame,
    first: str,
    second: str,
    *,
    log: tuple[bool, bool] = (False, False),
    ax: Axes | None = None,
) -> Axes:
    """Axes with trials over two parameters, coloured by the rank of their means: the best are yellow."""
    ax = ax or new_axes(4.0, 3.6)
    x = _places(ax, "x", frame[first], log[0])
    y = _places(ax, "y", frame[second], log[1])
    order = np.argsort(frame["mean"].to_numpy(float))
    ranks = np.linspace(0, 1, max(len(frame), 1))[: len(frame)]
    ax.scatter(x[order], y[order], s=16, c=ranks, cmap="viridis", linewidths=0)
    ax.set_xlabel(for_figure(first))
    ax.set_ylabel(for_figure(second))
    ax.set_title("lighter: larger mean")
    return ax


def _places(ax: Axes, axis: Literal["x", "y"], values: pd.Series[Any], log: bool) -> np.ndarray[Any, Any]:
    """Where values lie on an axis, which is logarithmic, linear, or has a tick a choice."""
    lines = getattr(ax, f"{axis}axis")
    if pd.api.types.is_numeric_dtype(values):
        numbers: np.ndarray[Any, Any] = values.to_numpy(float)
        if log:
            log_points(ax, axis, numbers)
        else:
            lines.set_major_formatter(FuncFormatter(short_points))
        return numbers
    names = sorted(set(values), key=lambda name: (not name.isdigit(), int(name) if name.isdigit() else 0, name))
    lines.set_ticks(range(len(names)), names)
    jitter = 0.25 * (2 * (np.arange(len(values)) * _JITTER[axis] % 1) - 1)
    places: np.ndarray[Any, Any] = np.array([names.index(value) for value in values]) + jitter
    return places


@styled
def plot_sensitivity(
    frame: pd.DataFrame, parameter: str, *, log: bool = False, objective: str = "mean_score", ax: Axes | None = None
) -> Axes:
    """Axes with the objective against one parameter around the winner (a frame of `sensitivity`), 95% intervals."""
    ax = ax or new_axes(4.2, 3.4)
    part = frame[frame["parameter"] == parameter]
    x = _levels(ax, part["value"], log)
    ax.vlines(x, part["low"], part["high"], color=TRIAL, linewidth=1.4)
    ax.plot(x, part["mean"], "o-", color=TRIAL, markersize=4, linewidth=1)
    own = part["own"].to_numpy(bool)
    ax.plot(x[own], part.loc[own, "mean"], "D", color=BEST, markersize=7, zorder=4)
    ax.yaxis.set_major_formatter(FuncFormatter(short_points))
    ax.set_xlabel(for_figure(parameter) + (" [log scale]" if log else ""))
    ax.set_ylabel(OBJECTIVES[objective].label)
    return ax


def _levels(ax: Axes, values: pd.Series[Any], log: bool) -> np.ndarray[Any, Any]:
    numbers = pd.to_numeric(values, errors="coerce")
    if numbers.isna().any():
        ax.set_xticks(range(len(values)), list(values))
        return np.arange(len(values), dtype=float)
    return _places(ax, "x", numbers, log)


@styled
def plot_front(
    frame: pd.DataFrame, front: pd.DataFrame, cost: str, *, objective: str = "mean_score", ax: Axes | None = None
) -> Axes:
    """Axes with each trial's mean against its cost; `front`, joined by a line, holds those that none beats at both."""
    ax = ax or new_axes(6.8, 4.6)
    ax.scatter(frame[cost], frame["mean"], s=14, color=FAINT, linewidths=0)
    ax.vlines(front[cost], front["low"], front["high"], color=BEST, linewidth=1)
    ax.plot(front[cost], front["mean"], "o-", color=BEST, markersize=5, linewidth=1, label="none cheaper and better")
    starts = frame[frame["start"]]
    ax.scatter(starts[cost], starts["mean"], marker="D", s=42, color=BASELINE, zorder=4)
    log_points(ax, "x", frame[cost].to_numpy(float))
    ax.yaxis.set_major_formatter(FuncFormatter(short_points))
    ax.set_xlabel(OBJECTIVES[cost].label)
    ax.set_ylabel(OBJECTIVES[objective].label)
    ax.legend(loc="lower right")
    ax.set_title(f"{len(frame)} trials of {_most(frame)} games, the front with 95% intervals")
    return ax


@styled
def plot_spread(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Axes with where the best trials lie in each parameter's range (a frame of `spread`, choices left out)."""
    part = frame.dropna(subset=["median"]) if "median" in frame else frame.head(0)
    ax = ax or new_axes(6.4, 1.4 + 0.4 * len(part))
    places = np.arange(len(part))
    ax.hlines(places, 0, 1, color="#dddddd", linewidth=1)
    if len(part):
        ax.hlines(places, part["at_low"], part["at_high"], color=TRIAL, linewidth=1.6)
        ax.hlines(places, part["at_quarter"], part["at_three_quarters"], color=TRIAL, linewidth=7, alpha=0.5)
        ax.plot(part["at_median"], places, "o", color=BEST)
    ax.set_yticks(places, [for_figure(row["parameter"]) + " (log)" * bool(row["log"]) for _, row in part.iterrows()])
    ax.set_ylim(len(part) - 0.4, -0.6)
    ax.grid(visible=False, axis="y")
    ax.set_xticks([0, 0.5, 1], ["low end", "middle", "high end"])
    ax.set_xlabel("place in the range that the study searched")
    count = int(part["trials"].iloc[0]) if len(part) else 0
    ax.set_title(f"The {count} best trials: all, their middle half, their median")
    return ax


@styled
def plot_confirmed(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Axes with three figures of each trial and baseline (a frame of confirm.csv), each with its 95% interval.

    From top to bottom: of the games that chose it among all trials, of those that chose among the best, and of
    games that chose nothing.
    """
    agents = list(dict.fromkeys(frame["agent"]))
    ax = ax or new_axes(7.2, 1.5 + 0.62 * len(agents))
    first = frame[frame["stage"] == "confirm"].set_index("agent")
    last = frame[frame["stage"] == "report"].set_index("agent")
    kinds = (
        ("its own games, the optimist's figure", first, "tuning_value", "tuning_low", "tuning_high", FAINT),
        ("games that choose among the best", first, "value", "value_low", "value_high", TRIAL),
        ("games that choose nothing: confirmed", last, "value", "value_low", "value_high", BEST),
    )
    for (name, table, value, low, high, color), offset in zip(kinds, (-0.22, 0.0, 0.22), strict=True):
        part = table.dropna(subset=[value])
        places = np.array([agents.index(agent) for agent in part.index]) + offset
        ax.hlines(places, part[low], part[high], color=color, linewidth=1.8)
        ax.plot(part[value], places, "o", color=color, markersize=5, label=name)
    ax.set_yticks(range(len(agents)), list(map(for_figure, agents)))
    ax.set_ylim(len(agents) - 0.4, -0.6)
    ax.grid(visible=False, axis="y")
    ax.xaxis.set_major_formatter(FuncFormatter(short_points))
    ax.set_xlabel(OBJECTIVES[frame["objective"].iloc[0]].label + ", 95% interval")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12 - 0.35 / len(agents)), fontsize=9)
    ax.set_title("What a trial promised, and what is confirmed")
    return ax

"""Figures of what thinking longer buys: a line a family of agents, from fast to slow."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.ticker import PercentFormatter

from t48lab.analysis.plots import games_each, label_points, log_points, new_axes, styled, time_axis
from t48lab.plaintext import for_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_LINES: tuple[dict[str, Any], ...] = (
    {"marker": "o", "linestyle": "-"},
    {"marker": "s", "linestyle": ":", "markerfacecolor": "white"},
    {"marker": "^", "linestyle": "--", "markerfacecolor": "white"},
)


def looks(groups: list[str]) -> dict[str, dict[str, Any]]:
    """How each group is drawn: a colour for what stands before the first comma, a marker for what stands after it."""
    heads, tails = ([part[end].strip() for part in (g.partition(",") for g in groups)] for end in (0, 2))
    colors, lines = (list(dict.fromkeys(parts)) for parts in (heads, [t for t in tails if t]))
    return {
        group: {"color": _COLORS[colors.index(head) % len(_COLORS)], **_LINES[lines.index(tail) % 3 if tail else 0]}
        for group, head, tail in zip(groups, heads, tails, strict=True)
    }


@styled
def plot_curves(frame: pd.DataFrame, *, front: pd.DataFrame | None = None, ax: Axes | None = None) -> Axes:
    """Axes with mean score against ms per move (a frame of `curves`), both log, with 95% intervals of both.

    A line joins a group from fast to slow; beside each point stands the number in its agent's name, its depth or
    budget. `front` (a frame of `pareto_front`) is a broad band below: nothing measured is faster and better.
    """
    ax = ax or new_axes(7.6, 5.6)
    if front is not None and len(front) > 1:
        ax.plot(front["ms_per_move"], front["mean_score"], color="#dddddd", linewidth=9, zorder=0, label="front")
    styles = looks(list(dict.fromkeys(frame["group"])))
    for group, rows in frame.groupby("group", sort=False):
        style = styles[str(group)]
        x, y = (rows[name].to_numpy(float) for name in ("ms_per_move", "mean_score"))
        ax.plot(x, y, **style, markersize=5, linewidth=1.2, label=for_figure(str(group)), zorder=3)
        ax.vlines(x, rows["mean_low"], rows["mean_high"], color=style["color"], linewidth=1.2, zorder=2)
        ax.hlines(y, rows["ms_low"], rows["ms_high"], color=style["color"], linewidth=1.2, zorder=2)
    log_points(ax, "y", frame[["mean_low", "mean_high", "mean_score"]].to_numpy(float).ravel())
    time_axis(ax)
    ax.set_ylabel("mean score [points, log scale], 95% interval")
    ax.legend(loc="upper center", bbox_to_anchor=(0.45, -0.13), ncols=2, fontsize=9)
    ax.set_title(f"What a move's time buys; {games_each(frame['games'])}")
    numbers = [(re.findall(r"\d[\d.]*", name) or [""])[0] for name in frame["agent"]]
    colors = [styles[group]["color"] for group in frame["group"]]
    label_points(ax, numbers, colors, frame[["ms_per_move", "mean_score"]].to_numpy(float))
    return ax


@styled
def plot_doublings(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Axes with what a doubling of the time per move adds to the mean score (a frame of `doublings`), a bar a step.

    A bar reaches from the faster to the slower agent of a step; its 95% interval stands in its middle.
    """
    ax = ax or new_axes(7.6, 4.4)
    styles = looks(list(dict.fromkeys(frame["group"])))
    for group, rows in frame.groupby("group", sort=False):
        style = styles[str(group)]
        middle = np.sqrt(rows["faster_ms"] * rows["slower_ms"])
        ax.hlines(rows["gain"], rows["faster_ms"], rows["slower_ms"], color=style["color"], linewidth=1, alpha=0.6)
        ax.vlines(middle, rows["gain_low"], rows["gain_high"], color=style["color"], linewidth=1.6)
        ax.plot(middle, rows["gain"], **style | {"linestyle": "none"}, markersize=5, label=for_figure(str(group)))
    ax.axhline(0, color="#555555", linewidth=1)
    ax.yaxis.set_major_formatter(PercentFormatter(1))
    time_axis(ax)
    ax.set_ylabel("gain in mean score a doubling [%]")
    if styles:
        ax.legend(loc="upper center", bbox_to_anchor=(0.45, -0.16), ncols=2, fontsize=9)
    games = pd.concat([frame["games"], frame["slower_games"]])
    ax.set_title(f"What a doubling of the time adds, 95% interval; {games_each(games)}")
    return ax

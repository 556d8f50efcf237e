"""Figures of networks that learn, from their learning curves."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, StrMethodFormatter

from t48lab.analysis.plots import new_axes, short_points, styled


@styled
def plot_curve(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Axes with the mean score of each block of games (a frame of curve.csv), which were played while learning."""
    ax = ax or new_axes(6.4, 3.8)
    blocks = frame["games"].diff().fillna(frame["games"])
    ax.plot(frame["games"], frame["mean_score"], marker="." if len(frame) < 40 else None)
    ax.set_ylim(bottom=0)
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    ax.yaxis.set_major_formatter(FuncFormatter(short_points))
    ax.set_xlabel("games played")
    ax.set_ylabel("mean score [points]")
    ax.set_title(f"While learning, one move ahead; a point is {int(blocks.max()) if len(blocks) else 0:,} games")
    return ax

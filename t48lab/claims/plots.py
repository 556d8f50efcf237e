"""Figures of verdicts on claims."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
from matplotlib.ticker import FuncFormatter, PercentFormatter

from t48lab.analysis import new_axes, plain_number, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLORS = {"holds": "#009E73", "fails": "#D55E00", "undecided": "#E69F00", "untestable": "#555555"}
CLAIMED = "#c9c9c9"


@styled
def plot_claims(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Axes with what was claimed (grey) and measured (a dot with its 95% interval), a row a claim.

    A frame of `claims.stated.beside`, all of one unit; multiples of what was claimed stand on a log axis.
    """
    ax = ax or new_axes(7.2, 1.6 + 0.36 * len(frame))
    for place, (_, row) in enumerate(frame.iterrows()):
        ax.hlines(place, row["claimed_low"], row["claimed_high"], color=CLAIMED, linewidth=9)
        if row["claimed_low"] == row["claimed_high"]:
            ax.plot(row["claimed_low"], place, "|", color="#777777", markersize=13, markeredgewidth=3)
        ax.hlines(place, row["low"], row["high"], color=COLORS[row["verdict"]], linewidth=2.2)
        ax.plot(row["ours"], place, "o", color=COLORS[row["verdict"]])
    ax.set_yticks(range(len(frame)), frame["claim"] + frame["n"].map(" (n {:,})".format))
    ax.set_ylim(len(frame) - 0.4, -0.6)
    ax.grid(visible=False, axis="y")
    ax.tick_params(axis="y", length=0)
    if (frame["unit"] == "share").all():
        ax.xaxis.set_major_formatter(PercentFormatter(1.0))
        ax.set_xlabel("share; grey: as claimed, a sample's with its own interval")
    else:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter(FuncFormatter(plain_number))
        ax.set_xlabel("multiple of what was claimed [log scale]; grey: as claimed")
    for word in (word for word in COLORS if (frame["verdict"] == word).any()):
        ax.plot([], [], "o-", color=COLORS[word], label=word)
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4)
    return ax

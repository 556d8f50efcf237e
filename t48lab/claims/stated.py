"""Claims and measurements side by side: the verdicts whose claim is a number, as a frame to be drawn."""

from __future__ import annotations

import re

import pandas as pd

from t48lab.analysis import share_interval

SHARES = {
    "rate_8192": "games at 8192",
    "rate_4096": "games at 4096",
    "rates": "games at 2048",
    "node_saving": "nodes saved",
}
RATIOS = {
    "max_tile_ceiling": "largest tile",
    "mean_max_tile": "mean largest tile",
    "time_ratio": "growth of time",
    "mean_score": "mean score",
    "time_per_move": "time a move",
    "speedup": "speed-up",
    "nodes": "nodes",
}
"""Quantities that are compared as they are, and those that are compared as multiples of what was claimed."""


def stated_range(value: str) -> tuple[float, float]:
    """(low, high) of a claimed value; a sample such as 11/50 gives its 95% Wilson interval, `>0.5` ends at 1.

    Of several values the one that the verdict's figure belongs to: the first rate, the last ratio.
    """
    if sample := re.fullmatch(r"(\d+)/(\d+)", value):
        return share_interval(int(sample[1]), int(sample[2]))
    if value.startswith(">"):
        return float(value[1:]), 1.0
    low, _, high = value.split("/")[0].split(" : ")[-1].partition("-")
    return float(low), float(high or low)


def beside(verdicts: pd.DataFrame) -> pd.DataFrame:
    """One row for each verdict on a number, from a frame with the columns of verdicts.csv.

    Columns: claim (its id and quantity), unit ("share" or "multiple"), claimed_low, claimed_high, ours, low, high, n,
    verdict. Multiples are of what was claimed, of the middle of a claimed range.
    """
    rows = []
    for _, row in verdicts.iterrows():
        quantity, _, value = str(row["claimed"]).partition(" ")
        if quantity not in SHARES | RATIOS:
            continue
        low, high = stated_range(value)
        unit = 1.0 if quantity in SHARES else (low + high) / 2
        figures = [x / unit for x in (low, high, *row[["ours", "low", "high"]])]
        kind = "share" if quantity in SHARES else "multiple"
        rows.append([f"{row['id']} · {(SHARES | RATIOS)[quantity]}", kind, *figures, row["n"], row["verdict"]])
    columns = ["claim", "unit", "claimed_low", "claimed_high", "ours", "low", "high", "n", "verdict"]
    return pd.DataFrame(rows, columns=columns)

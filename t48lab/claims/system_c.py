"""Claims of system C, the layered expectimax program."""

from __future__ import annotations

import numpy as np
import pandas as pd

from t48lab.claims.evidence import Evidence, node_saving
from t48lab.claims.registry import claim, percent, plain
from t48lab.claims.rulings import Ruling, above, all_of, association, mean, within


@claim("C1")
def saved_by_the_cache(e: Evidence) -> Ruling:
    """30% to 50% of the work at 3 to 4 layers."""
    three, four = (node_saving(e.measure("memo_c"), f"memo {layers}", f"plain {layers}") for layers in (3, 4))
    word = all_of(*(within(found, 0.3, 0.5) for found in (three, four)))
    return Ruling(four, word, f"Nodes saved by position at 4 layers; at 3 layers {percent(three)}.")


@claim("C2")
def hits_by_order(e: Evidence) -> Ruling:
    """Ordering the moves raises the hit rate."""
    table = e.measure("memo_c")
    rates = table.assign(rate=table["hits"] / table["lookups"].where(table["lookups"] > 0))
    wide = rates.pivot(index="position", columns="variant", values="rate")
    found = mean((wide["ordered 4"] - wide["memo 4"]).to_numpy(np.float64))
    reason = (
        f"Hit rate with order less that without, {wide['memo 4'].mean():.1%}, at 4 layers. Nothing is pruned, so the "
    )
    return Ruling(found, above(found), f"{reason}same nodes are visited in any order.")


@claim("C3")
def own_bar(e: Evidence) -> Ruling:
    """The author's weights pass the author's bar of 15 games in 20."""
    found, rough, three = (e.rate(f"C, {name}", 2048) for name in ("4 layers", "rough boards win", "3 layers"))
    reason = "Share at 2048 with its own weights, against its own bar of 75%. With the other sign of smooth "
    return Ruling(found, above(found, 0.75), f"{reason}{percent(rough)}, with 3 layers {percent(three)}.")


def _by_weight(table: pd.DataFrame, column: str) -> str:
    means = table.groupby("variant")[column].mean().sort_index()
    return ", ".join(f"weight {weight:g}: {value:.2%}" for weight, value in means.items())


@claim("C4")
def repeats_by_weight(e: Evidence) -> Ruling:
    """More weight on monotonicity, more repeated directions."""
    table = e.measure("mono")
    found = association(table["variant"].to_numpy(float), table["repeats"].to_numpy(float))
    reason = (
        "Rank correlation over games between the weight of mono and the share of the first 200 moves that repeat a "
    )
    return Ruling(found, above(found), f"{reason}direction for the third time ({_by_weight(table, 'repeats')}).")


@claim("C5")
def centre_by_weight(e: Evidence) -> Ruling:
    """Less weight on the largest tile, more of it in the centre."""
    table = e.measure("largest")
    found = association(-table["variant"].to_numpy(float), table["centre"].to_numpy(float))
    reason = "Rank correlation over games between the weight of the largest tile, sign turned, and the share of "
    return Ruling(
        found, above(found), f"{reason}positions with that tile in the centre ({_by_weight(table, 'centre')})."
    )


@claim("C6")
def speed_of_forms(e: Evidence) -> Ruling:
    """Bit rows beat lists of lists, and those NumPy arrays."""
    table = e.measure("move_times")
    arrays = mean((table["numpy"] / table["lists"]).to_numpy(float))
    found = mean((table["lists"] / table["bits"]).to_numpy(float))
    reason = f"Times by which bit rows are faster than lists in plain Python; lists than NumPy arrays {plain(arrays)}."
    return Ruling(found, all_of(above(arrays, 1.0), above(found, 1.0)), reason)

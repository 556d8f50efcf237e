"""What the size of a transposition table buys: speed and hits by depth."""

from __future__ import annotations

import numpy as np
import pandas as pd

from t48lab.agents import make_agent


def table_sizes(games: pd.DataFrame) -> pd.DataFrame:
    """One row a depth and table size of the agents that have both, by size, from the games that they played.

    Columns: depth [player moves], table_bits [2 to this power of entries], memory_mib, games, moves_per_s and its
    middle half over the games, moves_low and moves_high [per second of processor time], hit_rate [share of probes].
    """
    rows = []
    for spec, group in games.groupby("spec", sort=False):
        agent = make_agent(str(spec))
        if hasattr(agent, "table_bits") and group["probes"].sum() > 0:
            low, middle, high = np.quantile(group["moves"] / group["seconds"], [0.25, 0.5, 0.75])
            depth, bits = (getattr(agent, name) for name in ("depth", "table_bits"))
            found = {"depth": depth, "table_bits": bits, "memory_mib": 2.0 ** (bits - 16)}
            speed = {"games": len(group), "moves_per_s": middle, "moves_low": low, "moves_high": high}
            rows.append(found | speed | {"hit_rate": group["hits"].sum() / group["probes"].sum()})
    columns = ["depth", "table_bits", "memory_mib", "games", "moves_per_s", "moves_low", "moves_high", "hit_rate"]
    return pd.DataFrame(rows, columns=columns).sort_values(["depth", "table_bits"], ignore_index=True)

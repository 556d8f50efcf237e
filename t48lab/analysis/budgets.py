"""What thinking longer buys: scores beside the time of a move, and what each doubling of that time adds."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from t48lab.analysis.stats import mean_interval, one_agent_a_label
from t48lab.analysis.summaries import summary
from t48lab.errors import T48Error

STEP_COLUMNS = [
    "group", "faster", "slower", "games", "slower_games", "faster_ms", "slower_ms", "gain", "gain_low", "gain_high",
]  # fmt: skip

_SEED = 2048
_RESAMPLES = 9999

Numbers = NDArray[np.float64]


def curves(games: pd.DataFrame, groups: Mapping[str, str]) -> pd.DataFrame:
    """The `summary` of the timed agents that have a group, with `group`, `ms_low` and `ms_high`, fastest first in each.

    The interval of ms per move (95%, processor time) is over games.
    """
    one_agent_a_label(games)
    table = summary(games)
    table = table[table["agent"].isin(groups) & table["ms_per_move"].notna()]
    times = zip(table["agent"], table["ms_per_move"], strict=True)
    ends = [_time_interval(games[games["agent"] == agent], ms) for agent, ms in times]
    table = table.assign(group=table["agent"].map(groups))
    table[["ms_low", "ms_high"]] = np.array(ends, float).reshape(len(table), 2)
    order = {group: place for place, group in enumerate(dict.fromkeys(groups.values()))}
    return table.assign(place=table["group"].map(order)).sort_values(["place", "ms_per_move"]).drop(columns="place")


def _time_interval(games: pd.DataFrame, ms: float) -> tuple[float, float]:
    moves = games["moves"].to_numpy(float)
    low, high = mean_interval((1000 * games["seconds"].to_numpy(float) - ms * moves) / moves.mean())
    return ms + low, ms + high


def doublings(games: pd.DataFrame, groups: Mapping[str, str]) -> pd.DataFrame:
    """One row a step from an agent to the next slower one of its group, with the columns STEP_COLUMNS.

    `gain` is by how much each doubling of the time per move multiplies the mean score, less 1; see `doubling`.
    """
    steps = []
    for group, rows in curves(games, groups).groupby("group", sort=False):
        for faster, slower in pairwise(rows.drop_duplicates("ms_per_move")["agent"]):
            found = doubling(games[games["agent"] == faster], games[games["agent"] == slower])
            steps.append({"group": group, "faster": faster, "slower": slower} | found)
    return pd.DataFrame(steps, columns=STEP_COLUMNS)


def doubling(faster: pd.DataFrame, slower: pd.DataFrame) -> dict[str, Any]:
    """What each doubling of the time per move adds to the mean score between two agents' games, as a share.

    The mean scores' ratio to the power of 1 / log2 of the times' ratio, less 1. The 95% interval is the middle of
    9,999 resamples of both agents' games, scores and times together. Raises T48Error when the second is no slower.
    """
    a, b = _columns(faster), _columns(slower)
    ms = [1000 * table[:, 1].sum() / table[:, 2].sum() for table in (a, b)]
    if not ms[1] > ms[0]:
        raise T48Error(f"the slower agent takes {ms[1]:.3g} ms a move, the faster {ms[0]:.3g}, change their places")
    random = np.random.default_rng(_SEED)
    low, high = np.quantile(_gain(_resampled(a, random), _resampled(b, random)), [0.025, 0.975])
    gain = float(_gain(a.mean(axis=0), b.mean(axis=0)))
    counts = {"games": len(a), "slower_games": len(b), "faster_ms": ms[0], "slower_ms": ms[1]}
    return counts | {"gain": gain, "gain_low": float(low), "gain_high": float(high)}


def _columns(games: pd.DataFrame) -> Numbers:
    """float64[games, 3] of score, seconds and moves, in an order that is the same for the same games."""
    table = games[["score", "seconds", "moves"]].to_numpy(float)
    return table[np.lexsort(table.T)]


def _resampled(table: Numbers, random: np.random.Generator) -> Numbers:
    """float64[resamples, 3] of the columns' means."""
    n = len(table)
    means: Numbers = random.multinomial(n, np.full(n, 1 / n), size=_RESAMPLES) @ table / n
    return means


def _gain(a: Numbers, b: Numbers) -> Numbers:
    doubled = np.log2((b[..., 1] / b[..., 2]) / (a[..., 1] / a[..., 2]))
    gain: Numbers = (b[..., 0] / a[..., 0]) ** (1 / doubled) - 1
    return gain

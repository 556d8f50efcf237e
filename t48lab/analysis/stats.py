"""Intervals of means and shares, paired comparisons of finished games, Pareto fronts.

Every interval is 95% and two-sided. Resampling starts from one fixed seed, so the same games
always give the same table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from t48lab.errors import T48Error
from t48lab.records import nearest

TILES = (512, 1024, 2048, 4096, 8192, 16384, 32768, 65536)
GROUP = ["agent", "agent_key", "spawner"]
DEAL = ["seed", "game"]
CORRELATION_COLUMNS = [
    "pearson", "pearson_low", "pearson_high", "spearman", "spearman_low", "spearman_high", "variance_ratio",
]  # fmt: skip
PAIRS_COLUMNS = [
    "agent", "agent_key", "baseline", "spawner", "games", "mean_difference", "difference_low", "difference_high",
    "win_share", "win_low", "win_high", "ties", "wilcoxon_p", *CORRELATION_COLUMNS,
]  # fmt: skip

_SEED = 2048
_MANY = 2000
_Z = float(scipy_stats.norm.ppf(0.975))

Scores = NDArray[np.float64]
Interval = tuple[float, float]


def share_interval(count: int, total: int) -> Interval:
    """The Wilson interval of a share (Wilson 1927); NaN for nothing out of nothing."""
    if total == 0:
        return np.nan, np.nan
    low, high = scipy_stats.binomtest(count, total).proportion_ci(method="wilson")
    return float(low), float(high)


def mean_interval(values: Scores) -> Interval:
    """The bootstrap interval of a mean; NaN for fewer than two values, the value itself when all are equal.

    BCa with 9,999 resamples up to 2,000 values (Efron 1987); beyond, where BCa's correction is
    nothing beside the noise, percentiles of 999 resamples.
    """
    if len(values) < 2:
        return np.nan, np.nan
    if np.ptp(values) == 0:
        return float(values[0]), float(values[0])
    few = len(values) <= _MANY
    result = scipy_stats.bootstrap(
        (np.sort(values),),  # the order of games must not matter
        np.mean,
        n_resamples=9999 if few else 999,
        batch=None if few else max(1, 10**7 // len(values)),
        method="BCa" if few else "percentile",
        rng=np.random.default_rng(_SEED),
    )
    return float(result.confidence_interval.low), float(result.confidence_interval.high)


def pairs(games: pd.DataFrame, baseline: str) -> pd.DataFrame:
    """One row an agent and spawner against the baseline on the same seeds, with the columns PAIRS_COLUMNS.

    `baseline` is an agent's label. Only deals (seed and game) that both have finished count, `games` says
    how many. `win_share` leaves out `ties`. `variance_ratio` is the variance of the difference over
    the sum of both variances: 1 when pairing buys nothing, 0.5 when it halves the games needed.
    `wilcoxon_p` is the signed-rank test's, two-sided and not corrected for the number of rows.
    Raises T48Error when the baseline has no games, and when two agents have one label.
    """
    one_agent_a_label(games)
    labels = list(dict.fromkeys(games["agent"]))
    if baseline not in labels:
        raise T48Error(f"baseline {baseline!r} has no games here, {nearest(baseline, labels)}")
    rows = [
        _compare(first, second)
        for first, second in _matched(games, [(label, baseline) for label in labels if label != baseline])
    ]
    return pd.DataFrame(rows, columns=PAIRS_COLUMNS)


def correlations(games: pd.DataFrame) -> pd.DataFrame:
    """One row for every two agents (`agent`, `other`) and spawner: how far scores on the same seed go together.

    Columns: agent, other, spawner, games and CORRELATION_COLUMNS. Intervals go through Fisher's z, for
    Spearman with the variance of Bonett and Wright (2000); NaN for fewer than four games or constant scores.
    """
    one_agent_a_label(games)
    labels = list(dict.fromkeys(games["agent"]))
    rows = []
    for first, second in _matched(games, combinations(labels, 2)):
        a, b = _scores(first, second)
        head = {"agent": first["agent"].iloc[0], "other": second["agent"].iloc[0]}
        head |= {"spawner": first["spawner"].iloc[0], "games": len(a)}
        rows.append(head | _correlate(a, b))
    return pd.DataFrame(rows, columns=["agent", "other", "spawner", "games", *CORRELATION_COLUMNS])


def one_agent_a_label(games: pd.DataFrame) -> None:
    """Raises T48Error when a label stands for two agents, whose games would be pooled, or a game is there twice."""
    need(games, [*GROUP, *DEAL, "score"])
    keys = games[GROUP].drop_duplicates()
    twice = keys[keys.duplicated(["agent", "spawner"])]
    if len(twice):
        label, _, spawner = twice.iloc[0]
        known = keys[(keys["agent"] == label) & (keys["spawner"] == spawner)]["agent_key"]
        raise T48Error(
            f"{label!r} is the label of {len(known)} agents here (agent_key {', '.join(map(str, known))}), "
            "give each a label of its own"
        )
    again = games[games.duplicated(["agent", "spawner", *DEAL])]
    if len(again):
        row = again.iloc[0]
        raise T48Error(f"game {row['game']} of {row['agent']!r} (seed {row['seed']}) is there twice, drop one")


def _matched(games: pd.DataFrame, labels: Iterable[tuple[str, str]]) -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
    """Two frames of the same deals in the same order, for each two labels and spawner that share some."""
    groups = {key: group.set_index(DEAL) for key, group in games.groupby(["agent", "spawner"], sort=False)}
    spawners = list(dict.fromkeys(games["spawner"]))
    for one, other in labels:
        for spawner in spawners:
            if (one, spawner) not in groups or (other, spawner) not in groups:
                continue
            first, second = groups[one, spawner], groups[other, spawner]
            shared = first.index.intersection(second.index).sort_values()
            if len(shared):
                yield first.loc[shared], second.loc[shared]


def _scores(first: pd.DataFrame, second: pd.DataFrame) -> tuple[Scores, Scores]:
    return first["score"].to_numpy(float), second["score"].to_numpy(float)


def _compare(first: pd.DataFrame, second: pd.DataFrame) -> dict[str, Any]:
    a, b = _scores(first, second)
    difference = a - b
    low, high = mean_interval(difference)
    wins, ties = int((difference > 0).sum()), int((difference == 0).sum())
    win_low, win_high = share_interval(wins, len(a) - ties)
    row = {"agent": first["agent"].iloc[0], "agent_key": first["agent_key"].iloc[0]}
    row |= {"baseline": second["agent"].iloc[0], "spawner": first["spawner"].iloc[0], "games": len(a)}
    row |= {"mean_difference": difference.mean(), "difference_low": low, "difference_high": high}
    row |= {"win_share": wins / (len(a) - ties) if len(a) > ties else np.nan, "win_low": win_low, "win_high": win_high}
    p = 1.0 if ties == len(a) else float(scipy_stats.wilcoxon(difference).pvalue)
    return row | {"ties": ties, "wilcoxon_p": p} | _correlate(a, b)


def _correlate(a: Scores, b: Scores) -> dict[str, float]:
    varied = len(a) > 1 and np.ptp(a) > 0 and np.ptp(b) > 0
    row = {}
    for name, spread in (("pearson", 0.0), ("spearman", 0.5)):
        x, y = (a, b) if name == "pearson" else (scipy_stats.rankdata(a), scipy_stats.rankdata(b))
        r = float(np.clip(np.corrcoef(x, y)[0, 1], -1, 1)) if varied else np.nan
        row[name] = r
        row[f"{name}_low"], row[f"{name}_high"] = _fisher(r, len(a), 1 + spread * r * r)
    apart = a.var() + b.var()
    return row | {"variance_ratio": float((a - b).var() / apart) if apart > 0 else np.nan}


def _fisher(r: float, n: int, variance: float) -> Interval:
    if n < 4 or np.isnan(r):
        return np.nan, np.nan
    with np.errstate(divide="ignore"):
        z = np.arctanh(r)
    width = _Z * np.sqrt(variance / (n - 3))
    return float(np.tanh(z - width)), float(np.tanh(z + width))


def pairing(table: pd.DataFrame) -> dict[str, float]:
    """How much pairing buys over a whole table of `correlations` or `pairs`, agents with equal games left out.

    `comparisons`, the median `pearson` and `spearman`, the share of intervals of Spearman's coefficient
    that exclude 0 (`excluding_zero`, 0.05 by luck alone) and the median `variance_ratio`.
    """
    known = table[table["spearman_low"].notna() & (table["variance_ratio"] > 0)]
    away = (known["spearman_low"] > 0) | (known["spearman_high"] < 0)
    return {
        "comparisons": len(known),
        "pearson": float(known["pearson"].median()),
        "spearman": float(known["spearman"].median()),
        "excluding_zero": float(away.mean()),
        "variance_ratio": float(known["variance_ratio"].median()),
    }


def pareto_front(
    table: pd.DataFrame, cost: str, value: str, better: Literal["higher", "lower"] = "higher"
) -> pd.DataFrame:
    """The rows that no other row beats at lower or equal cost, cheapest first; rows with a NaN are left out."""
    need(table, [cost, value])
    sign = 1.0 if better == "higher" else -1.0
    known = table.dropna(subset=[cost, value])
    costs, values = known[cost].to_numpy(float), sign * known[value].to_numpy(float)
    beaten = [
        bool(np.any((costs <= c) & (values >= v) & ((costs < c) | (values > v))))
        for c, v in zip(costs, values, strict=True)
    ]
    return known[~np.array(beaten, dtype=bool)].sort_values(cost, kind="stable")


def need(frame: pd.DataFrame, columns: list[str]) -> None:
    """Raises T48Error when a frame is empty or lacks one of these columns."""
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise T48Error(f"the table has no column {missing[0]!r}, it needs {', '.join(columns)}")
    if frame.empty:
        raise T48Error("there are no games in this table, play some first")

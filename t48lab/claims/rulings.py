"""Rulings: a figure with its interval, held against what was claimed, becomes a verdict.

A sample claimed (11 of 50 games) is refuted by Fisher's exact test at 5% and upheld when our own interval is no
wider than 20 points; a number is upheld when it lies within 10% of our interval, an order when the interval of the
difference excludes 0. What our games cannot tell is undecided.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from t48lab.analysis import mean_interval, share_interval

Word = Literal["holds", "fails", "undecided", "untestable"]

LEVEL = 0.05
WIDE = 0.2
CLOSE = 0.1
_RESAMPLES, _SEED = 4000, 2048


class Found(NamedTuple):
    """A figure with its 95% interval and the number of cases behind it."""

    value: float
    low: float
    high: float
    n: int


class Ruling(NamedTuple):
    """A verdict with the figure that it rests on."""

    found: Found
    verdict: Word
    reason: str


def share(count: int, total: int) -> Found:
    """A share with its Wilson interval."""
    return Found(count / total if total else np.nan, *share_interval(count, total), total)


def mean(values: NDArray[np.float64]) -> Found:
    """A mean with its bootstrap interval, NaN left out."""
    known = np.asarray(values, np.float64)[~np.isnan(values)]
    return Found(float(known.mean()) if len(known) else np.nan, *mean_interval(known), len(known))


def resampled(rows: NDArray[np.float64], statistic: Callable[[NDArray[np.float64]], float]) -> Found:
    """A statistic of whole rows (cases x columns) with its percentile bootstrap interval."""
    rng, n = np.random.default_rng(_SEED), len(rows)
    if n < 2:
        return Found(statistic(rows) if n else np.nan, np.nan, np.nan, n)
    draws = [statistic(rows[rng.integers(0, n, n)]) for _ in range(_RESAMPLES)]
    low, high = np.nanpercentile(draws, [2.5, 97.5])
    return Found(statistic(rows), float(low), float(high), n)


def like_sample(count: int, total: int, claimed: int, games: int) -> Word:
    """Whether `count` of `total` games fit `claimed` of `games`."""
    p = scipy_stats.fisher_exact([[count, total - count], [claimed, games - claimed]]).pvalue
    if p < LEVEL:
        return "fails"
    low, high = share_interval(count, total)
    return "holds" if high - low <= WIDE else "undecided"


def near(found: Found, claimed: float, close: float = CLOSE) -> Word:
    """Whether a claimed number lies in an interval, give or take 10% of the number."""
    if np.isnan(found.low):
        return "undecided"
    slack = close * abs(claimed)
    return "holds" if found.low - slack <= claimed <= found.high + slack else "fails"


def within(found: Found, low: float, high: float) -> Word:
    """Whether a figure lies in a range: with its whole interval, not at all, or undecided."""
    if low <= found.low and found.high <= high:
        return "holds"
    return "fails" if found.high < low or found.low > high else "undecided"


def above(found: Found, bound: float = 0.0) -> Word:
    """Whether a figure exceeds a bound: with its whole interval, not at all, or undecided."""
    if found.low > bound:
        return "holds"
    return "fails" if found.high < bound or found.low == found.high == bound else "undecided"


def exists(count: int, total: int) -> Word:
    """Whether something happens at all: once is enough, never in many games refutes it."""
    if count:
        return "holds"
    return "fails" if share_interval(count, total)[1] < LEVEL else "undecided"


def all_of(*words: Word) -> Word:
    """The verdict on a claim of several parts: it fails with any of them, and holds with all."""
    order: tuple[Word, ...] = ("fails", "undecided", "untestable")
    return next((word for word in order if word in words), "holds")


def difference_of_shares(one: Found, other: Found) -> Found:
    """The difference of two independent shares, with Newcombe's interval (1998, method 10)."""
    gap = one.value - other.value
    low = gap - np.hypot(one.value - one.low, other.high - other.value)
    high = gap + np.hypot(one.high - one.value, other.value - other.low)
    return Found(gap, float(low), float(high), one.n + other.n)


def association(first: NDArray[np.float64], second: NDArray[np.float64]) -> Found:
    """Spearman's correlation of two columns, with the bootstrap interval over rows."""
    rows = np.column_stack([first, second]).astype(np.float64)
    return resampled(rows[~np.isnan(rows).any(axis=1)], _spearman)


def _spearman(rows: NDArray[np.float64]) -> float:
    if len(rows) < 3 or (np.ptp(rows, axis=0) == 0).any():
        return 0.0
    return float(np.corrcoef(*(scipy_stats.rankdata(column) for column in rows.T))[0, 1])

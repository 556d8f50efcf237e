"""Objectives of studies: what a study raises or lowers, as a value a game, a mean with its interval, and words.

Two kinds of interval, for two uses. A trial's, of which a study has hundreds, decides nothing and is read from a
figure: Student's t, one formula. A confirmed figure's is quoted, and scores are skewed: the bootstrap of
`mean_interval`, thousands of resamples, which follows the skew. A share has Wilson's interval in both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from t48lab.analysis.stats import TILES, Interval, Scores, mean_interval, share_interval


@dataclass(frozen=True)
class Objective:
    """One objective; `values` has a number a game from scores and largest tiles, None for a cost.

    A cost is the quotient of two sums over all games (see `summary`), so that a game has no value of its own.
    """

    name: str
    label: str
    better: Literal["higher", "lower"]
    values: Callable[[NDArray[Any], NDArray[np.int64]], NDArray[Any]] | None = None
    share: bool = False

    def of(self, scores: NDArray[Any], max_tiles: NDArray[np.int64]) -> Scores:
        """The value of each game, whose mean a study raises: float64[games]."""
        assert self.values is not None, f"{self.name} has no value a game"
        return np.asarray(self.values(scores, max_tiles), np.float64)

    def interval(self, values: Scores) -> Interval:
        """The 95% interval of the mean, as it is quoted."""
        return self._wilson(values) if self.share else mean_interval(values)

    def quick_interval(self, values: Scores) -> Interval:
        """The 95% interval of a trial's mean; NaN for fewer than two values."""
        return self._wilson(values) if self.share else _student(values)

    def _wilson(self, values: Scores) -> Interval:
        return share_interval(int(values.sum()), len(values))


def _student(values: Scores) -> Interval:
    if len(values) < 2:
        return np.nan, np.nan
    half = float(scipy_stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)))
    return float(values.mean()) - half, float(values.mean()) + half


def _reaches(tile: int) -> Objective:
    label = f"share of games that reach {tile}"
    return Objective(f"rate_{tile}", label, "higher", lambda _, max_tiles: max_tiles >= tile, share=True)


OBJECTIVES = {
    objective.name: objective
    for objective in (
        Objective("mean_score", "mean score [points]", "higher", lambda scores, _: scores),
        Objective(
            "mean_log_score",
            "mean natural logarithm of the score",
            "higher",
            lambda scores, _: np.log(np.maximum(scores, 1)),
        ),
        *map(_reaches, TILES),
        Objective("ms_per_move", "processor time per move [ms, log scale]", "lower"),
        Objective("nodes_per_move", "nodes per move [log scale]", "lower"),
    )
}
SCORES = tuple(name for name, objective in OBJECTIVES.items() if objective.better == "higher")
"""What a study can raise."""
COSTS = tuple(name for name, objective in OBJECTIVES.items() if objective.better == "lower")
"""What a second objective can lower."""

"""A sequential test of paired wins: it stops as soon as the answer is clear, and its error rates are known exactly.

Two agents play the same deals; on each the higher score wins. The null hypothesis says that a win is as
probable as a loss. Against it stand alternatives: a win share of 1/2 + effect, 1/2 + 2 effect or 0.975, for either
agent. Their mean likelihood ratio passes 2 / ALPHA with probability ALPHA / 2 at most while the null holds, however
often one looks (Ville 1939, "Étude critique de la notion de collectif"), so that a duel of equal agents has a winner
with probability ALPHA at most. It ends without one when the likelihood ratios of both 1/2 + effect fall below
MISSED: Wald's (1945) sequential test, two-sided as by Armitage (1950, "Sequential analysis with more than two
alternative hypotheses"). A tie counts half a win and half a loss, which can only make a winner less likely.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from t48lab.errors import T48Error
from t48lab.records import Count, checked

Verdict = Literal["first", "second", "equal", "undecided"]
VERDICTS: tuple[Verdict, ...] = ("first", "second", "equal", "undecided")

ALPHA = 0.05
"""Most of the duels between equal agents that may have a winner."""
MISSED = 0.1
"""Most of the duels at the stated effect that may end as equal."""
POWER = 0.8
"""Least share of the duels at the stated effect that the stronger agent wins."""
FEWEST, MOST = 20, 10_000
"""Deals that a duel may be given; beyond, the exact rates take too long to work out."""

_REACH = 1.8
"""The effect is this over the root of the deals: with 1.7 the power is below POWER, see docs/duel.md."""
_SURE = 0.975
_WEIGHTS = (0.5, 0.25, 0.25)
_WIDTH = 1e-4


class Rates(NamedTuple):
    """How often duels at one win share end in each way, and after how many deals on average."""

    first: float
    second: float
    equal: float
    undecided: float
    deals: float


class _Step(NamedTuple):
    """The probabilities of all numbers of wins that end a duel after `deals`, by verdict."""

    deals: int
    ends: dict[Verdict, tuple[NDArray[np.int64], NDArray[np.float64]]]


@dataclass(frozen=True)
class SequentialTest:
    """The test of a duel of `deals` pairs of games at most; the same deals in the same order give the same verdict."""

    deals: int

    def __post_init__(self) -> None:
        if not FEWEST <= checked(Count, self.deals, "games") <= MOST:
            raise T48Error(f"games of a duel must be {FEWEST} to {MOST:,}, got {self.deals}")

    @property
    def effect(self) -> float:
        """The win share above one half that the stronger agent must have to be found with probability POWER."""
        return _REACH / math.sqrt(self.deals)

    def decide(self, wins: int, losses: int, ties: int = 0) -> Verdict | None:
        """The verdict after these outcomes of the first agent; None to go on, never None after all deals."""
        won, lost = wins + ties / 2, losses + ties / 2
        if self._evidence(won, lost) >= self._enough:
            return "first"
        if self._evidence(lost, won) >= self._enough:
            return "second"
        if max(won, lost) <= self._most_of_equals(wins + losses + ties):
            return "equal"
        return "undecided" if wins + losses + ties >= self.deals else None

    @property
    def earliest(self) -> int:
        """The fewest deals after which there can be a winner."""
        return next((n for n, least in enumerate(self._needed) if least <= n), self.deals)

    def rates(self, share: float) -> Rates:
        """How duels end when the first agent wins each deal with this probability, worked out exactly."""
        found, mean = dict.fromkeys(VERDICTS, 0.0), 0.0
        for step in self._steps(share):
            for verdict, (_, probabilities) in step.ends.items():
                found[verdict] += float(probabilities.sum())
                mean += step.deals * float(probabilities.sum())
        return Rates(**found, deals=mean)

    def interval(self, points: float, deals: int) -> tuple[float, float]:
        """The 95% interval of the win share of a duel that ended after `deals`, `points` of them won (a tie is 1/2).

        Exact for a duel that may have stopped early: it holds the shares under which an outcome as high, or as low,
        is no less probable than 2.5%, outcomes in the order of their standard scores (Rosner and Tsiatis 1988).
        """
        low = 0.0 if points == 0 else _root(lambda share: self._beyond(share, points, deals, 1) - ALPHA / 2)
        high = 1.0 if points == deals else _root(lambda share: ALPHA / 2 - self._beyond(share, points, deals, -1))
        return low, high

    def _beyond(self, share: float, points: float, deals: int, side: int) -> float:
        """The probability of outcomes as high as this one or higher (side 1), or as low or lower (side -1)."""
        total, shown = 0.0, (points - deals * share) / math.sqrt(deals)
        for step in self._steps(share):
            for wins, probabilities in step.ends.values():
                scores = (wins - step.deals * share) / math.sqrt(step.deals)
                total += float(probabilities[side * (scores - shown) >= -1e-9].sum())
        return total

    def _steps(self, share: float) -> Iterator[_Step]:
        """Every number of deals after which duels can end, without ties; wins that are out of reach are left out."""
        going, first = np.ones(1), 0
        for n in range(1, self.deals + 1):
            reached = np.zeros(len(going) + 1)
            reached[1:] += going * share
            reached[:-1] += going * (1 - share)
            ends: dict[Verdict, tuple[NDArray[np.int64], NDArray[np.float64]]] = {}
            for verdict, (low, high) in self._ends(n):
                here = slice(max(0, low - first), max(0, high - first))
                ends[verdict] = first + np.arange(len(reached))[here], reached[here].copy()
                reached[here] = 0.0
            alive = np.flatnonzero(reached)
            if len(alive):
                going, first = reached[alive[0] : alive[-1] + 1], first + int(alive[0])
            yield _Step(n, ends)
            if not len(alive):
                return

    def _ends(self, n: int) -> Iterator[tuple[Verdict, tuple[int, int]]]:
        """The numbers of wins, from and below, that end a duel after n deals, winners first."""
        least, most = self._needed[n], self._most_of_equals(n)
        yield "second", (0, max(0, n - least + 1))
        yield "first", (min(least, n + 1), n + 1)
        if 2 * most >= n:
            yield "equal", (max(0, n - most), min(most, n) + 1)
        if n == self.deals:
            yield "undecided", (0, n + 1)

    @cached_property
    def _needed(self) -> list[int]:
        """The wins that make the first agent the winner, by number of deals; more than the deals = none does."""
        return _needed(self.deals)

    @property
    def _enough(self) -> float:
        return math.log(2 / ALPHA)

    def _evidence(self, won: float, lost: float) -> float:
        """The logarithm of the mean likelihood ratio of the alternatives in which the first agent is stronger."""
        shares = (0.5 + self.effect, min(0.5 + 2 * self.effect, _SURE), _SURE)
        logs = [
            math.log(weight) + won * math.log(2 * share) + lost * math.log(2 - 2 * share)
            for weight, share in zip(_WEIGHTS, shares, strict=True)
        ]
        top = max(logs)
        return top + math.log(sum(math.exp(value - top) for value in logs))

    def _most_of_equals(self, n: int) -> int:
        """The most wins after n deals at which the likelihood ratio of 1/2 + effect is MISSED or less."""
        gain, loss = math.log1p(2 * self.effect), -math.log1p(-2 * self.effect)
        return math.floor((math.log(MISSED) + n * loss) / (gain + loss) + 1e-9)


@lru_cache(maxsize=64)
def _needed(deals: int) -> list[int]:
    test, least = SequentialTest(deals), 0
    needed = []
    for n in range(deals + 1):
        while least <= n and test._evidence(least, n - least) < test._enough:
            least += 1
        needed.append(least)
    return needed


def _root(rising: Callable[[float], float]) -> float:
    """Where a rising function of a share passes 0."""
    from scipy.optimize import brentq

    return float(brentq(rising, 0.0, 1.0, xtol=_WIDTH))

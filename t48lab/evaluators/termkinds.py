"""The kinds of terms: what is known of a term, how it enters a stage's tables, and what it says of one board."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from t48lab.evaluators.blocks import Block, Function, Ranks, Reals, all_lines, line_values
from t48lab.kernels.layout import BLOCK, CORNER


@dataclass(frozen=True)
class Range:
    """From where to where a tuner may look for a number, and whether on a logarithmic scale."""

    low: float
    high: float
    log: bool = False


@dataclass(frozen=True)
class Definition:
    """What is known of a term; `norm` is what a normalised evaluator divides it by."""

    name: str
    meaning: str
    source: str
    symmetric: bool
    weight: Range
    function: Function
    exponent: float | None = None
    exponents: Range | None = None
    norm: float | None = None

    @property
    def corner_rule(self) -> int:
        """Where the largest tile has to stand for the term, see `kernels/layout.py`."""
        return int(CORNER.ANYWHERE)

    def add_to(self, block: Block, scale: float, exponent: float | None) -> None:
        """Adds `scale` times the term to a stage's numbers."""
        raise NotImplementedError

    def on(self, ranks: Ranks, exponent: float | None) -> float:
        """The term's value on a board of ranks (int64[rows, cols]), straight from its definition in float64."""
        raise NotImplementedError

    def table(self, exponent: float | None) -> Reals | None:
        """The term's value of every line of four cells, float64[65536]; None when it is no sum over lines."""
        return None


@dataclass(frozen=True)
class LineTerm(Definition):
    """`function(ranks[n, cells], exponent) -> float64[n]`, for rows and, without `column`, for columns."""

    column: Function | None = None

    def add_to(self, block: Block, scale: float, exponent: float | None) -> None:
        """As of any term: to the table of rows and to that of columns."""
        block.row += scale * line_values(self.function, block.cols, exponent)
        block.column += scale * line_values(self.column or self.function, block.rows, exponent)

    def on(self, ranks: Ranks, exponent: float | None) -> float:
        """As of any term."""
        column = self.column or self.function
        return float(self.function(ranks, exponent).sum() + column(ranks.T, exponent).sum())

    def table(self, exponent: float | None) -> Reals | None:
        """As of any term: that of rows."""
        return self.function(all_lines(4), exponent)


@dataclass(frozen=True)
class PlacedTerm(Definition):
    """`function(ranks[n, cells], exponent, row) -> float64[n]` for rows alone, by the row's number."""

    def add_to(self, block: Block, scale: float, exponent: float | None) -> None:
        """As of any term: to each row's own table."""
        for i in range(block.rows):
            values = self.function(all_lines(block.cols), exponent, i)
            block.placed[i] = block.placed.get(i, 0.0) + scale * values

    def on(self, ranks: Ranks, exponent: float | None) -> float:
        """As of any term."""
        return float(sum(self.function(ranks[i : i + 1], exponent, i)[0] for i in range(len(ranks))))


@dataclass(frozen=True)
class PeakTerm(Definition):
    """`function(ranks[n]) -> float64[n]` of the largest rank; counts times `outside` where `rule` fails."""

    rule: int = CORNER.ANYWHERE
    outside: float = 0.0

    @property
    def corner_rule(self) -> int:
        """As of any term."""
        return self.rule

    def add_to(self, block: Block, scale: float, exponent: float | None) -> None:
        """As of any term: to the numbers by largest rank, where the rule holds and where it fails."""
        values = scale * self.function(np.arange(16))
        block.inside += values
        block.outside += values if self.rule == CORNER.ANYWHERE else values * self.outside
        block.rule = max(block.rule, self.rule)

    def on(self, ranks: Ranks, exponent: float | None) -> float:
        """As of any term."""
        share = 1.0 if self._holds(ranks) else self.outside
        return share * float(self.function(np.array([ranks.max()]))[0])

    def _holds(self, ranks: Ranks) -> bool:
        top = ranks.max()
        if self.rule == CORNER.TOP_LEFT:
            return bool(ranks[0, 0] == top)
        if self.rule == CORNER.FIRST:
            i, j = divmod(int(ranks.argmax()), ranks.shape[1])
            return i in (0, ranks.shape[0] - 1) and j in (0, ranks.shape[1] - 1)
        corners = ranks[:: max(len(ranks) - 1, 1), :: max(ranks.shape[1] - 1, 1)]
        return self.rule == CORNER.ANYWHERE or bool(top in corners)


@dataclass(frozen=True)
class CountTerm(Definition):
    """`function(counts[n]) -> float64[n]` of the number of empty cells."""

    def add_to(self, block: Block, scale: float, exponent: float | None) -> None:
        """As of any term: to the numbers by empty cells."""
        block.empty += scale * self.function(np.arange(17))

    def on(self, ranks: Ranks, exponent: float | None) -> float:
        """As of any term."""
        return float(self.function(np.array([(ranks == 0).sum()]))[0])


@dataclass(frozen=True)
class HeatTerm(Definition):
    """`function(heat[n]) -> float64[n]` of H, the sum over rows and columns of `heat(ranks)`."""

    heat: Callable[[Ranks], Ranks] = lambda ranks: ranks

    def add_to(self, block: Block, scale: float, exponent: float | None) -> None:
        """As of any term: to the numbers by heat, which a line table of its own adds up."""
        block.squash += scale * self.function(2 * np.arange(BLOCK.SQUASH_SIZE))
        block.heat = self.heat(all_lines(4))

    def on(self, ranks: Ranks, exponent: float | None) -> float:
        """As of any term."""
        return float(self.function(self.heat(ranks).sum() + self.heat(ranks.T).sum()))

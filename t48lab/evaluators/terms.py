"""The terms that evaluators are built from: `TERMS` by name, each with its exact definition and source.

Notation in the definitions: r is a tile's rank (0 = empty cell), v its face value (0 = empty cell), E the
number of empty cells, M the largest face value, lg the logarithm to base 2 (of 0: 0). A *line* is a row
read from left to right or a column read from top to bottom; a pair is two adjacent cells of a line, first
a and then b. A line term is added up over all rows and all columns of the board.

A term is symmetric when it gives the 8 symmetries of a board one value; the others anchor a corner or a
reading direction. `system A` to `system E` are the five published agents that the project rebuilds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from t48lab.evaluators.blocks import Function, Ranks, Reals
from t48lab.evaluators.termkinds import CountTerm, Definition, HeatTerm, LineTerm, PeakTerm, PlacedTerm, Range
from t48lab.kernels.layout import CORNER

TERMS: dict[str, Definition] = {}


def _define(
    kind: type[Definition], name: str, source: str, weight: Range, **more: Any
) -> Callable[[Function], Function]:
    """A decorator that enters a function under `name`, with its docstring as the definition."""

    def enter(function: Function) -> Function:
        meaning = " ".join((function.__doc__ or "").split())
        options = {"symmetric": True} | more
        TERMS[name] = kind(name=name, meaning=meaning, source=source, weight=weight, function=function, **options)
        return function

    return enter


def face_values(ranks: Ranks) -> Ranks:
    """Face values of ranks: 0 where empty, else 2**rank."""
    return np.where(ranks > 0, np.int64(1) << ranks, 0)


def _pairs(cells: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    return cells[:, :-1], cells[:, 1:]


def _total(numbers: NDArray[Any]) -> Reals:
    """Sums over the cells or pairs of each line, float64[n]."""
    return np.asarray(numbers.sum(axis=1), np.float64)


def _powers(ranks: Ranks, exponent: float) -> Reals:
    return np.asarray(np.power(ranks.astype(np.float64), exponent))


@_define(
    LineTerm,
    "empty",
    "exponent 1: systems A to E",
    Range(1.0, 1000.0, log=True),
    norm=16.0,
    exponent=1.0,
    exponents=Range(0.2, 3.0),
)
def _empty(ranks: Ranks, exponent: float) -> Reals:
    """The sum of n/2 * (e/n)^exponent over the lines, e the empty ones of a line's n cells; E with exponent 1.
    (Every cell stands in one row and one column.)"""
    cells = ranks.shape[1]
    return np.asarray(0.5 * cells * ((ranks == 0).sum(axis=1) / cells) ** exponent)


@_define(
    LineTerm,
    "monotonicity",
    "exponent 4: the open-source evaluator that `classic` follows; exponent 1: t48lab's reading of system C",
    Range(0.1, 1000.0, log=True),
    exponent=4.0,
    exponents=Range(1.0, 5.0),
)
def _monotonicity(ranks: Ranks, exponent: float) -> Reals:
    """Minus the smaller of two sums over the pairs of a line, empty cells counting as rank 0: the falls
    a^exponent - b^exponent where a > b, the rises b^exponent - a^exponent where b > a (a, b ranks)."""
    first, second = _pairs(_powers(ranks, exponent))
    falls = _total(np.maximum(first - second, 0))
    rises = _total(np.maximum(second - first, 0))
    return -np.minimum(falls, rises)


@_define(
    LineTerm,
    "smoothness",
    "exponent 1: system A",
    Range(1.0, 10_000.0, log=True),
    exponent=1.0,
    exponents=Range(0.1, 3.0),
)
def _smoothness(ranks: Ranks, exponent: float) -> Reals:
    """Minus the sum of |lg a - lg b|^exponent over the pairs that are both non-empty."""
    first, second = _pairs(ranks)
    both = (first > 0) & (second > 0)
    return -_total(_powers(abs(first - second), exponent) * both)


@_define(
    LineTerm,
    "corner",
    "t48lab: a corner term that needs lines alone",
    Range(0.1, 1000.0, log=True),
    exponent=2.0,
    exponents=Range(0.5, 5.0),
)
def _corner(ranks: Ranks, exponent: float) -> Reals:
    """The largest r^exponent of a line when it stands at an end of the line, else 0. (A tile in a corner
    counts in two lines, one elsewhere on the edge in one, one inside in none.)"""
    powers = _powers(ranks, exponent)
    largest = powers.max(axis=1)
    return np.where(np.maximum(powers[:, 0], powers[:, -1]) == largest, largest, 0.0)


@_define(LineTerm, "merges", "the open-source evaluator that `classic` follows", Range(1.0, 2000.0, log=True))
def _merges(ranks: Ranks, exponent: None) -> Reals:
    """k for every run of k >= 2 equal tiles among the non-empty tiles of a line, in order."""
    last, run = np.zeros((2, len(ranks)), np.int64)
    total = np.zeros(len(ranks))
    for cell in ranks.T:
        again = (cell > 0) & (cell == last)
        total += again * np.where(run == 1, 2, 1)
        run = np.where(again, run + 1, np.where(cell > 0, 1, run))
        last = np.where(cell > 0, cell, last)
    return total


@_define(
    LineTerm,
    "rank_sum",
    "the open-source evaluator that `classic` follows",
    Range(-100.0, 0.0),
    exponent=3.5,
    exponents=Range(1.0, 5.0),
)
def _rank_sum(ranks: Ranks, exponent: float) -> Reals:
    """The sum of r^exponent over the tiles of a line, so over the board every tile counts twice."""
    return _total(_powers(ranks, exponent))


@_define(LineTerm, "line_bonus", "the open-source evaluator that `classic` follows", Range(0.0, 1_000_000.0))
def _line_bonus(ranks: Ranks, exponent: None) -> Reals:
    """1 for every line, so 8 on a 4x4 board: what a live position is worth above a lost one."""
    return np.ones(len(ranks))


@_define(LineTerm, "descent", "system A", Range(0.01, 100.0, log=True), symmetric=False)
def _descent(ranks: Ranks, exponent: None) -> Reals:
    """The sum of lg a - lg b over the pairs that are both non-empty with a > b; anchors the top-left."""
    first, second = _pairs(ranks)
    return _total(np.maximum(first - second, 0) * (second > 0))


@_define(LineTerm, "roughness", "systems C and D", Range(-10.0, 10.0))
def _roughness(ranks: Ranks, exponent: None) -> Reals:
    """The sum of |a - b|, differences of face values, over the pairs that are both non-empty."""
    first, second = _pairs(face_values(ranks))
    return _total(abs(first - second) * ((first > 0) & (second > 0)))


@_define(LineTerm, "mono_count", "system D, D2 and D3", Range(0.01, 100.0, log=True), norm=24.0)
def _mono_count(ranks: Ranks, exponent: None) -> Reals:
    """The larger of two numbers of pairs of a line: those with a >= b and a non-empty, and those with
    a <= b and b non-empty; empty cells stay in their places. 24 at most on a 4x4 board."""
    first, second = _pairs(ranks)
    down = _total((first >= second) & (first > 0))
    up = _total((first <= second) & (second > 0))
    return np.maximum(down, up)


def _closed_violations(ranks: Ranks, exponent: None) -> Reals:
    """The same of a column: descents between consecutive tiles after the empty cells are taken out."""
    last, total = np.zeros((2, len(ranks)), np.int64)
    for cell in ranks.T:
        total = total + ((cell > 0) & (last > cell))
        last = np.where(cell > 0, cell, last)
    return total.astype(np.float64)


@_define(
    LineTerm,
    "violations",
    "system D, D1 and D4",
    Range(-100.0, 100.0),
    symmetric=False,
    column=_closed_violations,
)
def _violations(ranks: Ranks, exponent: None) -> Reals:
    """The number of descents a > b: in a row over the pairs that are both non-empty, in a column over
    consecutive tiles after the empty cells are taken out. Anchors the bottom-right when weighted negatively."""
    first, second = _pairs(ranks)
    return _total((first > second) & (second > 0))


@_define(LineTerm, "signed_logs", "system E", Range(0.01, 100.0, log=True), symmetric=False)
def _signed_logs(ranks: Ranks, exponent: None) -> Reals:
    """Over the pairs that are both non-empty: plus lg a where a >= b, else minus lg b; anchors the top-left."""
    first, second = _pairs(ranks)
    both = (first > 0) & (second > 0)
    return _total(np.where(first >= second, first, -second) * both)


@_define(LineTerm, "open_smoothness", "system E", Range(0.001, 10.0, log=True), symmetric=False)
def _open_smoothness(ranks: Ranks, exponent: None) -> Reals:
    """Minus the sum of |a - b|, face values, over the pairs whose first cell is non-empty; an empty second
    cell counts as 0."""
    first, second = _pairs(face_values(ranks))
    return -_total(abs(first - second) * (first > 0))


@_define(
    PlacedTerm,
    "snake",
    "common practice; no system of the five uses it",
    Range(0.001, 1000.0, log=True),
    symmetric=False,
    exponent=1.0,
    exponents=Range(0.2, 3.0),
)
def _snake(ranks: Ranks, exponent: float, row: int) -> Reals:
    """The sum of v * 2^(-exponent * p) over the cells, p = 0, 1, 2 ... their places along the path that runs
    to the right through row 0, to the left through row 1 and so on; anchors the top-left."""
    cells = ranks.shape[1]
    places = row * cells + np.arange(cells)[:: 1 if row % 2 == 0 else -1]
    return np.asarray(face_values(ranks) @ np.exp2(-exponent * places))


@_define(
    HeatTerm,
    "heat",
    "system D, D2 and D3 (the table's anchor, not the text's)",
    Range(0.01, 100.0, log=True),
    symmetric=False,
    norm=1.0,
    heat=lambda ranks: face_values(ranks) @ np.arange(3, 3 - ranks.shape[1], -1),
)
def _heat(heat: Ranks) -> Reals:
    """1 / (1 + exp(-0.05 * H)), H = sum of v * (6 - i - j) over row i and column j from 0; anchors the
    top-left."""
    return np.asarray(1 / (1 + np.exp(-0.05 * heat)))


@_define(PeakTerm, "largest", "systems C and D4", Range(0.001, 1000.0, log=True))
def _largest(ranks: Ranks) -> Reals:
    """M."""
    return face_values(ranks).astype(np.float64)


@_define(PeakTerm, "largest_log", "system D, D1", Range(0.01, 1000.0, log=True))
def _largest_log(ranks: Ranks) -> Reals:
    """lg M, the rank of the largest tile; 0 on the empty board."""
    return ranks.astype(np.float64)


@_define(PeakTerm, "largest_log1", "system D, D2 and D3", Range(0.01, 1000.0, log=True), norm=12.0)
def _largest_log1(ranks: Ranks) -> Reals:
    """lg(M + 1)."""
    return np.asarray(np.log2(face_values(ranks) + 1.0))


@_define(PeakTerm, "corner_largest", "system A", Range(0.01, 100.0, log=True), rule=CORNER.ANY)
def _corner_largest(ranks: Ranks) -> Reals:
    """M when a tile of face value M stands in any of the four corners, else 0."""
    return _largest(ranks)


@_define(
    PeakTerm,
    "corner_bonus",
    "system A, the constant bonus it found unstable",
    Range(1.0, 10_000.0, log=True),
    rule=CORNER.ANY,
)
def _corner_bonus(ranks: Ranks) -> Reals:
    """1 when a tile of face value M stands in any of the four corners, else 0; 0 on the empty board."""
    return (ranks > 0).astype(np.float64)


@_define(
    PeakTerm,
    "corner_log",
    "system E",
    Range(0.1, 1000.0, log=True),
    symmetric=False,
    rule=CORNER.FIRST,
)
def _corner_log(ranks: Ranks) -> Reals:
    """lg M when the first tile of face value M, row by row from the top-left, stands in a corner, else 0."""
    return _largest_log(ranks)


@_define(
    PeakTerm,
    "top_left_largest",
    "system D, D4",
    Range(0.01, 100.0, log=True),
    symmetric=False,
    rule=CORNER.TOP_LEFT,
    outside=0.25,
)
def _top_left_largest(ranks: Ranks) -> Reals:
    """M when a tile of face value M stands in the top-left corner, else M / 4."""
    return _largest(ranks)


@_define(CountTerm, "empty_bent", "system D's non-linear form", Range(0.01, 100.0, log=True))
def _empty_bent(counts: Ranks) -> Reals:
    """10 E where E >= 5, else 5 E - (5 - E)^2."""
    return np.where(counts >= 5, 10.0 * counts, 5.0 * counts - (5.0 - counts) ** 2)

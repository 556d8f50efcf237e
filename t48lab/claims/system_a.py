"""Claims of system A, fixed-corner expectimax.

Its listing lost its operators. Verdicts rest on the reading that the project states (descents add to a position's
value); the reasons say what the other reading (descents are penalties) gives, which plays far better.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from t48lab.claims.evidence import Evidence, node_saving, time_ratio
from t48lab.claims.registry import claim, median_tiles, percent, plain
from t48lab.claims.rulings import (
    Found,
    Ruling,
    Word,
    above,
    all_of,
    exists,
    like_sample,
    mean,
    near,
    resampled,
    share,
    within,
)

LAYERS = ["A, 3 layers", "A, 4 layers", "A, 5 layers"]
WEIGHTS = ["A, no corner", "A, half corner", "A, 4 layers"]
FACTOR = 1.5
"""How far a ratio of times may be off: other machines, other memory."""


def reversed_reading(labels: list[str]) -> list[str]:
    """The labels of the same agents under the other reading."""
    return [label.replace("A,", "A reversed,") for label in labels]


def other_rate(e: Evidence, label: str, tile: int) -> str:
    """A sentence on the rate of a tile under the other reading."""
    (other,) = reversed_reading([label])
    return f"The other reading: {percent(e.rate(other, tile))} reach {tile}."


@claim("A1")
def ceiling_of_minimax(e: Evidence) -> Ruling:
    """Minimax stops at about 2048: that is its median largest tile, and few games pass it."""
    tiles = np.concatenate([e.column(f"A, minimax {depth}", "max_tile") for depth in (1, 2, 3)])
    low, high = np.percentile(tiles, [2.5, 97.5])
    found = Found(float(np.median(tiles)), float(low), float(high), len(tiles))
    past = share(int((tiles > 2048).sum()), len(tiles))
    word: Word = "holds" if found.value == 2048 and past.high < 0.2 else "fails"
    reason = f"Median of the largest tiles at depths 1 to 3, and where 95% of them lie; {percent(past)} pass 2048. "
    reason += f"Expectimax is no better: {median_tiles(e, 'A, 4 layers')}. "
    return Ruling(found, word, f"{reason}The other reading: {median_tiles(e, 'A reversed, minimax 3')}.")


def _sampled(name: str, label: str, tile: int, count: int, games: int) -> None:
    """Enter a claim that `count` of `games` games reach a tile."""

    @claim(name)
    def rule(e: Evidence) -> Ruling:
        word = like_sample(*e.reached(label, tile), count, games)
        reason = f"Share of games at {tile}; {median_tiles(e, label)}. {other_rate(e, label, tile)}"
        return Ruling(e.rate(label, tile), word, reason)


_sampled("A2", "A, no corner", 8192, 0, 50)
_sampled("A4", "A, 4 layers", 8192, 11, 50)
_sampled("A6", "A, half corner", 8192, 2, 50)
_sampled("A9", "A, 5 layers", 8192, 11, 30)


def _mean_tile(name: str, label: str, claimed: int, more: str = "") -> None:
    """Enter a claim on the mean largest tile."""

    @claim(name)
    def rule(e: Evidence) -> Ruling:
        found = e.mean(label, "max_tile")
        (other,) = reversed_reading([label])
        reason = f"Mean largest tile. The other reading: {plain(e.mean(other, 'max_tile'))}.{more}"
        return Ruling(found, near(found, claimed), reason)


_mean_tile("A3", "A, no corner", 4096)
_mean_tile("A5", "A, 4 layers", 8192, " Beside A4 it would need 11 games that average over 22,000.")


@claim("A7")
def three_layers(e: Evidence) -> Ruling:
    """60% at 4096, never 8192, mean largest tile 3072."""
    label = LAYERS[0]
    largest = e.mean(label, "max_tile")
    word = all_of(
        like_sample(*e.reached(label, 4096), 18, 30), like_sample(*e.reached(label, 8192), 0, 30), near(largest, 3072)
    )
    reason = f"Share at 4096; {e.reached(label, 8192)[0]} games at 8192; mean largest tile {plain(largest)}. "
    return Ruling(e.rate(label, 4096), word, reason + other_rate(e, label, 4096))


@claim("A8")
def four_layers(e: Evidence) -> Ruling:
    """Always 4096, 8192 in 23%."""
    label = LAYERS[1]
    word = all_of(like_sample(*e.reached(label, 4096), 30, 30), like_sample(*e.reached(label, 8192), 7, 30))
    reason = f"Share at 8192; {percent(e.rate(label, 4096))} reach 4096. "
    return Ruling(e.rate(label, 8192), word, reason + other_rate(e, label, 4096))


@claim("A10")
def a_change_of_kind(e: Evidence) -> Ruling:
    """The fourth layer gains more than the fifth."""

    def bend(labels: list[str]) -> Found:
        rows = e.together(labels)
        return mean(2 * rows[:, 1] - rows[:, 0] - rows[:, 2])

    found = bend(LAYERS)
    means = ", ".join(f"{e.mean(label).value:,.0f}" for label in LAYERS)
    reason = f"Points gained from 3 to 4 layers less those from 4 to 5; mean scores {means}. "
    return Ruling(found, above(found), f"{reason}The other reading: {plain(bend(reversed_reading(LAYERS)))}.")


@claim("A11")
def growing_times(e: Evidence) -> Ruling:
    """1 : 7.5 : 25 over 3, 4 and 5 layers."""
    table = e.measure("memo_a")
    four, five = (time_ratio(table, f"ordered {layers}", "ordered 3") for layers in (4, 5))
    word = all_of(*(within(found, x / FACTOR, x * FACTOR) for found, x in ((four, 7.5), (five, 25.0))))
    kernel = e.per_move(LAYERS[2]).value / e.per_move(LAYERS[0]).value
    reason = "Time of 5 layers over 3, of a Python program with the author's memo and order on positions of its games; "
    return Ruling(
        five, word, f"{reason}4 over 3: {plain(four)}. Upheld within a factor of 1.5. Our kernel: {kernel:.3g}."
    )


@claim("A12")
def saved_by_the_memo(e: Evidence) -> Ruling:
    """At least 70% of node visits."""
    found, deeper = (node_saving(e.measure("memo_a"), f"memo {layers}", f"plain {layers}") for layers in (4, 5))
    return Ruling(found, above(found, 0.70), f"Nodes saved by position at 4 layers; at 5 layers {percent(deeper)}.")


@claim("A13")
def constant_corner(e: Evidence) -> Ruling:
    """A bonus in proportion to the tile beats a constant one."""

    def ahead(labels: list[str]) -> Found:
        return e.difference(*labels)

    labels = ["A, 4 layers", "A, constant corner"]
    found = ahead(labels)
    rates = " and ".join(percent(e.rate(label, 1024)) for label in labels)
    reason = f"Points by which the proportional bonus is ahead; {rates} reach 1024 at all. "
    return Ruling(found, above(found), f"{reason}The other reading: {plain(ahead(reversed_reading(labels)))}.")


@claim("A14")
def playouts_reach_8192(e: Evidence) -> Ruling:
    """Some game of Monte-Carlo tree search reaches 8192."""
    counts = {n: e.reached(f"B corrected, {n}", 8192) for n in (1000, 5000, 10000)}
    some, games = (counts[5000][i] + counts[10000][i] for i in (0, 1))
    each = ", ".join(f"{count} of {of} games with {n:,}" for n, (count, of) in counts.items())
    reason = f"Share at 8192 with 5,000 or 10,000 playouts a move, points scaled to suit C; {each}."
    return Ruling(share(some, games), exists(some, games), reason)


def _spread(rows: NDArray[np.float64]) -> float:
    """How far means lie apart over three sets of weights, less how far over three depths; columns in that order."""
    means = rows.mean(axis=0)
    return float(np.ptp(means[:3]) - np.ptp(means[3:]))


@claim("A15")
def weights_before_depth(e: Evidence) -> Ruling:
    """Scores differ more between the weights tried than between the depths."""
    labels = [*WEIGHTS, *LAYERS]
    found, other = (resampled(e.together(names), _spread) for names in (labels, reversed_reading(labels)))
    reason = "Points between the best and the worst weights, less those between the best and the worst depth. "
    return Ruling(found, above(found), f"{reason}The other reading: {plain(other)}.")


@claim("A16")
def most_reach_8192(e: Evidence) -> Ruling:
    """More than half, at 4 and at 5 layers."""
    four, five = (e.rate(label, 8192) for label in LAYERS[1:])
    reason = f"Share at 8192 with 5 layers; with 4 {percent(four)}. {other_rate(e, LAYERS[2], 8192)}"
    return Ruling(five, all_of(above(four, 0.5), above(five, 0.5)), reason)

"""What exact play is for: points, points against the worst spawns, or the chance of a tile."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from t48lab.compiled import load
from t48lab.errors import T48Error
from t48lab.exact.shapes import top_rank
from t48lab.rules import Rules

CHOICES = "score, adversary or tile:N"


class Objective(NamedTuple):
    """How a sweep values positions: numbers of `kernels/solving.py`; the kinds of its channels are an int64 array."""

    name: str
    choice: int
    chance: int
    kinds: NDArray[np.int64]


def read_objective(text: str, rules: Rules) -> Objective:
    """The objective of a text, `score`, `adversary` or `tile:512`; raises T48Error."""
    solving = load("solving")
    name, _, number = str(text).partition(":")
    chance = solving.LEAST if name == "adversary" else solving.MEAN
    if name == "tile":
        return Objective(text, solving.LARGEST, chance, np.array([_rank(number, rules)], np.int64))
    if text in ("score", "adversary"):
        return Objective(text, solving.LARGEST, chance, np.array([solving.POINTS], np.int64))
    raise T48Error(f"unknown objective {text!r}, choose from {CHOICES}")


def play_of(name: str, rules: Rules, average: bool) -> Objective:
    """What a game of given play comes to: points, their square, and the chance of each tile from 4 up.

    Play is the average of all legal moves, or else the one move that a policy leaves.
    """
    solving = load("solving")
    kinds = [solving.POINTS, solving.SQUARES, *range(2, top_rank(rules) + 1)]
    choice = solving.AVERAGE if average else solving.LARGEST
    return Objective(name, choice, solving.MEAN, np.array(kinds, np.int64))


def _rank(number: str, rules: Rules) -> int:
    top = 1 << top_rank(rules)
    tile = int(number) if number.isdecimal() and len(number) < 8 else 0
    if tile < 2 or tile & (tile - 1):
        raise T48Error(f"tile must be a power of two, 2 to {top}, got {number!r}: write it as in tile:{top}")
    if tile > top:
        raise T48Error(f"a tile {tile} cannot be reached on {rules.rows}x{rules.cols}, the largest is {top}")
    return tile.bit_length() - 1

"""What is known of a small board before any position is looked at: its layers, its starts, its size."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray

from t48lab.compiled import load
from t48lab.errors import T48Error
from t48lab.kernels.layout import FIRST_SUM
from t48lab.rules import Rules

MOST_CELLS = 9
"""Cells of the largest board whose positions have keys of 32 bits, see `kernels/keys.py`."""
BYTES_A_POSITION = 12
"""A key and a value."""


def check_size(rules: Rules, memory: float | None = None) -> None:
    """Raises T48Error, with an estimate, for boards whose tables do not fit: MOST_CELLS cells, gigabytes of memory."""
    if rules.rows * rules.cols > MOST_CELLS:
        count = at_most(rules)
        raise T48Error(
            f"{rules.rows}x{rules.cols} has about {count:.1e} positions, {size(count * BYTES_A_POSITION)} of tables; "
            f"exact play takes boards of at most {MOST_CELLS} cells, such as 3x3"
        )
    need = at_most(rules) * BYTES_A_POSITION
    if memory is not None and need > 1e9 * memory:
        raise T48Error(
            f"the tables of {rules.rows}x{rules.cols} may take {size(need)}, {memory:g} GB are given: "
            "give more memory, or a smaller board"
        )


def totals(rules: Rules) -> range:
    """The sums of tiles that positions can have: two 2s and up, to one tile of each kind."""
    return range(FIRST_SUM, 2 ** (rules.rows * rules.cols + 2) - 2, 2)


def top_rank(rules: Rules) -> int:
    """The rank of the largest tile that play can make, while each smaller one but the spawned stood beside it."""
    return rules.rows * rules.cols + (rules.four_probability > 0)


def at_most(rules: Rules) -> int:
    """About the number of positions, symmetric ones as one: more than there are, less than six times as many.

    While a tile of rank r is made beside m larger ones, r - 1 cells (with 2s alone: r) hold the tiles that it is made
    of. So sorted ranks stay below a staircase, and such boards are counted as parking functions are: a (a + n)^(n - 1)
    for n cells and a ranks at the lowest step (Konheim, Weiss 1966, SIAM J. Appl. Math. 14).
    """
    cells, lowest = rules.rows * rules.cols, 3 if 0 < rules.four_probability < 1 else 2
    return lowest * int((lowest + cells) ** (cells - 1)) // (8 if rules.rows == rules.cols else 4)


def starts(rules: Rules) -> Iterator[tuple[int, float]]:
    """Every start and its probability: two tiles in distinct cells, as packed boards; some come more than once."""
    places = [60 - 4 * (4 * r + c) for r in range(rules.rows) for c in range(rules.cols)]
    odds = [(1, 1.0 - rules.four_probability), (2, rules.four_probability)]
    pairs = list(permutations(places, 2))
    for (i, j), (first, p), (second, q) in product(pairs, odds, odds):
        if p * q > 0:
            yield first << i | second << j, p * q / len(pairs)


def tile_sum(board: int) -> int:
    """The sum of the tiles of a packed board."""
    return sum((1 << rank) & ~1 for rank in (board >> shift & 15 for shift in range(0, 64, 4)))


def key_of(board: int, rules: Rules, symmetric: bool = True) -> int:
    """The key of a packed board, see `kernels/keys.py`."""
    key = np.zeros(1, np.uint32)
    load("keys").write_keys(np.array([board], np.uint64), 1, rules.arrays()[1], symmetric, key)
    return int(key[0])


def start_keys(rules: Rules, symmetric: bool) -> dict[int, NDArray[np.uint32]]:
    """The keys of all starts by sum of tiles."""
    found: dict[int, set[int]] = {}
    for board, _ in starts(rules):
        found.setdefault(tile_sum(board), set()).add(key_of(board, rules, symmetric))
    return {total: np.array(sorted(keys), np.uint32) for total, keys in found.items()}


def size(count: float) -> str:
    """A number of bytes in the largest unit that keeps it above 1: `585 MB`."""
    unit = min(int(math.log10(max(count, 1.0))) // 3, 4)
    return f"{count / 1000**unit:.3g} {('bytes', 'kB', 'MB', 'GB', 'TB')[unit]}"

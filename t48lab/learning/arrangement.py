"""How a search finds a net's entries: tables over nearly the same cells lie in each other, so that they miss together.

Two patterns of equal length that share all cells but one are a pair: in its table the shared cells count most, and
for each of their ranks come the 16 entries of the first pattern, by the rank of its own cell, and then those of the
second, in 64 bytes. Any other pattern has a table of its own, as in a net file. Pairs come first.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from t48lab.kernels.layout import NET
from t48lab.learning.structure import Structure


class Group(NamedTuple):
    """One table: where it starts, its patterns, the cells that they share, and the own cell of each of a pair."""

    start: int
    patterns: tuple[str, ...]
    shared: list[int]
    own: list[int]


def groups(structure: Structure) -> list[Group]:
    """The tables of one stage in their order."""
    cells = {pattern: structure.cells(pattern) for pattern in structure.patterns}
    single, found, start = list(structure.patterns), [], 0
    for one, other in combinations(structure.patterns, 2):
        shared = sorted({*cells[one]} & {*cells[other]})
        if one in single and other in single and len(shared) + 1 == len(cells[one]) == len(cells[other]):
            own = [(set(cells[pattern]) - set(shared)).pop() for pattern in (one, other)]
            found.append(Group(start, (one, other), shared, own))
            start += 2 * 16 ** len(cells[one])
            single = [pattern for pattern in single if pattern not in (one, other)]
    for pattern in single:
        found.append(Group(start, (pattern,), cells[pattern], []))
        start += 16 ** len(pattern)
    return found


def arranged(structure: Structure, entries: NDArray[np.int16]) -> NDArray[np.int16]:
    """The entries of a net file in the order of a search."""
    made = np.empty_like(entries)
    first = dict(zip(structure.patterns, structure.starts(), strict=True))
    for stage in range(0, structure.size, structure.entries):
        for group in groups(structure):
            size = 16 ** len(group.patterns[0])
            table = made[stage + group.start :][: size * len(group.patterns)].reshape(-1, len(group.patterns), 16)
            for k, pattern in enumerate(group.patterns):
                old = entries[stage + first[pattern] :][:size].reshape((16,) * len(pattern))
                axis = structure.cells(pattern).index(group.own[k]) if group.own else -1
                table[:, k] = np.moveaxis(old, axis, -1).reshape(-1, 16)
    return made


def words(structure: Structure) -> NDArray[np.int64]:
    """The net as kernels read it beside its entries, int64, see NET in `kernels/layout.py`."""
    tables = groups(structure)
    network = np.zeros(NET.GROUPS + NET.GROUP * len(tables), np.int64)
    network[: NET.SHIFTS + 8] = structure.array()[:8].view(np.int64)
    network[NET.SQUARE], network[NET.ENTRIES] = structure.symmetries == 8, structure.entries
    network[NET.PAIRS] = sum(len(group.patterns) == 2 for group in tables)
    network[NET.SINGLES] = len(tables) - network[NET.PAIRS]
    network[NET.STAGES] = 1 + len(structure.stages)
    for k, tile in enumerate(structure.stages):
        network[NET.STAGE_RANKS + k] = tile.bit_length() - 1
    for k, group in enumerate(tables):
        runs = structure.runs(group.shared)
        numbers = [number for run in runs for number in run]
        record = network[NET.GROUPS + NET.GROUP * k :]
        record[NET.START], record[NET.RUNS] = group.start, max(2, len(runs))
        record[NET.RUN : NET.RUN + len(numbers)] = numbers
        record[NET.OWN : NET.OWN + len(group.own)] = [60 - 4 * structure.place(cell) for cell in group.own]
    return network


def places_of(structure: Structure, ranks: NDArray[np.int64]) -> dict[str, list[int]]:
    """Which entries a board looks up, by pattern; `ranks` is int64[rows, cols]."""
    turned = [ranks, ranks[::-1], ranks[:, ::-1], ranks[::-1, ::-1]]
    turned += [board.T for board in turned] if structure.symmetries == 8 else []
    stage = structure.entries * sum(2 ** int(ranks.max()) >= tile for tile in structure.stages)
    found: dict[str, list[int]] = {}
    for group in groups(structure):
        scale = 16 ** np.arange(len(group.shared))[::-1]
        for k, pattern in enumerate(group.patterns):
            found[pattern] = []
            for cells in (board.ravel() for board in turned):
                place = int(cells[group.shared] @ scale)
                place = 32 * place + 16 * k + int(cells[group.own[k]]) if group.own else place
                found[pattern].append(stage + group.start + place)
    return {pattern: found[pattern] for pattern in structure.patterns}

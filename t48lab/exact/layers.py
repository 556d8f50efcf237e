"""One layer after the other: which positions play can reach, and what they are worth.

A layer is all positions of one sum of tiles, as sorted keys. Forward, a layer's afterstates lead to positions of the
next two; backward, the values of those two give the layer's.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from t48lab.compiled import load
from t48lab.exact.crew import Crew
from t48lab.exact.objectives import Objective
from t48lab.exact.shapes import start_keys
from t48lab.rules import Rules

Keys = NDArray[np.uint32]
Values = NDArray[np.float64]
Policy = NDArray[np.int8]
Layer = tuple[int, Keys, Policy]
"""The sum of tiles, the positions, and one direction each or EVERY_MOVE."""

EVERY_MOVE: Policy = np.zeros(0, np.int8)
_SPARE = 1.2
"""How much larger than the layer before a layer is expected to be; a table that gets too full is made anew."""


class KeySet:
    """A table of keys that grows when it must: `table` by slot, 0 where a slot is free, `taken` slots in use."""

    def __init__(self, expected: int = 0) -> None:
        self.taken, self.table = 0, np.zeros(_slots(expected), np.uint32)

    def add(self, keys: Keys) -> NDArray[np.int32]:
        """The slot of each key, -1 for key 0; all keys are in the table then."""
        slots, enter = np.empty(len(keys), np.int32), load("keys").enter
        while (taken := enter(keys, len(keys), self.table, self.taken, slots)) < 0:
            known = self.table[self.table > 0]
            self.table = np.zeros(2 * len(self.table), np.uint32)
            self.taken = enter(known, len(known), self.table, 0, np.empty(len(known), np.int32))
        self.taken = taken
        return slots

    def ordered(self) -> Keys:
        """The keys in ascending order."""
        return np.sort(self.table[self.table > 0])


def _slots(expected: int) -> int:
    return int(_SPARE * expected / load("keys").FULL) + 64


class Afterstates(NamedTuple):
    """Those of a layer: their keys by slot, 0 where none is, and the slot by position and direction, -1 for none."""

    table: Keys
    slots: NDArray[np.int32]


class Ground:
    """What both directions share: the rules as arrays, the threads, and the afterstates of a layer."""

    def __init__(self, rules: Rules, crew: Crew, symmetric: bool = True) -> None:
        self.rules, self.crew, self.symmetric = rules, crew, symmetric
        self.moves, self.numbers = rules.arrays()
        self._last = 0

    def afterstates(self, total: int, keys: Keys, policy: Policy, shared: bool = True) -> Afterstates:
        """A layer's afterstates, of one direction a position with a policy; by one thread unless the work is shared."""
        found, write = np.empty(4 * len(keys), np.uint32), load("solving").write_afterstates

        def part(begin: int, end: int) -> None:
            chosen = policy[begin:end]
            here, there = keys[begin:end], found[4 * begin : 4 * end]
            write(here, np.uint64(total), self.moves, self.numbers, self.symmetric, chosen, there)

        if shared:
            self.crew.share(part, len(keys))
        else:
            part(0, len(keys))
        afterstates = KeySet(self._last)
        slots = afterstates.add(found)
        self._last = afterstates.taken
        return Afterstates(afterstates.table, slots)


class Frontier:
    """The positions that play reaches, layer by layer from the starts."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self._starts = start_keys(ground.rules, ground.symmetric)
        self._ahead: dict[int, KeySet] = {}
        self._last = 0

    def layer(self, total: int) -> Keys:
        """The positions of a layer, once the two before it are expanded; they are forgotten here."""
        keys = self._at(total).ordered()
        self._last = len(keys)
        del self._ahead[total]
        return keys

    def expand(self, total: int, keys: Keys, policy: Policy = EVERY_MOVE) -> None:
        """Adds the positions that a layer leads to, by all moves or those of a policy."""
        table, _ = self.ground.afterstates(total, keys, policy)
        found = self.ground.crew.share(lambda begin, end: self._spawns(table[begin:end], total), len(table))
        four = self.ground.rules.four_probability
        ways = [(total + 2, 0)] * (four < 1) + [(total + 4, 1)] * (four > 0)
        sets = [(self._at(after), which) for after, which in ways]
        self.ground.crew.run([functools.partial(_add, known, [part[which] for part in found]) for known, which in sets])

    def _spawns(self, afterstates: Keys, total: int) -> tuple[Keys, Keys]:
        most = len(afterstates) * load("solving").MOST_EMPTY
        twos, fours = np.empty(most, np.uint32), np.empty(most, np.uint32)
        count = load("solving").write_spawns(
            afterstates, np.uint64(total), self.ground.numbers, self.ground.symmetric, twos, fours
        )
        return twos[:count], fours[:count]

    def _at(self, total: int) -> KeySet:
        if total not in self._ahead:
            self._ahead[total] = KeySet(self._last)
            self._ahead[total].add(self._starts.get(total, np.zeros(0, np.uint32)))
        return self._ahead[total]


def _add(known: KeySet, parts: list[Keys]) -> None:
    for keys in parts:
        known.add(keys)


class Sweep:
    """The values of positions, layer by layer from the last."""

    def __init__(self, ground: Ground, objective: Objective) -> None:
        self.ground, self.objective = ground, objective
        self._none = np.zeros(1, np.uint32), np.zeros((len(objective.kinds), 1))
        self._ahead: dict[int, tuple[Keys, Values]] = {}

    def layers(self, wanted: Iterable[Layer]) -> Iterator[Values]:
        """The values [channel, position] of one layer after the other, from those with the largest sums down.

        While one is valued a thread finds the afterstates of the next.
        """
        last = None
        for layer in wanted:
            found = self.ground.crew.later(functools.partial(self.ground.afterstates, *layer, shared=False))
            if last is not None:
                yield self._layer(*last)
            last = layer, found
        if last is not None:
            yield self._layer(*last)

    def _layer(self, layer: Layer, find: Callable[[], Afterstates]) -> Values:
        ground, (_, choice, _, kinds), (total, keys, _) = self.ground, self.objective, layer
        table, slots = find()
        after = self._answers(total, table)
        values = np.empty((len(kinds), len(keys)))
        decide = load("solving").decide
        ground.crew.share(
            lambda begin, end: decide(
                keys, begin, end, np.uint64(total), ground.numbers, slots, after, choice, kinds, values
            ),
            len(keys),
        )
        self.remember(total, keys, values)
        return values

    def _answers(self, total: int, table: Keys) -> Values:
        ground, (_, _, chance, kinds) = self.ground, self.objective
        ahead = *self._ahead.get(total + 2, self._none), *self._ahead.get(total + 4, self._none)
        four, answer = ground.rules.four_probability, load("solving").answer
        out = np.empty((len(kinds), len(table)))
        facts = np.uint64(total), ground.numbers, ground.symmetric, four, chance, kinds
        ground.crew.share(lambda begin, end: answer(table, begin, end, *facts, *ahead, out), len(table))
        return out

    def remember(self, total: int, keys: Keys, values: Values) -> None:
        """Keeps a layer's values for the two layers before it; older ones are forgotten."""
        known = KeySet(len(keys))
        slots = known.add(keys)
        by_slot = np.zeros((len(values), len(known.table)))
        load("solving").scatter(values, slots, by_slot)
        self._ahead[total] = known.table, by_slot
        self._ahead.pop(total + 6, None)

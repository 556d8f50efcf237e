"""Spawners as frozen records: who decides where the next tile appears, and which."""

from __future__ import annotations

from typing import ClassVar

from t48lab.agents.programs import ENGINE, Program, assemble
from t48lab.evaluators import EvaluatorChoice, get_evaluator
from t48lab.kernels.layout import SETTINGS
from t48lab.records import parameter
from t48lab.rules import Rules
from t48lab.specs import SpecRecord, from_spec


class Spawner(SpecRecord):
    """Places the tile after each move; the first two tiles of a game are always random."""

    kernel: ClassVar[str] = ""
    """The compiled search, a file in kernels/; empty where there is none."""

    @property
    def engine(self) -> str:
        """Version of everything that decides its spawns beside its parameters; goes up when any of them changes."""
        return ENGINE

    def compile(self, rules: Rules = Rules()) -> Program | None:
        """The arrays that the spawner's compiled search reads, None for random spawns."""
        return None


class RandomSpawner(Spawner):
    """Any empty cell alike; a 4 with the probability that the rules state, else a 2."""

    name: ClassVar[str] = "random"


class AdversarialSpawner(Spawner):
    """The spawn, either tile in any empty cell, that is worst for the player by an evaluator and a depth."""

    name: ClassVar[str] = "adversarial"
    kernel: ClassVar[str] = "adversary"
    main: ClassVar[tuple[str, ...]] = ("depth", "evaluator")
    depth: int = parameter(1, "how far ahead to look, the player's answer first", "player moves", ge=0, le=16)
    evaluator: EvaluatorChoice = parameter("classic", "what the player is supposed to want")
    table_bits: int = parameter(14, "the transposition table holds 2 to this power of positions", "bits", ge=10, le=26)

    @property
    def engine(self) -> str:
        """As of any spawner; 2 where a floor used to leave wrong bounds in the table, from two moves ahead on."""
        return "2" if self.depth > 1 and get_evaluator(self.evaluator).floored else ENGINE

    def compile(self, rules: Rules = Rules()) -> Program:
        """The arrays of the compiled search."""
        capacity = 1 << self.table_bits
        integers = {SETTINGS.CAPACITY: capacity, SETTINGS.DEPTH: self.depth, SETTINGS.USE_TABLE: 1}
        return assemble(self.kernel, rules, integers, evaluator=self.evaluator, memory_words=2 * capacity)


SPAWNERS: dict[str, type[Spawner]] = {kind.name: kind for kind in (RandomSpawner, AdversarialSpawner)}
"""Every kind of spawner by the name that starts its spec."""


def make_spawner(spec: str | Spawner) -> Spawner:
    """The spawner that a spec such as `adversarial:depth=1,evaluator=classic` describes; raises T48Error."""
    return spec if isinstance(spec, Spawner) else from_spec(spec, SPAWNERS, "spawner")

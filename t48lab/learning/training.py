"""Trainings: a TOML file becomes a checked record of what learns, how, and on how many games.

network = "8x6"              # or a list of patterns
method = "backward_tc"
games = 400_000
restart = 500
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import field_validator, model_validator

from t48lab.errors import T48Error
from t48lab.files import read_toml
from t48lab.kernels import netlayout as at
from t48lab.learning.structure import Structure
from t48lab.records import Record, parameter
from t48lab.rules import Rules


class Training(Record):
    """How a network is trained, with every number that decides its weights."""

    name: ClassVar[str] = "training"
    network: str | tuple[str, ...] = parameter("4x6", "a structure by name, or the cells of each pattern")
    stages: tuple[int, ...] = parameter((), "largest tiles from which on another stage's tables count")
    promotion: int = parameter(
        0, "games after which each stage starts as a copy of the weights learnt until then", "games", ge=0
    )
    method: Literal["td", "tc", "backward_td", "backward_tc"] = parameter(
        "tc",
        "temporal differences at one rate (Szubert, Jaskowski 2014) or with temporal coherence (Jaskowski 2018), "
        "move by move or backward from each game's end (Matsuzaki 2017)",
    )
    rate: float = parameter(1.0, "share of an error that is corrected, spread over all look-ups", gt=0.0, le=10.0)
    final_rate: float | None = parameter(None, "rate at the last game, reached in a straight line", gt=0.0, le=10.0)
    trace: float = parameter(
        0.5, "lambda: how much of the return, rather than the next value, a backward error contains", ge=0.0, le=1.0
    )
    initial: float = parameter(
        0.0,
        "value of a board that nothing is known of; high ones explore (Guei, Chen, Wu 2022)",
        "points",
        ge=0.0,
        le=1e7,
    )
    restart: int = parameter(
        0,
        "moves from which on a finished game is taken up again from its middle (Matsuzaki 2017), 0 = never",
        "moves",
        ge=0,
    )
    games: int = parameter(100_000, "games with all their parts", "games", ge=1, le=10**9)
    seed: int = parameter(2048, "base seed of the games", ge=0, lt=2**63)
    rules: Rules = parameter(Rules(), "board and spawns")

    @field_validator("rules", mode="before")
    @classmethod
    def _rules(cls, value: Any) -> Any:
        return Rules(**value) if isinstance(value, Mapping) else value

    @model_validator(mode="after")
    def _sound(self) -> Training:
        _ = self.structure
        return self

    @property
    def structure(self) -> Structure:
        """The network's tables on this board."""
        return Structure(patterns=self.network, stages=self.stages, rows=self.rules.rows, cols=self.rules.cols)

    @property
    def coherent(self) -> bool:
        """Whether each weight has a rate of its own."""
        return self.method.endswith("tc")

    def numbers(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """(settings, reals) as the training kernel reads them, see `kernels/netlayout.py`."""
        settings, reals = np.zeros(at.SETTINGS_SIZE, np.int64), np.zeros(at.REALS_SIZE)
        settings[at.COHERENT], settings[at.BACKWARD] = self.coherent, self.method.startswith("backward")
        settings[at.SHORTEST], settings[at.LAST] = self.restart, self.games
        reals[at.RATE], reals[at.LAMBDA] = self.rate, self.trace
        reals[at.FINAL_RATE] = self.rate if self.final_rate is None else self.final_rate
        return settings, reals


def load_training(path: str | Path, games: int | None = None) -> Training:
    """The training that a TOML file describes, with `games` in place of the file's; raises T48Error."""
    path = Path(path)
    data = read_toml(path) | ({} if games is None else {"games": games})
    try:
        return Training(**data)
    except T48Error as error:
        raise T48Error(f"{path}: {error}") from None

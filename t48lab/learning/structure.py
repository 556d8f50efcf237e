"""Structures of n-tuple networks: which cells each table looks at, and at which largest tiles another stage begins."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import field_validator, model_validator

from t48lab.errors import T48Error
from t48lab.kernels import netlayout as at
from t48lab.records import Record, nearest, parameter
from t48lab.rules import Rules

STRUCTURES = {
    "4x5": "01234 45678 01245 45689",
    "4x6": "012345 456789 012456 45689a",
    "5x6": "012345 456789 012456 45689a 89abcd",
    "8x6": "012456 456789 012345 234569 01259a 345678 134567 01489a",
}
"""Patterns of the 4x4 board by name. 4x6: Yeh et al. (2017), "Multistage temporal difference learning for 2048-like
games", IEEE T-CIAIG 9(4); 8x6: Matsuzaki (2016), "Systematic selection of n-tuple networks with consideration of
interinfluence for game 2048", TAAI."""

_DIGITS = "0123456789abcdef"


class Structure(Record):
    """The tables of a network on one board; patterns share their weights with all their symmetric copies."""

    name: ClassVar[str] = "structure"
    patterns: tuple[str, ...] = parameter(
        ..., "cells of each pattern as hexadecimal digits, counted row by row from the top-left: a name or a list"
    )
    stages: tuple[int, ...] = parameter((), "largest tiles from which on another stage's tables count")
    rows: int = parameter(4, "rows of the board", ge=2, le=4)
    cols: int = parameter(4, "columns of the board", ge=2, le=4)

    @field_validator("patterns", mode="before")
    @classmethod
    def _named(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        if value not in STRUCTURES:
            raise T48Error(
                f"unknown structure {value!r}, {nearest(value, STRUCTURES)}, or list the cells of each pattern"
            )
        return STRUCTURES[value].split()

    @field_validator("stages")
    @classmethod
    def _climbing(cls, stages: tuple[int, ...]) -> tuple[int, ...]:
        known = [2**rank for rank in range(1, 16)]
        if any(tile not in known for tile in stages) or list(stages) != sorted(set(stages)):
            raise T48Error(f"stages must be tiles up to 32768 in ascending order, got {list(stages)}")
        if len(stages) >= at.MOST_STAGES:
            raise T48Error(f"stages must be fewer than {at.MOST_STAGES}, got {len(stages)}")
        return stages

    @model_validator(mode="after")
    def _sound(self) -> Structure:
        if not 1 <= len(self.patterns) <= at.MOST_PATTERNS:
            raise T48Error(f"a network has 1 to {at.MOST_PATTERNS} patterns, got {len(self.patterns)}")
        seen: dict[frozenset[int], str] = {}
        for pattern in self.patterns:
            cells = self._cells(pattern)
            for image in self._images(cells):
                if image in seen:
                    raise T48Error(f"pattern {pattern} is a symmetric copy of {seen[image]}, leave one of them out")
            seen |= dict.fromkeys(self._images(cells), pattern)
        return self

    def _cells(self, pattern: str) -> frozenset[int]:
        cells = [_DIGITS.find(digit) for digit in pattern]
        count = self.rows * self.cols
        if min(cells, default=-1) < 0 or max(cells) >= count:
            raise T48Error(
                f"pattern {pattern!r} must name cells 0 to {_DIGITS[count - 1]} of the {self.rows}x{self.cols} board"
            )
        if len(set(cells)) != len(cells) or len(cells) > at.MOST_CELLS:
            raise T48Error(f"pattern {pattern!r} must name 1 to {at.MOST_CELLS} cells, each once")
        return frozenset(cells)

    def _images(self, cells: frozenset[int]) -> set[frozenset[int]]:
        """The cells under all symmetries of the board."""
        grid = np.arange(self.rows * self.cols).reshape(self.rows, self.cols)
        turned = [grid, grid[::-1], grid[:, ::-1], grid[::-1, ::-1]]
        turned += [g.T for g in turned] if self.rows == self.cols else []
        return {frozenset(int(g.flat[cell]) for cell in cells) for g in turned}

    @property
    def symmetries(self) -> int:
        """How many symmetries the board has: 8, or 4 when it is not square."""
        return 8 if self.rows == self.cols else 4

    @property
    def lookups(self) -> int:
        """How many weights a value is the sum of."""
        return self.symmetries * len(self.patterns)

    @property
    def entries(self) -> int:
        """The weights of one stage."""
        return sum(16 ** len(pattern) for pattern in self.patterns)

    @property
    def size(self) -> int:
        """The weights of all stages."""
        return self.entries * (1 + len(self.stages))

    def check(self, rules: Rules) -> None:
        """Raises T48Error when the rules have a board of another size."""
        if (rules.rows, rules.cols) != (self.rows, self.cols):
            raise T48Error(
                f"the network is for {self.rows}x{self.cols} boards, the rules have {rules.rows}x{rules.cols}"
            )

    def cells(self, pattern: str) -> list[int]:
        """The cells of a pattern in the order in which they index its table."""
        return sorted(self._cells(pattern))

    def place(self, cell: int) -> int:
        """The cell of the 4x4 grid, in whose top-left the board lies."""
        return 4 * (cell // self.cols) + cell % self.cols

    def starts(self) -> list[int]:
        """Where the table of each pattern begins in a stage."""
        sizes = [16 ** len(pattern) for pattern in self.patterns]
        return [sum(sizes[:k]) for k in range(len(sizes))]

    def array(self, staged: bool = True) -> NDArray[np.uint64]:
        """The structure as kernels read it, uint64, see `kernels/netlayout.py`; in one stage if not `staged`."""
        network = np.zeros(at.HEAD + at.PATTERN * len(self.patterns), np.uint64)
        for lane in range(8):
            network[at.SHIFTS + lane] = 4 * (4 - self.cols) * (lane & 1) + 16 * (4 - self.rows) * (lane >> 1 & 1)
        network[at.PATTERNS], network[at.USED], network[at.ENTRIES] = len(self.patterns), self.symmetries, self.entries
        ranks = [tile.bit_length() - 1 for tile in self.stages] if staged else []
        network[at.STAGES] = 1 + len(ranks)
        network[at.STAGE_RANKS + 1 : at.STAGE_RANKS + 1 + len(ranks)] = ranks
        base = 0
        for k, pattern in enumerate(self.patterns):
            runs = self.runs(self.cells(pattern))
            record = [base, len(runs), *(number for run in runs for number in run)]
            start = at.HEAD + at.PATTERN * k
            network[start : start + len(record)] = record
            base += 16 ** len(pattern)
        return network

    def runs(self, cells: list[int]) -> list[tuple[int, int]]:
        """(shift, mask) of each run of cells that one shift brings to their places in the index."""
        runs: dict[int, int] = {}
        for i, cell in enumerate(cells):
            place = 4 * (len(cells) - 1 - i)
            shift = 60 - 4 * self.place(cell) - place
            runs[shift] = runs.get(shift, 0) | 15 << place
        return list(runs.items())

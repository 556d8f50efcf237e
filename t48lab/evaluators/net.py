"""The evaluator that a net is: what it learnt by playing, from a file of weights."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from pydantic import model_validator

from t48lab.board import Board
from t48lab.errors import T48Error
from t48lab.evaluators.base import BaseEvaluator, Compiled
from t48lab.kernels.layout import BLOCK, CLASS, EXTRA, FORM, LOST
from t48lab.learning import Source, entries, places_of, source, words
from t48lab.records import parameter
from t48lab.rules import Rules
from t48lab.specs import digest

LEARNED = Path(__file__).with_name("learned.net")
"""The net of the package."""

_TILES = (0, *(2**rank for rank in range(8, 16)))


class Net(BaseEvaluator):
    """An n-tuple network that was trained by playing; a position is worth the points that are still to come.

    Searches that compare positions add the points that building the tiles has earned, so that no reward has to be
    counted on the way: from one position to the next these grow by the reward of the move, and by 4 for a spawned 4,
    which is taken off again.
    """

    name: ClassVar[str] = "net"
    kind: ClassVar[str] = "net"
    suffix: ClassVar[str] = ".net"
    path: str = parameter(..., "file of the net, as `t48lab train` or `t48lab pack` writes it")
    sha256: str = parameter("", "hash that its weights must have; read from the file when not given")
    top: int = parameter(
        0, "a board with a larger tile is ranked down before it is searched: tiles above a gap are halved; 0 = never"
    )

    @model_validator(mode="before")
    @classmethod
    def _hashed(cls, data: Any) -> Any:
        """Reads the hash from the file."""
        if not isinstance(data, dict) or not isinstance(data.get("path"), (str, Path)):
            return data
        given, found = data.get("sha256") or "", source(data["path"]).digest
        if given not in ("", found):
            raise T48Error(f"{data['path']} holds another net than the one meant (hash {found[:16]}, not {given[:16]})")
        return data | {"path": str(data["path"]), "sha256": found}

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if self.top not in _TILES:
            raise T48Error(f"top must be a tile from 256 to 32768, or 0, got {self.top}")
        return self

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """As of any evaluator."""
        return cls(path=str(path))

    def resolved(self) -> dict[str, Any]:
        """As of any evaluator: the hash of the weights, wherever the file is."""
        return {"kind": self.kind, "sha256": self.sha256, "top": self.top}

    def stated(self) -> Any:
        """As of any evaluator: the file's path, and `top` where it counts."""
        if self.top or set(self.path) & set(',{}[]"') or self.path != self.path.strip():
            return {"kind": self.kind, "path": self.path} | ({"top": self.top} if self.top else {})
        return self.path

    @property
    def label(self) -> str:
        """As of any record."""
        return f"{self.origin}-{digest(self.resolved())[:8]}"

    @property
    def source(self) -> Source:
        """The open file; raises T48Error when it now holds another net."""
        found = source(self.path)
        if found.digest != self.sha256:
            raise T48Error(f"{self.path} holds another net than before, restore it or start again")
        return found

    def is_for(self, rules: Rules) -> bool:
        """As of any evaluator."""
        structure = self.source.structure
        return (structure.rows, structure.cols) == (rules.rows, rules.cols)

    def tables(self, rows: int, cols: int) -> Compiled:
        """As of any evaluator: the entries are mapped, and shared by all processes."""
        network = words(self.source.structure)
        lines, places = entries(self.path)
        extra = np.zeros(EXTRA.BLOCKS + max(BLOCK.SIZE, len(network)), np.int64)
        extra[EXTRA.CLASS], extra[EXTRA.FORM] = CLASS.WHOLE_BOARD, FORM.NET
        extra[EXTRA.LOST_KIND], extra[EXTRA.EARNS] = LOST.POTENTIAL, 1
        extra[EXTRA.SHIFT], extra[EXTRA.FOUR] = places, 4 << places
        extra[EXTRA.TOP] = max(0, self.top.bit_length() - 1)
        extra[EXTRA.BLOCKS : EXTRA.BLOCKS + len(network)] = network
        return Compiled(lines, extra)

    def value(self, board: Board | str) -> float:
        """As of any evaluator: the points still to come from an afterstate."""
        return math.fsum(self.explain(board).values())

    def lost_value(self, board: Board | str) -> float:
        """As of any evaluator: no points are to come."""
        return 0.0

    def explain(self, board: Board | str) -> dict[str, float]:
        """What the look-ups of each pattern add to the value of a position."""
        from t48lab.kernels.exact import ranked_down, unpack
        from t48lab.kernels.lines import fitted

        board = Board.parse(board)
        lines, extra = self.compile(Rules(rows=board.rows, cols=board.cols))
        low, high = (np.uint64(plane) for plane in board.planes)
        seen = np.uint64(fitted(np.uint64(ranked_down(low, high)), extra))
        ranks = unpack(seen, np.uint64(0)).reshape(4, 4)[: board.rows, : board.cols]
        found = places_of(self.source.structure, ranks)
        unit = 2.0 ** -int(extra[EXTRA.SHIFT])
        return {pattern: unit * int(lines.view(np.int16)[places].sum(dtype=int)) for pattern, places in found.items()}

"""What every kind of evaluator answers: its tables, its value of a position, its data for keys, its free parameters."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from t48lab.board import Board
from t48lab.compiled import load
from t48lab.errors import T48Error
from t48lab.evaluators.termkinds import Range
from t48lab.files import read_toml
from t48lab.kernels.layout import EXTRA, RULES
from t48lab.records import nearest
from t48lab.rules import Rules
from t48lab.specs import NestedRecord

WEIGHTED = "terms"
"""The kind that data mean which name none."""

EVALUATORS: dict[str, type[BaseEvaluator]] = {}
"""Every kind of evaluator by the name that stands as `kind` in specs and files."""


class Compiled(NamedTuple):
    """An evaluator's arrays, see `kernels/layout.py`; shared by everyone who compiles it, never changed."""

    lines: NDArray[np.int32]
    extra: NDArray[np.int64]


class BaseEvaluator(NestedRecord):
    """What a position is worth, as a frozen record.

    A subclass with a `kind` and a method `tables` is an evaluator wherever one is named: in searches, trees, specs,
    keys and files. What else it may say better than this class are its files, what is free in it, and `explain`.
    """

    name: ClassVar[str] = "an evaluator"
    kind: ClassVar[str] = ""
    suffix: ClassVar[str] = ""
    """Ending of the files that `from_file` reads, where they are no TOML."""

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        """Enter the new kind of evaluator in EVALUATORS."""
        if cls.kind:
            EVALUATORS[cls.kind] = cls

    @property
    def floored(self) -> bool:
        """Whether a position with a legal move counts at least as much as a lost one."""
        return False

    def __hash__(self) -> int:
        return hash(json.dumps(self.resolved()))

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        """The evaluator of plain data, as specs and files hold it, of the kind that they name; raises T48Error."""
        fields = dict(data)
        name = str(fields.pop("kind", WEIGHTED))
        if name not in EVALUATORS:
            raise T48Error(f"no kind of evaluator {name!r}, {nearest(name, EVALUATORS)}")
        kind = EVALUATORS[name]
        if not issubclass(kind, cls):
            raise T48Error(f"an evaluator of kind {cls.kind!r} is wanted, got one of kind {name!r}")
        return kind(**fields)

    @classmethod
    def from_toml(cls, path: str | Path) -> Self:
        """The evaluator that a TOML file describes by the keys of its record; raises T48Error."""
        data = read_toml(Path(path), "an evaluator's")
        try:
            return cls.from_data(data)
        except T48Error as error:
            raise T48Error(f"{path}: {error}") from None

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """The evaluator in a file of this kind; raises T48Error."""
        return cls.from_toml(path)

    def to_toml(self) -> str:
        """The text of a TOML file from which `from_toml` makes an equal evaluator."""
        return "".join(f"{key} = {json.dumps(value)}\n" for key, value in self.stated().items())

    def resolved(self) -> dict[str, Any]:
        """Everything that decides its values as plain data: a network's hash rather than its weights or its path."""
        return {"kind": self.kind} | super().resolved()

    def stated(self) -> Any:
        """What a spec says of it: data for `from_data` without defaults, or the path of a file."""
        return {"kind": self.kind} | super().stated()

    def revision(self, rules: Rules) -> str:
        """Version of how its parameters become tables for such boards; goes up where games may change by it."""
        return "1"

    def is_for(self, rules: Rules) -> bool:
        """Whether it values boards of these rules."""
        return True

    def compile(self, rules: Rules = Rules()) -> Compiled:
        """Tables for the compiled searches on boards of these rules; made once, shared, not to be changed.

        Raises T48Error when the evaluator is not for such boards.
        """
        if not self.is_for(rules):
            raise T48Error(f"evaluator {self.label} is not for boards of {rules.rows}x{rules.cols}, take another one")
        return _compiled(self, rules.rows, rules.cols)

    def tables(self, rows: int, cols: int) -> Compiled:
        """The arrays of `compile`, made anew."""
        raise NotImplementedError(f"{type(self).__name__} needs a method tables(rows, cols)")

    def value(self, board: Board | str) -> float:
        """The value of a position as the compiled searches see it."""
        board = Board.parse(board)
        rules = Rules(rows=board.rows, cols=board.cols)
        lines, extra = self.compile(rules)
        seen = np.uint64(load("exact").ranked_down(*(np.uint64(plane) for plane in board.planes)))
        fixed = load("lines").evaluate(seen, lines, extra, rules.arrays()[1][RULES.MASK])
        return math.ldexp(float(fixed), -int(extra[EXTRA.SHIFT]))

    def lost_value(self, board: Board | str) -> float:
        """What a position without a legal move is worth."""
        return self.value(board)

    def explain(self, board: Board | str) -> dict[str, float]:
        """What each part of the evaluator adds to the value of a position."""
        return {self.kind: self.value(board)}

    def free(self) -> tuple[str, ...]:
        """Names of the parameters that a tuner may change, TERM.weight or `lost` for example."""
        return ()

    def range_of(self, name: str) -> Range | None:
        """From where to where a tuner may look for a free parameter, None = stated nowhere; raises T48Error."""
        raise self._no(name)

    def value_of(self, name: str) -> Any:
        """The value of a free parameter; raises T48Error."""
        raise self._no(name)

    def placed(self, values: Mapping[str, Any]) -> Self:
        """The evaluator with these values of free parameters; raises T48Error."""
        raise self._no(next(iter(values)))

    def without(self, parts: Sequence[str]) -> Self:
        """The evaluator less some of its parts; raises T48Error."""
        raise self._no(parts[0])

    def _no(self, name: str) -> T48Error:
        return T48Error(f"the evaluator has no {name!r}: of kind {self.kind}, nothing in it can be tuned or left out")


@functools.lru_cache(maxsize=64)
def _compiled(evaluator: BaseEvaluator, rows: int, cols: int) -> Compiled:
    return evaluator.tables(rows, cols)

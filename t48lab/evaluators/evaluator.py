"""Evaluators as frozen records: weighted terms that value a position, by name, from TOML or made in Python.

    Evaluator(terms={"empty": 270.0, "corner": Term(10.0, exponent=3.0)}, lost=0.0)

`TERMS` (in terms.py) defines every term; `PRESETS` holds the evaluators that have a name.
"""

from __future__ import annotations

import functools
import json
import math
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import PlainValidator, field_validator, model_validator

from t48lab.board import Board
from t48lab.errors import T48Error
from t48lab.evaluators import presets
from t48lab.evaluators.tables import Compiled, Options, Stage, build, contribution, used
from t48lab.evaluators.terms import TERMS, PeakTerm
from t48lab.kernels.layout import CORNER, EXTRA, RULES
from t48lab.records import Record, nearest, parameter
from t48lab.rules import Rules
from t48lab.specs import Resolved

LARGEST = 1e12
"""Largest weight or fixed value: beyond it the fixed point of the tables would lose whole numbers."""


class Term(Record):
    """How much a term counts, and the exponent that shapes it; without one the term's default."""

    name: ClassVar[str] = "a term"
    weight: float = parameter(..., "factor of the term", ge=-LARGEST, le=LARGEST)
    exponent: float | None = parameter(None, "shape of the term, where it has one", gt=0, le=8)

    def __init__(self, weight: Any = None, /, **data: Any) -> None:
        super().__init__(**(data if weight is None else {"weight": weight, **data}))


def _terms(value: Any) -> dict[str, Term]:
    """Terms by name with their exponents filled in; raises T48Error on unknown names and wrong numbers."""
    if not isinstance(value, Mapping):
        raise T48Error(f"terms must be weights by name, such as {{'empty': 270.0}}, got {value!r}")
    return {name: _term(name, value[name]) for name in sorted(value, key=str)}


def _term(name: Any, value: Any) -> Term:
    if name not in TERMS:
        raise T48Error(f"no term {name!r}, {nearest(str(name), TERMS)}")
    try:
        term = value if isinstance(value, Term) else Term(**value) if isinstance(value, Mapping) else Term(value)
    except T48Error as error:
        raise T48Error(f"term {name!r}: {error}") from None
    default = TERMS[name].exponent
    if default is None and term.exponent is not None:
        raise T48Error(f"term {name!r} has no exponent, leave {term.exponent} out")
    return term if term.exponent is not None else Term(term.weight, exponent=default)


def _fixed(what: str, value: Any) -> Any:
    """The value as a float if it is a number within LARGEST; raises T48Error."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if number and abs(value) <= LARGEST:
        return float(value)
    words = "a number" if what == "full" else "a number or 'evaluation'"
    raise T48Error(f"{what} must be {words} from -{LARGEST:g} to {LARGEST:g}, got {value!r}")


class _Weighted(Record):
    terms: dict[str, Term] = parameter(..., "weights and exponents by the names in TERMS")

    @field_validator("terms", mode="before")
    @classmethod
    def _check_terms(cls, value: Any) -> dict[str, Term]:
        return _terms(value)

    @model_validator(mode="after")
    def _one_corner_rule(self) -> Any:
        peaks = {n: TERMS[n].rule for n, t in self.terms.items() if t.weight and isinstance(TERMS[n], PeakTerm)}
        names = [name for name, rule in peaks.items() if rule != CORNER.ANYWHERE]
        if len({peaks[name] for name in names}) > 1:
            raise T48Error(f"terms {' and '.join(names)} ask for the corner in different ways, keep one")
        return self

    @property
    def weights(self) -> dict[str, tuple[float, float | None]]:
        """Weight and exponent of each term by name."""
        return {name: (term.weight, term.exponent) for name, term in self.terms.items()}


class Phase(_Weighted):
    """Terms that count while the largest tile is below one number or more cells than another are empty."""

    name: ClassVar[str] = "a phase"
    largest_below: int | None = parameter(None, "holds while the largest tile is smaller", "face value", ge=2)
    empty_above: int | None = parameter(None, "holds while more cells are empty", "cells", ge=0, le=15)

    @model_validator(mode="after")
    def _has_an_end(self) -> Phase:
        if self.largest_below is None and self.empty_above is None:
            raise T48Error("a phase needs largest_below or empty_above, or its terms are the evaluator's own")
        return self


class Evaluator(_Weighted):
    """The value of a position: the sum of weighted terms. Hashable; raises T48Error when made wrongly."""

    name: ClassVar[str] = "an evaluator"
    lost: float | Literal["evaluation"] = parameter(
        "evaluation", "value of a position without a legal move: a number, or what the terms say"
    )
    floor: bool = parameter(False, "a position with a legal move counts at least as much as a lost one")
    full: float | None = parameter(None, "value of every board without an empty cell, in place of its terms")
    normalised: bool = parameter(False, "divide every term by its largest usual value (12, 16, 24 or 1)")
    phases: tuple[Phase, ...] = parameter((), "earlier terms: the first phase that holds counts alone")

    @field_validator("lost", "full", mode="before")
    @classmethod
    def _numbers(cls, value: Any, info: Any) -> Any:
        by_itself = value is None if info.field_name == "full" else value == "evaluation"
        return value if by_itself else _fixed(info.field_name, value)

    @field_validator("phases", mode="before")
    @classmethod
    def _check_phases(cls, value: Any) -> tuple[Phase, ...]:
        if not isinstance(value, (list, tuple)) or not all(isinstance(p, (Mapping, Phase)) for p in value):
            raise T48Error(f"phases must be a list of phases, got {value!r}")
        return tuple(phase if isinstance(phase, Phase) else Phase(**phase) for phase in value)

    @model_validator(mode="after")
    def _floor_needs_a_number(self) -> Evaluator:
        if self.floor and self.lost == "evaluation":
            raise T48Error("floor=True needs a number as lost, got 'evaluation'")
        return self

    @model_validator(mode="after")
    def _norms(self) -> Evaluator:
        names = {name for part in (self, *self.phases) for name in part.terms}
        missing = sorted(name for name in names if TERMS[name].norm is None)
        if self.normalised and missing:
            known = ", ".join(name for name, term in TERMS.items() if term.norm)
            raise T48Error(f"term {missing[0]!r} has no usual range to normalise by, only {known} have")
        return self

    def __hash__(self) -> int:
        return hash(json.dumps(self.model_dump(mode="json")))

    @classmethod
    def from_toml(cls, path: str | Path) -> Evaluator:
        """The evaluator that a TOML file describes by the keys of this record; raises T48Error."""
        try:
            data = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise T48Error(f"cannot read evaluator {path}: {error.strerror}") from None
        except (ValueError, RecursionError) as error:
            raise T48Error(f"{path} is not valid TOML: {error}") from None
        try:
            return cls(**data)
        except T48Error as error:
            raise T48Error(f"{path}: {error}") from None

    def to_toml(self) -> str:
        """The text of a TOML file from which `from_toml` makes an equal evaluator."""
        plain = self.model_dump(mode="json", exclude_none=True, exclude={"terms", "phases"})
        text = [f"{key} = {json.dumps(value)}" for key, value in plain.items()]
        text += ["", "[terms]", *_toml_terms(self.terms)]
        for phase in self.phases:
            ends = phase.model_dump(exclude_none=True, exclude={"terms"})
            text += ["", "[[phases]]", *(f"{key} = {value}" for key, value in ends.items())]
            text += ["[phases.terms]", *_toml_terms(phase.terms)]
        return "\n".join(text) + "\n"

    def compile(self, rules: Rules = Rules()) -> Compiled:
        """Tables for the compiled searches on boards of these rules; made once, shared, not to be changed."""
        return _compile(self, rules.rows, rules.cols)

    def value(self, board: Board | str) -> float:
        """The value of a position as the compiled searches see it."""
        import numpy as np

        from t48lab.kernels.exact import ranked_down
        from t48lab.kernels.lines import evaluate

        board = Board.parse(board)
        rules = Rules(rows=board.rows, cols=board.cols)
        lines, extra = self.compile(rules)
        low, high = (np.uint64(plane) for plane in board.planes)
        fixed = evaluate(np.uint64(ranked_down(low, high)), lines, extra, rules.arrays()[1][RULES.MASK])
        return math.ldexp(float(fixed), -int(extra[EXTRA.SHIFT]))

    def explain(self, board: Board | str) -> dict[str, float]:
        """What each term adds to the value of a position, in float64; `full` alone when it counts."""
        board = Board.parse(board)
        if self.full is not None and board.empty_count == 0:
            return {"full": self.full}
        weights, ranks = self._stage(board).weights, board.ranks()
        terms = used(weights, self.normalised)
        return dict.fromkeys(weights, 0.0) | {
            term.name: scale * contribution(term, exponent, ranks) for term, scale, exponent in terms
        }

    def _stage(self, board: Board) -> _Weighted:
        largest, empty = board.max_tile, board.empty_count
        found = (p for p in self.phases if Stage({}, p.largest_below, p.empty_above).holds(largest, empty))
        return next(found, self)


def _toml_terms(terms: dict[str, Term]) -> list[str]:
    plain = ((name, term.weight, term.exponent) for name, term in terms.items())
    return [f"{n} = {w}" if e is None else f"{n} = {{ weight = {w}, exponent = {e} }}" for n, w, e in plain]


@functools.lru_cache(maxsize=64)
def _compile(evaluator: Evaluator, rows: int, cols: int) -> Compiled:
    phases = [Stage(phase.weights, phase.largest_below, phase.empty_above) for phase in evaluator.phases]
    lost = None if evaluator.lost == "evaluation" else evaluator.lost
    options = Options(evaluator.normalised, evaluator.full, lost, evaluator.floor)
    return build([*phases, Stage(evaluator.weights)], options, rows, cols)


PRESETS: dict[str, Evaluator] = {name: Evaluator(**data) for name, (_, data) in presets.PRESETS.items()}
"""Evaluators by name; `presets.py` says what each is."""


def get_evaluator(choice: str | Path | Evaluator) -> Evaluator:
    """The evaluator itself, the preset of that name, or the one in a TOML file; raises T48Error."""
    if isinstance(choice, Evaluator):
        return choice
    if isinstance(choice, str) and choice.lower() in PRESETS:
        return PRESETS[choice.lower()]
    if isinstance(choice, Path) or (isinstance(choice, str) and ("/" in choice or choice.endswith(".toml"))):
        return Evaluator.from_toml(choice)
    remedy = nearest(str(choice), PRESETS)
    raise T48Error(f"no evaluator {choice!r}, {remedy}; a file of weights ends in .toml")


def evaluator_choice(value: object) -> str | Evaluator:
    """A preset's name, or an evaluator read from a file, an object or a mapping; equal presets go by name."""
    if isinstance(value, str) and value in PRESETS:
        return value
    evaluator = Evaluator(**value) if isinstance(value, dict) else get_evaluator(value)  # type: ignore[arg-type]
    return next((name for name, preset in PRESETS.items() if preset == evaluator), evaluator)


EvaluatorChoice = Annotated[
    str | Evaluator,
    PlainValidator(evaluator_choice),
    Resolved(lambda choice: get_evaluator(choice).model_dump(mode="json")),
]

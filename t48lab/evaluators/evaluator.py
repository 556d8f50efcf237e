"""Evaluators of weighted terms, as frozen records.

    Evaluator(terms={"empty": 270.0, "corner": Term(10.0, exponent=3.0)}, lost=0.0)

`TERMS` (in terms.py) defines every term; `PRESETS` holds the evaluators that have a name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

from pydantic import field_validator, model_validator

from t48lab.board import Board
from t48lab.errors import T48Error
from t48lab.evaluators.base import WEIGHTED, BaseEvaluator, Compiled
from t48lab.evaluators.tables import Options, Stage, build, used
from t48lab.evaluators.termkinds import Range
from t48lab.evaluators.terms import TERMS
from t48lab.kernels.layout import CORNER, EXTRA
from t48lab.records import Record, nearest, parameter
from t48lab.rules import Rules

LARGEST, SMALLEST = 1e12, 1e-100
"""Largest weight or fixed value: beyond it the fixed point of the tables would lose whole numbers. Smallest weight but
0: below it their products leave the range of floating point."""


FORMER_PLACES = 24
"""Binary places that no evaluator had more of once; normalised ones by common weights had just so many, and have."""


class Term(Record):
    """How much a term counts, and the exponent that shapes it; without one the term's default."""

    name: ClassVar[str] = "a term"
    weight: float = parameter(..., "factor of the term", ge=-LARGEST, le=LARGEST)
    exponent: float | None = parameter(None, "shape of the term, where it has one", gt=0, le=8)

    @model_validator(mode="after")
    def _not_too_small(self) -> Self:
        if 0 < abs(self.weight) < SMALLEST:
            raise T48Error(f"weight must be 0 or at least {SMALLEST:g} from 0, got {self.weight:g}")
        return self

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
        rules = {name: TERMS[name].corner_rule for name, term in self.terms.items() if term.weight}
        names = [name for name, rule in rules.items() if rule != CORNER.ANYWHERE]
        if len({rules[name] for name in names}) > 1:
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


class Evaluator(BaseEvaluator, _Weighted):
    """The value of a position: the sum of weighted terms. Hashable; raises T48Error when made wrongly."""

    kind: ClassVar[str] = WEIGHTED
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

    @property
    def floored(self) -> bool:
        """Whether a position with a legal move counts at least as much as a lost one."""
        return self.floor

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

    def to_toml(self) -> str:
        """As of any evaluator."""
        plain = self.model_dump(mode="json", exclude_none=True, exclude={"terms", "phases"})
        text = [f"{key} = {json.dumps(value)}" for key, value in plain.items()]
        text += ["", "[terms]", *_toml_terms(self.terms)]
        for phase in self.phases:
            ends = phase.model_dump(exclude_none=True, exclude={"terms"})
            text += ["", "[[phases]]", *(f"{key} = {value}" for key, value in ends.items())]
            text += ["[phases.terms]", *_toml_terms(phase.terms)]
        return "\n".join(text) + "\n"

    def resolved(self) -> dict[str, Any]:
        """As of any evaluator; names no kind, as keys began before there were others."""
        return self.model_dump(mode="json")

    def stated(self) -> dict[str, Any]:
        """As of any evaluator, without a kind."""
        return self.model_dump(mode="json", exclude_defaults=True)

    def tables(self, rows: int, cols: int) -> Compiled:
        """As of any evaluator."""
        phases = [Stage(phase.weights, phase.largest_below, phase.empty_above) for phase in self.phases]
        lost = None if self.lost == "evaluation" else self.lost
        options = Options(self.normalised, self.full, lost, self.floor)
        return build([*phases, Stage(self.weights)], options, rows, cols)

    def revision(self, rules: Rules) -> str:
        """As of any evaluator; 2 where there used to be 24 binary places, however small the weights."""
        places = self.compile(rules).extra[EXTRA.SHIFT]
        changed = places != FORMER_PLACES if self.normalised else places > FORMER_PLACES
        return "2" if changed else super().revision(rules)

    def lost_value(self, board: Board | str) -> float:
        """As of any evaluator."""
        return self.value(board) if self.lost == "evaluation" else self.lost

    def explain(self, board: Board | str) -> dict[str, float]:
        """What each term adds to the value of a position, in float64; `full` alone when it counts."""
        board = Board.parse(board)
        if self.full is not None and board.empty_count == 0:
            return {"full": self.full}
        weights, ranks = self._stage(board).weights, board.ranks()
        terms = used(weights, self.normalised)
        return dict.fromkeys(weights, 0.0) | {
            term.name: scale * term.on(ranks, exponent) for term, scale, exponent in terms
        }

    def _stage(self, board: Board) -> _Weighted:
        largest, empty = board.max_tile, board.empty_count
        found = (p for p in self.phases if Stage({}, p.largest_below, p.empty_above).holds(largest, empty))
        return next(found, self)

    def free(self) -> tuple[str, ...]:
        """As of any evaluator; exponents, where a term has one, and `lost` go without saying."""
        return tuple(f"{term}.weight" for term in self.terms)

    def range_of(self, name: str) -> Range | None:
        """As of any evaluator: what the term's definition states."""
        if name == "lost":
            return None
        term, part = self._split(name)
        known = TERMS[term].weight if part == "weight" else TERMS[term].exponents
        if known is None:
            raise T48Error(f"term {term!r} has no exponent, leave it out")
        return known

    def value_of(self, name: str) -> Any:
        """As of any evaluator."""
        if name == "lost":
            return self.lost
        term, part = self._split(name)
        return getattr(self.terms[term], part)

    def placed(self, values: Mapping[str, Any]) -> Self:
        """As of any evaluator."""
        terms, lost = dict(self.terms), values.get("lost", self.lost)
        for name in values.keys() - {"lost"}:
            term, part = self._split(name)
            terms[term] = terms[term].changed(**{part: values[name]})
        return self.changed(terms=terms, lost=lost)

    def without(self, parts: Sequence[str]) -> Self:
        """As of any evaluator; the parts are terms."""
        for name in parts:
            self._split(f"{name}.weight")
        return self.changed(terms={name: term for name, term in self.terms.items() if name not in parts})

    def _split(self, name: str) -> tuple[str, str]:
        """The term and its number that TERM.weight or TERM.exponent stands for; raises T48Error."""
        term, _, part = name.partition(".")
        if term not in self.terms:
            raise T48Error(f"the evaluator has no term {term!r}, {nearest(term, self.terms)}")
        if part not in Term.model_fields:
            raise T48Error(f"a term has no {part!r}, {nearest(part, Term.model_fields)}")
        return term, part


def _toml_terms(terms: dict[str, Term]) -> list[str]:
    plain = ((name, term.weight, term.exponent) for name, term in terms.items())
    return [f"{n} = {w}" if e is None else f"{n} = {{ weight = {w}, exponent = {e} }}" for n, w, e in plain]

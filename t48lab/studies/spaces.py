"""Search spaces: which parameters of an agent are free, from where to where, and the agent at a point of the space.

A parameter is an agent's own (`depth`, `exploration`) or its evaluator's: `TERM.weight`, `TERM.exponent`, `lost`.
"""

from __future__ import annotations

import math
import types
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict

from t48lab.agents import Agent
from t48lab.errors import T48Error
from t48lab.evaluators import BaseEvaluator, Range, get_evaluator
from t48lab.records import nearest

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

Choice = str | int | float | bool | None
Point = Mapping[str, Any]
"""A value for each free parameter by name."""

_FIXED = ("order", "seed")


class Free(BaseModel):
    """A free parameter: a range of numbers, or choices in place of one."""

    model_config = ConfigDict(frozen=True)
    name: str
    low: float = 0.0
    high: float = 0.0
    log: bool = False
    whole: bool = False
    choices: tuple[Any, ...] = ()

    def distribution(self) -> BaseDistribution:
        """The same as Optuna has it."""
        from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

        if self.choices:
            return CategoricalDistribution(self.choices)
        if self.whole:
            return IntDistribution(int(self.low), int(self.high), log=self.log, step=1)
        return FloatDistribution(self.low, self.high, log=self.log, step=None)

    def holds(self, value: Any) -> bool:
        """Whether the value lies in the range or is one of the choices."""
        if self.choices:
            return any(value == choice and type(value) is type(choice) for choice in self.choices)
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return number and self.low <= value <= self.high

    def place(self, value: float) -> float:
        """Where a value lies in the range, from 0 to 1 on the range's own scale."""
        low, high, at = (self._scaled(float(x)) for x in (self.low, self.high, value))
        return (at - low) / (high - low)

    def at(self, place: float) -> float | int:
        """The value at a place of the range, the nearest end for one outside of it."""
        low, high = self._scaled(self.low), self._scaled(self.high)
        found = low + place * (high - low)
        value = min(max(math.exp(found) if self.log else found, self.low), self.high)
        return round(value) if self.whole else value

    def _scaled(self, value: float) -> float:
        return math.log(value) if self.log else value

    def shown(self, value: Any) -> Any:
        """A value for tables: numbers as they are, choices as words, `none` for no value."""
        if not self.choices:
            return value
        return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)

    def plain(self) -> dict[str, Any]:
        """The range or the choices as plain data."""
        if self.choices:
            return {"choices": list(self.choices)}
        ends = [int(end) if self.whole else end for end in (self.low, self.high)]
        return {"low": ends[0], "high": ends[1], "log": self.log}


def free_parameter(name: str, value: Any, agent: Agent) -> Free:
    """A free parameter of the agent; raises T48Error.

    `value` is True for the range that its record states, a list of choices, or a table with low, high and log.
    """
    try:
        free = _free(name, value, agent)
        for end in free.choices or (free.low, free.high):
            placed(agent, {name: int(end) if free.whole else end})
    except T48Error as error:
        raise T48Error(f"free parameter {name!r}: {error}") from None
    return free


def _free(name: str, value: Any, agent: Agent) -> Free:
    usual, choices, whole = _known(name, agent)
    if value is True and choices:
        return Free(name=name, choices=choices)
    if value is True:
        value = {}
    if isinstance(value, list):
        return Free(name=name, choices=_choices(value))
    if not isinstance(value, dict):
        raise T48Error(f"write true, a list of choices or {{ low = .., high = .. }}, got {value!r}")
    for key in value:
        if key not in ("low", "high", "log"):
            raise T48Error(f"unknown key {key!r}, {nearest(key, ('low', 'high', 'log'))}")
    if choices:
        raise T48Error(f"it is chosen from {', '.join(map(str, choices))}, write true or a list")
    return _range(name, value, usual, whole)


def _range(name: str, value: dict[str, Any], usual: Range | None, whole: bool) -> Free:
    low, high = (value.get(end, getattr(usual, end, None)) for end in ("low", "high"))
    if low is None or high is None:
        raise T48Error("its record states no range, give low and high")
    kinds = int if whole else (int, float)
    numbers = all(isinstance(end, kinds) and not isinstance(end, bool) for end in (low, high))
    log = value.get("log", usual is not None and usual.log and numbers and low > 0)
    if not numbers or not isinstance(log, bool):
        kind = "whole numbers" if whole else "numbers"
        raise T48Error(f"low and high must be {kind} and log true or false, got {value!r}")
    if not low < high:
        raise T48Error(f"low must be less than high, got {low:g} and {high:g}")
    if log and low <= 0:
        raise T48Error(f"a logarithmic range needs a low above 0, got {low:g}; or write log = false")
    return Free(name=name, low=low, high=high, log=log, whole=whole)


def _choices(values: list[Any]) -> tuple[Choice, ...]:
    plain = tuple(None if value == "none" else value for value in values)
    if len(plain) < 2 or len({repr(value) for value in plain}) < len(plain):
        raise T48Error(f"a list needs two or more different choices, got {values!r}")
    if not all(isinstance(value, Choice) for value in plain):
        raise T48Error(f"choices are numbers, words, true or false, got {values!r}")
    return plain


def _known(name: str, agent: Agent) -> tuple[Range | None, tuple[Choice, ...], bool]:
    """Range, choices and whether whole numbers, as the records of agents and evaluators state them."""
    if of_evaluator(name):
        return evaluator_of(agent).range_of(name), (), False
    fields = {n for n in type(agent).model_fields if n not in _FIXED}
    if name not in fields:
        own = evaluator_of(agent).free() if "evaluator" in fields else ()
        raise T48Error(f"{agent.name} has none of that name, {nearest(name, [*sorted(fields), *own])}")
    return _known_field(name, agent)


def _known_field(name: str, agent: Agent) -> tuple[Range | None, tuple[Choice, ...], bool]:
    about = type(agent).parameters()[name]
    annotation = type(agent).model_fields[name].annotation
    union = get_origin(annotation) in (Union, types.UnionType)
    kinds = get_args(annotation) if union else (annotation,)
    if bool in kinds:
        return None, (False, True), False
    known = about.low is not None and about.high is not None
    return (Range(about.low, about.high) if known else None), about.choices, int in kinds  # type: ignore[arg-type]


def evaluator_of(agent: Agent) -> BaseEvaluator:
    """The agent's evaluator; raises T48Error when that kind of agent has none."""
    if "evaluator" not in type(agent).model_fields:
        raise T48Error(f"{agent.name} has no evaluator")
    return get_evaluator(agent.evaluator)  # type: ignore[attr-defined]


def placed(agent: Agent, point: Point) -> Agent:
    """The agent with the values of a point in place of its own; raises T48Error when they are not legal."""
    own = {name: value for name, value in point.items() if not of_evaluator(name)}
    weights = {name: value for name, value in point.items() if of_evaluator(name)}
    if weights:
        evaluator = get_evaluator(own["evaluator"]) if "evaluator" in own else evaluator_of(agent)
        own["evaluator"] = evaluator.placed(weights)
    return agent.changed(**own)


def of_evaluator(name: str) -> bool:
    """Whether a free parameter of that name is the evaluator's."""
    return "." in name or name == "lost"


def point_of(agent: Agent, template: Agent, space: Sequence[Free]) -> dict[str, Any] | None:
    """The point of the space at which the template is this agent; None when it lies outside of the space."""
    if type(agent) is not type(template):
        return None
    try:
        point = {free.name: value_of(agent, free.name) for free in space}
        inside = all(free.holds(point[free.name]) for free in space)
        return point if inside and placed(template, point).resolved() == agent.resolved() else None
    except T48Error:
        return None


def value_of(agent: Agent, name: str) -> Any:
    """The agent's value of a parameter by the name that it has in a space; raises T48Error."""
    return evaluator_of(agent).value_of(name) if of_evaluator(name) else getattr(agent, name)

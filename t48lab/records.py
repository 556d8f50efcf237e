"""Frozen records whose parameters carry default, range, unit and meaning, and whose errors are one line."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Any, ClassVar, Literal, NamedTuple, Self, get_args, get_origin

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from t48lab.errors import T48Error


class Parameter(NamedTuple):
    """What is known of one parameter of a record."""

    default: Any
    low: float | None
    high: float | None
    choices: tuple[str, ...]
    unit: str
    meaning: str


def parameter(default: Any, meaning: str, unit: str = "", **bounds: Any) -> Any:
    """A field with its default, its meaning, its unit and the bounds that pydantic checks (ge, gt, le, lt)."""
    if isinstance(default, float):
        bounds["allow_inf_nan"] = False
    return Field(default, description=meaning, json_schema_extra={"unit": unit}, **bounds)


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name most like the given one, or all of them when none is: the end of an error line."""
    names = list(known)
    lower = {n.lower(): n for n in names}
    close = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=0.5)
    return f"did you mean {lower[close[0]]!r}?" if close else f"choose from {', '.join(names)}"


class Record(BaseModel):
    """A frozen record; raises T48Error with one line that names the value and the remedy."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: ClassVar[str] = ""

    def __init__(self, /, **data: Any) -> None:
        try:
            super().__init__(**data)
        except ValidationError as error:
            raise T48Error(_one_line(error, type(self))) from None

    def changed(self, **values: Any) -> Self:
        """The record with these values in place of its own, all of them checked again; raises T48Error."""
        return type(self)(**{name: getattr(self, name) for name in type(self).model_fields} | values)

    @classmethod
    def parameters(cls) -> dict[str, Parameter]:
        """Default, range, choices, unit and meaning of every parameter, by name."""
        return {name: _describe(name, cls) for name in cls.model_fields}


def _describe(name: str, record: type[BaseModel]) -> Parameter:
    field = record.model_fields[name]
    bounds = {key: getattr(m, key) for m in field.metadata for key in ("ge", "gt", "le", "lt") if hasattr(m, key)}
    extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
    literal = get_origin(field.annotation) is Literal
    return Parameter(
        default=field.default,
        low=bounds.get("ge", bounds.get("gt")),
        high=bounds.get("le", bounds.get("lt")),
        choices=get_args(field.annotation) if literal else (),
        unit=str(extra.get("unit", "")),
        meaning=field.description or "",
    )


_BOUNDS = {
    "greater_than_equal": ("ge", "{} or more"),
    "greater_than": ("gt", "more than {}"),
    "less_than_equal": ("le", "{} or less"),
    "less_than": ("lt", "less than {}"),
}
_KINDS = {
    "int": "a whole number",
    "float": "a number",
    "finite": "a finite number",
    "bool": "true or false",
    "string": "text",
}


def _one_line(error: ValidationError, record: type[Record]) -> str:
    found = error.errors(include_url=False)
    first = next((e for e in found if e["type"] == "extra_forbidden"), found[0])
    kind, context, value = first["type"], first.get("ctx", {}), _shown(first["input"])
    name = ".".join(str(part) for part in first["loc"])
    title = record.name or record.__name__
    if kind == "extra_forbidden":
        return f"{title} has no parameter {name!r}, {nearest(name, record.model_fields)}"
    if kind == "missing":
        return f"{title} needs {name}"
    if kind == "value_error":
        return str(context["error"])
    unit = _describe(name, record).unit if name in record.model_fields else ""
    if kind in _BOUNDS:
        key, words = _BOUNDS[kind]
        bound = f"{context[key]:g}" if isinstance(context[key], float) else context[key]
        return f"{name} must be {words.format(bound)} {unit}".rstrip() + f", got {value}"
    if kind == "literal_error":
        return f"{name} must be {context['expected'].replace(chr(39), '')}, got {value}"
    family = kind.split("_")[0]
    if family in _KINDS:
        of = f" of {unit}" if unit and family in ("int", "float") else ""
        return f"{name} must be {_KINDS[family]}{of}, got {value}"
    return f"{name}: {first['msg'].lower()}, got {value}"


def _shown(value: object) -> str:
    number = isinstance(value, str) and re.fullmatch(r"[-+.\deE]*\d", value)
    text = str(value) if number else " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:57] + "..."


def base_seed(seed: int, name: str = "seed") -> int:
    """The seed, or another number of its range; raises T48Error when it cannot be one."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**63:
        raise T48Error(f"{name} must be a whole number from 0 to 2^63 - 1, got {seed!r}")
    return int(seed)


def count_of(number: int, name: str) -> int:
    """The number; raises T48Error when it is not 1 or more."""
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or number < 1:
        raise T48Error(f"{name} must be 1 or more, got {number!r}")
    return int(number)


def stop_rank(stop_tile: int | None) -> int:
    """The rank of the tile that ends a game, 0 for none; raises T48Error when there is no such tile."""
    if stop_tile is None:
        return 0
    if stop_tile not in [2**rank for rank in range(3, 18)]:
        raise T48Error(f"stop_tile must be a power of two from 8 to 131072, or None, got {stop_tile!r}")
    return int(stop_tile).bit_length() - 1

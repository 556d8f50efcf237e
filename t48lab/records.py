"""Frozen records whose errors are one line, parameters with default, range, unit and meaning, and types of fields.

A type such as `Seed` checks a field of a record, and by `checked` an argument of a function; either way the value
is of one kind afterwards (256 for 256.0 and for NumPy's 256), so that equal numbers have equal hashes.
"""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self, get_args, get_origin

import numpy as np
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

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


class Checked(BaseModel):
    """A frozen record; raises T48Error with one line that names the value and the remedy.

    Its numbers are Python's own, 0.0 among them without a sign, so that equal records have equal hashes.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _plain_numbers(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        return {k: v.item() if isinstance(v, np.generic) else v for k, v in data.items()}

    @model_validator(mode="after")
    def _unsigned_zeros(self) -> Self:
        for name, value in self.__dict__.items():
            if isinstance(value, float):
                self.__dict__[name] = float(value) + 0.0
        return self

    def __init__(self, /, **data: Any) -> None:
        try:
            super().__init__(**data)
        except ValidationError as error:
            raise T48Error(_one_line(error, type(self))) from None

    def changed(self, **fields: Any) -> Self:
        """The record with these fields in place of its own, checked again; raises T48Error."""
        return type(self)(**{name: getattr(self, name) for name in type(self).model_fields} | fields)


class Record(Checked):
    """A checked record of a kind that has a name, and whose fields are parameters."""

    name: ClassVar[str] = ""

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


def _one_line(error: ValidationError, record: type[Checked] | None = None, argument: str = "") -> str:
    """What the first fault of a record's fields, or of the argument of that name, is told as."""
    found = error.errors(include_url=False)
    first = next((e for e in found if e["type"] == "extra_forbidden"), found[0])
    kind, context, value = first["type"], first.get("ctx", {}), _shown(first["input"])
    name = argument or ".".join(str(part) for part in first["loc"])
    fields = record.model_fields if record else {}
    if kind == "extra_forbidden":
        return f"{_title(record)} has no parameter {name!r}, {nearest(name, fields)}"
    if kind == "missing":
        return f"{_title(record)} needs {name}"
    if kind == "value_error":
        return str(context["error"])
    if kind == _WORDED:
        return f"{name} must be {context['words']}, got {_cut(repr(first['input']))}"
    unit = _describe(name, record).unit if record and name in fields else ""
    if kind in _BOUNDS:
        key, words = _BOUNDS[kind]
        bound = f"{context[key]:g}" if isinstance(context[key], float) else context[key]
        return f"{name} must be {words.format(bound)} {unit}".rstrip() + f", got {value}"
    if kind == "literal_error":
        return f"{name} must be {context['expected'].replace(chr(39), '')}, got {value}"
    if kind in ("dict_type", "model_type"):
        return f"{name} must be a table, write [{name}] and its lines below, got {value}"
    family = kind.split("_")[0]
    if family in _KINDS:
        of = f" of {unit}" if unit and family in ("int", "float") else ""
        return f"{name} must be {_KINDS[family]}{of}, got {value}"
    return f"{name}: {first['msg'].lower()}, got {value}"


def _title(record: type[Checked] | None) -> str:
    return getattr(record, "name", "") or getattr(record, "__name__", "")


def _shown(value: object) -> str:
    number = isinstance(value, str) and re.fullmatch(r"[-+.\deE]*\d", value)
    return _cut(str(value) if number else repr(value))


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:57] + "..."


_WORDED = "worded"


def worded(words: str, fits: Callable[[Any], bool], plain: Callable[[Any], Any] = lambda value: value) -> Any:
    """A check to annotate a field's type with: the value made plain must fit, or it "must be" what the words say."""

    def check(value: Any) -> Any:
        kept = plain(value)
        if not fits(kept):
            raise PydanticCustomError(_WORDED, "must be {words}", {"words": words})
        return kept

    return BeforeValidator(check)


def _whole(value: Any) -> int | None:
    """The whole number that a value is, as Python's own int; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)) or value % 1 != 0:
        return None
    return int(value)


def _whole_number(words: str, fits: Callable[[int], bool]) -> Any:
    return worded(words, lambda number: number is not None and fits(number), _whole)


Seed = Annotated[int, _whole_number("a whole number from 0 to 2^63 - 1", lambda n: 0 <= n < 2**63)]
"""A base seed, or another number of its range."""

Count = Annotated[int, _whole_number("1 or more", lambda n: n >= 1)]
"""How many games, trials or workers."""

_TILES = frozenset(2**rank for rank in range(3, 18))
_Tile = Annotated[int, _whole_number("a power of two from 8 to 131072, or None", _TILES.__contains__)]
StopTile = _Tile | None
"""The tile that ends a game, or None."""

FolderName = Annotated[
    str,
    worded(
        "letters, digits, dots, - and _ (it names a folder)",
        lambda name: isinstance(name, str) and re.fullmatch(r"[A-Za-z0-9][\w.-]*", name) is not None,
    ),
]
"""A name that can be a folder's."""

Table = dict[str, Any]
"""A table of a TOML file."""


def checked(kind: Any, value: Any, name: str) -> Any:
    """The value as a field of this type holds it; raises T48Error that calls it by the name."""
    try:
        return _adapter(kind).validate_python(value)
    except ValidationError as error:
        raise T48Error(_one_line(error, argument=name)) from None


@functools.cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def check_keys(given: Iterable[str], known: Iterable[str]) -> None:
    """Raises T48Error at the first key that is not known."""
    names = list(known)
    for key in given:
        if key not in names:
            raise T48Error(f"unknown key {key!r}, {nearest(str(key), names)}")


def stop_rank(stop_tile: int | None) -> int:
    """The rank of a checked tile that ends a game, 0 for none."""
    return 0 if stop_tile is None else stop_tile.bit_length() - 1

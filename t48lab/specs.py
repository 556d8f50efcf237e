"""Specs as text, `name:key=value,key=value`, taken apart and put together.

Values are numbers, words, `true`, `false`, `none`, lists of words with slashes between them, or JSON
(objects, lists and quoted strings), inside which commas and colons mean nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple, TypeVar

from t48lab.errors import T48Error
from t48lab.records import Record, nearest

LONGEST_SPEC = 100_000
"""Most characters of a spec."""

_OPEN, _CLOSE = "{[", "}]"


class NestedRecord(Record):
    """A record that is a parameter of another one, such as an evaluator of one's own."""

    origin: ClassVar[str] = "own"
    """What its label begins with; a record that was read from a file holds the file's stem in place of it."""

    def resolved(self) -> dict[str, Any]:
        """Everything that it stands for as plain data: its part of a key."""
        return self.model_dump(mode="json")

    def stated(self) -> Any:
        """What a spec says of it, plain data without defaults."""
        return self.model_dump(mode="json", exclude_defaults=True)

    @property
    def label(self) -> str:
        """A short name for tables: where it is from, and eight digits of the hash of what a spec says."""
        return f"{self.origin}-{digest(self.stated())[:8]}"


class Resolved(NamedTuple):
    """Marks the type of a parameter whose value stands for more than it says, as a preset's name does."""

    meant: Callable[[Any], NestedRecord]
    """The record that a value stands for."""


class SpecRecord(Record):
    """A record that one line of text describes."""

    main: ClassVar[tuple[str, ...]] = ()
    """Parameters that the spec always states; others appear when they differ from their defaults."""

    @property
    def spec(self) -> str:
        """The record as one line of text, from which an equal record can be made."""
        stated = self._stated().items()
        return join_spec(self.name, {k: v.stated() if isinstance(v, NestedRecord) else v for k, v in stated})

    @property
    def label(self) -> str:
        """The spec, an evaluator of one's own shortened to its label: a name for tables."""
        stated = self._stated().items()
        return join_spec(self.name, {k: v.label if isinstance(v, NestedRecord) else v for k, v in stated})

    def _stated(self) -> dict[str, Any]:
        fields = type(self).model_fields
        stated = [n for n in fields if n in self.main] + [n for n in fields if n not in self.main]
        return {n: getattr(self, n) for n in stated if n in self.main or getattr(self, n) != fields[n].default}

    def resolved(self) -> dict[str, Any]:
        """Every parameter as plain data, evaluators with all their weights."""
        return {"name": self.name} | {n: self._resolved(n) for n in type(self).model_fields}

    def _resolved(self, name: str) -> Any:
        meant = self.meant().get(name)
        return getattr(self, name) if meant is None else meant.resolved()

    def meant(self) -> dict[str, NestedRecord]:
        """The records that parameters stand for, by the parameters' names."""
        marks = {n: m for n, f in type(self).model_fields.items() for m in f.metadata if isinstance(m, Resolved)}
        return {name: mark.meant(getattr(self, name)) for name, mark in marks.items()}


Kind = TypeVar("Kind", bound=SpecRecord)


def from_spec(spec: str, kinds: Mapping[str, type[Kind]], what: str, named: Mapping[str, str] | None = None) -> Kind:
    """The record that a spec describes, of one of the kinds by name; raises T48Error.

    `named` holds specs by a name that may stand in their place.
    """
    if not isinstance(spec, str):
        raise T48Error(f"{what} must be a spec such as {next(iter(kinds))!r} or a record, got {_cut(spec)}")
    name, values = split_named(spec, named or {})
    if name not in kinds:
        raise T48Error(f"unknown {what} {_cut(name)}, {nearest(name, [*kinds, *(named or {})])}")
    return kinds[name](**values)


def split_named(spec: str, named: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
    """Like `split_spec`; where a named spec is meant, its own name and values, changed as the text says."""
    name, values = split_spec(spec)
    if name not in named:
        return name, values
    kind, defaults = split_spec(named[name])
    return kind, defaults | values


def digest(data: object) -> str:
    """Sixteen hexadecimal digits that stand for plain data; equal data have equal digits everywhere."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """What differs between two nested tables, at most four things by dotted names; "" when nothing does."""
    old, new = _flat(before), _flat(now)
    names = [name for name in sorted({*old, *new}) if old.get(name) != new.get(name)]
    shown = [f"{name} was {old.get(name, 'absent')}, now {new.get(name, 'absent')}" for name in names[:4]]
    return "; ".join(shown) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


def _flat(data: Any, name: str = "") -> dict[str, Any]:
    """The numbers and words of nested tables by dotted names."""
    if not isinstance(data, Mapping) or not data:
        return {name: data}
    parts = (_flat(value, f"{name}.{key}" if name else str(key)) for key, value in data.items())
    return {key: value for part in parts for key, value in part.items()}


def split_spec(text: str) -> tuple[str, dict[str, Any]]:
    """The name (lower case) and the values by key of a spec; raises T48Error on text of another form."""
    if len(text) > LONGEST_SPEC:
        raise T48Error(f"a spec has at most {LONGEST_SPEC:,} characters, got {len(text):,}; put weights into a file")
    name, colon, rest = text.strip().partition(":")
    values: dict[str, Any] = {}
    parts = _split_outside(rest, text) if rest.strip() else []
    if colon and not parts:
        raise T48Error(f"spec {_cut(text)} ends after the colon, write name:key=value or the name alone")
    for part in parts:
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not (key and equals and value):
            raise T48Error(f"spec {_cut(text)} has {_cut(part)} where key=value is needed")
        if key in values:
            raise T48Error(f"spec {_cut(text)} gives {key} twice, keep one")
        values[key] = _read(value, key)
    return name.strip().lower(), values


def join_spec(name: str, values: dict[str, Any]) -> str:
    """The spec of a name and values; `split_spec` gives both back."""
    pairs = ",".join(f"{key}={_write(value)}" for key, value in values.items())
    return f"{name}:{pairs}" if pairs else name


def _split_outside(rest: str, text: str) -> list[str]:
    parts, start, depth, quoted, escaped = [], 0, 0, False, False
    for i, c in enumerate(rest):
        if quoted:
            quoted = escaped or c != '"'
            escaped = c == "\\" and not escaped
        elif c == "," and depth == 0:
            parts.append(rest[start:i])
            start = i + 1
        else:
            quoted = c == '"'
            depth += (c in _OPEN) - (c in _CLOSE)
    if depth or quoted:
        raise T48Error(f"spec {_cut(text)} has unbalanced brackets or quotes, close every one")
    return [*parts, rest[start:]]


def _read(value: str, key: str) -> Any:
    if value.lower() == "none":
        return None
    if value[0] not in '{["':
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise T48Error(f"{key} is not valid JSON: {_cut(value)}") from None


def _write(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    if isinstance(value, tuple):
        return "/".join(value)
    if isinstance(value, dict):
        return json.dumps(value, separators=(",", ":"), allow_nan=False)
    return repr(value) if isinstance(value, float) else str(value)


def _cut(text: object) -> str:
    shown = repr(text)
    return shown if len(shown) <= 60 else shown[:57] + "..."

"""The standard streams of a process, such that none of them can stop a command or lose what it has done."""

from __future__ import annotations

import codecs
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

_PLAIN = {"–": "-", "−": "-", "—": "-", "µ": "u", "×": "x", "·": ".", "…": "...", "≥": ">=", "≤": "<="}
_HANDLER = "t48lab"


class Unwritable(Exception):
    """What a command prints cannot be printed; no OSError, of which others would make an end of their own."""

    def __init__(self, error: OSError) -> None:
        super().__init__(f"cannot write the output: {(error.strerror or 'unknown reason').lower()}")
        self.closed = isinstance(error, BrokenPipeError)


class Printed(io.TextIOWrapper):
    """The standard output: raises Unwritable once, and takes everything else in silence."""

    def write(self, text: str) -> int:
        """As of any text stream."""
        with self._told():
            super().write(text)
        return len(text)

    def flush(self) -> None:
        """As of any text stream."""
        with self._told():
            super().flush()

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            _to_nowhere(self.fileno())
            self._lost(error)

    def _lost(self, error: OSError) -> None:
        raise Unwritable(error) from None


class Noticed(Printed):
    """The standard error: a notice that nobody can read stops nothing."""

    def _lost(self, error: OSError) -> None:
        return


def _to_nowhere(descriptor: int) -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    if nowhere != descriptor:
        os.dup2(nowhere, descriptor)
        os.close(nowhere)


def _plain(error: UnicodeError) -> tuple[str, int]:
    """The nearest that every encoding has of what one encoding has not."""
    assert isinstance(error, UnicodeEncodeError)
    missing = error.object[error.start : error.end]
    return "".join(_PLAIN.get(c, c.encode("ascii", "backslashreplace").decode()) for c in missing), error.end


def prepare() -> None:
    """Makes this process's streams: closed ones lead nowhere, letters that an encoding lacks are written plainly."""
    codecs.register_error(_HANDLER, _plain)
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            _to_nowhere(descriptor)
    sys.stdin = sys.stdin or io.TextIOWrapper(io.BufferedReader(io.FileIO(0)))
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    sys.stdout = _made(sys.stdout, 1, Printed)
    sys.stderr = _made(sys.stderr, 2, Noticed)


def _made(stream: TextIO | None, descriptor: int, kind: type[Printed]) -> TextIO:
    """A stream of that kind in place of another one, or of none."""
    if not isinstance(stream, io.TextIOWrapper):
        return kind(io.BufferedWriter(io.FileIO(descriptor, "w")), encoding="utf-8", errors=_HANDLER)
    by_line, encoding = stream.isatty() or kind is Noticed, stream.encoding
    return kind(stream.detach(), encoding=encoding, errors=_HANDLER, line_buffering=by_line)

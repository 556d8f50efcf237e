"""The journal of a study: Optuna's operations, a line each, sealed so that no line can change, go or trade places.

A line is the JSON that Optuna writes and ends with a checksum of itself and of all lines before it, which Optuna
reads past. The lock is the kernel's, so that it goes with the process that held it; a line that a kill cut short is
taken off before the next one is written; and the reports of a block of games are written at once.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from optuna.storages.journal import BaseJournalBackend

from t48lab.errors import T48Error
from t48lab.files import sync

_LASTING = {0, 1, 2, 3, 6}
"""Optuna's codes of what must survive a power failure: studies, and the end of a trial, its last line."""
_SEAL, _END = b',"check":"', b'"}\n'
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


class _Mark(NamedTuple):
    """A place between two lines: how many are before it, in how many bytes, and the checksum of the last one."""

    lines: int = 0
    size: int = 0
    check: bytes = b""


class Journal(BaseJournalBackend):
    """A journal file, which the first line makes; it serves t48lab alone, other writers have locks of their own."""

    def __init__(self, path: Path) -> None:
        from filelock import FileLock

        self._path, self._mutex = path, threading.Lock()
        self._lock = FileLock(path.with_suffix(".lock"), thread_local=False)
        self._held: list[dict[str, Any]] | None = None
        self._told, self._end = _Mark(), _Mark()

    def read_logs(self, log_number_from: int) -> Iterator[dict[str, Any]]:
        """The operations from this number on; raises T48Error that names the first line that is not what was written.

        A line that is not finished is left for later: another process may be writing it.
        """
        if log_number_from != self._told.lines:
            self._told = _Mark()
        if not self._told.size and not self._path.exists():
            return
        with self._opened(os.O_RDONLY) as file:
            for line, mark in self._lines(file, self._told):
                self._told = mark
                if mark.lines > log_number_from:
                    yield json.loads(line)

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        """Writes the lines, or keeps them until the end of `together`."""
        with self._mutex:
            if self._held is not None:
                self._held += logs
            else:
                self._write(logs)

    @contextmanager
    def together(self) -> Iterator[None]:
        """A context at whose end all lines are written at once; until then no reader, not even this one, sees them."""
        with self._mutex:
            self._held = []
        try:
            yield
        finally:
            with self._mutex:
                held, self._held = self._held, None
                self._write(held)

    def _write(self, logs: list[dict[str, Any]]) -> None:
        if not logs:
            return
        known = self._told.size or self._end.size
        with self._locked(bool(known)), self._opened(os.O_RDWR | os.O_APPEND | (0 if known else os.O_CREAT)) as file:
            for _, mark in self._lines(file, self._end):
                self._end = mark
            if os.fstat(file.fileno()).st_size > self._end.size:
                file.truncate(self._end.size)
            data, mark = _sealed(logs, self._end)
            file.write(data)
            file.flush()
            if any(log["op_code"] in _LASTING for log in logs):
                sync(file.fileno())
            self._end = mark

    @contextmanager
    def _locked(self, known: bool) -> Iterator[None]:
        """A context in which this process alone writes; a known file's folder is not made again."""
        if known and not self._path.exists():
            raise self._gone()
        with self._telling("write"):
            self._lock.acquire()
        try:
            yield
        finally:
            self._lock.release()

    @contextmanager
    def _opened(self, flags: int) -> Iterator[BinaryIO]:
        """The file, with errors of one line; a link is not followed."""
        writing = flags & os.O_RDWR
        with (
            self._telling("write" if writing else "read"),
            os.fdopen(os.open(self._path, flags | _NO_LINK, 0o666), "r+b" if writing else "rb") as file,
        ):
            yield file

    @contextmanager
    def _telling(self, verb: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            raise self._gone() from None
        except OSError as error:
            reason = (error.strerror or "unknown reason").lower()
            raise T48Error(f"cannot {verb} {self._path}: {reason}; what was stored before is kept") from None

    def _gone(self) -> T48Error:
        return T48Error(f"{self._path} was removed during the run, restore it or choose another --out to start anew")

    def _lines(self, file: BinaryIO, mark: _Mark) -> Iterator[tuple[bytes, _Mark]]:
        """Each whole line after a mark with the mark behind it; raises T48Error at the first one that is damaged."""
        if os.fstat(file.fileno()).st_size < mark.size:
            raise self._damaged(mark, "it is shorter than it was")
        file.seek(mark.size)
        for line in file:
            if not line.endswith(b"\n"):
                end = line.rfind(_END[:-1]) + 2
                if 2 <= end < len(line) and _check_of(line[:end] + b"\n", mark.check):
                    raise self._damaged(mark, "its end is not that of a line")
                return
            check = _check_of(line, mark.check)
            if not check:
                raise self._damaged(mark, _reason(line))
            mark = _Mark(mark.lines + 1, mark.size + len(line), check)
            yield line, mark

    def _damaged(self, mark: _Mark, reason: str) -> T48Error:
        whole = f"keep its first {mark.lines:,} lines to go on from there" if mark.lines else "choose another --out"
        return T48Error(f"{self._path} is damaged from line {mark.lines + 1:,} on ({reason}): restore it, or {whole}")


def _sealed(logs: list[dict[str, Any]], mark: _Mark) -> tuple[bytes, _Mark]:
    """The lines of these operations after a mark, and the mark behind them."""
    data, check = b"", mark.check
    for log in logs:
        body = json.dumps(log, separators=(",", ":")).encode()
        check = _digest(check, body)
        data += body[:-1] + _SEAL + check + _END
    return data, _Mark(mark.lines + len(logs), mark.size + len(data), check)


def _check_of(line: bytes, before: bytes) -> bytes | None:
    """The checksum of a line that follows the one with the checksum `before`; None when the line is another one."""
    body, _, _ = line.rpartition(_SEAL)
    check = _digest(before, body + b"}")
    return check if line == body + _SEAL + check + _END else None


def _digest(before: bytes, body: bytes) -> bytes:
    return hashlib.blake2b(before + body, digest_size=8).hexdigest().encode()


def _reason(line: bytes) -> str:
    """Why a line is not the one that was written."""
    try:
        log = json.loads(line)
    except ValueError:
        return "it is not JSON"
    if isinstance(log, dict) and "check" not in log:
        return "no checksum: another program wrote it, and a study to share needs --storage with a database"
    return "its checksum does not match: it was changed, or lines before it are missing or out of order"

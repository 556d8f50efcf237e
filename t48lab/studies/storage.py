"""Where studies are kept: a journal file that survives kills and many processes, or any database of Optuna's.

The journal is Optuna's own format. What is different here: the lock is the kernel's, so that it goes with the
process that held it; a line that a kill cut short is taken off before the next one is written; and the
reports of a block of games are written at once.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import optuna
from optuna.storages import BaseStorage, JournalStorage
from optuna.storages.journal import JournalFileBackend

from t48lab.errors import T48Error, redacted

if TYPE_CHECKING:
    from filelock import BaseFileLock
    from sqlalchemy import URL

JOURNAL = "journal.log"
_PAUSES = (0.5, 1.0, 2.0, 4.0)
_LASTING = {0, 1, 2, 3, 6}
"""Optuna's codes of what must survive a power failure: studies, and the end of a trial, its last line."""
_DRIVERS = {"postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}

Answer = TypeVar("Answer")


class KernelLock:
    """A lock on a file that no dead process can hold."""

    def __init__(self, path: Path) -> None:
        from filelock import FileLock

        self._lock = FileLock(path, thread_local=False)

    def acquire(self) -> bool:
        """True, as soon as no other process holds the lock."""
        self._lock.acquire()
        return True

    def release(self) -> None:
        """Lets another process have the lock."""
        self._lock.release()


class Journal(JournalFileBackend):
    """Optuna's journal file, repaired where a kill cut a line short, with a context that writes many lines at once."""

    def __init__(self, path: Path) -> None:
        super().__init__(str(path), cast(Any, KernelLock(path.with_suffix(".lock"))))
        self._path, self._mutex = path, threading.Lock()
        self._held: list[dict[str, Any]] | None = None

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
        data = "".join(json.dumps(log, separators=(",", ":")) + "\n" for log in logs).encode()
        if not logs:
            return
        self._lock.acquire()
        try:
            with self._path.open("r+b") as file:
                file.seek(_whole_lines(file))
                file.truncate()
                file.write(data)
                file.flush()
                if any(log["op_code"] in _LASTING for log in logs):
                    os.fsync(file.fileno())
        except OSError as error:
            reason = (error.strerror or "unknown reason").lower()
            raise T48Error(f"cannot write {self._path}: {reason}; what was stored before is kept") from None
        finally:
            self._lock.release()


def _whole_lines(file: Any) -> int:
    """Bytes of a file up to the end of its last whole line."""
    place = file.seek(0, os.SEEK_END)
    while place:
        start = max(0, place - 4096)
        file.seek(start)
        newline = file.read(place - start).rfind(b"\n")
        if newline >= 0:
            return int(start + newline + 1)
        place = start
    return 0


class Storage:
    """An opened storage: Optuna's object, and how to name it to people."""

    def __init__(self, url: str | None, folder: Path) -> None:
        self.folder, self.url = folder, _parsed(url) if url else None
        self.name = redacted(self.url.render_as_string()) if self.url else str(folder / JOURNAL)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with self.opening():
                self.optuna: BaseStorage = self.guarded(self._open)
        except (T48Error, KeyboardInterrupt):
            raise
        except Exception as error:  # a folder that cannot be written, a damaged journal, or what a driver says
            raise self.fault(error) from None

    def _open(self) -> BaseStorage:
        if self.url is None:
            return JournalStorage(Journal(self.folder / JOURNAL))
        from optuna.storages import RDBStorage

        options = {"pool_pre_ping": True}
        return optuna.storages.get_storage(
            RDBStorage(self.url.render_as_string(hide_password=False), engine_kwargs=options)
        )

    def opening(self) -> BaseFileLock:
        """A context that only one process of this folder is in: two that create one table get in each other's way."""
        return self.alone("opening")

    def alone(self, name: str) -> BaseFileLock:
        """A context of this name that only one process of this folder is in; the others wait."""
        from filelock import FileLock

        return FileLock(self.folder / f".{name}.lock")

    def guarded(self, action: Callable[[], Answer]) -> Answer:
        """The action's answer, tried a few times when the database faults; raises T48Error without any password."""
        for pause in (*_PAUSES, None):
            try:
                return action()
            except (T48Error, KeyboardInterrupt):
                raise
            except Exception as error:  # drivers raise kinds of their own
                if not _is_fault(error):
                    raise
                if pause is None or _is_hopeless(error):
                    raise self.fault(error) from None
            time.sleep(pause)
        raise AssertionError("unreachable")

    @contextmanager
    def told(self) -> Iterator[None]:
        """A context that turns a fault of the storage into one line without any password."""
        try:
            yield
        except Exception as error:
            if not _is_fault(error):
                raise
            raise self.fault(error) from None

    def fault(self, error: BaseException) -> T48Error:
        """What a fault of the storage is told as: one line without any password."""
        cause = getattr(error, "orig", None) or error.__cause__ or error
        words = " ".join(str(cause).split()) or type(cause).__name__
        return T48Error(f"storage {self.name} failed: {self._without_password(words)[:300]}")

    def _without_password(self, text: str) -> str:
        password = self.url.password if self.url else None
        for secret in {str(password), _quoted(str(password))} if password else ():
            text = text.replace(secret, "***")
        return redacted(text)

    @contextmanager
    def together(self) -> Iterator[None]:
        """A context whose reports a journal writes at once."""
        backend = getattr(self.optuna, "_backend", None)
        if isinstance(backend, Journal):
            with backend.together():
                yield
        else:
            yield


def _quoted(text: str) -> str:
    from urllib.parse import quote

    return quote(text, safe="")


def _parsed(url: str) -> URL:
    """The URL, with the driver that t48lab needs where it names none; raises T48Error that never shows a password."""
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        parsed = make_url(url)
        parsed = parsed.set(drivername=_DRIVERS.get(parsed.drivername, parsed.drivername))
        parsed.get_dialect()
    except (ArgumentError, ValueError):
        hint = "sqlite:///FILE or postgresql://USER@HOST/DATABASE"
        raise T48Error(f"--storage is not a URL such as {hint}, or names an unknown database") from None
    except ModuleNotFoundError as error:
        raise T48Error(f"the storage needs the Python package {error.name}, install it") from None
    if "@" in (parsed.host or ""):
        raise T48Error("--storage has an @ in its password, write %40 in its place")
    if parsed.drivername == "postgresql+psycopg":
        try:
            import psycopg  # noqa: F401
        except ModuleNotFoundError:
            raise T48Error("PostgreSQL needs psycopg: pip install 't48lab[postgres]'") from None
    return parsed


def _is_fault(error: BaseException) -> bool:
    from optuna.exceptions import StorageInternalError
    from sqlalchemy.exc import SQLAlchemyError

    return isinstance(error, (SQLAlchemyError, StorageInternalError))


def _is_hopeless(error: BaseException) -> bool:
    """Whether the same will happen again: a wrong password, an unknown database."""
    words = str(error).lower()
    return any(part in words for part in ("password", "authentication", "does not exist", "unable to open database"))

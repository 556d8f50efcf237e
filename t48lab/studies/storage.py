"""Where studies are kept: a journal file that survives kills and many processes, or any database of Optuna's."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

import optuna
from optuna.storages import BaseStorage, JournalStorage

from t48lab.errors import T48Error, redacted
from t48lab.files import Standing, told
from t48lab.studies.journal import Journal

if TYPE_CHECKING:
    from filelock import BaseFileLock
    from sqlalchemy import URL

JOURNAL = "journal.log"
_PAUSES = (0.5, 1.0, 2.0, 4.0)
_DRIVERS = {"postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}

Answer = TypeVar("Answer")


class Storage:
    """An opened storage: Optuna's object, and how to name it to people.

    With `new=False` nothing is made, neither folder nor database: raises T48Error when there is none.
    """

    def __init__(self, url: str | None, folder: Path, new: bool = True) -> None:
        self.folder, self.url = folder, _parsed(url) if url else None
        self.name = redacted(self.url.render_as_string()) if self.url else str(folder / JOURNAL)
        self._standing: Standing | None = None
        try:
            self.optuna: BaseStorage = self.guarded(self._journal if self.url is None else lambda: self._database(new))
        except (T48Error, KeyboardInterrupt):
            raise
        except Exception as error:  # a damaged journal, or what a driver says
            raise self.fault(error) from None

    def _journal(self) -> BaseStorage:
        return JournalStorage(Journal(self.folder / JOURNAL))

    def _database(self, new: bool) -> BaseStorage:
        from optuna.storages import RDBStorage

        url = cast("URL", self.url)
        file = url.database if url.get_backend_name() == "sqlite" else None
        if not new and file and not Path(file).exists():
            raise T48Error(f"storage {self.name} does not exist, run the study without --confirm first")
        with self.opening() if new else nullcontext():
            made = RDBStorage(url.render_as_string(hide_password=False), engine_kwargs={"pool_pre_ping": True})
        return optuna.storages.get_storage(made)

    def begin(self) -> None:
        """Makes the folder; raises T48Error, also when it is gone that this storage has made before."""
        if self._standing:
            self._standing.check()
        else:
            with told(self.folder):
                self.folder.mkdir(parents=True, exist_ok=True)
            self._standing = Standing(self.folder)

    def opening(self) -> BaseFileLock:
        """A context that only one process of this folder is in: two that create one table get in each other's way."""
        return self.alone("opening")

    def alone(self, name: str) -> BaseFileLock:
        """A context of this name that only one process of this folder is in; the others wait."""
        from filelock import FileLock

        self.begin()
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
    def faults(self) -> Iterator[None]:
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

"""Files written whole or not at all, and TOML files read, with errors of one line."""

from __future__ import annotations

import errno
import os
import secrets
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import time
from typing import Any, BinaryIO

from t48lab.errors import T48Error

with suppress(ImportError):  # Windows has none
    import fcntl

LARGEST_TOML = 1_000_000
"""Most bytes of a TOML file: what is larger was not written for this program."""

_POSIX = os.name == "posix"
_STALE_SECONDS = 3600.0
"""Age from which a draft counts as abandoned where files cannot be locked."""
_LONGEST = 200
_SPARE, _GROWTH = 2**26, 50
"""Bytes that reading any file may take, and how many times its size a packed one."""
_NO_LINK, _NO_WAIT = getattr(os, "O_NOFOLLOW", 0), getattr(os, "O_NONBLOCK", 0)
_NEW = os.O_CREAT | os.O_EXCL | os.O_WRONLY | _NO_LINK | getattr(os, "O_BINARY", 0)
_NOT_THERE = (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS)
"""What file systems answer that cannot bring a file to the disk: network shares, drives of virtual machines."""


def write_whole(path: Path, data: bytes) -> None:
    """Writes a file that then holds these bytes, or after a crash still what it held before; raises T48Error."""
    with whole(path) as file:
        file.write(data)


@contextmanager
def whole(path: Path) -> Iterator[BinaryIO]:
    """An open file that takes the path's place, safe on disk, when the context ends well, and else goes away.

    The draft beside it is new and has a name that nobody can guess, so no link that waits there is followed; a link
    in the place of the file itself is replaced. Raises T48Error.
    """
    with told(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            yield file


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """The same in a folder that must be there; raises OSError."""
    draft, file = _new_draft(path)
    try:
        with file:
            yield file
            file.flush()
            sync(file.fileno())
            if not _POSIX:  # Windows renames no open file
                file.close()
            draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def below(folder: Path, name: str) -> Path:
    """The path of a folder's own subfolder; raises T48Error when a link stands there, which may lead anywhere."""
    path = folder / name
    if path.is_symlink():
        raise T48Error(f"{path} is a link, put a folder in its place")
    return path


def _new_draft(path: Path) -> tuple[Path, BinaryIO]:
    """The name of a new file beside the path, and the file, which this process holds until it is closed."""
    while True:
        draft = path.with_name(f".{path.name[:_LONGEST]}.{secrets.token_hex(8)}.tmp")
        file = os.fdopen(os.open(draft, _NEW, 0o666), "wb")
        if _POSIX:
            with suppress(OSError):  # a file system without locks: age tells drafts apart
                fcntl.flock(file.fileno(), fcntl.LOCK_EX)
        if os.fstat(file.fileno()).st_nlink or not _POSIX:
            return draft, file
        file.close()  # swept in the moment in which nobody held it


def abandoned(folder: Path) -> Iterator[Path]:
    """The drafts in a folder, and one below, that no process is writing: reports are written without the lock.

    Each is held until the next one is asked for, so remove it before.
    """
    for draft in [*folder.glob(".*.tmp"), *folder.glob("*/.*.tmp")]:
        try:
            descriptor = os.open(draft, os.O_RDONLY | _NO_LINK | _NO_WAIT)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.EMLINK):
                yield draft
            continue
        try:
            if not _is_written(descriptor):
                yield draft
        finally:
            os.close(descriptor)


def _is_written(descriptor: int) -> bool:
    """Whether a process may still be writing the draft: it holds it, or where nothing tells, the draft is young."""
    try:
        if _POSIX:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return False
    except BlockingIOError:
        return True
    except OSError:  # no locks here
        pass
    return time() - os.fstat(descriptor).st_mtime < _STALE_SECONDS


def sync(descriptor: int) -> None:
    """Brings what was written to the disk, where the file system can do that; raises OSError."""
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NOT_THERE:
            raise


def _sync_folder(folder: Path) -> None:
    """Brings a renamed file's name to the disk, where a folder can be opened for that."""
    if not _POSIX:
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except PermissionError:  # a folder may be written to and not read
        return
    try:
        sync(descriptor)
    finally:
        os.close(descriptor)


class Standing:
    """Folders and files as they were found, to tell later whether they still stand in their places."""

    def __init__(self, *paths: Path) -> None:
        self._found = {path: _identity(path) for path in paths}

    def check(self) -> None:
        """Raises T48Error that names the first one that was removed or replaced."""
        for path, found in self._found.items():
            if _identity(path) != found:
                raise T48Error(f"{path} was removed or replaced during the run, run the same command again")


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        about = path.stat()
    except OSError:
        return None
    return about.st_dev, about.st_ino


def is_short(error: BaseException, size: int) -> bool:
    """Whether the machine has run out, of memory or of threads, rather than that a file of this size is broken.

    Damage too can ask for more memory than there is, so what a whole file would take is tried out.
    """
    memory = isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM
    try:
        bytearray(_SPARE + (_GROWTH * size if memory else 0))
        thread = threading.Thread(target=int)
        thread.start()
        thread.join()
    except (MemoryError, OverflowError, RuntimeError):
        return True
    return False


@contextmanager
def told(path: Path) -> Iterator[None]:
    """A context that turns a full disk, a read-only folder and the like into one line."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise T48Error(f"cannot write {path}: {reason}; what was stored before is kept") from None


def read_toml(path: Path, whose: str = "an experiment's") -> dict[str, Any]:
    """What a TOML file holds; raises T48Error that names the file, and says whose file to give instead."""
    try:
        return tomllib.loads(read_text(path, LARGEST_TOML))
    except T48Error as error:
        raise T48Error(f"{error}, give the path of {whose} .toml file") from None
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise T48Error(f"cannot read {path} ({reason}), give the path of {whose} .toml file") from None
    except (ValueError, RecursionError) as error:
        raise T48Error(f"{path} is not valid TOML: {' '.join(str(error).split())}") from None


def read_text(path: Path, most: int) -> str:
    """The text of a file, without a byte-order mark.

    Raises T48Error when it is no regular file or has more than `most` bytes, OSError and ValueError as reading does.
    """
    if path.exists() and not path.is_dir() and not path.is_file():
        raise T48Error(f"{path} is no regular file")
    with path.open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise T48Error(f"{path} has more than {most:,} bytes")
    return data.decode("utf-8-sig")

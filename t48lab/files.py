"""Files written whole or not at all, and TOML files read, with errors of one line."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import time
from typing import Any

from t48lab.errors import T48Error

LARGEST_TOML = 1_000_000
"""Most bytes of a TOML file: what is larger was not written for this program."""

_STALE_SECONDS = 3600.0
"""Age from which a draft counts as abandoned where processes cannot be asked."""


def write_whole(path: Path, data: bytes) -> None:
    """Writes a file that then holds these bytes, or after a crash still what it held before."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with told(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with draft.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
        _sync_folder(path.parent)


def abandoned(folder: Path) -> Iterator[Path]:
    """The drafts in a folder, and one below, that no other process is writing: reports are written without the lock."""
    for draft in [*folder.glob(".*.tmp"), *folder.glob("*/.*.tmp")]:
        process = draft.stem.rpartition(".")[2]
        if process.isdecimal() and (int(process) == os.getpid() or not _is_written(draft, int(process))):
            yield draft


def _is_written(draft: Path, process: int) -> bool:
    """Whether that process may still be writing the draft."""
    if os.name != "posix":  # elsewhere signal 0 is Ctrl-C
        return time() - draft.stat().st_mtime < _STALE_SECONDS
    try:
        os.kill(process, 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True


def _sync_folder(folder: Path) -> None:
    """Brings a renamed file's name to the disk, where a folder can be opened for that."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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

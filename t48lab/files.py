"""Files written whole or not at all, and TOML files read, with errors of one line."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from t48lab.errors import T48Error


def write_whole(path: Path, data: bytes) -> None:
    """Nothing; the file now holds these bytes, or after a crash still what it held before."""
    with whole(path) as file:
        file.write(data)


@contextmanager
def whole(path: Path) -> Iterator[BinaryIO]:
    """An open file that takes the path's place, safe on disk, when the context ends well, and else goes away."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with told(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with draft.open("wb") as file:
                yield file
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
        if process.isdecimal() and (int(process) == os.getpid() or not _lives(int(process))):
            yield draft


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True


def _sync_folder(folder: Path) -> None:
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


def read_toml(path: Path) -> dict[str, Any]:
    """What a TOML file holds; raises T48Error that names the file."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise T48Error(f"cannot read {path} ({reason}), give the path of an experiment's .toml file") from None
    except (ValueError, RecursionError) as error:
        raise T48Error(f"{path} is not valid TOML: {' '.join(str(error).split())}") from None

"""Net files: plain numbers behind a header that says what they are, written whole or not at all, opened by mapping.

The first 64 bytes are `t48lab net 1 N`, with N the bytes before the first number, a multiple of the page size. A line
of JSON follows: the structure, the training with its seed and games, and for each array its count of little-endian
float32 and its SHA-256; then a line with the SHA-256 of the one before. Opening reads no more than this head.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from t48lab.errors import T48Error
from t48lab.files import whole
from t48lab.learning.structure import Structure

_MAGIC = "t48lab net"
_VERSION = 1
_FIRST_LINE, _HEX, _PAGE = 64, 64, 4096
_BLOCK = 1 << 18
"""Numbers that are written at once, or left out as a hole of the file when all are 0."""


@dataclass(frozen=True, eq=False)
class Net:
    """A net file that is open; its weights are read from the disk when they are first needed."""

    path: Path
    structure: Structure
    training: dict[str, Any]
    games: int
    facts: dict[str, Any]
    weights: NDArray[np.float32]
    sums: NDArray[np.float32] | None
    digest: str

    @property
    def playing(self) -> Net:
        """The net as it plays: its first stage alone until the training's promotion, when the others begin."""
        if not self.structure.stages or self.games >= self.training.get("promotion", 0):
            return self
        structure = self.structure.model_copy(update={"stages": ()})
        sums = None if self.sums is None else self.sums[: 2 * structure.entries]
        return replace(self, structure=structure, weights=self.weights[: structure.entries], sums=sums)

    def verify(self) -> None:
        """Raises T48Error when a number is not what was written."""
        for name, array in (("weights", self.weights), ("sums", self.sums)):
            if array is not None and _digest(array) != self.facts["arrays"][name]["sha256"]:
                raise T48Error(f"{self.path} is damaged (the checksum of its {name} does not match), restore it")


def save_net(
    path: str | Path,
    structure: Structure,
    training: Mapping[str, Any],
    games: int,
    weights: NDArray[np.float32],
    sums: NDArray[np.float32] | None = None,
    facts: Mapping[str, Any] | None = None,
) -> Path:
    """The path of the file that now holds the net, safe on disk, or after a crash still what it held before."""
    path = Path(path)
    arrays = {"weights": weights} if sums is None else {"weights": weights, "sums": sums}
    header = {
        "structure": structure.model_dump(mode="json"),
        "training": dict(training),
        "games": games,
        **(facts or {}),
        "arrays": {name: {"count": len(array), "sha256": _digest(array)} for name, array in arrays.items()},
    }
    with whole(path) as file:
        write_head(file, _MAGIC, header)
        for array in arrays.values():
            _write(file, array)
        file.truncate()
    return path


def open_net(path: str | Path) -> Net:
    """The net that a file holds; raises T48Error when the file is no whole net. See `Net.verify` for its numbers.

    The arrays are mapped: processes that open one file share its memory, and writing to them changes no file. Head and
    numbers are those of one file, even when a training puts another in its place meanwhile.
    """
    path = Path(path)
    with read_well(path), path.open("rb") as file:
        header, start = _read_head(file, path, _MAGIC)
        arrays, places = {}, start
        for name, array in header["arrays"].items():
            arrays[name] = np.memmap(file, "<f4", "c", places, (array["count"],)).view(np.ndarray)
            places += 4 * array["count"]
        return Net(
            path=path,
            structure=Structure(**header["structure"]),
            training=header["training"],
            games=header["games"],
            facts=header,
            weights=arrays["weights"],
            sums=arrays.get("sums"),
            digest=header["arrays"]["weights"]["sha256"],
        )


@contextmanager
def read_well(path: Path) -> Iterator[None]:
    """A context that turns what reading a file of numbers may raise into one line."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise T48Error(f"cannot read {path} ({reason}), give the path of a net") from None
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        if isinstance(error, T48Error):
            raise
        raise T48Error(f"{path} is damaged (it ends early, or its head is not whole), restore it") from None


def write_head(file: BinaryIO, magic: str, header: Mapping[str, Any]) -> None:
    """Writes the head of a file of numbers; the first of them is to be written next."""
    text = json.dumps(header, allow_nan=False)
    body = f"{text}\n{hashlib.sha256(text.encode()).hexdigest()}\n".encode()
    start = -(-(_FIRST_LINE + len(body)) // _PAGE) * _PAGE
    file.write(f"{magic} {_VERSION} {start}\n".ljust(_FIRST_LINE).encode() + body)
    file.seek(start)


def read_head(path: Path, magic: str) -> tuple[dict[str, Any], int]:
    """(header, bytes before the first number) of a file; raises T48Error, OSError, and ValueError on damage."""
    with path.open("rb") as file:
        return _read_head(file, path, magic)


def _read_head(file: BinaryIO, path: Path, magic: str) -> tuple[dict[str, Any], int]:
    """What read_head says of the open file of this path."""
    first = file.read(_FIRST_LINE).decode("ascii", "replace")
    before, _, rest = first.partition(f"{magic} ")
    if before or not rest:
        raise T48Error(f"{path} is not a net of t48lab, give the path of one")
    version, start = map(int, rest.split())
    if version > _VERSION:
        raise T48Error(f"{path} has version {version}, this t48lab reads up to {_VERSION}: upgrade t48lab")
    text, _, digest = file.read(start - _FIRST_LINE).partition(b"\n")
    if digest[:_HEX].decode("ascii", "replace") != hashlib.sha256(text).hexdigest():
        raise T48Error(f"{path} is damaged (the checksum of its head does not match), restore it")
    return json.loads(text), start


def _write(file: BinaryIO, array: NDArray[np.float32]) -> None:
    """Writes the numbers, holes of the file in place of blocks of zeros."""
    for first in range(0, len(array), _BLOCK):
        block = array[first : first + _BLOCK]
        if block.any():
            file.write(block.astype("<f4", copy=False).data)
        else:
            file.seek(block.nbytes, os.SEEK_CUR)


def _digest(array: NDArray[np.float32]) -> str:
    return hashlib.sha256(array.astype("<f4", copy=False).data).hexdigest()

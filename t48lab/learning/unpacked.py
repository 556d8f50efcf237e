"""The entries of a net as searches read them: unpacked once into the user's cache, and mapped from there.

A file of the cache is the entries in the order of `arrangement.py`, little-endian int16, and nothing else; its name is
the net's hash. All processes that map it share its memory. It may be deleted at any time, and is made anew when needed.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from t48lab.errors import T48Error
from t48lab.files import whole
from t48lab.learning.arrangement import arranged
from t48lab.learning.nets import Net, open_net
from t48lab.learning.packing import MAGIC, Packed, open_packed, quantised
from t48lab.learning.structure import Structure

_SUFFIX = ".pairs"


class Source(NamedTuple):
    """What the head of a net's file tells, and the open file."""

    structure: Structure
    digest: str
    file: Net | Packed


@functools.lru_cache(maxsize=64)
def _opened(path: Path, _: tuple[int, int]) -> Source:
    with path.open("rb") as file:
        packed = file.read(len(MAGIC)) == MAGIC.encode()
    net = open_packed(path) if packed else open_net(path)
    structure = net.playing.structure if isinstance(net, Net) else net.structure
    return Source(structure, net.digest, net)


def source(path: str | Path) -> Source:
    """What a net's file, packed or not, tells before its entries are read; raises T48Error."""
    path = Path(path)
    try:
        about = path.stat()
        return _opened(path, (about.st_mtime_ns, about.st_size))
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise T48Error(f"cannot read {path} ({reason}), give the path of a net") from None


def entries(path: str | Path) -> tuple[NDArray[np.int32], int]:
    """(entries, places) of a net: int16 in pairs as int32, whole numbers of 2^-places points; raises T48Error.

    The first time they are unpacked and checked; afterwards they are mapped from the cache. Not to be changed.
    """
    found = source(path)
    return _mapped(found.digest, found.structure.size) or _made(found)


@functools.lru_cache(maxsize=16)
def _mapping(file: Path, _: tuple[int, int]) -> NDArray[np.int32]:
    return np.memmap(file, "<i4", "c").view(np.ndarray)


def _mapped(digest: str, size: int) -> tuple[NDArray[np.int32], int] | None:
    """What `entries` answers, from the cache; None where it is not there."""
    for file in cache().glob(f"{digest}-*{_SUFFIX}"):
        places, about = file.name.removesuffix(_SUFFIX).rpartition("-")[2], file.stat()
        if about.st_size == 2 * size and places.isdecimal():
            return _mapping(file, (about.st_mtime_ns, about.st_ino)), int(places)
    return None


def _made(found: Source) -> tuple[NDArray[np.int32], int]:
    """What `entries` answers, unpacked, and kept in the cache where that can be written."""
    net = found.file
    if isinstance(net, Net):
        net.verify()
        made, places = quantised(net.playing)
    else:
        made, places = net.unpack(), net.places
    made = arranged(found.structure, made)
    try:
        with whole(cache() / f"{found.digest}-{places}{_SUFFIX}") as file:
            file.write(made.astype("<i2", copy=False).data)
    except T48Error:
        return made.view(np.int32), places
    return _mapped(found.digest, found.structure.size) or (made.view(np.int32), places)


def cache() -> Path:
    """The folder in the user's cache where unpacked nets are kept."""
    import platformdirs

    return platformdirs.user_cache_path("t48lab") / "nets"

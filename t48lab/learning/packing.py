"""Packed nets: what is left of a trained net when rarely met entries are dropped and the others take 16 or 8 bits.

The head is that of a net file (see `nets.py`) with the magic `t48lab packed net`. Its JSON holds the structure, the
training with its games, `places` (an entry is a whole number of 2^-places points), `bits`, `kept` (entries that are
not blank), `blank` (what every other entry is), the SHA-256 of all entries as little-endian int16, and the length of
each part. The parts follow each other, each an .xz stream:

* `held`: one bit an entry, the first the highest of its byte: whether it is kept;
* `low`: the low byte of each kept entry in their order, or with 8 bits its number among the 256 levels of its table;
* `high`: the high bytes, or with 8 bits the levels, little-endian int16[256] for each table of each stage.

Levels are those of least squared error, entries weighed by the errors that they have seen where the net tells (Lloyd
1982, "Least squares quantization in PCM", IEEE T-IT 28(2)).
"""

from __future__ import annotations

import hashlib
import lzma
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from t48lab.errors import T48Error
from t48lab.files import whole
from t48lab.learning.nets import Net, read_head, read_well, write_head
from t48lab.learning.structure import Structure

MAGIC = "t48lab packed net"
PARTS = ("held", "low", "high")
MOST_PLACES = 10
_LARGEST = 32767
_LEVELS, _ROUNDS = 256, 30


@dataclass(frozen=True, eq=False)
class Packed:
    """A packed net that is open; its entries are read when asked for."""

    path: Path
    structure: Structure
    facts: dict[str, Any]
    start: int

    @property
    def digest(self) -> str:
        """The SHA-256 of the entries."""
        return str(self.facts["sha256"])

    @property
    def places(self) -> int:
        """An entry is so many binary places finer than a point."""
        return int(self.facts["places"])

    def unpack(self) -> NDArray[np.int16]:
        """Every entry, int16, in the order of a net's weights; raises T48Error when they are not what was written."""
        size = self.structure.size
        try:
            held, low, high = (
                self._part(name, most) for name, most in zip(PARTS, (size // 8, size, size), strict=True)
            )
            entries = np.full(size, self.facts["blank"], np.int16)
            done = 0
            for k, (first, end) in enumerate(tables(self.structure)):
                places = np.flatnonzero(np.unpackbits(held[first // 8 : end // 8]))
                codes = low[done : done + len(places)]
                if self.facts["bits"] == 8:
                    entries[first + places] = high.view("<i2")[_LEVELS * k :][codes]
                else:
                    entries[first + places] = codes | high[done : done + len(places)].astype(np.int16) << 8
                done += len(places)
            if done == len(low) and digest_of(entries) == self.digest:
                return entries
        except (lzma.LZMAError, ValueError, IndexError, KeyError, TypeError, MemoryError):
            pass
        raise T48Error(f"{self.path} is damaged (its entries are not those that its head tells of), restore it")

    def _part(self, name: str, most: int) -> NDArray[np.uint8]:
        lengths = self.facts["parts"]
        with self.path.open("rb") as file:
            file.seek(self.start + sum(lengths[part] for part in PARTS[: PARTS.index(name)]))
            data = lzma.LZMADecompressor(lzma.FORMAT_XZ).decompress(file.read(lengths[name]), most + 1)
        return np.frombuffer(data, np.uint8)


def open_packed(path: str | Path) -> Packed:
    """The packed net that a file holds; raises T48Error when it is none."""
    path = Path(path)
    with read_well(path):
        facts, start = read_head(path, MAGIC)
        packed = Packed(path, Structure(**facts["structure"]), facts, start)
        if start + sum(facts["parts"][name] for name in PARTS) != path.stat().st_size:
            raise ValueError(path)
        if not 0 <= packed.places <= MOST_PLACES or len(packed.digest) != 64 or facts["bits"] not in (8, 16):
            raise ValueError(path)
    return packed


def pack_net(net: Net, path: str | Path, bits: int = 16, keep: float = 1.0) -> Path:
    """The path of the file that now holds the net packed; raises T48Error.

    Of the entries that were ever learnt the share `keep` (0 to 1) stays, those that matter most: by their squared
    difference from blank ones, times the errors that they have seen where the net tells (a measure of how often they
    were looked up). `bits` is 16 or 8.
    """
    if bits not in (8, 16):
        raise T48Error(f"bits must be 8 or 16, got {bits}")
    if not 0 < keep <= 1:
        raise T48Error(f"keep must be a share above 0 and up to 1, got {keep:g}")
    net = net.playing
    blank = float(net.training.get("initial", 0.0)) / net.structure.lookups
    entries, places = quantised(net)
    held = _kept(net, np.float32(blank), keep)
    blank_entry = int(np.rint(blank * 2**places))
    entries[~held] = blank_entry
    low, high = _coded(net, entries, held, bits)
    streams = {
        name: lzma.compress(part.tobytes(), preset=6)
        for name, part in zip(PARTS, (np.packbits(held), low, high), strict=True)
    }
    header = {
        "structure": net.structure.model_dump(mode="json"),
        "training": net.training,
        "games": net.games,
        "bits": bits,
        "places": places,
        "blank": blank_entry,
        "kept": int(held.sum()),
        "source": net.digest,
        "sha256": digest_of(entries),
        "parts": {name: len(stream) for name, stream in streams.items()},
    }
    with whole(Path(path)) as file:
        write_head(file, MAGIC, header)
        for stream in streams.values():
            file.write(stream)
    return Path(path)


def quantised(net: Net) -> tuple[NDArray[np.int16], int]:
    """(entries, places): the net's weights as whole numbers of 2^-places points, int16; raises T48Error.

    There are as many places as the largest weight leaves, up to MOST_PLACES; weights beyond 32767 points stay there.
    """
    largest = max(float(np.abs(net.weights[first:end]).max()) for first, end in tables(net.structure))
    if not np.isfinite(largest):
        raise T48Error(f"{net.path} has weights that are no numbers, restore it")
    places = max(0, min(MOST_PLACES, int(np.floor(np.log2(_LARGEST / max(largest, 1e-3))))))
    entries = np.empty(net.structure.size, np.int16)
    for first, end in tables(net.structure):
        entries[first:end] = np.clip(np.rint(net.weights[first:end] * np.float32(2**places)), -_LARGEST, _LARGEST)
    return entries, places


def tables(structure: Structure) -> Iterator[tuple[int, int]]:
    """(first, end) of each pattern's table in each stage, among all weights."""
    first = 0
    for _ in range(1 + len(structure.stages)):
        for pattern in structure.patterns:
            yield first, first + 16 ** len(pattern)
            first += 16 ** len(pattern)


def digest_of(entries: NDArray[np.int16]) -> str:
    """The SHA-256 that stands for entries."""
    return hashlib.sha256(entries.astype("<i2", copy=False).data).hexdigest()


def _kept(net: Net, blank: np.float32, keep: float) -> NDArray[np.bool_]:
    """Which entries stay, bool, one an entry."""
    held = np.empty(net.structure.size, bool)
    weighed = []
    for first, end in tables(net.structure):
        weights = net.weights[first:end]
        held[first:end] = weights != blank
        learnt = np.flatnonzero(held[first:end])
        weight = (weights[learnt] - blank) ** 2
        weighed.append(weight if net.sums is None else weight * net.sums[2 * first + 1 : 2 * end : 2][learnt])
    order = np.concatenate(weighed)
    if keep < 1 and len(order):
        few = min(len(order) - 1, round(len(order) * (1 - keep)))
        least = np.partition(order, few)[few]
        for (first, end), weight in zip(tables(net.structure), weighed, strict=True):
            learnt = first + np.flatnonzero(held[first:end])
            held[learnt[weight < least]] = False
    return held


def _coded(
    net: Net, entries: NDArray[np.int16], held: NDArray[np.bool_], bits: int
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """(low, high) parts of the kept entries; with 8 bits these are put to their levels in `entries`, in place."""
    if bits == 16:
        kept = entries[held].view(np.uint16)
        return (kept & 255).astype(np.uint8), (kept >> 8).astype(np.uint8)
    low, levels = [], []
    for first, end in tables(net.structure):
        table, here = entries[first:end], held[first:end]
        met = None if net.sums is None else net.sums[2 * first + 1 : 2 * end : 2][here]
        own = _levels(table[here], met)
        codes = np.searchsorted((own[1:].astype(np.int32) + own[:-1]) / 2, table[here]).astype(np.uint8)
        table[here] = own[codes]
        low.append(codes)
        levels.append(own)
    return np.concatenate(low), np.concatenate(levels).astype("<i2").view(np.uint8)


def _levels(values: NDArray[np.int16], met: NDArray[np.float32] | None) -> NDArray[np.int16]:
    """The 256 levels of least squared error for some values, each as often as it was met, in ascending order, int16."""
    numbers, places = np.unique(values, return_inverse=True)
    counts = np.bincount(places, met, len(numbers)).astype(float)
    if len(numbers) <= _LEVELS:
        return np.pad(numbers, (0, _LEVELS - len(numbers)), "edge") if len(numbers) else np.zeros(_LEVELS, np.int16)
    share = np.cumsum(counts ** (1 / 3))
    levels = np.interp(np.linspace(0, share[-1], _LEVELS), share, numbers.astype(float))
    for _ in range(_ROUNDS):
        nearest = np.searchsorted((levels[1:] + levels[:-1]) / 2, numbers)
        mass = np.bincount(nearest, counts, _LEVELS)
        sums = np.bincount(nearest, counts * numbers.astype(float), _LEVELS)
        levels = np.sort(np.divide(sums, mass, out=levels, where=mass > 0))
    whole_levels: NDArray[np.int16] = np.rint(levels).astype(np.int16)
    return whole_levels

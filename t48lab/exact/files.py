"""Layers of plain numbers in one file that is written layer by layer and mapped when it is whole.

The file begins with HEAD bytes of JSON that say what it holds, padded with blanks. An index follows: for each layer
three little-endian uint64, the byte at which its numbers begin (0 while it is not there), how many they are, and the
first 64 bits of the SHA-256 of `layer:length in bytes:` and their bytes. Then come the numbers, each layer at a
multiple of 8.

A file in the making has another name. A layer counts once its row of the index is written, which comes last, and is
believed when its checksum agrees; so a killed process goes on from its last finished layer. The file gets its own
name when all layers are there and on disk.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from t48lab.errors import T48Error
from t48lab.files import told
from t48lab.kernels.layout import BOOK_INDEX

VERSION = 2
HEAD, ROW = 8 * BOOK_INDEX, 24


class LayerFile:
    """A file of so many layers of one kind of number; `about` says what they are."""

    def __init__(self, path: Path, about: Mapping[str, Any], dtype: str, layers: int) -> None:
        self.path, self.dtype, self.layers = path, np.dtype(dtype), layers
        facts = {"t48lab": "layers of numbers", "version": VERSION, **about, "dtype": dtype, "layers": layers}
        self.head = json.dumps(facts).encode().ljust(HEAD - 1) + b"\n"
        self.first = HEAD + ROW * layers

    def open(self) -> Layers:
        """The layers of the whole file, mapped; raises T48Error when they are not exactly what was written."""
        remedy = "delete it to have it made anew"
        try:
            with self.path.open("rb") as file:
                if file.read(HEAD) != self.head:
                    raise T48Error(f"{self.path} does not hold what its name says, or is of another version: {remedy}")
                sound = sum(1 for _ in takewhile(lambda layer: self.is_sound(file.fileno(), layer), range(self.layers)))
        except OSError as error:
            raise T48Error(f"{self.path} cannot be read ({error.strerror}): {remedy}") from None
        if sound < self.layers:
            raise T48Error(f"{self.path} is damaged (layer {sound} does not match its checksum): {remedy}")
        return Layers(self, self.path)

    def row(self, descriptor: int, layer: int) -> tuple[int, int, int]:
        """(begin, count, checksum) of a layer in an open file, zeros where the index is cut off."""
        row = np.frombuffer(os.pread(descriptor, ROW, HEAD + ROW * layer).ljust(ROW, b"\0"), "<u8")
        return int(row[0]), int(row[1]), int(row[2])

    def is_sound(self, descriptor: int, layer: int) -> bool:
        """Whether a layer is there, in an open file, and is what was written."""
        begin, count, check = self.row(descriptor, layer)
        size = count * self.dtype.itemsize
        if not self.first <= begin <= begin + size <= os.fstat(descriptor).st_size:
            return False
        return check == checksum(layer, os.pread(descriptor, size, begin))

    @contextmanager
    def draft(self, order: Iterable[int]) -> Iterator[Draft]:
        """A context in which layers are added in an order; the file is whole at its end.

        Raises T48Error when another process makes the file, or when the disk is full; finished layers are kept.
        """
        from filelock import FileLock, Timeout

        with told(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            guard = FileLock(self.path.with_suffix(".lock"), timeout=0)
            try:
                guard.acquire()
            except Timeout:
                raise T48Error(f"{self.path} is being made by another process, wait for its end") from None
            try:
                draft = Draft(self, order)
                try:
                    yield draft
                    draft.finish()
                finally:
                    draft.close()
            finally:
                guard.release()


class Layers:
    """Mapped layers: `layers[number]` is an array; changes of it stay private, so kernels may be handed it."""

    def __init__(self, file: LayerFile, path: Path) -> None:
        self.dtype, self._bytes = file.dtype, np.memmap(path, np.uint8, "c")
        self.index = self._bytes[HEAD : file.first].view("<u8").reshape(file.layers, 3)

    def __getitem__(self, layer: int) -> NDArray[Any]:
        begin, count, _ = (int(fact) for fact in self.index[layer])
        return np.asarray(self._bytes[begin : begin + count * self.dtype.itemsize]).view(self.dtype)

    def words(self, dtype: str) -> NDArray[Any]:
        """The whole file as numbers of another type, for kernels that find their way in it."""
        return np.asarray(self._bytes).view(dtype)

    @property
    def count(self) -> int:
        """How many numbers all layers hold."""
        return int(self.index[:, 1].sum())


class Draft:
    """A file in the making: `done` layers of the order are there already."""

    def __init__(self, file: LayerFile, order: Iterable[int]) -> None:
        self._file, self._order, self.done = file, list(order), 0
        self._path = file.path.with_suffix(".draft")
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
        self._end = file.first
        if os.pread(self._descriptor, HEAD, 0) == file.head:
            self._find_done()
        else:
            os.ftruncate(self._descriptor, 0)
            self._write(file.head + bytes(ROW * file.layers), 0)

    def _find_done(self) -> None:
        for layer in takewhile(lambda layer: self._file.is_sound(self._descriptor, layer), self._order):
            begin, count, _ = self._file.row(self._descriptor, layer)
            self._end = begin + _padded(count * self._file.dtype.itemsize)
            self.done += 1

    def __getitem__(self, layer: int) -> NDArray[Any]:
        begin, count, _ = self._file.row(self._descriptor, layer)
        data = os.pread(self._descriptor, count * self._file.dtype.itemsize, begin)
        return np.frombuffer(bytearray(data), self._file.dtype)

    def add(self, layer: int, numbers: NDArray[Any]) -> None:
        """Writes a layer."""
        data = np.ascontiguousarray(numbers, self._file.dtype).tobytes()
        self._write(data.ljust(_padded(len(data))), self._end)
        row = np.array([self._end, len(numbers), checksum(layer, data)], "<u8")
        self._write(row, HEAD + ROW * layer)
        self._end += _padded(len(data))

    def _write(self, data: Any, begin: int) -> None:
        view = memoryview(data).cast("B")
        while len(view):
            written = os.pwrite(self._descriptor, view, begin)
            view, begin = view[written:], begin + written

    def finish(self) -> None:
        """Gives the file its own name, once it is on disk."""
        os.fsync(self._descriptor)
        self._path.replace(self._file.path)

    def close(self) -> None:
        """Closes the file; what is in it stays."""
        os.close(self._descriptor)


def _padded(size: int) -> int:
    return -(-size // 8) * 8


def checksum(layer: int, data: Any) -> int:
    """The first 64 bits of the SHA-256 of a layer's number, length in bytes, and bytes."""
    state = hashlib.sha256(f"{layer}:{len(data)}:".encode())
    state.update(data)
    return int.from_bytes(state.digest()[:8], "little")

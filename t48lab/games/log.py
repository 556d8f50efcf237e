"""The log of a game: a byte for each move and the spawn after it, the two first tiles before them.

A byte is direction | four << 2 | cell << 4, with cell = 4 row + column on boards of every size. The compiled game loop
writes it (`logged` in kernels/gameloop.py); whoever else knows the bits is in this file.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from t48lab.board import DIRECTIONS

Spawn = tuple[int, int, int]
"""(row, column, tile)"""

FIRST = 2
"""Bytes before the first move: tiles that no move came before."""


def entry(byte: int) -> tuple[str, Spawn]:
    """The direction that a byte of a log names, and the spawn that followed."""
    return DIRECTIONS[byte & 3], (byte >> 6, byte >> 4 & 3, 4 if byte & 4 else 2)


_ENTRIES = [entry(byte) for byte in range(256)]


def decode(log: NDArray[np.uint8]) -> tuple[tuple[str, ...], tuple[Spawn, ...]]:
    """The directions played in order, and all spawns, of a log (uint8[moves + 2])."""
    entries = [_ENTRIES[byte] for byte in log.tolist()]
    return tuple(action for action, _ in entries[FIRST:]), tuple(spawn for _, spawn in entries)


def encode(actions: Sequence[str], spawns: Sequence[Spawn]) -> NDArray[np.uint8]:
    """The log (uint8[moves + 2]) of these directions and spawns: `decode` turned round."""
    directions = np.array([0] * FIRST + [DIRECTIONS.index(action) for action in actions])
    rows, cols, tiles = np.array(spawns, np.int64).reshape(-1, 3).T
    return np.asarray(directions | (tiles == 4) << 2 | (4 * rows + cols) << 4, np.uint8)

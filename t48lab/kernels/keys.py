"""Positions of small boards as keys of 32 bits, symmetric ones under one key, and open-addressed tables of keys.

All positions of one layer have the same sum of tiles. So a board of nine cells is known by its first eight, of four
bits each. These and 1 are its key: 0 is left to mark a free slot, also where the ninth cell holds the only tile. The
key of symmetric boards is that of the largest. A table is a plain array of keys; its size is any
number, and a key's first slot is its hash scaled to that size (Lemire 2019, "Fast random integer generation in an
interval", ACM TOMACS 29).
"""

import numpy as np
from numba import njit, types

from t48lab.kernels.bitboard import flip, trailing_zeros, transpose, upside_down
from t48lab.kernels.layout import RULES
from t48lab.kernels.rng import times
from t48lab.kernels.signature import I64, KERNEL, U64, U64S

U = np.uint64
KEYS = types.uint32[::1]
SLOTS = types.int32[::1]
MOST_CELLS = 9
WORD32 = U(0xFFFFFFFF)
FULL = 0.65
"""Share of a table's slots that may be taken."""


@njit(U64(U64, U64, U64), **KERNEL)
def largest_mirrored(b, across, down):
    """The largest of a board's four mirror images; a narrower board moves back by `across` and `down` bits."""
    f = flip(b) << across
    return max(max(b, f), max(upside_down(b) << down, upside_down(f) << down))


@njit(types.void(U64S, I64, U64S, I64, KEYS), **KERNEL)
def write_keys(boards, count, rules, symmetric, keys):
    """Writes the key of each of the first `count` boards, of its largest image if `symmetric`; of the empty one 0."""
    rows, cols = rules[RULES.ROWS], rules[RULES.COLS]
    side, across, down = U(4) * cols, U(4) * (U(4) - cols), U(16) * (U(4) - rows)
    drop = side * (U(4) - rows) + U(4) * (max(rows * cols, U(8)) - U(8))
    cut = (U(1) << side) - U(1) if side < U(16) else U(0xFFFF)
    square = rows == cols
    for i in range(count):
        b = boards[i]
        if symmetric:
            b = largest_mirrored(b, across, down)
            if square:
                b = max(b, largest_mirrored(transpose(b), across, down))
        b = b >> across
        packed = ((b >> U(48)) & cut) << side | ((b >> U(32)) & cut)
        packed = (packed << side | ((b >> U(16)) & cut)) << side | (b & cut)
        keys[i] = np.uint32(((packed >> drop) & WORD32) + U(b != U(0)))


@njit(types.void(KEYS, I64, I64, U64, U64S, U64S), **KERNEL)
def write_boards(keys, first, count, total, rules, boards):
    """Writes the boards of `count` keys from the first on, in the layer of this sum of tiles; key 0 gives any board."""
    rows, cols = rules[RULES.ROWS], rules[RULES.COLS]
    side, across = U(4) * cols, U(4) * (U(4) - cols)
    drop = side * (U(4) - rows) + U(4) * (max(rows * cols, U(8)) - U(8))
    cut = (U(1) << side) - U(1) if side < U(16) else U(0xFFFF)
    ninth, corner = rows * cols > U(8), U(48) - U(16) * (rows - U(1)) + across
    for i in range(count):
        key = U(keys[first + i]) - U(keys[first + i] != 0)
        packed = key << drop
        b = ((packed >> (side + side + side)) & cut) << U(48) | ((packed >> (side + side)) & cut) << U(32)
        b = (b | ((packed >> side) & cut) << U(16) | (packed & cut)) << across
        if ninth:
            rest = total
            for cell in range(8):
                rest -= (U(1) << ((key >> U(4 * cell)) & U(15))) & ~U(1)
            b |= (trailing_zeros(rest) if rest != U(0) else U(0)) << corner
        boards[i] = b


@njit(I64(U64, U64), **KERNEL)
def first_slot(key, size):
    """Where the search for a key begins in a table of so many slots."""
    return np.int64(((times(key, U(0x9E3779B97F4A7C15)) >> U(32)) * size) >> U(32))


@njit(I64(KEYS, I64, KEYS, I64, SLOTS), **KERNEL)
def enter(keys, count, table, taken, slots):
    """How many slots are taken once the first `count` keys are in the table, -1 when it got too full on the way.

    `slots` gets the slot of each, -1 for key 0. Entering keys again changes nothing.
    """
    size, limit = len(table), np.int64(FULL * len(table))
    for i in range(count):
        key = keys[i]
        if key == 0:
            slots[i] = -1
            continue
        slot = first_slot(U(key), U(size))
        while table[slot] != key and table[slot] != 0:
            slot = slot + 1 if slot + 1 < size else 0
        if table[slot] == 0:
            if taken >= limit:
                return -1
            table[slot] = key
            taken += 1
        slots[i] = slot
    return taken


@njit(types.void(KEYS, I64, KEYS, SLOTS), **KERNEL)
def find(keys, count, table, slots):
    """Writes the slot of each of the first `count` keys; all of them are in the table."""
    size = len(table)
    for i in range(count):
        key = keys[i]
        slot = first_slot(U(key), U(size))
        while table[slot] != key:
            slot = slot + 1 if slot + 1 < size else 0
        slots[i] = slot

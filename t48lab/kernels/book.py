"""Exact values of small boards looked up in their tables, which a search gets as they lie on disk.

`lines` are the 32-bit words of the file of positions, `book` the 64-bit words of the file of their values: after the
head an index of three words a layer (first byte, count, checksum), then the layers, see `exact/files.py`.
"""

import numpy as np
from numba import njit

from t48lab.kernels.bitboard import empties
from t48lab.kernels.keys import KEYS, write_keys
from t48lab.kernels.layout import BOOK_INDEX, FIRST_SUM, RULES
from t48lab.kernels.signature import BOOK, F64S, I32S, I64, I64S, KERNEL, U64, U64S
from t48lab.kernels.tilesums import tile_sum

U = np.uint64
MOST_SPAWNS = 18


@njit(I64(U64, U64, I32S, BOOK), **KERNEL)
def place_of(key, layer, lines, book):
    """The word of `book` that holds a position's value, -1 when the position is not in its layer."""
    row = BOOK_INDEX + 3 * layer
    words = lines[2 * row : 2 * row + 4].view(np.uint32)
    first, count = (U(words[0]) | U(words[1]) << U(32)) >> U(2), U(words[2]) | U(words[3]) << U(32)
    low, high = U(0), count
    while low < high:
        middle = (low + high) >> U(1)
        if U(np.uint32(lines[first + middle])) < key:
            low = middle + U(1)
        else:
            high = middle
    if low < count and U(np.uint32(lines[first + low])) == key:
        return np.int64((book[row] >> U(3)) + low)
    return np.int64(-1)


@njit(I64(U64, U64S, I32S, BOOK, U64S, KEYS, I64S, F64S), **KERNEL)
def value_spawns(after, rules, lines, book, boards, keys, codes, values):
    """How many spawns are possible on an afterstate; writes each as cell * 2 + is_four, and what it leaves, by cell.

    `boards`, `keys`, `codes` and `values` have room for MOST_SPAWNS.
    """
    free, count = empties(after, rules[RULES.MASK]), 0
    fours = rules[RULES.FOUR]
    least, end = (1 if fours >= U(1 << 32) else 0), (2 if fours > U(0) else 1)
    for cell in range(16):
        bit = U(60 - 4 * cell)
        if (free >> bit) & U(1) == U(0):
            continue
        for four in range(least, end):
            boards[count], codes[count] = after | U(1 + four) << bit, 2 * cell + four
            count += 1
    write_keys(boards, count, rules, True, keys)
    here = book.view(np.float64)
    for k in range(count):
        layer = U(tile_sum(boards[k]) - FIRST_SUM // 2)
        place = place_of(U(keys[k]), layer, lines, book)
        values[k] = here[place] if place >= 0 else np.nan
    return count

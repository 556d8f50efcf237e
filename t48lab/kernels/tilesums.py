"""The most that a board can be worth whose tiles add up to a given sum.

No move changes the sum of the tiles and a spawn adds 2 or 4, so the sums that a search can meet are known
beforehand. Sums are in units of 2, the smallest tile.
"""

import numpy as np
from numba import config, njit

from t48lab.kernels.layout import TABLE
from t48lab.kernels.pointers import P_I32, pointer
from t48lab.kernels.signature import I32S, I64, KERNEL, U64

NONE = np.int32(-(2**30))
KNOWN = 1024 if config.DISABLE_JIT else 16384


@njit(I64(U64), **KERNEL)
def tile_sum(b):
    """The sum of a board's or a line's tiles in units of 2."""
    total = np.int64(0)
    while b != np.uint64(0):
        rank = b & np.uint64(15)
        total += (np.int64(1) << np.int64(rank)) >> 1
        b >>= np.uint64(4)
    return total


@njit(I32S(I32S, U64), **KERNEL)
def best_pairs(lines, table):
    """The largest sum of two entries of the table at offset `table`, by the sum of both lines' tiles, int32[65536].

    Sums that no two lines have, and sums of 65536 units and more, hold NONE.
    """
    single = np.full(TABLE, NONE, np.int32)
    for line in range(TABLE):
        total = tile_sum(np.uint64(line))
        if total < TABLE:
            single[total] = max(single[total], lines[table + np.uint64(line)])
    sums = np.flatnonzero(single > NONE)
    pairs = np.full(TABLE, NONE, np.int32)
    for k in range(len(sums)):
        for j in range(k + 1):
            total = sums[k] + sums[j]
            if total >= TABLE:
                break
            pairs[total] = max(pairs[total], single[sums[k]] + single[sums[j]])
    return pairs


@njit(I64(I64, I64, P_I32), **KERNEL)
def best_four(total, start, bounds):
    """The largest sum of four lines' entries whose tiles add up to `total`, from the best pairs at bounds[start]."""
    best = np.int32(2 * NONE)
    for part in range((total + 1) // 2, total + 1):
        best = max(best, np.int32(bounds[start + part] + bounds[start + total - part]))
    return np.int64(best)


@njit(I64(I64, I64, P_I32), **KERNEL)
def most_of(total, start, bounds):
    """The most that a board can be worth whose tiles add up to `total` below TABLE, in fixed-point units.

    From bounds[start] on stand the best pairs of rows, those of columns, and the answers for sums below KNOWN.
    """
    if total < KNOWN:
        return np.int64(bounds[start + 2 * TABLE + total])
    return best_four(total, start, bounds) + best_four(total, start + TABLE, bounds)


@njit(I32S(I32S, U64, U64), **KERNEL)
def tables(lines, rows, columns):
    """The `bounds` of an evaluator whose row and column tables start at these offsets of `lines`."""
    pairs = best_pairs(lines, rows)
    alike, known = rows == columns, np.empty(KNOWN, np.int32)
    others = pairs if alike else best_pairs(lines, columns)
    for total in range(KNOWN):
        four = best_four(total, 0, pointer(pairs))
        known[total] = four + (four if alike else best_four(total, 0, pointer(others)))
    return np.concatenate((pairs, others, known))

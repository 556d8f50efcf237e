"""Expectimax over player moves and spawns, exact unless an approximation is asked for.

A chance node averages over spawns, a decision node takes the best legal move; depth counts player moves.
"""

import numpy as np
from numba import njit, types

from t48lab.kernels import layout
from t48lab.kernels.bitboard import popcount, slide, trailing_zeros
from t48lab.kernels.chance import (
    COLS,
    COSTS,
    DEADLINE,
    FAST,
    FLOOR,
    FOUR_P,
    FOURS,
    FULL_IS_LEAF,
    HITS,
    ILLEGAL,
    LEAF_STATE,
    LEAVES,
    MASK,
    MOST,
    NODE_LIMIT,
    NODES,
    ONE,
    PEAK_INSIDE,
    PROBES,
    ROWS,
    SALT,
    SCRATCH,
    SLACK,
    STOPPED,
    TABLE_SHIFT,
    USE_TABLE,
    WORST_COST,
    ZERO,
    U,
    chance,
)
from t48lab.kernels.choice import TIE, preferred
from t48lab.kernels.clock import cpu
from t48lab.kernels.pointers import pointer
from t48lab.kernels.rng import mix64
from t48lab.kernels.signature import (
    EXTRA,
    F64,
    I64,
    KERNEL,
    LINES,
    MOVES,
    REALS,
    RULES,
    SEARCH,
    SETTINGS,
    U64,
    WORDS,
)
from t48lab.kernels.star import bounded
from t48lab.kernels.tilesums import most_of, tile_sum

BOOL = types.boolean
COST_UNIT = 2.0  # budget units per halving of a path's probability


@njit(I64(F64), **KERNEL)
def cost(probability):
    """Budget units that a path pays for an event of some probability: half a unit a halving, 64 at most."""
    return min(np.int64(64), np.int64(round(-COST_UNIT * np.log2(max(probability, 1e-12)))))


@njit(I64(SETTINGS, RULES, EXTRA), **KERNEL)
def fast_leaves(settings, rules, extra):
    """How leaves are valued: 1 by `last_moves`, 2 by it with a peak term, 0 one by one."""
    if settings[layout.LEAF_STATE] or extra[layout.CLASS] == layout.GENERAL:
        return 0
    if extra[layout.CLASS] == layout.PURE_LINES:
        return 1
    plain = extra[layout.BLOCKS + layout.CORNER_RULE] <= layout.ANY_CORNER
    return 2 if plain and rules[layout.ROWS] == U(4) and rules[layout.COLS] == U(4) else 0


@njit(types.void(SETTINGS, REALS, RULES, EXTRA, WORDS, EXTRA, REALS), **KERNEL)
def prepare(settings, reals, rules, extra, w, i, f):
    """Writes the constants of one search into the head of its memory and clears the counters."""
    for k in range(SCRATCH):
        w[k] = ZERO
    w[MASK], w[SALT] = rules[layout.MASK], mix64(U(settings[layout.GENERATION]))
    w[ROWS], w[COLS] = U(extra[layout.BLOCKS + layout.ROW_TABLES]), U(extra[layout.BLOCKS + layout.COLUMN_TABLES])
    i[FAST] = fast_leaves(settings, rules, extra)
    corner = extra[layout.BLOCKS + layout.CORNER_RULE] == layout.ANY_CORNER
    i[PEAK_INSIDE] = layout.BLOCKS + (layout.PEAK_IN if corner else layout.PEAK_OUT)
    i[LEAF_STATE], i[USE_TABLE] = settings[layout.LEAF_STATE], settings[layout.USE_TABLE]
    i[FOURS], i[FULL_IS_LEAF] = settings[layout.FOURS], settings[layout.FULL_IS_LEAF]
    w[TABLE_SHIFT] = U(64) - trailing_zeros(U(settings[layout.CAPACITY]))
    f[FOUR_P] = (
        round(np.float64(rules[layout.FOUR]) / 4.294967296) / 1e9
    )  # a threshold of 32 bits back to nine decimals
    f[FLOOR] = np.float64(extra[layout.LOST]) if extra[layout.BLOCKS + layout.FLOORED] else ILLEGAL
    if reals[layout.CUTOFF] > 0.0:
        for count in range(1, 17):
            i[COSTS + count] = cost((1.0 - f[FOUR_P]) / count)
            i[COSTS + 32 + count] = cost(f[FOUR_P] / count)
        i[WORST_COST] = max(i[COSTS + 16], i[COSTS + 48])


@njit(F64(U64, I64, F64, SETTINGS, REALS, LINES, EXTRA), **KERNEL)
def ceiling(b, depth, floor, settings, reals, lines, extra):
    """The most that any position met by a search of `b` can be worth, in fixed-point units.

    Leaves lie `depth` spawns ahead, one less when afterstates are valued; under a cut-off, and for lost positions
    that are evaluated, any number of spawns up to that one.
    """
    spawns = depth - 1 + settings[layout.LEAF_STATE]
    early = reals[layout.CUTOFF] > 0.0 or extra[layout.LOST_KIND]
    most, now, start = floor, tile_sum(b), settings[layout.BOUNDS]
    for added in range(0 if early else spawns, 2 * spawns + 1):
        if now + added >= layout.TABLE:
            return np.inf
        most = max(most, np.float64(most_of(now + added, start, pointer(lines))))
    return most if extra[layout.LOST_KIND] else max(most, np.float64(extra[layout.LOST]))


@njit(types.void(REALS, SETTINGS, types.int64[::1]), **KERNEL)
def sort_moves(out, settings, order):
    """Puts the directions into `order` by the values in `out`, the largest first; illegal ones come last."""
    order[:] = settings[layout.ORDER : layout.ORDER + 4]
    for k in range(1, 4):
        for j in range(k, 0, -1):
            value, other = out[layout.VALUES + order[j]], out[layout.VALUES + order[j - 1]]
            if value > other or (value == value and other != other):
                order[j - 1], order[j] = order[j], order[j - 1]


@njit(BOOL(U64, I64, I64, SETTINGS, REALS, MOVES, LINES, EXTRA, WORDS, EXTRA, REALS, REALS), **KERNEL)
def root(b, depth, budget, settings, reals, moves, lines, extra, w, i, f, out):
    """Fills the four values of `out` with a search to `depth`; False when a limit stopped it half-way.

    With BEST_ONLY the values of moves that are not the best are upper bounds, below it by more than a tie. Moves are
    tried in the order of the values in `out`.
    """
    values, order = np.full(4, np.nan), np.empty(4, np.int64)
    star = depth > 2 and settings[layout.BEST_ONLY] != 0 and settings[layout.BOUNDS] != 0
    if star:
        f[MOST] = ceiling(b, depth, f[FLOOR], settings, reals, lines, extra)
        f[SLACK] = 1e-9 * (2.0**30 + abs(np.float64(extra[layout.LOST])))
    sort_moves(out, settings, order)
    scale, alpha = 2.0 ** -extra[layout.SHIFT], ILLEGAL
    for k in range(4):
        d = order[k]
        after = slide(b, d, moves)
        if after == b:
            continue
        addresses = pointer(moves), pointer(lines), pointer(extra), pointer(w), pointer(i), pointer(f)
        if star:
            value = bounded(after, depth - 1, budget, alpha, *addresses)
            alpha = max(alpha, value - 2 * TIE * abs(value))
        else:
            value = chance(after, depth - 1, budget, *addresses)
        values[d] = value * scale
    if i[STOPPED]:
        return False
    out[layout.VALUES : layout.VALUES + 4] = values
    out[layout.DEPTH_REACHED] = depth
    return True


@njit(I64(U64, SETTINGS), **KERNEL)
def planned_depth(b, settings):
    """The depth to search: DEPTH, or with ADAPT the number of distinct tiles less ADAPT, kept in MIN_DEPTH..DEPTH."""
    if settings[layout.ADAPT] == 0:
        return settings[layout.DEPTH]
    seen = ZERO
    while b != ZERO:
        seen |= ONE << (b & U(15))
        b >>= U(4)
    distinct = popcount(seen & ~ONE)
    return max(settings[layout.MIN_DEPTH], min(settings[layout.DEPTH], distinct - settings[layout.ADAPT]))


@njit(types.void(U64, I64, I64, SETTINGS, REALS, MOVES, LINES, EXTRA, WORDS, EXTRA, REALS, REALS), **KERNEL)
def deepen(b, depth, budget, settings, reals, moves, lines, extra, w, i, f, out):
    """Searches depth 1, 2, ... up to `depth` while the limits last; `out` keeps the last finished one.

    A depth that would need more than twice the nodes left, at the growth seen so far, is not begun.
    """
    root(b, 1, budget, settings, reals, moves, lines, extra, w, i, f, out)
    i[NODE_LIMIT] = settings[layout.NODE_LIMIT]
    before, last = np.int64(0), np.int64(0)
    for d in range(2, depth + 1):
        growth = last / max(before, np.int64(1))
        if i[NODE_LIMIT] and last * growth > 2 * (i[NODE_LIMIT] - i[NODES] - i[LEAVES]):
            break
        start = i[NODES] + i[LEAVES]
        if not root(b, d, budget, settings, reals, moves, lines, extra, w, i, f, out):
            break
        before, last = last, i[NODES] + i[LEAVES] - start


@njit(SEARCH, **KERNEL)
def search(b, settings, reals, moves, rules, lines, extra, memory, stream, out):
    """The best direction, or -1 when none is legal; NODES in `out` are chance nodes and leaves valued."""
    w, i, f = memory, memory.view(np.int64), memory.view(np.float64)
    prepare(settings, reals, rules, extra, w, i, f)
    out[:] = 0.0
    out[layout.VISITS : layout.VISITS + 4] = np.nan
    cutoff, seconds = reals[layout.CUTOFF], reals[layout.SECONDS]
    budget = np.int64(-COST_UNIT * np.log2(cutoff)) if cutoff > 0.0 else np.int64(0)
    depth = planned_depth(b, settings)
    if seconds > 0.0 or settings[layout.NODE_LIMIT]:
        f[DEADLINE] = cpu() + seconds if seconds > 0.0 else 0.0
        deepen(b, depth, budget, settings, reals, moves, lines, extra, w, i, f, out)
    else:
        if depth > 2 and settings[layout.BEST_ONLY] and settings[layout.BOUNDS]:
            root(b, 2, budget, settings, reals, moves, lines, extra, w, i, f, out)
        root(b, depth, budget, settings, reals, moves, lines, extra, w, i, f, out)
    out[layout.NODES] = i[NODES] + i[LEAVES]
    out[layout.PROBES], out[layout.HITS], out[layout.LEAVES] = i[PROBES], i[HITS], i[LEAVES]
    return preferred(out, settings)

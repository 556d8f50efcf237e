"""Expectimax over player moves and spawns, exact unless an approximation is asked for.

A chance node averages over spawns, a decision node takes the best legal move; depth counts player moves.
"""

import numpy as np
from numba import njit, types

from t48lab.kernels.bitboard import four_probability, popcount, slide, trailing_zeros
from t48lab.kernels.chance import HEAD, ILLEGAL, NET_LEAVES, ONE, ZERO, U, chance
from t48lab.kernels.choice import TIE, preferred
from t48lab.kernels.clock import cpu
from t48lab.kernels.layout import BLOCK, CLASS, CORNER, EXTRA, FORM, NET, OUT, REALS, RULES, SETTINGS, TABLE
from t48lab.kernels.lines import earned, fitted
from t48lab.kernels.pointers import pointer
from t48lab.kernels.rng import mix64
from t48lab.kernels.signature import F64, F64S, I32S, I64, I64S, KERNEL, SEARCH, U16S, U64, U64S
from t48lab.kernels.star import bounded
from t48lab.kernels.tilesums import most_of, tile_sum

BOOL = types.boolean
SEARCHED = (I64S, F64S, U16S, I32S, I64S, U64S, I64S, F64S, F64S)  # one by one: handed on as a tuple they took longer
COST_UNIT = 2.0  # budget units per halving of a path's probability


@njit(I64(F64), **KERNEL)
def cost(probability):
    """Budget units that a path pays for an event of some probability: half a unit a halving, 64 at most."""
    return min(np.int64(64), np.int64(round(-COST_UNIT * np.log2(max(probability, 1e-12)))))


@njit(I64(I64S, U64S, I64S), **KERNEL)
def fast_leaves(settings, rules, extra):
    """How leaves are valued: 1 by `last_moves`, 2 by it with a peak term, 3 by a net, 0 one by one."""
    if extra[EXTRA.FORM] == FORM.NET and extra[EXTRA.BLOCKS + NET.SQUARE] and not settings[SETTINGS.LEAF_STATE]:
        return NET_LEAVES
    if settings[SETTINGS.LEAF_STATE] or extra[EXTRA.CLASS] == CLASS.WHOLE_BOARD:
        return 0
    if extra[EXTRA.CLASS] == CLASS.LINES:
        return 1
    plain = extra[EXTRA.BLOCKS + BLOCK.CORNER_RULE] <= CORNER.ANY
    return 2 if plain and rules[RULES.ROWS] == U(4) and rules[RULES.COLS] == U(4) else 0


@njit(types.void(I64S, F64S, U64S, I64S, U64S, I64S, F64S), **KERNEL)
def prepare(settings, reals, rules, extra, w, i, f):
    """Writes the constants of one search into the head of its memory and clears the counters."""
    for k in range(HEAD.SCRATCH):
        w[k] = ZERO
    w[HEAD.MASK], w[HEAD.SALT] = rules[RULES.MASK], mix64(U(settings[SETTINGS.GENERATION]))
    w[HEAD.ROWS], w[HEAD.COLS] = U(extra[EXTRA.BLOCKS + BLOCK.ROW_TABLES]), U(extra[EXTRA.BLOCKS + BLOCK.COLUMN_TABLES])
    i[HEAD.FAST] = fast_leaves(settings, rules, extra)
    corner = extra[EXTRA.BLOCKS + BLOCK.CORNER_RULE] == CORNER.ANY
    i[HEAD.PEAK_INSIDE] = EXTRA.BLOCKS + (BLOCK.PEAK_IN if corner else BLOCK.PEAK_OUT)
    i[HEAD.LEAF_STATE], i[HEAD.USE_TABLE] = settings[SETTINGS.LEAF_STATE], settings[SETTINGS.USE_TABLE]
    i[HEAD.FOURS], i[HEAD.FULL_IS_LEAF] = settings[SETTINGS.FOURS], settings[SETTINGS.FULL_IS_LEAF]
    w[HEAD.TABLE_SHIFT] = U(64) - trailing_zeros(U(settings[SETTINGS.CAPACITY]))
    f[HEAD.FOUR_P] = four_probability(rules)
    f[HEAD.FOUR_COST] = np.float64(extra[EXTRA.FOUR])
    f[HEAD.FLOOR] = np.float64(extra[EXTRA.LOST]) if extra[EXTRA.FLOORED] else ILLEGAL
    if reals[REALS.CUTOFF] > 0.0:
        for count in range(1, 17):
            i[HEAD.COSTS + count] = cost((1.0 - f[HEAD.FOUR_P]) / count)
            i[HEAD.COSTS + 32 + count] = cost(f[HEAD.FOUR_P] / count)
        i[HEAD.WORST_COST] = max(i[HEAD.COSTS + 16], i[HEAD.COSTS + 48])


@njit(F64(U64, I64, F64, I64S, F64S, I32S, I64S), **KERNEL)
def ceiling(b, depth, floor, settings, reals, lines, extra):
    """The most that any position met by a search of `b` can be worth, in fixed-point units.

    Leaves lie `depth` spawns ahead, one less when afterstates are valued; under a cut-off, and for lost positions
    that are evaluated, any number of spawns up to that one.
    """
    spawns = depth - 1 + settings[SETTINGS.LEAF_STATE]
    early = reals[REALS.CUTOFF] > 0.0 or extra[EXTRA.LOST_KIND]
    most, now, start = floor, tile_sum(b), settings[SETTINGS.BOUNDS]
    for added in range(0 if early else spawns, 2 * spawns + 1):
        if now + added >= TABLE:
            return np.inf
        most = max(most, np.float64(most_of(now + added, start, pointer(lines))))
    return most if extra[EXTRA.LOST_KIND] else max(most, np.float64(extra[EXTRA.LOST]))


@njit(types.void(F64S, I64S, I64S), **KERNEL)
def sort_moves(out, settings, order):
    """Puts the directions into `order` by the values in `out`, the largest first; illegal ones come last."""
    order[:] = settings[SETTINGS.ORDER : SETTINGS.ORDER + 4]
    for k in range(1, 4):
        for j in range(k, 0, -1):
            value, other = out[OUT.VALUES + order[j]], out[OUT.VALUES + order[j - 1]]
            if value > other or (value == value and other != other):
                order[j - 1], order[j] = order[j], order[j - 1]


@njit(BOOL(U64, I64, I64, *SEARCHED), **KERNEL)
def root(b, depth, budget, settings, reals, moves, lines, extra, w, i, f, out):
    """Fills the four values of `out` with a search to `depth`; False when a limit stopped it half-way.

    With BEST_ONLY the values of moves that are not the best are upper bounds, below it by more than a tie. Moves are
    tried in the order of the values in `out`.
    """
    values, order = np.full(4, np.nan), np.empty(4, np.int64)
    star = depth > 2 and settings[SETTINGS.BEST_ONLY] != 0 and settings[SETTINGS.BOUNDS] != 0
    if star:
        f[HEAD.MOST] = ceiling(b, depth, f[HEAD.FLOOR], settings, reals, lines, extra)
        f[HEAD.SLACK] = 1e-9 * (2.0**30 + abs(np.float64(extra[EXTRA.LOST])))
    sort_moves(out, settings, order)
    scale, alpha, past = 2.0 ** -extra[EXTRA.SHIFT], ILLEGAL, earned(b, extra)
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
        values[d] = (value - past) * scale
    if i[HEAD.STOPPED]:
        return False
    out[OUT.VALUES : OUT.VALUES + 4] = values
    out[OUT.DEPTH_REACHED] = depth
    return True


@njit(I64(U64, I64S), **KERNEL)
def planned_depth(b, settings):
    """The depth to search: DEPTH, or with ADAPT the number of distinct tiles less ADAPT, kept in MIN_DEPTH..DEPTH."""
    if settings[SETTINGS.ADAPT] == 0:
        return settings[SETTINGS.DEPTH]
    seen = ZERO
    while b != ZERO:
        seen |= ONE << (b & U(15))
        b >>= U(4)
    distinct = popcount(seen & ~ONE)
    return max(settings[SETTINGS.MIN_DEPTH], min(settings[SETTINGS.DEPTH], distinct - settings[SETTINGS.ADAPT]))


@njit(types.void(U64, I64, I64, *SEARCHED), **KERNEL)
def deepen(b, depth, budget, settings, reals, moves, lines, extra, w, i, f, out):
    """Searches depth 1, 2, ... up to `depth` while the limits last; `out` keeps the last finished one.

    A depth that would need more than twice the nodes left, at the growth seen so far, is not begun.
    """
    root(b, 1, budget, settings, reals, moves, lines, extra, w, i, f, out)
    i[HEAD.NODE_LIMIT] = settings[SETTINGS.NODE_LIMIT]
    before, last = np.int64(0), np.int64(0)
    for d in range(2, depth + 1):
        growth = last / max(before, np.int64(1))
        if i[HEAD.NODE_LIMIT] and last * growth > 2 * (i[HEAD.NODE_LIMIT] - i[HEAD.NODES] - i[HEAD.LEAVES]):
            break
        start = i[HEAD.NODES] + i[HEAD.LEAVES]
        if not root(b, d, budget, settings, reals, moves, lines, extra, w, i, f, out):
            break
        before, last = last, i[HEAD.NODES] + i[HEAD.LEAVES] - start


@njit(SEARCH, **KERNEL)
def search(b, agent, stream, out):
    """The best direction, or -1 when none is legal; NODES in `out` are chance nodes and leaves valued."""
    settings, reals, moves, rules, lines, extra, w, _ = agent
    i, f = w.view(np.int64), w.view(np.float64)
    b = fitted(b, extra)
    prepare(settings, reals, rules, extra, w, i, f)
    out[:] = 0.0
    out[OUT.VISITS : OUT.VISITS + 4] = np.nan
    cutoff, seconds = reals[REALS.CUTOFF], reals[REALS.SECONDS]
    budget = np.int64(-COST_UNIT * np.log2(cutoff)) if cutoff > 0.0 else np.int64(0)
    depth = planned_depth(b, settings)
    if seconds > 0.0 or settings[SETTINGS.NODE_LIMIT]:
        f[HEAD.DEADLINE] = cpu() + seconds if seconds > 0.0 else 0.0
        deepen(b, depth, budget, settings, reals, moves, lines, extra, w, i, f, out)
    else:
        if depth > 2 and settings[SETTINGS.BEST_ONLY] and settings[SETTINGS.BOUNDS]:
            root(b, 2, budget, settings, reals, moves, lines, extra, w, i, f, out)
        root(b, depth, budget, settings, reals, moves, lines, extra, w, i, f, out)
    out[OUT.NODES] = i[HEAD.NODES] + i[HEAD.LEAVES]
    out[OUT.PROBES], out[OUT.HITS], out[OUT.LEAVES] = i[HEAD.PROBES], i[HEAD.HITS], i[HEAD.LEAVES]
    return preferred(out, settings)

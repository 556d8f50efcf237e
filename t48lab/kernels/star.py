"""Chance nodes of expectimax when only the best move is asked for: Star1.

A node is given up as soon as it cannot be worth more than a value that is reachable beside it, even if every spawn
not yet looked at led to the most that a board of this tile sum can be worth. Values of nodes that are looked at to
the end are those of `chance`, bit by bit; a node given up returns an upper bound, stored under a key of its own.
Source: Ballard (1983), "The *-minimax search procedure for trees containing chance nodes", Artificial Intelligence 21.
"""

import numpy as np
from numba import njit

from t48lab.kernels.bitboard import empties, popcount, slide_rows, table_of, trailing_zeros, transpose
from t48lab.kernels.chance import HEAD, ILLEGAL, ONE, ZERO, U, chance, entry, exhausted, weighted
from t48lab.kernels.lines import lost_value
from t48lab.kernels.pointers import P_F64, P_I32, P_I64, P_U16, P_U64
from t48lab.kernels.signature import F64, I64, KERNEL, U64

BOUND = U(0x5555AAAA5555AAAA)


@njit(F64(U64, I64, I64, F64, P_U16, P_I32, P_I64, P_U64, P_I64, P_F64), **KERNEL)
def bounded(b, depth, budget, alpha, moves, lines, extra, w, i, f):
    """The value of afterstate `b` as by `chance` if it is above `alpha`, else any number from the value to `alpha`."""
    if depth < 2 or budget < 0:
        return chance(b, depth, budget, moves, lines, extra, w, i, f)
    if i[HEAD.STOPPED] or exhausted(i, f):
        i[HEAD.STOPPED] = 1
        return 0.0
    i[HEAD.NODES] += 1
    budget = min(budget, i[HEAD.WORST_COST] * (depth - 1))
    slot, key = entry(b, depth, budget, w)
    if i[HEAD.USE_TABLE]:
        i[HEAD.PROBES] += 1
        if w[slot] == key or (w[slot] == key ^ BOUND and f[slot + ONE] <= alpha):
            i[HEAD.HITS] += 1
            return f[slot + ONE]
    free = empties(b, w[HEAD.MASK])
    count, ahead = popcount(free), np.int64(0)
    kinds = 1 if count > i[HEAD.FOURS] else 2
    four = f[HEAD.FOUR_P] if kinds > 1 else 0.0
    done, rest, twos, fours = 0.0, 1.0, 0.0, 0.0
    for tile in range(kinds):
        p = (four if tile else 1.0 - four) / count
        rest_budget = budget - i[HEAD.COSTS + 32 * tile + count]
        cells = free
        while cells != ZERO:
            bit = trailing_zeros(cells)
            cells &= cells - ONE
            rest -= p
            ceiling = f[HEAD.MOST] * max(rest, 0.0)
            need = (alpha - f[HEAD.SLACK] - done - ceiling) / p
            s = b | (U(1 + tile) << bit)
            turned, best, first = transpose(s), ILLEGAL, ahead
            for k in range(4):
                d = first ^ k
                x = s if d & 1 else turned
                after = slide_rows(x, table_of(d), moves)
                if after == x:
                    continue
                after = after if d & 1 else transpose(after)
                v = bounded(after, depth - 1, rest_budget, max(need, best), moves, lines, extra, w, i, f)
                if v > best:
                    best, ahead = v, d
            if best == ILLEGAL:
                best = np.float64(lost_value(s, lines, extra, w[HEAD.MASK]))
            best = max(best, f[HEAD.FLOOR])
            done += p * best
            if best <= need:
                if i[HEAD.USE_TABLE] and i[HEAD.STOPPED] == 0:
                    w[slot], f[slot + ONE] = key ^ BOUND, done + ceiling
                return done + ceiling
            if tile:
                fours += best
            else:
                twos += best
    value = weighted(twos, fours, count, i, f)
    if i[HEAD.USE_TABLE] and i[HEAD.STOPPED] == 0:
        w[slot], f[slot + ONE] = key, value
    return value

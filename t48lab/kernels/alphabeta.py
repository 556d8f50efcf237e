"""Alpha-beta over the player's moves and the worst spawns, shared by the minimax search and the adversary.

A node is an afterstate with `depth` more player moves to look ahead. Its value is the minimum over spawns
(every empty cell, both tiles if the rules spawn both) of the maximum over moves, exact inside the window
alpha..beta: a result <= alpha says "at most", one >= beta says "at least". Values are fixed point.

`work` (int64) is the scratch paper of one search: what it needs to know, counters, then a frame a depth.
`memory` is a table of two words an entry: the salted key, and `value << 2 | bound`. An entry always gives
way to the next, so what a search meets in it does not depend on entries of other generations.
"""

import numpy as np
from numba import njit, types

from t48lab.kernels import layout
from t48lab.kernels.bitboard import empties, popcount, transpose
from t48lab.kernels.clock import wall
from t48lab.kernels.layout import BLOCKS, COLUMN_TABLES, ROW_TABLES, TABLE
from t48lab.kernels.lines import evaluate, four_lines, lost_value, peak
from t48lab.kernels.pointers import P_I32, P_I64, P_U16, P_U64
from t48lab.kernels.rng import mix64, plus, times
from t48lab.kernels.signature import I64, KERNEL, REALS, RULES, SETTINGS, U64, WORDS

U, I = np.uint64, np.int64
LINE, COLUMN = U(0xFFFF), U(0x000F000F000F000F)
INFINITE = 1 << 62
ILLEGAL = UNKNOWN = -INFINITE
EXACT, AT_LEAST, AT_MOST = 1, 2, 3
STATE_LEAF = 3
NODES_PER_LOOK = 1000  # nodes between two looks at the clock, about 20 microseconds

MASK, FIRST_TILE, LAST_TILE, LEAF_STATE, SLOTS, LIKED = range(6)
NODES, LEAVES, PROBES, HITS, NODE_LIMIT, DEADLINE, NEXT_LOOK, STOPPED = range(6, 14)
SLID, FRAMES, FRAME = 16, 32, 48
# a frame: salt of its keys, move to try first, up to 32 ranked spawns, up to 4 replies and their values
SALT, HINT, SPAWNS, REPLIES = 0, 1, 2, 34

CONTEXT = (P_U16, P_I32, P_I64, P_I64)


@njit(I64[::1](SETTINGS, REALS, RULES, WORDS), **KERNEL)
def blank_work(settings, reals, rules, memory):
    """A new `work` for searches of up to settings[DEPTH] moves; the clock of a time limit starts here."""
    depth = settings[layout.DEPTH]
    work = np.zeros(FRAMES + FRAME * (depth + 2), np.int64)
    work[MASK] = I(rules[layout.MASK])
    work[FIRST_TILE] = rules[layout.FOUR] >= U(1 << 32)
    work[LAST_TILE] = rules[layout.FOUR] > U(0)
    work[LEAF_STATE] = settings[layout.LEAF_STATE]
    if settings[layout.USE_TABLE]:
        work[SLOTS] = min(settings[layout.CAPACITY], len(memory) // 2)
    limit, seconds = settings[layout.NODE_LIMIT], reals[layout.SECONDS]
    work[NODE_LIMIT] = limit if limit > 0 else INFINITE
    work[DEADLINE] = I((wall() + seconds) * 1e9) if seconds > 0.0 else INFINITE
    work[NEXT_LOOK] = 0 if limit > 0 or seconds > 0.0 else INFINITE
    for d in range(depth + 2):
        kind = U(2 * d + settings[layout.LEAF_STATE])
        work[FRAMES + FRAME * d + SALT] = I(mix64(plus(mix64(U(settings[layout.GENERATION])), kind)))
    return work


@njit(types.boolean(P_I64), **KERNEL)
def exhausted(work):
    """Whether a limit has been reached: of nodes, or, looked at now and then, of time."""
    count = work[NODES] + work[LEAVES]
    if count >= work[NEXT_LOOK]:
        work[NEXT_LOOK] = min(count + NODES_PER_LOOK, work[NODE_LIMIT])
        if count >= work[NODE_LIMIT] or I(wall() * 1e9) >= work[DEADLINE]:
            work[STOPPED] = 1
    return work[STOPPED] != 0


@njit(U64(U64, I64, P_U16), **KERNEL)
def packed(b, direction, moves):
    """The rows of `b` packed to the left (3) or right (1); with the transposed board, up (0) or down (2)."""
    base = U(TABLE * (direction % 3))
    high = (U(moves[base + (b >> U(48))]) << U(48)) | (U(moves[base + ((b >> U(32)) & LINE)]) << U(32))
    return high | (U(moves[base + ((b >> U(16)) & LINE)]) << U(16)) | U(moves[base + (b & LINE)])


@njit(U64(U64, I64, P_U16), **KERNEL)
def afterstate(b, direction, moves):
    """The board after a move; the same board when the move is illegal."""
    return packed(b, direction, moves) if direction & 1 else transpose(packed(transpose(b), direction, moves))


@njit(types.boolean(U64, P_U16), **KERNEL)
def stuck(b, moves):
    """Whether no move is legal."""
    for direction in range(4):
        if afterstate(b, direction, moves) != b:
            return False
    return True


@njit(I64(U64, I64, *CONTEXT), **KERNEL)
def worst_position(b, floor, moves, lines, extra, work):
    """The least evaluation of the positions after a spawn, or the first that is not above `floor`."""
    mask, least, t = U(work[MASK]), I(INFINITE), transpose(b)
    rows, columns = U(extra[BLOCKS + ROW_TABLES]), U(extra[BLOCKS + COLUMN_TABLES])
    cells, total = empties(b, mask), evaluate(b, lines, extra, mask)
    full = cells & (cells - U(1)) == U(0)
    for tile in range(work[FIRST_TILE], work[LAST_TILE] + 1):
        rest = cells
        while rest:
            one = rest & (~rest + U(1))
            rest ^= one
            s, place = b | (one << U(tile)), popcount(one - U(1))
            work[LEAVES] += 1
            if full and stuck(s, moves):
                value = lost_value(s, lines, extra, mask)
            elif extra[layout.CLASS] != layout.PURE_LINES:
                value = evaluate(s, lines, extra, mask)
            else:
                across, along = U(place & 48), U((place & 12) << 2)
                row, column = (b >> across) & LINE, (t >> along) & LINE
                new_row, new_column = (s >> across) & LINE, column | (U(1 + tile) << (across >> U(2)))
                value = total + I(lines[rows + new_row]) - I(lines[rows + row])
                value += I(lines[columns + new_column]) - I(lines[columns + column])
            least = min(least, value)
            if least <= floor:
                return least
    return least


@njit(I64(U64, I64, *CONTEXT), **KERNEL)
def leaf_value(b, floor, moves, lines, extra, work):
    """The value of an afterstate with no more moves to look ahead; at most `floor` is not told apart."""
    if work[LEAF_STATE]:
        return worst_position(b, floor, moves, lines, extra, work)
    work[LEAVES] += 1
    return evaluate(b, lines, extra, U(work[MASK]))


@njit(types.void(U64, U64, *CONTEXT), **KERNEL)
def slide_all(b, t, moves, lines, extra, work):
    """Nothing; writes the four packed boards, their transposes and their sums of line entries to work[SLID:]."""
    for direction in range(4):
        along = direction & 1
        near = U(extra[BLOCKS + (ROW_TABLES if along else COLUMN_TABLES)])
        m = packed(b if along else t, direction, moves)
        at = SLID + 4 * direction
        work[at], work[at + 1], work[at + 2] = I(m), I(transpose(m)), four_lines(m, near, lines)
        work[at + 3] = TABLE * (direction % 3)


@njit(I64(U64, U64, I64, I64, U64, U64, I64, P_U16, P_I32, P_I64, P_I64), forceinline=True, **KERNEL)
def reply_leaf(x, shift, direction, floor, near, far, kind, moves, lines, extra, work):
    """The leaf value of one move, ILLEGAL when it changes nothing, given what slide_all wrote.

    `x` is the position, transposed for moves up and down; a spawn has changed its line at `shift` alone.
    """
    at = SLID + 4 * direction
    m, tm = U(work[at]), U(work[at + 1])
    old, new = (m >> shift) & LINE, U(moves[U(work[at + 3]) + ((x >> shift) & LINE)])
    after = m ^ ((new ^ old) << shift)
    if after == x:
        return I(ILLEGAL)
    column = (new | (new << U(24))) & U(0x000000FF000000FF)
    column = (column | (column << U(12))) & COLUMN
    across = (tm & ~(COLUMN << (shift >> U(2)))) | (column << (shift >> U(2)))
    if kind <= layout.LINES_AND_PEAK:
        value = work[at + 2] + I(lines[near + new]) - I(lines[near + old]) + four_lines(across, far, lines)
        if kind == layout.PURE_LINES:
            return value
        return value + peak(after if direction & 1 else across, I(BLOCKS), extra)
    board = after if direction & 1 else across
    if kind == STATE_LEAF:
        return worst_position(board, floor, moves, lines, extra, work)
    return evaluate(board, lines, extra, U(work[MASK]))


@njit(I64(U64, U64, U64, I64, I64, I64, U64, U64, I64, P_U16, P_I32, P_I64, P_I64), forceinline=True, **KERNEL)
def best_leaf(b, t, one, tile, alpha, beta, rows, columns, kind, moves, lines, extra, work):
    """The best leaf that one move reaches after a spawn on `b`, or the first of at least `beta`.

    The direction that was best the last time is tried first; work[LIKED] remembers the new one.
    """
    place = popcount(one - U(1))
    row, column = U(place & 48), U((place & 12) << 2)
    s, turned = b | (one << U(tile)), t | (U(1 + tile) << (column + (row >> U(2))))
    best, liked, chosen = I(ILLEGAL), work[LIKED], work[LIKED]
    for k in range(4):
        direction = (liked + k) & 3
        x, shift, near, far = (s, row, rows, columns) if direction & 1 else (turned, column, columns, rows)
        value = reply_leaf(x, shift, direction, max(alpha, best), near, far, kind, moves, lines, extra, work)
        work[LEAVES] += 1
        if value > best:
            best = value
            chosen = direction
            if best >= beta:
                break
    work[LIKED] = chosen
    return best if best != ILLEGAL else lost_value(s, lines, extra, U(work[MASK]))


@njit(I64(U64, I64, I64, *CONTEXT), **KERNEL)
def last_layer(b, alpha, beta, moves, lines, extra, work):
    """The value of an afterstate with one more move to look ahead."""
    t, cells, least = transpose(b), empties(b, U(work[MASK])), beta
    rows, columns = U(extra[BLOCKS + ROW_TABLES]), U(extra[BLOCKS + COLUMN_TABLES])
    kind = STATE_LEAF if work[LEAF_STATE] else extra[layout.CLASS]
    slide_all(b, t, moves, lines, extra, work)
    for tile in range(work[FIRST_TILE], work[LAST_TILE] + 1):
        rest = cells
        while rest:
            one = rest & (~rest + U(1))
            rest ^= one
            least = min(least, best_leaf(b, t, one, tile, alpha, least, rows, columns, kind, moves, lines, extra, work))
            if least <= alpha:
                return least
    return least


@njit(I64(U64, I64, *CONTEXT), **KERNEL)
def rank_spawns(b, first, moves, lines, extra, work):
    """Where the list of spawns ends that it writes from work[first]: value << 7 | cell << 3 | four << 2 | move.

    The value is that of the best next afterstate by evaluation alone, and the move leads there.
    """
    t, cells, end = transpose(b), empties(b, U(work[MASK])), first
    rows, columns = U(extra[BLOCKS + ROW_TABLES]), U(extra[BLOCKS + COLUMN_TABLES])
    kind = extra[layout.CLASS]
    slide_all(b, t, moves, lines, extra, work)
    for tile in range(work[FIRST_TILE], work[LAST_TILE] + 1):
        rest = cells
        while rest:
            one = rest & (~rest + U(1))
            rest ^= one
            value = best_leaf(b, t, one, tile, I(ILLEGAL), I(INFINITE), rows, columns, kind, moves, lines, extra, work)
            spawn = 30 - (popcount(one - U(1)) >> 1) + tile
            work[end] = value << 7 | spawn << 2 | work[LIKED]
            end += 1
    return end


@njit(I64(I64, I64, P_I64), **KERNEL)
def next_spawn(first, end, work):
    """The least of the ranked spawns in work[first:end], exchanged to the front."""
    least = first
    for i in range(first + 1, end):
        if work[i] < work[least]:
            least = i
    work[first], work[least] = work[least], work[first]
    return work[first]


@njit(U64(U64, I64), **KERNEL)
def spawned(b, ranked):
    """The position after a ranked spawn."""
    return b | (U(1) << U(60 - 4 * ((ranked >> 3) & 15) + ((ranked >> 2) & 1)))


@njit(I64(U64, I64, I64, *CONTEXT), **KERNEL)
def order_replies(b, tried, first, moves, lines, extra, work):
    """How many moves but `tried` are legal; their afterstates and values go to work[first:], best first."""
    end = first
    for direction in range(4):
        after = afterstate(b, direction, moves)
        if direction == tried or after == b:
            continue
        work[LEAVES] += 1
        value = evaluate(after, lines, extra, U(work[MASK]))
        i = end
        while i > first and work[i - 1] < value:
            work[i], work[i + 1] = work[i - 2], work[i - 1]
            i -= 2
        work[i], work[i + 1] = I(after), value
        end += 2
    return (end - first) >> 1


@njit(I64(U64, U64, I64, I64, P_U64, P_I64), **KERNEL)
def known(key, slot, alpha, beta, memory, work):
    """The value that the table holds for a key, UNKNOWN when it holds none or too wide a bound."""
    work[PROBES] += 1
    if memory[slot] != key:
        return I(UNKNOWN)
    value, bound = I(memory[slot + U(1)]) >> 2, I(memory[slot + U(1)]) & 3
    if (bound == AT_LEAST and value < beta) or (bound == AT_MOST and value > alpha):
        return I(UNKNOWN)
    work[HITS] += 1
    return value


@njit(I64(U64, I64, I64, I64, P_U16, P_I32, P_I64, P_I64, P_U64), **KERNEL)
def solve(b, plies, alpha, beta, moves, lines, extra, work, memory):
    """The value of a board with `plies` to look ahead; anything once work[STOPPED] is set.

    An even number: an afterstate with plies/2 moves to go. An odd one: a position with (plies + 1)/2 moves;
    its caller leaves the move to try first in the frame.
    """
    if plies == 0:
        return leaf_value(b, alpha, moves, lines, extra, work)
    frame = FRAMES + FRAME * (plies >> 1)
    if plies & 1:
        tried, first, left, best = work[frame + HINT], frame + REPLIES, I(1), I(ILLEGAL)
        work[first] = I(afterstate(b, tried, moves))
        if U(work[first]) == b:
            return lost_value(b, lines, extra, U(work[MASK]))
        k = first
        while left > 0:
            value = solve(U(work[k]), plies - 1, max(alpha, best), beta, moves, lines, extra, work, memory)
            best, left = max(best, value), left - 1
            if best >= beta or work[STOPPED]:
                break
            if k == first:
                left = order_replies(b, tried, first + 2, moves, lines, extra, work)
            k += 2
        return best
    work[NODES] += 1
    if exhausted(work):
        return I(0)
    key = b ^ U(work[frame + SALT])
    slot = (((times(key, U(0xD6E8FEB86659FD93)) >> U(32)) * U(work[SLOTS])) >> U(32)) << U(1)
    if work[SLOTS]:
        value = known(key, slot, alpha, beta, memory, work)
        if value != UNKNOWN:
            return value
    if plies == 2:
        least = last_layer(b, alpha, beta, moves, lines, extra, work)
    else:
        least, first = beta, frame + SPAWNS
        end = rank_spawns(b, first, moves, lines, extra, work)
        for i in range(first, end):
            ranked = next_spawn(i, end, work)
            work[frame - FRAME + HINT] = ranked & 3
            value = solve(spawned(b, ranked), plies - 1, alpha, least, moves, lines, extra, work, memory)
            least = min(least, value)
            if work[STOPPED]:
                return I(0)
            if least <= alpha:
                break
    if work[SLOTS]:
        bound = AT_MOST if least <= alpha else (AT_LEAST if least >= beta else EXACT)
        memory[slot], memory[slot + U(1)] = key, U((least << 2) | bound)
    return least

"""Alpha-beta over the player's moves and the worst spawns, shared by the minimax search and the adversary.

An afterstate is worth the minimum over spawns (every empty cell, both tiles if the rules spawn both), a
position the maximum over moves, and no less than a floor that the evaluator may set: exact inside the window
alpha < beta, while a result <= alpha says "at most" and one >= beta "at least". In an empty window a result would
say neither, so none is ever searched: a floor of beta or more is an answer. Values are fixed point.

`work` (int64) is the scratch paper of one search: what it needs to know, counters, then a frame a depth.
`memory` is a table of two words an entry: the salted key, and `value << 2 | bound`. An entry always gives
way to the next, so what a search meets in it does not depend on entries of other generations.
"""

from typing import NamedTuple

import numpy as np
from numba import njit, types

from t48lab.kernels.bitboard import (
    COLUMN,
    LINE,
    empties,
    slide,
    slide_rows,
    spread,
    stuck,
    table_of,
    trailing_zeros,
    transpose,
)
from t48lab.kernels.clock import cpu
from t48lab.kernels.layout import BLOCK, CLASS, EXTRA, OUT, REALS, RULES, SETTINGS
from t48lab.kernels.lines import evaluate, four_lines, lost_value, peak
from t48lab.kernels.pointers import P_I32, P_I64, P_U16, P_U64
from t48lab.kernels.rng import mix64, times
from t48lab.kernels.signature import F64S, I64, I64S, KERNEL, U64, U64S

U, I = np.uint64, np.int64
ZERO, ONE = U(0), U(1)
INFINITE = 1 << 62
ILLEGAL = UNKNOWN = -INFINITE
EXACT, AT_LEAST, AT_MOST = 1, 2, 3
STATE_LEAF = CLASS.WHOLE_BOARD + 1
NODES_PER_LOOK = 1000  # between two looks at the clock: 20 to 100 microseconds
SORTED = 3  # once so many spawns did not refute a move, the order of the others hardly matters


class Work(NamedTuple):
    """Of `work`: what a search needs to know, counters, the game's salt, the root's values, what slides, frames."""

    MASK: int = 0
    FIRST_TILE: int = 1
    LAST_TILE: int = 2
    LEAF_STATE: int = 3
    FULL_IS_LEAF: int = 4
    FLOOR: int = 5
    SLOTS: int = 6
    LIKED: int = 7
    NODES: int = 8
    LEAVES: int = 9
    PROBES: int = 10
    HITS: int = 11
    NODE_LIMIT: int = 12
    DEADLINE: int = 13
    NEXT_LOOK: int = 14
    STOPPED: int = 15
    GAME: int = 16
    ROOT: int = 17
    SLID: int = 21
    FRAMES: int = 37


class Frame(NamedTuple):
    """Of a frame: salt of its keys, move to try first, up to 32 ranked spawns, up to 4 replies and their values."""

    SALT: int = 0
    HINT: int = 1
    SPAWNS: int = 2
    REPLIES: int = 34
    SIZE: int = 44


WORK, FRAME = Work(), Frame()
CONTEXT = (P_U16, P_I32, P_I64, P_I64)


@njit(I64S(I64S, F64S, U64S, I64S), **KERNEL)
def blank_work(settings, reals, rules, extra):
    """A new `work` for searches of up to settings[DEPTH] moves; the clock of a time limit starts here."""
    depth, leaf_state = settings[SETTINGS.DEPTH], settings[SETTINGS.LEAF_STATE]
    work = np.zeros(WORK.FRAMES + FRAME.SIZE * (depth + 1), np.int64)
    work[WORK.MASK] = I(rules[RULES.MASK])
    work[WORK.FIRST_TILE] = rules[RULES.FOUR] >= U(1 << 32)
    work[WORK.LAST_TILE] = rules[RULES.FOUR] > ZERO
    work[WORK.LEAF_STATE], work[WORK.FULL_IS_LEAF] = leaf_state, settings[SETTINGS.FULL_IS_LEAF]
    work[WORK.FLOOR] = extra[EXTRA.LOST] if extra[EXTRA.FLOORED] else ILLEGAL
    limit, seconds = settings[SETTINGS.NODE_LIMIT], reals[REALS.SECONDS]
    work[WORK.NODE_LIMIT] = limit if limit > 0 else INFINITE
    work[WORK.DEADLINE] = I((cpu() + seconds) * 1e9) if seconds > 0.0 else INFINITE
    work[WORK.NEXT_LOOK] = 0 if limit > 0 or seconds > 0.0 else INFINITE
    work[WORK.GAME] = I(mix64(U(settings[SETTINGS.GENERATION])))
    for d in range(depth + 1):
        work[WORK.FRAMES + FRAME.SIZE * d + FRAME.SALT] = I(mix64(U(2 * d + leaf_state)))
    return work


@njit(I64(I64, I64S, U64S), **KERNEL)
def slots(depth, settings, memory):
    """How many entries of the table a search of `depth` moves uses: enough, and few that the cache can hold."""
    if settings[SETTINGS.USE_TABLE] == 0 or depth < 3:
        return 0
    return min(min(settings[SETTINGS.CAPACITY], len(memory) // 2), 1 << (2 * depth + 4))


@njit(types.void(I64S, F64S), **KERNEL)
def report(work, out):
    """Writes the counters. A node is an afterstate that is searched, or an evaluation."""
    out[OUT.NODES] = work[WORK.NODES] + work[WORK.LEAVES]
    out[OUT.PROBES], out[OUT.HITS], out[OUT.LEAVES] = work[WORK.PROBES], work[WORK.HITS], work[WORK.LEAVES]


@njit(types.boolean(P_I64), **KERNEL)
def exhausted(work):
    """Whether a limit has been reached: of nodes, or, looked at now and then, of time."""
    count = work[WORK.NODES] + work[WORK.LEAVES]
    if count >= work[WORK.NEXT_LOOK]:
        work[WORK.NEXT_LOOK] = min(count + NODES_PER_LOOK, work[WORK.NODE_LIMIT])
        if count >= work[WORK.NODE_LIMIT] or I(cpu() * 1e9) >= work[WORK.DEADLINE]:
            work[WORK.STOPPED] = 1
    return work[WORK.STOPPED] != 0


@njit(I64(U64, types.boolean, *CONTEXT), **KERNEL)
def leaf_position(s, full, moves, lines, extra, work):
    """The value of a position with no moves to look ahead; only a full one can be lost."""
    if full and work[WORK.FULL_IS_LEAF] == 0 and stuck(s, moves):
        return lost_value(s, lines, extra, U(work[WORK.MASK]))
    return evaluate(s, lines, extra, U(work[WORK.MASK]))


@njit(I64(U64, I64, *CONTEXT), **KERNEL)
def worst_position(b, alpha, moves, lines, extra, work):
    """The least value of the positions after a spawn on `b`, no moves to look ahead."""
    least, t, cells = I(INFINITE), transpose(b), empties(b, U(work[WORK.MASK]))
    rows, columns = U(extra[EXTRA.BLOCKS + BLOCK.ROW_TABLES]), U(extra[EXTRA.BLOCKS + BLOCK.COLUMN_TABLES])
    full = cells & (cells - ONE) == ZERO
    by_line = extra[EXTRA.CLASS] == CLASS.LINES and not full
    total = evaluate(b, lines, extra, U(work[WORK.MASK])) if by_line else I(0)
    for tile in range(work[WORK.FIRST_TILE], work[WORK.LAST_TILE] + 1):
        rest, four = cells, extra[EXTRA.FOUR] if tile else I(0)
        while rest != ZERO:
            place = trailing_zeros(rest)
            rest &= rest - ONE
            s = b | (U(1 + tile) << place)
            work[WORK.LEAVES] += 1
            if by_line:
                across, along = place & U(48), (place & U(12)) << U(2)
                row, column = (b >> across) & LINE, (t >> along) & LINE
                new_row, new_column = (s >> across) & LINE, column | (U(1 + tile) << (across >> U(2)))
                value = total + I(lines[rows + new_row]) - I(lines[rows + row])
                value += I(lines[columns + new_column]) - I(lines[columns + column])
            else:
                value = leaf_position(s, full, moves, lines, extra, work)
            least = min(least, value - four)
            if least <= alpha:
                return least
    return least


@njit(types.void(U64, U64, *CONTEXT), **KERNEL)
def slide_all(b, t, moves, lines, extra, work):
    """Writes each packed board, its transpose, its sum of line entries (if any) and its table to work[SLID:]."""
    by_line = extra[EXTRA.CLASS] != CLASS.WHOLE_BOARD
    for direction in range(4):
        along, table, at = direction & 1, table_of(direction), WORK.SLID + 4 * direction
        near = U(extra[EXTRA.BLOCKS + (BLOCK.ROW_TABLES if along else BLOCK.COLUMN_TABLES)])
        m = slide_rows(b if along else t, table, moves)
        work[at], work[at + 1], work[at + 3] = I(m), I(transpose(m)), I(table)
        work[at + 2] = four_lines(m, near, lines) if by_line else 0


@njit(I64(U64, U64, I64, I64, U64, U64, I64, *CONTEXT), forceinline=True, **KERNEL)
def leaf_after(x, shift, direction, alpha, near, far, kind, moves, lines, extra, work):
    """The leaf value of one move, ILLEGAL when it changes nothing, given what slide_all wrote.

    `x` is the position, transposed for moves up and down; a spawn has changed its line at `shift` alone, so
    one packed line and one cell of each crossing line differ from the shared board.
    """
    at = WORK.SLID + 4 * direction
    shared = U(work[at])
    old, new = (shared >> shift) & LINE, U(moves[U(work[at + 3]) + ((x >> shift) & LINE)])
    after = shared ^ ((old ^ new) << shift)
    if after == x:
        return I(ILLEGAL)
    turn = shift >> U(2)
    across = (U(work[at + 1]) & ~(COLUMN << turn)) | (spread(new) << turn)
    board = after if direction & 1 else across
    if kind == STATE_LEAF:
        return worst_position(board, alpha, moves, lines, extra, work)
    work[WORK.LEAVES] += 1
    if kind == CLASS.WHOLE_BOARD:
        return evaluate(board, lines, extra, U(work[WORK.MASK]))
    value = work[at + 2] - I(lines[near + old]) + I(lines[near + new]) + four_lines(across, far, lines)
    return value if kind == CLASS.LINES else value + peak(board, I(EXTRA.BLOCKS), extra)


@njit(I64(U64, U64, U64, I64, I64, I64, I64, U64, U64, I64, *CONTEXT), forceinline=True, **KERNEL)
def best_leaf(b, t, place, tile, alpha, beta, floor, rows, columns, kind, moves, lines, extra, work):
    """The best leaf that one move reaches after a spawn on `b`, or the first of at least `beta`.

    The direction that was best the last time is tried first; work[LIKED] remembers the new one.
    """
    row, column = place & U(48), (place & U(12)) << U(2)
    s, turned = b | (U(1 + tile) << place), t | (U(1 + tile) << (column + (row >> U(2))))
    best, liked, chosen = floor, work[WORK.LIKED], work[WORK.LIKED]
    for k in range(4):
        direction = (liked + k) & 3
        x, shift, near, far = (s, row, rows, columns) if direction & 1 else (turned, column, columns, rows)
        value = leaf_after(x, shift, direction, max(alpha, best), near, far, kind, moves, lines, extra, work)
        if value > best:
            best, chosen = value, direction
            if best >= beta:
                break
    work[WORK.LIKED] = chosen
    return best if best != ILLEGAL else lost_value(s, lines, extra, U(work[WORK.MASK]))


@njit(I64(U64, I64, I64, *CONTEXT), **KERNEL)
def last_layer(b, alpha, beta, moves, lines, extra, work):
    """The value of an afterstate with one more move to look ahead."""
    t, cells, least, floor = transpose(b), empties(b, U(work[WORK.MASK])), beta, work[WORK.FLOOR]
    rows, columns = U(extra[EXTRA.BLOCKS + BLOCK.ROW_TABLES]), U(extra[EXTRA.BLOCKS + BLOCK.COLUMN_TABLES])
    kind = STATE_LEAF if work[WORK.LEAF_STATE] else extra[EXTRA.CLASS]
    slide_all(b, t, moves, lines, extra, work)
    for tile in range(work[WORK.FIRST_TILE], work[WORK.LAST_TILE] + 1):
        rest, four = cells, extra[EXTRA.FOUR] if tile else I(0)
        while rest != ZERO:
            at = trailing_zeros(rest)
            rest &= rest - ONE
            value = best_leaf(
                b, t, at, tile, alpha + four, least + four, floor, rows, columns, kind, moves, lines, extra, work
            )
            least = min(least, value - four)
            if least <= alpha:
                return least
    return least


@njit(I64(U64, I64, *CONTEXT), **KERNEL)
def rank_spawns(b, first, moves, lines, extra, work):
    """Where the list of spawns ends that it writes from work[first]: value << 7 | cell << 3 | four << 2 | move.

    The value is that of the best next afterstate by evaluation alone, and the move leads there.
    """
    t, cells, end = transpose(b), empties(b, U(work[WORK.MASK])), first
    rows, columns = U(extra[EXTRA.BLOCKS + BLOCK.ROW_TABLES]), U(extra[EXTRA.BLOCKS + BLOCK.COLUMN_TABLES])
    low, high, kind = I(ILLEGAL), I(INFINITE), extra[EXTRA.CLASS]
    slide_all(b, t, moves, lines, extra, work)
    for tile in range(work[WORK.FIRST_TILE], work[WORK.LAST_TILE] + 1):
        rest, four = cells, extra[EXTRA.FOUR] if tile else I(0)
        while rest != ZERO:
            at = trailing_zeros(rest)
            rest &= rest - ONE
            value = best_leaf(b, t, at, tile, low, high, low, rows, columns, kind, moves, lines, extra, work) - four
            spawn = 30 - I(at >> ONE) + tile
            work[end] = (value << 7) | (spawn << 2) | work[WORK.LIKED]
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
    return b | (ONE << U(60 - 4 * ((ranked >> 3) & 15) + ((ranked >> 2) & 1)))


@njit(I64(U64, I64, I64, *CONTEXT), **KERNEL)
def order_replies(b, tried, first, moves, lines, extra, work):
    """How many moves but `tried` are legal; their afterstates and values go to work[first:], best first."""
    end = first
    for direction in range(4):
        after = slide(b, direction, moves)
        if direction == tried or after == b:
            continue
        work[WORK.LEAVES] += 1
        value, i = evaluate(after, lines, extra, U(work[WORK.MASK])), end
        while i > first and work[i - 1] < value:
            work[i], work[i + 1] = work[i - 2], work[i - 1]
            i -= 2
        work[i], work[i + 1] = I(after), value
        end += 2
    return (end - first) >> 1


@njit(I64(U64, U64, I64, I64, P_U64, P_I64), **KERNEL)
def known(key, slot, alpha, beta, memory, work):
    """The value that the table holds for a key, UNKNOWN when it holds none or too wide a bound."""
    work[WORK.PROBES] += 1
    if memory[slot] != key:
        return I(UNKNOWN)
    value, bound = I(memory[slot + ONE]) >> 2, I(memory[slot + ONE]) & 3
    if (bound == AT_LEAST and value < beta) or (bound == AT_MOST and value > alpha):
        return I(UNKNOWN)
    work[WORK.HITS] += 1
    return value


@njit(I64(U64, I64, I64, I64, *CONTEXT, P_U64), **KERNEL)
def solve(b, plies, alpha, beta, moves, lines, extra, work, memory):
    """The value of a board with `plies` to look ahead; anything once work[STOPPED] is set.

    An even number: an afterstate with plies/2 moves to go. An odd one: a position with (plies + 1)/2 moves;
    its caller leaves the move to try first in the frame.
    """
    if plies == 0 and work[WORK.LEAF_STATE] == 0:
        work[WORK.LEAVES] += 1
        return evaluate(b, lines, extra, U(work[WORK.MASK]))
    frame = WORK.FRAMES + FRAME.SIZE * (plies >> 1)
    if plies & 1:
        tried, at, left, best = work[frame + FRAME.HINT], frame + FRAME.REPLIES, I(1), work[WORK.FLOOR]
        if best >= beta:
            return best
        work[at] = I(slide(b, tried, moves))
        if U(work[at]) == b:
            return lost_value(b, lines, extra, U(work[WORK.MASK]))
        while left > 0:
            value = solve(U(work[at]), plies - 1, max(alpha, best), beta, moves, lines, extra, work, memory)
            best, left = max(best, value), left - 1
            if best >= beta or work[WORK.STOPPED]:
                break
            at += 2
            if at == frame + FRAME.REPLIES + 2:
                left = order_replies(b, tried, at, moves, lines, extra, work)
        return best
    cells = empties(b, U(work[WORK.MASK]))
    if plies == 0 or (work[WORK.FULL_IS_LEAF] and cells & (cells - ONE) == ZERO):
        return worst_position(b, alpha, moves, lines, extra, work)
    work[WORK.NODES] += 1
    if exhausted(work):
        return I(0)
    place = b ^ U(work[frame + FRAME.SALT])
    key = place ^ U(work[WORK.GAME])
    slot = (((times(place, U(0xD6E8FEB86659FD93)) >> U(32)) * U(work[WORK.SLOTS])) >> U(32)) << ONE
    value = known(key, slot, alpha, beta, memory, work) if work[WORK.SLOTS] else I(UNKNOWN)
    if value != UNKNOWN:
        return value
    if plies == 2:
        least = last_layer(b, alpha, beta, moves, lines, extra, work)
    else:
        least, first = beta, frame + FRAME.SPAWNS
        end = rank_spawns(b, first, moves, lines, extra, work)
        for i in range(first, end):
            ranked = next_spawn(i, end, work) if i < first + SORTED else work[i]
            work[frame - FRAME.SIZE + FRAME.HINT] = ranked & 3
            four = extra[EXTRA.FOUR] if ranked & 4 else I(0)
            value = solve(spawned(b, ranked), plies - 1, alpha + four, least + four, moves, lines, extra, work, memory)
            least = min(least, value - four)
            if work[WORK.STOPPED]:
                return I(0)
            if least <= alpha:
                break
    if work[WORK.SLOTS]:
        bound = AT_MOST if least <= alpha else (AT_LEAST if least >= beta else EXACT)
        memory[slot], memory[slot + ONE] = key, U((least << 2) | bound)
    return least

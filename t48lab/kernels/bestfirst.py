"""Two searches that go by f = g + h: a published expectation, and a best-first search with an open list.

BY_EXPECTATION rebuilds a published "A*": after the move of the root no tile spawns, then come HORIZON times
a best move and the mean over spawns, and the evaluator values the positions at the end. There is no open list.

OPEN_LIST searches WORLDS determinised games: in a world the spawn on an afterstate is a hash of both, so
only moves are left to choose. The open list gives out the position with the largest f = g + h, g
REWARD_WEIGHT times the points since the root and h the evaluator's value; its children enter the list, again
if a position was known with a smaller g. When CAPACITY positions have been valued, a move of the root is worth
the largest f on the frontier below it, averaged over worlds: a best-first form of minimin (Korf 1990,
"Real-time heuristic search", Artificial Intelligence 42).

An admissible h, which never promises less than can be had, would make the first finished path the best
one; but a game of 2048 has no goal whose cost could be bounded, only more points for as long as it lasts.
"""

from typing import NamedTuple

import numpy as np
from numba import njit, types

from t48lab.kernels.bitboard import built, empties, popcount, slide, spawn, stuck, trailing_zeros
from t48lab.kernels.choice import preferred
from t48lab.kernels.layout import EXTRA, FRONTIER, MODE, OUT, REALS, RULES, SETTINGS
from t48lab.kernels.lines import earned, evaluate, fitted, lost_value, standing
from t48lab.kernels.pointers import P_F64, P_I32, P_I64, P_U16, P_U64, pointer
from t48lab.kernels.rng import mix64, next_u64, plus, times
from t48lab.kernels.signature import AGENT, F64, F64S, I64, I64S, KERNEL, SEARCH, U64, U64S

U, I = np.uint64, np.int64
ZERO, ONE = U(0), U(1)


class Place(NamedTuple):
    """Of a position in the open list: board, g, and its way (moves made * 4 + the root's)."""

    BOARD: int = 0
    EARNED: int = 1
    WAY: int = 2


class Count(NamedTuple):
    """Of the counters of the published search."""

    NODES: int = 0
    PROBES: int = 1
    HITS: int = 2
    LEAVES: int = 3


PLACE, COUNT = Place(), Count()


@njit(F64(U64, P_U16, P_I32, P_I64, U64), **KERNEL)
def worth(b, moves, lines, extra, mask):
    """The evaluator's value of a position in fixed point, its lost value when no move is legal."""
    if extra[EXTRA.EARNS]:
        return np.float64(standing(b, moves, lines, extra, mask))
    if empties(b, mask) == ZERO and stuck(b, moves):
        return np.float64(lost_value(b, lines, extra, mask))
    return np.float64(evaluate(b, lines, extra, mask))


CONTEXT = (P_U16, P_U64, P_I32, P_I64, P_U64, P_F64, P_I64, I64, U64)


@njit(F64(U64, I64, *CONTEXT), **KERNEL)
def expectation(b, plies, moves, rules, lines, extra, words, reals, counts, shift, salt):
    """The value in fixed point of a position (an odd number of plies ahead) or an afterstate (an even one).

    Afterstates are remembered in a table of 2^shift entries of two words: the salted key, and the value.
    """
    if plies & 1:
        best = -np.inf
        for direction in range(4):
            after = slide(b, direction, moves)
            if after != b:
                v = expectation(after, plies - 1, moves, rules, lines, extra, words, reals, counts, shift, salt)
                best = max(best, v)
        return best if best > -np.inf else np.float64(lost_value(b, lines, extra, rules[RULES.MASK]))
    key = b ^ mix64(plus(salt, U(plies)))
    slot = (times(key, U(0xD6E8FEB86659FD93)) >> U(64 - shift)) << ONE
    counts[COUNT.PROBES] += 1
    if words[slot] == key:
        counts[COUNT.HITS] += 1
        return reals[slot + ONE]
    counts[COUNT.NODES] += 1
    free, total = empties(b, rules[RULES.MASK]), 0.0
    count, four = popcount(free), np.float64(rules[RULES.FOUR]) * 2.0**-32
    while free != ZERO:
        place = trailing_zeros(free)
        free &= free - ONE
        for tile in range(2):
            s = b | (U(1 + tile) << place)
            if plies == 0:
                counts[COUNT.LEAVES] += 1
                v = worth(s, moves, lines, extra, rules[RULES.MASK])
            else:
                v = expectation(s, plies - 1, moves, rules, lines, extra, words, reals, counts, shift, salt)
            total += four * (v - extra[EXTRA.FOUR]) if tile else (1.0 - four) * v
    words[slot], reals[slot + ONE] = key, total / count
    return total / count


@njit(types.void(U64, AGENT, F64S), **KERNEL)
def expect(board, agent, out):
    """Fills `out` with the published search."""
    settings, moves, rules, memory = agent.settings, agent.moves, agent.rules, agent.memory
    lines, extra, generation = agent.lines, agent.extra, U(settings[SETTINGS.GENERATION])
    counts, shift = np.zeros(4, np.int64), popcount(U(settings[SETTINGS.CAPACITY] - 1))
    plies = 2 * settings[SETTINGS.HORIZON] - 1
    for d in range(4):
        after = slide(board, d, moves)
        if after != board:
            value = expectation(
                after, plies, pointer(moves), pointer(rules), pointer(lines), pointer(extra), pointer(memory),
                pointer(memory.view(np.float64)), pointer(counts), shift, generation,
            )  # fmt: skip
            out[OUT.VALUES + d] = (value - earned(board, extra)) * 2.0 ** -extra[EXTRA.SHIFT]
    out[OUT.NODES], out[OUT.DEPTH_REACHED] = counts[COUNT.NODES] + counts[COUNT.LEAVES], settings[SETTINGS.HORIZON] + 1
    out[OUT.PROBES], out[OUT.HITS], out[OUT.LEAVES] = counts[COUNT.PROBES], counts[COUNT.HITS], counts[COUNT.LEAVES]


@njit(types.boolean(I64, I64, F64S, U64S), **KERNEL)
def ahead(a, b, f, memory):
    """Whether the heap's entry at word a comes out before the one at b: by its f, then the older position."""
    return f[a] > f[b] or (f[a] == f[b] and memory[a + 1] < memory[b + 1])


@njit(types.void(I64, I64, F64S, U64S), **KERNEL)
def exchange(a, b, f, memory):
    """Exchanges the heap's entries at two words."""
    f[a], f[b] = f[b], f[a]
    memory[a + 1], memory[b + 1] = memory[b + 1], memory[a + 1]


@njit(types.void(I64, I64, F64, I64, F64S, U64S), **KERNEL)
def push(heap, size, value, node, f, memory):
    """Adds a position to the heap of `size` entries that starts at a word."""
    place = heap + FRONTIER.ENTRY * size
    f[place], memory[place + 1] = value, U(node)
    while size > 0:
        parent = (size - 1) // 2
        above = heap + FRONTIER.ENTRY * parent
        if not ahead(place, above, f, memory):
            break
        exchange(place, above, f, memory)
        place, size = above, parent


@njit(I64(I64, I64, F64S, U64S), **KERNEL)
def pop(heap, size, f, memory):
    """The position of the first entry of a heap of `size` entries, which now has one less."""
    node, last = I(memory[heap + 1]), size - 1
    exchange(heap, heap + FRONTIER.ENTRY * last, f, memory)
    place = I(0)
    while True:
        first = place
        for child in range(2 * place + 1, min(2 * place + 3, last)):
            if ahead(heap + FRONTIER.ENTRY * child, heap + FRONTIER.ENTRY * first, f, memory):
                first = child
        if first == place:
            return node
        exchange(heap + FRONTIER.ENTRY * first, heap + FRONTIER.ENTRY * place, f, memory)
        place = first


@njit(I64(U64, I64, I64, I64, U64S), **KERNEL)
def place_of(b, d, table, entries, memory):
    """The word of the table's entry for a position below root move d; the place of a new one holds 0 there."""
    key = b ^ mix64(U(d + 1))
    slot = I(times(key, U(0xD6E8FEB86659FD93)) >> U(40)) & (entries - 1)
    while memory[table + 2 * slot] != ZERO and memory[table + 2 * slot] != key:
        slot = (slot + 1) & (entries - 1)
    return table + 2 * slot


@njit(I64(U64, U64, I64, AGENT, F64S, I64S), **KERNEL)
def explore(board, world, entries, agent, best, valued):
    """Moves to the deepest position in one world; `best` holds the largest f on the frontier below each root move.

    `valued` gains the number of positions valued below each. A position is three words: board, g, and its way:
    moves made * 4 + the root's. The table keeps the largest g by position and root's move, so a smaller one is
    out of date.
    """
    moves, rules, lines, extra, memory = agent.moves, agent.rules, agent.lines, agent.extra, agent.memory
    f, capacity, weight = memory.view(np.float64), agent.settings[SETTINGS.CAPACITY], agent.reals[REALS.REWARD_WEIGHT]
    heap = FRONTIER.POSITIONS + FRONTIER.POSITION * (capacity + FRONTIER.MOST_CHILDREN)
    table = heap + FRONTIER.ENTRY * (capacity + FRONTIER.MOST_CHILDREN)
    memory[table : table + 2 * entries] = ZERO
    best[:] = -np.inf
    scale, mask, b, g, way = 2.0 ** -extra[EXTRA.SHIFT], rules[RULES.MASK], board, 0.0, I(0)
    size, count, deepest, evaluator = I(0), I(0), I(0), (pointer(moves), pointer(lines), pointer(extra), mask)
    while True:
        stuck_here = True
        for d in range(4):
            after = slide(b, d, moves)
            if after == b:
                continue
            stuck_here = False
            memory[0] = mix64(after ^ world)
            child, first = spawn(after, mask, rules[RULES.FOUR], memory[:1]), way & 3 if way else d
            made = g + weight * np.float64(built(after, moves) - built(b, moves))
            slot = place_of(child, first, table, entries, memory)
            if memory[slot] != ZERO and made <= f[slot + 1]:
                continue
            memory[slot], f[slot + 1] = child ^ mix64(U(first + 1)), made
            node, way_on = FRONTIER.POSITIONS + FRONTIER.POSITION * count, (way | 3) + 1 + first
            memory[node + PLACE.BOARD], f[node + PLACE.EARNED], memory[node + PLACE.WAY] = child, made, U(way_on)
            push(heap, size, made + (worth(child, *evaluator) - earned(child, extra)) * scale, node, f, memory)
            size, count, deepest = size + 1, count + 1, max(deepest, way_on >> 2)
            valued[first] += 1
        if stuck_here and way:
            best[way & 3] = max(best[way & 3], g + (lost_value(b, lines, extra, mask) - earned(b, extra)) * scale)
        stale = True
        while stale and size > 0 and count < capacity:
            node = pop(heap, size, f, memory)
            size -= 1
            b, g, way = memory[node + PLACE.BOARD], f[node + PLACE.EARNED], I(memory[node + PLACE.WAY])
            stale = g < f[place_of(b, way & 3, table, entries, memory) + 1]
        if stale:
            break
    for k in range(size):
        entry = heap + FRONTIER.ENTRY * k
        node = I(memory[entry + 1])
        d = I(memory[node + PLACE.WAY]) & 3
        if f[node + PLACE.EARNED] == f[place_of(memory[node + PLACE.BOARD], d, table, entries, memory) + 1]:
            best[d] = max(best[d], f[entry])
    return deepest


@njit(types.void(U64, AGENT, U64S, F64S), **KERNEL)
def explore_worlds(board, agent, stream, out):
    """Fills `out` with the means over worlds; LEAVES are positions valued, VISITS those below a move."""
    capacity, worlds = agent.settings[SETTINGS.CAPACITY], agent.settings[SETTINGS.WORLDS]
    entries = I(1)
    while entries < 2 * (capacity + FRONTIER.MOST_CHILDREN):
        entries *= 2
    best, total, valued = np.zeros(4), np.zeros(4), np.zeros(4, np.int64)
    for _ in range(worlds):
        deepest = explore(board, next_u64(stream), entries, agent, best, valued)
        total += best
        out[OUT.DEPTH_REACHED] = max(out[OUT.DEPTH_REACHED], np.float64(deepest))
    for d in range(4):
        if valued[d] > 0:
            out[OUT.VALUES + d], out[OUT.VISITS + d] = total[d] / worlds, valued[d]
    out[OUT.NODES] = out[OUT.LEAVES] = valued.sum()


@njit(SEARCH, **KERNEL)
def search(board, agent, stream, out):
    """The best direction, -1 when none is legal; a node is a position that was valued, or a mean over spawns."""
    out[:] = 0.0
    out[: OUT.NODES] = np.nan
    board = fitted(board, agent.extra)
    if agent.settings[SETTINGS.MODE] == MODE.BY_EXPECTATION:
        expect(board, agent, out)
    else:
        explore_worlds(board, agent, stream, out)
    return preferred(out, agent.settings)

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

import numpy as np
from numba import njit, types

from t48lab.kernels import layout as at
from t48lab.kernels.bitboard import empties, popcount, potential, slide, spawn, trailing_zeros
from t48lab.kernels.choice import preferred
from t48lab.kernels.lines import evaluate, lost_value
from t48lab.kernels.packing import afterstate, stuck
from t48lab.kernels.pointers import P_F64, P_I32, P_I64, P_U16, P_U64, pointer
from t48lab.kernels.rng import mix64, next_u64, plus, times
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

U, I = np.uint64, np.int64
ZERO, ONE = U(0), U(1)
BOARD, EARNED, WAY = range(3)
NODES, PROBES, HITS, LEAVES = range(4)


@njit(F64(U64, P_U16, P_I32, P_I64, U64), **KERNEL)
def worth(b, moves, lines, extra, mask):
    """The evaluator's value of a position in fixed point, its lost value when no move is legal."""
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
            after = afterstate(b, direction, moves)
            if after != b:
                v = expectation(after, plies - 1, moves, rules, lines, extra, words, reals, counts, shift, salt)
                best = max(best, v)
        return best if best > -np.inf else np.float64(lost_value(b, lines, extra, rules[at.MASK]))
    key = b ^ mix64(plus(salt, U(plies)))
    slot = (times(key, U(0xD6E8FEB86659FD93)) >> U(64 - shift)) << ONE
    counts[PROBES] += 1
    if words[slot] == key:
        counts[HITS] += 1
        return reals[slot + ONE]
    counts[NODES] += 1
    free, total = empties(b, rules[at.MASK]), 0.0
    count, four = popcount(free), np.float64(rules[at.FOUR]) * 2.0**-32
    while free != ZERO:
        place = trailing_zeros(free)
        free &= free - ONE
        for tile in range(2):
            s = b | (U(1 + tile) << place)
            if plies == 0:
                counts[LEAVES] += 1
                v = worth(s, moves, lines, extra, rules[at.MASK])
            else:
                v = expectation(s, plies - 1, moves, rules, lines, extra, words, reals, counts, shift, salt)
            total += (four if tile else 1.0 - four) * v
    words[slot], reals[slot + ONE] = key, total / count
    return total / count


@njit(types.void(U64, SETTINGS, MOVES, RULES, LINES, EXTRA, WORDS, REALS), **KERNEL)
def expect(board, settings, moves, rules, lines, extra, memory, out):
    """Nothing; fills `out` with the published search."""
    counts, shift = np.zeros(4, np.int64), popcount(U(settings[at.CAPACITY] - 1))
    for d in range(4):
        after = slide(board, d, moves)
        if after != board:
            value = expectation(
                after, 2 * settings[at.HORIZON] - 1, pointer(moves), pointer(rules), pointer(lines), pointer(extra),
                pointer(memory), pointer(memory.view(np.float64)), pointer(counts), shift, U(settings[at.GENERATION]),
            )  # fmt: skip
            out[at.VALUES + d] = value * 2.0 ** -extra[at.SHIFT]
    out[at.NODES], out[at.DEPTH_REACHED] = counts[NODES] + counts[LEAVES], settings[at.HORIZON] + 1
    out[at.PROBES], out[at.HITS], out[at.LEAVES] = counts[PROBES], counts[HITS], counts[LEAVES]


@njit(types.boolean(I64, I64, REALS, WORDS), **KERNEL)
def ahead(a, b, f, memory):
    """Whether the heap's entry at word a comes out before the one at b: by its f, then the older position."""
    return f[a] > f[b] or (f[a] == f[b] and memory[a + 1] < memory[b + 1])


@njit(types.void(I64, I64, REALS, WORDS), **KERNEL)
def exchange(a, b, f, memory):
    """Nothing; the heap's entries at two words have changed places."""
    f[a], f[b] = f[b], f[a]
    memory[a + 1], memory[b + 1] = memory[b + 1], memory[a + 1]


@njit(types.void(I64, I64, F64, I64, REALS, WORDS), **KERNEL)
def push(heap, size, value, node, f, memory):
    """Nothing; a position has entered the heap of `size` entries that starts at a word."""
    place = heap + at.HEAP_ENTRY * size
    f[place], memory[place + 1] = value, U(node)
    while size > 0:
        parent = (size - 1) // 2
        above = heap + at.HEAP_ENTRY * parent
        if not ahead(place, above, f, memory):
            break
        exchange(place, above, f, memory)
        place, size = above, parent


@njit(I64(I64, I64, REALS, WORDS), **KERNEL)
def pop(heap, size, f, memory):
    """The position of the first entry of a heap of `size` entries, which now has one less."""
    node, last = I(memory[heap + 1]), size - 1
    exchange(heap, heap + at.HEAP_ENTRY * last, f, memory)
    place = I(0)
    while True:
        first = place
        for child in range(2 * place + 1, min(2 * place + 3, last)):
            if ahead(heap + at.HEAP_ENTRY * child, heap + at.HEAP_ENTRY * first, f, memory):
                first = child
        if first == place:
            return node
        exchange(heap + at.HEAP_ENTRY * first, heap + at.HEAP_ENTRY * place, f, memory)
        place = first


@njit(I64(U64, I64, I64, I64, WORDS), **KERNEL)
def place_of(b, d, table, entries, memory):
    """The word of the table's entry for a position below root move d; the place of a new one holds 0 there."""
    key = b ^ mix64(U(d + 1))
    slot = I(times(key, U(0xD6E8FEB86659FD93)) >> U(40)) & (entries - 1)
    while memory[table + 2 * slot] != ZERO and memory[table + 2 * slot] != key:
        slot = (slot + 1) & (entries - 1)
    return table + 2 * slot


@njit(I64(U64, U64, I64, I64, F64, MOVES, RULES, LINES, EXTRA, WORDS, REALS, REALS, I64[::1]), **KERNEL)
def explore(board, world, capacity, entries, weight, moves, rules, lines, extra, memory, f, best, valued):
    """Moves to the deepest position in one world; `best` holds the largest f on the frontier below each root move.

    `valued` gains the number of positions valued below each. A position is three words: board, g, and its way:
    moves made * 4 + the root's. The table keeps the largest g by position and root's move, so a smaller one is
    out of date.
    """
    heap = at.POSITIONS + at.POSITION * (capacity + at.MOST_CHILDREN)
    table = heap + at.HEAP_ENTRY * (capacity + at.MOST_CHILDREN)
    memory[table : table + 2 * entries] = ZERO
    best[:] = -np.inf
    scale, mask, b, g, way = 2.0 ** -extra[at.SHIFT], rules[at.MASK], board, 0.0, I(0)
    size, count, deepest, evaluator = I(0), I(0), I(0), (pointer(moves), pointer(lines), pointer(extra), mask)
    while True:
        stuck_here = True
        for d in range(4):
            after = slide(b, d, moves)
            if after == b:
                continue
            stuck_here = False
            memory[0] = mix64(after ^ world)
            child, first = spawn(after, mask, rules[at.FOUR], memory[:1]), way & 3 if way else d
            earned = g + weight * np.float64(potential(after) - potential(b))
            slot = place_of(child, first, table, entries, memory)
            if memory[slot] != ZERO and earned <= f[slot + 1]:
                continue
            memory[slot], f[slot + 1] = child ^ mix64(U(first + 1)), earned
            node, way_on = at.POSITIONS + at.POSITION * count, (way | 3) + 1 + first
            memory[node + BOARD], f[node + EARNED], memory[node + WAY] = child, earned, U(way_on)
            push(heap, size, earned + worth(child, *evaluator) * scale, node, f, memory)
            size, count, deepest = size + 1, count + 1, max(deepest, way_on >> 2)
            valued[first] += 1
        if stuck_here and way:
            best[way & 3] = max(best[way & 3], g + lost_value(b, lines, extra, mask) * scale)
        stale = True
        while stale and size > 0 and count < capacity:
            node = pop(heap, size, f, memory)
            size -= 1
            b, g, way = memory[node + BOARD], f[node + EARNED], I(memory[node + WAY])
            stale = g < f[place_of(b, way & 3, table, entries, memory) + 1]
        if stale:
            break
    for k in range(size):
        entry = heap + at.HEAP_ENTRY * k
        node = I(memory[entry + 1])
        d = I(memory[node + WAY]) & 3
        if f[node + EARNED] == f[place_of(memory[node + BOARD], d, table, entries, memory) + 1]:
            best[d] = max(best[d], f[entry])
    return deepest


@njit(types.void(U64, SETTINGS, REALS, MOVES, RULES, LINES, EXTRA, WORDS, WORDS, REALS), **KERNEL)
def explore_worlds(board, settings, reals, moves, rules, lines, extra, memory, stream, out):
    """Nothing; fills `out` with the means over worlds; LEAVES are positions valued, VISITS those below a move."""
    capacity, worlds = settings[at.CAPACITY], settings[at.WORLDS]
    entries = I(1)
    while entries < 2 * (capacity + at.MOST_CHILDREN):
        entries *= 2
    best, total, valued = np.zeros(4), np.zeros(4), np.zeros(4, np.int64)
    for _ in range(worlds):
        deepest = explore(
            board, next_u64(stream), capacity, entries, reals[at.REWARD_WEIGHT],
            moves, rules, lines, extra, memory, memory.view(np.float64), best, valued,
        )  # fmt: skip
        total += best
        out[at.DEPTH_REACHED] = max(out[at.DEPTH_REACHED], np.float64(deepest))
    for d in range(4):
        if valued[d] > 0:
            out[at.VALUES + d], out[at.VISITS + d] = total[d] / worlds, valued[d]
    out[at.NODES] = out[at.LEAVES] = valued.sum()


@njit(SEARCH, **KERNEL)
def search(board, settings, reals, moves, rules, lines, extra, memory, stream, out):
    """The best direction, -1 when none is legal; a node is a position that was valued, or a mean over spawns."""
    out[:] = 0.0
    out[: at.NODES] = np.nan
    if settings[at.MODE] == at.BY_EXPECTATION:
        expect(board, settings, moves, rules, lines, extra, memory, out)
    else:
        explore_worlds(board, settings, reals, moves, rules, lines, extra, memory, stream, out)
    return preferred(out, settings)

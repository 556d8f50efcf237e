"""The training of an n-tuple network compiled whole: it plays games by r + V of the afterstates, and learns.

After each move the value of the last afterstate moves towards r + V of the next one, forward while the game goes on,
or backward from its end with a lambda-return. The correction is spread over all look-ups of the afterstate. With
temporal coherence each weight has a rate of its own, |sum of errors| / sum of |errors|: sums[2i] and sums[2i + 1] of
weight i.
Sources: Szubert, Jaskowski (2014); Beal, Smith (1999), "Temporal coherence and prediction decay in TD learning",
IJCAI; Jaskowski (2018), "Mastering 2048 with delayed temporal coherence learning, multistage weight promotion,
redundant encoding and carousel shaping", IEEE T-CIAIG 10(1); Matsuzaki (2017), "Developing a 2048 player with backward
temporal coherence learning and restart", ACG.
"""

import numpy as np
from numba import njit, types

from t48lab.kernels.bitboard import max_rank, spawn, transpose
from t48lab.kernels.lanes import P_F32, prefetch
from t48lab.kernels.layout import RULES, TABLE
from t48lab.kernels.netlayout import (
    AHEAD,
    ALL_MOVES,
    BACKWARD,
    COHERENT,
    FINAL_RATE,
    FIRST,
    LAMBDA,
    LANES,
    LAST,
    LONGEST,
    MOVES,
    PARTS,
    PATTERNS,
    PLACES,
    RATE,
    SCORE,
    SHORTEST,
    SLOT,
    TOP,
    TRAINING_STREAM,
    USED,
)
from t48lab.kernels.pointers import P_U64, pointer
from t48lab.kernels.rng import seed_stream
from t48lab.kernels.signature import F64S, I64, I64S, KERNEL, U64, U64S
from t48lab.kernels.tuples import find, read

U, F = np.uint64, np.float32
F32 = types.float32
SINGLES = types.float32[::1]
ROWS = types.int64[:, ::1]
LINE = U(0xFFFF)


def build_slides(moves):
    """Two tables of 65536 words, uint64[131072], for rows and for columns, from the tables of bitboard.build_moves.

    A word holds the line after a slide to the left or up (bits 0 to 15), to the right or down (16 to 31), and the
    points of either (from 32 on). Two equal tables are one, so that less memory is read: uint64[65536].
    """
    left, right, down = moves[: 3 * TABLE].astype(np.uint64).reshape(3, TABLE)
    lines = np.arange(TABLE, dtype=np.uint64)
    points = _potentials(left) - _potentials(lines)
    rows, columns = (left | there << U(16) | points << U(32) for there in (right, down))
    return rows if (rows == columns).all() else np.concatenate([rows, columns])


def _potentials(lines):
    ranks = [(lines >> U(shift)) & U(15) for shift in (0, 4, 8, 12)]
    return sum(np.where(rank > 1, (rank - U(1)) << rank, U(0)) for rank in ranks)


@njit(types.Tuple((U64, U64, I64))(U64, P_U64, I64), **KERNEL)
def slid(b, slides, table):
    """(rows slid to the left, rows slid to the right, points) of a board, through the table that starts there."""
    row0 = slides[U(table) + (b >> U(48))]
    row1 = slides[U(table) + ((b >> U(32)) & LINE)]
    row2 = slides[U(table) + ((b >> U(16)) & LINE)]
    row3 = slides[U(table) + (b & LINE)]
    left = ((row0 & LINE) << U(48)) | ((row1 & LINE) << U(32)) | ((row2 & LINE) << U(16)) | (row3 & LINE)
    far0, far1, far3 = (row0 >> U(16)) & LINE, (row1 >> U(16)) & LINE, (row3 >> U(16)) & LINE
    right = (far0 << U(48)) | (far1 << U(32)) | (row2 & U(0xFFFF0000)) | far3
    points = (row0 >> U(32)) + (row1 >> U(32)) + (row2 >> U(32)) + (row3 >> U(32))
    return left, right, np.int64(points)


@njit(types.void(P_U64, P_U64, P_F32, I64, U64), **KERNEL)
def fetch(network, places, numbers, slot, stride):
    """Asks for the numbers at the look-ups of a slot, `stride` of them an entry, before they are needed."""
    for k in range(np.int64(network[PATTERNS])):
        for lane in range(np.int64(network[USED])):
            prefetch(numbers, stride * places[slot + LANES * k + lane])


CHOICE = types.Tuple((I64, F32, F32))


@njit(CHOICE(U64, P_U64, I64, P_U64, P_F32, P_U64, I64, P_U64), **KERNEL)
def choose(b, slides, columns, network, weights, places, slot, after):
    """(direction, reward, value) of the move with the greatest reward + value; direction -1 when none is legal.

    Equal sums go to the lowest direction. Written in place: the four afterstates to `after`, their transposes behind
    them, and the look-ups of legal direction d to `places` from slot + d * SLOT on.
    """
    turned = transpose(b)
    up, down, vertical = slid(turned, slides, columns)
    left, right, horizontal = slid(b, slides, 0)
    after[0], after[1], after[2], after[3] = transpose(up), right, transpose(down), left
    after[4], after[5], after[6], after[7] = up, transpose(right), down, transpose(left)
    for d in range(4):
        if after[d] != b:
            find(after[d], after[d + 4], network, places, slot + d * SLOT)
            fetch(network, places, weights, slot + d * SLOT, U(1))
    chosen, best, worth = np.int64(-1), F(0), F(0)
    for d in range(4):
        if after[d] != b:
            v = read(network, weights, places, slot + d * SLOT)
            hoped = F(horizontal if d & 1 else vertical) + v
            better = (chosen < 0) | (hoped > best)
            best = hoped if better else best
            worth = v if better else worth
            chosen = np.int64(d) if better else chosen
    return chosen, F(horizontal if chosen & 1 else vertical), worth


@njit(types.void(P_U64, P_U64, P_F32, I64, F32), **KERNEL)
def shift_weights(network, places, weights, slot, step):
    """Adds a step to each weight at the look-ups of a slot, to one that is looked up twice two steps."""
    for k in range(np.int64(network[PATTERNS])):
        for lane in range(np.int64(network[USED])):
            weights[places[slot + LANES * k + lane]] += step


@njit(types.void(P_U64, P_U64, P_F32, P_F32, I64, F32, F32), **KERNEL)
def shift_coherently(network, places, weights, sums, slot, step, error):
    """Adds a step times its coherence to each weight at the look-ups of a slot, and the error to its sums."""
    size = abs(error)
    for k in range(np.int64(network[PATTERNS])):
        for lane in range(np.int64(network[USED])):
            i = places[slot + LANES * k + lane]
            errors, sizes = sums[U(2) * i], sums[U(2) * i + U(1)]
            weights[i] += step * (abs(errors) / sizes if sizes > F(0) else F(1))
            sums[U(2) * i] = errors + error
            sums[U(2) * i + U(1)] = sizes + size


@njit(types.boolean(P_U64, P_U64, P_F32, P_F32, I64, I64, F32, F32), **KERNEL)
def learn(network, places, weights, sums, slot, coherent, share, error):
    """Whether the error is finite; if so, the weights at the look-ups of a slot move by `share` of it."""
    if not np.isfinite(error):
        return False
    if coherent:
        shift_coherently(network, places, weights, sums, slot, share * error, error)
    else:
        shift_weights(network, places, weights, slot, share * error)
    return True


PLAYED = types.Tuple((U64, I64, types.boolean))
WORLD = (P_U64, I64, P_U64, P_U64, P_F32, P_F32, P_U64, P_U64, P_U64)


@njit(PLAYED(U64, P_U64, *WORLD, I64, I64, F32), **KERNEL)
def play(b, stream, slides, columns, rules, network, weights, sums, places, after, path, coherent, backward, share):
    """(final board, moves, whether all errors were finite) of a game played on from b, learning unless `backward`.

    path[2t] and path[2t + 1] are the afterstate and the points of move t; so many moves at most.
    """
    last, half, count, old = np.int64(-1), np.int64(0), np.int64(0), F(0)
    while count < LONGEST:
        slot = half * (4 * SLOT)
        chosen, reward, worth = choose(b, slides, columns, network, weights, places, slot, after)
        if last >= 0 and not backward:
            if coherent:
                old = read(network, weights, places, last)
            error = (reward + worth if chosen >= 0 else F(0)) - old
            if not learn(network, places, weights, sums, last, coherent, share, error):
                return b, count, False
        if chosen < 0:
            break
        last, old, half = slot + chosen * SLOT, worth, np.int64(1) - half
        if coherent and not backward:
            fetch(network, places, sums, last, U(2))
        path[2 * count], path[2 * count + 1] = after[chosen], U(reward)
        count += 1
        b = spawn(after[chosen], rules[RULES.MASK], rules[RULES.FOUR], stream)
    return b, count, True


@njit(types.boolean(P_U64, P_F32, P_F32, P_U64, P_U64, I64, I64, F32, F32), **KERNEL)
def look_back(network, weights, sums, places, path, count, coherent, share, trace):
    """Whether all errors were finite; learns from the end of a game of `count` moves to its start.

    An afterstate's return is the next move's points, plus 1 - trace of the next afterstate's value, as just learnt,
    and `trace` of its return. Look-ups are found AHEAD moves before their turn.
    """
    returned = F(0)
    for t in range(count - 1, count - 1 - min(AHEAD, count), -1):
        find(path[2 * t], transpose(path[2 * t]), network, places, (t % (AHEAD + 1)) * SLOT)
    for t in range(count - 1, -1, -1):
        slot = (t % (AHEAD + 1)) * SLOT
        if t >= AHEAD:
            early = ((t - AHEAD) % (AHEAD + 1)) * SLOT
            b = path[2 * (t - AHEAD)]
            find(b, transpose(b), network, places, early)
            fetch(network, places, weights, early, U(1))
            if coherent:
                fetch(network, places, sums, early, U(2))
        error = returned - read(network, weights, places, slot)
        if not learn(network, places, weights, sums, slot, coherent, share, error):
            return False
        worth = read(network, weights, places, slot)
        returned = F(np.int64(path[2 * t + 1])) + (F(1) - trace) * worth + trace * returned
    return True


@njit(I64(U64S, SINGLES, SINGLES, U64S, U64S, I64S, F64S, U64, ROWS), **KERNEL)
def train(network, weights, sums, slides, rules, settings, reals, seed, rows):
    """The number of finished games among settings[FIRST], settings[FIRST] + 1, ..., one for each row.

    Changed in place: weights, sums (float32[2 * weights], unused without coherence) and rows (int64[n, ROW_SIZE]).
    Game i reads one stream, a hash of (seed, i). With settings[SHORTEST] > 0 a game of so many moves or more is
    taken up again from its middle, and again, until a part is shorter. The rate runs in a straight line from
    reals[RATE] at game 0 to reals[FINAL_RATE] at game settings[LAST]. Ends early, before the game at hand is counted,
    when an error is not finite.
    """
    stream, places, after = np.zeros(1, np.uint64), np.zeros(PLACES, np.uint64), np.zeros(8, np.uint64)
    path = np.zeros(2 * LONGEST, np.uint64)
    world = (
        pointer(slides), np.int64(len(slides) - TABLE), pointer(rules), pointer(network), pointer(weights),
        pointer(sums), pointer(places), pointer(after), pointer(path),
    )  # fmt: skip
    coherent, backward, shortest = settings[COHERENT], settings[BACKWARD], settings[SHORTEST]
    lookups = F(network[PATTERNS] * network[USED])
    for i in range(len(rows)):
        game, row = settings[FIRST] + i, rows[i]
        progress = game / settings[LAST]
        share = F(reals[RATE] + (reals[FINAL_RATE] - reals[RATE]) * progress) / lookups
        stream[0] = seed_stream(seed, U(game), U(TRAINING_STREAM))
        b = spawn(
            spawn(U(0), rules[RULES.MASK], rules[RULES.FOUR], stream), rules[RULES.MASK], rules[RULES.FOUR], stream
        )
        row[:] = 0
        while True:
            end, count, finite = play(b, pointer(stream), *world, coherent, backward, share)
            if finite and backward:
                finite = look_back(*world[3:7], world[8], count, coherent, share, F(reals[LAMBDA]))
            if not finite:
                return i
            if row[PARTS] == 0:
                row[TOP], row[MOVES] = max_rank(end), count
                for t in range(count):
                    row[SCORE] += np.int64(path[2 * t + 1])
            row[ALL_MOVES] += count
            row[PARTS] += 1
            if shortest == 0 or count < shortest:
                break
            b = spawn(path[2 * (count // 2)], rules[RULES.MASK], rules[RULES.FOUR], stream)
    return len(rows)

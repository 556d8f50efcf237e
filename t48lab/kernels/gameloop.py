"""Whole games inside compiled code: any search against random or adversarial spawns, exact past rank 15.

Game i of base seed s reads two streams, hashes of (s, i, purpose): one for spawns, one for the search.
A search never sees the other stream, so what it draws cannot change the spawns.
"""

import numpy as np
from numba import njit, types

from t48lab.kernels.bitboard import CELLS, popcount, random_play, spawn
from t48lab.kernels.clock import cpu
from t48lab.kernels.exact import fits, full_potential, max_rank, ranked_down, slide_planes
from t48lab.kernels.layout import (
    BEST_ONLY,
    CANCELLED,
    ENDED,
    FINAL_HIGH,
    FINAL_LOW,
    FOUR,
    GAME_HITS,
    GAME_NODES,
    GAME_PROBES,
    GENERATION,
    HITS,
    MASK,
    MAX_RANK,
    MOVE_COUNT,
    NODES,
    OUT_SIZE,
    OVER,
    PROBES,
    SCORE,
    SPAWN_STREAM,
    STOP_TILE,
)
from t48lab.kernels.rng import mix64, seed_stream
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

U = np.uint64
SEARCHER = types.FunctionType(SEARCH)
LOG = types.uint8[::1]
ROW = types.int64[::1]
AGENT = (SETTINGS, REALS, MOVES, RULES, LINES, EXTRA, WORDS)
OPPONENT = (SETTINGS, REALS, LINES, EXTRA, WORDS)


@njit(types.Tuple((U64, U64, I64))(U64, U64, I64, MOVES, RULES), **KERNEL)
def settle(low, high, direction, moves, rules):
    """(low, high, direction) after a search's move; direction -1 when the position has no legal move.

    Past rank 15 a search sees a board ranked down, which in rare full positions hides or invents a merge;
    where its answer is illegal here, the first legal direction is played.
    """
    after, after_high = slide_planes(low, high, direction, moves, rules) if direction >= 0 else (low, high)
    if after != low or after_high != high:
        return after, after_high, direction
    if not fits(low, high):
        for d in range(4):
            after, after_high = slide_planes(low, high, d, moves, rules)
            if after != low or after_high != high:
                return after, after_high, np.int64(d)
    return low, high, np.int64(-1)


@njit(types.boolean(U64, U64), **KERNEL)
def is_four(board, before):
    """Whether the tile by which a board differs from the one before is a 4."""
    return ((board ^ before) & CELLS) == U(0)


@njit(types.uint8(I64, U64, U64), **KERNEL)
def logged(direction, board, before):
    """One byte of a game's log: direction | four << 2 | cell << 4 of a move and the spawn that followed it."""
    cell = 15 - popcount((board ^ before) - U(1)) // 4
    return np.uint8(direction | np.int64(is_four(board, before)) << 2 | cell << 4)


@njit(types.Tuple((U64, I64))(RULES, WORDS, LOG), **KERNEL)
def deal(rules, spawns, log):
    """(board, 4s among them) of a game's two first tiles, which are random also against an adversary."""
    board, fours = U(0), np.int64(0)
    for i in range(2):
        before, board = board, spawn(board, rules[MASK], rules[FOUR], spawns)
        fours += np.int64(is_four(board, before))
        if i < len(log):
            log[i] = logged(0, board, before)
    return board, fours


@njit(types.void(ROW, U64, U64, I64, I64, I64), **KERNEL)
def finish(row, low, high, fours, count, ended):
    """Nothing; writes the score, the largest rank, the moves, the final board and why the game ended."""
    row[SCORE] = full_potential(low, high) - 4 * fours
    row[MAX_RANK] = max_rank(low, high)
    row[MOVE_COUNT] = count
    row[FINAL_LOW] = np.int64(low)
    row[FINAL_HIGH] = np.int64(high)
    row[ENDED] = ended


@njit(
    types.void(SEARCHER, SEARCHER, I64, *AGENT, *OPPONENT, WORDS, WORDS, U64, U64, I64, I64, ROW, LOG, ROW),
    **KERNEL,
)
def play_game(
    search, spawner, adversarial, settings, reals, moves, rules, lines, extra, memory,
    s_settings, s_reals, s_lines, s_extra, s_memory, choices, spawns,
    low, high, fours, stop_rank, row, log, cancel,
):  # fmt: skip
    """Nothing; plays on from a board on which `fours` 4s were spawned, and fills the game's row and its log.

    The streams `choices` and `spawns` move on; the log is written from its third byte on.
    """
    out, s_out = np.zeros(OUT_SIZE), np.zeros(OUT_SIZE)
    count, ended = np.int64(0), np.int64(OVER)
    row[:] = 0
    while True:
        if cancel[0] != 0:
            ended = np.int64(CANCELLED)
            break
        if stop_rank > 0 and max_rank(low, high) >= stop_rank:
            ended = np.int64(STOP_TILE)
            break
        seen = ranked_down(low, high)
        direction = search(seen, settings, reals, moves, rules, lines, extra, memory, choices, out)
        after, high, direction = settle(low, high, direction, moves, rules)
        if direction < 0:
            break
        row[GAME_NODES] += np.int64(out[NODES])
        row[GAME_PROBES] += np.int64(out[PROBES])
        row[GAME_HITS] += np.int64(out[HITS])
        if adversarial:
            seen = ranked_down(after, high)
            code = spawner(seen, s_settings, s_reals, moves, rules, s_lines, s_extra, s_memory, spawns, s_out)
            low = after | (U(1) << U(60 - 4 * (code >> 1) + (code & 1)))
        else:
            low = spawn(after, rules[MASK] & ~high, rules[FOUR], spawns)
        fours += np.int64(is_four(low, after))
        if count + 2 < len(log):
            log[count + 2] = logged(direction, low, after)
        count += 1
    finish(row, low, high, fours, count, ended)


@njit(types.void(F64, types.int64[:, ::1], REALS), **KERNEL)
def share_time(seconds, rows_out, seconds_out):
    """Nothing; gives each game its share of the time by moves: reading the clock costs a tenth of a random game."""
    total = np.int64(0)
    for i in range(len(rows_out)):
        total += rows_out[i, MOVE_COUNT]
    for i in range(len(rows_out)):
        seconds_out[i] = seconds * rows_out[i, MOVE_COUNT] / max(total, np.int64(1))


GAME = I64(
    SEARCHER, SEARCHER, I64, I64, *AGENT, *OPPONENT,
    U64, I64, I64, U64, types.int64[:, ::1], REALS, LOG, ROW,
)  # fmt: skip


@njit(GAME, **KERNEL)
def play_games(
    search, spawner, adversarial, inline_random, settings, reals, moves, rules, lines, extra, memory,
    s_settings, s_reals, s_lines, s_extra, s_memory,
    seed, first, stop_rank, purpose, rows_out, seconds_out, log, cancel,
):  # fmt: skip
    """The number of finished games among first, first + 1, ..., one for each row of `rows_out`.

    Changed in place: memory, s_memory, rows_out (int64[n, ROW_SIZE]), seconds_out (processor time of this
    thread, float64[n]) and log (uint8[moves + 2], or empty; for one game only). A game ends early when
    cancel[0] is not 0; it is not counted, nor are those after it. With inline_random a random agent's games
    need no call a move, unless there is a log, a stop rank or an adversary.
    """
    settings, s_settings = settings.copy(), s_settings.copy()
    settings[BEST_ONLY] = 1
    choices, spawns = np.zeros(1, np.uint64), np.zeros(1, np.uint64)
    inline = inline_random != 0 and adversarial == 0 and stop_rank == 0 and len(log) == 0
    start = cpu()
    for i in range(len(rows_out)):
        if cancel[0] != 0:
            return i
        game, row = U(first + i), rows_out[i]
        spawns[0] = seed_stream(seed, game, U(SPAWN_STREAM))
        choices[0] = seed_stream(seed, game, purpose)
        board, fours = deal(rules, spawns, log)
        if inline:
            board, count, more = random_play(board, moves, rules, choices, spawns, -1, 0)
            row[:] = 0
            row[GAME_NODES] = count
            finish(row, board, U(0), fours + more, count, OVER)
            continue
        settings[GENERATION] = np.int64(mix64(choices[0]) >> U(1)) | 1
        s_settings[GENERATION] = settings[GENERATION]
        play_game(
            search, spawner, adversarial, settings, reals, moves, rules, lines, extra, memory,
            s_settings, s_reals, s_lines, s_extra, s_memory, choices, spawns,
            board, U(0), fours, stop_rank, row, log, cancel,
        )  # fmt: skip
        if row[ENDED] == CANCELLED:
            return i
        seconds_out[i] = cpu() - start
        start += seconds_out[i]
    if inline:
        share_time(cpu() - start, rows_out, seconds_out)
    return len(rows_out)

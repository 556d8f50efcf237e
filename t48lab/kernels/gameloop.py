"""Whole games inside compiled code: any search against random or adversarial spawns, exact past rank 15.

Game i of base seed s reads two streams, hashes of (s, i, purpose): one for spawns, one for the search.
A search never sees the other stream, so what it draws cannot change the spawns.
"""

import numpy as np
from numba import njit, types

from t48lab.kernels.bitboard import CELLS, popcount, random_play, spawn
from t48lab.kernels.clock import cpu
from t48lab.kernels.exact import full_potential, joining, joins, max_rank, ranked_down, slide_planes
from t48lab.kernels.layout import END, OUT, ROW, RULES, SETTINGS, STREAM
from t48lab.kernels.rng import mix64, seed_stream
from t48lab.kernels.signature import AGENT, F64, F64S, I64, I64S, KERNEL, SEARCH, U8S, U16S, U64, U64S

U = np.uint64
SEARCHER = types.FunctionType(SEARCH)
ROWS = types.int64[:, ::1]


@njit(types.Tuple((U64, U64, I64))(U64, U64, I64, U16S, U64S), **KERNEL)
def settle(low, high, direction, moves, rules):
    """(low, high, direction) after a search's move; direction -1 when the search has none, or an illegal one."""
    after, after_high = slide_planes(low, high, direction, moves, rules) if direction >= 0 else (low, high)
    return after, after_high, direction if after != low or after_high != high else np.int64(-1)


@njit(types.boolean(U64, U64), **KERNEL)
def is_four(board, before):
    """Whether the tile by which a board differs from the one before is a 4."""
    return ((board ^ before) & CELLS) == U(0)


@njit(types.uint8(I64, U64, U64), **KERNEL)
def logged(direction, board, before):
    """One byte of a game's log: direction | four << 2 | cell << 4 of a move and the spawn that followed it."""
    cell = 15 - popcount((board ^ before) - U(1)) // 4
    return np.uint8(direction | np.int64(is_four(board, before)) << 2 | cell << 4)


@njit(types.Tuple((U64, I64))(U64S, U64S, U8S), **KERNEL)
def deal(rules, spawns, log):
    """(board, 4s among them) of a game's two first tiles, which are random also against an adversary."""
    board, fours = U(0), np.int64(0)
    for i in range(2):
        before, board = board, spawn(board, rules[RULES.MASK], rules[RULES.FOUR], spawns)
        fours += np.int64(is_four(board, before))
        if i < len(log):
            log[i] = logged(0, board, before)
    return board, fours


@njit(types.void(I64S, U64, U64, I64, I64, I64), **KERNEL)
def finish(row, low, high, fours, count, ended):
    """Writes the score, the largest rank, the moves, the final board and why the game ended."""
    row[ROW.SCORE] = full_potential(low, high) - 4 * fours
    row[ROW.MAX_RANK] = max_rank(low, high)
    row[ROW.MOVES] = count
    row[ROW.FINAL_LOW] = np.int64(low)
    row[ROW.FINAL_HIGH] = np.int64(high)
    row[ROW.ENDED] = ended


@njit(types.void(SEARCHER, SEARCHER, I64, AGENT, AGENT, U64S, U64S, U64, U64, I64, I64, I64S, U8S, I64S), **KERNEL)
def play_game(
    search, spawner, adversarial, agent, opponent, choices, spawns, low, high, fours, stop_rank, row, log, cancel
):
    """Plays on from a board on which `fours` 4s were spawned, and fills the game's row and its log.

    The streams `choices` and `spawns` move on; the log is written from its third byte on.
    """
    moves, rules = agent.moves, agent.rules
    out, s_out = np.zeros(OUT.SIZE), np.zeros(OUT.SIZE)
    count, ended = np.int64(0), np.int64(END.OVER)
    row[:] = 0
    while True:
        if cancel[0] != 0:
            ended = np.int64(END.CANCELLED)
            break
        if stop_rank > 0 and max_rank(low, high) >= stop_rank:
            ended = np.int64(END.STOP_TILE)
            break
        seen = ranked_down(low, high)
        if joins(seen, low, high):
            direction = search(seen, joining(agent), choices, out)
        else:
            direction = search(seen, agent, choices, out)
        after, high, direction = settle(low, high, direction, moves, rules)
        if direction < 0:
            break
        row[ROW.NODES] += np.int64(out[OUT.NODES])
        row[ROW.PROBES] += np.int64(out[OUT.PROBES])
        row[ROW.HITS] += np.int64(out[OUT.HITS])
        if adversarial:
            seen = ranked_down(after, high)
            code = spawner(seen, opponent, spawns, s_out)
            low = after | (U(1) << U(60 - 4 * (code >> 1) + (code & 1)))
        else:
            low = spawn(after, rules[RULES.MASK] & ~high, rules[RULES.FOUR], spawns)
        fours += np.int64(is_four(low, after))
        if count + 2 < len(log):
            log[count + 2] = logged(direction, low, after)
        count += 1
    finish(row, low, high, fours, count, ended)


@njit(types.void(F64, ROWS, F64S), **KERNEL)
def share_time(seconds, rows_out, seconds_out):
    """Gives each game its share of the time by moves: reading the clock costs a tenth of a random game."""
    total = np.int64(0)
    for i in range(len(rows_out)):
        total += rows_out[i, ROW.MOVES]
    for i in range(len(rows_out)):
        seconds_out[i] = seconds * rows_out[i, ROW.MOVES] / max(total, np.int64(1))


@njit(
    I64(SEARCHER, SEARCHER, I64, I64, AGENT, AGENT, U64, I64, I64, U64, ROWS, F64S, U8S, I64S),
    **KERNEL,
)
def play_games(
    search, spawner, adversarial, inline_random, agent, opponent,
    seed, first, stop_rank, purpose, rows_out, seconds_out, log, cancel,
):  # fmt: skip
    """The number of finished games among first, first + 1, ..., one for each row of `rows_out`.

    Changed in place: the memories of both, and their settings BEST_ONLY (of the agent) and GENERATION; rows_out
    (int64[n, ROW.SIZE]), seconds_out (processor time of this
    thread, float64[n]) and log (uint8[moves + 2], or empty; for one game only). A game ends early when
    cancel[0] is not 0; it is not counted, nor are those after it. With inline_random a random agent's games
    need no call a move, unless there is a log, a stop rank or an adversary.
    """
    moves, rules = agent.moves, agent.rules
    agent.settings[SETTINGS.BEST_ONLY] = 1
    choices, spawns = np.zeros(1, np.uint64), np.zeros(1, np.uint64)
    inline = inline_random != 0 and adversarial == 0 and stop_rank == 0 and len(log) == 0
    start = cpu()
    for i in range(len(rows_out)):
        if cancel[0] != 0:
            return i
        game, row = U(first + i), rows_out[i]
        spawns[0] = seed_stream(seed, game, U(STREAM.SPAWNS))
        choices[0] = seed_stream(seed, game, purpose)
        board, fours = deal(rules, spawns, log)
        if inline:
            board, count, more = random_play(board, moves, rules, choices, spawns, -1, 0)
            row[:] = 0
            row[ROW.NODES] = count
            finish(row, board, U(0), fours + more, count, END.OVER)
            continue
        agent.settings[SETTINGS.GENERATION] = np.int64(mix64(choices[0]) >> U(1)) | 1
        opponent.settings[SETTINGS.GENERATION] = agent.settings[SETTINGS.GENERATION]
        play_game(
            search, spawner, adversarial, agent, opponent, choices, spawns,
            board, U(0), fours, stop_rank, row, log, cancel,
        )  # fmt: skip
        if row[ROW.ENDED] == END.CANCELLED:
            return i
        seconds_out[i] = cpu() - start
        start += seconds_out[i]
    if inline:
        share_time(cpu() - start, rows_out, seconds_out)
    return len(rows_out)

"""The adversary: the spawn that is worst for the player, by an evaluator and a look ahead.

A spawner has the signature of a search and gets the afterstate; it answers cell * 2 + is_four, cells row by
row. DEPTH counts the player's moves after the spawn; 0 takes the evaluation of the position as it stands.
"""

import numpy as np
from numba import njit

from t48lab.kernels.alphabeta import (
    CONTEXT,
    FRAME,
    INFINITE,
    WORK,
    blank_work,
    leaf_position,
    next_spawn,
    rank_spawns,
    report,
    slots,
    solve,
    spawned,
)
from t48lab.kernels.bitboard import count_empty
from t48lab.kernels.layout import EXTRA, OUT, REALS, SETTINGS
from t48lab.kernels.lines import earned, fitted
from t48lab.kernels.pointers import P_U64, pointer
from t48lab.kernels.signature import I64, KERNEL, SEARCH, U64

U, I = np.uint64, np.int64
NONE = 32


@njit(I64(U64, I64, *CONTEXT, P_U64), **KERNEL)
def worst_spawn(b, depth, moves, lines, extra, work, memory):
    """The spawn on `b` that leaves the player the least, NONE on a full board; its value goes to work[ROOT].

    Of equal spawns the first counts, by cell and then the 2 before the 4: an earlier one has to be as bad,
    a later one worse.
    """
    frame, least, chosen = WORK.FRAMES + FRAME.SIZE * depth, I(INFINITE), I(NONE)
    first = frame + FRAME.SPAWNS
    end = rank_spawns(b, first, moves, lines, extra, work)
    full = count_empty(b, U(work[WORK.MASK])) == 1
    for i in range(first, end):
        ranked = next_spawn(i, end, work)
        s, spawn = spawned(b, ranked), (ranked >> 2) & 31
        bound, four = least + 1 if spawn < chosen else least, extra[EXTRA.FOUR] if spawn & 1 else I(0)
        if depth == 0:
            value = leaf_position(s, full, moves, lines, extra, work) - four
            work[WORK.LEAVES] += 1
        else:
            work[frame - FRAME.SIZE + FRAME.HINT] = ranked & 3
            value = solve(s, 2 * depth - 1, -INFINITE, bound + four, moves, lines, extra, work, memory) - four
        if work[WORK.STOPPED]:
            break
        if value < bound:
            least, chosen = value, spawn
    work[WORK.ROOT] = least
    return chosen


@njit(SEARCH, **KERNEL)
def search(board, agent, stream, out):
    """The worst spawn on an afterstate as cell * 2 + is_four, -1 on a full board; out[VALUES] is its value.

    Limits of nodes and seconds work as in the minimax search.
    """
    settings, seconds = agent.settings, agent.reals[REALS.SECONDS]
    board = fitted(board, agent.extra)
    work = blank_work(settings, agent.reals, agent.rules, agent.extra)
    out[:] = np.nan
    last, answer = settings[SETTINGS.DEPTH], I(NONE)
    limited = settings[SETTINGS.NODE_LIMIT] > 0 or seconds > 0.0
    moves, lines, extra, memory = agent.moves, agent.lines, agent.extra, agent.memory
    addresses = pointer(moves), pointer(lines), pointer(extra), pointer(work), pointer(memory)
    for depth in range(0 if limited else last, last + 1):
        work[WORK.SLOTS] = slots(depth + 1, settings, memory)
        spawn = worst_spawn(board, depth, *addresses)
        if work[WORK.STOPPED]:
            break
        answer = spawn
        out[OUT.VALUES] = (work[WORK.ROOT] - earned(board, agent.extra)) * 2.0 ** -extra[EXTRA.SHIFT]
        out[OUT.DEPTH_REACHED] = depth
    report(work, out)
    return answer if answer < NONE else I(-1)

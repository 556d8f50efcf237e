"""Monte-Carlo tree search: UCT over positions kept in one block of memory.

A simulation walks down the tree, stores the first position that is not in it, plays on from there at
random and adds what it earned to every move of its path. In the tree a move that was never tried comes
first, drawn at random; then the largest `mean + C * scale * sqrt(ln N / n)` (UCB1: Auer, Cesa-Bianchi,
Fischer 2002; UCT: Kocsis, Szepesvari 2006), where N sums n over the moves that are legal right now.

Return: what a simulation earns from a position on. It is points (REWARD = POINTS, MIN_MAX or RAW), so that
`values` are points still to come, or 1/0 for a largest tile of WIN_RANK at the end (WIN), so that they are
win rates. With a ROLLOUT_LIMIT of 0 or more, points gain VALUE_WEIGHT times the evaluator's value of the
last position (its `lost` value when no move is legal there); wins ignore the evaluator.

Scale: what one unit of C is worth. UCB1 sets C = 1.41 for rewards from 0 to 1, whose standard deviation is at
most 1/2 (Popoviciu 1935). POINTS: twice the standard deviation of the root's returns so far in this search,
so that rescaled it is 1/2. MIN_MAX: the highest minus the lowest of them, the same as rescaling them to
0..1; it grows with each outlier. WIN and RAW: 1, so that raw points swamp C, as in published code. Until two
returns differ the scale is 1, or the last search's when its tree is reused.

Chance: BY_SPAWN keeps a child for each spawn of each move (closed loop), ONE_SPAWN the first spawn drawn for
each move, OPEN_LOOP one child a move, whatever was spawned: its statistics belong to the sequence of
moves, and legality is that of the board at hand.

Searches of one board on different streams are independent, so root-parallel search adds visits and merges
values weighted by visits: `visits = sum(v)`, `values = sum(v * values) / visits`, nan counting as 0.
"""

import math

import numpy as np
from numba import njit, types

from t48lab.kernels.bitboard import CELLS, built, empties, legal, max_rank, playout, popcount, potential, slide, spawn
from t48lab.kernels.choice import TIE
from t48lab.kernels.clock import cpu
from t48lab.kernels.layout import (
    CHANCE,
    EXTRA,
    FINAL,
    NODE,
    OUT,
    REALS,
    REWARD,
    ROLLOUT,
    RULES,
    SETTINGS,
    TREE,
)
from t48lab.kernels.lines import earned, evaluate, fitted, standing
from t48lab.kernels.pointers import P_F64, P_I32, P_I64, P_U16, P_U64, pointer
from t48lab.kernels.rng import below, next_u64
from t48lab.kernels.signature import F64, I64, KERNEL, SEARCH, U64

U, I = np.uint64, np.int64
ZERO = U(0)
UNIT = 2.0**-53
MOVES_PER_LOOK = 1024  # 25 microseconds of uniform rollouts; a look at the clock takes up to 1
PLAYED = types.Tuple((U64, I64, I64))


@njit(I64(I64, P_U64), **KERNEL)
def drawn(directions, stream):
    """One of the directions whose bits are set, uniformly; one draw."""
    left = below(stream, popcount(U(directions)))
    for d in range(4):
        if directions >> d & 1:
            if left == 0:
                return d
            left -= 1
    return -1


@njit(I64(U64, U64, P_I64, P_U16, P_I32, P_I64), **KERNEL)
def liked(b, mask, settings, moves, lines, extra):
    """The legal direction whose afterstate the evaluator values most, the first in ORDER among equals."""
    best, direction = I(0), I(-1)
    for i in range(4):
        d = settings[SETTINGS.ORDER + i]
        after = slide(b, d, moves)
        if after != b:
            value = evaluate(after, lines, extra, mask)
            if direction < 0 or value > best:
                best, direction = value, d
    return direction


@njit(PLAYED(U64, P_I64, P_F64, P_U16, P_U64, P_I32, P_I64, P_U64), **KERNEL)
def guided(b, settings, reals, moves, rules, lines, extra, stream):
    """`playout` with the evaluator's move at each step with probability EVALUATOR_PROBABILITY, else uniform."""
    mask, four, count, fours = rules[RULES.MASK], rules[RULES.FOUR], I(0), I(0)
    while count != settings[SETTINGS.ROLLOUT_LIMIT]:
        directions = legal(b, moves)
        if directions == 0:
            break
        if (next_u64(stream) >> U(11)) * UNIT < reals[REALS.EVALUATOR_PROBABILITY]:
            direction = liked(b, mask, settings, moves, lines, extra)
        else:
            direction = drawn(directions, stream)
        after = slide(b, direction, moves)
        b = spawn(after, mask, four, stream)
        fours += I(((b ^ after) & CELLS) == ZERO)
        count += 1
    return b, count, fours


@njit(F64(U64, I64, P_I64, P_F64, P_U16, P_U64, P_I32, P_I64), **KERNEL)
def reward(b, fours, settings, reals, moves, rules, lines, extra):
    """The reward of a simulation that ended at b: points since the empty board plus value, or a win."""
    if settings[SETTINGS.REWARD] == REWARD.WIN:
        return 1.0 if max_rank(b) >= settings[SETTINGS.WIN_RANK] else 0.0
    total = np.float64(potential(b) - 4 * fours)
    if settings[SETTINGS.ROLLOUT_LIMIT] >= 0:
        fixed = standing(b, moves, lines, extra, rules[RULES.MASK]) - earned(b, extra)
        total += reals[REALS.VALUE_WEIGHT] * (fixed * 2.0 ** -extra[EXTRA.SHIFT])
    return total


@njit(I64(I64, I64, P_I64, F64, P_F64, P_U64), **KERNEL)
def choose(node, directions, settings, width, stats, stream):
    """The direction that a simulation takes from a stored position."""
    untried, total = I(0), 0.0
    for d in range(4):
        if directions >> d & 1:
            visits = stats[node + NODE.VISITS + d]
            total += visits
            if visits == 0.0:
                untried |= I(1) << d
    if untried:
        return drawn(untried, stream)
    best, direction, log_total = -math.inf, I(-1), math.log(total)
    for i in range(4):
        d = settings[SETTINGS.ORDER + i]
        if directions >> d & 1:
            visits = stats[node + NODE.VISITS + d]
            index = stats[node + NODE.SUMS + d] / visits + width * math.sqrt(log_total / visits)
            if index > best:
                best, direction = index, d
    return direction


@njit(I64(I64, U64, P_U64, P_I64), **KERNEL)
def holder(slot, b, memory, links):
    """The link that holds the child with board b in the list that starts at a link, or the list's end."""
    while links[slot] != 0 and memory[links[slot] + NODE.BOARD] != b:
        slot = links[slot] + NODE.SIBLING
    return slot


@njit(types.void(I64, U64, I64, P_U64, P_I64), **KERNEL)
def store(slot, b, capacity, memory, links):
    """Hangs a new record for board b from a link, unless the tree is full."""
    node = links[TREE.END]
    if node < TREE.ROOT + NODE.SIZE * capacity:
        for word in range(node, node + NODE.SIZE):
            memory[word] = ZERO
        memory[node + NODE.BOARD] = b
        links[slot] = node
        links[TREE.END] = node + NODE.SIZE


@njit(PLAYED(U64, P_I64, F64, P_U16, P_U64, P_U64, P_I64, P_F64, P_U64), **KERNEL)
def descend(b, settings, width, moves, rules, memory, links, stats, stream):
    """(board, moves made, 4s spawned) where a simulation leaves the tree; its path is kept in memory."""
    node, depth, fours, chance = I(TREE.ROOT), I(0), I(0), settings[SETTINGS.CHANCE]
    while depth < TREE.LONGEST_PATH:
        known = links[node + NODE.KNOWN]
        if known == 0 or chance == CHANCE.OPEN_LOOP:
            known = links[node + NODE.KNOWN] = built(b, moves) << 4 | legal(b, moves)
        if known & 15 == 0:
            break
        d = choose(node, known & 15, settings, width, stats, stream)
        links[TREE.PATH + depth] = node + d
        stats[TREE.SCORES + depth] = (known >> 4) - 4 * fours
        depth += 1
        slot, after = node + NODE.CHILD + d, slide(b, d, moves)
        if chance == CHANCE.ONE_SPAWN and links[slot] != 0:
            b = memory[links[slot] + NODE.BOARD]
        else:
            b = spawn(after, rules[RULES.MASK], rules[RULES.FOUR], stream)
        fours += I(((b ^ after) & CELLS) == ZERO)
        if chance == CHANCE.BY_SPAWN:
            slot = holder(slot, b, memory, links)
        if links[slot] == 0:
            store(slot, b, settings[SETTINGS.CAPACITY], memory, links)
            break
        node = links[slot]
    return b, depth, fours


@njit(types.void(F64, I64, P_F64), **KERNEL)
def learn(earned, kind, stats):
    """Adds one to the running figures of the root's returns (Welford 1962) and sets the scale."""
    count = stats[TREE.RETURNS] + 1.0
    step = earned - stats[TREE.MEAN]
    mean = stats[TREE.MEAN] + step / count
    stats[TREE.RETURNS], stats[TREE.MEAN] = count, mean
    stats[TREE.SQUARES] += step * (earned - mean)
    stats[TREE.LOWEST], stats[TREE.HIGHEST] = min(stats[TREE.LOWEST], earned), max(stats[TREE.HIGHEST], earned)
    spread = 2.0 * math.sqrt(stats[TREE.SQUARES] / count)
    if kind == REWARD.MIN_MAX:
        spread = stats[TREE.HIGHEST] - stats[TREE.LOWEST]
    if kind < REWARD.WIN and spread > 0.0:
        stats[TREE.SCALE] = spread


@njit(types.void(U64, P_I64, P_F64, P_U16, P_U64, P_I32, P_I64, P_U64, P_I64, P_F64, P_U64, P_F64), **KERNEL)
def simulate(board, settings, reals, moves, rules, lines, extra, memory, links, stats, stream, out):
    """Adds one simulation to the tree and to the counters in `out`."""
    width = reals[REALS.EXPLORATION] * stats[TREE.SCALE]
    b, depth, fours = descend(board, settings, width, moves, rules, memory, links, stats, stream)
    if settings[SETTINGS.ROLLOUT] == ROLLOUT.GUIDED:
        b, count, more = guided(b, settings, reals, moves, rules, lines, extra, stream)
    else:
        first = I(settings[SETTINGS.ROLLOUT] == ROLLOUT.MERGE_FIRST)
        b, count, more = playout(b, moves, rules, stream, settings[SETTINGS.ROLLOUT_LIMIT], first)
    earned = reward(b, fours + more, settings, reals, moves, rules, lines, extra)
    counted = 0.0 if settings[SETTINGS.REWARD] == REWARD.WIN else 1.0
    for i in range(depth):
        edge = links[TREE.PATH + i]
        stats[edge + NODE.VISITS] += 1.0
        stats[edge + NODE.SUMS] += earned - counted * stats[TREE.SCORES + i]
    learn(earned - counted * stats[TREE.SCORES], settings[SETTINGS.REWARD], stats)
    out[OUT.NODES] += depth + count
    out[OUT.DEPTH_REACHED] = max(out[OUT.DEPTH_REACHED], np.float64(depth))
    out[OUT.LEAVES] += 1.0


@njit(I64(U64, P_I64, P_U16, P_U64, P_U64, P_I64), **KERNEL)
def successor(board, settings, moves, rules, memory, links):
    """The record of a board one move and one spawn after the tree's root, 0 when it has none."""
    root = memory[TREE.ROOT + NODE.BOARD]
    for d in range(4):
        slot, after = TREE.ROOT + NODE.CHILD + d, slide(root, d, moves)
        if settings[SETTINGS.CHANCE] == CHANCE.OPEN_LOOP:
            tile = board ^ after
            cell = (tile | tile >> U(1)) & empties(after, rules[RULES.MASK])
            if after != root and popcount(tile) == 1 and cell != ZERO:
                return links[slot]
        else:
            slot = holder(slot, board, memory, links)
            if links[slot] != 0:
                return links[slot]
    return 0


@njit(types.void(I64, P_U64, P_I64), **KERNEL)
def keep(root, memory, links):
    """Moves the tree below a record to the front of the memory and drops everything else.

    A record's children and next sibling were stored after it. So one pass upward finds each record
    that stays after the link that holds it, and never writes over one that it has yet to read.
    """
    end, target = links[TREE.END], I(TREE.ROOT)
    links[root + NODE.SIBLING], links[root + NODE.HOLDER] = 0, TREE.ROOT_LINK
    for node in range(root, end, NODE.SIZE):
        if links[node + NODE.HOLDER] == 0:
            continue
        links[links[node + NODE.HOLDER]] = target
        for word in range(NODE.SIZE):
            memory[target + word] = memory[node + word]
        links[target + NODE.HOLDER] = 0
        for slot in range(target + NODE.SIBLING, target + NODE.CHILD + 4):
            if links[slot] != 0:
                links[links[slot] + NODE.HOLDER] = slot
        target += NODE.SIZE
    links[TREE.END] = target


@njit(types.void(U64, P_I64, P_U16, P_U64, P_U64, P_I64, P_F64), **KERNEL)
def plant(board, settings, moves, rules, memory, links, stats):
    """Puts a tree for board into the memory: a new one, or what this game's last search left of it."""
    node = I(0)
    if settings[SETTINGS.REUSE] and links[TREE.GENERATION] == settings[SETTINGS.GENERATION] and links[TREE.END] > 0:
        node = successor(board, settings, moves, rules, memory, links)
    if node > 0:
        keep(node, memory, links)
    else:
        links[TREE.END], stats[TREE.SCALE] = TREE.ROOT, 1.0
        store(TREE.ROOT_LINK, board, I(1), memory, links)
    links[TREE.GENERATION] = settings[SETTINGS.GENERATION]
    memory[TREE.ROOT + NODE.BOARD] = board
    stats[TREE.RETURNS] = stats[TREE.MEAN] = stats[TREE.SQUARES] = 0.0
    stats[TREE.LOWEST], stats[TREE.HIGHEST] = math.inf, -math.inf


@njit(F64(I64, P_F64, P_F64), **KERNEL)
def report(directions, stats, out):
    """The root's visits; they and the values of legal moves stand in `out`, nan for illegal moves."""
    total = 0.0
    for d in range(4):
        out[OUT.VALUES + d] = out[OUT.VISITS + d] = math.nan
        if directions >> d & 1:
            visits = stats[TREE.ROOT + NODE.VISITS + d]
            total += visits
            out[OUT.VISITS + d] = visits
            if visits > 0.0:
                out[OUT.VALUES + d] = stats[TREE.ROOT + NODE.SUMS + d] / visits
    return total


@njit(I64(P_I64, P_F64), **KERNEL)
def decide(settings, out):
    """The visited direction with most visits, then the larger mean (or by the mean alone), then by ORDER."""
    best, most, direction = -math.inf, 0.0, I(-1)
    for i in range(4):
        d = settings[SETTINGS.ORDER + i]
        visits, mean = out[OUT.VISITS + d], out[OUT.VALUES + d]
        if not visits > 0.0:
            continue
        lead = 0.0 if settings[SETTINGS.FINAL] == FINAL.BY_MEAN else visits - most
        if direction < 0 or lead > 0.0 or (lead == 0.0 and mean - best > TIE * max(abs(mean), abs(best))):
            best, most, direction = mean, visits, d
    return direction


@njit(SEARCH, **KERNEL)
def search(board, agent, stream, out):
    """The direction to play, -1 when no move is legal.

    Runs SIMULATIONS (0: no such limit) or until SECONDS of processor time have passed (0: no such limit),
    whichever comes first, and always one. VALUES are mean returns, DEPTH_REACHED the longest path in the
    tree in moves, NODES moves made in the tree and in rollouts, LEAVES simulations, TREE_SIZE positions
    stored; VISITS add up to LEAVES + TAKEN_OVER. With REUSE the tree of the same GENERATION's last
    search goes on from the position that came of it; otherwise the memory's content is ignored.
    """
    settings, reals, memory = agent.settings, agent.reals, agent.memory
    board = fitted(board, agent.extra)
    started, look, limit, seconds = cpu(), 0.0, settings[SETTINGS.SIMULATIONS], reals[REALS.SECONDS]
    out[:] = 0.0
    links, stats, words = pointer(memory.view(np.int64)), pointer(memory.view(np.float64)), pointer(memory)
    parameters, factors, answer = pointer(settings), pointer(reals), pointer(out)
    moves, rules, tables, terms = pointer(agent.moves), pointer(agent.rules), pointer(agent.lines), pointer(agent.extra)
    directions = legal(board, agent.moves)
    if directions == 0:
        report(directions, stats, answer)
        return -1
    plant(board, parameters, moves, rules, words, links, stats)
    out[OUT.TAKEN_OVER] = report(directions, stats, answer)
    while True:
        simulate(board, parameters, factors, moves, rules, tables, terms, words, links, stats, pointer(stream), answer)
        if seconds > 0.0 and out[OUT.NODES] >= look:
            if cpu() - started >= seconds:
                break
            look = out[OUT.NODES] + MOVES_PER_LOOK
        if out[OUT.LEAVES] >= limit and (limit > 0 or not seconds > 0.0):
            break
    report(directions, stats, answer)
    out[OUT.TREE_SIZE] = (I(memory[TREE.END]) - TREE.ROOT) // NODE.SIZE
    return decide(parameters, answer)

"""Whole compiled games: scores, rules, streams, stop tile, cancelling, adversaries, and tiles past 32768."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import reference
from numba import config, njit

from t48lab import Rules
from t48lab.agents import NO_BOOK
from t48lab.kernels import exact, gameloop, greedy, priority, random, rng
from t48lab.kernels.bitboard import count_empty, empties
from t48lab.kernels.layout import BLOCK, END, EXTRA, OUT, REALS, ROW, RULES, SETTINGS, STREAM, AgentArrays
from t48lab.kernels.signature import SEARCH

U = np.uint64
JIT = not config.DISABLE_JIT
GAMES = 50 if JIT else 3
STANDARD = Rules()
SIZES = [(3, 3), (2, 3), (2, 2), (3, 4)]


@njit(SEARCH)
def last_cell(board, agent, stream, out):
    """A spawner: always a 4, in the last empty cell."""
    cells = empties(board, agent.rules[RULES.MASK])
    cell = 15
    while not cells & U(1):
        cells = cells >> U(4)
        cell -= 1
    return 2 * cell + 1


@njit(SEARCH)
def stubborn(board, agent, stream, out):
    """A search that always says up, which is often illegal."""
    out[:] = 0.0
    return 0


@njit(SEARCH)
def generations(board, agent, stream, out):
    """A search that adds up the generations it is given, and ends the game."""
    agent.memory[0] ^= U(agent.settings[SETTINGS.GENERATION])
    out[:] = 0.0
    return -1


def arrays(rules, order):
    """The arrays of an agent without an evaluator."""
    settings = np.zeros(SETTINGS.SIZE, np.int64)
    settings[:4] = order
    extra = np.zeros(EXTRA.BLOCKS + BLOCK.SIZE, np.int64)
    moves, numbers = rules.arrays()
    words, lines = np.zeros(1, np.uint64), np.zeros(1, np.int32)
    return AgentArrays(settings, np.zeros(REALS.SIZE), moves, numbers, lines, extra, words, NO_BOOK)


def play(search, games=GAMES, *, seed=1, first=0, inline=0, stop=0, log=0, cancel=0, rules=STANDARD, spawner=None,
         order=(0, 1, 2, 3), memory=None):  # fmt: skip
    """(rows of the finished games, seconds, log)."""
    agent, opponent = arrays(rules, order), arrays(rules, order)
    agent = agent if memory is None else agent._replace(memory=memory)
    rows, seconds = np.zeros((games, ROW.SIZE), np.int64), np.zeros(games)
    record, stopping = np.zeros(log, np.uint8), np.array([cancel], np.int64)
    done = gameloop.play_games(
        search, spawner or search, int(spawner is not None), inline, agent, opponent,
        U(seed), first, stop, U(STREAM.SEARCH), rows, seconds, record, stopping,
    )  # fmt: skip
    return rows[:done], seconds[:done], record


def unpacked(low, high, rows=4, cols=4):
    shifts = [[60 - 4 * (4 * r + c) for c in range(cols)] for r in range(rows)]
    return tuple(tuple(((int(low) >> s) & 15) + 16 * (int(high) >> s & 1) for s in row) for row in shifts)


def planes(board):
    cells = [(60 - 4 * (4 * r + c), rank) for r, row in enumerate(board) for c, rank in enumerate(row)]
    return U(sum((rank & 15) << s for s, rank in cells)), U(sum((rank >> 4) << s for s, rank in cells))


def final(row, rows=4, cols=4):
    return unpacked(int(row[ROW.FINAL_LOW]) & 2**64 - 1, int(row[ROW.FINAL_HIGH]) & 2**64 - 1, rows, cols)


def replayed(log, moves, start=None):
    """(board, reward, rank of the spawn) of every step of a log; the first two steps are spawns alone."""
    board = start or ((0,) * 4,) * 4
    for step, byte in enumerate(log[: moves + 2].tolist()):
        direction, rank, cell, reward = byte & 3, 1 + (byte >> 2 & 1), byte >> 4, 0
        if step < 2 and start:
            continue
        if step >= 2:
            assert direction in reference.legal(board)
            board, reward = reference.move(board, direction)
        assert board[cell // 4][cell % 4] == 0
        board = reference.with_tile(board, cell // 4, cell % 4, rank)
        yield board, reward, rank


@pytest.mark.parametrize("kernel", [random, priority, greedy], ids=lambda kernel: kernel.__name__[15:])
def test_scores_add_up_at_every_step(kernel):
    for game in range(GAMES):
        rows, _, log = play(kernel.search, 1, seed=7, first=game, log=5_000)
        row, score, fours, board = rows[0], 0, 0, None
        for board, reward, rank in replayed(log, row[ROW.MOVES]):
            score, fours = score + reward, fours + (rank == 2)
            assert score == reference.board_points(board) - 4 * fours
        assert (row[ROW.SCORE], final(row), row[ROW.ENDED]) == (score, board, END.OVER)
        assert row[ROW.MAX_RANK] == max(max(line) for line in board)
        assert reference.legal(board) == []


@pytest.mark.parametrize("inline", [0, 1])
@pytest.mark.parametrize(("rows", "cols"), [(4, 4), *SIZES])
def test_random_games_match_the_twin(inline, rows, cols):
    played, _, _ = play(random.search, GAMES, seed=0, inline=inline, rules=Rules(rows=rows, cols=cols))
    for game, row in enumerate(played):
        twin = reference.random_game(0, game, rows, cols)
        assert (final(row, rows, cols), row[ROW.SCORE], row[ROW.MOVES]) == twin
        assert row[ROW.NODES] == row[ROW.MOVES]


def test_priority_follows_its_order():
    order = (3, 0, 1, 2)
    rows, _, log = play(priority.search, 1, log=5_000, order=order)
    board = None
    for step, (after, _, _) in enumerate(replayed(log, rows[0, ROW.MOVES])):
        if step >= 2:
            legal = reference.legal(board)
            assert log[step] & 3 == next(d for d in order if d in legal)
        board = after


def test_greedy_takes_the_greatest_reward_and_then_the_order():
    order = (2, 3, 1, 0)
    rows, _, log = play(greedy.search, 1, log=5_000, order=order)
    board = None
    for step, (after, reward, _) in enumerate(replayed(log, rows[0, ROW.MOVES])):
        if step >= 2:
            rewards = {d: reference.move(board, d)[1] for d in reference.legal(board)}
            assert reward == max(rewards.values())
            assert log[step] & 3 == next(d for d in order if rewards.get(d) == reward)
        board = after


def test_greedy_states_values_of_legal_moves_only():
    out = np.zeros(OUT.SIZE)
    board = planes(((3, 1, 0, 0), (3, 0, 0, 0), (3, 0, 0, 0), (3, 0, 0, 0)))[0]
    assert greedy.search(board, arrays(STANDARD, range(4)), np.zeros(1, np.uint64), out) == 0
    np.testing.assert_array_equal(out[: OUT.DEPTH_REACHED], [32, 0, 32, *[np.nan] * 5, 4])


def test_greedy_by_evaluator_takes_the_best_afterstate():
    agent = arrays(STANDARD, (1, 3, 0, 2))
    agent.settings[SETTINGS.BY] = 1
    empties_of_line = [sum(n >> shift & 15 == 0 for shift in (0, 4, 8, 12)) for n in range(65536)]
    agent.extra[EXTRA.SHIFT] = 1
    agent = agent._replace(lines=np.array(empties_of_line, np.int32))
    for number, board in enumerate(large_boards(200, seed=8, ranks=(0, 1, 1, 2, 3))):
        out = np.zeros(OUT.SIZE)
        chosen = greedy.search(planes(board)[0], agent, np.zeros(1, np.uint64), out)
        values = {d: len(reference.empty_cells(reference.move(board, d)[0])) for d in reference.legal(board)}
        expected = [values.get(d, np.nan) for d in range(4)]
        np.testing.assert_array_equal(out[OUT.VALUES : OUT.VALUES + 4], expected, err_msg=str(number))
        assert chosen == next((d for d in (1, 3, 0, 2) if values.get(d) == max(values.values(), default=0)), -1)


@pytest.mark.parametrize(("kernel", "inline"), [(random, 0), (random, 1), (greedy, 0)])
def test_same_games_in_any_order_split_or_thread(kernel, inline):
    games = 20 if JIT else 4

    def one(game):
        np.random.seed(game)  # noqa: NPY002
        return play(kernel.search, 1, seed=5, first=game)[0][0]

    together = play(kernel.search, games, seed=5, inline=inline)[0]
    with ThreadPoolExecutor(4) as pool:
        alone = list(pool.map(one, reversed(range(games))))
    np.testing.assert_array_equal(np.array(alone[::-1]), together)


def test_seeds_and_games_are_streams_of_their_own():
    finals = {play(random.search, 1, seed=s, first=g, inline=1)[0].tobytes() for s in range(5) for g in range(20)}
    assert len(finals) == 100


CODE = """
import json, sys
sys.path.insert(0, {tests!r})
import test_gameloop as t
games = [t.play(kernel.search, 2, seed=9)[0].tolist() for kernel in (t.random, t.greedy)]
print(json.dumps([*games, t.play(t.random.search, 2, seed=9, inline=1)[0].tolist()]))
"""


def test_games_are_the_same_with_the_jit_on_and_off():
    code = CODE.format(tests=os.path.dirname(__file__))
    done = [
        subprocess.run(
            [sys.executable, "-W", "error::RuntimeWarning", "-c", code],
            env=os.environ | {"NUMBA_DISABLE_JIT": off}, capture_output=True, text=True, check=True,
        )
        for off in "01"
    ]  # fmt: skip
    on, off = (json.loads(process.stdout) for process in done)
    assert on == off
    assert on[0] == on[2]


@pytest.mark.compiled
def test_a_second_process_finds_every_kernel_in_the_cache():
    code = (
        "from t48lab.kernels import bitboard, exact, gameloop, greedy, priority, random, rng\n"
        "for room in (bitboard, exact, gameloop, greedy, priority, random, rng):\n"
        "    for name, kernel in vars(room).items():\n"
        "        if hasattr(kernel, 'stats') and kernel.stats.cache_misses: print(room.__name__, name)"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == ""


def test_stop_tile_ends_the_game_as_soon_as_it_stands():
    free, stopped = (play(greedy.search, GAMES, stop=rank)[0] for rank in (0, 7))
    reached = free[:, ROW.MAX_RANK] >= 7
    assert (stopped[reached][:, [ROW.MAX_RANK, ROW.ENDED]] == [7, END.STOP_TILE]).all()
    assert (stopped[reached, ROW.MOVES] <= free[reached, ROW.MOVES]).all()
    np.testing.assert_array_equal(stopped[~reached], free[~reached])


@pytest.mark.parametrize("inline", [0, 1])
def test_a_cancelled_call_counts_no_game(inline):
    assert len(play(random.search, 5, inline=inline, cancel=1)[0]) == 0


def test_the_clock_counts_every_game():
    for inline in (0, 1):
        rows, seconds, _ = play(random.search, GAMES, inline=inline)
        assert (seconds > 0).all()
        assert len(rows) == len(seconds) == GAMES


def test_a_log_that_is_too_short_is_filled_and_no_more():
    _, _, whole = play(random.search, 1, log=1_000)
    _, _, short = play(random.search, 1, log=10)
    np.testing.assert_array_equal(short, whole[:10])


def test_an_adversary_places_every_tile_but_the_first_two():
    rows, _, log = play(greedy.search, 1, spawner=last_cell, log=5_000)
    steps = list(replayed(log, rows[0, ROW.MOVES]))
    for (before, _, _), (_, _, rank), byte in zip(steps[1:], steps[2:], log[2:].tolist(), strict=False):
        after = reference.move(before, byte & 3)[0]
        assert (divmod(byte >> 4, 4), rank) == (reference.empty_cells(after)[-1], 2)
    assert len({play(greedy.search, 1, first=game, spawner=last_cell)[0].tobytes() for game in range(5)}) > 1


def test_an_illegal_move_ends_the_game_without_a_spawn():
    rows, _, log = play(stubborn, 1, log=1_000)
    board = list(replayed(log, rows[0, ROW.MOVES]))[-1][0]
    assert board == final(rows[0])
    assert 0 not in reference.legal(board)
    assert log[rows[0, ROW.MOVES] + 2] == 0


def test_every_game_has_a_generation_of_its_own():
    numbers = []
    for game in range(20):
        memory = np.zeros(1, np.uint64)
        play(generations, 1, first=game, memory=memory)
        numbers.append(int(memory[0]))
    assert len(set(numbers)) == 20
    assert all(number % 2 for number in numbers)


# tiles past 32768


def large_boards(count, seed, ranks=(0, 0, 1, 2, 13, 14, 15, 15, 16, 16, 17)):
    boards = np.random.default_rng(seed).choice(ranks, (count, 4, 4)).tolist()
    return [tuple(map(tuple, board)) for board in boards]


def test_planes_slide_like_the_twin():
    moves, rules = STANDARD.arrays()
    for board in large_boards(5_000 if JIT else 100, seed=1):
        low, high = planes(board)
        assert exact.max_rank(low, high) == max(map(max, board))
        assert exact.full_potential(low, high) == reference.board_points(board)
        assert tuple(map(int, exact.pack(exact.unpack(low, high)))) == (low, high)
        for direction in range(4):
            after = exact.slide_planes(low, high, direction, moves, rules)
            assert unpacked(*after) == reference.move(board, direction)[0]


def equalities(board):
    cells = [rank for row in board for rank in row]
    return [[a == b for b in cells] for a in cells]


def test_a_board_ranked_down_keeps_emptiness_equality_and_legal_moves():
    tried = [*large_boards(2_000 if JIT else 100, seed=2), *large_boards(500, seed=3, ranks=range(18))]
    for board in tried:
        seen = unpacked(exact.ranked_down(*planes(board)), 0)
        assert reference.empty_cells(seen) == reference.empty_cells(board)
        assert equalities(seen) == equalities(board)
        assert reference.legal(seen, top=15) == reference.legal(board)
        order = sorted(range(16), key=lambda cell: board[cell // 4][cell % 4])
        assert [seen[c // 4][c % 4] for c in order] == sorted(rank for row in seen for rank in row)


def test_a_board_that_fits_is_seen_as_it_is():
    for board in large_boards(500, seed=4, ranks=range(15)):
        assert exact.ranked_down(*planes(board)) == planes(board)[0]


@pytest.mark.parametrize("kernel", [random, greedy], ids=["random", "greedy"])
def test_play_goes_on_to_131072_with_exact_scores(kernel):
    settled, largest = 0, set()
    for game, start in enumerate(large_boards(GAMES, seed=5, ranks=(0, 0, 1, 14, 15, 15, 16))):
        row, log, cancel = np.zeros(ROW.SIZE, np.int64), np.zeros(20_000, np.uint8), np.zeros(1, np.int64)
        agent = arrays(STANDARD, range(4))
        streams = [np.array([rng.mix64(U(2 * game + i))], np.uint64) for i in range(2)]
        gameloop.play_game(
            kernel.search, kernel.search, 0, agent, agent, *streams, *planes(start), 0, 0, row, log, cancel
        )
        board, score = start, reference.board_points(start)
        for after, reward, _ in replayed(log, row[ROW.MOVES], start):
            board, score = after, score + reward
        assert (final(row), row[ROW.SCORE]) == (board, score)
        assert row[ROW.MAX_RANK] == max(map(max, board))
        assert reference.legal(board) == []
        settled += row[ROW.MOVES]
        largest.add(int(row[ROW.MAX_RANK]))
    assert 17 in largest
    assert settled > 10 * GAMES


@pytest.mark.compiled
def test_a_million_random_games_have_the_known_means():
    rows, _, _ = play(random.search, 1_000_000, seed=1, inline=1)
    assert abs(rows[:, ROW.SCORE].mean() - 1096) < 3
    assert abs(rows[:, ROW.MOVES].mean() - 118.4) < 0.2
    assert not rows[:, ROW.FINAL_HIGH].any()
    assert not any(count_empty(U(int(b) & 2**64 - 1), U(0x1111111111111111)) for b in rows[:1000, ROW.FINAL_LOW])

"""The packed board against the slow twin: lines, moves, spawns, streams and playouts."""

import math

import numpy as np
import pytest
import reference
from numba import config

from t48lab.kernels import bitboard, rng
from t48lab.rules import Rules

U = np.uint64
JIT = not config.DISABLE_JIT
POSITIONS = 100_000 if JIT else 300
LINES = range(65536) if JIT else range(0, 65536, 131)
MOVES, RULES = Rules().arrays()
SIZES = [(3, 3), (2, 3), (2, 2), (3, 4), (4, 2)]
EMPTY, FULL = U(0), U(0x123456789ABCDEF1)


def packed(board):
    """The packed board of a tuple of rows of ranks, of any size up to 4x4."""
    return U(sum(rank << 60 - 4 * (4 * r + c) for r, row in enumerate(board) for c, rank in enumerate(row)))


def unpacked(b, rows=4, cols=4):
    return tuple(tuple(int(b) >> 60 - 4 * (4 * r + c) & 15 for c in range(cols)) for r in range(rows))


def positions(count, rows=4, cols=4, seed=1, top=15):
    """Random positions from sparse to full and from few different ranks to many, as tuples of rows."""
    random = np.random.default_rng(seed)
    highest = random.integers(2, top + 1, (count, 1, 1))
    ranks = random.integers(1, highest + 1, (count, rows, cols))
    ranks *= random.random((count, rows, cols)) < random.choice([0.4, 0.7, 0.95, 1.0], (count, 1, 1))
    return [tuple(map(tuple, board)) for board in ranks.tolist()]


def stream(state=0):
    return np.array([state], np.uint64)


def line(number, size=4):
    return tuple(number >> 12 - 4 * i & 15 for i in range(size))


def number(cells):
    return sum(rank << 12 - 4 * i for i, rank in enumerate(cells))


@pytest.mark.parametrize(("rows", "cols"), [(4, 4), *SIZES])
def test_line_tables_hold_every_line(rows, cols):
    left, right, down = bitboard.build_moves(rows, cols).reshape(2, 3, 65536)[0]
    for n in LINES:
        cells = line(n)
        assert left[n] == number(reference.slide_line(cells, 15)[0])
        for table, size in ((right, cols), (down, rows)):
            assert table[n] == number(reference.slide_line(cells[:size][::-1], 15)[0][::-1]), (hex(n), size)


def test_all_lines_of_ranks_to_14():
    left, right = MOVES[:65536], MOVES[65536:131072]
    lines = [n for n in range(65536) if 15 not in line(n)]
    rewards = {}
    for name, table in (("left", left), ("right", right)):
        rewards[name] = [sum(map(reference.points, line(int(table[n])))) for n in lines]
        rewards[name] = [r - sum(map(reference.points, line(n))) for r, n in zip(rewards[name], lines, strict=True)]
    assert len(lines) == 50_625
    assert sum(left[n] == n for n in lines) == 33_321
    assert sum(rewards["left"]) == sum(rewards["right"]) == 44_234_100
    assert rewards["left"] == rewards["right"]
    for n in lines:
        assert sum(2**r for r in line(n) if r) == sum(2**r for r in line(int(left[n])) if r)
        assert line(int(right[n])) == line(int(left[number(line(n)[::-1])]))[::-1]


@pytest.mark.parametrize(("rows", "cols"), [(4, 4), *SIZES])
def test_moves_match_the_twin(rows, cols):
    moves, rules = Rules(rows=rows, cols=cols).arrays()
    for board in positions(POSITIONS if rows * cols == 16 else POSITIONS // 20, rows, cols, seed=rows * 10 + cols):
        b, legal = packed(board), []
        for direction in range(4):
            after, reward = reference.move(board, direction, top=15)
            assert unpacked(bitboard.slide(b, direction, moves), rows, cols) == after, (board, direction)
            if after != board:
                legal.append(direction)
                assert bitboard.potential(packed(after)) - bitboard.potential(b) == reward
        assert bitboard.legal(b, moves) == sum(1 << d for d in legal)
        assert bitboard.count_empty(b, rules[0]) == len(reference.empty_cells(board))


def test_counts_of_one_board():
    for board in positions(POSITIONS // 10, seed=2):
        b, ranks = packed(board), [rank for row in board for rank in row]
        assert bitboard.max_rank(b) == max(ranks)
        assert bitboard.potential(b) == sum(map(reference.points, ranks))
        assert bitboard.transpose(b) == packed(reference.transposed(board))


@pytest.mark.parametrize(("board", "empty"), [(EMPTY, 16), (FULL, 0), (U(1), 15), (U(0x8000000000000000), 15)])
def test_empty_cells(board, empty):
    assert bitboard.count_empty(board, bitboard.CELLS) == empty
    assert int(bitboard.empties(board, bitboard.CELLS)).bit_count() == empty


def test_moves_commute_with_the_eight_symmetries():
    for board in positions(POSITIONS // 50, seed=3):
        afters = [reference.symmetries(unpacked(bitboard.slide(packed(board), d, MOVES))) for d in range(4)]
        for k, image in enumerate(reference.symmetries(board)):
            turned = {unpacked(bitboard.slide(packed(image), d, MOVES)) for d in range(4)}
            assert turned == {after[k] for after in afters}


def test_boards_above_and_below_2_to_the_63_mix():
    if not JIT:
        pytest.skip("plain Python takes numpy integers as they are")
    for board in (2**63 + 0x1122, 0x1122, U(2**63 + 0x1122), U(0x1122)):
        after = reference.move(unpacked(board), 3)[0]
        assert bitboard.slide(board, 3, MOVES) == int(packed(after))


def test_nth_empty_is_every_member_from_the_last_cell():
    for board in [((0,) * 4,) * 4, *positions(POSITIONS // 50, seed=4)]:
        cells = [60 - 4 * (4 * r + c) for r, c in reference.empty_cells(board)][::-1]
        members = bitboard.empties(packed(board), bitboard.CELLS)
        found = [int(bitboard.nth_empty(U(members), U(k))) for k in range(len(cells))]
        assert found == [1 << shift for shift in cells]


def test_spawn_law():
    board, counts, fours, draws = packed(((0,) * 4, (0, 0, 5, 0), (0,) * 4, (0,) * 4)), {}, 0, stream(7)
    for _ in range(20_000):
        tile = int(bitboard.spawn(board, RULES[0], RULES[1], draws)) ^ int(board)
        cell = 15 - (tile.bit_length() - 1) // 4
        counts[cell] = counts.get(cell, 0) + 1
        fours += (tile.bit_length() - 1) % 4 == 1
    assert abs(fours / 20_000 - 0.1) < 0.011
    assert sorted(counts) == [cell for cell in range(16) if cell != 6]
    assert all(abs(count - 20_000 / 15) < 177 for count in counts.values())


def test_spawns_match_the_twin_on_every_size():
    for rows, cols in [(4, 4), *SIZES]:
        rules = Rules(rows=rows, cols=cols, four_probability=0.3).arrays()[1]
        ours, twin = stream(5), reference.Stream(5)
        for board in positions(POSITIONS // 50, rows, cols, seed=5):
            if reference.empty_cells(board):
                after = bitboard.spawn(packed(board), rules[0], rules[1], ours)
                assert unpacked(after, rows, cols) == reference.spawn(board, twin, round(0.3 * 2**32))


@pytest.mark.parametrize(("probability", "rank"), [(0.0, 1), (1.0, 2)])
def test_spawn_of_one_kind_only(probability, rank):
    rules, draws = Rules(four_probability=probability).arrays()[1], stream(1)
    assert {bitboard.max_rank(bitboard.spawn(EMPTY, rules[0], rules[1], draws)) for _ in range(500)} == {rank}


def test_the_only_empty_cell_gets_the_spawn():
    board = ((1, 1, 2, 3), (4, 5, 6, 7), (8, 9, 10, 11), (2, 3, 4, 5))
    after = bitboard.slide(packed(board), 3, MOVES)
    for state in range(200):
        spawned = bitboard.spawn(U(after), RULES[0], RULES[1], stream(state))
        assert int(spawned) ^ int(after) in (1 << 48, 2 << 48)


def test_random_moves_are_uniform_over_the_legal_ones():
    boards = [((3, 1, 0, 0), (3, 0, 0, 0), (3, 0, 0, 0), (3, 0, 0, 0)), ((1, 2, 3, 0),) + ((0,) * 4,) * 3]
    for board in [*boards, ((0,) * 4, (0, 1, 0, 0), (0,) * 4, (0,) * 4)]:
        draws, legal = stream(11), reference.legal(board)
        counts, n = dict.fromkeys(legal, 0), 12_000 if JIT else 4_000
        for _ in range(n):
            after, direction = bitboard.random_move(packed(board), rng.next_u64(draws), MOVES, 0)
            counts[direction] += 1
            assert unpacked(after) == reference.move(board, direction)[0]
        share = 1 / len(legal)
        assert all(abs(count / n - share) < 5 * math.sqrt(share / n) for count in counts.values())


def test_merge_first_takes_a_merge_when_there_is_one():
    for i, board in enumerate(positions(POSITIONS // 20, seed=6)):
        legal = reference.legal(board, 15)
        merging = [d for d in legal if reference.move(board, d, 15)[1]]
        after, direction = bitboard.random_move(packed(board), rng.mix64(U(i)), MOVES, 1)
        assert direction in (merging or legal or [-1])
        assert direction >= 0 or after == packed(board)


@pytest.mark.parametrize("merge_first", [0, 1])
@pytest.mark.parametrize("limit", [-1, 0, 20])
def test_playout_makes_legal_moves_and_its_points(merge_first, limit):
    start = packed(((1, 1, 0, 0),) + ((0,) * 4,) * 3)
    for state in range(100 if JIT else 5):
        b, moves, fours = bitboard.playout(start, MOVES, RULES, stream(state), limit, merge_first)
        assert moves == limit or (limit != 0 and not reference.legal(unpacked(b)))
        total = sum(2**rank for row in unpacked(b) for rank in row if rank)
        assert total == 4 + 2 * moves + 2 * fours


def test_splitmix64_gives_the_published_numbers():
    draws = stream(1234567)
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    assert [int(rng.next_u64(draws)) for _ in published] == published


def test_streams_match_the_twin_and_never_repeat():
    keys = [(s, g, p) for s in (0, 1, 2, 2**64 - 1) for g in range(50) for p in (0, 1, 3)]
    starts = [int(rng.seed_stream(U(s), U(g), U(p))) for s, g, p in keys]
    assert starts == [reference.Stream.of(*key).state for key in keys]
    first = [reference.Stream(start).next() for start in starts]
    assert len(set(starts)) == len(set(first)) == len(keys)


def test_below_is_uniform():
    draws, n = stream(3), 20_000 if JIT else 3_000
    counts = np.bincount([rng.below(draws, 6) for _ in range(n)], minlength=6)
    assert len(counts) == 6
    assert (abs(counts / n - 1 / 6) < 5 * math.sqrt(1 / 6 / n)).all()

"""Board: notations, exact moves, errors and pictures."""

import pickle
import subprocess
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest
import reference
from numba import config

from t48lab import Board, IllegalMove, Move, Rules, T48Error, make_agent
from t48lab.agents import decision_tree
from t48lab.board import DIGITS, DIRECTIONS
from t48lab.pictures.viewer import Play

JIT = not config.DISABLE_JIT
TEXT = "2 0 0 4 / 0 8 0 0 / 16 0 0 0 / 0 0 0 131072"
CELLS = [[2, 0, 0, 4], [0, 8, 0, 0], [16, 0, 0, 0], [0, 0, 0, 131072]]

LINES = """
2 2 4 4 left  4 8 . . 12    | 2 2 4 4 right . . 4 8 12    | 4 4 8 . left  8 8 . . 8     | 4 4 8 . right . . 8 8 8
2 2 2 . left  4 2 . . 4     | 2 2 2 . right . . 2 4 4     | . 4 4 4 left  8 4 . . 8     | . 4 4 4 right . . 4 8 8
2 2 2 2 left  4 4 . . 8     | 2 2 2 2 right . . 4 4 8     | 8 4 4 . left  8 8 . . 8     | 4 . 4 8 left  8 8 . . 8
2 . . 2 left  4 . . . 4     | 8 8 16 . left 16 16 . . 16  | 2 . 2 2 right . . 2 4 4
"""
LINE_CASES = [case.split() for case in LINES.replace("\n", "|").split("|") if case.strip()]


def row(cells):
    """A board with these cells on top."""
    return Board.parse(" ".join(cells) + " ." * 12)


def ranks(board):
    return tuple(map(tuple, board.ranks().tolist()))


@pytest.mark.parametrize("case", LINE_CASES, ids=" ".join)
def test_lines(case):
    before, direction, after, reward = case[:4], case[4], case[5:9], int(case[9])
    assert row(before).move(direction) == Move(row(after), reward)
    turn = {"left": "up", "right": "down"}[direction]
    upright = Board.from_array(row(before).to_array().T).move(turn)
    assert upright == Move(Board.from_array(row(after).to_array().T), reward)


def test_a_whole_board_to_the_right():
    move = Board.from_array([[0, 0, 0, 0], [2, 0, 0, 0], [4, 4, 2, 0], [4, 64, 32, 32]]).move("right")
    assert move.afterstate.to_array().tolist() == [[0, 0, 0, 0], [0, 0, 0, 2], [0, 0, 8, 2], [0, 4, 64, 64]]
    assert move.reward == 72


def test_a_packed_row_is_not_movable():
    assert Board.from_array([[8, 2, 0, 0], *[[8, 0, 0, 0]] * 3]).legal_moves == ("up", "right", "down")


def test_an_illegal_move_raises_and_changes_nothing():
    board = row("2222")
    with pytest.raises(IllegalMove, match=r"^up changes nothing on 1111000000000000, choose from right, down, left$"):
        board.move("up")
    assert board == row("2222")
    with pytest.raises(IllegalMove, match="the game is over"):
        Board.parse("1212212112122121").move("left")


def test_the_only_empty_cell_after_the_move():
    move = Board.parse("2 2 4 8 16 32 64 128 256 512 1024 2048 4 8 16 32").move("left")
    assert move.reward == 4
    assert [(r, c, tile) for r, c, tile, _ in move.afterstate.spawns()] == [(0, 3, 2), (0, 3, 4)]


@pytest.mark.parametrize(
    ("before", "after", "reward"),
    [
        ("32768 32768 2 4", "65536 2 4 0", 65536),
        ("65536 65536 32768 32768", "131072 65536 0 0", 131072 + 65536),
        ("65536 32768 32768 2", "65536 65536 2 0", 65536),
        ("131072 0 65536 1024", "131072 65536 1024 0", 0),
        ("0 131072 2 2", "131072 4 0 0", 4),
    ],
)
def test_tiles_past_32768_are_exact(before, after, reward):
    assert row(before.split()).move("left") == Move(row(after.split()), reward)


@pytest.mark.parametrize(("rows", "cols"), [(4, 4), (3, 3), (2, 3), (2, 2), (3, 4)])
def test_boards_of_all_tiles_match_the_twin(rows, cols):
    random = np.random.default_rng(rows * 10 + cols)
    for i in range(3_000 if JIT and rows * cols == 16 else 150):
        cells = random.integers(0, 18, (rows, cols)) if i % 2 else random.choice([0, 14, 15, 16], (rows, cols))
        board = Board.from_array(np.where(cells > 0, 1 << cells, 0))
        assert ranks(board) == tuple(map(tuple, cells.tolist()))
        assert [DIRECTIONS.index(name) for name in board.legal_moves] == reference.legal(ranks(board))
        for name in board.legal_moves:
            after, reward = board.move(name)
            assert (ranks(after), reward) == reference.move(ranks(board), DIRECTIONS.index(name))


NOTATIONS = [
    TEXT,
    TEXT.replace(" ", ","),
    TEXT.replace("/", "\n").replace(" 0", " ."),
    "2,0,0,4,0,8,0,0,16,0,0,0,0,0,0,131072",
    str(CELLS),
    "100203004000000h",
    "0x100203004000000H",
    " 100203004000000h ",
    "4x4:100203004000000h",
    CELLS,
    np.array(CELLS),
    np.array(CELLS, float),
    np.array(CELLS).ravel(),
    tuple(map(tuple, CELLS)),
]


@pytest.mark.parametrize("notation", NOTATIONS, ids=str)
def test_notations_of_one_board(notation):
    board = Board.parse(notation)
    assert board.to_array().tolist() == CELLS
    assert board.to_array().dtype == np.int64
    assert Board.parse(board) == board == Board.parse(board.hex) == Board.from_array(board.to_array())
    assert Board.parse(str(board)) == board


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("3x3:2 0 0 4 0 0 0 0 8", [[2, 0, 0], [4, 0, 0], [0, 0, 8]]),
        ("2X3: 2,4,8/16,0,65536", [[2, 4, 8], [16, 0, 65536]]),
        ("2x2:1h00", [[2, 131072], [0, 0]]),
        ("4x2:0x12003400", [[2, 4], [0, 0], [8, 16], [0, 0]]),
    ],
)
def test_smaller_boards(text, cells):
    board = Board.parse(text)
    assert board.to_array().tolist() == cells
    assert board == Board.from_array(cells) == Board.parse(board.hex)
    assert board.hex.startswith(f"{len(cells)}x{len(cells[0])}:")
    assert board.empty_count == sum(row.count(0) for row in cells)


ZEROS = " 0" * 15
BAD = [
    ("3" + ZEROS, "tile value 3 is no power of two, the nearest are 2 and 4"),
    ("100" + ZEROS, "tile value 100 is no power of two, the nearest are 64 and 128"),
    ("1" + ZEROS, "tile value 1 is out of range"),
    ("-2" + ZEROS, "tile value -2 is out of range"),
    (f"{2**32}" + ZEROS, "tile value 4294967296 is out of range, use 0 for empty or a power of two, 2 to 2^31"),
    ("v" + "1" + "0" * 14, "the tiles add up to 2,147,483,650, use smaller ones: to 2,147,483,648 at most"),
    ("x" + ZEROS, "tile value 'x' is no whole number"),
    ("2_0" + ZEROS, "tile value '2_0' is no whole number"),
    ("9" * 5000 + ZEROS, "no whole number"),
    ("2 0 0 4", "got 4 cells where a 4x4 board has 16; write every cell"),
    ("", "got 0 cells"),
    ("8" * 400, "got 400 cells"),
    ("100200300400000", "got 15 cells"),
    ("1002003004000w00", "digit 'w' at place 14 of '1002003004000w00' is no rank, use 0 to 9 and a to v"),
    ("²" * 16, "digit '²' at place 1 of"),
    ("٣" * 16, "digit '٣' at place 1 of"),
    ("² " + ZEROS, "tile value '²' is no whole number"),
    ("5x5:" + ZEROS, "a board has 2 to 4 rows of 2 to 4 cells, got '5x5', write its size as in 3x4:"),
    ("3" * 5000 + "x3:" + ZEROS, "a board has 2 to 4 rows of 2 to 4 cells, got '3333"),
    ("3x" + "3" * 5000 + ":" + ZEROS, "a board has 2 to 4 rows of 2 to 4 cells, got '3x33"),
    ("²x3:" + ZEROS, "a board has 2 to 4 rows of 2 to 4 cells, got '²x3'"),
    ("٣x٣:" + ZEROS, "a board has 2 to 4 rows of 2 to 4 cells, got '٣x٣'"),
    (":" + ZEROS, "a board has 2 to 4 rows of 2 to 4 cells, got ''"),
    ("0" * 10_001, "a board is written in at most 10,000 characters, got 10,001"),
    ("3x3:2 4", "got 2 cells where a 3x3 board has 9"),
    ([[2, 4], [8]], "must be equally long"),
    ([[2.5, 0], [0, 0]], "tile value 2.5 is no whole number"),
    ([[True, 0], [0, 0]], "tile value 1 is out of range"),
    ([[float("nan"), 0], [0, 0]], "tile value nan is no whole number"),
    ([[float("inf"), 0], [0, 0]], "tile value inf is no whole number"),
    ([[None, 0], [0, 0]], "tile value None is no whole number"),
    ([[2**70, 0], [0, 0]], "out of range"),
    (np.zeros((5, 5)), "got 5 x 5"),
    (np.zeros((2, 2, 2)), "got 2 x 2 x 2"),
    (16, "got a single value"),
    (None, "got a single value"),
]


@pytest.mark.parametrize(("bad", "words"), BAD, ids=lambda value: " ".join(str(value).split())[:30])
def test_errors_are_one_line_with_value_and_remedy(bad, words):
    with pytest.raises(T48Error) as caught:
        Board.parse(bad)
    message = str(caught.value)
    assert words in message
    assert "\n" not in message
    assert len(message) < 200


def test_an_unknown_direction_names_the_nearest():
    with pytest.raises(T48Error, match="unknown direction 'lefft', did you mean 'left'"):
        row("2000").move("lefft")


def test_counts():
    board = Board.parse(TEXT)
    assert (board.empty_count, board.max_tile, board.is_over) == (11, 131072, False)
    assert (Board().empty_count, Board().max_tile, Board().legal_moves) == (16, 0, ())
    full = Board.parse("1212212112122121")
    assert (full.empty_count, full.is_over, full.legal_moves) == (0, True, ())


@pytest.mark.parametrize("text", [TEXT, "2x3:123405", "3x3:100000000"])
def test_symmetries(text):
    board = Board.parse(text)
    images = board.symmetries()
    assert images[0] == board
    assert len(images) == 8
    assert set(map(ranks, images)) == set(reference.symmetries(ranks(board)))
    assert {len(image.legal_moves) for image in images} == {len(board.legal_moves)}


def test_boards_are_values():
    board = Board.parse(TEXT)
    assert {board: 1}[Board.from_array(CELLS)] == 1
    assert pickle.loads(pickle.dumps(board)) == board
    assert Board.parse("2x2:1000") != Board.parse("2x3:100000")
    assert eval(repr(board)) == board
    with pytest.raises(AttributeError):
        board.low = 3
    board.to_array()[:] = 0
    assert board.to_array().tolist() == CELLS


def test_spawns_are_all_cells_and_both_tiles():
    board = Board.parse(TEXT)
    spawns = list(board.spawns())
    assert len({after for *_, after in spawns}) == len(spawns) == 22
    for r, c, tile, after in spawns:
        changed = after.to_array() - board.to_array()
        assert changed[r, c] == tile
        assert np.count_nonzero(changed) == 1


@pytest.mark.parametrize("text", [TEXT, "2x3:12340h"])
def test_pictures(text):
    board = Board.parse(text)
    tiles = [str(value) for value in board.to_array().flat if value]
    svg = ET.fromstring(board.svg())
    assert [node.text for node in svg if node.tag.endswith("text") and node.text] == tiles
    table = ET.fromstring(board._repr_html_())
    assert [cell.text for cell in table.iter("td") if cell.text] == tiles
    assert len(str(board).splitlines()) == board.rows


def test_rules_name_value_and_range():
    with pytest.raises(T48Error, match="rows must be 4 or less, got 5"):
        Rules(rows=5)
    with pytest.raises(T48Error, match=r"four_probability must be 1 or less, got 2"):
        Rules(four_probability=2)
    assert [int(n) for n in Rules(rows=2, cols=3).arrays()[1]] == [0x1110111000000000, 429496730, 2, 3]


def test_reading_a_board_loads_no_compiler():
    code = "import sys; from t48lab import Board; Board.parse('2' + ' 0' * 15).svg(); print('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"


def test_every_merge_can_be_read_back():
    """Two 131072s, which no game reaches, make a 262144 and so on; the notation has a digit for each."""
    for digit, merged in ("hi", "ij", "tu", "uv"):
        after, reward = Board.parse(digit * 2 + "0" * 14).move("left")
        assert (after.hex, reward) == (merged + "0" * 15, 1 << DIGITS.index(merged))
        assert Board.parse(after.hex) == Board.from_array(after.to_array()) == Board.parse(str(after)) == after
    board = Board.parse("h" * 16)
    for direction in ("left", "up") * 2:
        board = board.move(direction).afterstate
        assert Board.parse(board.hex) == board
    assert board.max_tile == 16 * 131072


SIZES = [("3x3:120000000", Rules()), ("1200" * 4, Rules(rows=3, cols=3)), ("2x4:12000000", Rules(rows=4, cols=2))]


@pytest.mark.parametrize(("text", "rules"), SIZES)
def test_rules_of_another_size_are_refused(text, rules):
    board, words = Board.parse(text), f"the rules are for {rules.rows}x{rules.cols}; give Rules"
    calls = [
        *(
            lambda spec=spec: make_agent(spec).search(board, rules)
            for spec in ("random", "expectimax", "mcts", "greedy")
        ),
        lambda: make_agent("expectimax:depth=1").search(board, rules, "best"),
        lambda: decision_tree("minimax:depth=1", board, rules),
        lambda: Play("greedy", board=board, rules=rules),
        lambda: board.rules(rules),
    ]
    for call in calls:
        with pytest.raises(T48Error, match=words):
            call()
    assert board.rules() == board.rules(Rules(rows=board.rows, cols=board.cols))

"""Exact play against plain dictionaries, an independent program, and itself on other threads."""

import csv
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import reference
import reference_exact
from numba import config

from t48lab import Board, Rules, T48Error, solve
from t48lab.compiled import load
from t48lab.exact.crew import Crew
from t48lab.exact.layers import EVERY_MOVE, Frontier, Ground, Sweep
from t48lab.exact.objectives import Objective
from t48lab.exact.shapes import at_most, totals

JIT = not config.DISABLE_JIT
with (Path(__file__).parent / "data" / "oracle_small.csv").open() as file:
    ORACLE = list(csv.DictReader(file))
SIZES = [(2, 2), *([(2, 3), (2, 4)] if JIT else [])]
FACTS = {
    (2, 2): (110, 66.96414945710124, 11.24, {16: 0.96251125375, 32: 0.08288728907155}),
    (2, 3): (21_752, 480.2582717759579, 43.72, {64: 0.93926369243081, 128: 0.05699216049563}),
    (2, 4): (4_980_767, 2641.873035692248, 122.97714285714, {256: 0.86975586237182}),
    (3, 3): (48_713_519, 5468.486797410313, 183.08, {512: 0.7367741770231634}),
}
LAYERS = {(2, 2): 29, (2, 3): 125, (2, 4): 509, (3, 3): 1021}
LARGE = pytest.param((3, 3), marks=[pytest.mark.slow, pytest.mark.compiled])


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """The folder of the tables that tests share."""
    return tmp_path_factory.mktemp("exact")


def close(value):
    return pytest.approx(value, rel=1e-9, abs=1e-12)


def board_of(ranks):
    return Board.from_array([[1 << rank if rank else 0 for rank in row] for row in ranks])


@cache
def twin(rows, cols, four, objective, rank=None):
    return reference_exact.values(rows, cols, four, objective, rank)


def symmetric_once(boards):
    return {max(b for b in reference.symmetries(board) if len(b) == len(board)) for board in boards}


def swept(rules, objective):
    """The values by layer of a sweep of all moves, with the positions."""
    with Crew(1) as crew:
        ground, found = Ground(rules, crew), []
        frontier, sweep = Frontier(ground), Sweep(ground, objective)
        for total in totals(rules):
            found.append(frontier.layer(total))
            frontier.expand(total, found[-1])
        layers = [(total, keys, EVERY_MOVE) for total, keys in zip(totals(rules), found, strict=True)]
        values = list(sweep.layers(reversed(layers)))
    return found, values[::-1]


@pytest.mark.parametrize("size", [*SIZES, LARGE])
def test_figures_of_an_independent_program(home, size):
    rules, (positions, score, guaranteed, tiles) = Rules(rows=size[0], cols=size[1]), FACTS[size]
    assert len(totals(rules)) == LAYERS[size]
    solution = solve(rules, folder=home)
    assert solution.positions == positions
    assert solution.expected == close(score)
    assert solve(rules, "adversary", folder=home).expected == close(guaranteed)
    for tile, probability in tiles.items():
        assert solve(rules, f"tile:{tile}", folder=home).expected == close(probability)


@pytest.mark.parametrize("size", [*SIZES, LARGE])
def test_positions_of_an_independent_program(home, size):
    rules = Rules(rows=size[0], cols=size[1])
    rows = [row for row in ORACLE if (int(row["rows"]), int(row["cols"])) == size]
    assert len(rows) >= 20
    goals = {"optimal": "score", "guaranteed": "adversary", "p_tile": f"tile:{rows[0]['tile']}"}
    for column, goal in goals.items():
        solution = solve(rules, goal, folder=home)
        for row in rows:
            board = np.array(row["board"].split(), int).reshape(size)
            assert solution.value(board) == close(float(row[column])), (column, row["board"])


@pytest.mark.parametrize("goal", ["score", "adversary", "tile:64"])
def test_the_best_move_is_worth_what_its_position_is(home, goal):
    solution = solve(Rules(rows=2, cols=3), goal, folder=home)
    boards = [Board.parse("2x3: " + row["board"]) for row in ORACLE if (row["rows"], row["cols"]) == ("2", "3")]
    for board in boards:
        moves = solution.moves(board)
        assert tuple(moves) == board.legal_moves
        reached = goal == "tile:64" and board.max_tile >= 64
        assert solution.value(board) == close(max(moves.values(), default=float(reached)))
    assert any(len(solution.moves(board)) > 1 for board in boards)


@pytest.mark.parametrize("size", [*SIZES, LARGE])
def test_random_play_of_an_independent_program(size):
    solving, rules = load("solving"), Rules(rows=size[0], cols=size[1])
    random = Objective("random", solving.AVERAGE, solving.MEAN, np.array([solving.POINTS], np.int64))
    keys, values = swept(rules, random)
    for row in [row for row in ORACLE if (int(row["rows"]), int(row["cols"])) == size]:
        board = Board.parse(np.array(row["board"].split(), int).reshape(size))
        layer = totals(rules).index(int(board.to_array().sum()))
        key = np.zeros(1, np.uint32)
        load("keys").write_keys(np.array([board.low], np.uint64), 1, rules.arrays()[1], True, key)
        place = np.searchsorted(keys[layer], key[0])
        assert values[layer][0, place] == close(float(row["random"])), row["board"]


@pytest.mark.parametrize("four", [0.1, 0.5, 0.0, 1.0])
@pytest.mark.parametrize(("objective", "rank"), [("score", None), ("adversary", None), ("tile", 3), ("tile", 4)])
def test_every_position_of_2x2_as_the_twin_values_it(home, four, objective, rank):
    rules, known = Rules(rows=2, cols=2, four_probability=four), twin(2, 2, four, objective, rank)
    solution = solve(rules, f"tile:{1 << rank}" if rank else objective, folder=home)
    for board, value in known.items():
        assert solution.value(board_of(board)) == close(value)
    expected = sum(p * known[board] for p, board in reference_exact.starts(2, 2, four))
    assert solution.expected == close(expected)
    if not rank:
        assert solution.positions == len(symmetric_once(known))


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize(
    ("size", "objective", "rank"),
    [((2, 3), "score", None), ((3, 2), "adversary", None), ((2, 3), "tile", 6), ((2, 4), "tile", 4)],
)
def test_every_position_as_the_twin_values_it(home, size, objective, rank):
    rules, known = Rules(rows=size[0], cols=size[1]), twin(*size, 0.1, objective, rank)
    solution = solve(rules, f"tile:{1 << rank}" if rank else objective, folder=home)
    for board, value in known.items():
        assert solution.value(board_of(board)) == close(value)
    if not rank:
        assert solution.positions == len(symmetric_once(known))


def test_moments_and_tiles_of_random_play_as_the_twin_finds_them():
    solving, rules = load("solving"), Rules(rows=2, cols=2)
    kinds = np.array([solving.POINTS, solving.SQUARES, 3, 4], np.int64)
    keys, values = swept(rules, Objective("random", solving.AVERAGE, solving.MEAN, kinds))
    points, boards = twin(2, 2, 0.1, "random"), np.zeros(1, np.uint64)
    scores = reference_exact.distribution(0.1)
    for layer, total in enumerate(totals(rules)):
        for place in range(len(keys[layer])):
            load("keys").write_boards(keys[layer], place, 1, np.uint64(total), rules.arrays()[1], boards)
            ranks = tuple(map(tuple, Board(int(boards[0]), 0, 2, 2).ranks().tolist()))
            mean, square, eight, sixteen = values[layer][:, place]
            assert mean == close(points[ranks])
            assert square == close(sum(p * score**2 for (score, _), p in scores(ranks).items()))
            assert eight == close(sum(p for (_, top), p in scores(ranks).items() if top >= 3))
            assert sixteen == close(sum(p for (_, top), p in scores(ranks).items() if top >= 4))


@pytest.mark.parametrize("size", SIZES)
def test_threads_change_no_bit(tmp_path, size):
    rules = Rules(rows=size[0], cols=size[1])
    for workers in (1, 2, 3):
        solve(rules, workers=workers, folder=tmp_path / str(workers))
    files = [sorted((tmp_path / str(workers)).glob("*.t48")) for workers in (1, 2, 3)]
    assert len(files[0]) == 2
    for one, *others in zip(*files, strict=True):
        assert {path.read_bytes() == one.read_bytes() for path in others} == {True}


@pytest.mark.parametrize("size", [(2, 2), (2, 3), (3, 2), (2, 4), (4, 2), (3, 3)])
def test_every_board_has_a_key_that_tells_it_from_the_others(size):
    keys, (_, numbers) = load("keys"), Rules(rows=size[0], cols=size[1]).arrays()
    random, cells = np.random.default_rng(5), size[0] * size[1]
    alone = [np.eye(cells, dtype=int)[cell] * rank for cell in range(cells) for rank in (1, 2, 10)]
    for ranks in [*alone, *random.integers(0, 11, (300, cells))]:
        board = board_of(ranks.reshape(size))
        key, back = np.zeros(1, np.uint32), np.zeros(1, np.uint64)
        for symmetric in (False, True):
            images = [b.low for b in board.symmetries() if (b.rows, b.cols) == size] if symmetric else [board.low]
            keys.write_keys(np.array([board.low], np.uint64), 1, numbers, symmetric, key)
            keys.write_boards(key, 0, 1, np.uint64(board.to_array().sum()), numbers, back)
            assert (key[0] != 0) == bool(board.low)
            assert int(back[0]) == max(images)
    keys.write_keys(np.zeros(1, np.uint64), 1, numbers, False, key)
    assert key[0] == 0


def test_more_positions_are_expected_than_there_are():
    for size, (positions, *_) in FACTS.items():
        assert positions < at_most(Rules(rows=size[0], cols=size[1])) < 6 * positions


@pytest.mark.parametrize(
    ("rules", "objective", "words"),
    [
        ({"rows": 4, "cols": 3}, "score", r"4x3 has about 6\.\de\+12 positions, [\d.]+ TB of tables.*at most 9 cells"),
        ({"rows": 2, "cols": 2}, "tile:64", "tile 64 cannot be reached on 2x2, the largest is 32"),
        ({"rows": 2, "cols": 2, "four_probability": 0.0}, "tile:32", "the largest is 16"),
        ({"rows": 2, "cols": 2}, "tile:24", "power of two, 2 to 32, got '24'"),
        ({"rows": 2, "cols": 2}, "tile:", "power of two"),
        ({"rows": 2, "cols": 2}, "points", "unknown objective 'points', choose from score, adversary or tile:N"),
    ],
)
def test_what_cannot_be_solved_is_refused(tmp_path, rules, objective, words):
    with pytest.raises(T48Error, match=words):
        solve(Rules(**rules), objective, folder=tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("board", "words"),
    [
        ("3x3: 2 2 0 0 0 0 0 0 0", "is a 3x3 board, this solution is of 2x2"),
        ("2x2: 2 0 0 0", "no play reaches 2x2:1000 on 2x2"),
        ("2x2: 32 32 2 2", "no play reaches"),
        ("2x2: 131072 2 2 2", "no play reaches"),
        ("2x2: 0 0 0 0", "no play reaches"),
    ],
)
def test_boards_without_a_value_are_refused(home, board, words):
    with pytest.raises(T48Error, match=words):
        solve(Rules(rows=2, cols=2), folder=home).value(board)


def test_memory_that_does_not_suffice_is_said_beforehand(tmp_path):
    with pytest.raises(T48Error, match=r"tables of 3x3 may take .*, 0.1 GB are given: give more memory"):
        solve(Rules(rows=3, cols=3), memory=0.1, folder=tmp_path)
    assert not list(tmp_path.iterdir())
    assert solve(Rules(rows=2, cols=2), memory=0.1, folder=tmp_path).positions == 110


def test_no_room_is_said_beforehand(tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("usage", (), {"free": 1000}))
    with pytest.raises(T48Error, match=r"the tables of 2x3 take up to 531 kB, .* has 1 kB free: make room"):
        solve(Rules(rows=2, cols=3), folder=tmp_path / "new")
    assert list(tmp_path.iterdir()) == []


def test_workers_are_counted(tmp_path):
    with pytest.raises(T48Error, match="workers must be 1 or more, got 0"):
        solve(Rules(rows=2, cols=2), workers=0, folder=tmp_path)


@pytest.mark.compiled
def test_the_compiler_changes_no_bit(tmp_path):
    code = "import sys, t48lab as t; t.solve(t.Rules(rows=2, cols=2), sys.argv[2], folder=sys.argv[1])"
    for objective in ("score", "adversary", "tile:16"):
        solve(Rules(rows=2, cols=2), objective, folder=tmp_path / "compiled")
        arguments = [sys.executable, "-c", code, str(tmp_path / "plain"), objective]
        subprocess.run(arguments, env=os.environ | {"NUMBA_DISABLE_JIT": "1"}, check=True)
    for path in (tmp_path / "compiled").glob("*.t48"):
        assert path.read_bytes() == (tmp_path / "plain" / path.name).read_bytes()


@pytest.mark.parametrize(("direction", "name"), [(Frontier, "layer"), (Sweep, "_layer")])
def test_after_an_interruption_finished_layers_are_not_made_again(tmp_path, monkeypatch, direction, name):
    rules, made = Rules(rows=2, cols=2), []
    solve(rules, folder=tmp_path / "whole")
    layer = getattr(direction, name)

    def interrupted(self, *which):
        if len(made) == 11:
            raise KeyboardInterrupt
        return counted(self, *which)

    def counted(self, *which):
        made.append(which)
        return layer(self, *which)

    monkeypatch.setattr(direction, name, interrupted)
    with pytest.raises(KeyboardInterrupt):
        solve(rules, folder=tmp_path / "stopped")
    monkeypatch.setattr(direction, name, counted)
    solve(rules, folder=tmp_path / "stopped")
    again = 2 if direction is Frontier else 0
    assert len(made) == len(totals(rules)) + again
    for path in (tmp_path / "whole").glob("*.t48"):
        assert path.read_bytes() == (tmp_path / "stopped" / path.name).read_bytes()

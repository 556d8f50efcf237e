"""Expectimax that is asked for the best move only: the same moves, and bounds that can be trusted."""

import itertools

import numpy as np
import pytest
from numba import config, njit
from test_expectimax_kernel import boards, from_games, packed

from t48lab import Evaluator, Rules, T48Error, make_agent, play
from t48lab.board import Board
from t48lab.games import replay
from t48lab.kernels.layout import RULES, SETTINGS, TABLE
from t48lab.kernels.lines import evaluate
from t48lab.kernels.pointers import pointer
from t48lab.kernels.tilesums import KNOWN, best_pairs, most_of, tile_sum

JIT = not config.DISABLE_JIT
FOUR = {"empty": 200.0, "monotonicity": {"weight": 60.0, "exponent": 2.4}, "smoothness": 100.0, "corner": 5.0}
TIGHT = ("classic", "tuned", "four_terms")
EVALUATORS = {
    "classic": "classic",
    "tuned": "tuned",
    "four terms": "four_terms",
    "lost counts as evaluated": Evaluator(terms=FOUR, lost="evaluation"),
    "floored": Evaluator(terms=FOUR, lost=0.0, floor=True),
}


most = njit(lambda total, start, lines: most_of(total, start, pointer(lines)))


def positions(count):
    return [*from_games(count // 2, 8), *(packed(rows) for rows in boards(count // 2, 9, empty=(1, 7)))]


def assert_same_best(agent, board):
    """Checks one position and tells whether the search for the best move alone took fewer nodes."""
    board = Board.parse(f"{board:016x}")
    everything, only = agent.search(board), agent.search(board, values="best")
    assert only.best == everything.best
    for direction, value in everything.values.items():
        if direction == everything.best:
            assert only.values[direction] == value
        elif value is None:
            assert only.values[direction] is None
        else:
            assert only.values[direction] >= value - 1e-9 * abs(value)
    return only.nodes < everything.nodes


@pytest.mark.compiled
@pytest.mark.parametrize("evaluator", EVALUATORS.values(), ids=EVALUATORS)
@pytest.mark.parametrize(
    ("settings", "count"),
    [
        ({"depth": 3}, 500),
        ({"depth": 3, "cutoff": 0.01}, 100),
        ({"depth": 3, "fours": 3}, 100),
        ({"depth": 4}, 24),
        ({"depth": 6, "cutoff": 0.005}, 24),
    ],
    ids=str,
)
def test_the_best_move_and_its_value_are_those_of_the_whole_search(evaluator, settings, count):
    agent = make_agent("expectimax").model_copy(update=settings | {"evaluator": evaluator})
    fewer = sum(assert_same_best(agent, board) for board in positions(count))
    assert fewer > 0 or evaluator not in TIGHT


def test_only_all_and_best_can_be_asked_for():
    with pytest.raises(T48Error, match="values must be 'all' or 'best', got 'worst'"):
        make_agent("expectimax").search("0x0000000000000012", values="worst")


def test_a_crowded_position():
    assert_same_best(make_agent("expectimax:depth=3,cutoff=0.05,evaluator=classic"), 0xBA87653442132101)


@pytest.mark.compiled
@pytest.mark.parametrize(
    "rules", [Rules(), Rules(rows=3, cols=3), *(Rules(four_probability=p) for p in (0.0, 0.4, 1.0))], ids=str
)
def test_games_play_the_moves_of_the_whole_search(rules):
    agent = make_agent("expectimax:depth=3,evaluator=classic")
    for moment in itertools.islice(replay(play(agent, seed=5, rules=rules)), 400):
        if moment.action is not None:
            assert moment.action == agent.search(moment.board, rules).best


@pytest.mark.parametrize("evaluator", ["classic", "tuned"])
def test_no_board_is_worth_more_than_its_bound(evaluator):
    program = make_agent(f"expectimax:depth=3,evaluator={evaluator}").compile(Rules())
    start = program.settings[SETTINGS.BOUNDS]
    for board in positions(2000) if JIT else [0xBA87653442132101]:
        worth = evaluate(np.uint64(board), program.lines, program.extra, program.rules[RULES.MASK])
        assert worth <= most(tile_sum(np.uint64(board)), start, program.lines)


def test_bounds_past_the_known_sums_follow_from_pairs():
    program = make_agent("expectimax:depth=3,evaluator=classic").compile(Rules())
    bounds = program.lines[program.settings[SETTINGS.BOUNDS] :]
    rows, columns, known = np.split(bounds, [TABLE, 2 * TABLE])
    assert len(known) == KNOWN
    for total in (1, 6, 700, KNOWN - 1):
        fours = [(pairs[: total + 1].astype(np.int64) + pairs[total::-1]).max() for pairs in (rows, columns)]
        assert known[total] == sum(fours)


@pytest.mark.parametrize("total", [2, 3, 5])
def test_best_pairs_are_the_best_of_all_pairs(total):
    program = make_agent("expectimax:depth=2,evaluator=classic").compile(Rules())
    small = [line for line in range(TABLE) if tile_sum(np.uint64(line)) <= total]
    worth = {line: int(program.lines[line]) for line in small}
    sums = {line: tile_sum(np.uint64(line)) for line in small}
    best = max(worth[a] + worth[b] for a in small for b in small if sums[a] + sums[b] == total)
    assert best_pairs(program.lines, np.uint64(0))[total] == best


@pytest.mark.parametrize("spec", ["leaf=state", "full_leaf=true", "evaluator=d_final", "evaluator=a"])
def test_searches_without_bounds_have_no_tables_for_them(spec):
    assert make_agent(f"expectimax:depth=3,{spec}").compile(Rules()).settings[SETTINGS.BOUNDS] == 0

"""Boards on which no rank is unused: sixteen tiles, of which at most the two largest are equal."""

import numpy as np
import pytest

from t48lab import Board, Expectimax, Greedy, Minimax, Rules, get_evaluator, make_agent, play
from t48lab.agents.plain import PlainAgent
from t48lab.commands.advise import advice
from t48lab.kernels import bitboard, exact
from tests import reference

U = np.uint64
PAIRS = ("ffedcba987654321", "ggfedcba98765432", "hhgfedcba9876543", "hhgfedcba9876421")
SPECS = (
    "random",
    "priority:order=up/left/down/right",
    "greedy",
    "greedy:evaluator=tuned",
    "expectimax:depth=1,evaluator=classic",
    "expectimax:depth=3",
    "expectimax:nodes=500",
    "minimax:depth=3,evaluator=classic",
    "minimax:depth=2,table=false",
    "mcts:simulations=20",
    "mcts:simulations=20,chance=open,reuse=true",
    "bestfirst:nodes=200",
    "bestfirst:mode=published,depth=2",
    "system_d",
)


def turned(text):
    """The board with its two largest tiles side by side, one above the other, and apart."""
    board = Board.parse(text)
    ranks = board.hex
    apart = ranks[0] + ranks[2:] + ranks[1]
    return [board, Board.parse(text[::-1]), board.symmetries()[1]], Board.parse(apart)


@pytest.mark.parametrize("spec", SPECS)
def test_every_agent_finds_the_merge_of_the_two_largest(spec):
    agent = make_agent(spec)
    for text in PAIRS:
        boards, apart = turned(text)
        for board in boards:
            found = agent.search(board)
            assert found.best in board.legal_moves
            assert {name for name, value in found.values.items() if value is not None} <= set(board.legal_moves)
            assert advice(board, spec, found)["moves"][found.best]["legal"]
        assert apart.legal_moves == ()
        assert agent.search(apart).best is None


@pytest.mark.parametrize("board", turned(PAIRS[0])[0], ids=str)
@pytest.mark.parametrize("name", ["classic", "tuned", "a"])
def test_searches_are_exact_there(board, name):
    """A move is worth the mean, or the least, over its two spawns of what a search of one move less finds."""
    evaluator = get_evaluator(name)
    for direction in board.legal_moves:
        after = board.move(direction).afterstate
        ways = [(0.9 if tile == 2 else 0.1, spawned) for *_, tile, spawned in after.spawns()]
        leaf = Expectimax(depth=1, evaluator=name).search(board).values[direction]
        assert leaf == evaluator.value(after) == Minimax(depth=1, evaluator=name).search(board).values[direction]
        for depth in (2, 3, 4):
            for kind, together in ((Expectimax, sum), (Minimax, min)):
                shallow = kind(depth=depth - 1, evaluator=name)
                worth = [value_of(shallow, spawned, evaluator) for _, spawned in ways]
                parts = [p * v for (p, _), v in zip(ways, worth, strict=True)] if together is sum else worth
                found = kind(depth=depth, evaluator=name).search(board).values[direction]
                assert found == pytest.approx(together(parts), rel=1e-12)


def value_of(agent, board, evaluator):
    found = agent.search(board)
    return evaluator.lost_value(board) if found.best is None else found.values[found.best]


def test_values_in_points_are_those_of_the_merge():
    for text in PAIRS:
        board = Board.parse(text)
        assert Greedy().search(board).values == {"up": None, "right": 65536.0, "down": None, "left": 65536.0}
        values = make_agent("mcts:simulations=50").search(board).values
        assert all(65536 <= value < 70_000 for value in values.values() if value is not None)


class Leftward(PlainAgent):
    """Moves left where it can."""

    name = "leftward_test"

    def values(self, board):
        return {name: float(name == "left") for name in board.legal_moves}


@pytest.mark.parametrize("spec", SPECS)
def test_the_game_goes_on_past_the_merge(spec):
    """The loop plays the merge of two 32768s, two 65536s, two 131072s, and scores what it makes."""
    from t48lab.games import chunks
    from t48lab.kernels import gameloop
    from t48lab.kernels.layout import END, ROW

    agent = make_agent(spec)
    program = agent.compile(Rules())
    for text in PAIRS:
        board = Board.parse(text)
        low, high = (U(plane) for plane in board.planes)
        row, log, cancel = np.zeros(ROW.SIZE, np.int64), np.zeros(4_000, np.uint8), np.zeros(1, np.int64)
        streams = [np.array([seed], np.uint64) for seed in (3, 4)]
        search, arrays = chunks.load(program.kernel).search, chunks.cleared(program)
        gameloop.play_game(search, search, 0, arrays, arrays, *streams, low, high, 0, 0, row, log, cancel)
        assert row[ROW.MOVES] >= 1
        assert row[ROW.ENDED] == END.OVER
        assert 1 << row[ROW.MAX_RANK] >= 2 * board.max_tile


def test_only_full_boards_with_an_equal_pair_on_top_join():
    """Of every board of 16 tiles that a permutation of ranks makes, and of all others: none without that pair joins."""
    chance = np.random.default_rng(7)
    pairs = [sorted(Board.parse(text).ranks().flat) for text in PAIRS]
    others = [list(range(2, 18)), list(range(1, 17)), [0, *range(1, 15), 15], [1, *range(1, 16)], [16] * 16]
    for ranks, expected in [*((ranks, True) for ranks in pairs), *((ranks, False) for ranks in others)]:
        for _ in range(20):
            board = Board._of(chance.permutation(ranks).reshape(4, 4))
            low, high = (U(plane) for plane in board.planes)
            seen = U(exact.ranked_down(low, high))
            assert exact.joins(seen, low, high) == expected
            tables = bitboard.build_moves()[bitboard.JOINING :] if expected else bitboard.build_moves()
            legal = bitboard.legal(seen, tables)
            assert [d for d in range(4) if legal >> d & 1] == reference.legal(tuple(map(tuple, board.ranks().tolist())))


def test_joining_tables_differ_only_where_two_15s_meet():
    tables = bitboard.build_moves().reshape(2, 3, 65536)
    lines = np.flatnonzero((tables[0] != tables[1]).any(axis=0))
    cells = np.stack([(lines >> shift) & 15 for shift in (12, 8, 4, 0)])
    assert len(lines) > 0
    assert ((cells == 15).sum(axis=0) >= 2).all()
    assert (tables[1][0][0xFF21], tables[1][1][0xFF21], tables[1][0][0xFFFF]) == (0xF210, 0x0F21, 0xFF00)


def test_plain_agents_go_on_too():
    found = Leftward().search(PAIRS[0])
    assert (found.best, play(Leftward(), seed=1).ended) == ("left", "no legal move")

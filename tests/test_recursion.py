"""Every search that looks ahead against plain recursion, with its table and without, by every evaluator.

`T48LAB_POSITIONS=20000` looks at so many positions, each by one evaluator.
"""

import itertools
import os
from functools import cache

import numpy as np
import pytest
from reference import FOUR
from reference_recursion import WORST, Game, after_moves, empty, root_values, worst_spawn

from t48lab import AdversarialSpawner, BestFirst, Evaluator, Expectimax, Greedy, Minimax, Rules, play
from t48lab.compiled import load
from t48lab.evaluators import PRESETS
from t48lab.games import replay
from t48lab.kernels.layout import EXTRA, OUT, RULES, SETTINGS
from t48lab.kernels.lines import evaluate

pytestmark = pytest.mark.compiled

U = np.uint64
POSITIONS = int(os.environ.get("T48LAB_POSITIONS", "270"))
MOST_EMPTY = {1: 9, 2: 6, 3: 3, 4: 1}
"""Boards with more empty cells than this are too many to search to a depth by recursion."""

CLASSIC = PRESETS["classic"].terms
TELLING = tuple(
    U(int(board, 16))
    for board in (
        "2311453521325869", "9421630329634135", "0224224635271678", "3438035601251052", "8caf7bbae8b7ad0f",
        "1162235712460034",
    )
)  # fmt: skip
"""Boards on which a bound that is stored wrongly at a floor is met again, by one evaluator with a floor or more."""

OWN = {
    "a high floor": Evaluator(terms=CLASSIC, lost=1_100_000.0, floor=True),
    "a low floor": Evaluator(terms={"roughness": -1.0, "empty": 9.0}, lost=-3000.0, floor=True),
    "a floor and a corner": Evaluator(terms={"corner_largest": 2.0, "smoothness": 30.0}, lost=-900.0, floor=True),
    "a floor and full boards": Evaluator(terms={"heat": -5.0, "rank_sum": 1.0}, lost=150.0, full=-70.0, floor=True),
    "lost is evaluated": Evaluator(terms=CLASSIC, lost="evaluation"),
    "lost is worth most": Evaluator(terms=CLASSIC, lost=2_000_000.0),
}
EVALUATORS = dict(PRESETS) | OWN
by_every_evaluator = pytest.mark.parametrize("evaluator", EVALUATORS)
with_both_leaves = pytest.mark.parametrize("leaf", ["afterstate", "state"])


class Search:
    """A compiled search on arrays of its own, the same table for all its calls as in one long game."""

    def __init__(self, record, **settings):
        self.program = record.compile(Rules())
        self.kernel = load(self.program.kernel)
        self.arrays = self.program.agent()._replace(memory=np.zeros(self.program.memory_words, U))
        self.settings = self.arrays.settings
        for name, number in {"GENERATION": 1, **settings}.items():
            self.settings[getattr(SETTINGS, name)] = number
        self.out = np.zeros(OUT.SIZE)
        self.scale = 2.0 ** -int(self.program.extra[EXTRA.SHIFT])

    def __call__(self, board, depth, place=SETTINGS.DEPTH):
        """The answer and the four values of a search to a depth."""
        self.settings[place] = depth
        return self.kernel.search(board, self.arrays, np.zeros(1, U), self.out), self.out[:4].copy()


class Twin:
    """The recursion with an evaluator's numbers, which are fixed-point; its answers are scaled back."""

    def __init__(self, evaluator, **rules):
        lines, extra = evaluator.compile(Rules())
        self.tables = lines, extra, Rules().arrays()[1][RULES.MASK]
        self.scale = 2.0 ** -int(extra[EXTRA.SHIFT])
        evaluated = evaluator.lost == "evaluation"
        lost = 0.0 if evaluated else round(evaluator.lost / self.scale)
        floor = {"floor": float(lost)} if evaluator.floor else {}
        self.game = Game(lost=float(lost), lost_is_evaluation=evaluated, **floor | rules)

    def __call__(self, recursion, board, depth):
        """What a recursion finds; a pair for spawns."""
        found = recursion(board, depth, self.game, evaluate, self.tables)
        return (found[0], found[1] * self.scale) if isinstance(found, tuple) else found * self.scale


def packed(cells):
    return U(int("".join(f"{int(rank):x}" for rank in cells), 16))


def crowded(count):
    """Boards at random: few tiles, all tiles, or large ones only."""
    rng = np.random.default_rng(48)
    for i in range(count):
        low, high = ((1, 4), (1, 8), (1, 16), (7, 16))[i % 4]
        cells = rng.integers(low, high, 16)
        cells[: rng.choice([0, 1, 2, 3, 5, 8])] = 0
        yield packed(rng.permutation(cells))


def late(count):
    """Positions of the last moves of games, from players of several strengths."""
    rng, specs = np.random.default_rng(49), ("expectimax:depth=1", "greedy", "expectimax:depth=1,evaluator=classic")
    games = (play(specs[i % 3], seed=i) for i in itertools.count())
    ends = ([moment.board.low for moment in replay(game)][-40:] for game in games)
    boards = (U(board) for end in ends for board in rng.permutation(end)[:20].tolist())
    yield from itertools.islice(boards, count)


@cache
def boards():
    """All boards but the telling ones, those at random and those of games by turns."""
    return [board for pair in zip(crowded(-(-POSITIONS // 2)), late(-(-POSITIONS // 2)), strict=True) for board in pair]


def positions(evaluator):
    """The telling boards and an evaluator's share of the others, each with the depths that recursion reaches."""
    share = boards()[list(EVALUATORS).index(evaluator) : POSITIONS : len(EVALUATORS)]
    for board in (*TELLING, *share):
        yield board, [depth for depth, most in MOST_EMPTY.items() if empty(board) <= most]


def first_best(values):
    """The first direction of the best value or one within 1e-12 of it, -1 when none is legal."""
    best = np.nanmax(values, initial=-np.inf)
    return next((d for d in range(4) if values[d] >= best - 1e-12 * abs(best)), -1)


@by_every_evaluator
@with_both_leaves
def test_minimax(evaluator, leaf):
    searches = [Search(Minimax(depth=4, evaluator=EVALUATORS[evaluator], leaf=leaf, table=t)) for t in (True, False)]
    twin = Twin(EVALUATORS[evaluator], four=WORST, leaf_state=leaf == "state")
    for board, depths in positions(evaluator):
        for depth in depths:
            expected = twin(root_values, board, depth)
            for search in searches:
                best, values = search(board, depth)
                np.testing.assert_array_equal(values, expected, f"{board:016x} {depth}")
                assert best == first_best(expected)


@by_every_evaluator
@with_both_leaves
def test_expectimax(evaluator, leaf):
    """As every value, and as the best one, which rounding may decide where two are equal."""
    searches = [
        Search(Expectimax(depth=4, evaluator=EVALUATORS[evaluator], leaf=leaf, table=table), BEST_ONLY=best_only)
        for table in (True, False)
        for best_only in (0, 1)
    ]
    twin = Twin(EVALUATORS[evaluator], four=0.1, leaf_state=leaf == "state")
    close = {"rtol": 1e-9, "atol": 16 * twin.scale}
    for board, depths in positions(evaluator):
        for depth in depths:
            expected = twin(root_values, board, depth)
            most = np.nanmax(expected, initial=-np.inf)
            for search in searches:
                best, values = search(board, depth)
                told = f"{board:016x} {depth}"
                assert (best < 0) == np.isnan(expected).all()
                if best >= 0:
                    np.testing.assert_allclose([values[best], expected[best]], most, err_msg=told, **close)
                if not search.settings[SETTINGS.BEST_ONLY]:
                    np.testing.assert_allclose(values, expected, err_msg=told, **close)


@by_every_evaluator
def test_expectimax_with_full_boards_as_leaves(evaluator):
    search = Search(Expectimax(depth=4, evaluator=EVALUATORS[evaluator], leaf="state", full_leaf=True))
    twin = Twin(EVALUATORS[evaluator], four=0.1, leaf_state=True, full_is_leaf=True)
    for board, depths in positions(evaluator):
        for depth in depths[:3]:
            expected = twin(root_values, board, depth)
            np.testing.assert_allclose(search(board, depth)[1], expected, rtol=1e-9, atol=16 * twin.scale)


@by_every_evaluator
def test_the_adversary(evaluator):
    record = AdversarialSpawner(depth=3, evaluator=EVALUATORS[evaluator])
    searches, twin = [Search(record, USE_TABLE=use) for use in (1, 0)], Twin(EVALUATORS[evaluator], four=WORST)
    for board, depths in positions(evaluator):
        for depth in range(len(depths)) if empty(board) else ():
            expected = twin(worst_spawn, board, depth)
            for search in searches:
                spawn, values = search(board, depth)
                assert (spawn, values[0]) == expected, f"{board:016x} {depth}"


@by_every_evaluator
def test_the_published_expectation(evaluator):
    search = Search(BestFirst(mode="published", evaluator=EVALUATORS[evaluator]))
    twin = Twin(EVALUATORS[evaluator].model_copy(update={"floor": False}), four=FOUR / 2**32, leaf_state=True)
    for board, depths in positions(evaluator):
        for depth in depths[:3]:
            expected = twin(after_moves, board, depth)
            _, values = search(board, depth, SETTINGS.HORIZON)
            np.testing.assert_allclose(values, expected, rtol=1e-9, atol=16 * twin.scale)


@by_every_evaluator
def test_greedy(evaluator):
    search, twin = Search(Greedy(evaluator=EVALUATORS[evaluator])), Twin(EVALUATORS[evaluator], four=WORST)
    for board, _ in positions(evaluator):
        expected = twin(root_values, board, 1)
        best, values = search(board, 1, SETTINGS.BY)
        np.testing.assert_array_equal(values, expected)
        assert best == first_best(expected)


@pytest.mark.parametrize("table", [True, False])
@pytest.mark.parametrize(
    ("board", "evaluator", "depth", "leaf", "best"),
    [
        ("2311453521325869", "classic", 3, "afterstate", "left"),
        ("9421630329634135", "classic", 4, "afterstate", "down"),
        ("0224224635271678", "classic", 4, "afterstate", "down"),
        ("3438035601251052", "a floor and a corner", 3, "state", "right"),
    ],
)
def test_a_floor_that_is_enough_says_nothing_of_the_boards_below_it(board, evaluator, depth, leaf, best, table):
    found = Minimax(depth=depth, evaluator=EVALUATORS[evaluator], leaf=leaf, table=table).search(board)
    twin = Twin(EVALUATORS[evaluator], four=WORST, leaf_state=leaf == "state")
    assert list(found.values.values()) == twin(root_values, U(int(board, 16)), depth).tolist()
    assert found.best == best

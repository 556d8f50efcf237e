"""Kinds that the lab does not know: an evaluator of another form and a compiled agent, each added from outside."""

import importlib
import sys
from typing import ClassVar

import numpy as np
import pytest

from t48lab import AGENTS, Board, Evaluator, Rules, T48Error, get_evaluator, make_agent, play
from t48lab.agents import decision_tree
from t48lab.commands.cli import status
from t48lab.evaluators import EVALUATORS, BaseEvaluator, Compiled
from t48lab.experiments import duel, equal_time
from t48lab.families import COLORS, family_color
from t48lab.kernels import layout as at
from t48lab.records import parameter
from t48lab.studies.spaces import free_parameter, placed

BOARD = Board.parse("2 4 8 16 / 16 32 64 128 / 4 4 256 512 / 0 2 8 1024")
OVER = "2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 2"
TERMS = Evaluator(terms={"empty": 3.0, "corner": {"weight": 3.0, "exponent": 2.0}})


@pytest.fixture(autouse=True)
def _forget():
    registries = [(registry, dict(registry)) for registry in (AGENTS, COLORS, EVALUATORS)]
    yield
    for registry, before in registries:
        registry.clear(), registry.update(before)


def define():
    class Guess(BaseEvaluator):
        """Some terms by one number, written down as that number alone."""

        kind: ClassVar[str] = "guess"
        suffix: ClassVar[str] = ".guess"
        scale: float = parameter(1.0, "what everything counts", ge=-100, le=100)

        @classmethod
        def from_file(cls, path):
            with open(path, encoding="utf-8") as file:
                return cls(scale=float(file.read()))

        def is_for(self, rules):
            return rules.rows == rules.cols

        def tables(self, rows, cols):
            terms = {name: {"weight": self.scale * t.weight, "exponent": t.exponent} for name, t in TERMS.terms.items()}
            return Evaluator(terms=terms).tables(rows, cols)

    return Guess


def define_corners():
    class Corners(BaseEvaluator):
        """One table over the four corner cells: what each rank counts there, and more when all four differ."""

        kind: ClassVar[str] = "corners"
        worth: float = parameter(1.0, "what a rank counts", ge=0, le=100)
        varied: float = parameter(8.0, "what four different ranks count", ge=0, le=100)

        def is_for(self, rules):
            return (rules.rows, rules.cols) == (4, 4)

        def tables(self, rows, cols):
            ranks = np.sort(np.stack([np.arange(at.TABLE) >> shift & 15 for shift in (12, 8, 4, 0)]), axis=0)
            entries = self.worth * ranks.sum(axis=0) + self.varied * (np.diff(ranks, axis=0) > 0).all(axis=0)
            extra = np.zeros(at.EXTRA.BLOCKS + at.BLOCK.SIZE, np.int64)
            extra[at.EXTRA.CLASS], extra[at.EXTRA.FORM] = at.CLASS.WHOLE_BOARD, at.FORM.CELLS
            extra[at.EXTRA.LOST_KIND], extra[at.EXTRA.SHIFT] = 1, 10
            extra[at.EXTRA.BLOCKS + at.TUPLES.COUNT] = 1
            corners = extra[at.EXTRA.BLOCKS + at.TUPLES.TUPLES :]
            corners[at.TUPLES.LENGTH] = 4
            corners[at.TUPLES.BITS : at.TUPLES.BITS + 4] = 60, 48, 12, 0
            return Compiled(np.rint(entries * 2**10).astype(np.int32), extra)

    return Corners


def corner_value(board):
    ranks = sorted(int(rank) for rank in board.ranks()[[0, 0, 3, 3], [0, 3, 0, 3]])
    return sum(ranks) + 8.0 * (len(set(ranks)) == 4)


@pytest.mark.parametrize(("depth", "leaf"), [(1, "afterstate"), (1, "state"), (2, "afterstate")])
def test_a_table_over_cells_is_searched_as_its_definition_says(depth, leaf):
    corners = define_corners()()
    assert corners.value(BOARD) == corner_value(BOARD) == 1 + 4 + 0 + 10 + 8

    def player(board, left):
        if left == 0 or board.is_over:
            return corner_value(board)
        return max(chance(board.move(name).afterstate, left) for name in board.legal_moves)

    def chance(after, left):
        if left == 1 and leaf == "afterstate":
            return corner_value(after)
        shares = {2: 0.9 / after.empty_count, 4: 0.1 / after.empty_count}
        return sum(shares[tile] * player(board, left - 1) for _, _, tile, board in after.spawns())

    found = AGENTS["expectimax"](depth=depth, leaf=leaf, evaluator=corners).search(BOARD)
    for name in BOARD.legal_moves:
        assert found.values[name] == pytest.approx(chance(BOARD.move(name).afterstate, depth))


@pytest.mark.parametrize("name", ["greedy", "minimax", "bestfirst", "mcts"])
def test_a_table_over_cells_guides_every_search(name):
    corners = define_corners()()
    agent = AGENTS[name](evaluator=corners, **dict(SEARCHES)[name])
    found = agent.search(BOARD)
    assert found.best in BOARD.legal_moves
    assert make_agent(agent.spec) == agent
    assert decision_tree(agent, BOARD)["best"] == found.best
    if name == "greedy":
        assert found.values[found.best] == max(corner_value(BOARD.move(move).afterstate) for move in BOARD.legal_moves)


SEARCHES = [
    ("greedy", {"by": "evaluator"}),
    ("expectimax", {"depth": 2}),
    ("minimax", {"depth": 1}),
    ("bestfirst", {"nodes": 100}),
    ("mcts", {"simulations": 20, "rollout_limit": 2}),
]


@pytest.mark.parametrize(("name", "more"), SEARCHES)
def test_every_search_takes_another_kind_of_evaluator(name, more):
    guess = define()(scale=1.0)
    agent = AGENTS[name](evaluator=guess, **more)
    known = AGENTS[name](evaluator=TERMS, **more).search(BOARD)
    found = agent.search(BOARD)
    assert (found.best, found.values, found.nodes) == (known.best, known.values, known.nodes)
    assert decision_tree(agent, BOARD)["best"] == found.best
    again = make_agent(agent.spec)
    assert again == agent
    assert hash(again) == hash(agent)
    assert again.key() == agent.key() != AGENTS[name](evaluator=TERMS, **more).key()
    assert agent.resolved()["evaluator"] == {"kind": "guess", "scale": 1.0}
    assert '{"kind":"guess"}' in agent.spec
    assert "own-" in agent.label


def test_another_kind_answers_what_is_asked_of_an_evaluator(tmp_path, capsys):
    guess = define()(scale=2.0)
    assert guess.value(BOARD) == 2 * TERMS.value(BOARD)
    assert guess.explain(BOARD) == {"guess": guess.value(BOARD)}
    assert guess.lost_value(OVER) == guess.value(OVER)
    assert guess.compile() is guess.compile()
    (tmp_path / "two.toml").write_text(guess.to_toml())
    (tmp_path / "two.guess").write_text("2.0")
    assert get_evaluator(tmp_path / "two.guess").scale == get_evaluator(tmp_path / "two.toml").scale == 2.0
    assert status(["advise", BOARD.hex, "--agent", f"greedy:evaluator={tmp_path / 'two.guess'}"]) == 0
    assert "greedy" in capsys.readouterr().out


def test_what_does_not_fit_another_kind_is_refused(tmp_path):
    guess = define()(scale=2.0)
    with pytest.raises(T48Error, match="is not for boards of 3x4, take another one"):
        guess.compile(Rules(rows=3))
    with pytest.raises(T48Error, match="scale must be a number, got 'x'"):
        make_agent('greedy:evaluator={"kind":"guess","scale":"x"}')
    with pytest.raises(T48Error, match="no kind of evaluator 'gues', did you mean 'guess'"):
        make_agent('greedy:evaluator={"kind":"gues"}')
    (tmp_path / "two.toml").write_text(guess.to_toml())
    with pytest.raises(T48Error, match=r"two.toml: an evaluator of kind 'terms' is wanted, got one of kind 'guess'"):
        Evaluator.from_toml(tmp_path / "two.toml")
    agent = AGENTS["expectimax"](evaluator=guess)
    for name in ("empty.weight", "lost"):
        with pytest.raises(T48Error, match=f"{name}.*of kind guess, nothing in it can be tuned"):
            free_parameter(name, True, agent)
    assert placed(agent, {"depth": 2}).evaluator == guess


KERNEL = '''"""The search of another kernel under a name of its own."""

from t48lab.kernels.minimax import search

__all__ = ["search"]
'''
KIND = '''"""A compiled agent in a file of its own."""

from typing import ClassVar

from t48lab import Minimax


class Wary(Minimax):
    """Minimax under another name."""

    name: ClassVar[str] = "wary"
    color: ClassVar[str] = "#F0E442"
    kernel: ClassVar[str] = "visitors.kernel"
'''


@pytest.fixture
def wary(tmp_path, monkeypatch):
    folder = tmp_path / "visitors"
    folder.mkdir()
    for name, text in (("__init__", '"""Kinds from outside."""\n'), ("kernel", KERNEL), ("wary", KIND)):
        (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("visitors.wary").Wary
    for name in [name for name in sys.modules if name.startswith("visitors")]:
        del sys.modules[name]


def test_a_compiled_agent_from_outside_is_found_everywhere(wary):
    assert AGENTS["wary"] is wary
    agent = make_agent("wary:depth=1")
    known = make_agent("minimax:depth=1")
    assert agent.search(BOARD).values == known.search(BOARD).values
    assert agent.key() != known.key()
    assert family_color("wary 1") == family_color(agent.spec) == "#F0E442"
    trees = [decision_tree(player.changed(depth=2), BOARD) for player in (agent, known)]
    assert trees[0]["moves"] == trees[1]["moves"]
    assert any(move["spawns"] for move in trees[0]["moves"])
    assert (
        play(agent, seed=3, rules=Rules(rows=2, cols=2)).score == play(known, seed=3, rules=Rules(rows=2, cols=2)).score
    )


@pytest.mark.compiled
def test_a_compiled_agent_from_outside_meets_another_at_equal_time(wary):
    first, second = equal_time("wary:depth=1", "expectimax:depth=1", ms=0.1)
    assert (first.seconds, first.nodes, first.depth) == (1e-4, None, 16)
    assert duel(first, second, games=20, workers=1).deals <= 20

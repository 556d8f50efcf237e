"""Terms that a user defines: they enter evaluators, searches and specs, and a name keeps one meaning."""

import numpy as np
import pytest

from t48lab import Board, Evaluator, Expectimax, T48Error, line_term, make_agent
from t48lab.evaluators import TERMS

BOARD = Board.parse("2 2 4 8 / 0 16 0 0 / 64 0 2 4 / 0 0 0 128")


@pytest.fixture(autouse=True)
def _forget():
    before = dict(TERMS)
    yield
    TERMS.clear()
    TERMS.update(before)


def edge_ranks(ranks):
    """The ranks at both ends of a line."""
    return (ranks[:, 0] + ranks[:, -1]).astype(float)


def test_own_term_is_valued_and_searched():
    line_term("own_edges")(edge_ranks)
    evaluator = Evaluator(terms={"own_edges": 2.0})
    ranks = BOARD.ranks()
    expected = 2.0 * sum(edge_ranks(lines).sum() for lines in (ranks, ranks.T))
    assert evaluator.value(BOARD) == expected == evaluator.explain(BOARD)["own_edges"]
    agent = Expectimax(depth=2, evaluator=evaluator)
    assert make_agent(agent.spec).search(BOARD).values == agent.search(BOARD).values
    assert TERMS["own_edges"].meaning == "The ranks at both ends of a line."
    assert TERMS["own_edges"].symmetric


def test_own_term_with_an_exponent():
    line_term("own_powers", exponent=2.0)(lambda ranks, exponent: (ranks.astype(float) ** exponent)[:, 0])
    evaluator = Evaluator(terms={"own_powers": {"weight": 1.0, "exponent": 3.0}})
    ranks = BOARD.ranks()
    assert evaluator.value(BOARD) == (ranks[:, 0] ** 3).sum() + (ranks[0] ** 3).sum()
    assert not TERMS["own_powers"].symmetric


def test_a_name_keeps_its_definition():
    line_term("own_edges")(edge_ranks)
    line_term("own_edges")(lambda ranks: edge_ranks(ranks))
    with pytest.raises(T48Error, match=r"own_edges.*another definition, choose another name"):
        line_term("own_edges")(lambda ranks: 2 * edge_ranks(ranks))
    with pytest.raises(T48Error, match=r"largest.*choose another name"):
        line_term("largest")(edge_ranks)


@pytest.mark.parametrize("wrong", [lambda ranks: 1.0, lambda ranks: ranks, lambda ranks: np.log(np.zeros(len(ranks)))])
def test_wrong_shapes_and_infinities_are_refused(wrong):
    with np.errstate(divide="ignore"), pytest.raises(T48Error, match=r"one number for each line|a finite number is"):
        line_term("own_wrong")(wrong)
    with pytest.raises(T48Error, match="a term's name is letters"):
        line_term("own-wrong")


@pytest.mark.parametrize("number", [-np.inf, np.inf, np.nan])
def test_a_term_that_is_not_finite_is_told_where(number):
    def wrong(ranks):
        return np.where((ranks == [3, 0, 0, 1]).all(axis=1), number, 1.0)

    with pytest.raises(T48Error, match=f"term 'own_wrong' gives {number} for the line of ranks 3 0 0 1, a finite"):
        line_term("own_wrong")(wrong)

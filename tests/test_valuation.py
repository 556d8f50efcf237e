"""Exact values of agents against the distribution of every game, and against samples."""

import pytest
import reference_exact
from reference import legal

from t48lab import Board, PlainAgent, Rules, T48Error, exact_value, make_agent, play_batch
from t48lab.board import DIRECTIONS

TINY = Rules(rows=2, cols=2)
DETERMINED = ["priority", "greedy", "greedy:evaluator=tuned", "expectimax:depth=1", "minimax:depth=1"]


class Upward(PlainAgent):
    """Likes directions in their order."""

    name = "test-upward"

    def values(self, board):
        return {name: -DIRECTIONS.index(name) for name in board.legal_moves}


@pytest.fixture
def home(tmp_path):
    return tmp_path


def close(value):
    return pytest.approx(value, rel=1e-9, abs=1e-12)


def twin(rules, choose):
    """(mean, variance, chance of each rank or more) of the score of play that a function chooses."""
    known, ends = reference_exact.distribution(rules.four_probability, choose), {}
    for p, board in reference_exact.starts(rules.rows, rules.cols, rules.four_probability):
        for end, q in known(board).items():
            ends[end] = ends.get(end, 0.0) + p * q
    mean = sum(p * score for (score, _), p in ends.items())
    variance = sum(p * (score - mean) ** 2 for (score, _), p in ends.items())
    return mean, variance, lambda rank: sum(p for (_, top), p in ends.items() if top >= rank)


def assert_is(value, expected):
    mean, variance, reaches = expected
    assert value.mean == close(mean)
    assert value.variance == close(variance)
    assert {tile: close(reaches(tile.bit_length() - 1)) for tile in value.tiles} == value.tiles


def moves_of(agent, rules):
    def choose(board):
        tiles = [[1 << rank if rank else 0 for rank in row] for row in board]
        best = agent.search(Board.from_array(tiles), rules).best
        return [DIRECTIONS.index(best)] if best else []

    return choose


@pytest.mark.parametrize("four", [0.1, 0.0, 1.0])
def test_random_play_as_the_twin_finds_it(home, four):
    rules = Rules(rows=2, cols=2, four_probability=four)
    value = exact_value("random", rules, folder=home)
    assert_is(value, twin(rules, legal))
    assert sorted(value.tiles) == [2**rank for rank in range(2, 5 if four == 0 else 6)]


@pytest.mark.parametrize("spec", [*DETERMINED, "bestfirst:mode=published,depth=1", Upward()])
def test_agents_as_the_twin_finds_them(home, spec):
    agent = make_agent(spec)
    value = exact_value(agent, TINY, folder=home)
    assert_is(value, twin(TINY, moves_of(agent, TINY)))
    assert list(home.glob("*.t48")) == []


@pytest.mark.compiled
@pytest.mark.parametrize("spec", ["priority", "expectimax:depth=2", "expectimax:depth=3", "minimax:depth=2"])
def test_samples_agree_with_exact_values(home, spec):
    rules, games = Rules(rows=2, cols=3), 4000
    value = exact_value(spec, rules, folder=home)
    scores = play_batch(spec, games, rules=rules)
    assert abs(scores["score"].mean() - value.mean) < 4 * (value.variance / games) ** 0.5
    assert scores["score"].var() == pytest.approx(value.variance, rel=0.15)
    for tile, p in value.tiles.items():
        assert abs((scores["max_tile"] >= tile).mean() - p) < 4 * (p * (1 - p) / games) ** 0.5 + 1e-9


@pytest.mark.slow
@pytest.mark.compiled
def test_samples_agree_on_3x3_where_tiles_are_driven_into_the_last_corner(home):
    rules, spec, games = Rules(rows=3, cols=3), "priority:order=down/right/left/up", 20_000
    value, scores = exact_value(spec, rules, folder=home), play_batch(spec, games, rules=rules)["score"]
    assert abs(scores.mean() - value.mean) < 4 * (value.variance / games) ** 0.5
    assert value.tiles[4] == close(1.0)


@pytest.mark.compiled
def test_threads_and_interruptions_change_no_bit(home, monkeypatch):
    rules, spec = Rules(rows=2, cols=3), "expectimax:depth=2"
    whole, calls = exact_value(spec, rules, workers=1, folder=home), []
    assert exact_value(spec, rules, workers=2, folder=home) == whole
    from t48lab.agents import valuation

    chosen = valuation._chosen

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == 40:
            raise KeyboardInterrupt
        return chosen(*arguments)

    monkeypatch.setattr(valuation, "_chosen", interrupted)
    with pytest.raises(KeyboardInterrupt):
        exact_value(spec, rules, workers=2, folder=home)
    assert exact_value(spec, rules, workers=2, folder=home) == whole
    assert len(calls) == len(range(4, 254, 2)) + 1


@pytest.mark.compiled
def test_no_agent_scores_more_than_the_solution(home):
    from t48lab import solve

    rules = Rules(rows=2, cols=3)
    best, guaranteed = solve(rules, folder=home).expected, solve(rules, "adversary", folder=home).expected
    values = [exact_value(spec, rules, folder=home).mean for spec in ("random", "expectimax:depth=1", "expectimax")]
    assert guaranteed < values[0] < values[1] < values[2] < best
    assert best == close(480.2582717759579)


@pytest.mark.parametrize(
    "spec", ["mcts", "bestfirst", "expectimax:seconds=0.1", "expectimax:nodes=100", "minimax:nodes=100"]
)
def test_play_that_depends_on_more_than_the_position_is_refused(home, spec):
    with pytest.raises(T48Error, match="has no exact value: it draws, or a limit stops its search; play_batch"):
        exact_value(spec, TINY, folder=home)


def test_a_large_board_is_refused(home):
    with pytest.raises(T48Error, match=r"4x4 has about .* positions"):
        exact_value("priority", Rules(), folder=home)

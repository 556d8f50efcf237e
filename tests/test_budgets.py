"""What thinking longer buys: curves and the gain of each doubling, on games whose answer is known."""

import numpy as np
import pandas as pd
import pytest
from results_frames import made_up

from t48lab.analysis import summary
from t48lab.analysis.budgets import STEP_COLUMNS, curves, doubling, doublings
from t48lab.errors import T48Error

pytestmark = pytest.mark.compiled

KNOWN = {"a 1": (10_000, 1.0), "a 2": (20_000, 4.0), "b 1": (10_000, 2.0)}
PAIR = (KNOWN["a 1"], KNOWN["a 2"])
GROUPS = {"a 2": "a", "a 1": "a", "b 1": "b"}


def exact(label, score, ms, games=5):
    """Games of one agent that all have the same score and the same time per move."""
    return pd.DataFrame({"agent": label, "score": [score] * games, "seconds": ms / 10, "moves": 100})


def test_twice_the_score_for_four_times_the_time_is_forty_percent_a_doubling():
    found = doubling(exact("a", 10_000, 1.0), exact("b", 20_000, 4.0))
    assert found["gain"] == pytest.approx(2**0.5 - 1)
    assert found["gain_low"] == pytest.approx(found["gain_high"])
    assert found["slower_ms"] == pytest.approx(4 * found["faster_ms"])


def test_the_interval_covers_the_truth_as_often_as_it_says():
    draw = np.random.default_rng(1)
    covered = 0
    for _ in range(100):
        faster, slower = (exact("a", 1, ms, 80).assign(score=draw.gamma(4, mean / 4, 80)) for mean, ms in PAIR)
        found = doubling(faster, slower)
        covered += found["gain_low"] <= 2**0.5 - 1 <= found["gain_high"]
    assert 87 <= covered <= 100


def test_the_order_of_games_does_not_matter():
    a, b = made_up(30, {"a 1": KNOWN["a 1"]}), made_up(30, {"a 2": KNOWN["a 2"]})
    assert doubling(a, b) == doubling(a.sample(frac=1, random_state=1), b.sample(frac=1, random_state=2))


def test_an_agent_that_is_no_slower_is_refused():
    with pytest.raises(T48Error, match="change their places"):
        doubling(exact("a", 1, 4.0), exact("b", 2, 1.0))


def test_curves_are_the_summary_by_group_from_fast_to_slow():
    games = made_up(30, {"x 9": (1, 1.0)} | KNOWN)
    table = curves(games, GROUPS)
    assert list(table["agent"]) == ["a 1", "a 2", "b 1"]
    assert list(table["group"]) == ["a", "a", "b"]
    known = summary(games).set_index("agent")["ms_per_move"]
    assert np.allclose(table["ms_per_move"], known[table["agent"]])
    assert (table["ms_low"] <= table["ms_per_move"] + 1e-9).all()
    assert (table["ms_per_move"] <= table["ms_high"] + 1e-9).all()


def test_steps_join_neighbours_of_one_group():
    steps = doublings(made_up(30, KNOWN), GROUPS)
    assert list(steps.columns) == STEP_COLUMNS
    assert list(zip(steps["faster"], steps["slower"], strict=True)) == [("a 1", "a 2")]
    assert doublings(made_up(30, {"b 1": (1, 1.0)}), GROUPS).empty

"""Objectives against values worked out the long way round, and their two intervals against each other."""

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from t48lab.analysis import COSTS, OBJECTIVES, SCORES, TILES, mean_interval, share_interval

pytestmark = pytest.mark.compiled

SCORE, TILE = np.array([0, 3000, 20000, 36000]), np.array([4, 256, 1024, 2048])


def test_the_value_of_each_game():
    assert OBJECTIVES["mean_score"].of(SCORE, TILE).tolist() == [0.0, 3000.0, 20000.0, 36000.0]
    assert OBJECTIVES["mean_log_score"].of(SCORE, TILE).tolist() == [0.0, *map(math.log, (3000, 20000, 36000))]
    assert OBJECTIVES["rate_1024"].of(SCORE, TILE).tolist() == [0.0, 0.0, 1.0, 1.0]


def test_every_objective_is_there_once():
    assert ("mean_score", "mean_log_score", *(f"rate_{tile}" for tile in TILES)) == SCORES
    assert COSTS == ("ms_per_move", "nodes_per_move")
    assert {OBJECTIVES[name].better for name in COSTS} == {"lower"}
    assert len({objective.label for objective in OBJECTIVES.values()}) == len(OBJECTIVES)


@pytest.mark.parametrize("name", ["mean_score", "mean_log_score"])
def test_a_trial_has_students_interval_and_a_confirmation_the_bootstraps(name):
    values = np.random.default_rng(1).lognormal(9, 0.5, 200)
    student = scipy_stats.t.interval(0.95, 199, values.mean(), scipy_stats.sem(values))
    assert OBJECTIVES[name].quick_interval(values) == pytest.approx(student)
    assert OBJECTIVES[name].interval(values) == mean_interval(values)
    assert all(map(math.isnan, OBJECTIVES[name].quick_interval(values[:1])))


def test_a_share_has_wilsons_interval_in_both():
    values, objective = np.repeat([0.0, 1.0], [3, 7]), OBJECTIVES["rate_2048"]
    assert objective.interval(values) == objective.quick_interval(values) == share_interval(7, 10)

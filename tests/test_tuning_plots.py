"""Figures and tables of studies: what is drawn is what the tables say, and what matters is found to matter."""

import math
import tomllib

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from study_files import SMALL

from t48lab.analysis import tuning_plots
from t48lab.studies import Storage, trials_frame
from t48lab.studies.figures import Tables, write_figures
from t48lab.studies.importance import around, importances, sensitivity, spread
from t48lab.studies.spaces import Free
from t48lab.studies.study import make_study
from t48lab.studies.tuning import FIGURES, open_study

pytestmark = pytest.mark.compiled

mpl.use("Agg")


def small(**changed):
    return make_study(tomllib.loads(SMALL) | changed, "small")


@pytest.fixture(scope="module")
def plan():
    free = {"monotonicity.weight": {"low": 1.0, "high": 100.0}, "corner.weight": True, "leaf": True}
    return small(free=free, baselines={})


def figures(mean, pruned):
    plain = {"sd": 5.0, "low": mean - 2, "high": mean + 2, "mean_score": mean, "moves": 9, "ms_per_move": 0.5}
    return plain | {"n": 6 if pruned else 12, "pruned": pruned, "mean": mean, "nodes_per_move": 3.0, "seconds": 0.1}


@pytest.fixture(scope="module")
def study(plan, tmp_path_factory):
    """Sixty made-up trials whose value depends on the first parameter alone."""
    study = open_study(plan, Storage(None, tmp_path_factory.mktemp("study")))
    space = {free.name: free.distribution() for free in plan.space}
    for number in range(60):
        trial = study.ask(space)
        mean = 1000.0 - 300.0 * abs(math.log10(trial.params["monotonicity.weight"]) - 1)
        trial.set_user_attr(FIGURES, figures(mean, pruned=mean < 850 and number % 2 == 0))
        study.tell(trial, mean)
    return study


@pytest.fixture(scope="module")
def frame(plan, study):
    return trials_frame(plan, study)


@pytest.mark.compiled
def test_the_parameter_that_matters_is_found(plan, study, frame):
    table = importances(plan, study)
    assert table["parameter"].iloc[0] == "monotonicity.weight"
    assert table["importance"].sum() == pytest.approx(1)
    assert set(table["evaluator"]) == {"pedanova"}
    best = spread(plan, frame).set_index("parameter")
    assert best.loc["monotonicity.weight", "low"] <= 10 <= best.loc["monotonicity.weight", "high"]
    assert best.loc["monotonicity.weight", "width"] < best.loc["corner.weight", "width"]
    assert best.loc["leaf", "common"] in ("afterstate", "state")
    assert 0.5 <= best.loc["leaf", "share"] <= 1


def test_importance_needs_trials(plan, tmp_path):
    assert importances(plan, open_study(plan, Storage(None, tmp_path))).empty


def test_places_are_on_the_scale_of_the_range():
    assert Free(name="a", low=1, high=100, log=True).place(10) == pytest.approx(0.5)
    assert Free(name="a", low=0, high=10).place(2.5) == pytest.approx(0.25)


def test_values_around_the_winner():
    plan = small(
        free={"corner.weight": {"low": 2.0, "high": 100.0}, "corner.exponent": {"low": 1, "high": 4}, "leaf": True},
        sensitivity={"points": 5},
    )
    weight, exponent, leaf = plan.space
    assert around(plan, plan.agent, weight) == pytest.approx([2.5, 5, 10, 20, 40])
    assert around(plan, plan.agent, exponent) == pytest.approx([2.25, 2.625, 3, 3.375, 3.75])
    assert around(plan, plan.agent, leaf) == ["afterstate", "state"]
    assert around(small(), small().agent, small().space[0]) == []


@pytest.mark.compiled
def test_sensitivity_plays_new_games(tmp_path):
    plan = small(free={"corner.weight": True, "leaf": True}, sensitivity={"points": 3, "games": 5})
    table = sensitivity(plan, plan.agent, tmp_path)
    assert list(table["parameter"]) == ["corner.weight"] * 3 + ["leaf"] * 2
    assert table["own"].tolist() == [False, True, False, True, False]
    assert (table["low"] <= table["mean"]).all()
    own = table[table["own"]]
    assert own["mean"].nunique() == 1
    axes = tuning_plots.plot_sensitivity(table, "leaf")
    assert [label.get_text() for label in axes.get_xticklabels()] == ["afterstate", "state"]
    axes = tuning_plots.plot_sensitivity(table, "corner.weight", log=True)
    assert axes.get_xscale() == "log"
    assert "log scale" in axes.get_xlabel()


@pytest.mark.compiled
def test_history_draws_every_trial(frame):
    before = dict(mpl.rcParams)
    axes = tuning_plots.plot_history(frame)
    points = sum(len(collection.get_offsets()) for collection in axes.collections[1:4:2])
    assert points == len(frame)
    assert "points" in axes.get_ylabel()
    assert f"{int(frame['pruned'].sum())} pruned" in axes.get_title(loc="left")
    step = axes.lines[0].get_ydata()
    np.testing.assert_array_equal(step, frame["best"])
    assert mpl.rcParams == before


@pytest.mark.compiled
def test_fronts_and_maps(frame):
    costly = frame.assign(ms_per_move=np.linspace(0.1, 9, len(frame)))
    axes = tuning_plots.plot_front(costly, costly.head(3), "ms_per_move")
    assert axes.get_xscale() == "log"
    assert "ms" in axes.get_xlabel()
    axes = tuning_plots.plot_map(frame, "corner.weight", "leaf", log=(True, False))
    assert [label.get_text() for label in axes.get_yticklabels()] == ["afterstate", "state"]
    axes = tuning_plots.plot_slice(frame, "corner.weight", objective="rate_2048")
    assert axes.get_ylabel() == "share of games that reach 2048"


@pytest.mark.compiled
def test_figures_are_written_the_same_each_time(plan, study, frame, tmp_path):
    tables = Tables(frame, importances(plan, study), spread(plan, frame))
    names = write_figures(plan, tables, tmp_path)
    assert {"history", "slices", "maps", "spread", "importances"} == set(names)
    first = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert set(first) == {f"{name}.{kind}" for name in names for kind in ("png", "svg")}
    write_figures(plan, tables, tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == first
    empty = Tables(frame.head(0), pd.DataFrame(columns=["parameter"]), pd.DataFrame())
    assert write_figures(plan, empty, tmp_path / "none") == []

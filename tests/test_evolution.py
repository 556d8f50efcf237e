"""CMA-ES from numbers alone proposes what Optuna's sampler does, and stored pickles are never loaded."""

import pickle
import re
import tomllib
from pathlib import Path

import numpy as np
import optuna
import pytest
from optuna.samplers import CmaEsSampler, RandomSampler
from study_files import SMALL

from t48lab.errors import T48Error
from t48lab.studies import Storage, open_study, tune
from t48lab.studies.evolution import STEP, Evolution
from t48lab.studies.spaces import Free
from t48lab.studies.study import make_study

CONTINUOUS = (
    Free(name="a", low=0.1, high=1000.0, log=True),
    Free(name="b", low=-3.0, high=5.0),
    Free(name="c", low=1.0, high=4.0),
)
WHOLE = (*CONTINUOUS[:2], Free(name="n", low=1, high=9, whole=True))

pytestmark = pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")


def worth(params):
    return -sum((float(value) - 2.5) ** 2 for value in params.values())


def proposed(make, space, trials):
    """The parameters that samplers propose one after the other, each trial with one of its own."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study, found = optuna.create_study(direction="maximize"), []
    for number in range(trials):
        study.sampler = make(number)
        trial = study.ask({free.name: free.distribution() for free in space})
        study.tell(trial, worth(trial.params))
        found.append([float(trial.params[free.name]) for free in space])
    return study, np.array(found)


@pytest.mark.parametrize(("space", "margin"), [(CONTINUOUS, False), (WHOLE, True)], ids=["continuous", "whole numbers"])
def test_it_proposes_what_optunas_sampler_does(space, margin):
    def theirs(number):
        options = {"popsize": 7, "with_margin": margin, "lr_adapt": not margin}
        random = RandomSampler(seed=50 + number)
        return CmaEsSampler(seed=50 + number, n_startup_trials=2, independent_sampler=random, **options)

    _, expected = proposed(theirs, space, 45)
    study, found = proposed(lambda number: Evolution(space, 2, 50 + number), space, 45)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    generations = [trial.system_attrs[STEP]["generation"] for trial in study.trials if STEP in trial.system_attrs]
    assert generations == sorted(generations)
    assert generations[-1] == 6


def test_nonsense_in_the_place_of_a_point_is_left_out():
    sampler = Evolution(CONTINUOUS, 1, 5)
    study, _ = proposed(lambda number: Evolution(CONTINUOUS, 1, number), CONTINUOUS, 8)
    for number, step in enumerate([None, [], {"generation": 0}, {"generation": True, "point": [0.5] * 3}], start=1):
        trial = study.trials[number]
        trial.system_attrs[STEP] = step
        optimizer, told = sampler.optimizer([*study.trials[:number], trial])
        assert (optimizer.generation, told) == (0, False)
    far = study.trials
    for trial in far:
        trial.system_attrs[STEP] = {"generation": 0, "point": [1e300, float("nan"), 0.5]}
    assert sampler.optimizer(far)[0].generation == 0


class Command:
    """An object whose pickle writes a file when it is loaded."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (Path(self.path),)


def plan(**changed):
    sampler = {"sampler": {"kind": "cmaes", "startup": 1}, "games": 2, "trials": 12, "pruner": "none"}
    return make_study(tomllib.loads(SMALL) | sampler | changed, "small")


NAMES = ["cma:optimizer:0", "cmawm:optimizer:0", "sepcma:optimizer:12"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("url", [False, True], ids=["journal", "database"])
def test_a_pickle_in_the_storage_is_refused_by_name_and_not_loaded(name, url, tmp_path):
    out, storage = tmp_path / "out", f"sqlite:///{tmp_path / 'studies.db'}" if url else None
    store = Storage(storage, out)
    study = open_study(plan(), store)
    trial = study.ask()
    study._storage.set_trial_system_attr(trial._trial_id, name, pickle.dumps(Command(tmp_path / "ran")).hex())
    study.tell(trial, 1.0)
    for confirm_only in (False, True):
        with pytest.raises(T48Error, match=rf"holds a pickle, {name} of trial 0, which is code and is never loaded"):
            tune(plan(), out, storage, confirm_only=confirm_only)
    assert not (tmp_path / "ran").exists()


def test_a_pickle_beside_the_study_is_refused(tmp_path):
    study = open_study(plan(), Storage(None, tmp_path))
    study._storage.set_study_system_attr(study._study_id, "cma:optimizer:0", "80")
    with pytest.raises(T48Error, match="cma:optimizer:0 of the study"):
        tune(plan(), tmp_path)


@pytest.mark.compiled
def test_a_study_of_its_own_stores_no_pickle(tmp_path, monkeypatch):
    monkeypatch.setattr("t48lab.studies.outcomes.write_figures", lambda *_: [])
    tune(plan(), tmp_path)
    assert not re.search(b"optimizer|8004|gASV", (tmp_path / "journal.log").read_bytes())
    assert b'"evolution"' in (tmp_path / "journal.log").read_bytes()

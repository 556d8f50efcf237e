"""Samplers and pruners by name, every option named here: nothing is left to Optuna's defaults.

A sampler is made anew for each trial, seeded by a hash of (study's seed, trial's number). Numbers are never
given twice, so no two trials repeat each other's draws, whoever runs them and however often a study is resumed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from optuna.distributions import BaseDistribution
from optuna.exceptions import ExperimentalWarning
from optuna.pruners import BasePruner, NopPruner, WilcoxonPruner
from optuna.samplers import BaseSampler, GPSampler, RandomSampler, TPESampler
from optuna.trial import FrozenTrial, TrialState

from t48lab.errors import T48Error
from t48lab.specs import digest
from t48lab.studies.evolution import Evolution
from t48lab.studies.liveness import WORKER, identity

if TYPE_CHECKING:
    from optuna import Study

    from t48lab.studies.study import Plan, Pruner

Space = dict[str, BaseDistribution]


def make_sampler(plan: Plan) -> BaseSampler:
    """The sampler of a study; raises T48Error when a package that it needs is missing."""
    make = {"tpe": _tpe, "cmaes": _cmaes, "random": _random, "gp": _gp}[plan.sampler.kind]
    if plan.sampler.kind == "gp":
        _need_torch()
    space = {free.name: free.distribution() for free in plan.space}
    return PerTrial(lambda seed: make(seed, plan), plan.seed, space, plan.starts)


def _tpe(seed: int, plan: Plan) -> BaseSampler:
    """Bergstra et al. 2011; multivariate: Falkner et al. 2018; running trials count as bad, so workers spread out."""
    return TPESampler(
        n_startup_trials=plan.sampler.startup,
        n_ei_candidates=24,
        multivariate=True,
        group=False,
        constant_liar=True,
        seed=seed,
    )


def _cmaes(seed: int, plan: Plan) -> BaseSampler:
    return Evolution(plan.space, plan.sampler.startup, seed)


def _random(seed: int, plan: Plan) -> BaseSampler:
    return RandomSampler(seed=seed)


def _gp(seed: int, plan: Plan) -> BaseSampler:
    return GPSampler(
        seed=seed,
        independent_sampler=RandomSampler(seed=seed),
        n_startup_trials=plan.sampler.startup,
        deterministic_objective=False,
        warn_independent_sampling=False,
    )


def _need_torch() -> None:
    try:
        import torch  # type: ignore[import-not-found]  # noqa: F401
    except ImportError:
        raise T48Error("sampler gp needs PyTorch (pip install torch), or take tpe") from None


def make_pruner(pruner: Pruner) -> BasePruner:
    """The pruner of a study."""
    if pruner.kind == "none":
        return NopPruner()
    with _quiet():
        return WilcoxonPruner(p_threshold=pruner.p, n_startup_steps=pruner.startup)


@contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalWarning)
        yield


class PerTrial(BaseSampler):
    """A sampler of its own for each trial; the first trials stand at given points.

    It also writes down who runs a trial, before anything else is done with it.
    """

    def __init__(
        self, make: Callable[[int], BaseSampler], seed: int, space: Space, starts: Sequence[dict[str, Any]]
    ) -> None:
        self._make, self._seed, self._space, self._starts = make, seed, space, starts
        self._current: tuple[int, BaseSampler] | None = None
        self.worker = identity()

    def _of(self, trial: FrozenTrial) -> BaseSampler:
        if self._current is None or self._current[0] != trial.number:
            seed = int(digest([self._seed, trial.number]), 16) % 2**32
            with _quiet():
                self._current = trial.number, self._make(seed)
        return self._current[1]

    def reseed_rng(self) -> None:
        """Changes nothing: seeds come from trials' numbers."""

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Writes into the trial who runs it."""
        study._storage.set_trial_user_attr(trial._trial_id, WORKER, self.worker)
        self._of(trial).before_trial(study, trial)

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> Space:
        """The distributions that are sampled together."""
        if trial.number < len(self._starts):
            return self._space
        return self._of(trial).infer_relative_search_space(study, trial)

    def sample_relative(self, study: Study, trial: FrozenTrial, search_space: Space) -> dict[str, Any]:
        """Values of those that are sampled together."""
        if trial.number < len(self._starts):
            return self._starts[trial.number]
        return self._of(trial).sample_relative(study, trial, search_space)

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """The value of one that is sampled alone."""
        return self._of(trial).sample_independent(study, trial, param_name, param_distribution)

    def after_trial(self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None) -> None:
        """Lets samplers learn from a finished trial."""
        self._of(trial).after_trial(study, trial, state, values)

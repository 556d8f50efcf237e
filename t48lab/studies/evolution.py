"""CMA-ES whose state is the trials themselves: numbers in the storage, and nothing that runs when it is loaded.

Optuna's own sampler keeps its optimizer as a pickle beside a trial, so whoever can write to a journal or a database
can run a command where it is read. Here the optimizer is made anew for each trial and told the finished generations
again, which takes milliseconds and proposes the same points.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from cmaes import CMA, CMAwM
from numpy.typing import NDArray
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.trial import FrozenTrial, TrialState

if TYPE_CHECKING:
    from optuna import Study

    from t48lab.studies.spaces import Free

STEP = "evolution"
"""Attribute of a trial: the generation that it was drawn for, and its point, each place from 0 to 1."""

_QUEUED = "fixed_params"
"""Optuna's attribute of a trial whose parameters were put in line, whatever was drawn for it."""
_WIDTH = 1 / 6
_FAR = 1e3


class Evolution(BaseSampler):
    """Hansen 2016; the learning rate adapts to noise (Nomura et al. 2023) where every parameter is continuous.

    With whole numbers among them it keeps a margin instead (Hamano et al. 2022). Starts in the middle of the ranges.
    """

    def __init__(self, space: Sequence[Free], startup: int, seed: int) -> None:
        self.space, self.startup, self.seed = space, startup, seed
        self.whole = any(free.whole for free in space)
        self.population = 4 + math.floor(3 * math.log(len(space)))
        self._random = RandomSampler(seed=seed)

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """The distributions that are sampled together: all of them after the first trials, none before."""
        known = len(_complete(study))
        return {free.name: free.distribution() for free in self.space} if known >= self.startup else {}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """The point of a trial by name, after it is noted for which generation it was drawn."""
        if not search_space:
            return {}
        optimizer, told = self.optimizer(_complete(study))
        optimizer.reseed_rng(self._seed_of(trial.number, told))
        asked = optimizer.ask()
        point, kept = asked if self.whole else (asked, asked)
        step = {"generation": optimizer.generation, "point": kept.tolist()}
        study._storage.set_trial_system_attr(trial._trial_id, STEP, step)
        return {free.name: free.at(place) for free, place in zip(self.space, point.tolist(), strict=True)}

    def optimizer(self, trials: Sequence[FrozenTrial]) -> tuple[CMA | CMAwM, bool]:
        """The optimizer after every finished generation of these trials, and whether one of them saw the first end."""
        optimizer, steps = self._new(), {trial.number: _step(trial, len(self.space)) for trial in trials}
        while True:
            generation = optimizer.generation
            found = [(t, steps[t.number][1]) for t in trials if steps[t.number][0] == generation]
            if len(found) < self.population:
                return optimizer, any(drawn > 0 for drawn, _ in steps.values())
            optimizer.tell([(self._told(trial, point), -trial.values[0]) for trial, point in found[: self.population]])

    def _new(self) -> CMA | CMAwM:
        size = len(self.space)
        options = {
            "mean": np.full(size, 0.5),
            "sigma": _WIDTH,
            "bounds": np.tile([0.0, 1.0], (size, 1)),
            "n_max_resampling": 10 * size,
            "seed": self.seed,
            "population_size": self.population,
            "cov": None,
        }
        if not self.whole:
            return CMA(**options, lr_adapt=True)
        steps = [1 / (free.high - free.low) if free.whole and not free.log else 0.0 for free in self.space]
        return CMAwM(**options, steps=np.array(steps))

    def _told(self, trial: FrozenTrial, point: NDArray[np.float64]) -> NDArray[np.float64]:
        """What the optimizer is told of a trial: where it lies, or with a margin the point that it was rounded from."""
        if self.whole and _QUEUED not in trial.system_attrs:
            return point
        return np.array([free.place(trial.params[free.name]) for free in self.space])

    def _seed_of(self, number: int, told: bool) -> int:
        """A seed for each trial, with the draws of Optuna's sampler: one more as long as no generation has ended."""
        draws = np.random.RandomState(self.seed)
        if not told:
            draws.randint(1, 2**31 - 2)
        return int(draws.randint(1, 2**16)) + number

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """A value at random: one of the first trials."""
        return self._random.sample_independent(study, trial, param_name, param_distribution)


def _complete(study: Study) -> list[FrozenTrial]:
    return study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))


def _step(trial: FrozenTrial, size: int) -> tuple[int, NDArray[np.float64]]:
    """The generation and the point that are noted with a trial; generation -1 where none, or nonsense, is."""
    none = -1, np.empty(0)
    try:
        stored = trial.system_attrs[STEP]
        generation, point = stored["generation"], np.array(stored["point"], float)
    except (KeyError, TypeError, ValueError):
        return none
    sound = point.shape == (size,) and bool((np.abs(point) < _FAR).all()) and type(generation) is int
    return (generation, point) if sound else none

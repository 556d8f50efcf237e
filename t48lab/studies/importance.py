"""Which parameters matter: importances, the spread of the best trials, and games around the winner.

Importances say over which parameters the trials' values differ, in the whole space; the spread of the best 5%
says whether the optimum is flat; sensitivity plays new games, so it alone has intervals that can be trusted.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import optuna
import pandas as pd

from t48lab.agents import Agent
from t48lab.errors import T48Error
from t48lab.studies.confirm import mean_of, play_stage
from t48lab.studies.spaces import Free, placed, value_of
from t48lab.studies.study import Plan
from t48lab.studies.tuning import finished

if TYPE_CHECKING:
    from optuna import Study
    from optuna.importance import BaseImportanceEvaluator
    from optuna.trial import FrozenTrial

BEST_SHARE = 0.05
AROUND = "sensitivity"
"""The folder that the games around the winner are kept in."""
_STEPS, _WIDTH = 4.0, 0.25


def importances(plan: Plan, study: Study) -> pd.DataFrame:
    """One row a parameter, the most important first: its share of 1 by the study's `evaluator`.

    `pedanova` asks which parameters tell the best tenth of trials from the rest (Watanabe et al. 2023),
    `fanova` which ones explain the variance of values (Hutter et al. 2014). Empty with fewer than three trials.
    """
    columns = ["parameter", "importance", "evaluator", "trials"]
    trials = finished(study)
    if len(trials) < 3 or len({trial.values[0] for trial in trials}) < 2:
        return pd.DataFrame(columns=columns)
    names = [free.name for free in plan.space]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*low `target` values")  # `_target` turns it round
        found = optuna.importance.get_param_importances(
            study, evaluator=_evaluator(plan), params=names, target=_target(plan), normalize=True
        )
    rows = [(name, share, plan.importance, len(trials)) for name, share in found.items()]
    return pd.DataFrame(rows, columns=columns).sort_values("importance", ascending=False, ignore_index=True)


def _target(plan: Plan) -> Callable[[FrozenTrial], float] | None:
    """What the evaluator looks at, None for a study's only objective: PED-ANOVA wants small targets."""
    if len(plan.objectives) == 1:
        return None
    sign = -1.0 if plan.importance == "pedanova" else 1.0
    return lambda trial: sign * trial.values[0]


def _evaluator(plan: Plan) -> BaseImportanceEvaluator:
    """The evaluator with every option named."""
    from optuna.importance import FanovaImportanceEvaluator, PedAnovaImportanceEvaluator

    if plan.importance == "pedanova":
        return PedAnovaImportanceEvaluator(target_quantile=0.1, region_quantile=1.0, evaluate_on_local=True)
    try:
        return FanovaImportanceEvaluator(n_trees=64, max_depth=64, seed=plan.seed)
    except ImportError:
        raise T48Error(
            'importance = "fanova" needs scikit-learn (pip install scikit-learn), or take pedanova'
        ) from None


def spread(plan: Plan, trials: pd.DataFrame) -> pd.DataFrame:
    """One row a parameter: where the best 5% of trials (five at least) lie within its range.

    `low`, `quarter`, `median`, `three_quarters` and `high` are values; `at_...` are the same as places from 0 to 1
    of the range, on its own scale. `width` is from the first to the third quarter: near 0.5 means that the optimum
    is flat. Of choices, `common` is the one that most have, and `share` its share.
    """
    full = trials[~trials["pruned"]].nlargest(max(5, round(BEST_SHARE * len(trials))), "mean")
    return pd.DataFrame([{"parameter": f.name, "trials": len(full)} | _spread(f, full[f.name]) for f in plan.space])


_QUANTILES = {"low": 0.0, "quarter": 0.25, "median": 0.5, "three_quarters": 0.75, "high": 1.0}


def _spread(free: Free, found: pd.Series[Any]) -> dict[str, Any]:
    if free.choices:
        counts = found.value_counts()
        return {"common": counts.index[0], "share": counts.iloc[0] / len(found)} if len(counts) else {}
    numbers = found.to_numpy(float)
    if not len(numbers):
        return {}
    row = {name: float(np.quantile(numbers, q)) for name, q in _QUANTILES.items()}
    at = {f"at_{name}": free.place(value) for name, value in row.items()}
    return row | at | {"width": at["at_three_quarters"] - at["at_quarter"], "log": free.log}


def sensitivity(
    plan: Plan, winner: Agent, folder: Path, workers: int | None = None, progress: bool = False
) -> pd.DataFrame:
    """One row a value of a parameter around the winner's, all others kept: the objective with its 95% interval.

    Ranges are looked at from a quarter to four times the winner's value where they are logarithmic, else a quarter
    of the range to both sides; choices are all tried. `own` marks the winner itself. The games have a base seed
    of their own and are kept in the folder. Empty when the study asks for no points.
    """
    points = {
        (free.name, value): placed(winner, {free.name: value})
        for free in plan.space
        for value in around(plan, winner, free)
    }
    if not points:
        return pd.DataFrame(columns=["parameter", "value", "own", "games", "objective", "mean", "low", "high"])
    agents = {agent.key(): agent for agent in [winner, *points.values()]}
    named = {f"point {key}": agent for key, agent in agents.items()}
    options, objective = plan.sensitivity, plan.objectives[0]
    games = play_stage(plan, AROUND, named, options.games, options.seed, folder, workers, progress)
    means = {key: mean_of(part, objective) for key, part in games.groupby("agent_key")}
    rows, shown = [], {free.name: free.shown for free in plan.space}
    for (name, value), agent in points.items():
        mean, (low, high) = means[agent.key()]
        row = {"parameter": name, "value": shown[name](value), "own": agent == winner, "games": options.games}
        rows.append(row | {"objective": objective, "mean": mean, "low": low, "high": high})
    return pd.DataFrame(rows)


def around(plan: Plan, winner: Agent, free: Free) -> list[Any]:
    """The values of a parameter to look at, the winner's among them, in order."""
    count, own = plan.sensitivity.points, value_of(winner, free.name)
    if not count or (own is None and not free.choices):
        return []
    if free.choices:
        return list(free.choices)
    if free.log and own > 0:
        ends = max(free.low, own / _STEPS), min(free.high, own * _STEPS)
        found = np.geomspace(*ends, count)
    else:
        reach = _WIDTH * (free.high - free.low)
        found = np.linspace(max(free.low, own - reach), min(free.high, own + reach), count)
    numbers = {round(x) for x in found.tolist()} if free.whole else {float(f"{x:.4g}") for x in found.tolist()}
    inside = {number for number in numbers if free.low <= number <= free.high and f"{number:.4g}" != f"{own:.4g}"}
    return sorted({*inside, own})

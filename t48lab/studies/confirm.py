"""Confirmation: the best trials and the baselines on games that no trial has seen.

The best of many noisy trials is a lucky one, so its own figure flatters it. Here the best few play the games of a
second base seed, which choose one of them; being chosen flatters it again, if less, so that one and the
baselines play the games of a third. Only those figures are called confirmed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from optuna.trial import FrozenTrial

from t48lab.agents import Agent, make_spawner
from t48lab.analysis import OBJECTIVES, Interval, Scores, pairs, summary
from t48lab.errors import T48Error
from t48lab.experiments import Entry, Experiment, run_experiment
from t48lab.rules import Rules
from t48lab.studies.spaces import placed, point_of
from t48lab.studies.study import Plan
from t48lab.studies.tuning import FIGURES, finished

if TYPE_CHECKING:
    from optuna import Study

CHOOSE, REPORT = "confirm", "report"
"""The two stages, and the folders that their games are kept in."""


@dataclass(frozen=True)
class Verdict:
    """What confirmation found: `table` as in confirm.csv; `trial` is None when no trial beat the baselines.

    `tuned` says whether the winner lies in the space that was searched.
    """

    table: pd.DataFrame
    label: str
    agent: Agent
    trial: int | None
    chosen: int | None
    tuned: bool


def confirm(plan: Plan, study: Study, folder: Path, workers: int | None = None, progress: bool = False) -> Verdict:
    """The verdict on a study's best trials; games that the folder holds are not played again.

    The trial that the first games choose wins when the 95% interval of its difference to the best baseline,
    paired game by game on the last games, lies above 0; else that baseline does.
    Raises T48Error when no trial is finished. Ctrl-C keeps the games that are finished.
    """
    best = candidates(plan, study)
    trials = {f"trial {trial.number}": trial for trial in best}
    agents = {label: placed(plan.agent, trial.params) for label, trial in trials.items()}
    taken = {agent.key() for agent in plan.baselines.values()}
    agents = {label: agent for label, agent in agents.items() if agent.key() not in taken}
    options = plan.confirm
    games = play_stage(
        plan, CHOOSE, {**plan.baselines, **agents}, options.games, options.seed, folder, workers, progress
    )
    chosen = _chosen(plan, games, list(agents))
    tables = [_table(plan, CHOOSE, games, options.seed)]
    finalists = plan.baselines | ({chosen: agents[chosen]} if chosen else {})
    last = play_stage(plan, REPORT, finalists, options.report_games, options.report_seed, folder, workers, progress)
    tables.append(_table(plan, REPORT, last, options.report_seed))
    table = _with_tuning(pd.concat(tables, ignore_index=True), trials)
    label = _winner(table, chosen, list(plan.baselines))
    number = trials[chosen].number if chosen else None
    winner, trial = finalists[label], number if label == chosen else None
    return Verdict(table, label, winner, trial, number, point_of(winner, plan.agent, plan.space) is not None)


def candidates(plan: Plan, study: Study | None) -> list[FrozenTrial]:
    """The trials to confirm, best first: the best by value, or spread evenly over the Pareto front."""
    full = [
        trial
        for trial in (finished(study) if study else ())
        if not trial.user_attrs.get(FIGURES, {}).get("pruned", True)
    ]
    if not full or study is None:
        raise T48Error(f"study {plan.name!r} has no finished trial to confirm, run it without --confirm first")
    top = plan.confirm.top
    if len(plan.objectives) == 1:
        return _different(sorted(full, key=lambda trial: (-trial.values[0], trial.number)))[:top]
    front = _different(sorted(study.best_trials, key=lambda trial: (-trial.values[0], trial.number)))
    picked = np.unique(np.linspace(0, len(front) - 1, min(top, len(front))).round().astype(int))
    return [front[i] for i in picked]


def _different(trials: Sequence[FrozenTrial]) -> list[FrozenTrial]:
    """The trials without those that repeat the parameters of an earlier one."""
    kept: dict[str, FrozenTrial] = {}
    for trial in trials:
        kept.setdefault(repr(sorted(trial.params.items())), trial)
    return list(kept.values())


def play_stage(
    plan: Plan,
    stage: str,
    agents: Mapping[str, Agent],
    games: int,
    seed: int,
    folder: Path,
    workers: int | None,
    progress: bool,
) -> pd.DataFrame:
    """One row a game of these agents, kept in the folder's own folder of this stage."""
    experiment = Experiment(
        name=f"{plan.name}-{stage}",
        title=f"{plan.title or plan.name}: {stage}",
        seed=seed,
        entries=tuple(Entry(label=label, agent=agent, games=games) for label, agent in agents.items()),
        spawners=(make_spawner("random"),),
        rules=Rules(),
        stop_tile=None,
        baseline=next(iter(agents)),
    )
    frame = run_experiment(experiment, folder / stage, workers, progress)
    asked = frame["agent_key"].isin(experiment.keys) & (frame["seed"] == seed) & (frame["game"] < games)
    return frame[asked].reset_index(drop=True)


def values(games: pd.DataFrame, objective: str) -> Scores:
    """The objective's value of each game."""
    return OBJECTIVES[objective].of(games["score"].to_numpy(float), games["max_tile"].to_numpy())


def mean_of(games: pd.DataFrame, objective: str) -> tuple[float, Interval]:
    """The objective's mean over games with its 95% interval."""
    numbers = values(games, objective)
    return float(numbers.mean()), OBJECTIVES[objective].interval(numbers)


def _table(plan: Plan, stage: str, games: pd.DataFrame, seed: int) -> pd.DataFrame:
    """One row an agent: its objective with interval, its difference to the best baseline, then `summary`."""
    objective = plan.objectives[0]
    table = summary(games).drop(columns="spawner")
    found = [mean_of(games[games["agent"] == agent], objective) for agent in table["agent"]]
    table = table.assign(
        stage=stage,
        seed=seed,
        objective=objective,
        value=[mean for mean, _ in found],
        value_low=[low for _, (low, _) in found],
        value_high=[high for _, (_, high) in found],
    )
    means = _column(table, "value")
    baseline = max(plan.baselines, key=lambda label: means[label])
    versus = pairs(games.assign(score=values(games, objective)), baseline)
    kept = ["agent", "baseline", "mean_difference", "difference_low", "difference_high", "win_share", "wilcoxon_p"]
    return table.merge(versus[kept], on="agent", how="left")


def _chosen(plan: Plan, games: pd.DataFrame, labels: list[str]) -> str | None:
    """The trial of largest mean; of two objectives, among those that cost no more than the first baseline."""
    table = summary(games)
    means = {label: values(games[games["agent"] == label], plan.objectives[0]).mean() for label in labels}
    for cost in plan.objectives[1:]:
        costs = _column(table, cost)
        most = costs[next(iter(plan.baselines))]
        means = {label: mean for label, mean in means.items() if costs[label] <= most}
    return max(means, key=lambda label: means[label]) if means else None


def _winner(table: pd.DataFrame, chosen: str | None, baselines: list[str]) -> str:
    last = table[table["stage"] == REPORT]
    means, low = _column(last, "value"), _column(last, "difference_low")
    best = max(baselines, key=lambda label: means[label])
    return chosen if chosen and low[chosen] > 0 else best


def _column(table: pd.DataFrame, name: str) -> dict[str, float]:
    """A column's numbers by agent."""
    return dict(zip(table["agent"], table[name].astype(float), strict=True))


_FRONT = ["stage", "agent", "trial", "seed", "games", "objective", "value", "value_low", "value_high"]
_TUNING = ["tuning_value", "tuning_low", "tuning_high", "tuning_games"]


def _with_tuning(table: pd.DataFrame, trials: Mapping[str, FrozenTrial]) -> pd.DataFrame:
    """The table with each trial's number and what its own games said, the optimist's figure."""
    rows: list[dict[str, Any]] = []
    for agent in table["agent"]:
        figures = trials[agent].user_attrs[FIGURES] if agent in trials else {}
        names = ("mean", "low", "high", "n")
        row = {column: figures.get(name, np.nan) for column, name in zip(_TUNING, names, strict=True)}
        rows.append(row | {"trial": trials[agent].number if agent in trials else pd.NA})
    own = pd.DataFrame(rows, index=table.index).astype({"trial": "Int64", "tuning_games": "Int64"})
    whole = pd.concat([table, own], axis=1)
    first = [*_FRONT, *_TUNING]
    return whole[[*first, *(name for name in whole.columns if name not in first)]]

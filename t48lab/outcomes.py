"""What a study leaves in its folder: trials.parquet, confirm.csv, best.toml, manifest.json and figures."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from optuna.trial import FrozenTrial, TrialState

from t48lab.confirm import CHOOSE, REPORT, Verdict, confirm
from t48lab.evaluators import get_evaluator
from t48lab.manifest import commit, machine, now, versions
from t48lab.results import write_whole
from t48lab.spaces import placed
from t48lab.specs import join_spec, split_spec
from t48lab.storage import JOURNAL, Storage
from t48lab.studies import Plan
from t48lab.tuning import FIGURES, RETRIES, open_study, run_trials

if TYPE_CHECKING:
    from optuna import Study

SCHEMA = 1
_FIGURES = "n pruned mean sd low high mean_score moves ms_per_move nodes_per_move seconds".split()


def tune(
    plan: Plan,
    out: str | Path | None = None,
    storage: str | None = None,
    workers: int | None = None,
    confirm_only: bool = False,
    progress: bool = False,
) -> list[str]:
    """What was found, in sentences, after the study has all its trials and the best are confirmed.

    Files are in `out`, results/<name> by default, see `docs/tuning.md`. The same call goes on after a stop, and
    several may run at once: only the one that finishes the last trial confirms. `storage` is a URL of Optuna's.
    Raises Interrupted after Ctrl-C, and T48Error when the study in the storage was started from another file.
    """
    folder = Path(out or Path("results") / plan.name)
    store = Storage(storage, folder)
    study = open_study(plan, store)
    last = confirm_only
    try:
        last = last or run_trials(plan, study, store, workers, progress)
    finally:
        write_trials(trials_frame(plan, study), folder)
        write_manifest(plan, study, store, None, folder)
    if not last:
        return [f"Study {plan.name} has its {plan.trials} trials; the worker that finished the last one confirms."]
    verdict = confirm(plan, study, folder, workers, progress)
    write_confirmed(plan, verdict, folder)
    write_manifest(plan, study, store, verdict, folder)
    return sentences(plan, verdict)


def trials_frame(plan: Plan, study: Study) -> pd.DataFrame:
    """One row a finished trial by number: its parameters under their own names, and what its games gave.

    `mean`, `sd`, `low` and `high` (95%) are of the objective over the `n` games that it played; a `pruned` trial
    did not play them all. `best` is the largest mean so far of those that did. `start` marks baselines.
    """
    rows = []
    for trial in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)):
        figures = {name: trial.user_attrs[FIGURES][name] for name in _FIGURES}
        times = {"started": trial.datetime_start, "finished": trial.datetime_complete}
        own = {"start": trial.params in plan.starts, "retries": trial.user_attrs.get(RETRIES, 0)}
        rows.append({"trial": trial.number} | trial.params | figures | own | times)
    columns = ["trial", *(free.name for free in plan.space), *_FIGURES, "start", "retries", "started", "finished"]
    frame = pd.DataFrame(rows, columns=columns)
    frame["best"] = frame["mean"].where(~frame["pruned"].astype(bool)).cummax().ffill()
    return frame


def write_trials(frame: pd.DataFrame, folder: Path) -> None:
    """Nothing; trials.parquet holds the frame."""
    sink = io.BytesIO()
    frame.to_parquet(sink, index=False)
    write_whole(folder / "trials.parquet", sink.getvalue())


def write_confirmed(plan: Plan, verdict: Verdict, folder: Path) -> None:
    """Nothing; confirm.csv holds the verdict's table, and best.toml the winner's evaluator if it has one."""
    text = verdict.table.to_csv(index=False, lineterminator="\n")
    write_whole(folder / "confirm.csv", text.encode())
    if "evaluator" in type(verdict.agent).model_fields:
        write_whole(folder / "best.toml", best_toml(plan, verdict, folder).encode())


def best_toml(plan: Plan, verdict: Verdict, folder: Path) -> str:
    """The winner's evaluator as its TOML file, with where it comes from and how good it is as comments."""
    evaluator = get_evaluator(verdict.agent.evaluator)  # type: ignore[attr-defined]
    lines = [*sentences(plan, verdict), f"Commit {commit() or 'unknown'}, {now()}."]
    spec = agent_line(verdict, folder / "best.toml")
    return "\n".join([*(f"# {line}" for line in lines), f"# agent: {spec}", "", evaluator.to_toml()])


def agent_line(verdict: Verdict, path: Path) -> str:
    """The winner's spec, its evaluator named by this file's path."""
    name, stated = split_spec(verdict.agent.spec)
    return join_spec(name, stated | {"evaluator": str(path)})


def sentences(plan: Plan, verdict: Verdict) -> list[str]:
    """What was found, one fact a line, each with its games, seed and interval."""
    table = verdict.table
    last = table[table["stage"] == REPORT].set_index("agent")
    first = table[table["stage"] == CHOOSE].set_index("agent")
    lines = [f"Study {plan.name}: {plan.title}".rstrip(": "), f"Objective: {plan.objectives[0]}."]
    if verdict.chosen is not None:
        name, row = f"trial {verdict.chosen}", first.loc[f"trial {verdict.chosen}"]
        own = _between(row["tuning_value"], row["tuning_low"], row["tuning_high"])
        lines.append(f"The optimist's figure: {own} in {row['tuning_games']} games of seed {plan.tuning_seed}, {name}.")
        lines.append(f"Chosen: {_value(row)} in {row['games']} games of seed {row['seed']}, of {len(first)} agents.")
    for agent, row in last.iterrows():
        against = ""
        if pd.notna(row["mean_difference"]):
            ends = row["mean_difference"], row["difference_low"], row["difference_high"]
            against = f"; {_between(*ends, sign='+')} against {row['baseline']} on the same games"
        lines.append(f"Confirmed: {agent} {_value(row)} in {row['games']} games of seed {row['seed']}{against}.")
    beaten = "it beats every baseline" if verdict.trial is not None else "no trial is confirmed to beat it"
    return [*lines, f"Winner: {verdict.label}, {beaten}. Intervals are 95%."]


def _value(row: Any) -> str:
    return _between(row["value"], row["value_low"], row["value_high"])


def _between(value: float, low: float, high: float, sign: str = "") -> str:
    show = f"{sign},.0f" if max(abs(value), abs(low), abs(high)) >= 1000 else f"{sign},.4g"
    return f"{value:{show}} ({low:{show}} to {high:{show}})"


def write_manifest(plan: Plan, study: Study, storage: Storage, verdict: Verdict | None, folder: Path) -> None:
    """Nothing; manifest.json says what was tuned on which games, what it took, and what came out."""
    trials = study.get_trials(deepcopy=False)
    manifest = {
        "schema": SCHEMA,
        "study": plan.name,
        "title": plan.title,
        "record": plan.record,
        "key": plan.key,
        "seeds": plan.seeds(),
        "storage": JOURNAL if storage.url is None else storage.name,
        "trials": counts(trials),
        "games": effort(plan, trials),
        "confirm": plan.confirm.model_dump(),
        "baselines": {label: agent.resolved() for label, agent in plan.baselines.items()},
        "found": None if verdict is None else _found(plan, verdict),
        "started": _time(min, [trial.datetime_start for trial in trials]),
        "finished": _time(max, [trial.datetime_complete for trial in trials]),
        "written": now(),
        "commit": commit(),
        "versions": versions() | {"optuna": metadata.version("optuna")},
        "machine": machine(),
    }
    text = json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=False, default=float)
    write_whole(folder / "manifest.json", text.encode() + b"\n")


def counts(trials: Sequence[FrozenTrial]) -> dict[str, int]:
    """How many trials are finished (of which pruned), failed and still running."""
    done = [trial for trial in trials if trial.state == TrialState.COMPLETE]
    states = {state.name.lower(): sum(trial.state == state for trial in trials) for state in TrialState}
    pruned = sum(bool(trial.user_attrs.get(FIGURES, {}).get("pruned")) for trial in done)
    return {"finished": len(done), "pruned": pruned, "failed": states["fail"], "running": states["running"]}


def effort(plan: Plan, trials: Sequence[FrozenTrial]) -> dict[str, float]:
    """Games that finished trials played, those that pruning saved and their share, and hours of all workers."""
    figures = [trial.user_attrs[FIGURES] for trial in trials if trial.state == TrialState.COMPLETE]
    played, full = sum(f["n"] for f in figures), plan.games * len(figures)
    hours = sum(f["seconds"] for f in figures) / 3600
    return {"played": played, "saved": full - played, "saved_share": (full - played) / max(full, 1), "hours": hours}


def _found(plan: Plan, verdict: Verdict) -> dict[str, Any]:
    return {
        "winner": verdict.label,
        "trial": verdict.trial,
        "chosen": verdict.chosen,
        "spec": verdict.agent.spec,
        "agent_key": verdict.agent.key(),
        "parameters": verdict.agent.resolved(),
        "sentences": sentences(plan, verdict),
    }


def _time(choose: Any, times: Sequence[Any]) -> str | None:
    known = [time for time in times if time is not None]
    return choose(known).astimezone().isoformat(timespec="seconds") if known else None

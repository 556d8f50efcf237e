"""What a study leaves in its folder: trials.parquet, confirm.csv, best.toml, manifest.json and figures."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from optuna.trial import FrozenTrial, TrialState

from t48lab.analysis import OBJECTIVES, with_interval
from t48lab.errors import T48Error
from t48lab.evaluators import get_evaluator
from t48lab.files import below, write_whole
from t48lab.machine import commit, machine, now, versions
from t48lab.records import Count, checked
from t48lab.specs import join_spec, split_spec
from t48lab.studies.confirm import CHOOSE, REPORT, Verdict, candidates, confirm
from t48lab.studies.figures import Tables, write_figures
from t48lab.studies.importance import importances, sensitivity, spread
from t48lab.studies.spaces import point_of
from t48lab.studies.storage import JOURNAL, Storage
from t48lab.studies.study import Plan
from t48lab.studies.table import TRIALS, holds, trials_frame, write_trials
from t48lab.studies.tuning import FIGURES, find_study, open_study, run_trials

if TYPE_CHECKING:
    from optuna import Study

SCHEMA = 1
_EDGE = 0.05
"""Share of a range at either end in which the best trials should not lie."""
_COMMIT = "# Commit "
_OF_A_RUN = ("written", "commit", "versions", "machine")
"""What a manifest says of who wrote it last, rather than of the study."""


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
    workers = None if workers is None else checked(Count, workers, "workers")
    store = Storage(storage, Path(out or Path("results") / plan.name), new=not confirm_only)
    with store.faults():
        known = find_study(plan, store)
        if not holds(plan, known, store.folder):
            return found_before(plan, store)
        if confirm_only:
            candidates(plan, known)
        study = open_study(plan, store) if known is None else known
        try:
            last = confirm_only or run_trials(plan, study, store, workers, progress)
        except KeyboardInterrupt:
            _write_tables(plan, study, store)
            raise
        with store.alone("confirming"):
            tables = _write_tables(plan, study, store)
            if last:
                return _confirm(plan, study, store, tables, workers, progress)
    count = len(tables.trials)
    return [f"Study {plan.name} has {count} of {plan.trials} trials; the worker that finished the last one confirms."]


def found_before(plan: Plan, store: Storage) -> list[str]:
    """What the folder says of a study that the storage does not hold, when it was finished there as it is asked for.

    Nothing is played or written. Raises T48Error when it was not: going on would write over its trials.
    """
    path = store.folder / "manifest.json"
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        trials, found = manifest["trials"]["finished"], manifest["found"]
        asked = {"key": plan.key, "confirm": plan.confirm.model_dump()}
        if found and trials >= plan.trials and asked == {name: manifest[name] for name in asked}:
            end = (
                f"Found before, with {trials} trials: nothing was played or written. Choose another --out to tune anew."
            )
            return [*map(str, found["sentences"]), end]
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise T48Error(
        f"{store.folder / TRIALS} holds trials of study {plan.name!r} that {store.name} does not, and going on would "
        "write over them: choose another --out, or restore the storage"
    )


def _write_tables(plan: Plan, study: Study, store: Storage) -> Tables:
    """The tables of a study's trials, which are now in its folder, as is the manifest."""
    store.begin()
    trials = trials_frame(plan, study)
    write_trials(trials, store.folder)
    tables = Tables(trials, importances(plan, study), spread(plan, trials))
    write_csv(tables.importances, store.folder / "importances.csv")
    write_csv(tables.spread, store.folder / "spread.csv")
    write_manifest(plan, study, store, None)
    return tables


def _confirm(
    plan: Plan, study: Study, store: Storage, tables: Tables, workers: int | None, progress: bool
) -> list[str]:
    """What was found, in sentences, after the folder holds all of it."""
    folder = store.folder
    verdict = confirm(plan, study, folder, workers, progress)
    curves = sensitivity(plan, verdict.agent, folder, workers, progress) if verdict.tuned else None
    store.begin()
    write_confirmed(plan, verdict, folder)
    write_manifest(plan, study, store, verdict)
    if curves is not None and len(curves):
        write_csv(curves, folder / "sensitivity.csv")
    write_figures(plan, tables._replace(confirmed=verdict.table, sensitivity=curves), below(folder, "figures"))
    return [*sentences(plan, verdict), *outlook(plan, tables.spread, verdict, folder)]


def write_csv(table: pd.DataFrame, path: Path) -> None:
    """Writes the table to a file."""
    write_whole(path, table.to_csv(index=False, lineterminator="\n").encode())


def write_confirmed(plan: Plan, verdict: Verdict, folder: Path) -> None:
    """Writes the verdict's table to confirm.csv, and the winner's evaluator to best.toml if it has one."""
    write_csv(verdict.table, folder / "confirm.csv")
    if "evaluator" in type(verdict.agent).model_fields:
        _write_news(folder / "best.toml", best_toml(plan, verdict, folder), _without_commit)


def _write_news(path: Path, text: str, gist: Callable[[str], Any]) -> None:
    """Writes a text, unless the file holds one of the same gist: what was done again is no news."""
    try:
        if gist(path.read_text(encoding="utf-8")) == gist(text):
            return
    except (OSError, ValueError):
        pass
    write_whole(path, text.encode())


def _without_commit(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith(_COMMIT)]


def _without_run(text: str) -> dict[str, Any]:
    return {name: value for name, value in json.loads(text).items() if name not in _OF_A_RUN}


def best_toml(plan: Plan, verdict: Verdict, folder: Path) -> str:
    """The winner's evaluator as its TOML file, with where it comes from and how good it is as comments."""
    evaluator = get_evaluator(verdict.agent.evaluator)  # type: ignore[attr-defined]
    lines = [*sentences(plan, verdict), f"{_COMMIT[2:]}{commit() or 'unknown'}, {now()}."]
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
        lines.append(_optimist(plan, first, name))
        lines.append(f"Chosen: {_value(row)} in {row['games']} games of seed {row['seed']}, of {len(first)} agents.")
    for agent, row in last.iterrows():
        against = ""
        if pd.notna(row["mean_difference"]):
            ends = row["mean_difference"], row["difference_low"], row["difference_high"]
            against = f"; {_between(*ends, sign='+')} against {row['baseline']} on the same games"
        lines.append(f"Confirmed: {agent} {_value(row)} in {row['games']} games of seed {row['seed']}{against}.")
    beaten = "it beats every baseline" if verdict.trial is not None else "no trial is confirmed to beat it"
    return [*lines, f"Winner: {verdict.label}, {beaten}. Intervals are 95%."]


def _optimist(plan: Plan, first: pd.DataFrame, chosen: str) -> str:
    """The best trial's figure of its own games, and the chosen trial's where that is another."""
    own = first["tuning_value"].dropna().astype(float)
    best = own.idxmax() if OBJECTIVES[plan.objectives[0]].better == "higher" else own.idxmin()
    said = []
    for name in dict.fromkeys((str(best), chosen)):
        row = first.loc[name]
        value = _between(row["tuning_value"], row["tuning_low"], row["tuning_high"])
        said.append(f"{value} in {row['tuning_games']:.0f} games of seed {plan.tuning_seed}, {name}")
    return f"The optimist's figure: {'; the chosen: '.join(said)}."


def outlook(plan: Plan, spread: pd.DataFrame, verdict: Verdict, folder: Path) -> list[str]:
    """The winner's free parameters, which ranges its study has outgrown, and where everything is, a line each."""
    point = point_of(verdict.agent, plan.agent, plan.space) or {}
    shown = [f"{free.name} {_plain(free.shown(point[free.name]))}" for free in plan.space if free.name in point]
    lines = [f"Its parameters: {', '.join(shown)}."] if shown else []
    ranges = {free.name: free for free in plan.space if not free.choices}
    for row in spread.to_dict("records"):
        free, at = ranges.get(row["parameter"]), row.get("at_median", np.nan)
        if free and not _EDGE < at < 1 - _EDGE and at == at:
            end, way = ("upper", "raise high") if at > 0.5 else ("lower", "lower low")
            lines.append(
                f"{free.name}: the best {row['trials']} trials lie at {at:.2f} of its range, {free.low:g} to "
                f"{free.high:g}; the optimum may be past the {end} end, {way} in a study of another name."
            )
    return [*lines, f"Written to {folder}: best.toml, confirm.csv, trials.parquet and figures."]


def _plain(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _value(row: Any) -> str:
    return _between(row["value"], row["value_low"], row["value_high"])


def _between(value: Any, low: Any, high: Any, sign: str = "") -> str:
    spec = f"{sign},.0f" if max(abs(value), abs(low), abs(high)) >= 1000 else f"{sign},.4g"
    return with_interval(value, low, high, lambda number: format(number, spec), " to ")


def write_manifest(plan: Plan, study: Study, storage: Storage, verdict: Verdict | None) -> None:
    """Writes manifest.json: what was tuned on which games, what it took, and what came out.

    Without a verdict, what an earlier confirmation of the same trials found stays.
    """
    trials, path = study.get_trials(deepcopy=False), storage.folder / "manifest.json"
    found = _found(plan, verdict) if verdict else _found_before(plan, counts(trials), path)
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
        "found": found,
        "started": _time(min, [trial.datetime_start for trial in trials]),
        "finished": _time(max, [trial.datetime_complete for trial in trials]),
        "written": now(),
        "commit": commit(),
        "versions": versions() | {"optuna": metadata.version("optuna")},
        "machine": machine(),
    }
    text = json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=False, default=float)
    _write_news(path, f"{text}\n", _without_run)


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


def _found_before(plan: Plan, trials: dict[str, int], path: Path) -> Any:
    try:
        before = json.loads(path.read_text(encoding="utf-8"))
        same = before["key"] == plan.key and before["trials"]["finished"] == trials["finished"]
        return before["found"] if same else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


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

"""The table of a study's trials, which its folder keeps when the journal or database that it came from is gone."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
from optuna.trial import TrialState

from t48lab.errors import T48Error
from t48lab.files import write_whole
from t48lab.studies.study import Plan
from t48lab.studies.tuning import FIGURES, RETRIES

if TYPE_CHECKING:
    from optuna import Study

TRIALS = "trials.parquet"
_KINDS = {"trial": "int64", "n": "int64", "moves": "int64", "retries": "int64", "pruned": "bool", "start": "bool"}
_FIGURES = "n pruned mean sd low high mean_score moves ms_per_move nodes_per_move seconds".split()


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
        point = {free.name: free.shown(trial.params[free.name]) for free in plan.space}
        rows.append({"trial": trial.number} | point | figures | own | times)
    columns = ["trial", *(free.name for free in plan.space), *_FIGURES, "start", "retries", "started", "finished"]
    kinds = dict.fromkeys(_FIGURES, "float64") | _KINDS
    kinds |= {free.name: "str" if free.choices else "int64" if free.whole else "float64" for free in plan.space}
    frame = pd.DataFrame(rows, columns=columns).astype(kinds)
    frame["best"] = frame["mean"].where(~frame["pruned"]).cummax().ffill()
    return frame


def read_trials(folder: Path) -> pd.DataFrame | None:
    """What trials.parquet holds, None when there is none; raises T48Error when it is damaged."""
    path = folder / TRIALS
    try:
        return pd.read_parquet(io.BytesIO(path.read_bytes()))
    except FileNotFoundError:
        return None
    except Exception as error:  # Arrow raises many kinds on damaged bytes
        reason = (str(error).splitlines() or [type(error).__name__])[0][:120]
        raise T48Error(f"{path} cannot be read ({reason}), restore it or choose another --out") from None


def write_trials(frame: pd.DataFrame, folder: Path) -> None:
    """Writes the frame to trials.parquet, unless it is there."""
    stored = read_trials(folder)
    if stored is None or not stored.equals(frame):
        sink = io.BytesIO()
        frame.to_parquet(sink, index=False)
        write_whole(folder / TRIALS, sink.getvalue())


def holds(plan: Plan, study: Study | None, folder: Path) -> bool:
    """Whether every trial of the folder's table is one of the study, so that the table can be written again."""
    stored = read_trials(folder)
    if stored is None or stored.empty:
        return True
    columns = ["trial", *(free.name for free in plan.space)]
    if study is None or not set(columns) <= set(stored.columns):
        return False
    rows, known = (
        set(frame[columns].itertuples(index=False, name=None)) for frame in (stored, trials_frame(plan, study))
    )
    return rows <= known

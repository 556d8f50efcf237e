"""From an experiment and a file of claims to the table of verdicts."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from t48lab.claims import system_a, system_b, system_c, system_d, system_e
from t48lab.claims.evidence import Evidence
from t48lab.claims.registry import CLAIMS
from t48lab.errors import T48Error
from t48lab.experiments import Experiment, Store, run_experiment

COLUMNS = ["id", "claimed", "ours", "low", "high", "n", "verdict", "reason"]
SYSTEMS = (system_a, system_b, system_c, system_d, system_e)
"""The modules whose rules stand in CLAIMS."""


def run_claims(
    experiment: Experiment,
    claims: str | Path,
    out: str | Path | None = None,
    workers: int | None = None,
    most: int | None = None,
    progress: bool = False,
) -> pd.DataFrame:
    """The verdicts, a row a claim with COLUMNS, after playing and measuring what the folder lacks.

    `claims` is the CSV file of claims; `most` caps the cases of each measurement. Also writes verdicts.csv.
    Ctrl-C keeps finished games and measurements. Raises T48Error when a claim has no rule.
    """
    store = Store(out or Path("results") / experiment.name)
    stated = read_claims(claims)
    games = run_experiment(experiment, store.folder, workers, progress)
    table = judge(stated, Evidence(games[games["seed"] == experiment.seed], store.folder, most))
    store.write_table("verdicts", table)
    return table


def read_claims(path: str | Path) -> pd.DataFrame:
    """The claims of a CSV file; raises T48Error when it cannot be read or holds a claim without a rule."""
    try:
        stated = pd.read_csv(path, dtype=str)
    except (OSError, ValueError) as error:
        raise T48Error(f"cannot read claims from {path}: {' '.join(str(error).split())}") from None
    for name in ("id", "quantity", "value"):
        if name not in stated.columns:
            raise T48Error(f"{path} has no column {name!r}, it needs id, quantity and value")
    unknown = [claim for claim in stated["id"] if claim not in CLAIMS]
    if unknown:
        raise T48Error(f"{path}: there is no rule for claim {unknown[0]!r}, leave it out or write one in t48lab/claims")
    return stated


def judge(stated: pd.DataFrame, evidence: Evidence) -> pd.DataFrame:
    """One row a claim with COLUMNS."""
    rows = []
    for claim, quantity, value in stated[["id", "quantity", "value"]].itertuples(index=False):
        found, verdict, reason = CLAIMS[str(claim)](evidence)
        figures = [float(f"{number:.4g}") for number in (found.value, found.low, found.high)]
        rows.append([claim, f"{quantity} {value}", *figures, found.n, verdict, reason])
    return pd.DataFrame(rows, columns=COLUMNS)

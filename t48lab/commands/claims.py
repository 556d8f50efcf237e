"""`t48lab claims`: a verdict on every claim of the five articles."""

from __future__ import annotations

from pathlib import Path

import click

from t48lab.commands.report import wide_console
from t48lab.commands.run import Interrupted

EXPERIMENT = Path("experiments/claims.toml")


@click.command("claims")
@click.argument("experiment", metavar="[EXPERIMENT.toml]", type=click.Path(path_type=Path), default=EXPERIMENT)
@click.option("--games", type=int, help="Games of each agent, and most cases of each measurement.")
@click.option("--seed", type=int, help="Base seed of the games, in place of the file's.")
@click.option("--workers", type=int, help="Games at once (default: one a processor).")
@click.option("--out", type=click.Path(path_type=Path), help="The results folder (default: results/claims).")
def command(experiment: Path, games: int | None, seed: int | None, workers: int | None, out: Path | None) -> None:
    """Judge what the five articles claim.

    Plays the games of EXPERIMENT.toml, makes the measurements that games cannot give, and holds both against the
    claims in the .csv file beside it. What is there already is not done again.
    """
    from t48lab.claims.verdicts import run_claims
    from t48lab.experiments import Sheet, load_experiment

    loaded = load_experiment(experiment, games, seed)
    folder = out or Path("results") / loaded.name
    try:
        verdicts = run_claims(loaded, experiment.with_suffix(".csv"), folder, workers, games, progress=True)
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted: what is finished is kept in {folder}, the same command goes on") from None
    rows = [
        [f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in row]
        for row in verdicts.itertuples(index=False)
    ]
    wide_console().print(
        Sheet("Verdicts", list(verdicts.columns), [("", rows)], "Intervals of 95%; n: games or cases.")
    )
    click.echo(f"{verdicts['verdict'].value_counts().to_dict()}\nWritten to {folder}: verdicts.csv.")

"""`t48lab run`: play what an experiment's folder lacks, then write its tables and figures."""

from __future__ import annotations

from pathlib import Path

import click

from t48lab.commands.report import show


class Interrupted(click.ClickException):
    """Ctrl-C, with what is kept; click itself would say no more than that it was aborted."""

    exit_code = 130


@click.command("run")
@click.argument("experiment", metavar="EXPERIMENT.toml", type=click.Path(path_type=Path))
@click.option("--games", type=int, help="Games of each agent, in place of the file's.")
@click.option("--seed", type=int, help="Base seed, in place of the file's.")
@click.option("--workers", type=int, help="Games at once (default: one a processor).")
@click.option("--cluster", metavar="ADDRESS", help="Play on the Dask cluster of this scheduler, tcp://host:8786.")
@click.option("--out", type=click.Path(path_type=Path), help="The results folder (default: results/NAME).")
def command(
    experiment: Path,
    games: int | None,
    seed: int | None,
    workers: int | None,
    cluster: str | None,
    out: Path | None,
) -> None:
    """Play an experiment and report on it.

    Games that the results folder holds are not played again: after an interruption, run the same again.
    """
    from t48lab.experiments import load_experiment, run_experiment
    from t48lab.games import connected

    loaded = load_experiment(experiment, games, seed)
    folder = out or Path("results") / loaded.name
    try:
        if cluster:
            with connected(cluster) as executor:
                run_experiment(loaded, folder, workers, progress=True, executor=executor)
        else:
            run_experiment(loaded, folder, workers, progress=True)
        show(folder)
    except KeyboardInterrupt:
        raise Interrupted(
            f"interrupted: finished games are kept in {folder}, the same command goes on from there"
        ) from None

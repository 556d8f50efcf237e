"""`t48lab tune`: look for better parameters, then confirm them on games that no trial has seen."""

from __future__ import annotations

from pathlib import Path

import click

from t48lab.commands.run import Interrupted


@click.command("tune")
@click.argument("study", metavar="STUDY.toml", type=click.Path(path_type=Path))
@click.option("--trials", type=int, help="Finished trials that the study ends with, in place of the file's.")
@click.option(
    "--storage", metavar="URL", envvar="T48LAB_STORAGE", help="An Optuna URL (default: a journal file in the folder)."
)
@click.option("--workers", type=int, help="Games at once (default: one a processor).")
@click.option("--confirm", is_flag=True, help="No more trials: confirm those that there are.")
@click.option("--out", type=click.Path(path_type=Path), help="The study's folder (default: results/NAME).")
def command(
    study: Path, trials: int | None, storage: str | None, workers: int | None, confirm: bool, out: Path | None
) -> None:
    """Tune an agent by a study file.

    The same command starts a study, goes on with it after an interruption, and joins it from another terminal
    or, with --storage, another machine. The worker that finishes the last trial confirms the best ones.
    """
    from t48lab.studies import load_study, tune

    plan = load_study(study, trials)
    folder = out or Path("results") / plan.name
    try:
        lines = tune(plan, folder, storage, workers, confirm, progress=True)
    except KeyboardInterrupt:
        raise Interrupted(
            f"interrupted: finished trials and games are kept in {folder}, the same command goes on from there"
        ) from None
    click.echo("\n".join(lines))

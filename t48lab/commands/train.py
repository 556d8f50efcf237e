"""`t48lab train`: teach a network by playing, from a training's file or on from its last checkpoint."""

from __future__ import annotations

from pathlib import Path

import click

from t48lab.commands.run import Interrupted


@click.command("train")
@click.argument("training", metavar="TRAINING.toml", type=click.Path(path_type=Path))
@click.option("--games", type=int, help="Games that the training ends with, in place of the file's.")
@click.option("--threads", type=int, default=1, show_default=True, help="Threads that share the weights.")
@click.option(
    "--minutes", type=click.FloatRange(min=0.0), default=10.0, show_default=True, help="Time between two checkpoints."
)
@click.option("--out", type=click.Path(path_type=Path), help="The training's folder (default: results/NAME).")
def command(training: Path, games: int | None, threads: int, minutes: float, out: Path | None) -> None:
    """Train a network by a training's file.

    The same command starts a training and goes on with it after an interruption. With one thread the net depends on
    the file alone; more threads are faster, and their nets never repeat.
    """
    from t48lab.learning import load_training, train

    plan = load_training(training, games)
    folder = out or Path("results") / training.stem
    try:
        net = train(plan, folder, threads, progress=True, minutes=minutes)
    except KeyboardInterrupt:
        raise Interrupted(
            f"interrupted: finished games are kept in {folder}, the same command goes on from there"
        ) from None
    click.echo(f"{net.path}: {net.games} games, {len(net.weights)} weights, {net.digest[:16]}")

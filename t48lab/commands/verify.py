"""`t48lab verify`: check a results folder, and replay a sample of its games."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("verify")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--games", type=int, default=2, show_default=True, help="Games of each agent to replay.")
@click.option("--seed", type=int, default=0, show_default=True, help="Chooses which games.")
@click.option("--workers", type=int, help="Games at once (default: one a processor).")
def command(folder: Path, games: int, seed: int, workers: int | None) -> None:
    """Check a results folder, and replay some of its games.

    Names the first difference between what is stored and what seed and agent give. Games of agents that seconds
    limit are checked but not replayed.
    """
    from t48lab.experiments import verify
    from t48lab.records import Count, Seed, checked

    games, seed = checked(Seed, games, "games"), checked(Seed, seed, "seed")
    workers = None if workers is None else checked(Count, workers, "workers")
    click.echo(verify(folder, games, seed, workers, progress=True).sentence)

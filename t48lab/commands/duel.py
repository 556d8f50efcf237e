"""`t48lab duel`: which of two agents is stronger, with as few games as the answer needs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from t48lab.commands.report import wide_console
from t48lab.commands.run import Interrupted

if TYPE_CHECKING:
    from t48lab.experiments import Duel, Sheet


@click.command("duel")
@click.argument("first", metavar="AGENT_A")
@click.argument("second", metavar="AGENT_B")
@click.option("--games", type=int, default=1000, show_default=True, help="Most games of each agent, 20 to 10000.")
@click.option("--equal-time", is_flag=True, help="Give both the processor time for each move that AGENT_A takes.")
@click.option("--ms", type=float, help="With --equal-time: this processor time for each move, in milliseconds.")
@click.option("--seed", type=int, default=2048, show_default=True, help="Base seed of the deals.")
@click.option("--workers", type=int, help="Games at once (default: one a processor).")
@click.option("--out", type=click.Path(path_type=Path), help="Keep the games in this folder, and go on from there.")
def command(
    first: str,
    second: str,
    games: int,
    equal_time: bool,
    ms: float | None,
    seed: int,
    workers: int | None,
    out: Path | None,
) -> None:
    """Let two agents play the same games until the answer is clear.

    The first line is the verdict. See docs/duel.md for the test and its error rates.
    """
    from t48lab.errors import T48Error
    from t48lab.experiments import duel
    from t48lab.experiments import equal_time as at_equal_time

    if ms is not None and not equal_time:
        raise T48Error("--ms is the time of --equal-time, give both or neither")
    one, other = at_equal_time(first, second, seed, ms) if equal_time else (first, second)
    try:
        found = duel(one, other, games, seed, workers, out, progress=True)
    except KeyboardInterrupt:
        kept = f"finished games are kept in {out}, the same command goes on from there" if out else "no verdict"
        raise Interrupted(f"interrupted: {kept}") from None
    _show(found, equal_time)


def _show(found: Duel, equal_time: bool) -> None:
    from t48lab.plaintext import visible

    click.echo(visible(found.sentence))
    wide_console().print(sheet(found))
    click.echo(visible(found.points))
    click.echo(found.rates)
    if equal_time and (warning := found.uneven()):
        click.echo(warning)


def sheet(found: Duel) -> Sheet:
    """The table below the verdict."""
    from t48lab.analysis import summary
    from t48lab.experiments import Sheet, short, whole

    rows = []
    for place, row in enumerate(summary(found.games).to_dict("records")):
        won = found.losses if place else found.wins
        mean = f"{whole(row['mean_score'])} ({whole(row['mean_low'])}–{whole(row['mean_high'])})"
        cost = [short(row["nodes_per_move"]), short(1000 * row["ms_per_move"])]
        rows.append([row["agent"], str(row["games"]), f"{won:,}", f"{found.ties:,}", mean, whole(row["median_score"])])
        rows[-1] += cost
    header = ["agent", "games", "wins", "ties", "mean score (95%)", "median", "nodes/move", "µs/move"]
    seed = int(found.games["seed"].iloc[0])
    note = (
        f"Seed {seed}, games 0 to {found.deals - 1}. Intervals of means: bootstrap, as for a number of games fixed "
        "beforehand. µs of processor time."
    )
    return Sheet("The games that count", header, [("", rows)], note)

"""`t48lab diagnose`: what an agent's games look like from inside."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    import pandas as pd


@click.command("diagnose")
@click.argument("spec", metavar="AGENT")
@click.option("--games", type=int, default=10, show_default=True, help="Games to look at.")
@click.option("--seed", type=int, default=2048, show_default=True, help="Base seed.")
@click.option("--deeper", metavar="AGENT", help="A deeper search that judges the moves; slow.")
@click.option("--every", type=int, default=5, show_default=True, help="Judge every n-th position only.")
@click.option("--out", type=click.Path(path_type=Path), help="A folder for tables, logs and pictures.")
def command(spec: str, games: int, seed: int, deeper: str | None, every: int, out: Path | None) -> None:
    """Look at an agent's habits, game by game.

    With --out it writes habits.csv, empties.csv, and each game with its log of decisions; with --deeper also
    misjudged.csv and misjudged.html.
    """
    from t48lab.agents import make_agent
    from t48lab.files import write_whole
    from t48lab.games import decisions, empties_over_time, habits, misjudged, misjudged_page, records
    from t48lab.records import Count, Seed, checked

    agent, judge = make_agent(spec), make_agent(deeper) if deeper else None
    checked(Count, every, "every")
    played = records(agent, checked(Count, games, "games"), checked(Seed, seed, "seed"))
    tables = {"habits": habits(played), "empties": empties_over_time(played)}
    click.echo(_averages(tables["habits"]))
    if judge:
        tables["misjudged"] = misjudged(played, judge, every=every)
        click.echo(f"\nWhat {judge.spec} would rather have played:\n{_lines(tables['misjudged'])}")
    if out is None:
        return
    for record in played:
        name = f"game-{record.game:03}"
        write_whole(out / f"{name}.json", f"{record.model_dump_json()}\n".encode())
        tables[name] = decisions(record)
    for name, table in tables.items():
        write_whole(out / f"{name}.csv", table.to_csv(index=False, lineterminator="\n").encode())
    if judge:
        write_whole(out / "misjudged.html", misjudged_page(tables["misjudged"], judge).encode())
    click.echo(f"\nWritten to {out}.")


def _averages(table: pd.DataFrame) -> str:
    """Means over games, a line each."""
    from t48lab.analysis import mean_interval, with_interval

    words = {
        "score": "score",
        "moves": "moves",
        "repeats": "of the first 200 moves repeat a direction for the third time running",
        "off_corner": "of positions have the largest tile off the corners",
        "centre": "of positions have it in the centre",
        "empties": "empty cells",
        "crowded": "of positions have fewer than 4 empty cells",
        "hit_rate": "of table look-ups are hits",
    }
    shares = {"repeats", "off_corner", "centre", "crowded", "hit_rate"}
    of = f"{len(table)} games of {table['agent'].iloc[0]}, seed {table['seed'].iloc[0]}"
    lines = [f"Means over {of}, with 95% intervals (bootstrap):"]
    for name, text in words.items():
        values = table[name].dropna().to_numpy(float)
        if len(values):
            show = "{:.1%}".format if name in shares else "{:,.1f}".format
            lines.append(f"{with_interval(values.mean(), *mean_interval(values), show):>28} {text}")
    return "\n".join(lines)


def _lines(table: pd.DataFrame) -> str:
    rows = table.itertuples(index=False)
    shown = [f"  {r.board}  {r.better} instead of {r.played}, {r.loss:,.6g} more" for r in rows]
    return "\n".join(shown) or "  nothing"

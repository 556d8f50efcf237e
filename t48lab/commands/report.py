"""`t48lab report`: tables and figures of a results folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console

_PLAIN_WIDTH = 160


@click.command("report")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--baseline", metavar="AGENT", help="Label of the agent that the others are compared with.")
@click.option("--older", is_flag=True, help="Show older games too: other seeds, agents and numbers of games.")
def command(folder: Path, baseline: str | None, older: bool) -> None:
    """Print and write tables and figures.

    DIR is a results folder, such as `run` leaves.
    """
    show(folder, baseline, older)


def wide_console() -> Console:
    """The terminal, or where there is none something wide enough for every table."""
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        console.width = _PLAIN_WIDTH
    return console


def show(folder: Path, baseline: str | None = None, older: bool = False) -> None:
    """Prints a folder's report after writing its files."""
    from t48lab.experiments import write_report
    from t48lab.plaintext import visible

    console = wide_console()
    for part in write_report(folder, baseline, older):
        if isinstance(part, str):
            click.echo(visible(part))
        else:
            console.print(part, "")
    click.echo(f"\nWritten to {folder}: summary.csv, pairs.csv, report.md, tables and figures.")

"""`t48lab solve`: exact play on a small board, from a table that is made once."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from t48lab.commands.run import Interrupted

if TYPE_CHECKING:
    from t48lab.rules import Rules


@click.command("solve")
@click.argument("size", metavar="RxC")
@click.option("--objective", default="score", show_default=True, help="score, adversary or tile:N.")
@click.option("--four", type=float, default=0.1, show_default=True, help="Probability that a spawned tile is a 4.")
@click.option("--workers", type=int, help="Threads (default: one a processor).")
@click.option("--memory", type=float, help="Gigabytes that the tables may take (default: what the disk has room for).")
@click.option("--out", type=click.Path(path_type=Path), help="Folder of the tables (default: in the user's cache).")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of a sentence.")
def command(
    size: str,
    objective: str,
    four: float,
    workers: int | None,
    memory: float | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Solve a small board: what best play can expect.

    The values of all positions are kept in a folder; the same command again reads them from there.
    """
    from t48lab.exact import solve

    try:
        solution = solve(rules_of(size, four), objective, workers, out, progress=True, memory=memory)
    except KeyboardInterrupt:
        raise Interrupted("interrupted: finished layers are kept, the same command goes on from there") from None
    if as_json:
        facts = {"positions": solution.positions, "expected": solution.expected}
        click.echo(json.dumps({"rules": solution.rules.model_dump(), "objective": solution.objective, **facts}))
    else:
        click.echo(repr(solution))


def rules_of(size: str, four: float = 0.1) -> Rules:
    """The rules of a size such as `3x3`; raises T48Error."""
    from t48lab.errors import T48Error
    from t48lab.rules import Rules

    found = re.fullmatch(r"([0-9]{1,3})[xX]([0-9]{1,3})", size.strip())
    if not found:
        raise T48Error(f"a size is rows x columns, as in 3x3, got {size!r}")
    return Rules(rows=int(found[1]), cols=int(found[2]), four_probability=four)

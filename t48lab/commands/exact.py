"""`t48lab exact`: what agents score on a small board, without sampling."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from t48lab.commands.report import wide_console
from t48lab.commands.run import Interrupted
from t48lab.commands.solve import rules_of

if TYPE_CHECKING:
    from t48lab.agents import ExactValue

_TILES_SHOWN = 4


@click.command("exact")
@click.argument("agents", metavar="AGENT...", nargs=-1, required=True)
@click.option("--rules", "size", metavar="RxC", required=True, help="Size of the board, such as 3x3.")
@click.option("--four", type=float, default=0.1, show_default=True, help="Probability that a spawned tile is a 4.")
@click.option("--workers", type=int, help="Threads (default: one a processor).")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of a table.")
def command(agents: tuple[str, ...], size: str, four: float, workers: int | None, as_json: bool) -> None:
    """Value agents on a small board, without sampling.

    For agents whose move depends on the position alone, and for random play.
    """
    from t48lab.agents import exact_value, make_agent

    players = {agent: make_agent(agent) for agent in agents}
    try:
        found = {
            name: exact_value(player, rules_of(size, four), workers, progress=True) for name, player in players.items()
        }
    except KeyboardInterrupt:
        raise Interrupted("interrupted: finished layers are kept, the same command goes on from there") from None
    if as_json:
        click.echo(json.dumps({name: asdict(value) for name, value in found.items()}))
    else:
        _show(found, size)


def _show(found: dict[str, ExactValue], size: str) -> None:
    from t48lab.experiments import Sheet

    tiles = [tile for tile in next(iter(found.values())).tiles if any(v.tiles[tile] >= 0.0005 for v in found.values())]
    shown = tiles[-_TILES_SHOWN:]
    rows = []
    for name, value in found.items():
        chances = [f"{value.tiles[tile]:.3%}" for tile in shown]
        rows.append([name, f"{value.mean:,.6g}", f"{value.variance**0.5:,.4g}", *chances, f"{value.positions:,}"])
    heads = ["agent", "mean score", "standard deviation", *map(str, shown), "positions"]
    note = "Computed from every position that the agent can reach; nothing is sampled."
    wide_console().print(Sheet(f"Exact values on {size}: points, and chances of a tile", heads, [("", rows)], note))

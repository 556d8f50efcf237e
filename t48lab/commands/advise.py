"""`t48lab advise`: the best move of a position and what the others are worth."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from t48lab.board import Board
    from t48lab.searches import SearchResult

DEFAULT_AGENT = "expectimax"


@click.command("advise")
@click.argument("board")
@click.option("--agent", "spec", default=DEFAULT_AGENT, show_default=True, help="Who advises, as a spec.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def command(board: str, spec: str, as_json: bool) -> None:
    """Advise a move on a board.

    BOARD is 16 tile values ("2 0 0 4 / 0 0 ...") or 16 digits of ranks ("1002...").
    """
    from t48lab.agents import make_agent
    from t48lab.board import Board

    position, agent = Board.parse(board), make_agent(spec)
    found = agent.search(position)
    if as_json:
        click.echo(json.dumps(advice(position, agent.spec, found), allow_nan=False))
        return
    click.echo(f"{position}\n\n{found!r}")
    click.echo("\n".join([*gap(found), f"agent: {agent.spec}"]))


def advice(board: Board, spec: str, found: SearchResult) -> dict[str, Any]:
    """What `--json` prints."""
    legal = board.legal_moves
    moves = {
        name: {"legal": name in legal, "value": value, "visits": (found.visits or {}).get(name)}
        for name, value in found.values.items()
    }
    head = {"board": board.hex, "best": found.best, "agent": spec, "nodes": found.nodes, "seconds": found.seconds}
    return head | {"moves": moves}


def gap(found: SearchResult) -> list[str]:
    """A line that says how far the best move is ahead of the second best; none when there is no second."""
    known = {name: value for name, value in found.values.items() if value is not None}
    others = {name: value for name, value in known.items() if name != found.best}
    if found.best not in known or not others:
        return []
    second = max(others, key=lambda name: others[name])
    return [f"{found.best} is worth {known[found.best] - others[second]:,.6g} more than {second}"]

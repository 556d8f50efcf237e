"""`t48lab advise`: the best move of a position and what the others are worth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from t48lab.commands.conversation import converse

if TYPE_CHECKING:
    from t48lab.agents import Agent, SearchResult
    from t48lab.board import Board

DEFAULT_AGENT = "expectimax"
START = "2 2 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0"


@click.command("advise")
@click.argument("board", required=False)
@click.option("--agent", "spec", default=DEFAULT_AGENT, show_default=True, help="Who advises, as a spec.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
@click.option(
    "--tree",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Draw the part of the decision tree that mattered (.svg), or write it (.json).",
)
@click.option("--searches", type=int, default=1, show_default=True, help="Independent searches to merge; mcts only.")
@click.option("--loop", is_flag=True, help="Go on: accept the advice or play another move, say what appeared.")
def command(board: str | None, spec: str, as_json: bool, tree: Path | None, searches: int, loop: bool) -> None:
    """Advise a move on a board.

    BOARD is 16 tile values ("2 0 0 4 / 0 0 ...") or 16 digits of ranks ("1002..."); with --loop it may be left out.
    """
    from t48lab.agents import make_agent, search_together
    from t48lab.board import Board
    from t48lab.errors import T48Error

    if board is None and not loop:
        raise click.UsageError("Missing argument 'BOARD'.")
    if loop and (as_json or tree or searches != 1):
        raise T48Error("--loop goes without --json, --tree and --searches, leave them out")
    if tree and tree.suffix not in (".svg", ".json"):
        raise T48Error(f"a tree is an .svg or a .json file, got {tree}")
    position, agent = Board.parse(START if board is None else board), make_agent(spec)
    if loop:
        converse(position, agent, explained)
        return
    found = search_together(agent, position, searches) if searches != 1 else agent.search(position)
    if tree:
        _write_tree(tree, agent, position)
    if as_json:
        click.echo(json.dumps(advice(position, agent.spec, found), allow_nan=False))
        return
    click.echo(explained(position, agent, found))


def explained(board: Board, agent: Agent, found: SearchResult) -> str:
    """The board, what was found there, and how clear the answer is."""
    return "\n".join([f"{board}\n\n{found!r}", *gap(found), f"agent: {agent.spec}"])


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
    """Lines on how far the best move is ahead of the next by value and by visits; none when there is no other."""
    known = {name: value for name, value in found.values.items() if value is not None}
    others = {name: value for name, value in known.items() if name != found.best}
    if found.best not in known or not others:
        return []
    second = max(others, key=lambda name: others[name])
    ahead = known[found.best] - others[second]
    lines = [f"{found.best} is worth {abs(ahead):,.6g} {'more' if ahead > 0 else 'less'} than {second}"]
    if abs(ahead) <= 1e-12 * abs(known[found.best]):
        lines = [f"{found.best} and {second} are worth the same"]
    visits = {name: count or 0 for name, count in (found.visits or {}).items()}
    if sum(visits.values()):
        lines.append(
            f"{found.best} has {visits[found.best] / sum(visits.values()):.0%} of {sum(visits.values()):,} visits"
        )
    return lines


def _write_tree(path: Path, agent: Agent, board: Board) -> None:
    from t48lab.agents import decision_tree
    from t48lab.files import write_whole
    from t48lab.pictures import tree_svg

    tree = decision_tree(agent, board)
    text = tree_svg(tree) if path.suffix == ".svg" else json.dumps(tree, indent=1, allow_nan=False) + "\n"
    write_whole(path, text.encode())

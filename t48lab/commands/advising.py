"""The conversation of `t48lab advise --loop`: advice, the person's move, what appeared, and again."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    import numpy as np

    from t48lab.agents import Agent, SearchResult
    from t48lab.board import Board

HELP = """Enter plays the advice, up/right/down/left (or the first letter) another move, a board looks at that board,
q ends. Then say what appeared: row, column and value ("0 3 2"), a whole board, or Enter to let chance decide."""
_SEED = 2048
Answer = TypeVar("Answer")


class _Ended(Exception):
    """The person has said q, or there is nothing more to read."""


def converse(board: Board, agent: Agent, explained: Callable[[Board, Agent, SearchResult], str]) -> None:
    """Talks until the person ends it or the game is over."""
    import numpy as np

    chance = np.random.default_rng(_SEED)
    click.echo(HELP)
    try:
        while True:
            found = agent.search(board)
            click.echo(f"\n{explained(board, agent, found)}")
            if found.best is None:
                click.echo("The game is over. Type another board, or q.")
            move = _asked(f"move [{found.best or 'none'}]", partial(_move, board=board, best=found.best))
            if not isinstance(move, str):
                board = move
                continue
            after, reward = board.move(move)
            click.echo(f"{move}, {reward} points:\n\n{after}\n")
            board = _asked("appeared [by chance]", partial(_appeared, after=after, chance=chance))
    except _Ended:
        click.echo()


def _asked(question: str, read: Callable[[str], Answer]) -> Answer:
    """The answer to a question, asked again after each one that makes no sense."""
    from t48lab.errors import T48Error

    while True:
        click.echo(f"{question}: ", nl=False)
        line = sys.stdin.readline()
        if not line or line.strip().lower() in ("q", "quit", "exit"):
            raise _Ended
        try:
            return read(line.strip())
        except T48Error as error:
            click.echo(str(error))


def _move(text: str, board: Board, best: str | None) -> str | Board:
    """The move that an answer means, or another board; raises T48Error."""
    from t48lab.board import DIRECTIONS, Board
    from t48lab.errors import T48Error

    if not text and best is None:
        raise T48Error("no move is legal, type another board, or q")
    if re.fullmatch(r"[a-zA-Z]{1,9}", text):
        name = next((name for name in DIRECTIONS if name.startswith(text.lower())), text)
        board.move(name)
        return name
    return Board.parse(text) if text else str(best)


def _appeared(text: str, after: Board, chance: np.random.Generator) -> Board:
    """The board after the spawn that an answer means; raises T48Error."""
    from t48lab.board import Board
    from t48lab.errors import T48Error

    spawns = {(row, col, tile): board for row, col, tile, board in after.spawns()}
    if not text:
        twos = [board for (_, _, tile), board in spawns.items() if tile == 2]
        fours = [board for (_, _, tile), board in spawns.items() if tile == 4]
        return (fours if chance.random() < 0.1 else twos)[chance.integers(len(twos))]
    parts = re.split(r"[\s,@]+", text)
    if len(parts) != 3:
        return Board.parse(text)
    if not all(part.isdigit() for part in parts) or (place := tuple(map(int, parts))) not in spawns:
        raise T48Error(f"{text!r} is no spawn here, say row, column (from 0) and 2 or 4 of an empty cell")
    return spawns[place]

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

HELP = """Enter plays the advice, up/right/down/left (the first letter, or the arrow key) another move, undo takes the
last one back, a board looks at that board, q ends. Then say what appeared: row, column and value ("0 3 2"), a whole
board, or Enter to let chance decide."""
_SEED = 2048
Answer = TypeVar("Answer")


_ARROWS = {"A": "up", "B": "down", "C": "right", "D": "left"}


class _Ended(Exception):
    """The person has said q, or there is nothing more to read."""


class _Undone(Exception):
    """The person wants the last move back."""


def converse(board: Board, agent: Agent, explained: Callable[[Board, Agent, SearchResult], str]) -> None:
    """Talks until the person ends it or the game is over."""
    import numpy as np

    chance = np.random.default_rng(_SEED)
    game = [(board, 0)]
    click.echo(HELP)
    try:
        while True:
            found = agent.search(game[-1][0])
            click.echo(f"\n{explained(game[-1][0], agent, found)}\nscore: {game[-1][1]:,} in {len(game) - 1} moves")
            if found.best is None:
                click.echo("The game is over. Type another board, undo, or q.")
            try:
                game = _continued(game, found.best, chance)
            except _Undone:
                game = game[:-1] or game
                if len(game) == 1:
                    click.echo("This is where the game begins.")
    except _Ended:
        click.echo()


def _continued(game: list[tuple[Board, int]], best: str | None, chance: np.random.Generator) -> list[tuple[Board, int]]:
    """The game, positions and scores so far, after the person's next move, or another game from another board."""
    board, score = game[-1]
    move = _asked(f"move [{best or 'none'}]", partial(_move, board=board, best=best))
    if not isinstance(move, str):
        return [(move, 0)]
    after, reward = board.move(move)
    click.echo(f"{move}, {reward} points:\n\n{after}\n")
    return [*game, (_asked("appeared [by chance]", partial(_appeared, after=after, chance=chance)), score + reward)]


def _asked(question: str, read: Callable[[str], Answer]) -> Answer:
    """The answer to a question, asked again after each one that makes no sense."""
    from t48lab.errors import T48Error

    while True:
        click.echo(f"{question}: ", nl=False)
        line = sys.stdin.readline()
        if not line or line.strip().lower() in ("q", "quit", "exit"):
            raise _Ended
        if line.strip().lower() in ("undo", "z"):
            raise _Undone
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
    if pressed := re.fullmatch(r"\x1b[\[O]([A-D])", text):
        text = _ARROWS[pressed[1]]
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

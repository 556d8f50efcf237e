"""`t48lab play`: watch an agent play one game in the terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

import click

from t48lab.commands.run import Interrupted

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

    from t48lab.agents import Agent, SearchResult
    from t48lab.board import Board
    from t48lab.games import Task

_LOG_SIZE, _UNWRITTEN = 1 << 18, 255
"""A byte a move, more than any game has; bit 3 is never set in one, so 255 marks those still to come."""


class _Scene(NamedTuple):
    """A position of a running game, and the move that is played there, None at the end."""

    board: Board
    score: int
    moves: int
    action: str | None


@click.command("play")
@click.option("--agent", "spec", default="expectimax", show_default=True, help="Who plays, as a spec.")
@click.option("--seed", type=int, default=1, show_default=True, help="Base seed; the game is its game 0.")
@click.option("--spawner", default="random", show_default=True, help="random, adversarial, or a spec of one.")
@click.option("--speed", type=float, default=10.0, show_default=True, help="Moves shown per second, 0.1 to 1000.")
def command(spec: str, seed: int, spawner: str, speed: float) -> None:
    """Watch an agent play one game.

    The board and the values of the four directions are redrawn after each move.
    Where the output is no terminal, only the end is printed.
    """
    from rich.console import Console

    from t48lab.agents import make_agent, make_spawner
    from t48lab.errors import T48Error
    from t48lab.games import Task
    from t48lab.progress import is_terminal
    from t48lab.records import Seed, checked
    from t48lab.rules import Rules

    if not 0.1 <= speed <= 1000:
        raise T48Error(f"speed must be from 0.1 to 1000 moves per second, got {speed:g}")
    agent, opponent = make_agent(spec), make_spawner(spawner)
    scenes = _scenes(Task(agent.spec, opponent.spec, Rules(), 0, checked(Seed, seed, "seed"), 0, 1))
    watched = _shown(scenes, agent, speed, Console()) if is_terminal(sys.stdout) else scenes
    end, stopped = None, False
    try:
        for scene in watched:
            end = scene
    except KeyboardInterrupt:
        stopped = True
    if end is not None:
        click.echo(f"{end.board}\n\nscore {end.score:,}, largest tile {end.board.max_tile:,}, {end.moves:,} moves")
        click.echo(f"agent {agent.spec}, spawner {opponent.spec}, seed {seed}")
    if stopped:
        raise Interrupted("interrupted: the game was not played to its end")


def _scenes(task: Task) -> Iterator[_Scene]:
    """The positions of a game, each as soon as the compiled game has moved on: its log is read while it grows."""
    import numpy as np

    from t48lab.board import Board
    from t48lab.games import FIRST, entry, run_games

    log, cancel = np.full(_LOG_SIZE, _UNWRITTEN, np.uint8), np.zeros(1, np.int64)
    with ThreadPoolExecutor(1) as pool:
        game = pool.submit(run_games, task, cancel, log)
        try:
            tiles = np.zeros((4, 4), np.int64)
            score, place = 0, 0
            while True:
                while log[place] == _UNWRITTEN and not game.done():
                    time.sleep(0.001)
                if log[place] == _UNWRITTEN:
                    break
                action, (row, col, tile) = entry(int(log[place]))
                if place >= FIRST:
                    board = Board.from_array(tiles)
                    yield _Scene(board, score, place - FIRST, action)
                    after, reward = board.move(action)
                    tiles, score = after.to_array(), score + reward
                tiles[row, col] = tile
                place += 1
            game.result()
            yield _Scene(Board.from_array(tiles), score, place - FIRST, None)
        finally:
            cancel[0] = 1


def _shown(scenes: Iterator[_Scene], agent: Agent, speed: float, console: Console) -> Iterator[_Scene]:
    """The same positions, each drawn in place of the one before at no more than `speed` a second."""
    from rich.live import Live

    with Live(console=console, auto_refresh=False, transient=True) as live:
        due = time.monotonic()
        for scene in scenes:
            live.update(_picture(scene, agent.search(scene.board), agent.spec), refresh=True)
            due = max(due + 1 / speed, time.monotonic())
            time.sleep(max(0.0, due - time.monotonic()))
            yield scene


def _picture(scene: _Scene, found: SearchResult, spec: str) -> RenderableType:
    from rich.columns import Columns
    from rich.console import Group
    from rich.text import Text

    head = Text(f"score {scene.score:,}   move {scene.moves:,}   {spec}", no_wrap=True)
    return Group(head, Columns([_tiles(scene.board), _values(scene.action, found)], padding=(0, 3)))


def _tiles(board: Board) -> Table:
    from rich.box import SQUARE
    from rich.table import Table
    from rich.text import Text

    from t48lab.board import TILE_COLOURS

    grid = Table(box=SQUARE, show_header=False, show_lines=True, padding=0)
    for row, ranks in zip(board.to_array().tolist(), board.ranks().tolist(), strict=True):
        grid.add_row(
            *(
                Text(f"{tile or '':^8}", style=f"bold {'#5f574f' if rank < 3 else '#ffffff'} on {TILE_COLOURS[rank]}")
                for tile, rank in zip(row, ranks, strict=True)
            )
        )
    return grid


def _values(action: str | None, found: SearchResult) -> Table:
    from rich.box import SIMPLE
    from rich.table import Table

    counted = found.visits is not None
    table = Table("", "move", "value", *(["visits"] if counted else []), box=SIMPLE)
    for name, value in found.values.items():
        visits = (found.visits or {}).get(name)
        shown = "-" if value is None else f"{value:,.6g}"
        counts = ["" if visits is None else f"{visits:,}"] if counted else []
        table.add_row(">" if name == action else "", name, shown, *counts)
    for column in table.columns[2:]:
        column.justify = "right"
    return table

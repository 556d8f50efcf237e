"""Boards that one can touch, as widgets for JupyterLab: `Replay` shows a stored game, `Play` lets a person play.

Where widgets do not run, in a committed notebook or on a web page, both show a still picture instead.
The JavaScript and the style are in viewer.js and viewer.css.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import anywidget
import numpy as np
import traitlets as t

from t48lab import board as colours
from t48lab.agents import Agent, SearchResult, make_agent
from t48lab.board import Board
from t48lab.compiled import load
from t48lab.errors import T48Error
from t48lab.games import GameRecord, replay
from t48lab.kernels.layout import RULES, STREAM
from t48lab.pictures.stills import Picture, costs, decision
from t48lab.records import Seed, checked
from t48lab.rules import Rules

PERSON = "person"
"""What a record of a game played by hand has in place of an agent's spec."""
ADVISER = "expectimax:depth=3,evaluator=tuned"
"""Who advises when no agent is named and none has played."""
SPEEDS = (0.5, 200.0)
"""Slowest and fastest replay in moves per second."""

_WIDGET = "application/vnd.jupyter.widget-view+json"
_LOOK = {
    "fills": list(colours.TILE_COLOURS),
    "frame": colours.FRAME_COLOUR,
    "pale": list(colours.PALE_RANKS),
    "dark": colours.DARK_TEXT,
    "light": colours.LIGHT_TEXT,
}


class _Viewer(anywidget.AnyWidget):
    """A board with an agent's advice beside it."""

    _esm = Path(__file__).with_name("viewer.js")
    _css = Path(__file__).with_name("viewer.css")
    mode = t.Unicode(read_only=True).tag(sync=True)
    look = t.Dict(_LOOK, read_only=True).tag(sync=True)
    rows = t.Int(4, read_only=True).tag(sync=True)
    cols = t.Int(4, read_only=True).tag(sync=True)
    advice = t.Dict(allow_none=True, default_value=None).tag(sync=True)

    def __init__(self, agent: Agent, rules: Rules) -> None:
        self.agent, self.rules = agent, rules
        super().__init__()
        self.set_trait("rows", rules.rows)
        self.set_trait("cols", rules.cols)

    @property
    def board(self) -> Board:
        """The position that is shown."""
        raise NotImplementedError

    @property
    def title(self) -> str:
        """A line that says which position that is."""
        raise NotImplementedError

    def picture(self) -> Picture:
        """What is shown now, as a still picture with the advice."""
        return decision(self.board, self.agent.search(self.board, self.rules), self.title)

    def _advice(self, place: int) -> dict[str, Any]:
        found = self.agent.search(self.board, self.rules)
        return {"place": place} | advice_of(found, self.agent)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.title})"

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        view = {"version_major": 2, "version_minor": 0, "model_id": self.model_id}
        return {_WIDGET: view, **self.picture()._repr_mimebundle_(), "text/plain": repr(self)}, {}


def advice_of(found: SearchResult, agent: Agent) -> dict[str, Any]:
    """A search as JSON: best, values, costs, visits, and the notes below them; numbers that are not finite are None."""
    line = " ".join(found.principal_variation)
    effort = f"{agent.spec}: {found.nodes:,} nodes, depth {found.depth}"
    return {
        "best": found.best,
        "values": {name: _finite(value) for name, value in found.values.items()} if found.best else None,
        "costs": {name: _finite(cost) for name, cost in costs(found).items()},
        "visits": found.visits,
        "notes": [effort, f"line: {line}" if line else "no legal move"],
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


class Replay(_Viewer):
    """A stored game, to step through, jump in and play at any speed, with an agent's view of each position.

    `place` is the position shown, 0 to the number of moves; setting it from Python moves the board too. `agent`
    values the positions, by default the one that played. Raises T48Error for a record that does not replay.
    """

    place = t.Int(0).tag(sync=True)
    speed = t.Float(5.0).tag(sync=True)
    first = t.Unicode(read_only=True).tag(sync=True)
    log = t.Unicode(read_only=True).tag(sync=True)

    def __init__(
        self, record: GameRecord, agent: Agent | str | None = None, place: int = 0, speed: float = 5.0
    ) -> None:
        self.record, self.positions = record, list(replay(record))
        if agent is None:
            agent = ADVISER if record.agent == PERSON else record.agent
        super().__init__(make_agent(agent), record.rules)
        self.set_trait("mode", "replay")
        self.set_trait("first", self.positions[0].board.hex)
        self.set_trait("log", log_of(record))
        self.speed, self.place = speed, place
        self._think()

    @property
    def board(self) -> Board:
        """The position that is shown."""
        return self.positions[self.place].board

    @property
    def title(self) -> str:
        """A line that says which position that is."""
        score = self.positions[self.place].score
        record = self.record
        return (
            f"{record.agent}, seed {record.seed}, game {record.game}: "
            f"move {self.place:,} of {record.moves:,}, score {score:,}"
        )

    @t.validate("place")
    def _check_place(self, proposal: Any) -> int:
        if not 0 <= proposal["value"] <= self.record.moves:
            raise T48Error(f"place must be from 0 to {self.record.moves}, got {proposal['value']}")
        return int(proposal["value"])

    @t.validate("speed")
    def _check_speed(self, proposal: Any) -> float:
        if not SPEEDS[0] <= proposal["value"] <= SPEEDS[1]:
            raise T48Error(f"speed must be from {SPEEDS[0]:g} to {SPEEDS[1]:g} moves a second, got {proposal['value']}")
        return float(proposal["value"])

    @t.observe("place")
    def _think(self, _: Any = None) -> None:
        self.advice = self._advice(self.place)


def log_of(record: GameRecord) -> str:
    """Three letters a move: the direction's first, the spawn's cell as a hexadecimal digit, and 2 or 4."""
    cols, spawns = record.rules.cols, record.spawns[2:]
    moves = zip(record.actions, spawns, strict=True)
    return "".join(f"{action[0]}{row * cols + col:x}{tile}" for action, (row, col, tile) in moves)


class _Step(NamedTuple):
    """A position of a game being played, the state of its stream, and how it came about."""

    board: Board
    score: int
    stream: int
    action: str | None = None
    spawn: tuple[int, int, int] | None = None


class Play(_Viewer):
    """A game for a person, with advice and undo: the deal of that seed and game, as the agents get it.

    A move that is taken back and made again meets the same spawn: undo helps to think, not to gamble. A `board`
    starts from that position instead. `record` is the game so far, for `Replay` or `save`.
    """

    state = t.Dict().tag(sync=True)
    advised = t.Bool(True).tag(sync=True)

    def __init__(
        self,
        agent: Agent | str = ADVISER,
        seed: int = 1,
        game: int = 0,
        board: Board | str | None = None,
        rules: Rules | None = None,
    ) -> None:
        self.start = None if board is None else Board.parse(board)
        self.seed, self.game = checked(Seed, seed, "seed"), checked(Seed, game, "game")
        rules = (rules or Rules()) if self.start is None else self.start.rules(rules)
        super().__init__(make_agent(agent), rules)
        self.set_trait("mode", "play")
        self._deal()
        self.on_msg(self._heard)

    @property
    def board(self) -> Board:
        """The position that is shown."""
        return self.steps[-1].board

    @property
    def score(self) -> int:
        """The points so far."""
        return self.steps[-1].score

    @property
    def title(self) -> str:
        """A line that says which position that is."""
        return f"{PERSON}, seed {self.seed}, game {self.game}: {len(self.steps) - 1:,} moves, score {self.score:,}"

    @property
    def record(self) -> GameRecord:
        """The game so far as a record; raises T48Error when it began from a given board."""
        if self.start is not None:
            raise T48Error("a game that began from a given board has no record, start one from a seed")
        played = self.steps[1:]
        spawns = tuple(step.spawn for step in played if step.spawn)
        return GameRecord(
            agent=PERSON, agent_key=PERSON, spawner="random", seed=self.seed, game=self.game, rules=self.rules,
            stop_tile=None, score=self.score, max_tile=self.board.max_tile, moves=len(played), final=self.board.hex,
            ended="no legal move" if self.board.is_over else "unfinished", nodes=0, probes=0, hits=0, seconds=0.0,
            timed=True, actions=tuple(step.action for step in played if step.action), spawns=self._first + spawns,
        )  # fmt: skip

    def move(self, direction: str) -> None:
        """Makes the move and lets a tile appear; raises IllegalMove."""
        step = self.steps[-1]
        after, reward = step.board.move(direction)
        board, spawn, stream = _spawned(after, step.stream, self.rules)
        self.steps.append(_Step(board, step.score + reward, stream, direction, spawn))
        self._tell()

    def follow(self) -> None:
        """Plays the advice, if there is a legal move."""
        best = self.agent.search(self.board, self.rules).best
        if best:
            self.move(best)

    def undo(self) -> None:
        """Takes the last move back, if there is one."""
        if len(self.steps) > 1:
            self.steps.pop()
            self._tell()

    def new(self, game: int | None = None) -> None:
        """Deals the next game of the seed, or this one; sets a given board up again."""
        self.game = checked(Seed, self.game + 1 if game is None else game, "game")
        self._deal()

    def _deal(self) -> None:
        stream = int(load("rng").seed_stream(np.uint64(self.seed), np.uint64(self.game), np.uint64(STREAM.SPAWNS)))
        board, spawns = self.start or Board(rows=self.rules.rows, cols=self.rules.cols), []
        for _ in range(0 if self.start else 2):
            board, spawn, stream = _spawned(board, stream, self.rules)
            spawns.append(spawn)
        self._first = tuple(spawns)
        self.steps = [_Step(board, 0, stream)]
        self._tell()

    def _tell(self) -> None:
        step, last = self.steps[-1], None
        if step.action and step.spawn:
            row, col, _ = step.spawn
            cell = row * self.rules.cols + col
            last = {"before": self.steps[-2].board.hex, "action": step.action, "cell": cell}
        self.state = {"board": step.board.hex, "score": step.score, "moves": len(self.steps) - 1, "last": last}
        self._think()

    @t.observe("advised")
    def _think(self, _: Any = None) -> None:
        self.set_trait("advice", self._advice(len(self.steps) - 1) if self.advised else None)

    def _heard(self, _: object, message: Any, buffers: object = None) -> None:
        """Does what the front end asks; an illegal move asks for nothing."""
        does: dict[str, Callable[[], None]] = {
            "undo": self.undo,
            "follow": self.follow,
            "new": self.new,
            "advised": lambda: self.set_trait("advised", not self.advised),
        }
        kind = message.get("kind") if isinstance(message, dict) else None
        if kind == "move" and message.get("direction") in self.board.legal_moves:
            self.move(message["direction"])
        elif kind in does:
            does[kind]()


def _spawned(after: Board, stream: int, rules: Rules) -> tuple[Board, tuple[int, int, int], int]:
    """The board with the tile that the stream draws, (row, column, tile), and the state of the stream after it."""
    numbers, state = rules.arrays()[1], np.array([stream], np.uint64)
    low, high = (np.uint64(plane) for plane in after.planes)
    drawn = int(load("bitboard").spawn(low, numbers[RULES.MASK] & ~high, numbers[RULES.FOUR], state))
    found = next((r, c, tile) for r, c, tile, board in after.spawns() if board.low == drawn)
    return Board(drawn, after.high, after.rows, after.cols), found, int(state[0])

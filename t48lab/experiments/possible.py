"""Whether a stored row could be a game of the agent that its key stands for.

What needs no replaying is asked of every row, of timed agents too: their games cannot be played again, so nothing but
the rules speaks against a made-up one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from t48lab.agents import AGENTS, NAMED, Agent, Spawner, make_agent, make_spawner
from t48lab.board import Board
from t48lab.errors import T48Error
from t48lab.games import ENDED, FIRST
from t48lab.rules import Rules
from t48lab.specs import split_named

if TYPE_CHECKING:
    import pandas as pd

_OVER, _STOPPED = ENDED


@dataclass(frozen=True)
class Player:
    """Who played some rows and by which rules, rebuilt from the manifest."""

    label: str
    agent: Agent
    spawner: Spawner
    rules: Rules
    stop_tile: int | None
    seeds: frozenset[int]


def players(frame: pd.DataFrame, manifest: dict[str, Any]) -> dict[str, Player]:
    """The player of every agent_key that a frame of games has; raises T48Error when the manifest has none for it."""
    known = {
        key: (label, stated, spawner)
        for label, stated in manifest.get("agents", {}).items()
        for spawner, key in stated["agent_keys"].items()
    }
    found = {}
    for key, rows in frame.groupby("agent_key", sort=False):
        if key not in known:
            raise T48Error(f"{named(rows.iloc[0])}: manifest.json does not know agent_key {key}, restore it")
        found[str(key)] = player = _player(str(key), *known[str(key)], manifest)
        for spec in rows["spec"].unique():
            _check_spec(spec, player.agent, named(rows[rows["spec"] == spec].iloc[0]))
    return found


def _player(key: str, label: str, stated: dict[str, Any], spawner: str, manifest: dict[str, Any]) -> Player:
    """The player of the manifest's parameters; raises T48Error when they are not those that its key stands for."""
    rules, stop_tile = Rules(**manifest.get("rules", {})), manifest.get("stop_tile")
    agent, seeds = _agent(stated), frozenset(manifest.get("seeds", []))
    player = Player(label, agent, make_spawner(spawner), rules, stop_tile, seeds)
    if agent.key(rules, stop_tile, player.spawner) != key:
        raise T48Error(
            f"{label}: the parameters in manifest.json do not make agent_key {key}: they were changed, "
            "or another engine played these games"
        )
    _check_spec(stated.get("spec", agent.spec), agent, f"{label} in manifest.json")
    return player


def _agent(stated: dict[str, Any]) -> Agent:
    """The agent of resolved parameters: its stored weights, whatever a preset's name stands for by now.

    Where they hold the hash of a net, which stands in a file, its spec says which file.
    """
    parameters = stated.get("parameters", {})
    evaluator = parameters.get("evaluator")
    if isinstance(evaluator, dict) and "sha256" in evaluator:
        return make_agent(stated.get("spec", ""))
    name = parameters.get("name")
    kind = AGENTS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise T48Error(f"manifest.json has an agent of kind {name!r}, which this t48lab does not know")
    return kind(**{key: value for key, value in parameters.items() if key != "name"})


def _check_spec(spec: str, agent: Agent, whose: str) -> None:
    """Raises T48Error when a spec says another agent; a preset's name or a path may have meant these weights once."""
    name, stated = split_named(spec, NAMED)
    if name != agent.name:
        raise T48Error(f"{whose}: its spec {spec} names another kind of agent than {agent.name}, which its key means")
    meant = agent.resolved()
    once = {key for key, value in meant.items() if isinstance(value, dict) and not isinstance(stated.get(key), dict)}
    said = type(agent)(**{key: value for key, value in stated.items() if key not in once}).resolved()
    for key in sorted(set(meant) - once):
        if said[key] != meant[key]:
            raise T48Error(f"{whose}: its spec {spec} says another {key} than its key means")


def check_row(row: dict[Any, Any], player: Player) -> None:
    """Raises T48Error when no game of this player ends like this.

    A game of m moves has spawned m + 2 tiles, so its tiles add up to 2 (m + 2) and 2 more for each 4 among them. They
    are worth sum (rank - 1) 2^rank points, less 4 for each of the same 4s.
    """
    _check_origin(row, player)
    board = _final(row, player.rules)
    if board.max_tile != row["max_tile"]:
        raise T48Error(f"{named(row)}: max_tile is stored as {row['max_tile']}, {board.hex} shows {board.max_tile}")
    ranks = board.ranks().ravel()
    ranks = ranks[ranks > 0]
    spawned, total = row["moves"] + FIRST, int((1 << ranks).sum())
    fours, rest = divmod(int(((ranks - 1) * (1 << ranks)).sum()) - row["score"], 4)
    if rest or fours < 0:
        raise T48Error(f"{named(row)}: no game ends on {board.hex} with {row['score']} points")
    if fours > spawned or total != 2 * (spawned + fours) or row["moves"] < 0:
        raise T48Error(
            f"{named(row)}: moves is stored as {row['moves']}, no game of so many ends on {board.hex} "
            f"with {row['score']} points"
        )
    _check_chances(row, fours, spawned, player)
    _check_end(row, board, player.stop_tile)
    _check_cost(row)


def _check_origin(row: dict[Any, Any], player: Player) -> None:
    if row["spawner"] != player.spawner.spec:
        raise T48Error(f"{named(row)}: spawner is stored as {row['spawner']}, its key means {player.spawner.spec}")
    if bool(row["timed"]) != player.agent.timed:
        limited = "is" if player.agent.timed else "is not"
        raise T48Error(
            f"{named(row)}: timed is stored as {row['timed']}, and {player.label} {limited} limited by seconds"
        )
    if row["seed"] not in player.seeds or row["game"] < 0:
        raise T48Error(f"{named(row)}: manifest.json does not know such a game, its seeds are {sorted(player.seeds)}")


def _final(row: dict[Any, Any], rules: Rules) -> Board:
    """The last board of a row; raises T48Error when it is none, or none of these rules."""
    try:
        board = Board.parse(row["final"])
    except T48Error as error:
        raise T48Error(f"{named(row)}: final is no board: {error}") from None
    if (board.rows, board.cols) != (rules.rows, rules.cols) or board.hex != row["final"]:
        raise T48Error(f"{named(row)}: final is stored as {row['final']}, no board of {rules.rows}x{rules.cols} cells")
    return board


def _check_chances(row: dict[Any, Any], fours: int, spawned: int, player: Player) -> None:
    """Raises T48Error for a 4 where none is ever drawn, and for a 2 where a 4 always is."""
    odds = player.rules.four_probability
    if player.spawner.name == "random" and ((odds == 0 and fours) or (odds == 1 and fours < spawned)):
        raise T48Error(f"{named(row)}: {fours} of {spawned} spawns were a 4, by its rules a share of {odds:g} is")


def _check_end(row: dict[Any, Any], board: Board, stop_tile: int | None) -> None:
    reached = stop_tile is not None and board.max_tile >= stop_tile
    if row["ended"] not in ENDED:
        raise T48Error(f"{named(row)}: ended is stored as {row['ended']!r}, choose from {', '.join(ENDED)}")
    if row["ended"] == _STOPPED and not reached:
        raise T48Error(
            f"{named(row)}: {board.hex} is stored as stopped, by its rules {stop_tile or 'no tile'} ends a game"
        )
    if row["ended"] == _OVER and reached:
        raise T48Error(f"{named(row)}: {board.hex} is stored as without a legal move, and {stop_tile} ended it")
    if row["ended"] == _OVER and not board.is_over:
        raise T48Error(f"{named(row)}: {board.hex} is stored as an end and has a legal move")


def _check_cost(row: dict[Any, Any]) -> None:
    for name in ("nodes", "seconds", "probes", "hits"):
        count = row[name]
        if not 0 <= count < np.inf:
            raise T48Error(f"{named(row)}: {name} is stored as {count}, it is 0 or more")
    if row["hits"] > row["probes"]:
        raise T48Error(f"{named(row)}: hits is stored as {row['hits']}, of {row['probes']} probes")


def named(row: Any) -> str:
    """The game of a row, as errors call it."""
    return f"game {row['game']} of {row['agent']} (seed {row['seed']})"

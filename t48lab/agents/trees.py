"""The part of a decision tree that mattered: built from searches, kept as plain data, drawn as SVG.

A tree is a dictionary. A position has `board`, `over`, `value`, `visits` and `moves`; a move `direction`,
`value`, `visits`, `best`, `afterstate`, `spawns` and `others`; a spawn `tile`, `row`, `col`, `probability` and the
position that it makes. `others` sums up the spawns that are not shown: how many, their probability, their mean
value. Of the root's moves the two best are followed; of the spawns after a move those that pull its value
farthest from the mean (expectimax), are the worst (minimax) or were visited most (Monte-Carlo tree search).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from t48lab.agents.agent import Agent, program
from t48lab.agents.kinds import make_agent
from t48lab.agents.searches import SearchResult
from t48lab.board import DIRECTIONS, Board
from t48lab.kernels.layout import NODE, TREE
from t48lab.rules import Rules

Tree = dict[str, Any]

FOLLOWED = 2
"""Moves of the root whose spawns are shown."""
SPAWNS = (3, 2, 1)
"""Spawns shown after a move of the root, after a reply to one of those, and so on; the last number holds on."""
LEVELS = 4
"""Most moves from the root to the end of what is shown."""
FEW = 0.01
"""Positions with a smaller share of all playouts are not followed."""


def decision_tree(agent: Agent | str, board: Board | str, rules: Rules | None = None) -> Tree:
    """The tree of a search: a position, and with it `agent`, `best`, `nodes` and `depth`."""
    agent, board = make_agent(agent), Board.parse(board)
    rules = board.rules(rules)
    found = agent.search(board, rules)
    if agent.tree == "playouts":
        grow: Grow = _Playouts(agent, rules).moves
    else:
        grow = _Values(agent, rules, found).moves
    tree = _position(board, found.values[found.best] if found.best else None, None, grow(board, found, 0))
    if found.visits:
        tree["visits"] = sum(count or 0 for count in found.visits.values())
    return {"agent": agent.spec, "best": found.best, "nodes": found.nodes, "depth": found.depth} | tree


Grow = Callable[[Board, SearchResult, int], list[Tree]]


def _position(board: Board, value: float | None, visits: int | None, moves: list[Tree]) -> Tree:
    return {"board": board.hex, "over": board.is_over, "value": value, "visits": visits, "moves": moves}


def _ranked(found: SearchResult) -> list[str]:
    """The moves with values, the one that is played first, then the best."""
    known = {name: value for name, value in found.values.items() if value is not None}
    visits = found.visits or {}
    return sorted(known, key=lambda name: (name != found.best, -(visits.get(name) or 0), -known[name]))


def _move(board: Board, found: SearchResult, name: str, spawns: list[Tree], others: Tree | None) -> Tree:
    return {
        "direction": name,
        "value": found.values[name],
        "visits": (found.visits or {}).get(name),
        "best": name == found.best,
        "afterstate": board.move(name).afterstate.hex,
        "spawns": spawns,
        "others": others,
    }


def _shown(level: int) -> int:
    return SPAWNS[min(level, len(SPAWNS) - 1)]


def _chances(after: Board, rules: Rules) -> Iterator[tuple[dict[str, Any], Board]]:
    """Every spawn on an afterstate that can happen, with its probability, and the position that it makes."""
    for row, col, tile, board in after.spawns():
        chance = rules.four_probability if tile == 4 else 1 - rules.four_probability
        if chance:
            yield {"tile": tile, "row": row, "col": col, "probability": chance / after.empty_count}, board


def _split(spawns: list[Tree], weight: Callable[[Tree], float], count: int) -> tuple[list[Tree], Tree | None]:
    """The `count` spawns of most weight, most probable first, and what the others come to; nothing for none."""
    ranked = sorted(spawns, key=weight, reverse=True)
    shown, rest = ranked[:count], ranked[count:]
    shown.sort(key=lambda spawn: -spawn["probability"])
    if not shown or not rest:
        return shown, None
    total = sum(spawn["probability"] for spawn in rest)
    known = [spawn for spawn in rest if spawn["value"] is not None]
    mass = sum(spawn["probability"] for spawn in known)
    mean = sum(spawn["probability"] * spawn["value"] for spawn in known) / mass if mass else None
    return shown, {"count": len(rest), "probability": total, "value": mean}


class _Values:
    """Grows trees of searches that value positions, by searching each position again with one move less."""

    def __init__(self, agent: Agent, rules: Rules, found: SearchResult) -> None:
        self.agent, self.rules, self.depth = agent, rules, found.depth
        self.looks_ahead = agent.tree in ("mean", "worst")

    def moves(self, board: Board, found: SearchResult, level: int) -> list[Tree]:
        """The moves of a position `level` moves below the root; below the root only the best one."""
        names = _ranked(found) if level == 0 else _ranked(found)[:1]
        trees = []
        for place, name in enumerate(names):
            follow = self.looks_ahead and place < FOLLOWED and level < LEVELS - 1
            spawns, others = self._spawns(board.move(name).afterstate, level) if follow else ([], None)
            trees.append(_move(board, found, name, spawns, others))
        return trees

    def _spawns(self, after: Board, level: int) -> tuple[list[Tree], Tree | None]:
        left = self.depth - level - 1
        if left == 0 and getattr(self.agent, "leaf", "") != "state":
            return [], None
        spawns = [chance | self._reply(board, left) for chance, board in _chances(after, self.rules)]
        if self.agent.tree == "worst":
            shown, others = _split(spawns, lambda spawn: -spawn["value"], _shown(level))
        else:
            mean = sum(spawn["probability"] * spawn["value"] for spawn in spawns)
            shown, others = _split(spawns, lambda s: s["probability"] * abs(s["value"] - mean), _shown(level))
        for spawn in shown:
            found = spawn.pop("search")
            if found:
                spawn["moves"] = self.moves(Board.parse(spawn["board"]), found, level + 1)
        return shown, others

    def _reply(self, board: Board, left: int) -> Tree:
        """The position with the value that a search of `left` more moves gives it, and under `search` that search."""
        if board.is_over or left == 0:
            return _position(board, self.agent.leaf_value(board), None, []) | {"search": None}
        found = self.agent.at_depth(left).search(board, self.rules)
        return _position(board, found.values[str(found.best)], None, []) | {"search": found}


class _Playouts:
    """Reads the tree that Monte-Carlo tree search left in this thread's memory, see kernels/layout.py."""

    def __init__(self, agent: Agent, rules: Rules) -> None:
        self.words = program(agent, rules).memory().copy()
        self.links, self.stats = self.words.view(np.int64), self.words.view(np.float64)
        self.agent, self.rules = agent, rules
        self.few = FEW * sum(self._counts(TREE.ROOT)[0])

    def moves(self, board: Board, found: SearchResult, level: int) -> list[Tree]:
        """The moves of the root with what hangs below the two best."""
        names = _ranked(found)
        trees = []
        for place, name in enumerate(names):
            link = int(self.links[TREE.ROOT + NODE.CHILD + DIRECTIONS.index(name)])
            spawns, others = self._spawns(link, board.move(name).afterstate, level) if place < FOLLOWED else ([], None)
            trees.append(_move(board, found, name, spawns, others))
        return trees

    def _spawns(self, link: int, after: Board, level: int) -> tuple[list[Tree], Tree | None]:
        if level >= LEVELS - 1 or not link:
            return [], None
        if getattr(self.agent, "chance", "") == "open":
            return [self._any_spawn(link, after)], None
        records = {}
        while link:
            records[int(self.words[link + NODE.BOARD])] = link
            link = int(self.links[link + NODE.SIBLING])
        chances = [(chance, board, records.get(board.low)) for chance, board in _chances(after, self.rules)]
        spawns = [
            self._spawn(chance, board, record) | {"record": record} for chance, board, record in chances if record
        ]
        many = sum(spawn["visits"] >= self.few for spawn in spawns)
        shown, others = _split(spawns, lambda spawn: spawn["visits"], min(many, _shown(level)))
        for spawn in shown:
            spawn["moves"] = self._replies(spawn.pop("record"), Board.parse(spawn["board"]), level + 1)
        return shown, others

    def _counts(self, record: int) -> tuple[list[int], list[float]]:
        visits = self.stats[record + NODE.VISITS : record + NODE.VISITS + 4]
        sums = self.stats[record + NODE.SUMS : record + NODE.SUMS + 4]
        return [int(n) for n in visits], [float(s) for s in sums]

    def _spawn(self, chance: dict[str, Any], board: Board, record: int) -> Tree:
        visits, sums = self._counts(record)
        value = sum(sums) / sum(visits) if sum(visits) else None
        return chance | _position(board, value, sum(visits), [])

    def _any_spawn(self, record: int, after: Board) -> Tree:
        """The one child of an open loop's move: whatever was spawned, so it shows the board before that, and ends."""
        visits, sums = self._counts(record)
        value = sum(sums) / sum(visits) if sum(visits) else None
        chance = {"tile": None, "row": None, "col": None, "probability": 1.0}
        return chance | _position(after, value, sum(visits), [])

    def _replies(self, record: int, board: Board, level: int) -> list[Tree]:
        visits, sums = self._counts(record)
        if not any(visits):
            return []
        d = max(range(4), key=lambda d: visits[d])
        after = board.move(DIRECTIONS[d]).afterstate
        spawns, others = self._spawns(int(self.links[record + NODE.CHILD + d]), after, level)
        found = {"direction": DIRECTIONS[d], "value": sums[d] / visits[d], "visits": visits[d], "best": True}
        return [found | {"afterstate": after.hex, "spawns": spawns, "others": others}]

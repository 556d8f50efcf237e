"""What an agent scores on a small board, exactly: its move in every position that it can get into.

Positions are found layer by layer under the agent's own moves and all spawns, then valued backward. An agent need not
treat symmetric positions alike, so here each is a position of its own; random play does, and is the average over moves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from t48lab.agents.agent import Agent
from t48lab.agents.kinds import RandomAgent, make_agent
from t48lab.agents.programs import Program
from t48lab.board import DIRECTIONS, Board
from t48lab.compiled import fresh_generation, load
from t48lab.errors import T48Error
from t48lab.exact import (
    EVERY_MOVE,
    Crew,
    Frontier,
    Ground,
    LayerFile,
    Layers,
    Sweep,
    cache,
    check_size,
    key_of,
    play_of,
    positions,
    starts,
    tile_sum,
    totals,
)
from t48lab.progress import Progress
from t48lab.rules import Rules

Chooser = Callable[[NDArray[np.uint64], NDArray[np.int8]], None]


@dataclass(frozen=True)
class ExactValue:
    """What a game of an agent comes to, without sampling: score in points, its variance, and tiles by value.

    `tiles` holds the probability that the game's largest tile is at least that.
    """

    mean: float
    variance: float
    tiles: dict[int, float]
    positions: int


def exact_value(
    agent: Agent | str,
    rules: Rules = Rules(rows=3, cols=3),
    workers: int | None = None,
    folder: str | Path | None = None,
    progress: bool = False,
) -> ExactValue:
    """The exact mean and variance of an agent's score, and how likely it gets to each tile.

    Threads (`workers`, default one a processor) choose its moves. When interrupted, the same call goes on from the
    last finished layer, whose moves are kept in a folder (default: in the user's cache) until the value is known.
    Raises T48Error for boards that are too large, and for agents whose move depends on more than the position.
    """
    agent = make_agent(agent)
    check_size(rules)
    average = isinstance(agent, RandomAgent)
    if not (average or agent.by_position):
        raise T48Error(
            f"{agent.spec} has no exact value: it draws, or a limit stops its search; "
            "play_batch estimates its score with an interval"
        )
    home = Path(folder) if folder else cache()
    with Crew(workers) as crew:
        ground = Ground(rules, crew, symmetric=average)
        sweep = Sweep(ground, play_of(agent.spec, rules, average))
        if average:
            return _valued(sweep, positions(ground, home, progress), None, progress)
        reached, chosen = _file(agent, rules, home, "positions", "<u4"), _file(agent, rules, home, "moves", "|i1")
        value = _valued(sweep, *_played(ground, _chooser(agent, rules), reached, chosen, progress), progress)
        reached.path.unlink()
        chosen.path.unlink()
        return value


def _file(agent: Agent, rules: Rules, home: Path, holds: str, dtype: str) -> LayerFile:
    key = agent.key(rules)
    name = f"{rules.rows}x{rules.cols}-{key}-{holds}.t48"
    return LayerFile(home / name, {"agent_key": key, "holds": holds}, dtype, len(totals(rules)))


def _played(
    ground: Ground, choose: Chooser, positions: LayerFile, moves: LayerFile, progress: bool
) -> tuple[Layers, Layers]:
    """The keys of the positions that an agent can get into, and its move in each, by layer."""
    if positions.path.exists() and moves.path.exists():
        return positions.open(), moves.open()
    frontier, numbers = Frontier(ground), totals(ground.rules)
    order = range(len(numbers))
    with positions.draft(order) as keys, moves.draft(order) as policy, _bar(len(numbers), progress) as bar:
        for layer in range(max(0, policy.done - 2), len(numbers)):
            here = frontier.layer(numbers[layer])
            if layer < keys.done:
                here = keys[layer]
            else:
                keys.add(layer, here)
            if layer < policy.done:
                chosen = policy[layer]
            else:
                chosen = _chosen(ground, choose, numbers[layer], here)
                policy.add(layer, chosen)
            frontier.expand(numbers[layer], here, chosen)
            bar.advance(1)
            bar.refresh()
    return positions.open(), moves.open()


def _bar(count: int, progress: bool) -> Progress:
    return Progress(count, "moves", progress, "layers")


def _chosen(ground: Ground, choose: Chooser, total: int, keys: NDArray[np.uint32]) -> NDArray[np.int8]:
    """The move in each position of a layer, -1 where none is legal."""
    boards, directions = np.empty(len(keys), np.uint64), np.empty(len(keys), np.int8)
    load("keys").write_boards(keys, 0, len(keys), np.uint64(total), ground.numbers, boards)
    ground.crew.share(lambda begin, end: choose(boards[begin:end], directions[begin:end]), len(keys))
    return directions


def _chooser(agent: Agent, rules: Rules) -> Chooser:
    """A function that writes an agent's move on each of some packed boards."""
    if agent.kernel:
        program = agent.compile(rules)
        return lambda boards, directions: _search_all(program, boards, directions)

    def choose(boards: NDArray[np.uint64], directions: NDArray[np.int8]) -> None:
        for place, board in enumerate(boards.tolist()):
            best = agent.search(Board(board, 0, rules.rows, rules.cols), rules).best
            directions[place] = DIRECTIONS.index(best) if best else -1

    return choose


def _search_all(program: Program, boards: NDArray[np.uint64], directions: NDArray[np.int8]) -> None:
    """Writes the move of a compiled search on each board, as in games."""
    agent = program.agent(fresh_generation(), best_only=True)
    load("choosing").choose(load(program.kernel).search, agent, boards, directions)


def _valued(sweep: Sweep, keys: Layers, moves: Layers | None, progress: bool) -> ExactValue:
    """The value of play by the moves of each position, or by the average of all legal ones."""
    ground, numbers = sweep.ground, totals(sweep.ground.rules)
    found: dict[int, NDArray[Any]] = {}
    with Progress(keys.count, sweep.objective.name, progress, "positions") as bar:
        order = range(len(numbers))[::-1]
        wanted = ((numbers[layer], keys[layer], moves[layer] if moves else EVERY_MOVE) for layer in order)
        for layer, values in zip(order, sweep.layers(wanted), strict=True):
            found[layer] = values
            found.pop(layer + 3, None)
            bar.advance(len(keys[layer]))
            bar.refresh()
    boards, odds = zip(*starts(ground.rules), strict=True)
    worth = np.zeros(len(sweep.objective.kinds))
    for board, p in zip(boards, odds, strict=True):
        layer = numbers.index(tile_sum(board))
        place = np.searchsorted(keys[layer], np.uint32(key_of(board, ground.rules, ground.symmetric)))
        worth += p * found[layer][:, place]
    mean, square, *tiles = (worth / sum(odds)).tolist()
    return ExactValue(mean, square - mean**2, {1 << rank: p for rank, p in enumerate(tiles, start=2)}, keys.count)

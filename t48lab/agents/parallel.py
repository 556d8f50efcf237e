"""Root-parallel Monte-Carlo tree search: independent searches of one position, their root counts merged.

Each search has a stream of its own and they share nothing, so the answer depends on how many there are and not
on how many run at once. Source: Cazenave, Jouandeau (2007), "On the parallelization of UCT", CGW.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

from t48lab.agents.agent import Agent, program
from t48lab.agents.kinds import MCTS
from t48lab.agents.searches import SearchResult, load_search
from t48lab.board import DIRECTIONS, Board
from t48lab.errors import T48Error
from t48lab.machine import cores
from t48lab.rules import Rules

MOST_SEARCHES = 10_000
"""Most searches that are merged: each leaves a result to keep."""


def search_together(agent: Agent, board: Board | str, searches: int, workers: int | None = None) -> SearchResult:
    """What `searches` searches find together: visits added up, values weighted by visits; raises T48Error.

    Search i draws from stream `agent.seed + i`; the first is the agent's own.
    """
    if not isinstance(agent, MCTS):
        raise T48Error(f"only mcts searches in parallel from the root, got {agent.name}")
    if not 1 <= searches <= MOST_SEARCHES:
        raise T48Error(f"searches must be from 1 to {MOST_SEARCHES:,}, got {searches}")
    board = Board.parse(board)
    load_search(program(agent, Rules(rows=board.rows, cols=board.cols)))
    start = perf_counter()
    agents = [agent.model_copy(update={"seed": agent.seed + i}) for i in range(searches)]
    with ThreadPoolExecutor(min(searches, workers or cores())) as pool:
        found = list(pool.map(lambda one: one.search(board), agents))
    return _merged(agent, board, found, perf_counter() - start)


def _merged(agent: MCTS, board: Board, found: list[SearchResult], seconds: float) -> SearchResult:
    visits: dict[str, int | None] = dict.fromkeys(DIRECTIONS)
    values: dict[str, float | None] = dict.fromkeys(DIRECTIONS)
    for name in board.legal_moves:
        counts = [(result.visits or {}).get(name) or 0 for result in found]
        sums = [count * (result.values[name] or 0.0) for count, result in zip(counts, found, strict=True)]
        visits[name] = sum(counts)
        values[name] = sum(sums) / sum(counts) if sum(counts) else None
    best = _best(agent, visits, values)
    return SearchResult(
        best=best,
        values=values,
        visits=visits,
        nodes=sum(result.nodes for result in found),
        seconds=seconds,
        depth=max(result.depth for result in found),
    )


def _best(agent: MCTS, visits: dict[str, int | None], values: dict[str, float | None]) -> str | None:
    """The move with the most visits, or the best mean, as the agent decides; the other figure breaks ties."""
    known = [(visits[name] or 0, values[name] or 0.0, name) for name in agent.order if visits[name]]
    if agent.final == "mean":
        return max(known, key=lambda case: case[1], default=(0, 0.0, None))[2]
    return max(known, key=lambda case: case[:2], default=(0, 0.0, None))[2]

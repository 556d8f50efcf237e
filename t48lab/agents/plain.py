"""Agents written in Python, without a kernel: how to make one, and the loop that plays its games.

A subclass of PlainAgent with a `name` and a method `values` can be searched, played, batched and compared like
any other agent. Its games meet the very spawns that compiled agents meet on the same seed. They are played move
by move in the interpreter, some thousand moves a second at most, and threads do not make that faster.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from t48lab.agents.agent import Agent
from t48lab.agents.programs import Program
from t48lab.agents.searches import SearchResult
from t48lab.board import DIRECTIONS, Board
from t48lab.compiled import fresh_generation, load
from t48lab.errors import T48Error
from t48lab.kernels.layout import END, OUT, ROW, RULES, STREAM
from t48lab.rules import Rules


class PlainAgent(Agent):
    """An agent that answers in Python; give another `name` to one that plays differently, as games are kept by it."""

    def values(self, board: Board) -> Mapping[str, float]:
        """What each legal move is worth; the largest is played, the lowest direction number among equals."""
        raise NotImplementedError(f"{type(self).__name__} needs a method values(board)")

    def search(self, board: Board | str, rules: Rules | None = None) -> SearchResult:
        """The best move of a position and the values of all.

        Raises T48Error when the agent values an illegal move, or one by anything but a finite number.
        """
        board, start = Board.parse(board), time.perf_counter()
        board.rules(rules)
        found = {name: self._number(board, name, value) for name, value in self._valued(board).items()}
        values = {name: found.get(name) for name in DIRECTIONS}
        best = max(found, key=lambda name: (found[name], -DIRECTIONS.index(name)), default=None)
        return SearchResult(best, values, None, len(found), time.perf_counter() - start, 1)

    def _valued(self, board: Board) -> dict[str, float]:
        return dict(self.values(board)) if board.legal_moves else {}

    def _number(self, board: Board, name: str, value: Any) -> float:
        """The value of a legal move as a float; raises T48Error."""
        if name not in board.legal_moves:
            raise T48Error(f"{self.name} values {name!r} on {board.hex}, choose from {', '.join(board.legal_moves)}")
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        if not math.isfinite(number):
            raise T48Error(
                f"{self.name} values {name} at {value!r} on {board.hex}, give a finite number, or leave it out"
            )
        return number


def play_plainly(
    agent: PlainAgent,
    opponent: Program | None,
    rules: Rules,
    seed: int,
    game: int,
    stop_rank: int,
    row: NDArray[np.int64],
    log: NDArray[np.uint8],
    cancel: NDArray[np.int64],
) -> bool:
    """Whether the game came to its end; fills its row and its log as the compiled loop does, see kernels/gameloop.py.

    Without an opponent the spawns are random. Raises T48Error when the agent's answer is no legal move.
    """
    loop, exact, (moves, numbers) = load("gameloop"), load("exact"), rules.arrays()
    start = load("rng").seed_stream(np.uint64(seed), np.uint64(game), np.uint64(STREAM.SPAWNS))
    spawns = np.array([start], np.uint64)
    low, fours = loop.deal(numbers, spawns, log)
    high, count, ended = 0, 0, END.OVER
    row[:] = 0
    while not (board := Board(int(low), int(high), rules.rows, rules.cols)).is_over:
        if cancel[0]:
            return False
        if stop_rank and exact.max_rank(np.uint64(low), np.uint64(high)) >= stop_rank:
            ended = END.STOP_TILE
            break
        found = agent.search(board, rules)
        if found.best not in board.legal_moves:
            raise T48Error(f"{agent.name} plays {found.best!r} on {board.hex}, choose from {board.legal_moves}")
        row[ROW.NODES] += found.nodes
        direction = DIRECTIONS.index(found.best)
        after, high = exact.slide_planes(np.uint64(low), np.uint64(high), direction, moves, numbers)
        low = _spawned(np.uint64(after), np.uint64(high), opponent, rules, spawns)
        fours += loop.is_four(np.uint64(low), np.uint64(after))
        if count + 2 < len(log):
            log[count + 2] = loop.logged(direction, np.uint64(low), np.uint64(after))
        count += 1
    loop.finish(row, np.uint64(low), np.uint64(high), fours, count, ended)
    return True


def _spawned(after: Any, high: Any, opponent: Program | None, rules: Rules, spawns: NDArray[np.uint64]) -> int:
    """The low plane after a spawn on an afterstate: the stream's, or the opponent's choice."""
    if opponent is None:
        numbers = rules.arrays()[1]
        return int(load("bitboard").spawn(after, numbers[RULES.MASK] & ~high, numbers[RULES.FOUR], spawns))
    seen, agent = np.uint64(load("exact").ranked_down(after, high)), opponent.agent(fresh_generation())
    code: int = load(opponent.kernel).search(seen, agent, spawns, np.zeros(OUT.SIZE))
    return int(after) | 1 << (60 - 4 * (code >> 1) + (code & 1))

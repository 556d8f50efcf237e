"""One search of one position: the compiled answer as names and numbers."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from t48lab.agents.programs import Program
from t48lab.board import DIRECTIONS, Board
from t48lab.compiled import fresh_generation, load
from t48lab.kernels.layout import OUT, RULES, SETTINGS, AgentArrays

_VARIATION_DEPTH, _VARIATION_MOVES = 2, 6
Number = TypeVar("Number", int, float)
TreeKind = Literal["none", "mean", "worst", "playouts"]
"""What is shown below a move: nothing; searches of the spawns that count in a mean, or of the worst; mcts's memory."""


@dataclass(frozen=True, repr=False)
class SearchResult:
    """What a search found; None stands for illegal moves and for values that were not computed."""

    best: str | None
    values: dict[str, float | None]
    visits: dict[str, int | None] | None
    nodes: int
    seconds: float
    depth: int
    probes: int = 0
    hits: int = 0
    variation: Callable[[], tuple[str, ...]] | None = field(default=None, compare=False)

    @functools.cached_property
    def principal_variation(self) -> tuple[str, ...]:
        """The best move and what may well follow it, found by `variation` when first asked; or that move alone."""
        if self.variation is not None:
            return self.variation()
        return (self.best,) if self.best else ()

    def __getstate__(self) -> dict[str, Any]:
        """Its fields, the principal variation found: that is shorter than what it is found with."""
        return self.__dict__ | {"principal_variation": self.principal_variation, "variation": None}

    def __repr__(self) -> str:
        rows = [f"{cell[0]:<8}{cell[1]:>16}{cell[2]:>12}".rstrip() for cell in self._rows()]
        return "\n".join([*rows, *self._notes()])

    def _repr_html_(self) -> str:
        row = "<tr><td>{}</td><td style='text-align:right'>{}</td><td style='text-align:right'>{}</td></tr>"
        rows = "".join(row.format(*cells) for cells in self._rows())
        notes = "<br>".join(self._notes())
        return f"<table>{rows}</table><small>{notes}</small>"

    def _rows(self) -> list[tuple[str, str, str]]:
        """Direction, value and visits, the best with an arrow."""
        visits = self.visits or {}
        return [
            (
                ("> " if name == self.best else "  ") + name,
                "-" if value is None else f"{value:,.6g}",
                f"{visits[name]:,}" if visits.get(name) is not None else "",
            )
            for name, value in self.values.items()
        ]

    def _notes(self) -> list[str]:
        cost = f"{self.nodes:,} nodes, depth {self.depth}, {1000 * self.seconds:.3g} ms"
        line = " ".join(self.principal_variation)
        return [cost, f"line: {line}"] if line else [cost, "no legal move"]


def run_search(
    program: Program, board: Board, values: Literal["all", "best"] = "all", tree: TreeKind = "none"
) -> SearchResult:
    """What the program finds in a position; the same every time unless seconds limit it.

    `values="best"` asks expectimax for the best move and its value only, which is quicker: the other values are then
    upper bounds.
    """
    load_search(program)
    program.memory()
    return _result(program, board, functools.partial(_call, program, board, values == "best"), tree)


def searches_of_game(program: Program, seed: int, game: int) -> Callable[[Board], SearchResult]:
    """A function that searches the positions of a game, in order, as the game loop does.

    It has the stream of that game of a base seed, its generation and what earlier moves leave in the memory, so an
    untimed agent finds the moves that it plays. Without a limit of nodes the values of all moves are exact.
    """
    start = load("rng").seed_stream(np.uint64(seed), np.uint64(game), np.uint64(program.purpose))
    generation, stream = int(load("rng").mix64(start)) >> 1 | 1, np.array([start], np.uint64)
    limited = bool(program.settings[SETTINGS.BOUNDS] and program.settings[SETTINGS.NODE_LIMIT])
    agent = program.agent(generation, best_only=limited)._replace(memory=np.zeros(program.memory_words, np.uint64))

    def search(board: Board) -> SearchResult:
        return _result(program, board, functools.partial(_asked, program, board, agent, stream))

    return search


def _result(
    program: Program,
    board: Board,
    asked: Callable[[], tuple[int, NDArray[np.float64]]],
    tree: TreeKind = "none",
) -> SearchResult:
    """What a compiled search answers when asked."""
    start = time.perf_counter()
    direction, out = asked()
    seconds = time.perf_counter() - start
    best = DIRECTIONS[direction] if direction >= 0 else None
    counts = out[OUT.VISITS : OUT.VISITS + 4]
    depth = int(out[OUT.DEPTH_REACHED])
    return SearchResult(
        best=best,
        values=_by_name(out[OUT.VALUES : OUT.VALUES + 4], float),
        visits=None if np.isnan(counts).all() else _by_name(counts, int),
        nodes=int(out[OUT.NODES]),
        seconds=seconds,
        depth=depth,
        probes=int(out[OUT.PROBES]),
        hits=int(out[OUT.HITS]),
        variation=functools.partial(_variation, program, board, best, depth, tree) if best else None,
    )


def load_search(program: Program) -> None:
    """Compiles or loads everything that one search calls, so that its time is the search's alone."""
    load(program.kernel), load("exact"), load("rng")


def _call(program: Program, board: Board, best_only: bool = False) -> tuple[int, NDArray[np.float64]]:
    """The direction and the numbers of one compiled search with a generation and a stream of its own."""
    start = load("rng").seed_stream(*map(np.uint64, board.planes), np.uint64(program.purpose))
    return _asked(program, board, program.agent(fresh_generation(), best_only), np.array([start], np.uint64))


def _asked(
    program: Program, board: Board, agent: AgentArrays, stream: NDArray[np.uint64]
) -> tuple[int, NDArray[np.float64]]:
    """The direction and the numbers of one compiled search, as a game asks for it."""
    out, exact = np.full(OUT.SIZE, np.nan), load("exact")
    low, high = (np.uint64(plane) for plane in board.planes)
    seen = np.uint64(exact.ranked_down(low, high))
    agent = exact.joining(agent) if exact.joins(seen, low, high) else agent
    return int(load(program.kernel).search(seen, agent, stream, out)), out


def _by_name(numbers: NDArray[np.float64], kind: Callable[[float], Number]) -> dict[str, Number | None]:
    return {name: None if np.isnan(number) else kind(number) for name, number in zip(DIRECTIONS, numbers, strict=True)}


class _Reply(NamedTuple):
    spawn: str
    board: Board
    best: str
    value: float


def _variation(program: Program, board: Board, best: str, depth: int, tree: TreeKind) -> tuple[str, ...]:
    """The best move, then by turns a spawn and the best answer to it, `depth` moves in all, _VARIATION_MOVES at most.

    `tree` says which spawn: the worst for the player, or of the likelier tile the one whose value lies closest to their
    mean, by searches of at most two moves. Other trees make a line of one move.
    """
    line = [best]
    if tree not in ("mean", "worst"):
        return (best,)
    for remaining in range(min(depth, _VARIATION_MOVES) - 1, 0, -1):
        after = board.move(line[-1]).afterstate
        replies = _replies(_shallow(program, min(remaining, _VARIATION_DEPTH)), after, _tiles(program, tree))
        if not replies:
            break
        reply = _worst(replies) if tree == "worst" else _typical(replies)
        board = reply.board
        line += [reply.spawn, reply.best]
    return tuple(line)


def _worst(replies: list[_Reply]) -> _Reply:
    return min(replies, key=lambda reply: reply.value)


def _typical(replies: list[_Reply]) -> _Reply:
    mean = sum(reply.value for reply in replies) / len(replies)
    return min(replies, key=lambda reply: abs(reply.value - mean))


def _shallow(program: Program, depth: int) -> Program:
    settings, reals = program.settings.copy(), np.zeros_like(program.reals)
    settings[SETTINGS.DEPTH], settings[SETTINGS.NODE_LIMIT], settings[SETTINGS.ADAPT] = depth, 0, 0
    return replace(program, settings=settings, reals=reals)


def _replies(program: Program, after: Board, tiles: set[int]) -> list[_Reply]:
    """The positions with a move after each spawn of such a tile on an afterstate, with their best moves and values."""
    found = []
    for row, col, tile, board in after.spawns():
        direction, out = _call(program, board) if tile in tiles else (-1, np.zeros(0))
        if direction >= 0:
            value = float(out[OUT.VALUES + direction])
            found.append(_Reply(f"{tile}@{row},{col}", board, DIRECTIONS[direction], value))
    return found


def _tiles(program: Program, tree: TreeKind) -> set[int]:
    """The tiles that a variation looks at: all that can be spawned, or the likelier one."""
    fours = int(program.rules[RULES.FOUR]) / 2**32
    if tree == "mean":
        return {4} if fours > 0.5 else {2}
    return {tile for tile, share in ((2, 1 - fours), (4, fours)) if share > 0}

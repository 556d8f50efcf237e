"""Measurements for claims that no table of games can settle: nodes saved, hits, times, playouts, habits.

Each takes a number of cases and returns a frame with one row a case (a position, a game, a repetition); whoever
judges a claim puts the interval on it. Seeds are fixed, so all but the times come out the same everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np

from t48lab.agents import MCTS, make_agent
from t48lab.board import Board
from t48lab.claims.published import (
    Counts,
    Published,
    Switches,
    array_of,
    grid_of,
    left_of_array,
    left_of_bits,
    left_of_lists,
    plain_d4,
)
from t48lab.compiled import load
from t48lab.games import habits, ranks_of, records
from t48lab.kernels.layout import RULES
from t48lab.rules import Rules

if TYPE_CHECKING:
    import pandas as pd

SEED = 2048
_A_GAME = 10
_BLOCK = 6


def positions(agent: str, count: int, block: int = 1) -> list[Board]:
    """`count` positions with a choice of moves, 10 from each game of an agent, in blocks of consecutive ones."""
    per_game = max(1, _A_GAME // block)
    games = -(-count // (per_game * block))
    found: list[Board] = []
    for record in records(agent, games, SEED):
        ranks = ranks_of(record)[:-1]
        starts = np.linspace(0, max(0, len(ranks) - block), per_game + 2).astype(int)[1:-1]
        boards = [_board(ranks[i]) for start in starts for i in range(start, min(start + block, len(ranks)))]
        found += [board for board in boards if len(board.legal_moves) > 1]
    return found[:count]


def _board(ranks: Any) -> Board:
    return Board.from_array(np.where(ranks > 0, 1 << ranks, 0))


def node_counts(agent: str, evaluator: str, variants: dict[str, Switches], count: int) -> pd.DataFrame:
    """What each variant of a published program does on the same positions: position, variant and the counts."""
    boards = positions(agent, count)
    return _frame(_counted(boards, variants, lambda switches: Published(evaluator, switches)))


def _counted(
    boards: list[Board], variants: dict[str, Switches], make: Callable[[Switches], Published]
) -> Iterator[dict[str, Any]]:
    for name, switches in variants.items():
        program = make(switches)
        for place, board in enumerate(boards):
            start = process_time()
            counts = program.search(board)
            yield {"position": place, "variant": name} | _numbers(counts) | {"seconds": process_time() - start}


def _numbers(counts: Counts) -> dict[str, Any]:
    names = ("visits", "nodes", "expanded", "evaluations", "lookups", "hits", "best")
    return {name: getattr(counts, name) for name in names} | {"value": max(counts.values.values(), default=0.0)}


def memo_counts(agent: str, evaluator: str, layers: tuple[int, ...], count: int) -> pd.DataFrame:
    """Programs with a memo of values, with moves in order or not, and without a memo; variants such as `memo 4`."""
    variants = {}
    for n in layers:
        variants[f"plain {n}"] = Switches(layers=n)
        variants[f"memo {n}"] = Switches(layers=n, memo="values")
        variants[f"ordered {n}"] = Switches(layers=n, memo="values", ordered=True)
    return node_counts(agent, evaluator, variants, count)


def legality_counts(count: int) -> pd.DataFrame:
    """System D's program at 4 layers with and without the moves that change nothing."""
    head = {"layers": 4, "full_leaf": True}
    variants = {"skipped": Switches(**head), "searched": Switches(**head, skip_illegal=False)}
    return node_counts("system_d", "d_final", variants, count)


def bound_counts(count: int) -> pd.DataFrame:
    """System D's program at 4 layers: plain, ordered with the published bound, and with the tightest bound there is.

    The published bound never becomes finite. `tight` is given the value of the position itself beforehand.
    """
    head: dict[str, Any] = {"layers": 4, "full_leaf": True}
    boards = positions("system_d", count)
    rows = list(_counted(boards, {"plain": Switches(**head)}, _d4))
    rows += _counted(boards, {"published": Switches(**head, ordered=True)}, _d4)
    for place, board in enumerate(boards):
        bound = rows[place]["value"]
        tight = next(_counted([board], {"tight": Switches(**head, ordered=True, beta=bound)}, _d4))
        rows.append(tight | {"position": place})
    return _frame(iter(rows))


def _d4(switches: Switches) -> Published:
    return Published("d_final", switches)


def four_layer_nodes(count: int) -> pd.DataFrame:
    """Nodes of a 4-layer search on positions with exactly 8 empty cells, no memo."""
    pool = positions("system_c", 40 * count)
    boards = [board for board in pool if board.empty_count == 8][:count]
    return _frame(_counted(boards, {"plain": Switches(layers=4)}, _d4))


def evaluation_memo(count: int) -> pd.DataFrame:
    """System D's program at 6 layers with and without its memo of 10,000 evaluations, its evaluator in plain Python.

    Positions come in blocks of consecutive moves, since the memo lives from move to move.
    """
    boards = positions("system_d", count, block=_BLOCK)
    head: dict[str, Any] = {"layers": 6, "full_leaf": True}
    variants = {"plain": Switches(**head), "memo": Switches(**head, memo="evaluations")}
    return _frame(_counted(boards, variants, lambda switches: Published("d_final", switches, evaluate=plain_d4)))


def depth_three_times(count: int) -> pd.DataFrame:
    """Seconds that system E's published search takes in Python: four moves, no spawn after the first, no memo."""
    rows = []
    for place, board in enumerate(positions("system_e", count)):
        program, start = Published("e", Switches(layers=6)), process_time()
        for name in board.legal_moves:
            program.search(board.move(name).afterstate)
        rows.append({"position": place, "seconds": process_time() - start})
    return _frame(iter(rows))


def move_times(count: int) -> pd.DataFrame:
    """Microseconds of a move to the left on bit rows, lists of lists and NumPy arrays: one row a repetition."""
    boards = [board.low for board in positions("system_c", 200)]
    forms: dict[str, tuple[list[Any], Callable[[Any], Any]]] = {
        "bits": (boards, left_of_bits),
        "lists": ([grid_of(b) for b in boards], left_of_lists),
        "numpy": ([array_of(b) for b in boards], left_of_array),
    }
    left_of_bits(boards[0])
    rows = []
    for repetition in range(count):
        row: dict[str, float] = {"repetition": repetition}
        for name, (cases, move) in forms.items():
            start = process_time()
            for case in cases:
                move(case)
            row[name] = (process_time() - start) / len(cases) * 1e6
        rows.append(row)
    return _frame(iter(rows))


def playout_lengths(count: int, playouts: int = 200) -> pd.DataFrame:
    """Visits of each move of 1,000 simulations, and the mean length of random playouts after it, by position."""
    agent = make_agent("system_b_corrected")
    playout, spawn = load("bitboard").playout, load("bitboard").spawn
    moves, rules = Rules().arrays()
    stream, rows = np.array([SEED], np.uint64), []
    for place, board in enumerate(positions("system_c", count)):
        found = agent.search(board)
        for name in board.legal_moves:
            after = np.uint64(board.move(name).afterstate.low)
            lengths = []
            for _ in range(playouts):
                start = np.uint64(spawn(after, rules[RULES.MASK], rules[RULES.FOUR], stream))
                lengths.append(int(playout(start, moves, rules, stream, -1, 0)[1]))
            visits = (found.visits or {})[name]
            rows.append({"position": place, "move": name, "visits": visits, "length": float(np.mean(lengths))})
    return _frame(iter(rows))


def early_choices(count: int, constants: tuple[float, ...] = (1.41, 1.5, 1.75, 2.0)) -> pd.DataFrame:
    """How many points the choice of each exploration constant gives away in early positions, one row each.

    Early is the first 150 moves. Each constant gets 1,000 simulations; what a move is worth is taken from a search
    of 50,000, its own best move being the standard.
    """
    judge, rows = MCTS(simulations=50_000, seed=1), []
    boards = [
        board for board in positions("system_b_corrected:simulations=100", 20 * count) if board.to_array().sum() < 330
    ]
    for place, board in enumerate(boards[:count]):
        worth = {name: value for name, value in judge.search(board).values.items() if value is not None}
        row: dict[str, float] = {"position": place}
        for constant in constants:
            choice = MCTS(simulations=1000, exploration=constant).search(board).best
            row[f"C {constant:g}"] = max(worth.values()) - worth[str(choice)]
        rows.append(row)
    return _frame(iter(rows))


def habit_counts(specs: dict[str, str], count: int) -> pd.DataFrame:
    """The habits of `count` games of each agent, its name under `variant`."""
    import pandas as pd

    return pd.concat([habits(records(spec, count, SEED)).assign(variant=name) for name, spec in specs.items()])


def crowding(agents: tuple[str, ...], count: int, tile: int = 512, later: int = 50, goal: int = 2048) -> pd.DataFrame:
    """The number of empty cells `later` moves after a game's first `tile`, and whether it then reaches `goal`.

    One row a game that is still on by then: the last positions of a lost game are crowded in any case.
    """
    rows = []
    for agent in agents:
        for record in records(agent, count, SEED):
            ranks = ranks_of(record)
            reached = (ranks >= tile.bit_length() - 1).any(axis=(1, 2))
            then = int(reached.argmax()) + later
            if reached.any() and then < len(ranks) - 1:
                empty = int((ranks[then] == 0).sum())
                rows.append({"agent": agent, "game": record.game, "empty": empty, "won": record.max_tile >= goal})
    return _frame(iter(rows))


def _frame(rows: Iterator[dict[str, Any]]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(rows)

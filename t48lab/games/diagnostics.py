"""What games look like from inside: habits, crowding, decisions move by move, and positions judged wrongly.

Everything reads whole games (`GameRecord`), because a row of the results store knows only how a game ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from t48lab.agents import Agent, PlainAgent, SearchResult, Spawner, make_agent, searches_of_game
from t48lab.board import Board
from t48lab.compiled import load
from t48lab.errors import T48Error
from t48lab.games.game import GameRecord, play
from t48lab.games.log import encode
from t48lab.machine import cores
from t48lab.plaintext import for_html
from t48lab.rules import Rules

if TYPE_CHECKING:
    import pandas as pd

OPENING = 200
"""Moves in which a direction chosen over and over is a sign of too much monotonicity (system C)."""
MOST_GAMES = 10_000
"""Most games that are looked at together: a game of an expectimax takes about a megabyte."""
CROWDED = 4
"""A position with fewer empty cells is crowded (system D)."""

HABITS = "agent seed game score max_tile moves repeats off_corner centre empties crowded hit_rate".split()
DECISIONS = "move board score action spawn best up right down left lead".split()
MISJUDGED = "agent seed game move board empties played better loss".split()


def records(
    agent: Agent | str,
    games: int = 20,
    seed: int = 2048,
    workers: int | None = None,
    spawner: Spawner | str = "random",
    rules: Rules = Rules(),
    stop_tile: int | None = None,
) -> list[GameRecord]:
    """Games 0 to games - 1 of a base seed with all their moves; the same games as those of `play_batch`."""
    if not 0 <= games <= MOST_GAMES:
        raise T48Error(f"games must be from 0 to {MOST_GAMES:,}, each with all its moves in memory, got {games}")
    agent = make_agent(agent)
    with ThreadPoolExecutor(workers or cores()) as pool:
        return list(pool.map(lambda game: play(agent, seed, spawner, rules, stop_tile, game), range(games)))


def ranks_of(record: GameRecord) -> NDArray[np.int64]:
    """The ranks of all positions of a game in order, int64[moves + 1, rows, cols], 0 = empty."""
    planes = _planes(record)
    shifts = np.arange(60, -1, -4, dtype=np.uint64)
    low, high = (plane[:, None] >> shifts for plane in planes.T)
    ranks: NDArray[np.int64] = ((low & np.uint64(15)) + np.uint64(16) * (high & np.uint64(1))).astype(np.int64)
    return ranks.reshape(-1, 4, 4)[:, : record.rules.rows, : record.rules.cols]


def _planes(record: GameRecord) -> NDArray[np.uint64]:
    moves, rules = record.rules.arrays()
    planes = np.zeros((len(record.actions) + 1, 2), np.uint64)
    load("replaying").positions(encode(record.actions, record.spawns), moves, rules, planes)
    return planes


def habits(games: Iterable[GameRecord]) -> pd.DataFrame:
    """One row a game with the columns HABITS.

    repeats: share of the first 200 moves that repeat a direction for the third time running or more.
    off_corner: share of positions with no tile of the largest value in a corner; centre: share of those
    with one in an inner cell and none on the edge. empties: mean number of empty cells; crowded: share of
    positions with fewer than 4. hit_rate: hits over look-ups of the search's table, NaN without one.
    """
    import pandas as pd

    return pd.DataFrame([_habits(record) for record in games], columns=HABITS)


def _habits(record: GameRecord) -> dict[str, object]:
    ranks = ranks_of(record)
    largest = ranks == ranks.max(axis=(1, 2), keepdims=True)
    corner = largest[:, :: ranks.shape[1] - 1, :: ranks.shape[2] - 1].any(axis=(1, 2))
    inner = largest[:, 1:-1, 1:-1].sum(axis=(1, 2))
    empties = (ranks == 0).sum(axis=(1, 2))
    return {
        **{name: getattr(record, name) for name in ("agent", "seed", "game", "score", "max_tile", "moves")},
        "repeats": _repeats(record.actions[:OPENING]),
        "off_corner": float((~corner).mean()),
        "centre": float((inner == largest.sum(axis=(1, 2))).mean()),
        "empties": float(empties.mean()),
        "crowded": float((empties < CROWDED).mean()),
        "hit_rate": record.hits / record.probes if record.probes else np.nan,
    }


def _repeats(actions: Sequence[str]) -> float:
    thirds = [a == b == c for a, b, c in zip(actions, actions[1:], actions[2:], strict=False)]
    return sum(thirds) / len(thirds) if thirds else np.nan


def empties_over_time(games: Iterable[GameRecord], bins: int = 40) -> pd.DataFrame:
    """The number of empty cells by move: columns move (middle of a bin), positions, mean, low and high (10%, 90%)."""
    import pandas as pd

    counts = [(ranks_of(record) == 0).sum(axis=(1, 2)) for record in games]
    if not counts:
        raise T48Error("there are no games to look at, play some first")
    moves = np.concatenate([np.arange(len(count)) for count in counts])
    frame = pd.DataFrame({"empty": np.concatenate(counts), "move": moves})
    width = max(1, -(-len(max(counts, key=len)) // bins))
    grouped = frame.groupby(frame["move"] // width)["empty"]
    parts = {"positions": grouped.size(), "mean": grouped.mean(), "low": grouped.quantile(0.1)}
    table = pd.DataFrame(parts | {"high": grouped.quantile(0.9)})
    table.insert(0, "move", (table.index.to_numpy() + 0.5) * width)
    return table.reset_index(drop=True)


def decisions(record: GameRecord, agent: Agent | str | None = None) -> pd.DataFrame:
    """The log of a game's decisions, one row a move with the columns DECISIONS; `retrace` reads it back.

    `up` to `left` are the agent's values of the moves, `best` the one it names, `lead` how far that is ahead of
    the second best; by default the agent is the one that played, which searches as it did in the game: unless seconds
    limit it, `best` is the move played. Another agent searches each position on its own.
    """
    import pandas as pd

    search, rows = _judge(record, make_agent(agent or record.agent)), []
    for i, (board, action, spawn) in enumerate(zip(_boards(record), record.actions, record.spawns[2:], strict=False)):
        found = search(board)
        known = sorted((value for value in found.values.values() if value is not None), reverse=True)
        lead = known[0] - known[1] if len(known) > 1 else np.nan
        where = f"{spawn[2]}@{spawn[0]},{spawn[1]}"
        rows.append([i, board.hex, None, action, where, found.best, *found.values.values(), lead])
    frame = pd.DataFrame(rows, columns=DECISIONS)
    frame["score"] = _scores(record)[: len(frame)]
    return frame


def _judge(record: GameRecord, agent: Agent) -> Callable[[Board], SearchResult]:
    """What an agent finds in the positions of a game one after another; the one that played, on the game's stream."""
    if agent.spec != record.agent or isinstance(agent, PlainAgent):
        return lambda board: agent.search(board, record.rules)
    return searches_of_game(agent.compile(record.rules), record.seed, record.game)


def _boards(record: GameRecord) -> list[Board]:
    """The positions of a game in order, the end included."""
    rows, cols = record.rules.rows, record.rules.cols
    return [Board(int(low), int(high), rows, cols) for low, high in _planes(record)]


def _scores(record: GameRecord) -> NDArray[np.int64]:
    """The score before each move and at the end: what the tiles took to build, less 4 for each 4 that was spawned."""
    ranks = ranks_of(record).reshape(record.moves + 1, -1)
    fours = np.cumsum([tile == 4 for _, _, tile in record.spawns])[1:]
    return np.asarray((np.maximum(ranks - 1, 0) << ranks).sum(axis=1) - 4 * fours)


def retrace(log: pd.DataFrame) -> list[Board]:
    """The positions that a log of decisions leads through, its end included; raises T48Error where one is not next."""
    if log.empty:
        return []
    board, boards = Board.parse(log["board"].iloc[0]), []
    for move, stated, action, spawn in log[["move", "board", "action", "spawn"]].itertuples(index=False):
        if board.hex != stated:
            raise T48Error(f"move {move} starts from {stated} in the log, the move before leads to {board.hex}")
        boards.append(board)
        after = board.move(action).afterstate
        found = {f"{tile}@{row},{col}": spawned for row, col, tile, spawned in after.spawns()}
        if spawn not in found:
            raise T48Error(f"move {move} is followed by {spawn} in the log, which cannot appear on {after.hex}")
        board = found[spawn]
    return [*boards, board]


def misjudged(
    games: Iterable[GameRecord], deeper: Agent | str, most: int = 12, every: int = 1, workers: int | None = None
) -> pd.DataFrame:
    """The rows of `judged` whose move the deeper search likes less than its own, at most `most`, the worst first."""
    frame = judged(games, deeper, every, workers)
    return frame[frame["loss"] > 0].head(most).reset_index(drop=True)


def judged(
    games: Iterable[GameRecord], deeper: Agent | str, every: int = 1, workers: int | None = None
) -> pd.DataFrame:
    """What a deeper search thinks of each move that had an alternative, columns MISJUDGED, the worst first.

    `loss` is how much more it expects of `better` than of the move played, in its own values, `empties` counts
    cells. Only every `every`-th position of a game is looked at.
    """
    import pandas as pd

    judge = make_agent(deeper)
    cases = [
        (record, move, board)
        for record in games
        for move, board in list(enumerate(_boards(record)[:-1]))[::every]
        if len(board.legal_moves) > 1
    ]
    with ThreadPoolExecutor(workers or cores()) as pool:
        rows = list(pool.map(lambda case: _judged(judge, *case), cases))
    frame = pd.DataFrame(rows, columns=MISJUDGED)
    order = ["loss", "seed", "game", "move"]
    return frame.sort_values(order, ascending=[False, True, True, True], ignore_index=True)


def _judged(judge: Agent, record: GameRecord, move: int, board: Board) -> list[object]:
    found, played = judge.search(board, record.rules), record.actions[move]
    better = found.values[found.best] if found.best else None
    mine = found.values[played]
    loss = better - mine if better is not None and mine is not None else np.nan
    loss = loss if found.best != played else 0.0
    return [record.agent, record.seed, record.game, move, board.hex, board.empty_count, played, found.best, loss]


def misjudged_page(table: pd.DataFrame, deeper: Agent | str) -> str:
    """An HTML page with a picture of each position of `misjudged`, the move played and the better one."""
    cards = [_card(row) for row in table.itertuples(index=False)]
    style = "font:15px Helvetica,Arial,sans-serif;color:#222;max-width:1100px;margin:2em auto"
    title = for_html(f"Positions that {make_agent(deeper).spec} judges otherwise")
    body = "".join(cards) or "<p>None: the deeper search agrees with every move.</p>"
    return (
        f'<!doctype html><meta charset="utf-8"><title>{title}</title><body style="{style}"><h1 style="font-size:20px">'
        f'{title}</h1><div style="display:flex;flex-wrap:wrap;gap:24px">{body}</div></body>\n'
    )


def _card(row: tuple[object, ...]) -> str:
    case = dict(zip(MISJUDGED, row, strict=True))
    board = Board.parse(case["board"])
    words = f"played <b>{case['played']}</b>, better <b>{case['better']}</b> by {case['loss']:,.6g}"
    place = f"seed {case['seed']}, game {case['game']}, move {case['move']}"
    return (
        f'<figure style="margin:0;width:240px">{board.svg(48)}<figcaption>{words}<br>'
        f"<small>{place}<br>{board.hex}</small></figcaption></figure>"
    )

"""`t48lab bench`: node counts that must not change, and speeds that depend on the machine."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from typing import TYPE_CHECKING, Any

import click

from t48lab.commands.report import wide_console

if TYPE_CHECKING:
    from t48lab.agents import SearchResult

POSITIONS = (
    "1000000000010000", "0012001100200003", "1230023001100010", "0001001203211354",
    "1321203010020004", "4321523010200000", "6542331012001000", "7653443121100010",
    "8764532121031010", "9865734523121001", "a975864234211012", "b86497533421 2110".replace(" ", ""),
    "ba87653442132101", "c953a86274215310", "cba9345621232112", "dcb9678a54321212",
)  # fmt: skip
"""Sixteen positions from the first move of a game to a full board of large tiles."""

SEARCHES = (
    *(f"expectimax:depth={depth},evaluator=classic" for depth in (1, 2, 3)),
    *(f"minimax:depth={depth},evaluator=classic" for depth in (1, 2, 3)),
    "mcts:simulations=100",
)
"""Searches whose nodes are counted, all values asked for."""

BEST_ONLY = tuple(f"expectimax:depth={depth},evaluator=classic" for depth in (3, 4))
"""Searches whose nodes are counted when only the best move is asked for, as in games."""

PLAYERS = (
    ("random", 200_000),
    ("expectimax:depth=1,evaluator=classic", 5_000),
    ("expectimax:depth=2,evaluator=classic", 300),
    ("expectimax:depth=3,evaluator=classic", 20),
    ("minimax:depth=2,evaluator=classic", 500),
    ("mcts:simulations=100", 8),
)
"""Agents whose games are timed, and how many games of each."""

CALLED = ("random", "expectimax:depth=1,evaluator=classic", "expectimax:depth=3,evaluator=classic")
"""Agents of which one search of one position is timed."""

_SEED = 2048
_CALLS = 100


@click.command("bench")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of a table.")
def command(as_json: bool) -> None:
    """Count nodes and measure speeds.

    Node counts are the program's fingerprint: equal on every machine. Speeds are moves per second of processor
    time on one thread.
    """
    from t48lab.machine import machine, versions

    found = {"fingerprint": fingerprint(), "speeds": speeds(), "calls": calls()}
    found |= {"machine": machine(), "versions": versions()}
    if as_json:
        click.echo(json.dumps(found, allow_nan=False))
    else:
        _print(found)


def fingerprint() -> dict[str, Any]:
    """Nodes by search over all POSITIONS, and a digest of every count and best move."""
    from t48lab.specs import digest

    found = {spec: [_searched(spec, board) for board in POSITIONS] for spec in SEARCHES}
    for spec in BEST_ONLY:
        found[f"{spec} (best move)"] = [_searched(spec, board, values="best") for board in POSITIONS]
    each = {spec: [[result.nodes, result.best] for result in results] for spec, results in found.items()}
    nodes = {spec: sum(result.nodes for result in results) for spec, results in found.items()}
    return {"nodes": nodes, "digest": digest(each)}


def _searched(spec: str, board: str, **wanted: Any) -> SearchResult:
    """What a search finds on a thread of its own, where no earlier search has left anything in its tables."""
    from t48lab.agents import make_agent

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(make_agent(spec).search, board, **wanted).result()


def speeds() -> dict[str, dict[str, float]]:
    """Games, moves, processor seconds, moves per second and nodes per second of whole games by agent."""
    from t48lab.games import play_batch

    found = {}
    for spec, games in PLAYERS:
        play_batch(spec, games=1, seed=_SEED, workers=1)
        frame = play_batch(spec, games=games, seed=_SEED + 1, workers=1)
        moves, seconds, nodes = (float(frame[name].sum()) for name in ("moves", "seconds", "nodes"))
        counts = {"games": games, "moves": int(moves), "seconds": seconds}
        found[spec] = counts | {"moves_per_s": moves / seconds, "nodes_per_s": nodes / seconds}
    return found


def calls() -> dict[str, dict[str, float]]:
    """Median milliseconds of one `Agent.search`, processor time, and of its compiled call, by the clock; by agent."""
    from time import thread_time

    from t48lab.agents import make_agent

    found = {}
    for spec in CALLED:
        agent, whole, compiled = make_agent(spec), [], []
        agent.search(POSITIONS[1])
        for _ in range(_CALLS):
            start = thread_time()
            result = agent.search(POSITIONS[1])
            whole.append(thread_time() - start)
            compiled.append(result.seconds)
        found[spec] = {"search_ms": 1000 * median(whole), "compiled_ms": 1000 * median(compiled)}
    return found


def _print(found: dict[str, Any]) -> None:
    from t48lab.experiments import Sheet

    console, machine = wide_console(), found["machine"]
    random = found["speeds"]["random"]["moves_per_s"]
    nodes = [[spec, f"{nodes:,}"] for spec, nodes in found["fingerprint"]["nodes"].items()]
    speeds = []
    for spec, row in found["speeds"].items():
        rates = [f"{row[name]:,.0f}" for name in ("games", "moves_per_s", "nodes_per_s")]
        speeds.append([spec, *rates, f"{row['moves_per_s'] / random:.3%}"])
    called = [[spec, f"{row['search_ms']:.3f}", f"{row['compiled_ms']:.3f}"] for spec, row in found["calls"].items()]
    for title, heads, rows, note in (
        (f"Fingerprint {found['fingerprint']['digest']}", ["search", "nodes"], nodes, "Equal on every machine."),
        (
            "Speed, one thread",
            ["agent", "games", "moves/s", "nodes/s", "of random play"],
            speeds,
            f"{machine['processor']}, {machine['cores']} cores.",
        ),
        (
            "One search of one position",
            ["agent", "search, ms", "compiled call, ms"],
            called,
            f"Medians of {_CALLS} calls.",
        ),
    ):
        console.print(Sheet(title, heads, [("", rows)], note))

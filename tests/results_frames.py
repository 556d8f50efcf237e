"""Made-up games for the tests of tables, figures and storage: the right columns, no engine behind them."""

import numpy as np
import pandas as pd

AGENTS = {
    "random": (1100, 0.0001), "greedy": (3000, 0.0002), "expectimax 1": (15000, 0.004), "expectimax 2": (34000, 0.1),
    "minimax 2": (29000, 0.2), "mcts 100": (15000, 1.0),
}  # fmt: skip


def made_up(games=20, agents=AGENTS, spawners=("random",), seed=2048, first=0, luck=0.0):
    """A frame of games whose scores are log-normal around each agent's mean; `luck` is shared by all on a seed."""
    draw = np.random.default_rng(seed)
    shared = draw.normal(size=games)
    rows = []
    for spawner in spawners:
        for label, (mean, ms) in agents.items():
            noise = luck * shared + np.sqrt(1 - luck**2) * draw.normal(size=games)
            for i in range(games):
                score = int(mean * np.exp(0.5 * noise[i]) // 4 * 4)
                moves = max(60, score // 20)
                rows.append(
                    {
                        "agent": label,
                        "spec": label.replace(" ", ":depth="),
                        "agent_key": f"key-{label}-{spawner}",
                        "spawner": spawner,
                        "seed": seed,
                        "game": first + i,
                        "score": score,
                        "max_tile": 2 ** int(np.log2(max(score / 9, 64))),
                        "moves": moves,
                        "nodes": int(1000 * ms * moves),
                        "seconds": ms * moves / 1000,
                        "final": "0123456789abcdef",
                        "ended": "no legal move",
                        "timed": False,
                        "probes": 0,
                        "hits": 0,
                    }
                )
    return pd.DataFrame(rows)

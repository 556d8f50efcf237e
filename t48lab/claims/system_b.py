"""Claims of system B, the Monte-Carlo tree search adviser.

Verdicts rest on its program as published (one stored spawn a move, raw points); reasons say what the corrected
search gives (a child for every spawn, points scaled to suit C), which plays far better.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from t48lab.claims.evidence import Evidence
from t48lab.claims.registry import claim, claim_ahead, plain
from t48lab.claims.rulings import Ruling, above, mean

GREATLY = 1.5
LARGER = ["C 1.5", "C 1.75", "C 2"]

claim_ahead(
    "B1",
    "B, 1000",
    "greedy, B",
    ", which plays by the article's mix of terms",
    (("B, 1000", "greedy, tuned"), ("B corrected, 1000", "greedy, tuned")),
)
claim_ahead(
    "B2",
    "B, 10000",
    "B, 1000",
    "",
    (("B corrected, 10000", "B corrected, 1000"), ("B corrected, 5000", "B corrected, 1000")),
)
claim_ahead(
    "B3",
    "B, merging rollouts",
    "B, 1000",
    "",
    (
        ("B, guided rollouts", "B, 1000"),
        ("B corrected, merging rollouts", "B corrected, 1000"),
        ("B corrected, guided rollouts", "B corrected, 1000"),
    ),
)


@claim("B4")
def exploring_early(e: Evidence) -> Ruling:
    """Early choices with C from 1.5 to 2.0 give away fewer points than with 1.41."""
    table = e.measure("early")
    found = mean(table["C 1.41"].to_numpy() - table[LARGER].mean(axis=1).to_numpy())
    each = ", ".join(f"{name}: {table[name].mean():.3g}" for name in ["C 1.41", *LARGER])
    reason = "Points that C = 1.41 gives away in early positions less those that 1.5 to 2.0 give away, with 1,000 "
    reason += f"simulations, as judged by 50,000 ({each}). With raw points, as published, C plays no part."
    return Ruling(found, above(found), reason)


@claim("B5")
def short_rollouts(e: Evidence) -> Ruling:
    """Rollouts of 50 moves make the search much faster."""
    found = e.speed_up("B, 1000", "B, rollouts of 50")
    corrected = e.speed_up("B corrected, 1000", "B corrected, rollouts of 50")
    losses = [plain(e.difference(f"{name}, rollouts of 50", f"{name}, 1000")) for name in ("B", "B corrected")]
    reason = f"Times faster a move; greatly is taken as over {GREATLY}. Corrected: {plain(corrected)}. "
    reason += f"Score less that of whole rollouts: {losses[0]}, corrected {losses[1]}."
    return Ruling(found, above(found, GREATLY), reason)


@claim("B6")
def visits_and_lengths(e: Evidence) -> Ruling:
    """Moves with many visits are those whose rollouts last long."""
    groups = e.measure("playouts").groupby("position")
    found = mean(np.array([_rank_correlation(group) for _, group in groups if len(group) > 2], np.float64))
    reason = "Mean over positions of the rank correlation between the visits of a move and the length of random "
    return Ruling(found, above(found), f"{reason}playouts after it.")


def _rank_correlation(group: pd.DataFrame) -> float:
    ranks = group[["visits", "length"]].rank().to_numpy(np.float64)
    return float(np.corrcoef(ranks.T)[0, 1]) if (np.ptp(ranks, axis=0) > 0).all() else np.nan

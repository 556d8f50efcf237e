"""Evaluators by name, as plain data: what each is, and its weights.

`a` to `e` are the five published agents that the project rebuilds; names such as `a_constant` are the
variations their authors tried. Weights are the authors' own, so their terms may be penalties with a minus.
"""

from __future__ import annotations

from typing import Any

MINUS_INFINITY = -1e9
"""What a published minus infinity is stored as: sums and averages of it stay numbers."""


def _system_a(empty: float, smooth: float, corner: float, **changed: float) -> dict[str, Any]:
    terms = {"empty": empty, "descent": 1.0, "smoothness": smooth, "corner_largest": corner} | changed
    return {"terms": {name: weight for name, weight in terms.items() if weight}, "lost": "evaluation"}


def _system_c(mono: float, smooth: float, empty: float, largest: float) -> dict[str, Any]:
    order = {"weight": mono, "exponent": 1.0}
    terms = {"monotonicity": order, "roughness": smooth, "empty": empty, "largest": largest}
    return {"terms": terms, "lost": "evaluation"}


def _system_d(largest: float, empty: float, mono: float, corner: float) -> dict[str, float]:
    return {"largest_log1": largest, "empty": empty, "mono_count": mono, "heat": corner}


D_NORMAL = {"normalised": True, "lost": "evaluation"}
D_FINAL = {"largest": 1.0, "violations": -1.0, "roughness": -0.1, "top_left_largest": 1.0}

PRESETS: dict[str, tuple[str, dict[str, Any]]] = {
    "tuned": (
        "The four terms below with two more, merges and the sum of ranks, all in pure line tables. Found by the "
        "study tune_six at depth 3, whose own confirmation did not tell it from its baseline.",
        {
            "terms": {
                "empty": {"weight": 264.0, "exponent": 0.93},
                "monotonicity": {"weight": 58.0, "exponent": 2.53},
                "smoothness": {"weight": 187.0, "exponent": 0.48},
                "corner": {"weight": 1.65, "exponent": 1.42},
                "merges": 293.0,
                "rank_sum": {"weight": -2.87, "exponent": 3.78},
            },
            "lost": -1_000_000.0,
        },
    ),
    "tuned_deep": (
        "The six terms of `tuned` for searches that look five moves and more ahead. Trial 42 of the study tune_deep, "
        "the luckiest on its own games; its confirmation preferred the start. results/strength sets it beside "
        "the others on games that no study has seen.",
        {
            "terms": {
                "empty": {"weight": 87.0, "exponent": 0.918},
                "monotonicity": {"weight": 89.1, "exponent": 2.65},
                "smoothness": {"weight": 193.6, "exponent": 0.558},
                "corner": {"weight": 0.164, "exponent": 2.41},
                "merges": 376.9,
                "rank_sum": {"weight": -3.84, "exponent": 3.467},
            },
            "lost": -536_700.0,
        },
    ),
    "four_terms": (
        "Empty cells, order, smoothness and corners in pure line tables; weights from a random search of "
        "about 250 candidates at depth 2, most of them with 60 games each.",
        {
            "terms": {
                "empty": 540.0,
                "monotonicity": {"weight": 350.0, "exponent": 2.1},
                "smoothness": {"weight": 1600.0, "exponent": 0.3},
                "corner": {"weight": 50.0, "exponent": 2.1},
            },
            "lost": -1_000_000.0,
        },
    ),
    "classic": (
        "The widely used open-source evaluator: for each line 200000 + 270 for each empty cell + 700 merges "
        "- 47 min(falls, rises) of rank^4 - 11 sum of rank^3.5; a lost position is worth 0 and no other less.",
        {
            "terms": {
                "line_bonus": 200_000.0,
                "empty": 540.0,
                "merges": 700.0,
                "monotonicity": {"weight": 47.0, "exponent": 4.0},
                "rank_sum": {"weight": -11.0, "exponent": 3.5},
            },
            "lost": 0.0,
            "floor": True,
        },
    ),
    "a": ("System A, its final weights.", _system_a(2.7, 0.1, 2.0)),
    "seed": ("System A, its final weights: the evaluator to improve on.", _system_a(2.7, 0.1, 2.0)),
    "a_no_corner": ("System A, its first weights, without a corner.", _system_a(1.0, 0.1, 0.0)),
    "a_half_corner": ("System A, half the corner, more empty.", _system_a(4.0, 0.3, 1.0)),
    "a_constant": ("System A, a constant bonus of 100 for the corner.", _system_a(2.7, 0.1, 0.0, corner_bonus=100.0)),
    "a_reversed": ("System A with descents as penalties.", _system_a(2.7, 0.1, 2.0, descent=-1.0)),
    "c": (
        "System C with t48lab's reading of its loosely defined terms: mono = `monotonicity` of logarithms, "
        "smooth = minus `roughness`, so that rough boards lose.",
        _system_c(47.0, -0.1, 270.0, 700.0),
    ),
    "c_rough": ("System C with the other sign of smooth: rough boards win.", _system_c(47.0, 0.1, 270.0, 700.0)),
    "c_low_risk": ("System C, middle of its low-risk ranges.", _system_c(45.0, -0.1, 275.0, 700.0)),
    "c_aggressive": ("System C, its aggressive weights.", _system_c(30.0, -0.3, 150.0, 1000.0)),
    "d_basic": (
        "System D, first evaluator (D1); a position without a legal move is minus infinity.",
        {
            "terms": {"empty": 1.0, "largest_log": 1.0, "violations": -0.1, "roughness": -0.01},
            "lost": MINUS_INFINITY,
        },
    ),
    "d_normal": ("System D, normalised (D2).", D_NORMAL | {"terms": _system_d(1.0, 2.0, 1.2, 1.0)}),
    "d_normal_best": ("System D, normalised, empty 2.2.", D_NORMAL | {"terms": _system_d(1.0, 2.2, 1.2, 1.0)}),
    "d_phase": (
        "System D, by phase (D3), on the normalised terms of D2.",
        D_NORMAL
        | {
            "phases": (
                {"largest_below": 128, "empty_above": 8, "terms": _system_d(0.8, 2.0, 1.0, 0.6)},
                {"largest_below": 512, "terms": _system_d(1.0, 1.8, 1.3, 0.9)},
            ),
            "terms": _system_d(1.5, 1.2, 1.0, 1.4),
        },
    ),
    "d_final": (
        "System D, the final agent (D4); a full board is minus infinity, even when it can still move.",
        {"terms": {"empty": 2.7} | D_FINAL, "full": MINUS_INFINITY, "lost": "evaluation"},
    ),
    "d_bent": (
        "System D, the final agent with its non-linear empty term in place of 2.7 E.",
        {"terms": {"empty_bent": 1.0} | D_FINAL, "full": MINUS_INFINITY, "lost": "evaluation"},
    ),
    "e": (
        "System E; its published smooth takes raw differences, an empty neighbour counting as 0.",
        {
            "terms": {"signed_logs": 1.0, "open_smoothness": 0.1, "empty": 2.7, "corner_log": 10.0},
            "lost": "evaluation",
        },
    ),
}

"""The rules by claim, and what they share: entering them, and showing figures in their reasons."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from t48lab.claims.evidence import Evidence
from t48lab.claims.rulings import Found, Ruling, above

Rule = Callable[[Evidence], Ruling]

CLAIMS: dict[str, Rule] = {}
"""From evidence to a ruling, by the claim's id."""


def claim(name: str) -> Callable[[Rule], Rule]:
    """A decorator that enters the rule of a claim."""

    def enter(rule: Rule) -> Rule:
        CLAIMS[name] = rule
        return rule

    return enter


def claim_ahead(name: str, first: str, second: str, words: str = "", others: tuple[tuple[str, str], ...] = ()) -> None:
    """Enter a claim that one agent scores more than another on the same deals; `others` are differences to mention."""

    @claim(name)
    def rule(e: Evidence) -> Ruling:
        found = e.difference(first, second)
        rest = [(f" '{a}' less '{b}'", e.difference(a, b)) for a, b in others]
        more = "".join(f"{pair}: {plain(difference)}, n {difference.n}." for pair, difference in rest)
        return Ruling(found, above(found), f"Points by which '{first}' is ahead of '{second}'{words}.{more}")


def percent(found: Found) -> str:
    """A share with its interval."""
    if not found.n:
        return "(of no case)"
    return f"{found.value:.1%} ({found.low:.1%} to {found.high:.1%})"


def plain(found: Found) -> str:
    """A number with its interval, to four digits."""
    value, low, high = (f"{x:,.0f}" if abs(x) >= 1000 else f"{x:.4g}" for x in (found.value, found.low, found.high))
    return f"{value} ({low} to {high})"


def median_tiles(e: Evidence, *labels: str) -> str:
    """The median of the largest tiles of some agents."""
    return ", ".join(
        f"'{label}' has a median largest tile of {np.median(e.column(label, 'max_tile')):.0f}" for label in labels
    )

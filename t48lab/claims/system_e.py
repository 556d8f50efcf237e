"""Claims of system E, the agent called A*."""

from __future__ import annotations

from t48lab.claims.evidence import Evidence
from t48lab.claims.registry import claim, median_tiles, percent
from t48lab.claims.rulings import Found, Ruling, Word, exists

SLOWEST = 0.09


@claim("E1")
def time_a_move(e: Evidence) -> Ruling:
    """Tens of milliseconds at depth 3."""
    found = e.per_move("E")
    seconds = Found(found.value / 1000, found.low / 1000, found.high / 1000, found.n)
    word: Word = "holds" if seconds.high < SLOWEST else "fails"
    return Ruling(seconds, word, f"Seconds a move in compiled code; upheld when under {SLOWEST}.")


@claim("E2")
def reaches_2048(e: Evidence) -> Ruling:
    """Some game reaches 2048."""
    others = f"greedy play by the same terms {percent(e.rate('E, greedy', 2048))}"
    others += f", with an open list {percent(e.rate('E, open list', 2048))}"
    reason = f"Share of games at 2048; {others}. {median_tiles(e, 'E').capitalize()}."
    return Ruling(e.rate("E", 2048), exists(*e.reached("E", 2048)), reason)

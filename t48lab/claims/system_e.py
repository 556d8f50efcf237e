"""Claims of system E, the agent called A*."""

from __future__ import annotations

from t48lab.claims.evidence import Evidence
from t48lab.claims.registry import claim, median_tiles, percent, plain
from t48lab.claims.rulings import Found, Ruling, Word, exists, mean

SLOWEST = 0.09


@claim("E1")
def time_a_move(e: Evidence) -> Ruling:
    """Tens of milliseconds at depth 3, in compiled code and in Python."""
    found, python = e.per_move("E"), mean(e.measure("depth_three")["seconds"].to_numpy(float))
    seconds = Found(found.value / 1000, found.low / 1000, found.high / 1000, found.n)
    fast, slow = seconds.high < SLOWEST, python.low > SLOWEST
    word: Word = "undecided" if fast and slow else "holds" if fast else "fails"
    reason = (
        f"Seconds a move in compiled code with a table; a plain Python program takes {plain(python)} s on positions "
    )
    return Ruling(seconds, word, f"{reason}of its games. The article does not say which it means.")


@claim("E2")
def reaches_2048(e: Evidence) -> Ruling:
    """Some game reaches 2048."""
    others = f"greedy play by the same terms {percent(e.rate('E, greedy', 2048))}"
    others += f", with an open list {percent(e.rate('E, open list', 2048))}"
    reason = f"Share of games at 2048; {others}; {median_tiles(e, 'E')}."
    return Ruling(e.rate("E", 2048), exists(*e.reached("E", 2048)), reason)

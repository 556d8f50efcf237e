"""Claims of system D, expectimax by the book."""

from __future__ import annotations

from t48lab.claims.evidence import Evidence, node_saving, time_ratio
from t48lab.claims.registry import claim, claim_ahead, percent, plain
from t48lab.claims.rulings import (
    Ruling,
    above,
    all_of,
    difference_of_shares,
    like_sample,
    mean,
    near,
    resampled,
    share,
    within,
)

RATES = {2048: 92, 4096: 65, 8192: 30}
ROOM = 4


@claim("D1")
def rates(e: Evidence) -> Ruling:
    """2048 in 92, 4096 in 65, 8192 in 30 of 100 games."""
    word = all_of(*(like_sample(*e.reached("D", tile), count, 100) for tile, count in RATES.items()))
    rest = ", ".join(f"{tile} {percent(e.rate('D', tile))}" for tile in (4096, 8192))
    return Ruling(e.rate("D", 2048), word, f"Share at 2048; {rest}.")


@claim("D2")
def mean_score(e: Evidence) -> Ruling:
    """A mean of 3860."""
    found = e.mean("D")
    reason = "Mean score. Impossible on its face: a game with a 2048 tile has scored over 18,000, so the 92% of games "
    return Ruling(found, near(found, 3860), f"{reason}of D1 alone make a mean above 16,000.")


@claim("D3")
def time_a_move(e: Evidence) -> Ruling:
    """320 ms a move at 6 layers."""
    table = e.measure("evaluation_memo")
    found = mean(table.loc[table["variant"] == "memo", "seconds"].to_numpy(float))
    reason = "Seconds a move of a Python program with the author's memo, on positions of its games; upheld within a "
    return Ruling(found, within(found, 0.16, 0.64), f"{reason}factor of 2. Our kernel: {e.per_move('D').value:.3g} ms.")


@claim("D4")
def saved_by_legality(e: Evidence) -> Ruling:
    """About 30% of expansions."""
    found = node_saving(e.measure("legality"), "skipped", "searched", "expanded")
    return Ruling(
        found, within(found, 0.25, 0.35), "Share of expanded nodes saved at 4 layers; 25% to 35% is about 30%."
    )


@claim("D5")
def evaluations_kept(e: Evidence) -> Ruling:
    """30% to 45% of look-ups hit, which makes it 1.6 times faster."""
    table = e.measure("evaluation_memo")
    memo = table[table["variant"] == "memo"]
    hits = mean((memo["hits"] / memo["lookups"]).to_numpy(float))
    found = time_ratio(table, "plain", "memo")
    word = all_of(within(hits, 0.30, 0.45), near(found, 1.6))
    return Ruling(found, word, f"Times faster at 6 layers, evaluator in plain Python; {percent(hits)} of look-ups hit.")


@claim("D6")
def saved_by_bounds(e: Evidence) -> Ruling:
    """20% to 35% of nodes."""
    found, tight = (node_saving(e.measure("bounds"), name, "plain") for name in ("published", "tight"))
    reason = (
        "Nodes saved at 4 layers by order and the bound as published, which never becomes finite. Told the value of "
    )
    return Ruling(
        found, within(found, 0.20, 0.35), f"{reason}the position beforehand, the bound saves {percent(tight)}."
    )


@claim("D7")
def nodes_of_four_layers(e: Evidence) -> Ruling:
    """About 3,400."""
    found = mean(e.measure("four_layers")["nodes"].to_numpy(float))
    reason = (
        "Nodes on positions with 8 empty cells. The article multiplies 4, 16, 4 and 12 branches, which is 3,396; in "
    )
    reason += "fact 7 cells or more are empty below, for a move never fills one, and not every move is legal."
    return Ruling(found, near(found, 3400), reason)


@claim("D8")
def room_and_wins(e: Evidence) -> Ruling:
    """Games with 4 or more empty cells win more often."""
    table = e.measure("crowding")
    roomy = table["empty"] >= ROOM
    shares = [share(int(group["won"].sum()), len(group)) for group in (table[roomy], table[~roomy])]
    found = difference_of_shares(*shares)
    reason = "Share of games of C and D that reach 2048, if 4 or more cells are empty 50 moves after the first 512 "
    return Ruling(found, above(found), f"{reason}{percent(shares[0])}, else {percent(shares[1])}; the difference.")


claim_ahead("D9", "D3", "D2", ", same depth and seeds")


@claim("D10")
def empty_first(e: Evidence) -> Ruling:
    """Leaving out the empty cells costs more than leaving out any other term."""
    names = ["empty", "largest", "mono", "corner"]
    rows = e.together(["D2", *(f"D2 without {name}" for name in names)])
    found = resampled(rows, lambda r: float(min(r[:, 2:].mean(axis=0)) - r[:, 1].mean()))
    costs = ", ".join(f"{name} {rows[:, 0].mean() - rows[:, i].mean():,.0f}" for i, name in enumerate(names, start=1))
    reason = f"Points by which leaving out empty costs more than any other term does (costs: {costs}). "
    return Ruling(found, above(found), f"{reason}Weight 2.2 less 2.0: {plain(e.difference('D2, empty 2.2', 'D2'))}.")


claim_ahead(
    "D11",
    "D expectimax",
    "D minimax",
    ", same evaluator and depth",
    (("C, 4 layers", "C, minimax"), ("A reversed, 5 layers", "A reversed, minimax 3")),
)

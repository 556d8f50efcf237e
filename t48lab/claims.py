"""A verdict on every claim of the five articles, each from games or measurements under the claim's own conditions.

`CLAIMS` holds one function a claim: from evidence to a ruling. The claims themselves stand in
experiments/claims.csv, the games to play in experiments/claims.toml.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from t48lab.errors import T48Error
from t48lab.evidence import Evidence
from t48lab.experiment import Experiment, run_experiment
from t48lab.results import Store
from t48lab.rulings import (
    Found,
    Ruling,
    Word,
    above,
    association,
    difference_of_shares,
    exists,
    like_sample,
    mean,
    near,
    resampled,
    share,
    within,
    worst,
)

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ["id", "claimed", "ours", "low", "high", "n", "verdict", "reason"]

Rule = Callable[[Evidence], Ruling]
CLAIMS: dict[str, Rule] = {}


def run_claims(
    experiment: Experiment,
    claims: str | Path,
    out: str | Path | None = None,
    workers: int | None = None,
    most: int | None = None,
    progress: bool = False,
) -> pd.DataFrame:
    """The verdicts, a row a claim with COLUMNS, after playing and measuring what the folder lacks.

    `claims` is the CSV file of claims; `most` caps the cases of each measurement. Also writes verdicts.csv.
    Ctrl-C keeps finished games and measurements. Raises T48Error when a claim has no rule.
    """
    store = Store(out or Path("results") / experiment.name)
    stated = read_claims(claims)
    games = run_experiment(experiment, store.folder, workers, progress)
    games = games[games["seed"] == experiment.seed]
    table = judge(stated, Evidence(games, store.folder, most))
    store.write_table("verdicts", table)
    return table


def read_claims(path: str | Path) -> pd.DataFrame:
    """The claims of a CSV file; raises T48Error when it cannot be read or holds a claim without a rule."""
    import pandas as pd

    try:
        stated = pd.read_csv(path, dtype=str)
    except (OSError, ValueError) as error:
        raise T48Error(f"cannot read claims from {path}: {' '.join(str(error).split())}") from None
    for name in ("id", "quantity", "value"):
        if name not in stated.columns:
            raise T48Error(f"{path} has no column {name!r}, it needs id, quantity and value")
    unknown = [claim for claim in stated["id"] if claim not in CLAIMS]
    if unknown:
        raise T48Error(f"{path}: there is no rule for claim {unknown[0]!r}, add one to t48lab/claims.py")
    return stated


def judge(stated: pd.DataFrame, evidence: Evidence) -> pd.DataFrame:
    """One row a claim with COLUMNS."""
    import pandas as pd

    rows = []
    for claim, quantity, value in stated[["id", "quantity", "value"]].itertuples(index=False):
        found, verdict, reason = CLAIMS[str(claim)](evidence)
        figures = [float(f"{number:.4g}") for number in (found.value, found.low, found.high)]
        rows.append([claim, f"{quantity} {value}", *figures, found.n, verdict, reason])
    return pd.DataFrame(rows, columns=COLUMNS)


def _claim(name: str) -> Callable[[Rule], Rule]:
    def enter(rule: Rule) -> Rule:
        CLAIMS[name] = rule
        return rule

    return enter


def _p(found: Found) -> str:
    return f"{found.value:.1%} ({found.low:.1%} to {found.high:.1%})"


def _x(found: Found) -> str:
    return f"{found.value:,.4g} ({found.low:,.4g} to {found.high:,.4g})"


def _largest(e: Evidence, *labels: str) -> str:
    return ", ".join(f"{label}: median largest tile {np.median(e.column(label, 'max_tile')):.0f}" for label in labels)


def _reading(e: Evidence, label: str, tile: int) -> str:
    """What system A's other reading gives, since its listing lost its operators."""
    other = label.replace("A,", "A reversed,")
    return f"With descents as penalties, the other reading of its listing: {_p(e.rate(other, tile))} reach {tile}."


@_claim("A1")
def _a1(e: Evidence) -> Ruling:
    labels = ["A, minimax 1", "A, minimax 2", "A, minimax 3"]
    tiles = np.concatenate([e.column(label, "max_tile") for label in labels])
    low, high = np.percentile(tiles, [2.5, 97.5])
    found = Found(float(np.median(tiles)), float(low), float(high), len(tiles))
    past = share(int((tiles > 2048).sum()), len(tiles))
    word: Word = "holds" if found.value == 2048 and past.high < 0.2 else "fails"
    return Ruling(
        found, word, f"Median and range of 95% of the largest tiles at depths 1 to 3; {_p(past)} pass 2048. "
        f"Expectimax with the same evaluator is no better: {_largest(e, 'A, 4 layers')}."
    )  # fmt: skip


def _sampled(name: str, label: str, tile: int, count: int, games: int) -> None:
    """Enter a claim that a share of a number of games of system A reaches a tile."""

    @_claim(name)
    def rule(e: Evidence) -> Ruling:
        reason = f"Games of '{label}'; {_largest(e, label)}. {_reading(e, label, tile)}"
        return Ruling(e.rate(label, tile), like_sample(*e.reached(label, tile), count, games), reason)


_sampled("A2", "A, no corner", 8192, 0, 50)
_sampled("A4", "A, 4 layers", 8192, 11, 50)
_sampled("A6", "A, half corner", 8192, 2, 50)
_sampled("A9", "A, 5 layers", 8192, 11, 30)


def _mean_tile(name: str, label: str, claimed: int, more: str = "") -> None:
    """Enter a claim on the mean largest tile of system A's games."""

    @_claim(name)
    def rule(e: Evidence) -> Ruling:
        found = e.mean(label, "max_tile")
        other = e.mean(label.replace("A,", "A reversed,"), "max_tile")
        return Ruling(found, near(found, claimed), f"Mean largest tile; the other reading: {_x(other)}.{more}")


_mean_tile("A3", "A, no corner", 4096)
_mean_tile("A5", "A, 4 layers", 8192, " On its face it needs 11 games that average over 22,000.")


@_claim("A7")
def _a7(e: Evidence) -> Ruling:
    label = "A, 3 layers"
    word = worst(like_sample(*e.reached(label, 4096), 18, 30), like_sample(*e.reached(label, 8192), 0, 30))
    found = e.mean(label, "max_tile")
    reason = f"Share at 4096; 8192 in {e.reached(label, 8192)[0]} games; mean largest tile {found.value:.0f}. "
    return Ruling(e.rate(label, 4096), worst(word, near(found, 3072)), reason + _reading(e, label, 4096))


@_claim("A8")
def _a8(e: Evidence) -> Ruling:
    label = "A, 4 layers"
    word = worst(like_sample(*e.reached(label, 4096), 30, 30), like_sample(*e.reached(label, 8192), 7, 30))
    reason = f"Share at 8192; {_p(e.rate(label, 4096))} reach 4096. {_reading(e, label, 4096)}"
    return Ruling(e.rate(label, 8192), word, reason)


@_claim("A10")
def _a10(e: Evidence) -> Ruling:
    def bend(rows: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(2 * rows[:, 1] - rows[:, 0] - rows[:, 2])

    labels = ["A, 3 layers", "A, 4 layers", "A, 5 layers"]
    found = mean(bend(e.together(labels)))
    other = mean(bend(e.together([label.replace("A,", "A reversed,") for label in labels])))
    means = ", ".join(f"{e.mean(label).value:,.0f}" for label in labels)
    reason = f"Points gained from 3 to 4 layers less those from 4 to 5; mean scores {means}. The other reading: {_x(other)}."
    return Ruling(found, above(found), reason)


def _seconds(table: pd.DataFrame, variants: list[str]) -> Found:
    """Time of the last variant over that of the first, position by position."""
    wide = table.pivot(index="position", columns="variant", values="seconds")[variants].to_numpy(np.float64)
    return resampled(wide, lambda rows: float(rows[:, -1].sum() / rows[:, 0].sum()))


@_claim("A11")
def _a11(e: Evidence) -> Ruling:
    table = e.measure("memo_a")
    four, five = (_seconds(table, ["ordered 3", f"ordered {n}"]) for n in (4, 5))
    word = worst(within(four, 7.5 / 1.5, 7.5 * 1.5), within(five, 25 / 1.5, 25 * 1.5))
    kernel = e.per_move("A, 5 layers").value / e.per_move("A, 3 layers").value
    return Ruling(five, word, f"Time of 5 over 3 layers in a Python program with its memo and order, on positions of "
                  f"its games; 4 over 3 layers {_x(four)}. Upheld within a factor of 1.5. Our kernel: {kernel:.3g}.")  # fmt: skip


def _saving(table: pd.DataFrame, less: str, more: str, column: str = "nodes") -> Found:
    """The share of nodes that one variant saves, position by position."""
    wide = table.pivot(index="position", columns="variant", values=column)
    return mean(1 - (wide[less] / wide[more]).to_numpy(np.float64))


@_claim("A12")
def _a12(e: Evidence) -> Ruling:
    table = e.measure("memo_a")
    found = _saving(table, "memo 4", "plain 4")
    deeper = _saving(table, "memo 5", "plain 5")
    return Ruling(found, above(found, 0.70), f"Nodes saved by position at 4 layers; at 5 layers {_p(deeper)}.")


@_claim("A13")
def _a13(e: Evidence) -> Ruling:
    found = e.difference("A, 4 layers", "A, constant corner")
    other = e.difference("A reversed, 4 layers", "A reversed, constant corner")
    rates = [_p(e.rate(label, 1024)) for label in ("A, 4 layers", "A, constant corner")]
    reason = f"Points by which the proportional bonus is ahead; {rates[0]} and {rates[1]} reach 1024 at all. "
    return Ruling(found, above(found), f"{reason}The other reading: {_x(other)}.")


@_claim("A14")
def _a14(e: Evidence) -> Ruling:
    labels = ["B corrected, 1000", "B corrected, 5000", "B corrected, 10000"]
    few, some, many = (e.reached(label, 8192) for label in labels)
    reason = f"Share at 8192 with 10,000 playouts a move; {few[0]} of {few[1]} games with 1,000, {some[0]} of {some[1]} with 5,000."
    return Ruling(share(*many), exists(few[0] + some[0] + many[0], few[1] + some[1] + many[1]), reason)


def _spread(rows: NDArray[np.float64]) -> float:
    """How far means lie apart over three sets of weights, less how far over three depths; columns in that order."""
    means = rows.mean(axis=0)
    return float(np.ptp(means[:3]) - np.ptp(means[3:]))


@_claim("A15")
def _a15(e: Evidence) -> Ruling:
    weights = ["A, no corner", "A, half corner", "A, 4 layers"]
    depths = ["A, 3 layers", "A, 4 layers", "A, 5 layers"]
    found = resampled(e.together([*weights, *depths]), _spread)
    other = resampled(e.together([label.replace("A,", "A reversed,") for label in [*weights, *depths]]), _spread)
    return Ruling(found, above(found), f"Points between the best and the worst weights, less those between the best "
                  f"and the worst depth. The other reading: {_x(other)}.")  # fmt: skip


@_claim("A16")
def _a16(e: Evidence) -> Ruling:
    found, deep = e.rate("A, 5 layers", 8192), e.rate("A, 4 layers", 8192)
    word = worst(above(found, 0.5), above(deep, 0.5))
    return Ruling(found, word, f"Share at 8192, 5 layers; 4 layers {_p(deep)}. {_reading(e, 'A, 5 layers', 8192)}")


def _ahead(name: str, first: str, second: str, words: str, others: tuple[tuple[str, str], ...] = ()) -> None:
    """Enter a claim that one agent scores more than another on the same deals."""

    @_claim(name)
    def rule(e: Evidence) -> Ruling:
        found = e.difference(first, second)
        more = "".join(f" '{a}' less '{b}': {_x(e.difference(a, b))}." for a, b in others)
        return Ruling(found, above(found), f"Points by which '{first}' is ahead of '{second}'{words}.{more}")


_ahead(
    "B1", "B, 1000", "greedy, B", ", which plays by its own mix of terms",
    (("B, 1000", "greedy, tuned"), ("B corrected, 1000", "greedy, tuned")),
)  # fmt: skip
_ahead("B2", "B, 10000", "B, 1000", "", (("B corrected, 10000", "B corrected, 1000"),))
_ahead(
    "B3", "B, merging rollouts", "B, 1000", "",
    (
        ("B, guided rollouts", "B, 1000"),
        ("B corrected, merging rollouts", "B corrected, 1000"),
        ("B corrected, guided rollouts", "B corrected, 1000"),
    ),
)  # fmt: skip


@_claim("B4")
def _b4(e: Evidence) -> Ruling:
    table = e.measure("early")
    larger = ["C 1.5", "C 1.75", "C 2"]
    found = mean(table["C 1.41"].to_numpy() - table[larger].mean(axis=1).to_numpy())
    each = ", ".join(f"{name} {table[name].mean():.3g}" for name in ["C 1.41", *larger])
    return Ruling(found, above(found), f"Points that C = 1.41 gives away in early positions less those that 1.5 to 2.0 "
                  f"do, 1,000 simulations, judged by 50,000: {each}. With raw points, as published, C plays no part.")  # fmt: skip


@_claim("B5")
def _b5(e: Evidence) -> Ruling:
    found = e.speed_up("B corrected, 1000", "B corrected, rollouts of 50")
    published = e.speed_up("B, 1000", "B, rollouts of 50")
    loss = e.difference("B corrected, rollouts of 50", "B corrected, 1000")
    return Ruling(found, above(found, 1.5), f"Times faster a move; greatly is taken as over 1.5. As published {_x(published)}. "
                  f"Score less that of whole rollouts: {_x(loss)}.")  # fmt: skip


@_claim("B6")
def _b6(e: Evidence) -> Ruling:
    table = e.measure("playouts")
    each = [_rank_correlation(group) for _, group in table.groupby("position") if len(group) > 2]
    found = mean(np.array(each, np.float64))
    return Ruling(found, above(found), "Mean over positions of the rank correlation between a move's visits and the "
                  "length of random playouts after it.")  # fmt: skip


def _rank_correlation(group: pd.DataFrame) -> float:
    ranks = group[["visits", "length"]].rank().to_numpy(np.float64)
    return float(np.corrcoef(ranks.T)[0, 1]) if (np.ptp(ranks, axis=0) > 0).all() else np.nan


@_claim("C1")
def _c1(e: Evidence) -> Ruling:
    table = e.measure("memo_c")
    three, four = (_saving(table, f"memo {n}", f"plain {n}") for n in (3, 4))
    word = worst(within(three, 0.3, 0.5), within(four, 0.3, 0.5))
    return Ruling(four, word, f"Nodes saved at 4 layers; at 3 layers {_p(three)}.")


@_claim("C2")
def _c2(e: Evidence) -> Ruling:
    table = e.measure("memo_c")
    hits = (table["hits"] / table["lookups"]).where(table["lookups"] > 0)
    wide = table.assign(rate=hits).pivot(index="position", columns="variant", values="rate")
    found = mean((wide["ordered 4"] - wide["memo 4"]).to_numpy(np.float64))
    return Ruling(found, above(found), f"Hit rate with order less without, 4 layers, where it is {wide['memo 4'].mean():.1%}. "
                  "Without pruning the same nodes are visited in any order.")  # fmt: skip


@_claim("C3")
def _c3(e: Evidence) -> Ruling:
    found = e.rate("C, 4 layers", 2048)
    rough = e.rate("C, rough boards win", 2048)
    return Ruling(found, above(found, 0.75), f"Share at 2048 with its own weights, against its own bar. "
                  f"With the other sign of smooth: {_p(rough)}; 3 layers: {_p(e.rate('C, 3 layers', 2048))}.")  # fmt: skip


def _by_weight(table: pd.DataFrame, column: str) -> str:
    means = table.groupby("variant")[column].mean().sort_index()
    return ", ".join(f"weight {weight:g}: {value:.2%}" for weight, value in means.items())


@_claim("C4")
def _c4(e: Evidence) -> Ruling:
    table = e.measure("mono")
    found = association(table["variant"].to_numpy(float), table["repeats"].to_numpy(float))
    return Ruling(found, above(found), f"Rank correlation over games between the weight of mono and the share of moves "
                  f"that repeat a direction a third time: {_by_weight(table, 'repeats')}.")  # fmt: skip


@_claim("C5")
def _c5(e: Evidence) -> Ruling:
    table = e.measure("largest")
    found = association(-table["variant"].to_numpy(float), table["centre"].to_numpy(float))
    return Ruling(found, above(found), f"Rank correlation over games between the weight of the largest tile, sign turned, "
                  f"and the share of positions with that tile in the centre: {_by_weight(table, 'centre')}.")  # fmt: skip


@_claim("C6")
def _c6(e: Evidence) -> Ruling:
    table = e.measure("move_times")
    lists, bits = mean((table["numpy"] / table["lists"]).to_numpy()), mean((table["lists"] / table["bits"]).to_numpy())
    return Ruling(bits, worst(above(lists, 1.0), above(bits, 1.0)), f"Times by which bit rows are faster than lists in "
                  f"plain Python; lists against NumPy {_x(lists)}.")  # fmt: skip


@_claim("D1")
def _d1(e: Evidence) -> Ruling:
    parts = {2048: 92, 4096: 65, 8192: 30}
    word = worst(*(like_sample(*e.reached("D", tile), count, 100) for tile, count in parts.items()))
    rest = ", ".join(f"{tile}: {_p(e.rate('D', tile))}" for tile in (4096, 8192))
    return Ruling(e.rate("D", 2048), word, f"Share at 2048; {rest}.")


@_claim("D2")
def _d2(e: Evidence) -> Ruling:
    found = e.mean("D")
    return Ruling(found, near(found, 3860), "Mean score. Impossible on its face beside D1: making one 2048 tile takes over "
                  "18,000 points, so 92% of games at 2048 average over 16,000.")  # fmt: skip


@_claim("D3")
def _d3(e: Evidence) -> Ruling:
    table = e.measure("evaluation_memo")
    found = mean(table.loc[table["variant"] == "memo", "seconds"].to_numpy(float))
    return Ruling(found, within(found, 0.16, 0.64), f"Seconds a move of a Python program with its memo at 6 layers, on its "
                  f"positions; upheld within a factor of 2. Our kernel: {e.per_move('D').value:.3g} ms.")  # fmt: skip


@_claim("D4")
def _d4(e: Evidence) -> Ruling:
    found = _saving(e.measure("legality"), "skipped", "searched", "expanded")
    return Ruling(found, within(found, 0.25, 0.35), "Share of expanded nodes saved at 4 layers; about is taken as 25% to 35%.")


@_claim("D5")
def _d5(e: Evidence) -> Ruling:
    table = e.measure("evaluation_memo")
    memo = table[table["variant"] == "memo"]
    rate = mean((memo["hits"] / memo["lookups"]).to_numpy(np.float64))
    found = _seconds(table, ["memo", "plain"])
    word = worst(within(rate, 0.30, 0.45), near(found, 1.6))
    return Ruling(found, word, f"Times faster at 6 layers with an evaluator in plain Python; {_p(rate)} of look-ups hit.")


@_claim("D6")
def _d6(e: Evidence) -> Ruling:
    table = e.measure("bounds")
    found, tight = (_saving(table, name, "plain") for name in ("published", "tight"))
    return Ruling(found, within(found, 0.20, 0.35), f"Nodes saved at 4 layers by order and the bound as published, which "
                  f"never becomes finite. Told the position's value beforehand, the bound saves {_p(tight)}.")  # fmt: skip


@_claim("D7")
def _d7(e: Evidence) -> Ruling:
    found = mean(e.measure("four_layers")["nodes"].to_numpy(float))
    return Ruling(found, near(found, 3400), "Nodes on positions with 8 empty cells. 4, 16, 4 and 12 branches make 3,396; "
                  "but an afterstate has no fewer empty cells than its position, so 7 are empty below, not 6.")  # fmt: skip


@_claim("D8")
def _d8(e: Evidence) -> Ruling:
    table = e.measure("crowding")
    roomy = table["empty"] >= 4
    shares = [share(int(group["won"].sum()), len(group)) for group in (table[roomy], table[~roomy])]
    found = difference_of_shares(*shares)
    return Ruling(found, above(found), f"Share of games of C and D that reach 2048 when 4 or more cells are empty 50 moves "
                  f"after the first 512, less when fewer are: {_p(shares[0])} and {_p(shares[1])}.")  # fmt: skip


_ahead("D9", "D3", "D2", ", same depth and seeds", (("D2, empty 2.2", "D2"),))


@_claim("D10")
def _d10(e: Evidence) -> Ruling:
    names = ["empty", "largest", "mono", "corner"]
    rows = e.together(["D2", *(f"D2 without {name}" for name in names)])
    found = resampled(rows, lambda r: float(min(r[:, 2:].mean(axis=0)) - r[:, 1].mean()))
    each = ", ".join(f"{name} {rows[:, 0].mean() - rows[:, i].mean():,.0f}" for i, name in enumerate(names, start=1))
    return Ruling(found, above(found), f"Points by which leaving out empty costs more than leaving out any other term. "
                  f"Costs: {each}. Weight 2.2 for empty less 2.0: {_x(e.difference('D2, empty 2.2', 'D2'))}.")  # fmt: skip


_ahead("D11", "D expectimax", "D minimax", ", same evaluator and depth")


@_claim("E1")
def _e1(e: Evidence) -> Ruling:
    found = e.per_move("E")
    seconds = Found(found.value / 1000, found.low / 1000, found.high / 1000, found.n)
    word: Word = "holds" if seconds.high < 0.09 else "fails"
    return Ruling(seconds, word, "Seconds a move in compiled code, depth 3 as published; upheld when under 0.09.")


@_claim("E2")
def _e2(e: Evidence) -> Ruling:
    others = f"greedy by the same evaluator {_p(e.rate('E, greedy', 2048))}, an open list {_p(e.rate('E, open list', 2048))}"
    word = exists(*e.reached("E", 2048))
    return Ruling(e.rate("E", 2048), word, f"Share of games at 2048; {others}. {_largest(e, 'E')}.")

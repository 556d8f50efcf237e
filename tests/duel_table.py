"""The tables of docs/duel.md: how often duels end rightly and wrongly, exactly and by simulation.

    python tests/duel_table.py

prints them. Nulls are real duels between two streams of the random agent, each with seeds of its own. For the power,
scores of real games are drawn with replacement, and one side's are multiplied until it wins the stated share.
How many games it takes follows from the stored games of results/compare.
"""

from math import ceil
from pathlib import Path

import numpy as np
from scipy.stats import norm

from t48lab.analysis import share_interval
from t48lab.analysis.sequential import VERDICTS, SequentialTest
from t48lab.experiments import Store
from t48lab.games import play_batch

DEALS = (20, 50, 100, 200, 500, 1000, 2000)
SIMULATED = (100, 1000)
DUELS = 1000
SEED = 2048
AGENT = "greedy:by=evaluator,evaluator=classic"
COMPARE = Path(__file__).parents[1] / "results" / "compare"
COMPARED = ("random", "expectimax 1", "expectimax 2", "expectimax 3", "expectimax 4", "minimax 3", "mcts 100")
GAINS = (0.05, 0.1, 0.2)


def verdict(test, difference):
    """(verdict, deals) of a duel with these differences of scores."""
    wins = losses = 0
    for n, d in enumerate(difference, start=1):
        wins, losses = wins + (d > 0), losses + (d < 0)
        found = test.decide(wins, losses, n - wins - losses)
        if found:
            return found, n
    raise AssertionError("a duel must end")


def shares(test, differences):
    """The share of each verdict, and the mean number of deals, over many duels."""
    ends = [verdict(test, difference) for difference in differences]
    found = {name: sum(end == name for end, _ in ends) / len(ends) for name in VERDICTS}
    return found, float(np.mean([n for _, n in ends]))


def random_duels(deals, duels, seed=SEED):
    """Differences of scores between two streams of the random agent, one row a duel, base seeds seed, seed + 1, ..."""
    for i in range(duels):
        one, other = (
            play_batch(f"random:seed={2 * i + k}", games=deals, seed=seed + i, workers=1)["score"] for k in (1, 2)
        )
        yield one.to_numpy() - other.to_numpy()


def pool(games=4000):
    """Scores of real games."""
    return play_batch(AGENT, games=games, seed=SEED)["score"].to_numpy(float)


def factor(scores, share):
    """What one side's scores must be multiplied by to win this share of deals."""
    ordered = np.sort(scores)
    low, high = 1.0, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        won = np.searchsorted(ordered, middle * scores).mean() / len(scores)
        low, high = (low, middle) if won > share else (middle, high)
    return high


def drawn_duels(scores, share, deals, duels, seed=SEED):
    """Differences of drawn scores, the first side winning `share` of deals, one row a duel."""
    draw, stronger = np.random.default_rng(seed), factor(scores, share)
    for _ in range(duels):
        yield stronger * draw.choice(scores, deals) - draw.choice(scores, deals)


def exact_table():
    """The exact rates as Markdown."""
    lines = [
        "| most deals | win share to find | equal agents: a winner | no winner, early | deals on average "
        "| at that share: found | deals on average |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for deals in DEALS:
        test = SequentialTest(deals)
        null, there = test.rates(0.5), test.rates(0.5 + test.effect)
        lines.append(
            f"| {deals:,} | {0.5 + test.effect:.1%} | {null.first + null.second:.1%} | {null.equal:.1%} "
            f"| {null.deals:,.0f} | {there.first:.1%} | {there.deals:,.0f} |"
        )
    return "\n".join(lines)


def with_interval(share):
    """A share of the simulated duels with its 95% interval, as text."""
    low, high = share_interval(round(share * DUELS), DUELS)
    return f"{share:.1%} ({low:.1%} to {high:.1%})"


def simulated_table():
    """The simulated rates as Markdown, with 95% Wilson intervals."""
    lines = [
        "| most deals | duels | equal agents: a winner (95%) | exact | win share | found (95%) | exact |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    scores = pool()
    for deals in SIMULATED:
        test = SequentialTest(deals)
        share = 0.5 + test.effect
        null, _ = shares(test, random_duels(deals, DUELS))
        there, _ = shares(test, drawn_duels(scores, share, deals, DUELS))
        exact = test.rates(0.5)
        lines.append(
            f"| {deals:,} | {DUELS:,} | {with_interval(null['first'] + null['second'])} "
            f"| {exact.first + exact.second:.1%} | {share:.1%} | {with_interval(there['first'])} "
            f"| {test.rates(share).first:.1%} |"
        )
    return "\n".join(lines)


def needed(scores, gain):
    """Games of each agent to find a mean that is higher by this share in 80% of tries, at a two-sided 5%."""
    spread = scores.std(ddof=1) / scores.mean()
    return ceil(2 * ((norm.ppf(0.975) + norm.ppf(0.8)) * spread / gain) ** 2)


def needed_table():
    """How many games of each agent it takes to tell means apart, as Markdown."""
    heads = " | ".join(f"{gain:.0%} apart" for gain in GAINS)
    lines = [f"| agent | games | spread | {heads} |", "| --- " + "| ---: " * (2 + len(GAINS)) + "|"]
    games = Store(COMPARE).frame()
    for agent in COMPARED:
        scores = games.loc[games["agent"] == agent, "score"].to_numpy(float)
        cells = [f"{scores.std(ddof=1) / scores.mean():.2f}", *(f"{needed(scores, gain):,}" for gain in GAINS)]
        lines.append(f"| {agent} | {len(scores)} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(exact_table(), simulated_table(), needed_table(), sep="\n\n")

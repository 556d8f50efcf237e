"""The sequential test: its rates are worked out exactly, so they are checked against paths counted one by one."""

from pathlib import Path

import numpy as np
import pytest
from duel_table import DEALS, drawn_duels, exact_table, needed_table, shares, verdict

from t48lab.analysis.sequential import ALPHA, FEWEST, MISSED, MOST, POWER, VERDICTS, SequentialTest
from t48lab.errors import T48Error
from t48lab.games import play_batch

pytestmark = pytest.mark.compiled

DOC = (Path(__file__).parents[1] / "docs" / "duel.md").read_text()


@pytest.mark.parametrize("deals", [*DEALS, 21, 33, 77])
def test_the_stated_error_rates_hold_exactly(deals):
    test = SequentialTest(deals)
    null, there = test.rates(0.5), test.rates(0.5 + test.effect)
    assert null.first == pytest.approx(null.second)
    assert null.first + null.second <= ALPHA
    assert there.first >= POWER
    assert there.equal <= MISSED
    for rates in (null, there):
        assert sum(rates[:4]) == pytest.approx(1)
        assert rates.deals < deals


def paths(test, share, wins=0, losses=0, chance=1.0):
    """(verdict, deals, probability) of every order of wins and losses that ends a duel."""
    found = test.decide(wins, losses)
    if found:
        yield found, wins + losses, chance
    else:
        yield from paths(test, share, wins + 1, losses, chance * share)
        yield from paths(test, share, wins, losses + 1, chance * (1 - share))


def test_rates_agree_with_every_path_of_twenty_deals():
    test = SequentialTest(20)
    found, mean = dict.fromkeys(VERDICTS, 0.0), 0.0
    for end, n, chance in paths(test, 0.7):
        found[end] += chance
        mean += n * chance
    assert test.rates(0.7) == pytest.approx((*found.values(), mean))


@pytest.mark.compiled
def test_a_thousand_duels_between_equal_agents_rarely_have_a_winner():
    one, other = (play_batch(f"random:seed={i}", games=30_000, seed=2048)["score"] for i in (1, 2))
    found, _ = shares(SequentialTest(30), (one.to_numpy() - other.to_numpy()).reshape(1000, 30))
    assert found["first"] + found["second"] <= ALPHA


def test_simulated_differences_are_found():
    test = SequentialTest(60)
    scores = np.random.default_rng(1).lognormal(8, 0.6, 500) // 4 * 4
    found, _ = shares(test, drawn_duels(scores, 0.5 + test.effect, 60, 1000))
    assert found["first"] >= POWER
    assert found["second"] < 0.01


def test_the_documented_table_is_the_exact_one():
    assert exact_table() in DOC


def test_the_documented_numbers_of_games_follow_from_the_stored_games():
    assert needed_table() in DOC


def test_wins_alone_end_a_duel_soon_and_sides_are_alike():
    test = SequentialTest(1000)
    assert test.earliest == 8
    assert test.decide(8, 0) == "first"
    assert test.decide(0, 8) == "second"
    assert test.decide(7, 0) is None
    for wins in range(100):
        sides = {"first": "second", "second": "first"}
        there, back = test.decide(wins, 60), test.decide(60, wins)
        assert sides.get(there, there) == back


def test_agents_that_always_tie_are_told_apart_from_none():
    test = SequentialTest(1000)
    ends = next(n for n in range(1, 1001) if test.decide(0, 0, n))
    assert test.decide(0, 0, ends) == "equal"
    assert ends < 1000


def test_all_deals_end_a_duel():
    test = SequentialTest(100)
    assert test.decide(57, 43) == "undecided"
    assert test.decide(56, 43) is None


@pytest.mark.parametrize("deals", [0, FEWEST - 1, MOST + 1, 100.5, True])
def test_a_number_of_deals_that_makes_no_test_is_refused(deals):
    with pytest.raises(T48Error, match="games"):
        SequentialTest(deals)


@pytest.mark.parametrize(("share", "draws"), [(0.5, 300), (0.7, 300)])
def test_the_interval_covers_although_duels_stop_early(share, draws):
    test, draw = SequentialTest(60), np.random.default_rng(7)
    known = {}
    covered = 0
    for _ in range(draws):
        _, n = verdict(test, path := np.where(draw.random(60) < share, 1, -1))
        key = int((path[:n] > 0).sum()), n
        known[key] = known.get(key) or test.interval(*key)
        covered += known[key][0] <= share <= known[key][1]
    assert covered / draws >= 0.93


def test_intervals_at_the_ends():
    test = SequentialTest(100)
    low, high = test.interval(0, 7)
    assert low == 0.0
    assert 0 < high < 0.5
    assert test.interval(7, 7) == pytest.approx((1 - high, 1.0), abs=2e-4)


def test_a_winners_interval_leaves_one_half_out():
    test = SequentialTest(40)
    for deals in range(test.earliest, 41):
        least = next(wins for wins in range(deals + 1) if test.decide(wins, deals - wins) == "first")
        assert test.interval(least, deals)[0] > 0.5
    test = SequentialTest(100)
    assert test.interval(50, 100) == pytest.approx((0.4, 0.6), abs=0.02)

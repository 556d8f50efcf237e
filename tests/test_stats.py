"""Tables of games against values worked out by hand or the long way round."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from results_frames import AGENTS, made_up
from scipy import stats as scipy_stats

from t48lab.analysis.stats import (
    PAIRS_COLUMNS,
    TILES,
    correlations,
    mean_interval,
    pairing,
    pairs,
    pareto_front,
    share_interval,
)
from t48lab.analysis.summaries import summary, summary_columns
from t48lab.errors import T48Error
from t48lab.experiments import table_sizes

pytestmark = pytest.mark.compiled


def games(scores, label="a", tiles=None, first=0, seconds=1.0):
    count = len(scores)
    return pd.DataFrame(
        {
            "agent": label, "spec": label, "agent_key": "k" + label, "spawner": "random", "seed": 7,
            "game": range(first, first + count), "score": scores, "max_tile": tiles or [512] * count,
            "moves": 100, "nodes": 400, "seconds": seconds,
        }
    )  # fmt: skip


def test_summary_by_hand():
    row = summary(games([100, 200, 600, 1100], tiles=[256, 512, 1024, 1024])).iloc[0]
    assert list(row.index) == summary_columns()
    assert (row["agent"], row["agent_key"], row["games"]) == ("a", "ka", 4)
    assert (row["mean_score"], row["median_score"]) == (500, 400)
    assert [row[f"rate_{tile}"] for tile in TILES] == [0.75, 0.5, 0, 0, 0, 0, 0, 0]
    assert (row["mean_moves"], row["moves_per_s"], row["ms_per_move"], row["nodes_per_move"]) == (100, 100, 10, 4)
    assert row["mean_low"] < 500 < row["mean_high"]


def test_the_columns_of_the_contract():
    rates = [f"rate_{2**r}{end}" for r in range(9, 17) for end in ("", "_low", "_high")]
    start = "agent agent_key spawner games mean_score mean_low mean_high median_score".split()
    assert [*start, *rates, "mean_moves", "moves_per_s", "ms_per_move", "nodes_per_move"] == summary_columns()


def test_summary_keeps_the_order_of_agents_and_tells_spawners_apart():
    frame = made_up(5, spawners=("random", "adversarial"))
    table = summary(frame)
    assert list(table["agent"]) == list(dict.fromkeys(frame["agent"])) * 2
    assert set(table["games"]) == {5}


def test_wilson_by_its_formula():
    z = scipy_stats.norm.ppf(0.975)
    for count, total in [(0, 5), (3, 20), (20, 20), (199, 200)]:
        p, n = count / total, total
        middle = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        assert share_interval(count, total) == pytest.approx((middle - half, middle + half))
    assert all(math.isnan(end) for end in share_interval(0, 0))


def test_bootstrap_of_few_values_against_all_resamples():
    """Of 5 values there are 5^5 resamples; their exact percentiles bracket what BCa corrects a little."""
    values = np.array([1.0, 2.0, 4.0, 8.0, 9.0])
    means = np.array([np.mean(c) for c in itertools.product(values, repeat=5)])
    exact = bca(values, means)
    assert mean_interval(values) == pytest.approx(exact, abs=0.15)


def bca(values, means):
    """The interval of Efron (1987), (z0, a) from their definitions, over every resample."""
    z0 = scipy_stats.norm.ppf(((means < values.mean()).mean() + (means <= values.mean()).mean()) / 2)
    left_out = np.array([np.delete(values, i).mean() for i in range(len(values))])
    gap = left_out.mean() - left_out
    a = (gap**3).sum() / (6 * (gap**2).sum() ** 1.5)
    ends = [scipy_stats.norm.cdf(z0 + (z0 + z) / (1 - a * (z0 + z))) for z in scipy_stats.norm.ppf([0.025, 0.975])]
    return tuple(np.percentile(means, 100 * np.array(ends)))


def test_bootstrap_covers_about_95_in_100():
    draw = np.random.default_rng(5)
    inside = sum(low < math.exp(0.125) < high for low, high in (
        mean_interval(np.exp(0.5 * draw.normal(size=60))) for _ in range(200)
    ))  # fmt: skip
    assert 178 <= inside <= 199


def test_many_values_get_about_the_normal_interval():
    values = np.random.default_rng(1).exponential(size=50_000)
    half = 1.96 * values.std() / math.sqrt(len(values))
    low, high = mean_interval(values)
    assert (values.mean() - low, high - values.mean()) == pytest.approx((half, half), rel=0.15)


def test_intervals_of_one_value_and_of_equal_values():
    assert all(math.isnan(end) for end in mean_interval(np.array([3.0])))
    assert mean_interval(np.full(9, 3.0)) == (3.0, 3.0)
    row = summary(games([100])).iloc[0]
    assert math.isnan(row["mean_low"])
    assert 0 < row["rate_512_low"] < row["rate_512_high"] <= 1


def test_same_games_same_table_in_any_order():
    frame = made_up(30)
    shuffled = frame.sample(frac=1, random_state=3)
    assert_same(summary(frame), summary(shuffled))
    assert_same(pairs(frame, "random"), pairs(shuffled, "random"))


def assert_same(one, other):
    one, other = (table.sort_values("agent").reset_index(drop=True) for table in (one, other))
    pd.testing.assert_frame_equal(one, other, rtol=1e-12)


def test_untimed_games_have_no_speed():
    row = summary(games([1, 2], seconds=0.0)).iloc[0]
    assert math.isnan(row["moves_per_s"])
    assert math.isnan(row["ms_per_move"])


def test_pairs_by_hand():
    frame = pd.concat([games([10, 20, 30, 40], "base"), games([15, 20, 25, 80], "new")])
    table = pairs(frame, "base")
    assert list(table.columns) == PAIRS_COLUMNS
    row = table.iloc[0]
    assert (row["agent"], row["baseline"], row["games"], row["ties"]) == ("new", "base", 4, 1)
    assert row["mean_difference"] == 10
    assert row["win_share"] == pytest.approx(2 / 3)
    assert row["difference_low"] <= 10 <= row["difference_high"]
    a, b = np.array([15, 20, 25, 80.0]), np.array([10, 20, 30, 40.0])
    assert row["pearson"] == pytest.approx(scipy_stats.pearsonr(a, b).statistic)
    assert (row["pearson_low"], row["pearson_high"]) == pytest.approx(
        tuple(scipy_stats.pearsonr(a, b).confidence_interval())
    )
    assert row["spearman"] == pytest.approx(scipy_stats.spearmanr(a, b).statistic)
    assert row["variance_ratio"] == pytest.approx((a - b).var() / (a.var() + b.var()))


def test_pairs_match_deals_not_rows():
    first, second = games([1, 2, 3, 4], "base"), games([13, 14, 15, 16], "new", first=2)
    shuffled = pd.concat([first, second]).sample(frac=1, random_state=1)
    row = pairs(shuffled, "base").iloc[0]
    assert (row["games"], row["mean_difference"]) == (2, 10)
    assert math.isnan(row["spearman_low"])


def test_signed_rank_p_counts_all_signs():
    """The exact p-value: the share of the 2^6 sign patterns whose rank sum is at least as far out."""
    base, new = games([0] * 6, "base"), games([1, -2, 3, 4, 5, 6], "new")
    ranks, observed = range(1, 7), 2
    sums = [sum(r for r, negative in zip(ranks, signs, strict=True) if negative)
            for signs in itertools.product([0, 1], repeat=6)]  # fmt: skip
    exact = 2 * np.mean([s <= observed for s in sums])
    assert pairs(pd.concat([base, new]), "base").iloc[0]["wilcoxon_p"] == pytest.approx(exact)


def test_an_agent_equal_to_the_baseline():
    frame = pd.concat([games([5, 6, 7, 9], "base"), games([5, 6, 7, 9], "same")])
    row = pairs(frame, "base").iloc[0]
    assert (row["mean_difference"], row["ties"], row["wilcoxon_p"]) == (0, 4, 1)
    assert (row["pearson"], row["pearson_low"], row["pearson_high"]) == (1, 1, 1)
    assert row["variance_ratio"] == 0
    assert math.isnan(row["win_share"])


def test_unknown_baseline_is_named():
    with pytest.raises(T48Error, match=r"baseline 'expectimax 3' has no games here, did you mean 'expectimax 2'"):
        pairs(made_up(3), "expectimax 3")


def test_correlations_find_shared_luck_and_its_absence():
    lucky, apart = correlations(made_up(200, luck=0.8)), correlations(made_up(200))
    assert len(lucky) == len(apart) == 15
    assert (lucky["spearman_low"] > 0.3).all()
    assert (lucky["variance_ratio"] < 0.97).all()
    assert pairing(lucky)["excluding_zero"] == 1
    found = pairing(apart)
    assert found["comparisons"] == 15
    assert found["excluding_zero"] < 0.35
    assert abs(found["spearman"]) < 0.06
    assert found["variance_ratio"] == pytest.approx(1, abs=0.1)


def test_intervals_of_correlations_cover():
    """Over 300 draws at a true Spearman of 6/pi*asin(0.25) the 95% interval misses about 15 times."""
    truth, missed = 6 / math.pi * math.asin(0.25), 0
    draw = np.random.default_rng(8)
    for _ in range(300):
        a = draw.normal(size=40)
        b = 0.5 * a + math.sqrt(0.75) * draw.normal(size=40)
        row = correlations(pd.concat([games(np.exp(a), "a"), games(np.exp(b), "b")])).iloc[0]
        missed += not row["spearman_low"] < truth < row["spearman_high"]
    assert 4 <= missed <= 30


def test_pareto_front_by_brute_force():
    draw = np.random.default_rng(2)
    table = pd.DataFrame({"ms": draw.integers(1, 8, 40), "score": draw.integers(1, 8, 40)})
    table.loc[0, "ms"] = np.nan
    kept = pareto_front(table, "ms", "score")

    def beaten(row):
        return any(
            o.ms <= row.ms and o.score >= row.score and (o.ms, o.score) != (row.ms, row.score)
            for o in table.itertuples()
        )

    assert sorted(kept.index) == [row.Index for row in table.itertuples() if row.ms > 0 and not beaten(row)]
    assert list(kept["ms"]) == sorted(kept["ms"])
    cheapest = pareto_front(table, "ms", "score", better="lower")
    assert cheapest["score"].min() == table["score"][1:].min()


def test_tables_need_games_and_columns():
    with pytest.raises(T48Error, match="no column 'score'"):
        summary(made_up(3).drop(columns="score"))
    with pytest.raises(T48Error, match="no games"):
        summary(made_up(3).iloc[:0])


def test_tables_hold_plain_numbers():
    """What tables show is never a numpy repr, and text columns are text."""
    for table in (summary(made_up(4)), pairs(made_up(4), "random"), correlations(made_up(4))):
        assert "np." not in repr(table.to_dict("records")[0]["games"])
        assert "np.float64(" not in table.to_string() + table.to_csv()
        assert table["agent"].dtype == "str"


def test_table_sizes_are_read_from_the_specs():
    specs = [f"expectimax:depth=2,evaluator=classic,table_bits={bits}" for bits in (12, 10)] + ["random"]
    numbers = {"moves": 100, "seconds": 0.5, "probes": 40, "hits": 10}
    games = pd.DataFrame([{"spec": spec, **numbers} for spec in specs for _ in range(2)])
    sizes = table_sizes(games)
    assert sizes["table_bits"].tolist() == [10, 12]
    assert sizes["memory_mib"].tolist() == [2**-6, 2**-4]
    assert set(sizes["games"]) == {2}
    assert set(sizes["moves_per_s"]) == {200.0}
    assert set(sizes["hit_rate"]) == {0.25}


@pytest.mark.parametrize("ask", [lambda g: pairs(g, "greedy"), lambda g: pairs(g, "random"), correlations])
def test_two_agents_under_one_label_are_refused(ask):
    games = made_up(6, {label: AGENTS[label] for label in ("random", "greedy")})
    other = games[games["agent"] == "random"].assign(agent_key="small", score=4)
    with pytest.raises(T48Error, match=r"'random' is the label of 2 agents here \(agent_key key-random-random, s"):
        ask(pd.concat([games, other], ignore_index=True))
    with pytest.raises(T48Error, match=r"game 0 of 'random' \(seed 2048\) is there twice, drop one"):
        ask(pd.concat([games, games], ignore_index=True))

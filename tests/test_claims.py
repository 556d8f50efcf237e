"""Rulings follow their rules, and every claim gets a verdict, also from few games."""

import hashlib
import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from t48lab import T48Error
from t48lab.agents import ENGINE
from t48lab.claims import rulings
from t48lab.claims.evidence import MEASURES, Evidence, checksum_of
from t48lab.claims.plots import plot_claims
from t48lab.claims.registry import CLAIMS
from t48lab.claims.rulings import Found
from t48lab.claims.stated import beside, stated_range
from t48lab.claims.verdicts import COLUMNS, read_claims, run_claims
from t48lab.commands.cli import status
from t48lab.experiments import load_experiment

pytestmark = pytest.mark.compiled

FOLDER = Path(__file__).parents[1] / "experiments"
STATED = FOLDER / "claims.csv"


def test_every_claim_has_a_rule_and_every_rule_a_claim():
    stated = read_claims(STATED)
    assert set(stated["id"]) == set(CLAIMS)
    assert len(stated) == 41


@pytest.mark.parametrize(
    ("mine", "claimed", "word"),
    [
        ((44, 200), (11, 50), "holds"),
        ((0, 200), (11, 50), "fails"),
        ((0, 200), (0, 50), "holds"),
        ((2, 10), (11, 50), "undecided"),
    ],
)
def test_samples_are_compared_by_an_exact_test(mine, claimed, word):
    assert rulings.like_sample(*mine, *claimed) == word


def test_numbers_ranges_orders_and_existence():
    found = Found(10.0, 9.0, 11.0, 50)
    assert [rulings.near(found, x) for x in (10, 12, 13, 8.3, 8)] == ["holds", "holds", "fails", "holds", "fails"]
    assert rulings.near(Found(10.0, np.nan, np.nan, 1), 10) == "undecided"
    assert [rulings.within(found, *ends) for ends in ((8, 12), (8, 10), (12, 13))] == ["holds", "undecided", "fails"]
    assert [rulings.above(found, x) for x in (8, 10, 12)] == ["holds", "undecided", "fails"]
    assert rulings.above(Found(0.0, 0.0, 0.0, 20)) == "fails"
    assert [rulings.exists(*counts) for counts in ((1, 500), (0, 200), (0, 20))] == ["holds", "fails", "undecided"]
    assert rulings.all_of("holds", "undecided", "fails") == "fails"
    assert rulings.all_of("holds", "undecided") == "undecided"
    assert rulings.all_of("holds", "holds") == "holds"


def test_intervals_of_differences_and_associations():
    gap = rulings.difference_of_shares(rulings.share(60, 100), rulings.share(30, 100))
    assert gap.value == pytest.approx(0.3)
    assert 0.16 < gap.low < 0.18 < 0.41 < gap.high < 0.43  # Newcombe 1998 gives 0.166 to 0.422
    x = np.arange(40.0)
    assert rulings.association(x, x**3).value == pytest.approx(1.0)
    assert rulings.association(x, np.zeros(40)).value == 0.0
    ratio = rulings.resampled(np.column_stack([x + 1, 2 * x + 2]), lambda r: r[:, 1].sum() / r[:, 0].sum())
    assert (ratio.value, ratio.low, ratio.high) == (2.0, 2.0, 2.0)


def test_claims_without_a_rule_and_files_without_claims_are_refused(tmp_path):
    path = tmp_path / "claims.csv"
    path.write_text("id,quantity,value\nZ9,x,1\n")
    with pytest.raises(T48Error, match="no rule for claim 'Z9'"):
        read_claims(path)
    path.write_text("id,value\nA1,1\n")
    with pytest.raises(T48Error, match="no column 'quantity'"):
        read_claims(path)
    with pytest.raises(T48Error, match="cannot read claims"):
        read_claims(tmp_path / "none.csv")


def cheap(tmp_path):
    """The experiment with a hundredth of the playouts."""
    text = (FOLDER / "claims.toml").read_text()
    text = re.sub(r"simulations=(\d+)", lambda found: f"simulations={int(found[1]) // 200}", text)
    text = re.sub(r'"(system_b\w*)"', r'"\1:simulations=5"', text)
    text = re.sub(r'"(system_b\w*):(?!simulations)', r'"\1:simulations=5,', text)
    path = tmp_path / "claims.toml"
    path.write_text(text)
    (tmp_path / "claims.csv").write_text(STATED.read_text())
    return path


@pytest.mark.slow
@pytest.mark.compiled
def test_every_claim_gets_a_verdict_and_nothing_is_done_twice(tmp_path, monkeypatch, capsys):
    path, out = cheap(tmp_path), tmp_path / "out"
    verdicts = run_claims(load_experiment(path, games=3), tmp_path / "claims.csv", out, most=3)
    assert list(verdicts.columns) == COLUMNS
    assert set(verdicts["verdict"]) <= {"holds", "fails", "undecided", "untestable"}
    assert (verdicts["n"] > 0).all()
    assert verdicts["reason"].str.len().min() > 20
    assert not verdicts["reason"].str.contains("np.float|nan", regex=True).any()
    measured = {file.name for file in (out / "measures").iterdir() if file.suffix == ".csv"}
    assert measured == {f"{name}-3-engine-{ENGINE}.csv" for name in MEASURES}
    monkeypatch.setattr("t48lab.claims.evidence.MEASURES", dict.fromkeys(MEASURES, (3, None)))
    assert status(["claims", str(path), "--games", "3", "--out", str(out)]) == 0
    assert "verdicts.csv" in capsys.readouterr().out
    again = pd.read_csv(out / "verdicts.csv")
    pd.testing.assert_series_equal(again["ours"], verdicts["ours"])


def test_missing_games_are_named(tmp_path):
    evidence = Evidence(pd.DataFrame({"agent": [], "game": []}), tmp_path)
    with pytest.raises(T48Error, match="no games of 'D' here"):
        evidence.mean("D")


@pytest.mark.parametrize(
    ("value", "low", "high"),
    [
        ("0.60", 0.6, 0.6),
        ("0.20-0.35", 0.2, 0.35),
        (">0.5", 0.5, 1.0),
        ("1 : 7.5 : 25", 25, 25),
        ("0.92/0.65", 0.92, 0.92),
    ],
)
def test_claimed_values_are_read(value, low, high):
    assert stated_range(value) == (low, high)


def test_numbers_stand_beside_what_was_claimed():
    stated = read_claims(STATED)
    verdicts = pd.DataFrame(
        {
            "id": stated["id"],
            "claimed": stated["quantity"] + " " + stated["value"],
            "ours": 0.5,
            "low": 0.4,
            "high": 0.6,
        }
    ).assign(n=50, verdict="fails")
    frame = beside(verdicts).set_index("claim")
    sample, middle = frame.loc["A4 · games at 8192"], frame.loc["E1 · time a move"]
    assert sample["claimed_low"] < 11 / 50 < sample["claimed_high"]
    assert middle["ours"] == pytest.approx(0.5 / 0.05)
    assert (frame[["claimed_low", "claimed_high"]] >= 0).all(axis=None)
    for unit, rows in frame.reset_index().groupby("unit"):
        axes = plot_claims(rows)
        assert [text.get_text() for text in axes.get_yticklabels()] == [f"{claim} (n 50)" for claim in rows["claim"]]
        assert axes.get_xscale() == ("linear" if unit == "share" else "log")
        plt.close(axes.figure)


@pytest.mark.parametrize("name", ["csv", "sha256"])
@pytest.mark.parametrize(
    "damage", [lambda data: data.replace(b"1", b"2", 1), lambda data: data[:20], lambda _: b"", None]
)
def test_a_measurement_that_is_not_what_was_written_is_refused(tmp_path, monkeypatch, name, damage):
    made = pd.DataFrame({"position": [1, 2], "nodes": [11, 12]})
    monkeypatch.setitem(MEASURES, "early", (2, lambda count: made.head(count)))
    evidence = Evidence(pd.DataFrame({"agent": [], "game": []}), tmp_path)
    for _ in range(2):
        pd.testing.assert_frame_equal(evidence.measure("early"), made)
    path = next((tmp_path / "measures").glob("*.csv"))
    target = path if name == "csv" else checksum_of(path)
    if damage is None:
        target.unlink()
    else:
        target.write_bytes(damage(target.read_bytes()).replace(b"1", b"3", 1))
    if target == path and damage is None:
        pd.testing.assert_frame_equal(evidence.measure("early"), made)
        return
    with pytest.raises(T48Error, match=r"(damaged \(its checksum|cannot be read).*to measure again"):
        evidence.measure("early")


def test_committed_measurements_have_their_checksums():
    paths = sorted((FOLDER.parent / "results" / "claims" / "measures").glob("*.csv"))
    assert len(paths) == len(MEASURES)
    for path in paths:
        assert checksum_of(path).read_text() == f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"

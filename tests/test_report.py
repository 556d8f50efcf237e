"""A column of the summary and a figure more are one call each, and a report shows them wherever it should."""

import pandas as pd
import pytest
from results_frames import AGENTS, made_up

from t48lab import analysis
from t48lab.analysis import STATISTICS, Statistic, new_axes, share_interval
from t48lab.experiments import Store, figure, write_report
from t48lab.experiments.figures import FIGURES

pytestmark = pytest.mark.compiled


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(analysis.summaries, "STATISTICS", list(STATISTICS))
    monkeypatch.setattr("t48lab.experiments.report.STATISTICS", analysis.summaries.STATISTICS)
    monkeypatch.setattr("t48lab.experiments.figures.FIGURES", dict(FIGURES))
    store = Store(tmp_path / "try")
    store.add(made_up(20, {label: AGENTS[label] for label in ("random", "greedy")}))
    return store.folder


def long_games(games):
    return int((games["moves"] > games["moves"].median()).sum())


def test_a_column_more_is_one_record(folder):
    analysis.summaries.STATISTICS.append(
        Statistic(
            "long_games",
            long_games,
            lambda games: share_interval(long_games(games), len(games)),
            ("long_low", "long_high"),
            heading="long games",
        )
    )
    write_report(folder)
    table = pd.read_csv(folder / "summary.csv")
    assert list(table.columns[-3:]) == ["long_games", "long_low", "long_high"]
    assert (table["long_games"] > table["long_high"]).all()
    header = next(line for line in (folder / "report.md").read_text().splitlines() if line.startswith("| agent"))
    assert header.endswith("| moves | nodes/move | long games (95%) | µs/move |")
    assert "long games (95\\%)" in (folder / "tables" / "summary.tex").read_text()


def test_a_figure_more_is_one_call(folder):
    @figure("lengths")
    def lengths(found):
        ax = new_axes(3, 2)
        ax.hist(found.games["moves"])
        return ax

    figure("blank")(lambda found: None)
    write_report(folder)
    assert {"lengths.png", "lengths.svg"} <= {path.name for path in (folder / "figures").iterdir()}
    text = (folder / "report.md").read_text()
    assert "![lengths](figures/lengths.png)" in text
    assert "![blank]" not in text

"""The README's Python lines run and print what it says, and its links lead somewhere."""

import doctest
import re
from pathlib import Path

import pandas as pd
import pytest

README = Path(__file__).parents[1] / "README.md"
TEXT = README.read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(>>> .*?)^```$", TEXT, flags=re.DOTALL | re.MULTILINE)
LINKS = re.findall(r"\]\((?!https?:|#)([^)#]+)", TEXT)


def test_there_is_an_example():
    assert EXAMPLES


@pytest.mark.compiled
@pytest.mark.parametrize("example", EXAMPLES)
def test_example_prints_what_it_says(example):
    report = []
    test = doctest.DocTestParser().get_doctest(example, {}, "README.md", str(README), 0)
    doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert not report, "".join(report)


@pytest.mark.parametrize("link", LINKS)
def test_link_leads_somewhere(link):
    assert (README.parent / link).exists()


def test_the_strongest_agent_is_as_strong_as_its_games_say():
    row = pd.read_csv(README.parent / "results/strength/summary.csv").set_index("agent").loc["tuned_deep, slow"]
    text = " ".join(TEXT.split())
    assert f"Over {row.games} games" in text
    assert f"{row.ms_per_move:.2f} ms a move" in text
    assert f"{row.mean_score:,.0f} points on average (95% interval {row.mean_low:,.0f} to {row.mean_high:,.0f})" in text
    for tile in (16384, 32768):
        rate, low, high = (100 * row[f"rate_{tile}{end}"] for end in ("", "_low", "_high"))
        assert re.search(rf"{tile} in {rate:.2g}% \({low:.2g}% to {high:.2g}%\)", text)

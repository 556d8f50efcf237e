"""The tutorial's Python runs from top to bottom, and its parts stay about twenty lines."""

import re
from pathlib import Path

import pytest

from t48lab import AGENTS
from t48lab.evaluators import TERMS

PAGE = Path(__file__).parents[1] / "docs" / "tutorial.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


@pytest.mark.compiled
def test_every_line_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    before, agents, names = dict(TERMS), dict(AGENTS), {}
    try:
        for block in BLOCKS:
            exec(compile(block, str(PAGE), "exec"), names)
    finally:
        TERMS.clear(), TERMS.update(before)
        AGENTS.clear(), AGENTS.update(agents)
    assert set(names["games"]["agent"]) == {"classic", "high ends", "cornered", "random"}
    assert (tmp_path / "results" / "mine" / "summary.csv").exists()
    assert "cornered:temptation=8.0" in capsys.readouterr().out


def test_term_and_agent_take_about_twenty_lines():
    for start in ("@line_term", "class Cornered"):
        (block,) = (block for block in BLOCKS if start in block)
        lines = [line for line in block.splitlines() if line.strip()]
        assert len(lines) <= 22


@pytest.mark.parametrize("link", re.findall(r"\]\((?!https?:|#)([^)#]+)", PAGE.read_text(encoding="utf-8")))
def test_link_leads_somewhere(link):
    assert (PAGE.parent / link).exists()

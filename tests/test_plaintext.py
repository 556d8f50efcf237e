"""Text from people is text in every medium, and no table loses a figure on a terminal of any width."""

import io
import json
import re
import xml.etree.ElementTree as ET

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from results_frames import AGENTS, made_up
from rich.console import Console

from t48lab.commands.cli import status
from t48lab.commands.duel import sheet as duel_sheet
from t48lab.errors import T48Error
from t48lab.experiments import Sheet, Store, duel, make_experiment, run_experiment, summary_sheet, verify, write_report
from t48lab.experiments.figures import FIGURES, Findings, foremost
from t48lab.experiments.tables import make_tables
from t48lab.pictures import boards
from t48lab.plaintext import for_csv, for_figure, for_html, for_latex, for_markdown, for_markdown_code, visible

pytestmark = pytest.mark.compiled

HOSTILE = {
    "unknown command": r"a $\foo$ b",
    "two dollars": "$5 and $6",
    "escape": "red \x1b[31m\x1b]0;title\x07",
    "nothing": "nul \0 and \x7f",
    "carriage return": "one\rtwo",
    "lines": "one\ntwo\u2028three",
    "backwards": "\u202etxt.exe",
    "tag": "<img src=x onerror=alert(1)><script>alert(1)</script>",
    "remote": "![x](https://example.org/x.png) [y](javascript:z)",
    "formula": "=HYPERLINK(1)",
    "cell": "a | b * c _d_ `e` ~f~ \\\\ &amp; {g} % # ^",
    "underscore": "_hidden",
    "quotes": "a \"b\" 'c'",
    "markup": "[bold]x[/]",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_any_label_title_and_group_is_shown_as_text(name, tmp_path, capsys):
    text = HOSTILE[name]
    folder = tmp_path / "try"
    agents = {text: {"agent": "random", "group": text}, "second": {"agent": "priority", "group": text}}
    run_experiment(make_experiment({"title": text, "games": 4, "agents": agents, "baseline": text}, "try"), folder)
    assert verify(folder).tables == ("summary.csv", "pairs.csv")
    assert status(["report", str(folder)]) == 0
    assert status(["verify", str(folder)]) == 0
    out, err = capsys.readouterr()
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e]", out + err)
    page = (folder / "report.md").read_text()
    assert not re.search(
        r"(?<!\\)<[a-zA-Z/!]|(?<!\\)!?\[[xy]\]\(|[\x00-\x09\x0b-\x1f\u2028\u202e]", page.split("\n![")[0]
    )
    for path in (folder / "figures").glob("*.svg"):
        words = [word.strip() for word in ET.parse(path).getroot().itertext()]
        if path.stem == "scores":
            assert visible(text) in [word.replace("\N{ZERO WIDTH SPACE}", "") for word in words]
    assert not any(cell.startswith(("=", "+", "@")) for cell in pd.read_csv(folder / "summary.csv")["agent"])
    assert all(line.startswith("%") or "\\\\" in line or line[:1] in ("\\", "") for line in
               (folder / "tables" / "summary.tex").read_text().splitlines())  # fmt: skip


@pytest.mark.parametrize(
    ("show", "text", "shown"),
    [
        (visible, "a\x1b\0\ud800é", r"a\x1b\x00\ud800é"),
        (for_markdown, "a_b _c_ 1 < 2 <b> x & y &lt;", r"a_b \_c\_ 1 < 2 \<b> x & y \&lt;"),
        (for_markdown, "1. x", r"1\. x"),
        (for_markdown, "2.5% (1.1–5.7%)", "2.5% (1.1–5.7%)"),
        (for_markdown_code, "a`b``c", "```a`b``c```"),
        (for_markdown_code, "expectimax:depth=2", "`expectimax:depth=2`"),
        (for_latex, "50% of $a_b$\n", r"50\% of \$a\_b\$\textbackslash{}n"),
        (for_figure, "$x$", r"\$x\$"),
        (for_html, "<b> & 'c'\x1b", r"&lt;b&gt; &amp; &#x27;c&#x27;\x1b"),
        (for_csv, "@SUM(A1)", "'@SUM(A1)"),
        (for_csv, "expectimax 2", "expectimax 2"),
    ],
)
def test_each_medium_has_its_letters(show, text, shown):
    assert show(text) == shown


@pytest.mark.parametrize("text", ["a\x1b[31mb", "a\0b", "a\x9b31mb", "a\u202eb"])
def test_errors_show_what_cannot_be_seen(text, capsys):
    assert str(T48Error(text)).isprintable()
    assert status(["advise", text]) == 2
    assert status([text]) == 2
    assert all(line.isprintable() for line in capsys.readouterr().err.splitlines())


def shown(sheet, width):
    """What a terminal of this width shows."""
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(sheet)
    return console.file.getvalue()


def whole_sheet(labels):
    games = pd.concat([made_up(20, {label: mean}) for label, mean in labels.items()], ignore_index=True)
    return summary_sheet(make_tables(games, names=["summary"])["summary"], "Seed 2048, games 0 to 19.", {})


LONG = {"expectimax with a rather long name 2": (34000, 0.1), "random": (1100, 0.0001), "深い探索": (5000, 0.1)}


@pytest.mark.parametrize("width", [30, 40, 80, 100, 160, 300])
@pytest.mark.parametrize("labels", [AGENTS, LONG], ids=["short", "long"])
def test_no_figure_is_cut_at_any_width(width, labels):
    sheet = whole_sheet(labels)
    text = shown(sheet, width)
    lines = text.splitlines()
    assert "…" not in text
    joined = re.sub(r"\s+", " ", text)
    for cell in [*sheet.header[1:], *(cell for _, rows in sheet.sections for row in rows for cell in row)]:
        assert cell in joined, cell
    assert max(map(len, lines)) <= width
    assert ("parts: a line has" in text) == (text.count(" agent ") > 1)


@pytest.mark.parametrize("width", [80, 100, 160])
def test_words_are_not_broken(width):
    text = shown(whole_sheet(AGENTS), width)
    for label in AGENTS:
        assert any(label in line for line in text.splitlines())
    facts = Sheet("Facts", ["fact", "value"], [("", [["seeds", " ".join(["determined"] * 40)]])], "", words=True)
    assert shown(facts, width).count("determined") == 40


@pytest.mark.parametrize("width", [60, 80, 100, 160])
def test_duels_are_shown_whole(width):
    sheet = duel_sheet(duel("expectimax:depth=1,evaluator=classic", "greedy:evaluator=classic", games=20, seed=1))
    joined = re.sub(r"\s+", " ", shown(sheet, width))
    for _, rows in sheet.sections:
        assert all(cell in joined for row in rows for cell in row)


def test_many_agents_are_drawn_in_part_and_it_is_said(tmp_path, monkeypatch):
    agents = {f"agent {i}": (1000 + 100 * i, 0.001) for i in range(60)}
    store = Store(tmp_path / "many")
    store.add(made_up(3, agents).assign(spec="random"))
    sizes = {}
    for name, draw in FIGURES.items():
        monkeypatch.setitem(FIGURES, name, lambda found, name=name, draw=draw: sized(draw(found), sizes, name))
    parts = write_report(store.folder)
    assert parts[-1] == "In figures: The 40 of 60 agents with the highest mean scores; the tables have all."
    assert len(pd.read_csv(store.folder / "summary.csv")) == 60
    assert len(pd.read_csv(store.folder / "correlations.csv")) == 60 * 59 / 2
    assert max(max(size) for size in sizes.values()) < 30
    assert "The 40 of 60 agents" in (store.folder / "figures" / "correlations.svg").read_text()


def sized(axes, sizes, name):
    if axes is not None:
        sizes[name] = axes.get_figure().get_size_inches()
    return axes


@pytest.mark.parametrize("name", HOSTILE)
def test_pictures_show_any_caption_as_text(name):
    art = boards({HOSTILE[name]: "1120000000000000"}).svg
    assert all(for_html(line) in art for line in HOSTILE[name].split("\n"))
    tags = {element.tag.rpartition("}")[2] for element in ET.fromstring(art).iter()}
    assert tags <= {"svg", "g", "rect", "text"}


def test_the_best_are_drawn_and_few_are_all_drawn():
    games = made_up(4)
    found = Findings(games, make_tables(games), {})
    assert foremost(found) == (found, "")
    kept, words = foremost(found, 2)
    best = found.tables["summary"].nlargest(2, "mean_score")["agent"]
    assert set(kept.games["agent"]) == set(kept.tables["summary"]["agent"]) == set(best)
    assert set(kept.tables["correlations"]["other"]) <= set(best)
    assert words.startswith("The 2 of 6 agents")


def test_manifests_from_elsewhere_are_text_as_well(tmp_path, capsys):
    folder = tmp_path / "try"
    run_experiment(make_experiment({"games": 3, "agents": {"random": "random"}}, "try"), folder)
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps(manifest | {"title": "\ud800<b>", "machine": {"processor": "<script>"}}))
    assert status(["report", str(folder)]) == 0
    page = (folder / "report.md").read_text()
    assert page.startswith(r"# \ud800\<b>".replace("\\ud", "\\\\ud"))
    assert r"Machine: \<script>" in page
    plt.close("all")

"""Tables for readers, in the terminal, Markdown and LaTeX, and figures as PNG and SVG.

Every table says how many games, which seeds and which intervals its numbers rest on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from t48lab.analysis import STATISTICS, TILES, correlations, pairing, pairs, pareto_front, summary, two, with_interval
from t48lab.analysis import percent as percent
from t48lab.analysis import short as short
from t48lab.analysis import whole as whole
from t48lab.errors import T48Error
from t48lab.experiments.figures import Findings, write_figures
from t48lab.experiments.store import Store
from t48lab.files import write_whole

if TYPE_CHECKING:
    from rich.table import Table

_TEX = {"&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_", "$": r"\$", "{": r"\{", "}": r"\}",
        "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}",
        "µ": r"\textmu{}", "–": "--", "−": "$-$", "·": r"$\cdot$"}  # fmt: skip


@dataclass(frozen=True)
class Sheet:
    """A table of texts in sections, which three formats show alike."""

    title: str
    header: list[str]
    sections: list[tuple[str, list[list[str]]]]
    note: str
    words: bool = False
    """Whether the columns hold words, which are read from the left."""

    def rich(self) -> Table:
        """The table for a terminal."""
        from rich.box import SIMPLE_HEAD
        from rich.table import Table
        from rich.text import Text

        table = Table(title=Text(self.title), caption=Text(self.note), box=SIMPLE_HEAD, title_justify="left")
        table.caption_justify = "left"
        for place, name in enumerate(self.header):
            table.add_column(Text(name), justify="right" if place else "left")
        for name, rows in self.sections:
            if name:
                table.add_row(Text(name, style="bold"))
            for row in rows:
                table.add_row(*map(Text, row))
            table.add_section()
        return table

    @property
    def width(self) -> int:
        """Letters that a line of the table in a terminal takes."""
        rows = [self.header, *(row for _, rows in self.sections for row in rows)]
        return sum(3 + max(map(len, column)) for column in zip(*rows, strict=True)) + 1

    def markdown(self) -> str:
        """The table as GitHub reads it."""
        end = "---" if self.words else "---:"
        lines = [f"**{self.title}**", "", _pipes(self.header), _pipes(["---", *[end] * (len(self.header) - 1)])]
        for name, rows in self.sections:
            lines += [_pipes([f"*{name}*"] + [""] * (len(self.header) - 1))] if name else []
            lines += [_pipes(row) for row in rows]
        return "\n".join([*lines, "", self.note, ""])

    def _repr_markdown_(self) -> str:
        return self.markdown()

    def latex(self) -> str:
        """The table as LaTeX reads it with the package booktabs."""
        size = len(self.header)
        lines = [r"\begin{tabular}{l" + "r" * (size - 1) + "}", r"\toprule", _ampersands(self.header), r"\midrule"]
        for place, (name, rows) in enumerate(self.sections):
            lines += [r"\addlinespace"] if place else []
            lines += [rf"\multicolumn{{{size}}}{{l}}{{\emph{{{_tex(name)}}}}} \\"] if name else []
            lines += [_ampersands(row) for row in rows]
        return "\n".join([f"% {self.title}. {self.note}", *lines, r"\bottomrule", r"\end{tabular}", ""])


def summary_sheet(table: pd.DataFrame, note: str, groups: dict[str, str], tiles: int = len(TILES)) -> Sheet:
    """The sheet of a `summary`, with the rates of those `tiles` tiles that tell the agents apart best."""
    many = [statistic.name for statistic in STATISTICS if statistic.one_of_many]
    rates = table[many]
    telling = set(rates.loc[:, (rates > 0).any()].var(ddof=0).nlargest(max(tiles, 1)).index) or {many[0]}
    shown = [s for s in STATISTICS if s.heading and (s.name in telling or not s.one_of_many)]
    shown.sort(key=lambda statistic: statistic.speed)
    header = ["agent", *(s.heading + (" (95%)" if s.ends else "") for s in shown)]

    def cells(row: dict[str, Any]) -> list[str]:
        return [_between(row, s.name, *s.ends, s.show) if s.ends else s.show(row[s.name]) for s in shown]

    return Sheet("Scores, tiles and cost", header, _sections(table, cells, groups), note)


def pairs_sheet(table: pd.DataFrame, note: str, groups: dict[str, str]) -> Sheet:
    """The sheet of `pairs`."""
    baseline = table["baseline"].iloc[0]
    header = ["agent", "pairs", "mean difference (95%)", "wins (95%)", "Wilcoxon p", "Spearman (95%)", "variance ratio"]

    def cells(row: dict[str, Any]) -> list[str]:
        return [
            str(row["games"]),
            _between(row, "mean_difference", "difference_low", "difference_high", whole),
            _between(row, "win_share", "win_low", "win_high", percent),
            "<1e-9" if row["wilcoxon_p"] < 1e-9 else short(row["wilcoxon_p"]),
            _between(row, "spearman", "spearman_low", "spearman_high", two),
            two(row["variance_ratio"]),
        ]

    return Sheet(f"Score minus that of {baseline}, same seeds", header, _sections(table, cells, groups), note)


def pairing_note(table: pd.DataFrame) -> str:
    """A sentence or two on what pairing by seed buys, from a frame of `correlations`."""
    found = pairing(table)
    if not found["comparisons"]:
        return "Too few games to say whether pairing by seed is worth anything."
    return (
        f"Is pairing by seed worth anything? Over {found['comparisons']:,} pairs of agents the median "
        f"Spearman correlation of scores on the same seed is {two(found['spearman'])}; "
        f"{percent(found['excluding_zero'])} of the 95% intervals exclude 0, where luck alone gives 5%. "
        f"The median variance ratio is {two(found['variance_ratio'])}: "
        "1 means that pairing buys nothing, 0.5 that it halves the games needed."
    )


def write_report(
    folder: str | Path, baseline: str | None = None, width: int = 160, older: bool = False
) -> list[Sheet | str]:
    """What a terminal of this width should show of a results folder, after writing all of its tables and figures.

    Written: summary.csv, pairs.csv, correlations.csv, front.csv, report.md, tables/*.tex, figures/*.png and *.svg.
    They show the games that the last run asked for, all stored ones with `older`.
    Raises T48Error when the folder holds no games or the baseline none.
    """
    store = Store(folder)
    games, manifest = store.frame() if older else store.asked(), store.manifest()
    if games.empty:
        raise T48Error(f"{folder} holds no games, give the folder of an experiment that has been run")
    groups = {label: agent.get("group", "") for label, agent in manifest.get("agents", {}).items()}
    usual = manifest.get("baseline")
    tables = make_tables(games, baseline or (usual if usual in set(games["agent"]) else None))
    for name, table in tables.items():
        store.write_table(name, table)
    note = _note(games)
    sheets = [summary_sheet(tables["summary"], note, groups)]
    if len(tables["pairs"]):
        sheets.append(pairs_sheet(tables["pairs"], note, groups))
    worth = pairing_note(tables["correlations"])
    for name, sheet in zip(("summary", "pairs"), sheets, strict=False):
        write_whole(store.folder / "tables" / f"{name}.tex", sheet.latex().encode())
    figures = write_figures(Findings(games, tables, groups), store.folder / "figures")
    write_whole(store.folder / "report.md", _markdown(manifest, sheets, worth, games, figures).encode())
    smaller = [summary_sheet(tables["summary"], note, groups, tiles) for tiles in range(len(TILES), 0, -1)]
    fitting = next((sheet for sheet in smaller if sheet.width <= width), smaller[-1])
    return [fitting, *sheets[1:], worth]


def make_tables(games: pd.DataFrame, baseline: str | None = None) -> dict[str, pd.DataFrame]:
    """The tables `summary`, `pairs`, `correlations` and `front`; the baseline is the first agent by default.

    `front` has the rows of `summary` that nothing faster beats.
    """
    table, first = summary(games), baseline or str(games["agent"].iloc[0])
    front = pareto_front(table, "ms_per_move", "mean_score")
    return {"summary": table, "pairs": pairs(games, first), "correlations": correlations(games), "front": front}


def _markdown(
    manifest: dict[str, Any], sheets: list[Sheet], worth: str, games: pd.DataFrame, figures: list[str]
) -> str:
    lines = [f"# {manifest.get('title') or manifest.get('experiment') or 'Results'}", ""]
    lines += [*(sheet.markdown() for sheet in sheets), worth, "", "Agents:", ""]
    specs = games.drop_duplicates("agent")
    lines += [f"- {label}: `{spec}`" for label, spec in zip(specs["agent"], specs["spec"], strict=True)]
    where = manifest.get("machine", {})
    if where:
        lines += ["", f"Machine: {', '.join(str(part) for part in where.values())}."]
    lines += ["", *(f"![{name}](figures/{name}.png)\n" for name in figures)]
    return "\n".join(lines).rstrip() + "\n"


def _note(games: pd.DataFrame) -> str:
    seeds = ", ".join(str(seed) for seed in sorted(set(games["seed"])))
    return (
        f"Seed {seeds}, games {games['game'].min()} to {games['game'].max()}. 95% intervals: bootstrap for means, "
        "Wilson for shares, Fisher z for correlations. µs of processor time."
    )


def _sections(
    table: pd.DataFrame, cells: Callable[[dict[str, Any]], list[str]], groups: dict[str, str]
) -> list[tuple[str, list[list[str]]]]:
    several = table["spawner"].nunique() > 1
    sections: dict[str, list[list[str]]] = {}
    for record in table.to_dict("records"):
        row = {str(name): value for name, value in record.items()}
        name = f"{row['agent']} · {str(row['spawner']).partition(':')[0]}" if several else row["agent"]
        sections.setdefault(groups.get(row["agent"], ""), []).append([name, *cells(row)])
    return list(sections.items())


def _between(row: dict[str, Any], value: str, low: str, high: str, show: Callable[[float], str]) -> str:
    return with_interval(row[value], row[low], row[high], show)


def _pipes(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def _ampersands(cells: list[str]) -> str:
    return " & ".join(map(_tex, cells)) + r" \\"


def _tex(text: str) -> str:
    return "".join(_TEX.get(letter, letter) for letter in text)

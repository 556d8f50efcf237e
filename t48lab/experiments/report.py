"""Tables for readers, in the terminal, Markdown and LaTeX, and figures as PNG and SVG.

Every table says how many games, which seeds and which intervals its numbers rest on.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from t48lab.analysis import TILES, correlations, curves, pairing, pairs, pareto_front, summary
from t48lab.errors import T48Error
from t48lab.experiments.store import Store
from t48lab.experiments.table_memory import table_sizes
from t48lab.files import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
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
    rates = table[[f"rate_{tile}" for tile in TILES]].rename(columns=lambda name: int(name[5:]))
    telling = rates.loc[:, (rates > 0).any()].var(ddof=0).nlargest(max(tiles, 1)).index
    shown = sorted(telling) or [TILES[0]]
    header = ["agent", "games", "mean score (95%)", "median", *(f"{tile} (95%)" for tile in shown)]
    header += ["moves", "nodes/move", "µs/move"]

    def cells(row: dict[str, Any]) -> list[str]:
        return [
            str(row["games"]),
            _between(row, "mean_score", "mean_low", "mean_high", whole),
            whole(row["median_score"]),
            *(_between(row, f"rate_{tile}", f"rate_{tile}_low", f"rate_{tile}_high", percent) for tile in shown),
            whole(row["mean_moves"]),
            short(row["nodes_per_move"]),
            short(1000 * row["ms_per_move"]),
        ]

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


def write_report(folder: str | Path, baseline: str | None = None, width: int = 160) -> list[Sheet | str]:
    """What a terminal of this width should show of a results folder, after writing all of its tables and figures.

    Written: summary.csv, pairs.csv, correlations.csv, front.csv, report.md, tables/*.tex, figures/*.png and *.svg.
    Raises T48Error when the folder holds no games or the baseline none.
    """
    store = Store(folder)
    games, manifest = store.frame(), store.manifest()
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
    figures = _write_figures(store.folder / "figures", games, tables, groups)
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


def _write_figures(
    folder: Path, games: pd.DataFrame, tables: dict[str, pd.DataFrame], groups: dict[str, str]
) -> list[str]:
    from t48lab import analysis

    table, related = tables["summary"], tables["correlations"]
    timed = table["ms_per_move"].notna().any()
    front = tables["front"]
    drawings: dict[str, Callable[[], Axes]] = {
        "scores": lambda: analysis.plot_scores(games),
        "rates": lambda: analysis.plot_rates(table),
    }
    if timed:
        drawings["speed"] = lambda: analysis.plot_speed(table, front=front)
    if len(tables["pairs"]):
        drawings["differences"] = lambda: analysis.plot_differences(tables["pairs"])
    if len(related):
        first = related[related["spawner"] == related["spawner"].iloc[0]]
        drawings["correlations"] = lambda: analysis.plot_correlations(first)
    sizes = table_sizes(games)
    lines = curves(games[games["spawner"] == games["spawner"].iloc[0]], _families(games, groups))
    if sizes["table_bits"].nunique() > 2:
        drawings["table_sizes"] = lambda: analysis.plot_table_sizes(sizes)
    elif lines["group"].nunique() > 1:
        drawings["curves"] = lambda: analysis.plot_curves(lines, front=front)
    for name, draw in drawings.items():
        analysis.write_figure(draw(), folder, name)
    return list(drawings)


def _families(games: pd.DataFrame, groups: dict[str, str]) -> dict[str, str]:
    """The groups by agent, without those that are not three or more agents of one kind: a line could not join them."""
    agents = games.drop_duplicates("agent").set_index("agent")
    kinds = agents["spec"].str.partition(":")[0].groupby(agents.index.map(groups))
    joined = set(kinds.size()[(kinds.size() > 2) & (kinds.nunique() == 1)].index) - {""}
    return {agent: group for agent, group in groups.items() if group in joined}


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
    if math.isnan(row[low]):
        return show(row[value])
    ends = show(row[low]), show(row[high])
    between = " to " if any("−" in end for end in ends) else "–"
    return f"{show(row[value])} ({between.join(ends)})".replace("%–", "–")


def whole(value: float) -> str:
    """The number without decimals, thousands apart; - for NaN."""
    return "-" if math.isnan(value) else f"{value:,.0f}".replace("-", "−")


def short(value: float) -> str:
    """The number to three digits; - for NaN."""
    if math.isnan(value):
        return "-"
    return whole(value) if abs(value) >= 100 else f"{value:.3g}".replace("-", "−")


def two(value: float) -> str:
    """The number to two decimals; - for NaN."""
    return "-" if math.isnan(value) else f"{round(value, 2) + 0.0:.2f}".replace("-", "−")


def percent(value: float) -> str:
    """The share in percent, one decimal below 10%; - for NaN."""
    if math.isnan(value):
        return "-"
    return f"{100 * value:.1f}%" if 0 < value < 0.0995 else f"{100 * value:.0f}%"


def _pipes(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def _ampersands(cells: list[str]) -> str:
    return " & ".join(map(_tex, cells)) + r" \\"


def _tex(text: str) -> str:
    return "".join(_TEX.get(letter, letter) for letter in text)

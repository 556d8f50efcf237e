"""Tables for readers, in the terminal, Markdown and LaTeX, and figures as PNG and SVG.

Every table says how many games, which seeds and which intervals its numbers rest on.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from t48lab.analysis import STATISTICS, TILES, pairing, two, with_interval
from t48lab.analysis import percent as percent
from t48lab.analysis import short as short
from t48lab.analysis import whole as whole
from t48lab.experiments.figures import Findings, foremost, write_figures
from t48lab.experiments.sheets import Sheet
from t48lab.experiments.store import Store
from t48lab.experiments.tables import make_tables
from t48lab.files import below, write_whole
from t48lab.plaintext import for_markdown, for_markdown_code


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
            "<1e−9" if row["wilcoxon_p"] < 1e-9 else short(row["wilcoxon_p"]),
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


def write_report(folder: str | Path, baseline: str | None = None, older: bool = False) -> list[Sheet | str]:
    """What a terminal should show of a results folder, after writing all of its tables and figures.

    Written: summary.csv, pairs.csv, correlations.csv, front.csv, report.md, tables/*.tex, figures/*.png and *.svg.
    They show the games that the last run asked for, all stored ones with `older`.
    Raises T48Error when the folder holds no games or the baseline none.
    """
    store = Store(folder)
    games, manifest = store.finished(older), store.manifest()
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
    found = Findings(games, tables, groups)
    figures = write_figures(found, below(store.folder, "figures"))
    write_whole(store.folder / "report.md", _markdown(manifest, sheets, worth, games, figures).encode())
    _, left_out = foremost(found)
    return [*sheets, worth, *([f"In figures: {left_out}"] if left_out else [])]


def _markdown(
    manifest: dict[str, Any], sheets: list[Sheet], worth: str, games: pd.DataFrame, figures: list[str]
) -> str:
    lines = [f"# {for_markdown(manifest.get('title') or manifest.get('experiment') or 'Results')}", ""]
    lines += [*(sheet.markdown() for sheet in sheets), worth, "", "Agents:", ""]
    specs = games.drop_duplicates("agent")
    named = zip(specs["agent"], specs["spec"], strict=True)
    lines += [f"- {for_markdown(label)}: {for_markdown_code(spec)}" for label, spec in named]
    where = manifest.get("machine", {})
    if where:
        lines += ["", f"Machine: {', '.join(for_markdown(str(part)) for part in where.values())}."]
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

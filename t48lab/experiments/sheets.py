"""Sheets: tables of texts that a terminal of any width, Markdown and LaTeX show alike, and whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from t48lab.plaintext import for_latex, for_markdown, visible

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table

_BETWEEN = 3
"""Letters between two columns, and the two at the edges beside the first."""


@dataclass(frozen=True)
class Sheet:
    """A table of texts in sections; the first column names the rows."""

    title: str
    header: list[str]
    sections: list[tuple[str, list[list[str]]]]
    note: str
    words: bool = False
    """Whether the columns hold words, which are read from the left and may take several lines."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """The sheet for a terminal: where a line is too short for all columns they follow one another in parts.

        Where not even one column fits beside the names, each row becomes a list. Nothing is ever cut.
        """
        from rich.text import Text

        yield Text(visible(self.title), style="table.title")
        parts = [list(range(1, len(self.header)))] if self.words else self._parts(options.max_width)
        if not parts:
            yield from self._lists()
        for columns in parts:
            yield self._table([0, *columns])
        folded = f" {len(parts)} parts: a line has {options.max_width} letters." if len(parts) > 1 else ""
        yield Text(visible(self.note) + folded, style="table.caption")

    def _parts(self, width: int) -> list[list[int]]:
        """The columns in parts that each fit beside the names; none when there is one that does not."""
        from rich.cells import cell_len

        rows = [self.header, *(row for _, rows in self.sections for row in rows)]
        sizes = [_BETWEEN + max(cell_len(visible(cell)) for cell in column) for column in zip(*rows, strict=True)]
        room, parts, used = width - sizes[0] - 1, [list[int]()], 0
        for place, size in enumerate(sizes[1:], start=1):
            if size > room:
                return []
            if used + size > room:
                parts.append([])
                used = 0
            parts[-1].append(place)
            used += size
        return parts

    def _table(self, columns: list[int]) -> Table:
        from rich.box import SIMPLE_HEAD
        from rich.table import Table
        from rich.text import Text

        table = Table(box=SIMPLE_HEAD)
        for place in columns:
            table.add_column(
                Text(visible(self.header[place])),
                justify="right" if place and not self.words else "left",
                overflow="fold",
            )
        for name, rows in self.sections:
            if name:
                table.add_row(Text(visible(name), style="bold"))
            for row in rows:
                table.add_row(*(Text(visible(row[place])) for place in columns))
            table.add_section()
        return table

    def _lists(self) -> Iterator[RenderableType]:
        """Each row as its name and below it a line a column."""
        from rich.text import Text

        for name, rows in self.sections:
            if name:
                yield Text(visible(name), style="bold", overflow="fold")
            for row in rows:
                yield Text(f"\n{visible(row[0])}", overflow="fold")
                for head, cell in zip(self.header[1:], row[1:], strict=True):
                    yield Text(f"  {visible(head)}: {visible(cell)}", overflow="fold")

    def markdown(self) -> str:
        """The table as GitHub reads it."""
        end = "---" if self.words else "---:"
        lines = [f"**{for_markdown(self.title)}**", "", _pipes(self.header)]
        lines += [f"| {' | '.join(['---', *[end] * (len(self.header) - 1)])} |"]
        for name, rows in self.sections:
            lines += [f"| *{for_markdown(name)}* |" + "  |" * (len(self.header) - 1)] if name else []
            lines += [_pipes(row) for row in rows]
        return "\n".join([*lines, "", for_markdown(self.note), ""])

    def _repr_markdown_(self) -> str:
        return self.markdown()

    def latex(self) -> str:
        """The table as LaTeX reads it with the package booktabs."""
        size = len(self.header)
        lines = [r"\begin{tabular}{l" + "r" * (size - 1) + "}", r"\toprule", _ampersands(self.header), r"\midrule"]
        for place, (name, rows) in enumerate(self.sections):
            lines += [r"\addlinespace"] if place else []
            lines += [rf"\multicolumn{{{size}}}{{l}}{{\emph{{{for_latex(name)}}}}} \\"] if name else []
            lines += [_ampersands(row) for row in rows]
        comment = visible(f"{self.title}. {self.note}")
        return "\n".join([f"% {comment}", *lines, r"\bottomrule", r"\end{tabular}", ""])


def _pipes(cells: list[str]) -> str:
    return f"| {' | '.join(map(for_markdown, cells))} |"


def _ampersands(cells: list[str]) -> str:
    return " & ".join(map(for_latex, cells)) + r" \\"

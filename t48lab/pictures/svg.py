"""The parts that every picture is made of: a page, lines of text, numbers, and the ink."""

from __future__ import annotations

from t48lab.board import DIRECTIONS, Board
from t48lab.plaintext import for_html

INK, FAINT, BEST, COST, PAPER = "#2b2622", "#6f665d", "#1b7f4b", "#c0653a", "#fffdf9"
ARROWS = dict(zip(DIRECTIONS, "↑→↓←", strict=True))
_FONT = "font-family='Helvetica, Arial, sans-serif'"


def text(x: float, y: float, words: str, size: float, fill: str, bold: bool = False, end: bool = False) -> str:
    """The SVG of one line of text that begins, or with `end` ends, at x on the baseline y."""
    weight, anchor = ("700" if bold else "400"), ("end" if end else "start")
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" font-weight="{weight}" fill="{fill}" '
        f'text-anchor="{anchor}" {_FONT}>{for_html(words)}</text>'
    )


def size_of(board: Board, cell: int) -> tuple[int, int]:
    """(width, height) of a board's picture with cells of so many pixels."""
    gap = cell // 10
    return board.cols * (cell + gap) + gap, board.rows * (cell + gap) + gap


def page(width: float, height: float, parts: list[str], label: str) -> str:
    """The SVG of a picture: its parts on paper, as wide as its place allows, with a label for who cannot see it."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" style="max-width:100%;height:auto" role="img" '
        f'aria-label="{for_html(label)}">'
        f'<rect width="100%" height="100%" fill="{PAPER}"/>{"".join(parts)}</svg>'
    )

"""Still pictures of positions as SVG: boards side by side, and a board with what a search says about it."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from t48lab.agents import SearchResult
from t48lab.analysis import number
from t48lab.board import DIRECTIONS, Board
from t48lab.files import write_whole
from t48lab.pictures.svg import ARROWS, BEST, COST, FAINT, INK, page, size_of, text

_LINE, _MARGIN, _PANEL = 17, 14, 300


@dataclass(frozen=True)
class Picture:
    """An SVG that a notebook shows by itself, and as PNG while its reader has not trusted it."""

    svg: str

    def png(self) -> bytes:
        """The same picture as PNG; it looks alike everywhere, as its letters are those that matplotlib brings."""
        import matplotlib
        from resvg_py import svg_to_bytes

        fonts = Path(matplotlib.get_data_path(), "fonts", "ttf")
        files = [str(fonts / name) for name in ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf")]
        return svg_to_bytes(self.svg, skip_system_fonts=True, font_files=files, sans_serif_family="DejaVu Sans")

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        png = b64encode(self.png()).decode()
        return {"image/svg+xml": self.svg, "image/png": png, "text/plain": repr(self)}

    def __repr__(self) -> str:
        return f"Picture({len(self.svg):,} letters of SVG)"

    def save(self, path: str | Path) -> Path:
        """The path, which now holds the picture."""
        write_whole(Path(path), f"{self.svg}\n".encode())
        return Path(path)


def boards(captioned: Mapping[str, Board | str], columns: int = 4, cell: int = 40) -> Picture:
    """The boards side by side, `columns` in a row, each below its caption; a line break splits a caption."""
    cards = [(caption.split("\n"), Board.parse(board)) for caption, board in captioned.items()]
    lines = max((len(caption) for caption, _ in cards), default=0)
    sizes = [size_of(board, cell) for _, board in cards]
    width = max([*(w for w, _ in sizes), *(7 * len(line) for caption, _ in cards for line in caption)], default=0)
    step, height = width + 2 * _MARGIN, lines * _LINE + max((h for _, h in sizes), default=0) + 2 * _MARGIN
    parts = []
    for place, (caption, board) in enumerate(cards):
        x, y = _MARGIN + place % columns * step, _MARGIN + place // columns * height
        parts += [text(x, y + 10 + _LINE * i, line, 13, INK, bold=not i) for i, line in enumerate(caption)]
        parts.append(f'<g transform="translate({x} {y + _LINE * lines})">{board.svg(cell)}</g>')
    rows = -(-len(cards) // columns)
    label = "; ".join(" ".join(caption) for caption, _ in cards)
    return Picture(page(min(len(cards), columns) * step, rows * height, parts, label))


def decision(board: Board | str, found: SearchResult, head: str = "", cell: int = 56) -> Picture:
    """A position beside what a search says: each move's value, what it costs against the best, visits, and the line."""
    board = Board.parse(board)
    width, height = size_of(board, cell)
    top = _LINE + 6 if head else 0
    x = 2 * _MARGIN + width
    parts = [text(_MARGIN, _MARGIN + 10, head, 13, INK, bold=True)] if head else []
    parts.append(f'<g transform="translate({_MARGIN} {_MARGIN + top})">{board.svg(cell)}</g>')
    parts += _panel(found, x, _MARGIN + top)
    label = f"{found.best or 'no legal move'} on {board.hex}"
    wide = max(x + _PANEL, 9 * len(head)) + _MARGIN
    return Picture(page(wide, 2 * _MARGIN + top + max(height, 9 * _LINE + 20), parts, label))


def costs(found: SearchResult) -> dict[str, float | None]:
    """How much less than the largest value each move is worth, rounding noise as 0; None where there is no value."""
    best = max((value for value in found.values.values() if value is not None), default=0.0)
    equal = best - 1e-12 * abs(best)
    return {n: None if v is None else 0.0 if v >= equal else best - v for n, v in found.values.items()}


def _panel(found: SearchResult, x: float, y: float) -> list[str]:
    """Four rows of move, value, cost and visits, then the notes."""
    if found.best is None:
        return [text(x, y + 16, "no legal move", 13, INK, bold=True)]
    heads = ("move", "value", "below best", "visits" if found.visits else "")
    ends = (x + 150, x + 228, x + _PANEL)
    parts = [text(x, y + 12, heads[0], 11, FAINT)]
    parts += [text(at, y + 12, head, 11, FAINT, end=True) for at, head in zip(ends, heads[1:], strict=True)]
    behind = costs(found)
    largest = max((cost for cost in behind.values() if cost), default=0.0)
    for row, name in enumerate(DIRECTIONS, start=1):
        base = y + 12 + row * (_LINE + 7)
        value, cost, best = found.values[name], behind[name], name == found.best
        ink = BEST if best else INK if value is not None else FAINT
        parts.append(text(x, base, f"{ARROWS[name]} {name}", 14, ink, bold=best))
        visits = (found.visits or {}).get(name)
        cells = (number(value), number(cost), "" if visits is None else f"{visits:,}")
        parts += [text(at, base, cell, 13, ink, bold=best, end=True) for at, cell in zip(ends, cells, strict=True)]
        if cost and largest:
            parts.append(f'<rect x="{x}" y="{base + 4:g}" width="{228 * cost / largest:g}" height="2" fill="{COST}"/>')
    base = y + 12 + 5 * (_LINE + 7) + 8
    notes = [f"{found.nodes:,} nodes, depth {found.depth}", *_wrapped(" ".join(found.principal_variation))]
    return parts + [text(x, base + _LINE * i, note, 11.5, FAINT) for i, note in enumerate(notes)]


def _wrapped(line: str, letters: int = 48) -> list[str]:
    lines = ["line:"]
    for word in line.split():
        if len(lines[-1]) + len(word) > letters:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines

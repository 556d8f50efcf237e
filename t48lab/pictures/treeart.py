"""Decision trees as SVG: boards for positions, pills for moves, labelled edges for what chance may do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from t48lab.analysis import number
from t48lab.board import Board
from t48lab.pictures.svg import ARROWS, BEST, FAINT, INK, page, size_of, text

Tree = dict[str, Any]

_ROOT_CELL, _CELL = 28, 20
_PILL, _PILL_HEIGHT = 118, 38
_GAP, _EDGE, _CHANCE_EDGE, _MARGIN, _HEAD = 16, 46, 132, 20, 50
_NEW, _LINE = "#2f4bbf", "#b8aea2"
_KEY = "green: the best move of a position; framed: the new tile, p its probability"


@dataclass
class _Box:
    """Something drawn, with what hangs to its right; `y` is its middle, set by `_place`."""

    width: float
    height: float
    art: str
    children: list[_Box] = field(default_factory=list)
    edge: float = _EDGE
    label: str = ""
    strong: bool = False
    x: float = 0.0
    y: float = 0.0

    @property
    def span(self) -> float:
        """Height of the box with everything that hangs from it."""
        below = sum(child.span for child in self.children) + _GAP * max(0, len(self.children) - 1)
        return max(self.height, below)


def tree_svg(tree: Tree) -> str:
    """The SVG text of a decision tree from `trees.decision_tree`; the best move of each position is drawn strong."""
    visits = "" if tree["visits"] is None else f", {_visits(tree['visits'])}"
    title = f"{tree['agent']}: {tree['best'] or 'no legal move'}"
    notes = f"{tree['nodes']:,} nodes, depth {tree['depth']}{visits}"
    root = _position(tree, _ROOT_CELL)
    _place(root, _MARGIN, _MARGIN + _HEAD)
    boxes = _all(root)
    words = max(8.5 * len(title), 6.5 * len(notes), 6.5 * len(_KEY))
    width = max(max(box.x + box.width for box in boxes) + _MARGIN, 2 * _MARGIN + words)
    height = _HEAD + 2 * _MARGIN + root.span
    parts = [text(_MARGIN, 24, title, 15, INK, bold=True), text(_MARGIN, 42, notes, 12, FAINT)]
    parts += [text(_MARGIN, 58, _KEY, 12, FAINT)]
    parts += [_edge(box, child) for box in boxes for child in box.children]
    parts += [f'<g transform="translate({box.x:g} {box.y - box.height / 2:g})">{box.art}</g>' for box in boxes]
    return page(width, height, parts, title) + "\n"


def _position(tree: Tree, cell: int) -> _Box:
    """A board with its value below, its newest tile framed, and its moves."""
    board = Board.parse(tree["board"])
    width, height = size_of(board, cell)
    lines = [] if tree["value"] is None else [number(tree["value"])]
    lines += [_visits(tree["visits"])] if tree["visits"] else []
    lines += ["no legal move"] if tree["over"] else []
    words = _frame(tree["row"], tree["col"], cell) if tree.get("tile") else ""
    words += "".join(text(0, height + 13 + 13 * i, line, 11, INK) for i, line in enumerate(lines))
    box = _Box(width, height + 13 * len(lines) + 4, f"{board.svg(cell)}{words}")
    box.children = [_move(move) for move in tree["moves"]]
    return box


def _frame(row: int, col: int, cell: int) -> str:
    step = cell + cell // 10
    x, y = (cell // 10 + side * step - 0.5 for side in (col, row))
    look = f'rx="2" fill="none" stroke="{_NEW}" stroke-width="2"'
    return f'<rect x="{x:g}" y="{y:g}" width="{cell + 1}" height="{cell + 1}" {look}/>'


def _visits(count: int) -> str:
    return f"{count:,} visit" if count == 1 else f"{count:,} visits"


def _move(tree: Tree) -> _Box:
    """A pill with the move, its value and visits, and the spawns after it."""
    best = tree["best"]
    fill, stroke, line = ("#e3f3ea", BEST, 2) if best else ("#f4efe8", _LINE, 1)
    look = f'fill="{fill}" stroke="{stroke}" stroke-width="{line}"'
    name = f"{ARROWS[tree['direction']]} {tree['direction']}"
    second = number(tree["value"]) + (f" · {_visits(tree['visits'])}" if tree["visits"] is not None else "")
    width = max(_PILL, 6.2 * len(second) + 20)
    art = f'<rect width="{width:g}" height="{_PILL_HEIGHT}" rx="8" {look}/>'
    art += text(10, 16, name, 13, BEST if best else INK, bold=True) + text(10, 31, second, 11, INK)
    box = _Box(width, _PILL_HEIGHT, art, edge=_EDGE, strong=best)
    box.children = [_spawn(spawn) for spawn in tree["spawns"]]
    if tree["others"]:
        box.children.append(_others(tree["others"]))
    return box


def _spawn(tree: Tree) -> _Box:
    box = _position(tree, _CELL)
    box.edge = _CHANCE_EDGE
    if tree["tile"] is None:
        box.label = "any spawn"
    else:
        box.label = f"new {tree['tile']} · p {tree['probability']:.2g}"
    return box


def _others(tree: Tree) -> _Box:
    words = f"{tree['count']} other spawn{'s' if tree['count'] > 1 else ''}"
    mean = "" if tree["value"] is None else f"mean {number(tree['value'])}"
    art = text(0, 12, words, 11, FAINT) + text(0, 25, mean, 11, FAINT)
    return _Box(110, 28, art, edge=_CHANCE_EDGE, label=f"p {tree['probability']:.2g}")


def _place(box: _Box, x: float, top: float) -> None:
    """Gives the box and what hangs from it their places, its span from `top` down."""
    box.x = x
    below = sum(child.span for child in box.children) + _GAP * max(0, len(box.children) - 1)
    start = top + (box.span - below) / 2
    for child in box.children:
        _place(child, x + box.width + child.edge, start)
        start += child.span + _GAP
    box.y = (box.children[0].y + box.children[-1].y) / 2 if box.children else top + box.span / 2
    box.y = min(max(box.y, top + box.height / 2), top + box.span - box.height / 2)


def _all(box: _Box) -> list[_Box]:
    return [box, *(inner for child in box.children for inner in _all(child))]


def _edge(box: _Box, child: _Box) -> str:
    """A curve from a box to one that hangs from it, with its label on the flat end."""
    x, end = box.x + box.width + 3, child.x - 4
    bend = x + min(26, (end - x) / 2)
    path = f"M{x:g} {box.y:g} C{bend:g} {box.y:g} {x:g} {child.y:g} {bend + 8:g} {child.y:g} L{end:g} {child.y:g}"
    look = f'stroke="{BEST if child.strong else _LINE}" stroke-width="{2.2 if child.strong else 1.2}"'
    return f'<path d="{path}" fill="none" {look}/>' + (
        text(bend + 10, child.y - 4, child.label, 10.5, FAINT) if child.label else ""
    )

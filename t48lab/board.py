"""Board: one position, read from text or arrays, moved exactly, and shown as text, HTML or SVG."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from t48lab.compiled import load
from t48lab.errors import T48Error
from t48lab.records import nearest
from t48lab.rules import Rules

DIRECTIONS = ("up", "right", "down", "left")
DIGITS = "0123456789abcdefghijklmnopqrstuv"
"""Rank r is written DIGITS[r]; g is 65536, h is 131072, the largest tile of any game, and v is 2^31."""
LARGEST_SUM = 1 << 31
"""Most that the tiles of a board add up to: so no tile grows past the last digit."""
LONGEST_TEXT = 10_000
"""Most characters of a board's text."""

TILE_COLOURS = (
    "#cdc1b4", "#eee4da", "#ede0c8", "#f2b179", "#f59563", "#f67c5f", "#f65e3b", "#edcf72", "#edcc61",
    "#edc850", "#edc53f", "#edc22e", "#5eda92", "#24ba63", "#1f9d55", "#6c8ee6", "#4a67c8", "#2f3f8f",
)  # fmt: skip
"""Fill by rank: warm up to 2048 (rank 11), then greens and blues."""

FRAME_COLOUR = "#bbada0"
DARK_TEXT, LIGHT_TEXT = "#4a4038", "#ffffff"
PALE_RANKS = (1, 2, 3, 7, 8, 9, 10, 11, 12)
_TOP_RANK = len(DIGITS) - 1
_FEWEST, _MOST = 2, 4
_SIDES = [str(side) for side in range(_FEWEST, _MOST + 1)]
_WHOLE = re.compile(r"[+-]?[0-9]+")


class IllegalMove(T48Error):
    """The move would change nothing; the message names the legal ones."""


class Move(NamedTuple):
    """A legal move: the board after the slide, before the spawn, and the points of its merges."""

    afterstate: Board
    reward: int


@dataclass(frozen=True, slots=True, repr=False)
class Board:
    """A position, immutable and hashable; made by `Board.parse` or `Board.from_array`.

    `low` holds the low four bits of each rank, `high` the fifth, both laid out as in `kernels.exact`.
    """

    low: int = 0
    high: int = 0
    rows: int = 4
    cols: int = 4

    @classmethod
    def parse(cls, text: Any) -> Board:
        """The board written as tile values, as digits of ranks, or as nested lists; raises T48Error.

        `2 0 0 4 / 0 0 ...` with blanks, commas or slashes (`.` is an empty cell), or `1002...` with one digit
        a cell, `0x` optional. A smaller board writes its size first: `3x3: 2 0 0 4 0 0 0 0 0` or `3x3:100200000`.
        """
        if isinstance(text, Board):
            return text
        if not isinstance(text, str):
            return cls.from_array(text)
        if len(text) > LONGEST_TEXT:
            raise T48Error(f"a board is written in at most {LONGEST_TEXT:,} characters, got {len(text):,}")
        rows, cols, cells = _sized(text)
        tokens = [token for token in re.split(r"[\s,;/|\[\]()]+", cells) if token]
        ranks = _digits(tokens[0]) if len(tokens) == 1 else [_value(token) for token in tokens]
        if len(ranks) != rows * cols:
            raise T48Error(_wrong_count(len(ranks), rows, cols))
        return cls._of(np.array(ranks).reshape(rows, cols))

    @classmethod
    def from_array(cls, a: Any) -> Board:
        """The board of tile values, 2 to 4 rows of 2 to 4 cells or 16 values in one row; raises T48Error."""
        try:
            values = np.array(a)
        except ValueError:
            raise T48Error("the rows of a board must be equally long, give 4 rows of 4 tile values") from None
        if values.shape == (16,):
            values = values.reshape(4, 4)
        if values.ndim != 2 or not all(_FEWEST <= side <= _MOST for side in values.shape):
            shape = " x ".join(map(str, values.shape)) or "a single value"
            raise T48Error(f"a board has 2 to 4 rows of 2 to 4 cells, got {shape}; give 4 rows of 4 tile values")
        return cls._of(np.array([[_value(value) for value in row] for row in values.tolist()]))

    @classmethod
    def _of(cls, ranks: NDArray[Any]) -> Board:
        total = sum(1 << rank for rank in ranks.flat if rank)
        if total > LARGEST_SUM:
            raise T48Error(f"the tiles add up to {total:,}, use smaller ones: to {LARGEST_SUM:,} at most")
        low = high = 0
        for (r, c), rank in np.ndenumerate(ranks):
            shift = 60 - 4 * (4 * r + c)
            low |= (int(rank) & 15) << shift
            high |= (int(rank) >> 4) << shift
        return cls(low, high, *ranks.shape)

    def rules(self, given: Rules | None = None) -> Rules:
        """The rules of a game on a board of this size, those given if any; raises T48Error when they have another."""
        rules = Rules(rows=self.rows, cols=self.cols) if given is None else given
        if (rules.rows, rules.cols) != (self.rows, self.cols):
            size = f"{self.rows}x{self.cols}"
            raise T48Error(
                f"{self.hex} is a board of {size}, the rules are for {rules.rows}x{rules.cols}; "
                f"give Rules(rows={self.rows}, cols={self.cols}), or none"
            )
        return rules

    @property
    def planes(self) -> tuple[int, int]:
        """(low, high), as `kernels.exact` takes them."""
        return self.low, self.high

    def ranks(self) -> NDArray[np.int64]:
        """The rank of each cell, int64[rows, cols], 0 = empty."""
        shifts = [[60 - 4 * (4 * r + c) for c in range(self.cols)] for r in range(self.rows)]
        return np.array([[(self.low >> s & 15) + 16 * (self.high >> s & 1) for s in row] for row in shifts], np.int64)

    def to_array(self) -> NDArray[np.int64]:
        """Tile values, int64[rows, cols], 0 = empty; a new array each time."""
        ranks = self.ranks()
        return np.where(ranks > 0, np.int64(1) << ranks, 0)

    @property
    def hex(self) -> str:
        """One digit of rank a cell, row by row, from which `Board.parse` makes an equal board."""
        prefix = "" if (self.rows, self.cols) == (4, 4) else f"{self.rows}x{self.cols}:"
        return prefix + "".join(DIGITS[rank] for rank in self.ranks().flat)

    @property
    def empty_count(self) -> int:
        """The number of empty cells."""
        return int((self.ranks() == 0).sum())

    @property
    def max_tile(self) -> int:
        """The value of the largest tile, 0 on the empty board."""
        return int(self.to_array().max())

    @property
    def is_over(self) -> bool:
        """Whether no move is legal."""
        return not self.legal_moves

    @property
    def legal_moves(self) -> tuple[str, ...]:
        """The names of the moves that change the board, in the order up, right, down, left."""
        return tuple(name for name in DIRECTIONS if self._slide(name) != self)

    def move(self, direction: str) -> Move:
        """The afterstate of a move and its reward in points; raises IllegalMove when it would change nothing."""
        if direction not in DIRECTIONS:
            raise T48Error(f"unknown direction {_cut(direction)}, {nearest(str(direction), DIRECTIONS)}")
        after = self._slide(direction)
        if after == self:
            legal = ", ".join(self.legal_moves)
            remedy = f"choose from {legal}" if legal else "the game is over"
            raise IllegalMove(f"{direction} changes nothing on {self.hex}, {remedy}")
        return Move(after, after._potential() - self._potential())

    def _slide(self, direction: str) -> Board:
        moves, rules = self.rules().arrays()
        low, high = (np.uint64(plane) for plane in self.planes)
        planes = load("exact").slide_planes(low, high, DIRECTIONS.index(direction), moves, rules)
        return Board(int(planes[0]), int(planes[1]), self.rows, self.cols)

    def _potential(self) -> int:
        return int(load("exact").full_potential(np.uint64(self.low), np.uint64(self.high)))

    def spawns(self) -> Iterator[tuple[int, int, int, Board]]:
        """Every (row, column, tile, board) that a spawn of a 2 or a 4 can lead to, row by row."""
        for r, c in np.argwhere(self.ranks() == 0).tolist():
            for rank in (1, 2):
                low = self.low | rank << (60 - 4 * (4 * r + c))
                yield r, c, 1 << rank, Board(low, self.high, self.rows, self.cols)

    def symmetries(self) -> tuple[Board, ...]:
        """The 8 rotations and reflections, this board first; those of a symmetric board repeat."""
        ranks = self.ranks()
        turned = [np.rot90(ranks, k) for k in range(4)]
        return tuple(Board._of(a) for a in [*turned, *(np.fliplr(a) for a in turned)])

    def __repr__(self) -> str:
        return f"Board.parse({self.hex!r})"

    def __str__(self) -> str:
        names = [[str(value) if value else "." for value in row] for row in self.to_array().tolist()]
        width = max(4, *(len(name) for row in names for name in row))
        return "\n".join(" ".join(name.rjust(width) for name in row) for row in names)

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr>{''.join(_tile_html(rank) for rank in row)}</tr>" for row in self.ranks().tolist())
        style = f"border-collapse:separate;border-spacing:4px;border-radius:5px;background:{FRAME_COLOUR}"
        return f'<table style="{style}" aria-label="2048 board {self.hex}">{rows}</table>'

    def svg(self, size: int = 64) -> str:
        """The board as SVG text, `size` pixels a cell."""
        gap = size // 10
        width, height = (side * (size + gap) + gap for side in (self.cols, self.rows))
        tiles = "".join(
            _tile_svg(int(rank), gap + c * (size + gap), gap + r * (size + gap), size)
            for (r, c), rank in np.ndenumerate(self.ranks())
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" role="img" aria-label="2048 board {self.hex}">'
            f'<rect width="{width}" height="{height}" rx="{gap}" fill="{FRAME_COLOUR}"/>{tiles}</svg>'
        )


def _look(rank: int) -> tuple[str, str, str]:
    """(value as text, fill, colour of the text) of a tile."""
    ink = DARK_TEXT if rank in PALE_RANKS else LIGHT_TEXT
    return str(1 << rank) if rank else "", TILE_COLOURS[min(rank, len(TILE_COLOURS) - 1)], ink


def _tile_html(rank: int) -> str:
    value, fill, ink = _look(rank)
    font = f"700 {min(20, 64 // max(1, len(value)))}px Helvetica,Arial,sans-serif"
    style = (
        f"width:48px;height:48px;padding:0;border-radius:3px;background:{fill};color:{ink};font:{font};"
        "text-align:center;vertical-align:middle"
    )
    return f'<td style="{style}">{value}</td>'


def _tile_svg(rank: int, x: int, y: int, size: int) -> str:
    value, fill, ink = _look(rank)
    letters = size * (0.42 if len(value) < 3 else 1.3 / (len(value) + 0.6))
    return (
        f'<rect x="{x}" y="{y}" width="{size}" height="{size}" rx="{size // 16}" fill="{fill}"/>'
        f'<text x="{x + size / 2:g}" y="{y + size / 2:g}" fill="{ink}" font-size="{letters:.3g}" font-weight="700" '
        f'font-family="Helvetica, Arial, sans-serif" text-anchor="middle" dominant-baseline="central">{value}</text>'
    )


def _sized(text: str) -> tuple[int, int, str]:
    """(rows, columns, the rest) of a board's text; 4 and 4 without a size."""
    size, colon, cells = text.partition(":")
    if not colon:
        return 4, 4, text
    rows, _, cols = (side.strip() for side in size.lower().partition("x"))
    if not (rows in _SIDES and cols in _SIDES):
        raise T48Error(f"a board has 2 to 4 rows of 2 to 4 cells, got {_cut(size)}, write its size as in 3x4:")
    return int(rows), int(cols), cells


def _digits(token: str) -> list[int]:
    digits = token.lower()
    digits = digits.removeprefix("0x")
    for place, digit in enumerate(digits, start=1):
        if digit not in DIGITS:
            raise T48Error(
                f"digit {digit!r} at place {place} of {_cut(token)} is no rank, "
                "use 0 to 9 and a to v (g is 65536, h 131072), or separate tile values by blanks"
            )
    return [DIGITS.index(digit) for digit in digits]


def _value(value: Any) -> int:
    """The rank of a tile's value; raises T48Error."""
    number = _whole(value)
    if number == 0:
        return 0
    if not 2 <= number <= 1 << _TOP_RANK:
        raise T48Error(
            f"tile value {_cut(number)} is out of range, use 0 for empty or a power of two, 2 to 2^{_TOP_RANK}"
        )
    below = 1 << (number.bit_length() - 1)
    if number != below:
        raise T48Error(f"tile value {number} is no power of two, the nearest are {below} and {2 * below}")
    return number.bit_length() - 1


def _whole(value: Any) -> int:
    try:
        if isinstance(value, str):
            return 0 if value == "." else int(_WHOLE.fullmatch(value)[0])  # type: ignore[index]
        if not isinstance(value, bool) and int(value) == value:
            return int(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise T48Error(f"tile value {_cut(value)} is no whole number, use 0 for empty or a power of two")


def _wrong_count(count: int, rows: int, cols: int) -> str:
    board = f"a {rows}x{cols} board has {rows * cols}"
    return f"got {count} cells where {board}; write every cell, and the size of a smaller board first, as in 3x3:"


def _cut(value: object) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 40 else text[:37] + "..."

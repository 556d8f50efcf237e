"""Weighted terms turned into the arrays that `kernels/lines.py` reads."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from t48lab.errors import T48Error
from t48lab.evaluators.base import Compiled
from t48lab.evaluators.blocks import Block
from t48lab.evaluators.termkinds import Definition
from t48lab.evaluators.terms import TERMS
from t48lab.kernels.layout import BLOCK, CLASS, CORNER, EXTRA, TABLE

LINE_BITS, OTHER_BITS, NORMALISED_BITS = 27, 50, 25
"""Bits of the largest line entry (eight of them fit in 32 bits) and of the largest other number in fixed point, and of
every number where terms are normalised."""
FEWEST_BITS = 20
"""Bits that `lost` and `full` must leave to the largest number that terms make: a value differs from the sum of its
terms by half a unit of the last bit for each of 12 entries, which is less than TOLERANCE of that number."""
TOLERANCE = 2.0**-16

Weights = Mapping[str, tuple[float, float | None]]
"""Weight and exponent of each term by name."""


class Stage(NamedTuple):
    """Terms for the positions with largest tile < `largest_below` or more empty cells than `empty_above`."""

    weights: Weights
    largest_below: int | None = None
    empty_above: int | None = None

    def holds(self, largest: int, empty: int) -> bool:
        """Whether the stage covers positions with this largest tile and number of empty cells."""
        early = self.largest_below is not None and largest < self.largest_below
        roomy = self.empty_above is not None and empty > self.empty_above
        return early or roomy or (self.largest_below is None and self.empty_above is None)


class Options(NamedTuple):
    """How stages become values: `full` None = by the terms, `lost` None = the position's own evaluation."""

    normalised: bool = False
    full: float | None = None
    lost: float | None = None
    floor: bool = False


def used(weights: Weights, normalised: bool = False) -> Iterator[tuple[Definition, float, float | None]]:
    """Definition, scale and exponent of every term of weight other than 0, by name."""
    for name in sorted(weights):
        weight, exponent = weights[name]
        if weight:
            norm = TERMS[name].norm if normalised else None
            yield TERMS[name], weight / (norm or 1.0), exponent


def build(stages: Sequence[Stage], options: Options, rows: int, cols: int) -> Compiled:
    """The arrays of an evaluator on boards of this size; the last stage covers what the others leave."""
    blocks = [_block(stage.weights, options, rows, cols) for stage in stages]
    shift = _shift(blocks, options)
    extra = np.zeros(EXTRA.BLOCKS + BLOCK.SIZE * len(blocks), np.int64)
    pool = _Pool(shift)
    for i, block in enumerate(blocks):
        if options.full is not None:
            block.empty[0] = options.full
        _write(extra[EXTRA.BLOCKS + i * BLOCK.SIZE :], block, pool, options)
    extra[EXTRA.SHIFT], extra[EXTRA.PHASES] = shift, len(blocks)
    extra[EXTRA.LOST_KIND] = options.lost is None
    extra[EXTRA.LOST] = round(math.ldexp(options.lost or 0.0, shift))
    extra[EXTRA.FLOORED] = options.floor
    extra[EXTRA.PHASE_TABLE : EXTRA.BLOCKS] = _phase_table(stages)
    extra[EXTRA.CLASS] = _kind(blocks, extra, options.full is not None)
    return Compiled(pool.lines(), extra)


def _block(weights: Weights, options: Options, rows: int, cols: int) -> Block:
    block = Block(rows, cols)
    for term, scale, exponent in used(weights, options.normalised):
        term.add_to(block, scale, exponent)
    return block


def _shift(blocks: list[Block], options: Options) -> int:
    """Binary places that keep line entries below 2^27 and everything else below 2^50 in fixed point.

    The numbers alone decide, so that all of them times a power of two are the same fixed point. Raises T48Error when a
    fixed value leaves too few bits to the terms.
    """
    line = max(float(abs(t).max()) for block in blocks for t in block.tables() if t is not None)
    other = max(float(abs(numbers).max()) for block in blocks for _, numbers in block.others())
    fixed = {"lost": options.lost, "full": options.full}
    name = max(fixed, key=lambda name: abs(fixed[name] or 0.0))
    largest, terms = abs(fixed[name] or 0.0), max(line, other)
    bounds = [(line, LINE_BITS), (other, OTHER_BITS), (largest, OTHER_BITS)]
    if options.normalised:
        bounds.append((terms, NORMALISED_BITS))
    shift = min((bits - math.frexp(number)[1] for number, bits in bounds if number), default=0)
    if terms and math.frexp(terms)[1] + shift < FEWEST_BITS:
        most = math.ldexp(1.0, OTHER_BITS - FEWEST_BITS + math.frexp(terms)[1] - 1)
        raise T48Error(
            f"{name}={fixed[name]:g} is so large beside terms of {terms:.3g} at most that these would be lost to "
            f"rounding, keep it from {-most:.3g} to {most:.3g}"
        )
    return shift


class _Pool:
    """Fixed-point line tables, equal ones kept once."""

    def __init__(self, shift: int) -> None:
        self.shift = shift
        self.offsets: dict[bytes, int] = {}

    def place(self, table: NDArray[Any] | None, scaled: bool = True) -> int:
        """The offset of a table; of a table of zeros for None."""
        numbers = np.zeros(TABLE) if table is None else table
        fixed = np.rint(np.ldexp(numbers, self.shift) if scaled else numbers).astype(np.int32)
        return self.offsets.setdefault(fixed.tobytes(), TABLE * len(self.offsets))

    def lines(self) -> NDArray[np.int32]:
        return np.frombuffer(bytearray(b"".join(self.offsets)), np.int32)


def _write(extra: NDArray[np.int64], block: Block, pool: _Pool, options: Options) -> None:
    tables = block.tables()
    for first, absent in ((BLOCK.ROW_TABLES, tables[0]), (BLOCK.COLUMN_TABLES, tables[4])):
        zero_at_empty = absent is not None and absent[0] == 0
        for i in range(4):
            table = tables[first + i]
            extra[first + i] = pool.place(absent if table is None and zero_at_empty else table)
    extra[BLOCK.HEAT] = -1 if block.heat is None else pool.place(block.heat, scaled=False)
    extra[BLOCK.CORNER_RULE], extra[BLOCK.FULL_ALONE] = block.rule, options.full is not None
    corners = {(i, j) for i in (0, block.rows - 1) for j in (0, block.cols - 1)}
    extra[BLOCK.CORNERS] = sum(1 << (60 - 16 * i - 4 * j) for i, j in corners)
    for place, numbers in block.others():
        extra[place : place + len(numbers)] = np.rint(np.ldexp(numbers, pool.shift))


def _phase_table(stages: Sequence[Stage]) -> list[int]:
    """The number of the first stage that holds, by largest rank * 17 + empty cells."""
    return [
        next((i for i, s in enumerate(stages[:-1]) if s.holds(1 << rank if rank else 0, empty)), len(stages) - 1)
        for rank in range(16)
        for empty in range(17)
    ]


def _kind(blocks: list[Block], extra: NDArray[np.int64], full: bool) -> int:
    """The quickest of the kernel's three ways that computes this evaluator.

    Searches may ask for the peak of a transposed board, so a corner rule that this can change is general.
    """
    offsets = extra[EXTRA.BLOCKS : EXTRA.BLOCKS + 8].reshape(2, 4)
    block = blocks[0]
    if len(blocks) > 1 or block.heat is not None or block.empty.any() or full or (offsets != offsets[:, :1]).any():
        return int(CLASS.WHOLE_BOARD)
    if not (block.inside.any() or block.outside.any()):
        return int(CLASS.LINES)
    turns = block.rule == CORNER.FIRST or (block.rule == CORNER.ANY and block.rows != block.cols)
    return int(CLASS.WHOLE_BOARD if turns else CLASS.LINES_AND_PEAK)

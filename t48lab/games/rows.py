"""The row of a game: each column's name, kind, origin and what a replay owes it, in one table.

The frames of batches, the numbers of a `GameRecord`, the schema of the results store and the comparisons of `verify`
follow from COLUMNS. A column that is added later says `since` which version of the schema, and what rows stored
before it have `before`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from t48lab.board import DIGITS
from t48lab.games.chunks import Chunk
from t48lab.kernels.layout import ROW
from t48lab.rules import Rules

if TYPE_CHECKING:
    import pandas as pd

ENDED = ("no legal move", "stop tile")
"""Why a game ended, by the kernel's number."""

_DIGITS = np.frombuffer(DIGITS.encode(), np.uint8)

Read = Callable[[Chunk, Rules], NDArray[Any]]


@dataclass(frozen=True)
class Column:
    """One column: a value for each game of a chunk; without `read` the batch states one for all games.

    `replayed` says when playing a game again must repeat it: always, or where the same kernels played, since a
    better search plays the same moves for less. `before` is None where it cannot be known; nothing is compared then.
    """

    name: str
    kind: type[str] | type[int] | type[float] | type[bool]
    read: Read | None = None
    replayed: Literal["always", "same kernels", "never"] = "never"
    since: int = 1
    before: Any = None


def _number(place: int) -> Read:
    """Reads the number that the kernel's rows have at a place."""
    return lambda chunk, _: chunk.rows[:, place]


def notation(chunk: Chunk, rules: Rules) -> NDArray[np.bytes_]:
    """The final boards in the notation of digits, `RxC:` in front on smaller boards, as ASCII."""
    rows = chunk.rows
    low, high = (rows[:, [column]].astype(">i8").view(np.uint8) for column in (ROW.FINAL_LOW, ROW.FINAL_HIGH))
    ranks = np.empty((len(rows), 16), np.uint8)
    ranks[:, 0::2] = low >> 4 | high & 16
    ranks[:, 1::2] = low & 15 | (high & 1) << 4
    cells = _DIGITS[ranks.reshape(-1, 4, 4)[:, : rules.rows, : rules.cols].reshape(len(rows), rules.rows * rules.cols)]
    front = b"" if rules.rows == rules.cols == 4 else f"{rules.rows}x{rules.cols}:".encode()
    whole = np.hstack([np.tile(np.frombuffer(front, np.uint8), (len(rows), 1)), cells])
    return np.ascontiguousarray(whole).view(f"S{whole.shape[1]}")[:, 0]


COLUMNS = (
    Column("agent", str),
    Column("spec", str),
    Column("agent_key", str),
    Column("spawner", str),
    Column("seed", int),
    Column("game", int, lambda chunk, _: np.arange(chunk.first, chunk.first + len(chunk.rows))),
    Column("score", int, _number(ROW.SCORE), "always"),
    Column("max_tile", int, lambda chunk, _: np.left_shift(1, chunk.rows[:, ROW.MAX_RANK]), "always"),
    Column("moves", int, _number(ROW.MOVES), "always"),
    Column("nodes", int, _number(ROW.NODES), "same kernels"),
    Column("seconds", float, lambda chunk, _: chunk.seconds),
    Column("final", str, notation, "always"),
    Column("ended", str, lambda chunk, _: np.array(ENDED, "S")[chunk.rows[:, ROW.ENDED]], "always"),
    Column("timed", bool),
    Column("probes", int, _number(ROW.PROBES), "same kernels"),
    Column("hits", int, _number(ROW.HITS), "same kernels"),
)


def frame_of(chunk: Chunk, stated: dict[str, Any], rules: Rules) -> pd.DataFrame:
    """The rows of a chunk as a frame with COLUMNS; `stated` holds what the batch says of all of them."""
    import pandas as pd

    columns = {c.name: _array(c.read(chunk, rules)) if c.read else stated[c.name] for c in COLUMNS}
    return pd.DataFrame(columns)


def empty_frame() -> pd.DataFrame:
    """The frame of no games."""
    stated = {column.name: column.kind() for column in COLUMNS if not column.read}
    return frame_of(Chunk(0, np.zeros((0, ROW.SIZE), np.int64), np.zeros(0), 0.0), stated, Rules())


def played(chunk: Chunk, rules: Rules) -> dict[str, Any]:
    """What a chunk of one game says of it, by column, as plain values."""
    return {c.name: _plain(c.read(chunk, rules)) for c in COLUMNS if c.read}


def _array(values: NDArray[Any]) -> Any:
    """The values as pandas holds them: ASCII as strings, without an object for each."""
    if values.dtype.kind != "S":
        return values
    import pandas as pd
    import pyarrow as pa

    return pd.array(pa.array(values, pa.binary()).cast(pa.large_string()), dtype="str")


def _plain(values: NDArray[Any]) -> Any:
    (value,) = values.tolist()
    return value.decode() if isinstance(value, bytes) else value

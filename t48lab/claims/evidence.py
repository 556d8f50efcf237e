"""Evidence on claims: the games of an experiment by label, and measurements that are made once and kept."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from t48lab.agents import ENGINE
from t48lab.claims import measures
from t48lab.claims.rulings import Found, mean, resampled, share
from t48lab.errors import T48Error
from t48lab.files import below, write_whole

if TYPE_CHECKING:
    import pandas as pd


def _lines(weights: dict[str, float]) -> str:
    """A spec of system C with these weights in place of its own."""
    terms = {"monotonicity": {"weight": weights.get("mono", 47.0), "exponent": 1.0}, "roughness": -0.1, "empty": 270.0}
    text = str(terms | {"largest": weights.get("largest", 700.0)}).replace("'", '"')
    return f'expectimax:depth=2,leaf=state,evaluator={{"terms":{text}}}'


MONO = {f"{weight:g}": _lines({"mono": weight}) for weight in (0.0, 12.0, 47.0, 188.0, 752.0)}
LARGEST = {f"{weight:g}": _lines({"largest": weight}) for weight in (0.0, 7.0, 70.0, 700.0, 7000.0)}

MEASURES: dict[str, tuple[int, Callable[[int], Any]]] = {
    "memo_a": (200, lambda n: measures.memo_counts("system_a", "a", (3, 4, 5), n)),
    "memo_c": (200, lambda n: measures.memo_counts("system_c", "c", (3, 4), n)),
    "legality": (200, measures.legality_counts),
    "bounds": (200, measures.bound_counts),
    "four_layers": (100, measures.four_layer_nodes),
    "evaluation_memo": (42, measures.evaluation_memo),
    "move_times": (200, measures.move_times),
    "playouts": (200, measures.playout_lengths),
    "early": (200, measures.early_choices),
    "mono": (50, lambda n: measures.habit_counts(MONO, n)),
    "largest": (50, lambda n: measures.habit_counts(LARGEST, n)),
    "depth_three": (20, measures.depth_three_times),
    "crowding": (300, lambda n: measures.crowding(("system_c", "system_d"), n)),
}
"""Every measurement by name, with its usual number of cases."""


def checksum_of(path: Path) -> Path:
    """The file beside a measurement that has its SHA-256, as `sha256sum --check` reads it."""
    return path.with_name(f"{path.name}.sha256")


def _checked(path: Path) -> bytes:
    """The bytes of a measurement; raises T48Error when they are not those that were written."""
    try:
        data, stated = path.read_bytes(), checksum_of(path).read_bytes()
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        remedy = f"restore it, or delete {path.name} to measure again"
        raise T48Error(f"{error.filename} cannot be read ({reason}), {remedy}") from None
    if hashlib.sha256(data).hexdigest().encode() != stated[:64]:
        raise T48Error(f"{path} is damaged (its checksum does not match), restore it, or delete it to measure again")
    return data


class Evidence:
    """The games of a results folder, and its measurements, made when first asked for and then read from its files."""

    def __init__(self, games: pd.DataFrame, folder: Path, most: int | None = None) -> None:
        self.games, self.folder, self.most = games, folder, most

    def measure(self, name: str) -> pd.DataFrame:
        """A measurement with its usual number of cases, or `most` where that is less."""
        import pandas as pd

        usual, make = MEASURES[name]
        count = min(usual, self.most or usual)
        path = below(self.folder, "measures") / f"{name}-{count}-engine-{ENGINE}.csv"
        if not path.exists():
            data = make(count).to_csv(index=False, lineterminator="\n").encode()
            write_whole(checksum_of(path), f"{hashlib.sha256(data).hexdigest()}  {path.name}\n".encode())
            write_whole(path, data)
        return pd.read_csv(io.BytesIO(_checked(path)))

    @cached_property
    def _by_label(self) -> dict[str, pd.DataFrame]:
        return {str(label): group.set_index("game") for label, group in self.games.groupby("agent")}

    def of(self, label: str) -> pd.DataFrame:
        """The games of an agent, by number; raises T48Error when there are none."""
        if label not in self._by_label:
            raise T48Error(f"there are no games of {label!r} here, run the experiment first")
        return self._by_label[label]

    def column(self, label: str, column: str) -> NDArray[np.float64]:
        """A column of an agent's games."""
        return self.of(label)[column].to_numpy(np.float64)

    def reached(self, label: str, tile: int) -> tuple[int, int]:
        """(games with a tile of at least this value, games)."""
        largest = self.of(label)["max_tile"]
        return int((largest >= tile).sum()), len(largest)

    def rate(self, label: str, tile: int) -> Found:
        """The share of games with a tile of at least this value."""
        return share(*self.reached(label, tile))

    def mean(self, label: str, column: str = "score") -> Found:
        """The mean of a column of an agent's games."""
        return mean(self.column(label, column))

    def together(self, labels: list[str], column: str = "score") -> NDArray[np.float64]:
        """A column of several agents, a row for each deal that all of them played."""
        frames = [self.of(label)[column] for label in labels]
        shared = frames[0].index
        for frame in frames[1:]:
            shared = shared.intersection(frame.index)
        return np.column_stack([frame.loc[shared].to_numpy(np.float64) for frame in frames])

    def difference(self, first: str, second: str, column: str = "score") -> Found:
        """The mean of a column of one agent minus that of another, deal by deal."""
        rows = self.together([first, second], column)
        return mean(rows[:, 0] - rows[:, 1])

    def per_move(self, label: str) -> Found:
        """Milliseconds of processor time a move, over all games."""
        rows = np.column_stack([self.column(label, "seconds"), self.column(label, "moves")])
        return resampled(rows, lambda r: float(1000 * r[:, 0].sum() / r[:, 1].sum()))

    def speed_up(self, slow: str, fast: str) -> Found:
        """How many times less processor time a move the second agent takes."""
        seconds, moves = self.together([slow, fast], "seconds"), self.together([slow, fast], "moves")

        def ratio(r: NDArray[np.float64]) -> float:
            totals = r.sum(axis=0)
            return float(totals[0] / totals[2] / (totals[1] / totals[3]))

        return resampled(np.hstack([seconds, moves]), ratio)


def node_saving(table: pd.DataFrame, less: str, more: str, column: str = "nodes") -> Found:
    """The share of nodes that one variant of a program saves beside another, position by position."""
    wide = table.pivot(index="position", columns="variant", values=column)
    return mean(1 - (wide[less] / wide[more]).to_numpy(np.float64))


def time_ratio(table: pd.DataFrame, one: str, other: str) -> Found:
    """How many times as long one variant of a program takes as another, over all positions."""
    rows = table.pivot(index="position", columns="variant", values="seconds")[[one, other]].to_numpy(np.float64)
    return resampled(rows, lambda r: float(r[:, 0].sum() / r[:, 1].sum()))

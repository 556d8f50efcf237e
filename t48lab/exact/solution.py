"""Solutions: exact values of all positions of a small board, made once and kept in the user's cache."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from t48lab.board import Board
from t48lab.errors import T48Error
from t48lab.exact.crew import Crew
from t48lab.exact.files import LayerFile, Layers
from t48lab.exact.layers import EVERY_MOVE, Frontier, Ground, Sweep
from t48lab.exact.objectives import Objective, read_objective
from t48lab.exact.shapes import BYTES_A_POSITION, at_most, check_size, key_of, size, starts, tile_sum, totals
from t48lab.progress import Progress
from t48lab.rules import Rules


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """Exact play under some rules for an objective, from mapped tables."""

    rules: Rules
    objective: str
    keys: Layers
    numbers: Layers

    @property
    def positions(self) -> int:
        """How many positions play can reach, symmetric ones as one."""
        return self.keys.count

    @property
    def expected(self) -> float:
        """The mean value over random starts."""
        return float(sum(p * self._known(board) for board, p in starts(self.rules)))

    def value(self, board: Board | str) -> float:
        """What a position before a move is still worth to best play: points, or a probability for `tile:N`.

        Raises T48Error for a board of another size and for one that play cannot reach.
        """
        board = Board.parse(board)
        here = f"{self.rules.rows}x{self.rules.cols}"
        if (board.rows, board.cols) != (self.rules.rows, self.rules.cols):
            raise T48Error(f"{board.hex} is a {board.rows}x{board.cols} board, this solution is of {here}")
        value = None if board.high else self._look_up(board.low)
        if value is None:
            raise T48Error(f"no play reaches {board.hex} on {here}, give a position before a move")
        return value

    def moves(self, board: Board | str) -> dict[str, float]:
        """What each legal move is worth: its reward, except for `tile:N`, and the value of what follows.

        The largest is the position's value. Raises T48Error as `value` does.
        """
        board = Board.parse(board)
        self.value(board)
        made = {name: board.move(name) for name in board.legal_moves}
        points = not self.objective.startswith("tile")
        return {name: points * reward + self._answered(after) for name, (after, reward) in made.items()}

    def _answered(self, after: Board) -> float:
        """The mean or the least value over the spawns on an afterstate."""
        four = self.rules.four_probability
        odds = {2: 1.0 - four, 4: four}
        found = [(odds[tile], self._known(board.low)) for _, _, tile, board in after.spawns() if odds[tile] > 0]
        if self.objective == "adversary":
            return min(value for _, value in found)
        return sum(p * value for p, value in found) / after.empty_count

    def _known(self, board: int) -> float:
        value = self._look_up(board)
        assert value is not None
        return value

    def _look_up(self, board: int) -> float | None:
        """The value of a packed board, None when it is in no table."""
        layers = totals(self.rules)
        if (total := tile_sum(board)) not in layers:
            return None
        layer, key = layers.index(total), key_of(board, self.rules)
        keys = self.keys[layer]
        place = int(np.searchsorted(keys, np.uint32(key)))
        return float(self.numbers[layer][place]) if place < len(keys) and keys[place] == key else None

    def __repr__(self) -> str:
        return (
            f"{self.rules.rows}x{self.rules.cols} solved for {self.objective}: {self.positions:,} positions, "
            f"{self.expected:.12g} expected at random starts"
        )


def solve(
    rules: Rules = Rules(rows=3, cols=3),
    objective: str = "score",
    workers: int | None = None,
    folder: str | Path | None = None,
    progress: bool = False,
    memory: float | None = None,
) -> Solution:
    """The exact values of all positions that play can reach under the rules, for an objective.

    `score` is the largest expected score, `adversary` the largest that the worst spawns cannot prevent, `tile:N` the
    largest probability of a tile N. Tables are made once, by `workers` threads (default: one a processor), and kept in
    a folder (default: in the user's cache). When interrupted, the same call goes on from the last finished layer. The
    numbers are the same to the last bit for any number of threads. Raises T48Error for boards that are too large, also
    for so many gigabytes of `memory`, for unknown objectives, and for damaged tables.
    """
    check_size(rules, memory)
    goal, home = read_objective(objective, rules), Path(folder) if folder else cache()
    with Crew(workers) as crew:
        ground = Ground(rules, crew)
        keys = positions(ground, home, progress)
        return Solution(rules, goal.name, keys, _values(ground, goal, keys, home, progress))


def cache() -> Path:
    """The folder in the user's cache where tables of exact play are kept."""
    import platformdirs

    return platformdirs.user_cache_path("t48lab") / "exact"


def _file(ground: Ground, home: Path, holds: str, dtype: str) -> LayerFile:
    """The file of the positions, which depend on which tiles are spawned alone, or of the values for an objective."""
    rules = ground.rules
    four = rules.four_probability
    odds = f"{four!r}" if holds != "positions" else "some" if 0 < four < 1 else f"{four:g}"
    about = {"rows": rules.rows, "cols": rules.cols, "fours": odds, "holds": holds}
    name = f"{rules.rows}x{rules.cols}-{odds}-fours-{holds.replace(':', '-')}.t48"
    return LayerFile(home / name, about, dtype, len(totals(rules)))


def positions(ground: Ground, home: Path, progress: bool) -> Layers:
    """The keys of all positions by layer, from their file in a folder or made anew."""
    file = _file(ground, home, "positions", "<u4")
    if file.path.exists():
        return file.open()
    _check_room(home, at_most(ground.rules) * BYTES_A_POSITION, ground.rules)
    frontier, numbers = Frontier(ground), totals(ground.rules)
    with file.draft(range(len(numbers))) as draft, Progress(len(numbers), "positions", progress, "layers") as bar:
        for layer in range(max(0, draft.done - 2), len(numbers)):
            keys = frontier.layer(numbers[layer])
            if layer < draft.done:
                keys = draft[layer]
            else:
                draft.add(layer, keys)
            frontier.expand(numbers[layer], keys)
            bar.advance(1)
            bar.refresh()
    return file.open()


def _values(ground: Ground, goal: Objective, keys: Layers, home: Path, progress: bool) -> Layers:
    """The values of all layers for an objective, from the file or made anew."""
    file = _file(ground, home, goal.name, "<f8")
    if file.path.exists():
        return file.open()
    _check_room(home, keys.count * 8, ground.rules)
    sweep, numbers = Sweep(ground, goal), totals(ground.rules)
    order = range(len(numbers))[::-1]
    with file.draft(order) as draft, Progress(keys.count, goal.name, progress, "positions") as bar:
        known, wanted = order[: draft.done], order[draft.done :]
        for layer in known[-2:]:
            sweep.remember(numbers[layer], keys[layer], draft[layer][np.newaxis])
        bar.advance(sum(len(keys[layer]) for layer in known))
        every_move = ((numbers[layer], keys[layer], EVERY_MOVE) for layer in wanted)
        for layer, values in zip(wanted, sweep.layers(every_move), strict=True):
            draft.add(layer, values[0])
            bar.advance(len(keys[layer]))
            bar.refresh()
    return file.open()


def _check_room(home: Path, need: int, rules: Rules) -> None:
    """Raises T48Error when the disk of a folder has less room than this many bytes."""
    place: Any = home
    while not place.exists():
        place = place.parent
    if (free := shutil.disk_usage(place).free) < need:
        raise T48Error(
            f"the tables of {rules.rows}x{rules.cols} take up to {size(need)}, {place} has {size(free)} free: "
            "make room or choose another folder"
        )

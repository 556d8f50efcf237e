"""Trainings carried out: blocks of games on threads that share the weights, with checkpoints to go on from.

On one thread the weights are a function of the training alone, however often it is interrupted: game i reads a
stream of its own, and a checkpoint is written between two games. More threads write to the same weights without
locks, so their nets never repeat, and their files say so.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, thread_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from t48lab.compiled import load
from t48lab.errors import T48Error
from t48lab.files import abandoned, told, write_whole
from t48lab.kernels import netlayout as at
from t48lab.learning.nets import Net, open_net, save_net
from t48lab.learning.pages import zeros
from t48lab.learning.training import Training
from t48lab.machine import commit, now
from t48lab.progress import Progress

CHECKPOINT, ABOUT = "checkpoint.net", "net.json"
BLOCK = 1000
"""Games of one row of the learning curve."""
TILES = tuple(2**rank for rank in range(11, 16))
COLUMNS = ("games", "score", "moves", "all_moves", "parts", *(f"tile_{tile}" for tile in TILES))
"""What a block of games adds up: points and moves of the first parts, moves and number of all parts, largest tiles."""

_CHUNK = 25
_MINUTES = 10.0


def train(
    training: Training, folder: str | Path, threads: int = 1, progress: bool = False, minutes: float = _MINUTES
) -> Net:
    """The net after all games of the training; goes on from the folder's checkpoint where there is one.

    Every `minutes`, and on Ctrl-C, the folder's checkpoint.net and curve.csv are written; net.json, which says
    how the net was made and its hash, at the end. Raises T48Error when the
    folder holds another training, another process trains there, or an error is not finite.
    """
    if threads < 1:
        raise T48Error(f"threads must be 1 or more, got {threads}")
    folder = Path(folder)
    with _locked(folder), Progress(training.games, "training", progress) as bar:
        run = _Run(training, folder, threads)
        bar.advance(run.games)
        saved = monotonic()
        with ThreadPoolExecutor(threads) as pool:
            while run.games < training.games:
                before = run.games
                try:
                    run.block(pool)
                except KeyboardInterrupt:
                    run.save()
                    raise
                bar.advance(run.games - before)
                bar.refresh()
                if monotonic() - saved > 60 * minutes:
                    run.save()
                    saved = monotonic()
        run.save()
    net = open_net(folder / CHECKPOINT)
    write_whole(folder / ABOUT, f"{json.dumps(net.about, indent=1)}\n".encode())
    return net


class _Run:
    """A training under way: the weights, and what has been played."""

    def __init__(self, training: Training, folder: Path, threads: int) -> None:
        self.training, self.folder, self.threads = training, folder, threads
        self.kernel = load("training")
        structure = training.structure
        self.weights = zeros(structure.size)
        self.sums = zeros(2 * structure.size if training.coherent else 2)
        self.curve: list[list[int]] = []
        self.games, self.seconds, self.most_threads, self.saved = 0, 0.0, threads, -1
        moves, self.rules = training.rules.arrays()
        self.slides = self.kernel.build_slides(moves)
        if (folder / CHECKPOINT).exists():
            self._resume(open_net(folder / CHECKPOINT))
        elif (folder / ABOUT).exists():
            raise T48Error(f"{folder} tells of a training whose net is not there, choose another --out")
        elif training.initial:
            self.weights[: structure.entries] = training.initial / structure.lookups

    def _resume(self, net: Net) -> None:
        """Takes over what a checkpoint holds; raises T48Error when it is another training's."""
        own = self.training.model_dump(mode="json")
        free = {"games"} if self.training.final_rate is None else set()
        other = [name for name in own if name not in free and net.training.get(name) != own[name]]
        if other:
            raise T48Error(
                f"{net.path} comes from a training with another {other[0]} ({net.training.get(other[0])}), "
                "choose another --out"
            )
        net.verify()
        self.weights[:] = net.weights
        if net.sums is not None:
            self.sums[:] = net.sums
        self.games, self.curve, self.seconds = net.games, net.facts["curve"], net.facts["seconds"]
        self.most_threads, self.saved = max(self.threads, net.facts["threads"]), net.games

    def block(self, pool: ThreadPoolExecutor) -> None:
        """Plays on to the end of a block, or less when interrupted; started games are always finished."""
        training, entries = self.training, self.training.structure.entries
        end = min(training.games, (self.games // BLOCK + 1) * BLOCK)
        if training.stages and self.games <= training.promotion:
            end = min(end, training.promotion) if self.games < training.promotion else end
            if self.games == training.promotion:
                for k in range(1, 1 + len(training.stages)):
                    self.weights[k * entries : (k + 1) * entries] = self.weights[:entries]
        network = training.structure.array(staged=self.games >= training.promotion)
        chunks = iter(range(self.games, end, _CHUNK))
        guard, stop = threading.Lock(), threading.Event()
        rows = np.zeros((end - self.games, at.ROW_SIZE), np.int64)
        first, finished = self.games, [0.0, 0]

        def work() -> None:
            while not stop.is_set():
                with guard:
                    chunk = next(chunks, None)
                if chunk is None:
                    return
                part, start = rows[chunk - first : chunk - first + _CHUNK], thread_time()
                self._play(network, chunk, part)
                with guard:
                    finished[0] += thread_time() - start
                    finished[1] += len(part)

        futures = [pool.submit(work) for _ in range(self.threads)]
        try:
            wait(futures)
        finally:
            stop.set()
            wait(futures)
            for future in futures:
                future.result()
            self.seconds += finished[0]
            self._record(rows[: finished[1]])

    def _play(self, network: NDArray[np.uint64], first: int, rows: NDArray[np.int64]) -> None:
        settings, reals = self.training.numbers()
        settings[at.FIRST] = first
        seed = np.uint64(self.training.seed)
        played = self.kernel.train(
            network, self.weights, self.sums, self.slides, self.rules, settings, reals, seed, rows
        )
        if played < len(rows):
            raise T48Error(f"the weights grew beyond all bounds in game {first + played}, lower the rate")

    def _record(self, rows: NDArray[np.int64]) -> None:
        """Adds finished games to the curve."""
        if self.games % BLOCK == 0 and len(rows):
            self.curve.append([0] * len(COLUMNS))
        if len(rows):
            sums = rows[:, [at.SCORE, at.MOVES, at.ALL_MOVES, at.PARTS]].sum(axis=0).tolist()
            tiles = [int((rows[:, at.TOP] >= tile.bit_length() - 1).sum()) for tile in TILES]
            self.curve[-1] = [a + b for a, b in zip(self.curve[-1], [len(rows), *sums, *tiles], strict=True)]
        self.games += len(rows)

    def save(self) -> None:
        """Writes the checkpoint and the curve, unless they are on disk already."""
        if self.games == self.saved:
            return
        facts: dict[str, Any] = {"threads": self.most_threads, "repeatable": self.most_threads == 1}
        facts |= {"seconds": self.seconds, "curve": self.curve, "commit": commit(), "written": now()}
        save_net(
            self.folder / CHECKPOINT, self.training.structure, self.training.model_dump(mode="json"), self.games,
            self.weights, self.sums if self.training.coherent else None, facts,
        )  # fmt: skip
        write_whole(self.folder / "curve.csv", curve_text(self.curve).encode())
        self.saved = self.games


def curve_text(curve: list[list[int]]) -> str:
    """The learning curve as CSV: means and shares of each block of games, which were played while learning."""
    lines = [
        ",".join(["games", "mean_score", "mean_moves", "mean_all_moves", "mean_parts", *(f"rate_{t}" for t in TILES)])
    ]
    total = 0
    for games, *sums in curve:
        total += games
        lines.append(",".join([str(total), *(f"{number / games:.6g}" for number in sums)]))
    return "\n".join(lines) + "\n"


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """A context in which this process alone trains in the folder; raises T48Error when another one does."""
    from filelock import FileLock, Timeout

    with told(folder):
        folder.mkdir(parents=True, exist_ok=True)
        guard = FileLock(folder / ".lock", timeout=0)
        try:
            guard.acquire()
        except Timeout:
            raise T48Error(
                f"{folder} is in use by another training, wait for its end or choose another --out"
            ) from None
    try:
        for draft in abandoned(folder):
            draft.unlink(missing_ok=True)
        yield
    finally:
        guard.release()

"""A progress bar on stderr with the time that is left, for anything that takes longer than two seconds."""

from __future__ import annotations

import os
import sys
from time import monotonic
from typing import TYPE_CHECKING, TextIO

from t48lab.plaintext import visible

if TYPE_CHECKING:
    import rich.progress

_PATIENCE = 2.0


class Progress:
    """A bar that counts what is finished; never appears when `shown` is False or everything ends soon."""

    def __init__(self, total: int, label: str, shown: bool, unit: str = "games") -> None:
        self.total, self.label, self.unit, self.done = total, visible(label), unit, 0
        self.interval = 0.5 if shown else None
        self._start = monotonic()
        self._bar: rich.progress.Progress | None = None

    def __enter__(self) -> Progress:
        return self

    def advance(self, games: int) -> None:
        """Counts so many more as finished."""
        self.done += games

    def refresh(self) -> None:
        """Shows what is finished and what is left, once there has been time enough."""
        elapsed = monotonic() - self._start
        if self.interval is None or elapsed < _PATIENCE:
            return
        if self._bar is None:
            self._bar = _bar(self.unit)
            self._bar.add_task(self.label, total=self.total, left="")
            self._bar.start()
        left = duration(elapsed / self.done * (self.total - self.done)) if self.done else "unknown"
        self._bar.update(self._bar.task_ids[0], description=self.label, completed=self.done, left=f"{left} left")

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()


def _bar(unit: str) -> rich.progress.Progress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(unit + ", {task.fields[left]}"),
    )
    return Bar(*columns, console=Console(stderr=True, force_terminal=is_terminal(sys.stderr)))


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person sees this stream as it comes; colours that are forced on a pipe make no terminal of it."""
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"


def duration(seconds: float) -> str:
    """A time in the largest unit that keeps it above 1: `45 s`, `3 min`, `2.5 h`."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"

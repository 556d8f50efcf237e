"""Who works at a study: a worker's identity, its signs of life, and which trials their workers left behind."""

from __future__ import annotations

import os
import socket
import threading
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from t48lab.specs import digest

if TYPE_CHECKING:
    from optuna.storages import BaseStorage
    from optuna.trial import FrozenTrial

WORKER, BEAT = "worker", "beat"
"""Attributes of a running trial: who runs it, and a count that goes up while it does."""

BEAT_SECONDS, SILENCE_SECONDS = 20.0, 120.0


def identity() -> dict[str, Any]:
    """This process, so that others on this machine can tell whether it still lives, and nobody where it runs."""
    process = os.getpid()
    return {"place": place(), "process": process, "since": _since(process), "token": uuid.uuid4().hex}


def place() -> str:
    """A hash of this machine since its last start, and of this container's processes."""
    parts = [socket.gethostname()]
    for path in ("/proc/sys/kernel/random/boot_id", "/proc/self/ns/pid"):
        try:
            parts.append(Path(path).read_text() if "boot" in path else str(Path(path).readlink()))
        except OSError:
            parts.append("")
    return digest(parts)


def _since(process: int) -> str | None:
    """When a process started, in ticks since the machine did; None when there is none, or no /proc to see it in."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else fields[19]


class Watch:
    """Tells which running trials nobody runs any more; asked by a worker while it runs none itself.

    A worker on this machine is looked up among its processes, where the system shows them. Any other counts as
    gone when it has not moved its count for two minutes by this machine's clock: clocks need not agree.
    """

    def __init__(self, own: dict[str, Any]) -> None:
        self._seen: dict[int, tuple[Any, float]] = {}
        self._own = own

    def is_left(self, trial: FrozenTrial) -> bool:
        """Whether nobody runs this trial any more, as far as one can know by now."""
        worker = trial.user_attrs.get(WORKER)
        if worker == self._own:
            return True
        if worker and worker["place"] == self._own["place"] and worker["since"] is not None:
            return bool(_since(worker["process"]) != worker["since"])
        sign, now = trial.user_attrs.get(BEAT), time.monotonic()
        last, since = self._seen.get(trial.number, (None, None))
        if since is None or last != sign:
            self._seen[trial.number] = (sign, now)
            return False
        return now - since > SILENCE_SECONDS


class Heart:
    """A context in which the trial at hand shows signs of life, from a thread of its own."""

    def __init__(self, storage: BaseStorage) -> None:
        self._storage, self._end = storage, threading.Event()
        self._thread = threading.Thread(target=self._beat, name="t48lab-heart", daemon=True)
        self.trial_id: int | None = None

    def __enter__(self) -> Heart:
        self._thread.start()
        return self

    def _beat(self) -> None:
        count = 0
        while not self._end.wait(BEAT_SECONDS):
            count += 1
            trial_id = self.trial_id
            if trial_id is not None:
                try:
                    self._storage.set_trial_user_attr(trial_id, BEAT, count)
                except Exception:  # the trial has just ended, or the storage is away: the worker itself will say so
                    continue
        self._storage.remove_session()

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

"""A Dask cluster as an executor: batches are played by workers on any number of machines.

Dask hands a task of a worker that died to another one. A task is a range of seeded games, so whoever plays it plays
the same games, and its rows come back once. Each worker process keeps its own compiled programs and, for each thread,
its own tables.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import t48lab
from t48lab.agents import ENGINE
from t48lab.errors import T48Error
from t48lab.kernels import sources
from t48lab.machine import machine

if TYPE_CHECKING:
    from distributed import Client

PATIENCE = 60.0
"""Seconds to wait for a scheduler, and then for its first worker."""

Answer = TypeVar("Answer")


class ClusterExecutor(Executor):
    """Dask's executor, for workers that run the same t48lab as this process."""

    def __init__(self, client: Client) -> None:
        self._pool = client.get_executor(pure=False)
        threads = client.ncores()
        self._max_workers = sum(threads.values())
        processors = {found["processor"] for found in client.run(machine).values()}
        self.place = {
            "cluster": {"workers": len(threads), "threads": self._max_workers, "processors": sorted(processors)}
        }
        """What a manifest says of the cluster as it was at the start."""

    def submit(self, fn: Callable[..., Answer], /, *args: Any, **kwargs: Any) -> Future[Answer]:
        """The future of a call on some worker; it holds T48Error when that worker runs another t48lab."""
        future: Future[Answer] = self._pool.submit(_checked, identity(), fn, *args, **kwargs)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Waits for what is still under way, or drops it."""
        self._pool.shutdown(wait=wait)


@functools.cache
def identity() -> tuple[str, str, str]:
    """Version, engine and kernels of this process: equal ones play equal games."""
    return t48lab.__version__, ENGINE, sources()[:12]


def _checked(expected: tuple[str, str, str], fn: Callable[..., Answer], *args: Any, **kwargs: Any) -> Answer:
    if identity() != expected:
        have, need = " ".join(identity()), " ".join(expected)
        raise T48Error(f"a worker runs t48lab {have} where this is {need}, install the same on all machines")
    return fn(*args, **kwargs)


@contextmanager
def connected(address: str, patience: float = PATIENCE) -> Iterator[ClusterExecutor]:
    """A context with the executor of the scheduler at an address such as tcp://host:8786; raises T48Error.

    Workers may come and go meanwhile. The error comes when there is no scheduler, when no worker shows up, when the
    scheduler goes away, or when a task has brought down one worker after another.
    """
    try:
        from distributed import Client, KilledWorker
    except ModuleNotFoundError:
        raise T48Error("--cluster needs Dask: pip install 't48lab[cluster]'") from None
    remedy = "what is finished is kept, run the same again to go on"
    with _client(Client, address, patience) as client:
        try:
            yield ClusterExecutor(client)
        except CancelledError:
            raise T48Error(f"the scheduler at {address} is gone: {remedy}") from None
        except KilledWorker as error:
            raise T48Error(f"a task killed several workers ({error.task}), look at their logs: {remedy}") from None


@contextmanager
def _client(kind: type[Client], address: str, patience: float) -> Iterator[Client]:
    """A context with a client whose scheduler has a worker."""
    if "://" not in address:
        raise T48Error(f"--cluster must be an address such as tcp://host:8786, got {address!r}")
    try:
        client = kind(address, timeout=patience, set_as_default=False)
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split())[:120]
        raise T48Error(f"no Dask scheduler answers at {address} ({reason}), start one: dask scheduler") from None
    try:
        client.wait_for_workers(1, timeout=patience)
    except TimeoutError:
        client.close()
        raise T48Error(f"the scheduler at {address} has no workers, start some: dask worker {address}") from None
    try:
        yield client
    finally:
        client.close(timeout=5)

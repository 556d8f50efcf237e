"""Threads that share the work on one layer; what they compute depends on neither their number nor their order."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import TypeVar

from t48lab.errors import T48Error
from t48lab.machine import cores

T = TypeVar("T")
_WORTH_SHARING = 2000
"""Items below which handing out work takes longer than doing it."""

_PARTS = 2
"""Parts of the work for each thread, so that none waits long for the last."""


class Crew:
    """So many threads, by default one a processor; a context."""

    def __init__(self, workers: int | None = None) -> None:
        if workers is not None and workers < 1:
            raise T48Error(f"workers must be 1 or more, got {workers}")
        self.workers = workers or cores()
        self._pool = ThreadPoolExecutor(self.workers)

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def run(self, jobs: list[Callable[[], T]]) -> list[T]:
        """What the jobs return, in their order."""
        if self.workers == 1 or len(jobs) < 2:
            return [job() for job in jobs]
        return list(self._pool.map(lambda job: job(), jobs))

    def later(self, job: Callable[[], T]) -> Callable[[], T]:
        """A function that gives what the job returns, which a thread begins now if there are several."""
        return job if self.workers == 1 else self._pool.submit(job).result

    def share(self, job: Callable[[int, int], T], count: int) -> list[T]:
        """What `job(begin, end)` returns for each part of so many items, in order."""
        parts = _PARTS * self.workers if count >= _WORTH_SHARING and self.workers > 1 else 1
        cuts = [count * part // parts for part in range(parts + 1)]
        return self.run([partial(job, begin, end) for begin, end in pairwise(cuts)])

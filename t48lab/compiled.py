"""Compiled kernels: loaded with a notice when they have to compile first, and each thread's memory for them."""

from __future__ import annotations

import functools
import importlib
import sys
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from t48lab.errors import T48Error

COMPILING = "compiling kernels, once per machine for each kind of agent: 5 to 20 s of processor time\n"
COMPILING_AGAIN = "compiling kernels, about 30 s each time: set NUMBA_CACHE_DIR to a folder that can be written to\n"
_MEMORIES_KEPT = 3


@functools.cache
def load(kernel: str) -> Any:
    """The module of a compiled kernel; says on stderr when that has to compile first."""
    with _notice():
        return importlib.import_module(kernel if "." in kernel else f"t48lab.kernels.{kernel}")


_told = threading.Event()


@contextmanager
def _notice() -> Iterator[None]:
    from numba.core import event

    from t48lab.kernels.caching import homeless

    class Compiling(event.Listener):
        def on_start(self, event: Any) -> None:
            if not _told.is_set():
                _told.set()
                sys.stderr.write(COMPILING_AGAIN if homeless else COMPILING)
                sys.stderr.flush()

        def on_end(self, event: Any) -> None:
            pass

    with event.install_listener("numba:compile", Compiling()):
        yield


class _Memories(threading.local):
    def __init__(self) -> None:
        self.searches = 0
        self.kept: OrderedDict[tuple[str, int], NDArray[np.uint64]] = OrderedDict()


_memories = _Memories()


def memory(kernel: str, words: int) -> NDArray[np.uint64]:
    """This thread's array of so many words for searches of one kernel (uint64), kept and used again.

    What other searches left in it never matches: every search and every game has a generation of its own.
    """
    key = (kernel, words)
    kept = _memories.kept
    if key not in kept:
        kept[key] = _zeros(kernel, words)
        if len(kept) > _MEMORIES_KEPT:
            kept.popitem(last=False)
    kept.move_to_end(key)
    return kept[key]


def _zeros(kernel: str, words: int) -> NDArray[np.uint64]:
    try:
        return np.zeros(words, np.uint64)
    except MemoryError:
        size = f"{8 * words / 1e9:.1f} GB"
        raise T48Error(
            f"{kernel} needs {size} of memory a thread, more than there is: give it a smaller table or fewer nodes"
        ) from None


def fresh_generation() -> int:
    """An odd number below 2^63 that this thread's memories have not seen: the salt of one search."""
    _memories.searches += 1
    return (_memories.searches * 0x9E3779B97F4A7C15) & (2**63 - 1) | 1

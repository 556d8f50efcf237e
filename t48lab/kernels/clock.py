"""Clocks that compiled code reads without the interpreter (POSIX clock_gettime)."""

import time

import numpy as np
from numba import types
from numba.extending import overload

_clock_gettime = types.ExternalFunction("clock_gettime", types.int32(types.int32, types.voidptr))
_MONOTONIC = getattr(time, "CLOCK_MONOTONIC", 1)
_THREAD = getattr(time, "CLOCK_THREAD_CPUTIME_ID", 3)


def wall():
    """Seconds of a clock that never runs backwards, from an arbitrary start."""
    return time.monotonic()


def cpu():
    """Seconds of processor time that the calling thread has used."""
    return time.thread_time()


@overload(wall)
def _wall():
    return _reader(_MONOTONIC)


@overload(cpu)
def _cpu():
    return _reader(_THREAD)


def _reader(clock):
    def read():
        spec = np.zeros(2, np.int64)
        _clock_gettime(clock, spec.ctypes)
        return spec[0] + 1e-9 * spec[1]

    return read

"""A clock that compiled code reads without the interpreter (POSIX clock_gettime)."""

import time

import numpy as np
from numba import types
from numba.extending import overload

_clock_gettime = types.ExternalFunction("clock_gettime", types.int32(types.int32, types.voidptr))
_THREAD = getattr(time, "CLOCK_THREAD_CPUTIME_ID", 3)


def cpu():
    """Seconds of processor time that the calling thread has used."""
    return time.thread_time()


@overload(cpu)
def _cpu():
    def read():
        spec = np.zeros(2, np.int64)
        _clock_gettime(_THREAD, spec.ctypes)
        return spec[0] + 1e-9 * spec[1]

    return read

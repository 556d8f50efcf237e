"""Large arrays of numbers in huge pages where the system has them: look-ups all over a table then miss less."""

from __future__ import annotations

import contextlib
import mmap

import numpy as np
from numpy.typing import NDArray


def zeros(count: int) -> NDArray[np.float32]:
    """So many zeros, float32, of which memory is taken when they are first written."""
    if not hasattr(mmap, "MADV_HUGEPAGE"):
        return np.zeros(count, np.float32)
    pages = mmap.mmap(-1, 4 * count, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with contextlib.suppress(OSError):
        pages.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(pages, np.float32)

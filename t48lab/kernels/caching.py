"""Compiled kernels on disk that are fresh and whole, or else made again.

Numba looks at the file of the function that it loads, not at the other files that were compiled into it; it trusts
the bytes it finds; and it fails where it finds no folder to write to or no room on the disk. Here a compiled kernel
belongs to all kernels' sources, carries a checksum, and is compiled again, in memory if need be, where the disk fails.
"""

import hashlib
import os
from pathlib import Path

from numba.core import caching, config, dispatcher

from t48lab.kernels import sources

DIGEST = 32

homeless = set()
"""Names of kernels that no folder could be found for."""


class KernelFile(caching.IndexDataCacheFile):
    """The index and data files of one kernel, the SHA-256 of the data behind them."""

    def save(self, key, data):
        """Writes the kernel to disk if there is room for it."""
        try:
            super().save(key, data)
        except OSError:
            return

    def _load_index(self):
        try:
            return super()._load_index()
        except Exception:  # whatever damaged bytes make of a pickle
            return {}

    def _load_data(self, name):
        data = Path(self._data_path(name)).read_bytes()
        if hashlib.sha256(data[:-DIGEST]).digest() != data[-DIGEST:]:
            raise OSError(f"{name} is damaged")
        return super()._load_data(name)

    def _dump(self, obj):
        data = super()._dump(obj)
        return data + hashlib.sha256(data).digest()


class UserWideLocator(caching.UserWideCacheLocator):
    """The place of kernels in a home that is known; numba would make a folder `~` in every working directory."""

    def ensure_cache_path(self):
        """Makes the folder; raises OSError where there is no home to make it in."""
        if not os.path.isabs(self._cache_path):
            raise OSError(f"{self._cache_path} is in no home")
        super().ensure_cache_path()


class KernelPlace(caching.CompileResultCacheImpl):
    """Where one kernel is kept."""

    _locator_classes = tuple(
        UserWideLocator if kind is caching.UserWideCacheLocator else kind
        for kind in caching.CompileResultCacheImpl._locator_classes
    )


class KernelCache(caching.FunctionCache):
    """The cache of one kernel."""

    _impl_class = KernelPlace

    def __init__(self, py_func):
        super().__init__(py_func)
        stamp = self._impl.locator.get_source_stamp(), sources(), bool(config.BOUNDSCHECK)
        self._cache_file = KernelFile(self._cache_path, self._impl.filename_base, stamp)


def cache_of(py_func):
    """The cache of a function: a kernel's own kind, and none where no folder can be written to."""
    if not (py_func.__module__ or "").startswith("t48lab."):
        return caching.FunctionCache(py_func)
    try:
        return KernelCache(py_func)
    except RuntimeError:
        homeless.add(py_func.__qualname__)
        return caching.NullCache()


dispatcher.FunctionCache = cache_of

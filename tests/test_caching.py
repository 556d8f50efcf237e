"""What kernels/caching.py relies on in numba, which promises none of it; a new version of numba has to pass this."""

import inspect

import pytest
from numba import config
from numba.core import caching, dispatcher

from t48lab.kernels import greedy
from t48lab.kernels.caching import KernelCache, KernelFile, cache_of

CALLED = {
    caching.IndexDataCacheFile: {
        "__init__": ["self", "cache_path", "filename_base", "source_stamp"],
        "save": ["self", "key", "data"],
        "_load_index": ["self"],
        "_load_data": ["self", "name"],
        "_data_path": ["self", "name"],
        "_dump": ["self", "obj"],
    },
    caching.FunctionCache: {"__init__": ["self", "py_func"]},
}


@pytest.mark.parametrize(("owner", "name"), [(owner, name) for owner, names in CALLED.items() for name in names])
def test_the_methods_that_are_replaced_or_called_are_as_they_were(owner, name):
    assert list(inspect.signature(getattr(owner, name)).parameters) == CALLED[owner][name]


def test_the_dispatcher_takes_its_cache_from_the_name_that_is_replaced():
    assert dispatcher.FunctionCache is cache_of
    assert "FunctionCache(" in inspect.getsource(dispatcher.Dispatcher.enable_caching)


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is cached without the JIT")
def test_kernels_are_kept_in_files_with_a_checksum():
    cache = greedy.search._cache
    assert isinstance(cache, KernelCache)
    assert isinstance(cache._cache_file, KernelFile)
    assert cache._impl.locator.get_source_stamp()
    assert cache._impl.filename_base

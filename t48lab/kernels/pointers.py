"""Raw pointers to arrays, for recursive kernels that must not count references on every call."""

from numba import types
from numba.extending import overload

P_I32 = types.CPointer(types.int32)
P_I64 = types.CPointer(types.int64)
P_U16 = types.CPointer(types.uint16)
P_U64 = types.CPointer(types.uint64)
P_F64 = types.CPointer(types.float64)


def pointer(array):
    """The array's address in compiled code, the array itself in plain Python; the caller keeps it alive."""
    return array


@overload(pointer, inline="always")
def _address(array):
    if isinstance(array, types.CPointer):
        return lambda array: array
    return lambda array: array.ctypes

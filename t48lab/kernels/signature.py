"""The one signature that every search shares, and the options every kernel is compiled with.

A search is `search(board, settings, reals, moves, rules, lines, extra, memory, stream, out)`.
One signature lets the game loop take any search as a typed function pointer: such a pointer
hits numba's disk cache in a new process, which a plain function argument does not.
"""

from numba import types

import t48lab.kernels.caching  # noqa: F401  kernels are kept its way from here on

KERNEL = {"cache": True, "nogil": True, "error_model": "numpy"}

U64 = types.uint64
I64 = types.int64
F64 = types.float64
SETTINGS = types.int64[::1]
REALS = types.float64[::1]
MOVES = types.uint16[::1]
RULES = types.uint64[::1]
LINES = types.int32[::1]
EXTRA = types.int64[::1]
WORDS = types.uint64[::1]

SEARCH = I64(U64, SETTINGS, REALS, MOVES, RULES, LINES, EXTRA, WORDS, WORDS, REALS)

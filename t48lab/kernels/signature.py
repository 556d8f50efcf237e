"""The one signature that every search shares, and the options every kernel is compiled with.

A search is `search(board, agent, stream, out)`, where `agent` is `layout.AgentArrays`. One signature lets the game
loop take any search as a typed function pointer: such a pointer hits numba's disk cache in a new process, which a
plain function argument does not.
"""

from numba import types

import t48lab.kernels.caching  # noqa: F401  kernels are kept its way from here on
from t48lab.kernels.layout import AgentArrays

KERNEL = {"cache": True, "nogil": True, "error_model": "numpy"}

U64 = types.uint64
I64 = types.int64
F64 = types.float64
U64S = types.uint64[::1]
I64S = types.int64[::1]
F64S = types.float64[::1]
I32S = types.int32[::1]
U16S = types.uint16[::1]
U8S = types.uint8[::1]
BOOK = types.Array(U64, 1, "C", readonly=True)

AGENT = types.NamedTuple((I64S, F64S, U16S, U64S, I32S, I64S, U64S, BOOK), AgentArrays)
SEARCH = I64(U64, AGENT, U64S, F64S)

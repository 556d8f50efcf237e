"""Splitmix64 streams: every game owns one for its spawns and one for its search.

The state of a stream is the only element of a uint64 array that the game owns. A stream's start is a
hash of (base seed, game, purpose), so two streams never replay each other shifted.
Source: Steele, Lea, Flood (2014), "Fast splittable pseudorandom number generators", OOPSLA.
"""

import numpy as np
from numba import njit
from numba.extending import overload

from t48lab.kernels.pointers import P_U64
from t48lab.kernels.signature import I64, KERNEL, U64, U64S

U = np.uint64
WORD = 0xFFFFFFFFFFFFFFFF
GOLDEN = U(0x9E3779B97F4A7C15)


def times(a, b):
    """The product of two uint64 modulo 2^64, without numpy's overflow warning in plain Python."""
    return U(int(a) * int(b) & WORD)


def plus(a, b):
    """The sum of two uint64 modulo 2^64, without numpy's overflow warning in plain Python."""
    return U(int(a) + int(b) & WORD)


@overload(times, inline="always")
def _times(a, b):
    return lambda a, b: a * b


@overload(plus, inline="always")
def _plus(a, b):
    return lambda a, b: a + b


@njit(U64(U64), **KERNEL)
def mix64(z):
    """A bijective hash of 64 bits (the finaliser of splitmix64)."""
    z = times(z ^ (z >> U(30)), U(0xBF58476D1CE4E5B9))
    z = times(z ^ (z >> U(27)), U(0x94D049BB133111EB))
    return z ^ (z >> U(31))


@njit([U64(U64S), U64(P_U64)], **KERNEL)
def next_u64(stream):
    """The next 64 random bits; stream[0] moves on."""
    stream[0] = plus(stream[0], GOLDEN)
    return mix64(stream[0])


@njit(U64(U64, U64), **KERNEL)
def scaled(draw, n):
    """A uniform integer in 0..n-1 from the upper 32 bits of a draw; 1 <= n < 2^32."""
    return ((draw >> U(32)) * n) >> U(32)


@njit([I64(U64S, I64), I64(P_U64, I64)], **KERNEL)
def below(stream, n):
    """A uniform integer in 0..n-1, 1 <= n < 2^32; one draw (bias under n / 2^32)."""
    return np.int64(scaled(next_u64(stream), U(n)))


@njit(U64(U64, U64, U64), **KERNEL)
def seed_stream(seed, game, purpose):
    """The start of the stream of one game: a hash of (base seed, game, purpose)."""
    state = mix64(plus(U(seed), GOLDEN))
    state = mix64(plus(state ^ U(game), GOLDEN))
    return mix64(plus(state ^ U(purpose), GOLDEN))

"""Eight numbers side by side in one register: a board in all its symmetries, and look-ups for all of them at once.

In compiled code the eight are a vector of the processor, in plain Python a numpy array of eight. `words` are
uint64[8], `singles` float32[8]. Sums run in one fixed order, so they are the same to the last bit everywhere.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, overload, register_model

from t48lab.kernels.bitboard import flip, upside_down
from t48lab.kernels.netlayout import LANES

U = np.uint64
P_F32 = types.CPointer(types.float32)

_I8, _I32, _I64, _F32 = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.FloatType()
_NIBBLES = 0x0F0F0F0F0F0F0F0F


class Lanes(types.Type):
    """The type of eight numbers side by side in compiled code."""

    def __init__(self, dtype):
        self.dtype = dtype
        super().__init__(f"Lanes({dtype})")


@register_model(Lanes)
class LanesModel(models.PrimitiveModel):
    """Eight numbers side by side are a vector to the compiler."""

    def __init__(self, manager, lanes):
        super().__init__(manager, lanes, ir.VectorType(manager.lookup(lanes.dtype).get_value_type(), LANES))


WORDS8, SINGLES8 = Lanes(types.uint64), Lanes(types.float32)


def _filled(element, value):
    return ir.Constant(ir.VectorType(element, LANES), [value] * LANES)


def _splat(builder, value):
    one = builder.insert_element(
        ir.Constant(ir.VectorType(value.type, LANES), ir.Undefined), value, ir.Constant(_I32, 0)
    )
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(_I32, LANES), [0] * LANES))


def _byte_sources():
    """For each byte of eight words, lowest first, the byte that a mirrored (bit 0) or turned over (bit 1) board has."""
    for lane in range(LANES):
        for byte in range(8):
            word, half = byte // 2, byte % 2
            yield 8 * lane + 2 * (3 - word if lane & 2 else word) + (1 - half if lane & 1 else half)


@intrinsic
def _symmetric(context, board, turned, shifts):
    def generate(context, builder, signature, arguments):
        board, turned, shifts = arguments
        words = ir.VectorType(_I64, LANES)
        pair = builder.insert_element(ir.Constant(words, ir.Undefined), board, ir.Constant(_I32, 0))
        pair = builder.insert_element(pair, turned, ir.Constant(_I32, 1))
        v = builder.shuffle_vector(pair, pair, ir.Constant(ir.VectorType(_I32, LANES), [0] * 4 + [1] * 4))
        v = builder.bitcast(v, ir.VectorType(_I8, 64))
        v = builder.shuffle_vector(v, v, ir.Constant(ir.VectorType(_I32, 64), list(_byte_sources())))
        v = builder.bitcast(v, words)
        low, four = _filled(_I64, _NIBBLES), _filled(_I64, 4)
        swapped = builder.or_(builder.shl(builder.and_(v, low), four), builder.and_(builder.lshr(v, four), low))
        odd = ir.Constant(ir.VectorType(ir.IntType(1), LANES), [lane & 1 for lane in range(LANES)])
        v = builder.select(odd, swapped, v)
        return builder.shl(v, builder.load(builder.bitcast(shifts, words.as_pointer()), align=8))

    return WORDS8(types.uint64, types.uint64, types.CPointer(types.uint64)), generate


def symmetric(board, turned, shifts):
    """The words of a board (0 to 3) and of its transpose (4 to 7) as they are, mirrored, turned over, and both.

    `shifts` (uint64[8]) move each back to the top-left, for boards smaller than 4x4.
    """
    four = [[b, flip(b), upside_down(b), flip(upside_down(b))] for b in (U(board), U(turned))]
    return np.array(four, np.uint64).reshape(LANES) << shifts[:LANES]


@overload(symmetric)
def _symmetric_compiled(board, turned, shifts):
    return lambda board, turned, shifts: _symmetric(board, turned, shifts)


@intrinsic
def _fill(context, value):
    def generate(context, builder, signature, arguments):
        return _splat(builder, arguments[0])

    return WORDS8(types.uint64), generate


def fill(value):
    """The words that are all equal to a uint64."""
    return np.full(LANES, value, np.uint64)


@overload(fill)
def _fill_compiled(value):
    return lambda value: _fill(value)


@intrinsic
def _run(context, words, shift, mask):
    def generate(context, builder, signature, arguments):
        words, shift, mask = arguments
        return builder.and_(builder.lshr(words, _splat(builder, shift)), _splat(builder, mask))

    return WORDS8(WORDS8, types.uint64, types.uint64), generate


def run(words, shift, mask):
    """The words moved down by a number of bits, then masked."""
    return (words >> shift) & mask


@overload(run)
def _run_compiled(words, shift, mask):
    return lambda words, shift, mask: _run(words, shift, mask)


@intrinsic
def _plus(context, a, b):
    def generate(context, builder, signature, arguments):
        return (builder.add if a is WORDS8 or a == WORDS8 else builder.fadd)(*arguments)

    return a(a, b), generate


def plus8(a, b):
    """The sums of two times eight numbers of one kind."""
    return a + b


@overload(plus8)
def _plus_compiled(a, b):
    return lambda a, b: _plus(a, b)


@intrinsic
def _nothing(context):
    def generate(context, builder, signature, arguments):
        return _filled(_F32, 0.0)

    return SINGLES8(), generate


def nothing():
    """The singles that are all 0."""
    return np.zeros(LANES, np.float32)


@overload(nothing)
def _nothing_compiled():
    return lambda: _nothing()


@intrinsic
def _keep(context, place, k, words):
    def generate(context, builder, signature, arguments):
        place, k, words = arguments
        start = builder.gep(place, [k])
        builder.store(words, builder.bitcast(start, words.type.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(types.CPointer(types.uint64), types.int64, WORDS8), generate


def keep(place, k, words):
    """Writes eight words into an array from its k-th number on."""
    place[k : k + LANES] = words


@overload(keep)
def _keep_compiled(place, k, words):
    return lambda place, k, words: _keep(place, k, words)


@intrinsic
def _gather(context, weights, places, k):
    def generate(context, builder, signature, arguments):
        weights, places, k = arguments
        v = ir.Constant(ir.VectorType(_F32, LANES), ir.Undefined)
        start = builder.gep(places, [k])
        for lane in range(LANES):
            n = ir.Constant(_I32, lane)
            where = builder.load(builder.gep(start, [n]))
            v = builder.insert_element(v, builder.load(builder.gep(weights, [where])), n)
        return v

    return SINGLES8(P_F32, types.CPointer(types.uint64), types.int64), generate


def gather(weights, places, k):
    """The entries of a float32 array at the eight places that `places` holds from its k-th number on."""
    return weights[places[k : k + LANES]]


@overload(gather)
def _gather_compiled(weights, places, k):
    return lambda weights, places, k: _gather(weights, places, k)


@intrinsic
def _total(context, singles, used):
    def generate(context, builder, signature, arguments):
        v, used = arguments
        order = ir.Constant(ir.VectorType(_I64, LANES), list(range(LANES)))
        v = builder.select(builder.icmp_unsigned("<", order, _splat(builder, used)), v, _filled(_F32, 0.0))
        for half in (4, 2, 1):
            indices = [i + half if i < half else i for i in range(LANES)]
            v = builder.fadd(v, builder.shuffle_vector(v, v, ir.Constant(ir.VectorType(_I32, LANES), indices)))
        return builder.extract_element(v, ir.Constant(_I32, 0))

    return types.float32(SINGLES8, types.uint64), generate


def total(singles, used):
    """The sum of the first `used` singles, float32: the halves are added to each other until one number is left."""
    kept = np.where(np.arange(LANES) < used, singles, np.float32(0))
    for half in (4, 2, 1):
        kept = kept[:half] + kept[half : 2 * half]
    return kept[0]


@overload(total)
def _total_compiled(singles, used):
    return lambda singles, used: _total(singles, used)


@intrinsic
def _prefetch(context, place, k):
    def generate(context, builder, signature, arguments):
        start = builder.bitcast(builder.gep(arguments[0], [arguments[1]]), _I8.as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [start.type, _I32, _I32, _I32])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [start, *(ir.Constant(_I32, n) for n in (0, 3, 1))])
        return context.get_dummy_value()

    return types.void(P_F32, types.uint64), generate


def prefetch(place, k):
    """Asks for the k-th number of a float32 array, which will be needed soon."""


@overload(prefetch)
def _prefetch_compiled(place, k):
    return lambda place, k: _prefetch(place, k)

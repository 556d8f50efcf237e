"""Look-ups of a net in a search: eight 16-bit entries at once, summed as whole numbers.

Entries are int16, two of them in each int32 of an evaluator's `lines`, and their sums do not depend on an order. In
compiled code the eight sums are a vector of the processor, in plain Python a numpy array, int32[8].
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from t48lab.kernels.bitboard import potential
from t48lab.kernels.lanes import WORDS8
from t48lab.kernels.netlayout import LANES
from t48lab.kernels.pointers import P_I32, P_I64, P_U64

_I16, _I32, _I64 = ir.IntType(16), ir.IntType(32), ir.IntType(64)


@intrinsic
def _words_at(context, extra, k):
    def generate(context, builder, signature, arguments):
        place = builder.gep(arguments[0], [arguments[1]])
        return builder.bitcast(place, context.get_value_type(P_U64))

    return P_U64(P_I64, types.int64), generate


def words_at(extra, k):
    """The int64 from a place on as uint64."""
    return extra[k:].view(np.uint64)


@overload(words_at)
def _words_at_compiled(extra, k):
    return lambda extra, k: _words_at(extra, k)


def _adder(first):
    """An intrinsic that sums the entries at four of eight places, from lane `first` on."""

    @intrinsic
    def four(context, lines, places):
        def generate(context, builder, signature, arguments):
            base, places = builder.bitcast(arguments[0], _I16.as_pointer()), arguments[1]
            found = []
            for lane in range(first, first + LANES // 2):
                place = builder.extract_element(places, ir.Constant(_I32, lane))
                entry = builder.load(builder.gep(base, [place], source_etype=_I16), typ=_I16)
                found.append(builder.sext(entry, _I64))
            return builder.add(builder.add(found[0], found[1]), builder.add(found[2], found[3]))

        return types.int64(P_I32, WORDS8), generate

    return four


_upright, _turned = _adder(0), _adder(LANES // 2)


def entries_at(lines, places, square):
    """The sum of the entries at eight places (uint64), of the first four when not `square`, int64."""
    return np.int64(lines.view(np.int16)[places[: 8 if square else 4]].sum(dtype=np.int64))


@overload(entries_at)
def _entries_at_compiled(lines, places, square):
    def both(lines, places, square):
        total = _upright(lines, places)
        if square:
            total += _turned(lines, places)
        return total

    return both


@intrinsic
def _keep_half(context, place, k, words):
    def generate(context, builder, signature, arguments):
        place, k, words = arguments
        halves = builder.trunc(words, ir.VectorType(_I32, LANES))
        builder.store(halves, builder.bitcast(builder.gep(place, [k]), halves.type.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(P_U64, types.int64, WORDS8), generate


def keep_half(place, k, words):
    """Writes eight words below 2^32 into four words of an array from its k-th on."""
    place[k : k + LANES // 2].view(np.uint32)[:] = words


@overload(keep_half)
def _keep_half_compiled(place, k, words):
    return lambda place, k, words: _keep_half(place, k, words)


def _halves(builder, lines, place, k):
    """Pointers to the int16 at the eight places that four words hold."""
    base = builder.bitcast(lines, _I16.as_pointer())
    start = builder.bitcast(builder.gep(place, [k]), _I32.as_pointer())
    for lane in range(LANES):
        found = builder.load(builder.gep(start, [ir.Constant(_I32, lane)], source_etype=_I32), typ=_I32)
        yield builder.gep(base, [builder.zext(found, _I64)], source_etype=_I16)


@intrinsic
def _entries_kept(context, lines, place, k):
    def generate(context, builder, signature, arguments):
        found = [builder.sext(builder.load(entry, typ=_I16), _I64) for entry in _halves(builder, *arguments)]
        while len(found) > 1:
            found = [builder.add(a, b) for a, b in zip(found[::2], found[1::2], strict=True)]
        return found[0]

    return types.int64(P_I32, P_U64, types.int64), generate


def entries_kept(lines, place, k):
    """The sum of the entries at eight places that `keep_half` wrote, int64."""
    return np.int64(lines.view(np.int16)[place[k : k + LANES // 2].view(np.uint32)].sum(dtype=np.int64))


@overload(entries_kept)
def _entries_kept_compiled(lines, place, k):
    return lambda lines, place, k: _entries_kept(lines, place, k)


@intrinsic
def _touch(context, lines, place, k):
    def generate(context, builder, signature, arguments):
        for entry in _halves(builder, *arguments):
            start = builder.bitcast(entry, ir.IntType(8).as_pointer())
            kind = ir.FunctionType(ir.VoidType(), [start.type, _I32, _I32, _I32])
            function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
            builder.call(function, [start, *(ir.Constant(_I32, n) for n in (0, 3, 1))])
        return context.get_dummy_value()

    return types.void(P_I32, P_U64, types.int64), generate


def touch(lines, place, k):
    """Asks for the entries at eight places that `keep_half` wrote, which will be needed soon."""


@overload(touch)
def _touch_compiled(lines, place, k):
    return lambda lines, place, k: _touch(lines, place, k)


@intrinsic
def _thirty_two_times(context, words):
    def generate(context, builder, signature, arguments):
        return builder.shl(arguments[0], ir.Constant(arguments[0].type, [5] * LANES))

    return WORDS8(WORDS8), generate


def thirty_two_times(words):
    """Eight words times 32."""
    return words << np.uint64(5)


@overload(thirty_two_times)
def _thirty_two_times_compiled(words):
    return lambda words: _thirty_two_times(words)


@intrinsic
def _potential(context, board):
    def generate(context, builder, signature, arguments):
        words = ir.VectorType(_I64, LANES)
        one = builder.insert_element(ir.Constant(words, ir.Undefined), arguments[0], ir.Constant(_I32, 0))
        boards = builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(_I32, LANES), [0] * LANES))
        total = ir.Constant(words, [0] * LANES)
        unit, rank_bits = ir.Constant(words, [1] * LANES), ir.Constant(words, [15] * LANES)
        for half in (0, 32):
            shifts = ir.Constant(words, [half + 4 * lane for lane in range(LANES)])
            ranks = builder.and_(builder.lshr(boards, shifts), rank_bits)
            earned = builder.shl(builder.sub(ranks, unit), ranks)
            empty = builder.zext(builder.icmp_unsigned("==", ranks, ir.Constant(words, [0] * LANES)), words)
            total = builder.add(total, builder.add(earned, empty))
        name = f"llvm.vector.reduce.add.v{LANES}i64"
        function = builder.module.globals.get(name) or ir.Function(builder.module, ir.FunctionType(_I64, [words]), name)
        return builder.call(function, [total])

    return types.int64(types.uint64), generate


def points_of(board):
    """`potential` of a board, all cells at once."""
    return potential(board)


@overload(points_of)
def _points_of_compiled(board):
    return lambda board: _potential(board)

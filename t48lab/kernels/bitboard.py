"""The packed board: 16 ranks of 4 bits, and everything the rules do with it.

Written with 16 hexadecimal digits a board reads row by row: cell (r, c) sits at bits 60 - 4*(4r + c).
Row r is the line `(b >> (48 - 16r)) & 0xFFFF`, its leftmost cell the highest nibble; column c is row c of
the transpose. A smaller board lives in the top-left of the grid and leaves the other nibbles at 0.
A set of cells is a uint64 with the lowest bit of each member's nibble set.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, overload

from t48lab.kernels.layout import RULES, TABLE
from t48lab.kernels.pointers import P_U16, P_U64
from t48lab.kernels.rng import next_u64, scaled, times
from t48lab.kernels.signature import F64, I64, KERNEL, U16S, U64, U64S

U = np.uint64
CELLS = U(0x1111111111111111)
LINE, COLUMN, WORD = U(0xFFFF), U(0x000F000F000F000F), U(0xFFFFFFFFFFFFFFFF)
TOP_PAIR, TOP_ALONE = U(0xFF00), U(0xF000)
LEFT, RIGHT, DOWN = U(0), U(TABLE), U(2 * TABLE)  # where the tables of moves start; up shares the first
TOP_RANK, JOINING = 15, 3 * TABLE
JOINED = 1 << 19  # so much more than what they earn are two tiles of rank 15 above one in `potential`
FOURS = [(a, b, c, 6 - a - b - c) for a in range(4) for b in range(4) for c in range(4)]
ORDERS = np.array([a | b << 2 | c << 4 | d << 6 for a, b, c, d in FOURS if {a, b, c, d} == {0, 1, 2, 3}], np.uint64)


def build_moves(rows=4, cols=4):
    """Three tables of 65536 packed lines, to the left or up, to the right, down; then three more, uint16[393216].

    `2 2 4 . -> 4 4 . .` to the left. Two tiles of rank 15 stay apart by the first three, as rank 16 has no nibble; by
    those from JOINING on they become one of rank 15.
    """
    lines = np.arange(TABLE, dtype=np.uint16)
    tables = []
    for joining in (False, True):
        right, down = (_reverse(_pack(_reverse(lines, size), joining), size) for size in (cols, rows))
        tables += [_pack(lines, joining), right, down]
    return np.concatenate(tables)


def _reverse(lines, size):
    """The lines with their first `size` cells in reverse order; the other cells are dropped."""
    cells = [(lines >> np.uint16(12 - 4 * i)) & np.uint16(15) for i in range(size)]
    return sum(cell << np.uint16(12 - 4 * (size - 1 - i)) for i, cell in enumerate(cells)).astype(np.uint16)


def _pack(lines, joining):
    """The lines after a slide toward their highest nibble; two tiles of rank 15 stay apart, or join in one."""
    count = len(lines)
    packed, filled = np.zeros((4, count), np.uint16), np.zeros(count, np.int64)
    joinable, everyone = np.zeros(count, bool), np.arange(count)
    for shift in (12, 8, 4, 0):
        cell = (lines >> np.uint16(shift)) & np.uint16(15)
        last = packed[filled - 1, everyone]
        merges = joinable & (cell == last) & (cell > 0) & (joining | (cell < TOP_RANK))
        packed[filled[merges] - 1, everyone[merges]] += last[merges] < TOP_RANK
        lands = (cell > 0) & ~merges
        packed[filled[lands], everyone[lands]] = cell[lands]
        filled[lands] += 1
        joinable = np.where(cell > 0, lands, joinable)
    return packed[0] << np.uint16(12) | packed[1] << np.uint16(8) | packed[2] << np.uint16(4) | packed[3]


@intrinsic
def _ctpop(context, x):
    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


def popcount(x):
    """How many bits of x are set."""
    return int(x).bit_count()


@overload(popcount, inline="always")
def _popcount(x):
    return lambda x: _ctpop(x)


@intrinsic
def _cttz(context, x):
    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), generate


def trailing_zeros(x):
    """How many zero bits lie below the lowest set bit of x, a uint64 other than 0, as uint64."""
    return U((int(x) & -int(x)).bit_length() - 1)


@overload(trailing_zeros, inline="always")
def _trailing_zeros(x):
    return lambda x: _cttz(x)


@njit(U64(U64), **KERNEL)
def transpose(b):
    """The board mirrored along the diagonal from the top-left: rows become columns."""
    t = (b ^ (b >> U(12))) & U(0x0000F0F00000F0F0)
    b = b ^ t ^ (t << U(12))
    t = (b ^ (b >> U(24))) & U(0x00000000FF00FF00)
    return b ^ t ^ (t << U(24))


@njit(U64(U64), **KERNEL)
def flip(b):
    """The board with left and right exchanged."""
    b = ((b & U(0x00FF00FF00FF00FF)) << U(8)) | ((b >> U(8)) & U(0x00FF00FF00FF00FF))
    return ((b & U(0x0F0F0F0F0F0F0F0F)) << U(4)) | ((b >> U(4)) & U(0x0F0F0F0F0F0F0F0F))


@njit(U64(U64), **KERNEL)
def upside_down(b):
    """The board with its first and fourth, second and third rows exchanged."""
    b = (b >> U(32)) | (b << U(32))
    return ((b & U(0x0000FFFF0000FFFF)) << U(16)) | ((b >> U(16)) & U(0x0000FFFF0000FFFF))


@njit(U64(I64), **KERNEL)
def table_of(direction):
    """Where the move table of a direction starts: left and up share the first."""
    return U(TABLE * (direction % 3))


@njit([U64(U64, U64, U16S), U64(U64, U64, P_U16)], **KERNEL)
def slide_rows(b, table, moves):
    """The board with each of its four rows replaced through the move table at offset `table`."""
    high = (U(moves[table + (b >> U(48))]) << U(48)) | (U(moves[table + ((b >> U(32)) & LINE)]) << U(32))
    return high | (U(moves[table + ((b >> U(16)) & LINE)]) << U(16)) | U(moves[table + (b & LINE)])


@njit([U64(U64, I64, U16S), U64(U64, I64, P_U16)], **KERNEL)
def slide(b, direction, moves):
    """The afterstate of a move in a direction; the same board when the move is illegal."""
    if direction == 1:
        return slide_rows(b, RIGHT, moves)
    if direction == 3:
        return slide_rows(b, LEFT, moves)
    return transpose(slide_rows(transpose(b), U(TABLE * direction), moves))


@njit([I64(U64, U16S), I64(U64, P_U16)], **KERNEL)
def legal(b, moves):
    """The legal moves: bit d is set when direction d changes the board."""
    t = transpose(b)
    up, down = slide_rows(t, LEFT, moves) != t, slide_rows(t, DOWN, moves) != t
    right, left = slide_rows(b, RIGHT, moves) != b, slide_rows(b, LEFT, moves) != b
    return np.int64(up) | np.int64(right) << 1 | np.int64(down) << 2 | np.int64(left) << 3


@njit(types.boolean(U64, P_U16), **KERNEL)
def stuck(b, moves):
    """Whether no move is legal."""
    for direction in range(4):
        if slide(b, direction, moves) != b:
            return False
    return True


@njit(U64(U64), **KERNEL)
def spread(line):
    """The four cells of a line as the first cells of four lines: `a b c d` becomes a column."""
    x = (line | (line << U(24))) & U(0x000000FF000000FF)
    return (x | (x << U(12))) & COLUMN


@njit(U64(U64, U64), **KERNEL)
def empties(b, mask):
    """The set of empty cells among those of `mask`."""
    b = b | (b >> U(2))
    return ~(b | (b >> U(1))) & mask


@njit(I64(U64, U64), **KERNEL)
def count_empty(b, mask):
    """The number of empty cells among those of `mask`, 0 to 16."""
    return popcount(empties(b, mask))


@njit(I64(U64), **KERNEL)
def max_rank(b):
    """The rank of the largest tile, 0 on the empty board."""
    best = U(0)
    while b:
        best = max(best, b & U(15))
        b = b >> U(4)
    return np.int64(best)


@njit(I64(U64), **KERNEL)
def potential(b):
    """The sum of (rank - 1) * 2^rank over all tiles: points that building them from 2s earns.

    The reward of a move is the difference that it makes, unless two tiles of rank 15 merge.
    """
    total = np.int64(0)
    while b:
        rank = np.int64(b & U(15))
        if rank > 1:
            total += (rank - 1) << rank
        b = b >> U(4)
    return total


@njit(I64(U64), **KERNEL)
def count_top(b):
    """The number of tiles of rank 15, 0 to 16."""
    top = b & (b >> U(1))
    return popcount(top & (top >> U(2)) & CELLS)


@njit([I64(U64, U16S), I64(U64, P_U16)], **KERNEL)
def built(b, moves):
    """`potential`, less JOINED on a board whose two tiles of rank 15 the tables of moves join.

    So the reward of a move is the difference that it makes also there.
    """
    joins = moves[TOP_PAIR] == TOP_ALONE and count_top(b) > 1
    return potential(b) - JOINED if joins else potential(b)


@njit(U64(U64, U64), **KERNEL)
def nth_empty(cells, k):
    """The k-th member of a set of cells, from 0, counted from the bottom-right; k < size of the set.

    Nibble i of `counts` is the number of members up to cell i; the answer follows as many cells as have
    a count of at most k. The last nibble is left out: there 16 members count as 0.
    """
    counts = times(cells, CELLS)
    limit = (k * U(0x0101010101010101)) | U(0x8080808080808080)
    even = (limit - (counts & U(0x0F0F0F0F0F0F0F0F))) & U(0x8080808080808080)
    odd = (limit - ((counts >> U(4)) & U(0x0F0F0F0F0F0F0F0F))) & U(0x0080808080808080)
    return U(1) << (U(4) * U(popcount(even | (odd >> U(1)))))


@njit([U64(U64, U64, U64, U64S), U64(U64, U64, U64, P_U64)], **KERNEL)
def spawn(b, mask, four, stream):
    """The board with a new tile in one of the empty cells of `mask`; one draw.

    The upper half of the draw picks the cell, the lower half a 4 when it is below `four` (0 to 2^32).
    At least one cell must be empty.
    """
    draw = next_u64(stream)
    cells = empties(b, mask)
    one = nth_empty(cells, scaled(draw, U(popcount(cells))))
    return b | (one << U((draw & U(0xFFFFFFFF)) < four))


@njit([types.Tuple((U64, I64))(U64, U64, U16S, I64), types.Tuple((U64, I64))(U64, U64, P_U16, I64)], **KERNEL)
def random_move(b, draw, moves, merge_first):
    """(afterstate, direction) of a legal move drawn uniformly; (b, -1) when there is none.

    The four directions are tried in a random order, so the first legal one is uniform among the legal.
    With `merge_first` the moves that merge come before the others. No branch asks whether a direction is upright: of
    random ones a processor guesses half wrong.
    """
    order, mirrored = ORDERS[scaled(draw, U(24))], b ^ transpose(b)
    chosen, direction = b, np.int64(-1)
    for k in range(4):
        d = np.int64((order >> U(2 * k)) & U(3))
        upright = U(1 - (d & 1)) * WORD
        turned = b ^ (mirrored & upright)
        packed = slide_rows(turned, table_of(d), moves)
        if packed != turned:
            after = packed ^ ((packed ^ transpose(packed)) & upright)
            if not merge_first or count_empty(after, CELLS) > count_empty(b, CELLS):
                return after, d
            if direction < 0:
                chosen, direction = after, d
    return chosen, direction


@njit(
    [
        types.Tuple((U64, I64, I64))(U64, U16S, U64S, U64S, U64S, I64, I64),
        types.Tuple((U64, I64, I64))(U64, P_U16, P_U64, P_U64, P_U64, I64, I64),
    ],
    **KERNEL,
)
def random_play(b, moves, rules, choices, spawns, limit, merge_first):
    """(board, moves made, 4s spawned) after random legal play from b, at most `limit` moves (-1: to the end).

    A step takes one draw from `choices`, then one from `spawns`; they may be the same stream.
    """
    mask, four = rules[RULES.MASK], rules[RULES.FOUR]
    count, fours = np.int64(0), np.int64(0)
    while count != limit:
        after, direction = random_move(b, next_u64(choices), moves, merge_first)
        if direction < 0:
            break
        b = spawn(after, mask, four, spawns)
        fours += np.int64(((b ^ after) & CELLS) == U(0))
        count += 1
    return b, count, fours


@njit(
    [
        types.Tuple((U64, I64, I64))(U64, U16S, U64S, U64S, I64, I64),
        types.Tuple((U64, I64, I64))(U64, P_U16, P_U64, P_U64, I64, I64),
    ],
    **KERNEL,
)
def playout(b, moves, rules, stream, limit, merge_first):
    """(board, moves made, 4s spawned) after random legal play from b on one stream.

    The points made on the way are potential(board) - potential(b) - 4 * (4s spawned).
    """
    return random_play(b, moves, rules, stream, stream, limit, merge_first)


@njit(F64(U64S), **KERNEL)
def four_probability(rules):
    """How likely a spawned tile is a 4: the threshold of 32 bits back to nine decimals."""
    return round(np.float64(rules[RULES.FOUR]) / 4.294967296) / 1e9

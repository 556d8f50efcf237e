"""Places of every number in the arrays that searches read and write; imports nothing but types.

A place is written ARRAY.NAME, such as `out[OUT.NODES]`; a number that stands at one is written WHAT.KIND, such as
`CHANCE.OPEN_LOOP`. Named tuples of integers are constants to compiled code, which an enumeration is not.
"""

from __future__ import annotations

from typing import Any, NamedTuple

TABLE = 65536
"""Lines of four cells, and so entries of any table over lines."""


class AgentArrays(NamedTuple):
    """What a search reads, and the memory that it alone writes to."""

    settings: Any  # int64, SETTINGS: parameters
    reals: Any  # float64, REALS: parameters
    moves: Any  # uint16: slides of all lines, see bitboard.build_moves
    rules: Any  # uint64, RULES: the board
    lines: Any  # int32: the evaluator's tables, whatever their form
    extra: Any  # int64, EXTRA: what the evaluator is beside its tables
    memory: Any  # uint64: a transposition table, a tree; scratch, which may be cleared between games
    book: Any  # uint64, read-only: what was computed before, such as an exact solution; never cleared


class Rules(NamedTuple):
    """Of `rules`."""

    MASK: int = 0
    FOUR: int = 1
    ROWS: int = 2
    COLS: int = 3


class Out(NamedTuple):
    """Of `out`, a search's answer (float64): four values and four visit counts by direction, then counters."""

    VALUES: int = 0
    VISITS: int = 4
    NODES: int = 8
    DEPTH_REACHED: int = 9
    PROBES: int = 10
    HITS: int = 11
    LEAVES: int = 12
    TREE_SIZE: int = 13  # mcts: positions stored
    TAKEN_OVER: int = 14  # mcts: root visits of a reused tree
    SIZE: int = 16


class Settings(NamedTuple):
    """Of `settings`: directions in order of preference come first; from 6 on each kind of search has its own."""

    ORDER: int = 0
    CAPACITY: int = 4
    GENERATION: int = 5
    BEST_ONLY: int = 14

    # expectimax, minimax, adversary
    DEPTH: int = 6
    LEAF_STATE: int = 7
    USE_TABLE: int = 8
    NODE_LIMIT: int = 9
    ADAPT: int = 10
    FOURS: int = 11
    MIN_DEPTH: int = 12
    FULL_IS_LEAF: int = 13
    BOUNDS: int = 15  # where in `lines` the tables of tilesums.py start; 0 = there are none

    # mcts
    SIMULATIONS: int = 6
    CHANCE: int = 7
    ROLLOUT: int = 8
    ROLLOUT_LIMIT: int = 9
    FINAL: int = 10
    REUSE: int = 11
    REWARD: int = 12
    WIN_RANK: int = 13

    # bestfirst
    MODE: int = 6
    HORIZON: int = 7
    WORLDS: int = 8

    # greedy
    BY: int = 6

    # solved
    GOAL: int = 6

    SIZE: int = 24


class Reals(NamedTuple):
    """Of `reals`; 0 and from 2 on each kind of search has its own."""

    CUTOFF: int = 0
    EXPLORATION: int = 0
    REWARD_WEIGHT: int = 0
    SECONDS: int = 1
    EVALUATOR_PROBABILITY: int = 2
    VALUE_WEIGHT: int = 3
    SIZE: int = 8


class Extra(NamedTuple):
    """Of `extra`: what a search may assume of an evaluator (CLASS), the form that it has (FORM), what is lost.

    EARNS says that a value is the points that building its tiles has earned and, beyond these, an estimate of those
    to come; FOUR is then what a spawned 4, which was not built, takes off a value. A board with a tile above rank TOP
    is ranked down before it is searched (0: never). From BLOCKS on stands what the form needs: a BLOCK for each phase,
    TUPLES, or a network as in `netlayout.py`. Whatever it needs, an `extra` has room for one block: searches copy its
    first places before they know whether they are of use.
    """

    CLASS: int = 0
    SHIFT: int = 1
    LOST_KIND: int = 2
    LOST: int = 3
    FLOORED: int = 4
    FORM: int = 5
    EARNS: int = 6
    FOUR: int = 7
    TOP: int = 8
    PHASES: int = 9
    PHASE_TABLE: int = 10
    BLOCKS: int = 10 + 16 * 17


class Block(NamedTuple):
    """Of one phase of an evaluator that is a sum of terms."""

    ROW_TABLES: int = 0
    COLUMN_TABLES: int = 4
    HEAT: int = 8
    CORNER_RULE: int = 9
    CORNERS: int = 10
    FULL_ALONE: int = 11
    PEAK_OUT: int = 16
    PEAK_IN: int = 32
    EMPTY: int = 48
    SQUASH: int = 80
    SQUASH_SIZE: int = 512
    SIZE: int = 608


class Tuples(NamedTuple):
    """Of an evaluator that is a sum of tables over tuples of cells: how many, then so many words for each.

    A tuple is where its table starts in `lines`, its number of cells, and by which bit each cell starts.
    """

    COUNT: int = 0
    TUPLES: int = 1
    START: int = 0
    LENGTH: int = 1
    BITS: int = 2
    SIZE: int = 10


class Net(NamedTuple):
    """Of an evaluator that is a net with entries of 16 bits: its head, then GROUP words for each of its tables.

    SHIFTS move the eight images of a board smaller than 4x4 to the top-left; a board that is not SQUARE has four. A
    stage has so many ENTRIES, and begins at a largest tile of its STAGE_RANKS. A table is where it starts, and two
    or more RUNS of cells: a shift that brings them to their place in the index, and a mask. Those of the pairs come
    first: they have 32 entries to an index, 16 by a cell that one shift brings down, then 16 by another.
    """

    SHIFTS: int = 0
    SQUARE: int = 8
    ENTRIES: int = 9
    PAIRS: int = 10
    SINGLES: int = 11
    STAGES: int = 12
    STAGE_RANKS: int = 13
    GROUPS: int = 20
    START: int = 0
    RUNS: int = 1
    OWN: int = 2
    RUN: int = 4
    GROUP: int = 18


class Row(NamedTuple):
    """Of a game's row (int64)."""

    SCORE: int = 0
    MAX_RANK: int = 1
    MOVES: int = 2
    NODES: int = 3
    FINAL_LOW: int = 4
    FINAL_HIGH: int = 5
    ENDED: int = 6
    PROBES: int = 7
    HITS: int = 8
    SIZE: int = 9


class Tree(NamedTuple):
    """Of the memory of mcts: a head, the path of one simulation, then one NODE a position, the root's first."""

    GENERATION: int = 0
    END: int = 1
    ROOT_LINK: int = 2
    SCALE: int = 3
    RETURNS: int = 4
    MEAN: int = 5
    SQUARES: int = 6
    LOWEST: int = 7
    HIGHEST: int = 8
    PATH: int = 16
    LONGEST_PATH: int = 1024
    SCORES: int = 16 + 1024
    ROOT: int = 16 + 2 * 1024


class Node(NamedTuple):
    """Of a position in the memory of mcts; a link is the word where a node starts, 0 = none; visits and sums float64.

    SIZE is a node's words.
    """

    BOARD: int = 0
    KNOWN: int = 1
    HOLDER: int = 2
    SIBLING: int = 3
    CHILD: int = 4
    VISITS: int = 8
    SUMS: int = 12
    SIZE: int = 16


class Frontier(NamedTuple):
    """Of the memory of an open list: two words of scratch, positions, the heap, the table of places."""

    POSITIONS: int = 2
    POSITION: int = 3  # words
    ENTRY: int = 2  # words
    MOST_CHILDREN: int = 4


RULES, OUT, SETTINGS, REALS, ROW = Rules(), Out(), Settings(), Reals(), Row()
EXTRA, BLOCK, TUPLES, NET = Extra(), Block(), Tuples(), Net()
TREE, NODE, FRONTIER = Tree(), Node(), Frontier()


class Class(NamedTuple):
    """What a search may assume of an evaluator: a sum over lines; that and a peak term; nothing."""

    LINES: int = 0
    LINES_AND_PEAK: int = 1
    WHOLE_BOARD: int = 2


class Form(NamedTuple):
    """How an evaluator of a whole board is stored: terms (lines.py), tables (cells.py), a net (netvalue.py)."""

    TERMS: int = 0
    CELLS: int = 1
    NET: int = 2


class Lost(NamedTuple):
    """What a position without a legal move is worth: a number, its evaluation, or what building its tiles earned."""

    NUMBER: int = 0
    EVALUATION: int = 1
    POTENTIAL: int = 2


class Corner(NamedTuple):
    """Where the largest tile has to be for a peak term: anywhere, in any corner, ..."""

    ANYWHERE: int = 0
    ANY: int = 1
    TOP_LEFT: int = 2
    FIRST: int = 3


class Chance(NamedTuple):
    """What a child in the tree of mcts stands for."""

    OPEN_LOOP: int = 0
    BY_SPAWN: int = 1
    ONE_SPAWN: int = 2


class Rollout(NamedTuple):
    """How playouts of mcts move."""

    UNIFORM: int = 0
    MERGE_FIRST: int = 1
    GUIDED: int = 2


class Final(NamedTuple):
    """By what mcts chooses its move."""

    BY_VISITS: int = 0
    BY_MEAN: int = 1


class Reward(NamedTuple):
    """What a simulation of mcts earns."""

    POINTS: int = 0
    MIN_MAX: int = 1
    WIN: int = 2
    RAW: int = 3


class Mode(NamedTuple):
    """The two searches of bestfirst."""

    BY_EXPECTATION: int = 0
    OPEN_LIST: int = 1


BOOK_INDEX = 128
"""The 64-bit word at which the index of a file of layers begins, see `exact/files.py`."""
FIRST_SUM = 4
"""The sum of tiles of the first layer, of two 2s; each layer has 2 more."""


class Goal(NamedTuple):
    """What best play is for."""

    SCORE: int = 0
    ADVERSARY: int = 1
    TILE: int = 2


class End(NamedTuple):
    """Why a game ended."""

    OVER: int = 0
    STOP_TILE: int = 1
    CANCELLED: int = 2


class Stream(NamedTuple):
    """Purposes of a game's random streams."""

    SPAWNS: int = 0
    SEARCH: int = 1


CLASS, FORM, LOST, CORNER = Class(), Form(), Lost(), Corner()
CHANCE, ROLLOUT, FINAL, REWARD, MODE, GOAL = Chance(), Rollout(), Final(), Reward(), Mode(), Goal()
END, STREAM = End(), Stream()

# expectimax memory: constants and counters, 64 words of scratch for each of 16 depths, leaves of a net, then the table,
# two words an entry
EXPECTIMAX_SCRATCH = 128
EXPECTIMAX_LEAVES = EXPECTIMAX_SCRATCH + 64 * 16
EXPECTIMAX_TABLE = EXPECTIMAX_LEAVES + 32 * 70


def memory_words(capacity: int) -> int:
    """Words of `memory` that an mcts tree of `capacity` positions takes."""
    return TREE.ROOT + NODE.SIZE * capacity


def open_list_words(capacity: int) -> tuple[int, int]:
    """Words of `memory` that an open list of `capacity` positions takes, and the entries of its table of places."""
    most = capacity + FRONTIER.MOST_CHILDREN
    entries = 1 << (2 * most - 1).bit_length()
    return FRONTIER.POSITIONS + (FRONTIER.POSITION + FRONTIER.ENTRY) * most + 2 * entries, entries

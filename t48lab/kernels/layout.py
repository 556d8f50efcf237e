"""Places of every number in the arrays that searches read and write; imports nothing.

`settings` (int64) and `reals` (float64) hold an agent's parameters, `rules` (uint64) a board's,
`extra` (int64) an evaluator's, `out` (float64) a search's answer.
"""

# rules
MASK, FOUR, ROWS, COLS = range(4)

# out: four values, four visit counts, then counters
VALUES, VISITS, NODES, DEPTH_REACHED, PROBES, HITS, LEAVES = 0, 4, 8, 9, 10, 11, 12
OUT_SIZE = 16

# settings shared by all searches: directions in order of preference come first
ORDER, CAPACITY, GENERATION, BEST_ONLY = 0, 4, 5, 14
SETTINGS_SIZE = 24
REALS_SIZE = 8

# expectimax, minimax, adversary
DEPTH, LEAF_STATE, USE_TABLE, NODE_LIMIT, ADAPT, FOURS, MIN_DEPTH, FULL_IS_LEAF = range(6, 14)
BOUNDS = 15  # where in `lines` the tables of tilesums.py start; 0 = there are none
CUTOFF, SECONDS = 0, 1

# expectimax memory: constants and counters, 64 words of scratch for each of 16 depths, two words an entry
EXPECTIMAX_SCRATCH = 128
EXPECTIMAX_TABLE = EXPECTIMAX_SCRATCH + 64 * 16

# mcts
SIMULATIONS, CHANCE, ROLLOUT, ROLLOUT_LIMIT, FINAL, REUSE, REWARD, WIN_RANK = range(6, 14)
EXPLORATION, EVALUATOR_PROBABILITY, VALUE_WEIGHT = 0, 2, 3
OPEN_LOOP, BY_SPAWN, ONE_SPAWN = range(3)
UNIFORM, MERGE_FIRST, GUIDED = range(3)
BY_VISITS, BY_MEAN = range(2)
POINTS, MIN_MAX, WIN, RAW = range(4)
TREE_SIZE, TAKEN_OVER = 13, 14  # out: positions stored, root visits of a reused tree

# mcts memory: a head, the path of one simulation, then one record of 16 words a position, the root's first;
# links are the word where a record starts, 0 = none; visits and sums of returns are float64
TREE_GENERATION, TREE_END, ROOT_LINK, SCALE, RETURNS, MEAN, SQUARES, LOWEST, HIGHEST = range(9)
LONGEST_PATH = 1024
PATH, SCORES = 16, 16 + LONGEST_PATH
ROOT_RECORD, RECORD = SCORES + LONGEST_PATH, 16
NODE_BOARD, KNOWN, HOLDER, SIBLING, CHILD, EDGE_VISITS, EDGE_SUM = 0, 1, 2, 3, 4, 8, 12


def memory_words(capacity):
    """Words of `memory` that an mcts tree of `capacity` positions takes."""
    return ROOT_RECORD + RECORD * capacity


# bestfirst: the memory of an open list holds two words of scratch, the positions, the heap and the table of places
MODE, HORIZON, WORLDS = range(6, 9)
REWARD_WEIGHT = 0
BY_EXPECTATION, OPEN_LIST = range(2)
POSITIONS, POSITION, HEAP_ENTRY, MOST_CHILDREN = 2, 3, 2, 4


def open_list_words(capacity):
    """Words of `memory` that an open list of `capacity` positions takes, and the entries of its table of places."""
    most = capacity + MOST_CHILDREN
    entries = 1 << (2 * most - 1).bit_length()
    return POSITIONS + (POSITION + HEAP_ENTRY) * most + 2 * entries, entries


# greedy
BY = 6

# extra: head, phase table, then one block a phase
CLASS, SHIFT, LOST_KIND, LOST, PHASES, SYMMETRIC, PHASE_TABLE = range(7)
PURE_LINES, LINES_AND_PEAK, GENERAL = range(3)
BLOCKS = PHASE_TABLE + 16 * 17
BLOCK = 608
ROW_TABLES, COLUMN_TABLES, HEAT, CORNER_RULE, CORNERS, CONSTANT, FULL_ALONE, FLOORED = 0, 4, 8, 9, 10, 11, 12, 13
PEAK_OUT, PEAK_IN, EMPTY, SQUASH, SQUASH_SIZE = 16, 32, 48, 80, 512
NO_CORNER, ANY_CORNER, TOP_LEFT, FIRST_IN_CORNER = range(4)

# rows of the game loop
SCORE, MAX_RANK, MOVE_COUNT, GAME_NODES, FINAL_LOW, FINAL_HIGH, ENDED, GAME_PROBES, GAME_HITS = range(9)
ROW_SIZE = 9
OVER, STOP_TILE, CANCELLED = range(3)

# purposes of random streams
SPAWN_STREAM, SEARCH_STREAM = 0, 1

TABLE = 65536

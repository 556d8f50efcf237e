"""Places of every number in the arrays that n-tuple networks and their training read and write; imports nothing."""

LANES = 8
"""Boards side by side: one for each symmetry."""

# network: a head, then a record for each pattern with where its table starts and (shift, mask) of each run of cells
SHIFTS, PATTERNS, USED, STAGES, ENTRIES, STAGE_RANKS = 0, 8, 9, 10, 11, 12
HEAD, PATTERN = 20, 16
BASE, RUNS, RUN = 0, 1, 2
MOST_PATTERNS, MOST_CELLS, MOST_RUNS, MOST_STAGES = 16, 7, 7, 8

# places: look-ups of one board, found
SLOT = LANES * MOST_PATTERNS
PLACES = 8 * SLOT

# settings, reals
COHERENT, BACKWARD, SHORTEST, FIRST, LAST = range(5)
SETTINGS_SIZE = 5
RATE, FINAL_RATE, LAMBDA = range(3)
REALS_SIZE = 3

# a row for each game: score, largest rank and moves of its first part; then moves and number of all parts
SCORE, TOP, MOVES, ALL_MOVES, PARTS = range(5)
ROW_SIZE = 5

# moves a game may have, by how many of them look-ups are found ahead, and the purpose of a training's streams
LONGEST, AHEAD = 131072, 4
TRAINING_STREAM = 2

"""Slow twins of the evaluators, on nested lists of tile values; written from the definitions alone.

Every function takes b (rows of tile values, 0 = empty) and knows nothing of tables, ranks in nibbles or t48lab.
"""

from math import exp, log2


def lg(x):
    return log2(x) if x else 0.0


def cells(b):
    return [x for row in b for x in row]


def columns(b):
    return [list(column) for column in zip(*b, strict=True)]


def lines(b):
    return [list(row) for row in b] + columns(b)


def neighbours(line):
    return [(line[i], line[i + 1]) for i in range(len(line) - 1)]


def pairs(b):
    """Adjacent pairs, left to right and top to bottom, each once."""
    return [pair for line in lines(b) for pair in neighbours(line)]


def empty(b):
    return cells(b).count(0)


def largest(b):
    return max(cells(b))


def corners(b):
    return [b[0][0], b[0][-1], b[-1][0], b[-1][-1]]


def smooth_logs(b, exponent=1.0):
    return -sum(abs(lg(x) - lg(y)) ** exponent for x, y in pairs(b) if x and y)


def roughness(b):
    return sum(abs(x - y) for x, y in pairs(b) if x and y)


def min_of_falls_and_rises(b, exponent):
    total = 0.0
    for line in lines(b):
        falls = rises = 0.0
        for x, y in neighbours([lg(x) ** exponent for x in line]):
            if x > y:
                falls += x - y
            else:
                rises += y - x
        total += min(falls, rises)
    return total


def merges(b):
    total = 0
    for line in lines(b):
        tiles, i = [x for x in line if x], 0
        while i < len(tiles):
            run = 1
            while i + run < len(tiles) and tiles[i + run] == tiles[i]:
                run += 1
            total += run if run >= 2 else 0
            i += run
    return total


def line_end_maximum(b, exponent):
    total = 0.0
    for line in lines(b):
        if max(line) in (line[0], line[-1]):
            total += lg(max(line)) ** exponent
    return total


def shaped_empty(b, exponent):
    return sum(len(line) / 2 * (line.count(0) / len(line)) ** exponent for line in lines(b))


def rank_sum(b, exponent):
    return sum(lg(x) ** exponent for line in lines(b) for x in line if x)


SHAPED = {
    "empty": shaped_empty,
    "monotonicity": lambda b, exponent: -min_of_falls_and_rises(b, exponent),
    "smoothness": smooth_logs,
    "corner": line_end_maximum,
    "merges": lambda b, exponent: merges(b),
    "rank_sum": rank_sum,
}


def shaped_terms(b, weights):
    """The sum of terms given as {name: (weight, exponent)}."""
    return sum(weight * SHAPED[name](b, exponent) for name, (weight, exponent) in weights.items())


def classic(b):
    per_lines = sum(200_000 + 270 * line.count(0) - 11 * sum(lg(x) ** 3.5 for x in line) for line in lines(b))
    return per_lines + 700 * merges(b) - 47 * min_of_falls_and_rises(b, 4)


def system_a(b, empties=2.7, mono=1.0, smooth=0.1, corner=2.0, constant=0.0):
    descent = sum(lg(x) - lg(y) for x, y in pairs(b) if x and y and x > y)
    m = largest(b)
    total = empties * empty(b) + mono * descent + smooth * smooth_logs(b)
    if m in corners(b):
        total += corner * m + (constant if m else 0)
    return total


def system_c(b, mono=47.0, smooth=-0.1, empties=270.0, maximum=700.0):
    order = -min_of_falls_and_rises(b, 1)
    return mono * order + smooth * roughness(b) + empties * empty(b) + maximum * largest(b)


def mono_violations(b):
    total = 0
    for row in b:
        total += sum(1 for x, y in neighbours(row) if x and y and x > y)
    for column in columns(b):
        total += sum(1 for x, y in neighbours([x for x in column if x]) if x > y)
    return total


def mono_count(b):
    total = 0
    for line in lines(b):
        not_rising = sum(1 for x, y in neighbours(line) if x and x >= y)
        not_falling = sum(1 for x, y in neighbours(line) if y and x <= y)
        total += max(not_rising, not_falling)
    return total


def system_d1(b):
    return empty(b) + lg(largest(b)) - 0.1 * mono_violations(b) - 0.01 * roughness(b)


def system_d2(b, w1=1.0, w2=2.0, w3=1.2, w4=1.0):
    h = sum(x * (6 - i - j) for i, row in enumerate(b) for j, x in enumerate(row))
    logistic = 1 / (1 + exp(-0.05 * h))
    return w1 * log2(largest(b) + 1) / 12 + w2 * empty(b) / 16 + w3 * mono_count(b) / 24 + w4 * logistic


def system_d3(b):
    m = largest(b)
    if m < 128 or empty(b) > 8:
        return system_d2(b, 0.8, 2.0, 1.0, 0.6)
    if m < 512:
        return system_d2(b, 1.0, 1.8, 1.3, 0.9)
    return system_d2(b, 1.5, 1.2, 1.0, 1.4)


def bent(e):
    return 10 * e if e >= 5 else 5 * e - (5 - e) ** 2


def system_d4(b, empties=None):
    if empty(b) == 0:
        return -1e9
    m = largest(b)
    value = 2.7 * empty(b) if empties is None else empties(empty(b))
    value += 1.0 * m - 1.0 * mono_violations(b) - 0.1 * roughness(b)
    return value + m * (1 if b[0][0] == m else 0.25)


def system_e(b):
    mono = sum(lg(x) if x >= y else -lg(y) for x, y in pairs(b) if x and y)
    smooth = -sum(abs(x - y) for x, y in pairs(b) if x)
    i, j = next((i, j) for i, row in enumerate(b) for j, x in enumerate(row) if x == largest(b))
    stands_in_corner = i in (0, len(b) - 1) and j in (0, len(b[0]) - 1)
    corner = 10 * lg(largest(b)) if stands_in_corner else 0
    return 1.0 * mono + 0.1 * smooth + 2.7 * empty(b) + corner


def snake(b, exponent=1.0):
    path = [x for i, row in enumerate(b) for x in (row if i % 2 == 0 else row[::-1])]
    return sum(x * 2 ** (-exponent * p) for p, x in enumerate(path))

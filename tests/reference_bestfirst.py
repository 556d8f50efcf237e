"""Slow twins of the two best-first searches, on tuples of rows of ranks; `Game` is the minimax twin's."""

import heapq

from reference import Stream, board_points, mix64, spawn
from reference_minimax import afterstates, spawned


def worth(board, game):
    """The evaluation, or the lost value where no move is legal."""
    lost = game.lost != "evaluation" and not afterstates(board)
    return game.lost if lost else game.evaluate(board)


def expected(board, depth, game, four):
    """The value of a position: `depth` times the best move and the mean over spawns, then the evaluation."""
    if depth == 0:
        return worth(board, game)
    moves = afterstates(board).values()
    return max((mean(after, depth - 1, game, four) for after in moves), default=worth(board, game))


def mean(after, depth, game, four):
    chances = {1: 1 - four, 2: four}
    values = [chances[rank] * expected(board, depth, game, four) for _, rank, board in spawned(after, (1, 2))]
    return 2 * sum(values) / len(values)


def published(board, depth, game, four=0.1):
    """{direction: value}: the move of the root has no spawn after it."""
    return {d: expected(after, depth, game, four) for d, after in afterstates(board).items()}


def open_list(board, worlds, capacity, state, weight, game, pack, scale=1.0):
    """({direction: value}, {direction: positions valued}) of best-first searches in a number of worlds."""
    stream, totals, valued = Stream(state), {}, dict.fromkeys(range(4), 0)
    for _ in range(worlds):
        for d, best in one_world(board, stream.next(), capacity, weight, game, pack, scale, valued).items():
            totals[d] = totals.get(d, 0.0) + best
    return {d: total / worlds for d, total in totals.items()}, {d: n for d, n in valued.items() if n}


def one_world(board, world, capacity, weight, game, pack, scale, valued):
    """{direction: the largest f on the frontier below it} in one world."""
    best, heap, known, count = {}, [], {}, 0
    here, g, root = board, 0.0, None
    while True:
        moves = afterstates(here)
        for d, after in moves.items():
            child = spawn(after, Stream(mix64(pack(after) ^ world)))
            first = d if root is None else root
            earned = g + weight * (board_points(after) - board_points(here))
            if earned <= known.get((child, first), float("-inf")):
                continue
            known[child, first] = earned
            heapq.heappush(heap, (-(earned + worth(child, game) * scale), count, child, earned, first))
            count += 1
            valued[first] += 1
        if not moves and root is not None:
            best[root] = max(best.get(root, float("-inf")), g + worth(here, game) * scale)
        while heap and count < capacity:
            _, _, here, g, root = heapq.heappop(heap)
            if g == known[here, root]:
                break
        else:
            break
    for f, _, child, earned, first in heap:
        if earned == known[child, first]:
            best[first] = max(best.get(first, float("-inf")), -f)
    return best

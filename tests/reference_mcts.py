"""Slow twin of the Monte-Carlo tree search: a tree of objects, rewards counted move by move; draws as documented.

Also the exact expected score of a position under best play, for positions where little can still happen.
"""

import math
from dataclasses import dataclass, field
from itertools import permutations

import reference

ORDERS = list(permutations(range(4)))


@dataclass
class Setup:
    simulations: int = 50
    chance: str = "closed"  # or "open", "stored"
    rollout: str = "uniform"  # or "merge", "evaluator"
    limit: int = -1
    final: str = "visits"  # or "mean"
    reward: str = "points"  # or "minmax", "win", "raw"
    win: int = 11
    exploration: float = 1.41
    probability: float = 0.5
    weight: float = 1.0
    capacity: int = 10**9
    order: tuple = (0, 1, 2, 3)
    evaluate: object = None
    lost: object = None
    four: int = reference.FOUR


@dataclass
class Node:
    board: tuple
    visits: dict = field(default_factory=dict)
    sums: dict = field(default_factory=dict)
    children: dict = field(default_factory=dict)  # (direction, spawned board or None) -> Node

    def mean(self, direction):
        return self.sums[direction] / self.visits[direction]

    def size(self):
        return 1 + sum(child.size() for child in self.children.values())


@dataclass
class Search:
    setup: Setup
    stream: reference.Stream
    root: Node
    scale: float = 1.0
    returns: list = field(default_factory=list)
    nodes: int = 0
    depth: int = 0

    def run(self):
        self.stored = self.root.size()
        for _ in range(self.setup.simulations):
            self.simulate()
        return self.decide()

    def simulate(self):
        """One walk down the tree and to the end of the game; what each move earned from there on is added."""
        board, path, rewards = self.descend()
        self.depth = max(self.depth, len(path))
        final, earned, count = self.playout(board)
        self.nodes += len(path) + count
        tail = earned + self.value(final)
        for i, (node, direction) in enumerate(path):
            total = float(max(map(max, final)) >= self.setup.win)
            if self.setup.reward != "win":
                total = sum(rewards[i:]) + tail
            node.visits[direction] = node.visits.get(direction, 0) + 1
            node.sums[direction] = node.sums.get(direction, 0) + total
            if i == 0:
                self.learn(total)

    def learn(self, total):
        self.returns.append(total)
        mean = sum(self.returns) / len(self.returns)
        spread = max(self.returns) - min(self.returns)
        if self.setup.reward == "points":
            spread = 2 * math.sqrt(sum((x - mean) ** 2 for x in self.returns) / len(self.returns))
        if self.setup.reward in ("points", "minmax") and spread > 0:
            self.scale = spread

    def descend(self):
        node, board, path, rewards = self.root, self.root.board, [], []
        while legal := reference.legal(board, 15):
            direction = self.choose(node, legal)
            path.append((node, direction))
            after, reward = reference.move(board, direction, 15)
            rewards.append(reward)
            child = node.children.get((direction, None))
            if self.setup.chance == "stored" and child:
                board = child.board
            else:
                board = reference.spawn(after, self.stream, self.setup.four)
            key = (direction, board if self.setup.chance == "closed" else None)
            if key not in node.children:
                if self.stored < self.setup.capacity:
                    node.children[key] = Node(board)
                    self.stored += 1
                break
            node = node.children[key]
        return board, path, rewards

    def choose(self, node, legal):
        untried = [d for d in legal if not node.visits.get(d)]
        if untried:
            return self.drawn(untried)
        total = sum(node.visits[d] for d in legal)
        width = self.setup.exploration * self.scale
        index = {d: node.mean(d) + width * math.sqrt(math.log(total) / node.visits[d]) for d in legal}
        return max((d for d in self.setup.order if d in legal), key=index.get)

    def drawn(self, directions):
        return directions[(self.stream.next() >> 32) * len(directions) >> 32]

    def playout(self, board):
        """(final board, points, moves) of play by the rollout policy."""
        earned = count = 0
        while count != self.setup.limit and (legal := reference.legal(board, 15)):
            board, reward = reference.move(board, self.policy(board, legal), 15)
            board = reference.spawn(board, self.stream, self.setup.four)
            earned, count = earned + reward, count + 1
        if self.setup.rollout != "evaluator" and count != self.setup.limit:
            self.stream.next()
        return board, earned, count

    def policy(self, board, legal):
        if self.setup.rollout == "evaluator":
            if (self.stream.next() >> 11) * 2.0**-53 >= self.setup.probability:
                return self.drawn(legal)
            liking = {d: self.setup.evaluate(reference.move(board, d, 15)[0]) for d in legal}
            return max((d for d in self.setup.order if d in legal), key=liking.get)
        order = ORDERS[(self.stream.next() >> 32) * 24 >> 32]
        merging = [d for d in legal if reference.move(board, d, 15)[1]] if self.setup.rollout == "merge" else []
        return next(d for d in order if d in (merging or legal))

    def value(self, board):
        if self.setup.limit < 0:
            return 0
        lost = self.setup.lost is not None and not reference.legal(board, 15)
        return self.setup.weight * (self.setup.lost if lost else self.setup.evaluate(board))

    def decide(self):
        visited = [d for d in self.setup.order if self.root.visits.get(d) and d in reference.legal(self.root.board, 15)]
        if self.setup.final == "mean":
            return max(visited, key=self.root.mean)
        return max(visited, key=lambda d: (self.root.visits[d], self.root.mean(d)))


def successor(root, chance, board):
    """The node of a board one move and one spawn after a root, or None."""
    if chance == "closed":
        return next((child for (_, spawned), child in root.children.items() if spawned == board), None)
    for direction in reference.legal(root.board, 15):
        after = reference.move(root.board, direction, 15)[0]
        spawned = [reference.with_tile(after, *cell, rank) for cell in reference.empty_cells(after) for rank in (1, 2)]
        child = root.children.get((direction, None))
        if board in spawned and child and chance == "open":
            return child
        if child and chance == "stored" and child.board == board:
            return child
    return None


def exact(board, known):
    """Expected points still to come under best play; `known` keeps what was found."""
    if board not in known:
        known[board] = max(exact_moves(board, known).values(), default=0)
    return known[board]


def exact_moves(board, known):
    """{direction: expected points of that move and best play after it}."""
    values = {}
    for direction in reference.legal(board):
        after, reward = reference.move(board, direction)
        cells = reference.empty_cells(after)
        spawns = [(p, reference.with_tile(after, *cell, rank)) for cell in cells for p, rank in ((0.9, 1), (0.1, 2))]
        values[direction] = reward + sum(p * exact(b, known) for p, b in spawns) / len(cells)
    return values

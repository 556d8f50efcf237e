"""The kinds of agents as frozen records: every parameter with its default, range, unit and meaning.

This is the one home of each search parameter; `Expectimax.parameters()` lists them for tuning and for readers.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

from pydantic import model_validator

from t48lab.agents.agent import AGENTS as AGENTS  # from here it is full
from t48lab.agents.agent import BY_NUMBER, TIES, Agent, Order
from t48lab.agents.programs import ENGINE, Program, assemble, with_bounds
from t48lab.agents.searches import SearchResult, TreeKind
from t48lab.agents.solved import Solved as Solved
from t48lab.agents.systems import SYSTEMS
from t48lab.board import Board
from t48lab.errors import T48Error
from t48lab.evaluators import EvaluatorChoice, get_evaluator
from t48lab.kernels.layout import (
    CHANCE,
    EXPECTIMAX_TABLE,
    FINAL,
    MODE,
    REALS,
    REWARD,
    ROLLOUT,
    SETTINGS,
    memory_words,
    open_list_words,
)
from t48lab.records import parameter
from t48lab.rules import Rules
from t48lab.specs import from_spec

DEEPEST = 16
"""Most player moves that any search looks ahead: deeper recursion has no use and would exhaust the stack."""

NAMED = {name: spec for name, (_, spec) in SYSTEMS.items()}
"""Specs of agents that a name may stand for."""


AHEAD = "how far ahead to look; the most, under a limit"
LIMIT = "limit of a search, by iterative deepening where it has a depth; none = no limit"
OWN_STREAM = "chooses the stream of the agent's own draws"
TILES = tuple(2**rank for rank in range(2, 17))


def make_agent(spec: str | Agent) -> Agent:
    """The agent that a spec such as `expectimax:depth=3,evaluator=tuned` describes, or one of the SYSTEMS by name.

    Raises T48Error.
    """
    return spec if isinstance(spec, Agent) else from_spec(spec, AGENTS, "agent", NAMED)


class RandomAgent(Agent):
    """Plays a legal move uniformly at random."""

    name: ClassVar[str] = "random"
    color: ClassVar[str] = "#555555"
    kernel: ClassVar[str] = "random"
    seed: int = parameter(0, OWN_STREAM, ge=0, lt=2**62)

    def compile(self, rules: Rules = Rules()) -> Program:
        """The arrays of the compiled search."""
        return assemble(self.kernel, rules, seed=self.seed)


class PriorityAgent(Agent):
    """Plays the first legal move of a fixed order."""

    name: ClassVar[str] = "priority"
    color: ClassVar[str] = "#56B4E9"
    kernel: ClassVar[str] = "priority"
    main: ClassVar[tuple[str, ...]] = ("order",)
    order: Order = parameter(("left", "up", "right", "down"), "directions, the most wanted first")

    def compile(self, rules: Rules = Rules()) -> Program:
        """The arrays of the compiled search."""
        return assemble(self.kernel, rules, order=self.order)


class Greedy(Agent):
    """Plays the move of largest reward, or the one whose afterstate an evaluator likes best."""

    name: ClassVar[str] = "greedy"
    color: ClassVar[str] = "#E69F00"
    kernel: ClassVar[str] = "greedy"
    main: ClassVar[tuple[str, ...]] = ("by",)
    by: Literal["reward", "evaluator"] = parameter("reward", "what makes a move good; evaluator when one is given")
    evaluator: EvaluatorChoice = parameter("tuned", "values afterstates when by=evaluator")
    order: Order = parameter(BY_NUMBER, TIES)

    @model_validator(mode="before")
    @classmethod
    def _evaluator_means_by_evaluator(cls, data: Any) -> Any:
        return {"by": "evaluator", **data} if "evaluator" in data else data

    def compile(self, rules: Rules = Rules()) -> Program:
        """The arrays of the compiled search."""
        by = ("reward", "evaluator").index(self.by)
        return assemble(self.kernel, rules, {SETTINGS.BY: by}, evaluator=self.evaluator, order=self.order)


class _TreeSearch(Agent):
    budgets: ClassVar[tuple[str, ...]] = ("depth", "nodes")
    main: ClassVar[tuple[str, ...]] = ("depth", "evaluator")
    depth: int = parameter(3, AHEAD, "player moves", ge=1, le=DEEPEST)
    evaluator: EvaluatorChoice = parameter("tuned", "values the leaves")
    leaf: Literal["afterstate", "state"] = parameter("afterstate", "leaves are valued before or after the last spawn")
    table: bool = parameter(True, "remember positions in a transposition table")
    table_bits: int = parameter(13, "the table holds 2 to this power of positions", "bits", ge=10, le=26)
    seconds: float | None = parameter(None, LIMIT, "seconds per move", gt=0, le=86400)
    nodes: int | None = parameter(None, LIMIT, "nodes per move", ge=1, le=10**15)
    order: Order = parameter(BY_NUMBER, TIES)

    @model_validator(mode="before")
    @classmethod
    def _a_limit_alone_means_no_depth(cls, data: Any) -> Any:
        limited = data.get("seconds") is not None or data.get("nodes") is not None
        return {"depth": DEEPEST, **data} if limited else data

    def at_depth(self, depth: int) -> Self:
        """As of any agent."""
        return self.changed(depth=depth, seconds=None, nodes=None)

    def leaf_value(self, board: Board) -> float:
        """As of any agent."""
        evaluator = get_evaluator(self.evaluator)
        return evaluator.lost_value(board) if board.is_over else evaluator.value(board)

    def _program(self, rules: Rules, head: int, integers: dict[int, int], reals: dict[int, float]) -> Program:
        """The program, `head` words of its memory in front of the table."""
        capacity = 1 << self.table_bits
        common = {
            SETTINGS.CAPACITY: capacity,
            SETTINGS.DEPTH: self.depth,
            SETTINGS.LEAF_STATE: int(self.leaf == "state"),
            SETTINGS.USE_TABLE: int(self.table),
            SETTINGS.NODE_LIMIT: self.nodes or 0,
        }
        limit = {REALS.SECONDS: self.seconds or 0.0}
        words = head + 2 * (capacity if self.table else 1)
        return assemble(self.kernel, rules, common | integers, limit | reals, self.evaluator, self.order, words)


class Expectimax(_TreeSearch):
    """Averages over spawns with their probabilities: the best move against chance."""

    name: ClassVar[str] = "expectimax"
    color: ClassVar[str] = "#0072B2"
    kernel: ClassVar[str] = "expectimax"
    tree: ClassVar[TreeKind] = "mean"
    cutoff: float = parameter(
        0.0, "value a position at once when the spawns on its path are less probable", "probability", ge=0, le=1
    )
    adaptive: int = parameter(
        0, "look ahead the number of different tiles less this, within the depths; 0 = always `depth`", ge=0, le=16
    )
    least_depth: int = parameter(1, "least to look ahead when adaptive", "player moves", ge=1, le=DEEPEST)
    fours: int = parameter(
        16, "ignore spawned 4s where more cells than this are empty; 16 = never", "cells", ge=0, le=16
    )
    full_leaf: bool = parameter(False, "value full boards at once, even when they can still move")

    def at_depth(self, depth: int) -> Self:
        """As of any agent."""
        return super().at_depth(depth).changed(adaptive=0)

    @property
    def engine(self) -> str:
        """As of any agent; bounds at chance nodes came with 2, and let limited searches look further."""
        return "2" if self.seconds or self.nodes else ENGINE

    def search(
        self, board: Board | str, rules: Rules | None = None, values: Literal["all", "best"] = "all"
    ) -> SearchResult:
        """As of any agent; with values="best", as in games, only the best move's value is sure to be exact.

        The others may then be upper bounds, below the best, which takes less time from three moves ahead on.
        """
        if values not in ("all", "best"):
            raise T48Error(f"values must be 'all' or 'best', got {values!r}")
        return self._found(board, rules, values)

    def compile(self, rules: Rules = Rules()) -> Program:
        """The arrays of the compiled search."""
        integers = {
            SETTINGS.ADAPT: self.adaptive,
            SETTINGS.MIN_DEPTH: self.least_depth,
            SETTINGS.FOURS: self.fours,
            SETTINGS.FULL_IS_LEAF: int(self.full_leaf),
        }
        program = self._program(rules, EXPECTIMAX_TABLE, integers, {REALS.CUTOFF: self.cutoff})
        bounded = self.depth > 2 and self.leaf == "afterstate" and not self.full_leaf
        return with_bounds(program) if bounded else program


class Minimax(_TreeSearch):
    """Assumes the worst spawn, either tile in any empty cell: alpha-beta."""

    name: ClassVar[str] = "minimax"
    color: ClassVar[str] = "#D55E00"
    kernel: ClassVar[str] = "minimax"
    tree: ClassVar[TreeKind] = "worst"
    depth: int = parameter(2, AHEAD, "player moves", ge=1, le=DEEPEST)

    @property
    def engine(self) -> str:
        """As of any agent; 2 where a floor used to leave wrong bounds in the table, from three moves ahead on."""
        return "2" if self.depth > 2 and get_evaluator(self.evaluator).floored else ENGINE

    def compile(self, rules: Rules = Rules()) -> Program:
        """The arrays of the compiled search."""
        return self._program(rules, 0, {}, {})


class BestFirst(Agent):
    """Goes by f = g + h, points so far and an evaluator's value: an open list, or an expectation as published.

    `open`: in each of some worlds, whose spawns are fixed in advance, the position of largest f is looked into
    next until the budget is spent; a move is worth the largest f on the frontier below it, averaged over worlds.
    `published`: what the agent called A* in fact computes, the mean over spawns after each move but the first.
    """

    name: ClassVar[str] = "bestfirst"
    color: ClassVar[str] = "#CC79A7"
    kernel: ClassVar[str] = "bestfirst"
    budgets: ClassVar[tuple[str, ...]] = ("depth", "nodes")
    main: ClassVar[tuple[str, ...]] = ("mode", "evaluator")
    mode: Literal["open", "published"] = parameter("open", "an open list, or the published expectation")
    evaluator: EvaluatorChoice = parameter("tuned", "h, the value of a position")
    nodes: int = parameter(2000, "open: positions to value, over all worlds", "positions", ge=1, le=10**7)
    worlds: int = parameter(20, "open: among how many fixed futures the positions are shared", "worlds", ge=1, le=10**4)
    reward_weight: float = parameter(1.0, "open: what a point counts in g", ge=0, le=10**6)
    depth: int = parameter(3, "published: how far ahead to look after the first move", "player moves", ge=1, le=8)
    table_bits: int = parameter(16, "published: the table holds 2 to this power of positions", "bits", ge=10, le=26)
    seed: int = parameter(0, OWN_STREAM, ge=0, lt=2**62)
    order: Order = parameter(BY_NUMBER, TIES)

    @property
    def by_position(self) -> bool:
        """As of any agent; the published expectation draws nothing."""
        return self.mode == "published"

    def compile(self, rules: Rules = Rules()) -> Program:
        """The arrays of the compiled search."""
        if self.mode == "open":
            mode, capacity = MODE.OPEN_LIST, max(1, self.nodes // self.worlds)
            words, _ = open_list_words(capacity)
        else:
            mode, capacity = MODE.BY_EXPECTATION, 1 << self.table_bits
            words = 2 * capacity
        integers = {
            SETTINGS.CAPACITY: capacity,
            SETTINGS.MODE: mode,
            SETTINGS.HORIZON: self.depth,
            SETTINGS.WORLDS: self.worlds,
        }
        reals = {REALS.REWARD_WEIGHT: self.reward_weight}
        return assemble(self.kernel, rules, integers, reals, self.evaluator, self.order, words, self.seed)


class MCTS(Agent):
    """Monte-Carlo tree search with the UCT rule.

    Source: Kocsis, Szepesvari (2006), "Bandit based Monte-Carlo planning", ECML.
    """

    name: ClassVar[str] = "mcts"
    color: ClassVar[str] = "#009E73"
    kernel: ClassVar[str] = "mcts"
    budgets: ClassVar[tuple[str, ...]] = ("simulations",)
    tree: ClassVar[TreeKind] = "playouts"
    main: ClassVar[tuple[str, ...]] = ("simulations",)
    simulations: int = parameter(
        1000,
        "playouts of a search; the most, under a limit; 0 = as many as seconds allow",
        "simulations",
        ge=0,
        le=10**8,
    )
    chance: Literal["open", "closed", "stored"] = parameter(
        "closed", "a child in the tree stands for a move (open), a move and its spawn, or a move and its first spawn"
    )
    rollout: Literal["uniform", "merge", "evaluator"] = parameter(
        "uniform", "how playouts move: at random, merging first, or now and then as the evaluator likes best"
    )
    rollout_limit: int | None = parameter(
        None, "after so many moves the evaluator values a playout; none = play to the end", "moves", ge=0, le=10**6
    )
    evaluator: EvaluatorChoice = parameter("tuned", "values limited playouts and guides evaluator rollouts")
    evaluator_share: float = parameter(
        0.5, "how often an evaluator rollout asks the evaluator", "probability", ge=0, le=1
    )
    value_weight: float = parameter(
        1.0, "points that one unit of the evaluator's value is worth", "points", ge=0, le=10**6
    )
    exploration: float = parameter(1.41, "exploration constant C, in units of the reward's scale", ge=0, le=1000)
    reward: Literal["points", "minmax", "win", "raw"] = parameter(
        "points",
        "points scaled by their standard deviation, points scaled to 0..1, 1 for reaching `win`, or points as they are",
    )
    win: int = parameter(2048, "tile that reward=win asks for", "tile")
    final: Literal["visits", "mean"] = parameter("visits", "the move to play has the most visits or the best mean")
    reuse: bool = parameter(False, "within a game keep the subtree that the real move and spawn lead to")
    positions: int = parameter(2**17, "the tree stops growing at this size", "positions", ge=1, le=2**24)
    seconds: float | None = parameter(None, LIMIT, "seconds per move", gt=0, le=86400)
    seed: int = parameter(0, OWN_STREAM, ge=0, lt=2**62)
    order: Order = parameter(BY_NUMBER, TIES)

    @model_validator(mode="before")
    @classmethod
    def _seconds_alone_mean_no_number(cls, data: Any) -> Any:
        return {"simulations": 0, **data} if data.get("seconds") is not None else data

    @model_validator(mode="after")
    def _limited(self) -> MCTS:
        if self.win not in TILES:
            raise T48Error(f"win must be a power of two from 4 to 65536, got {self.win}")
        if self.simulations == 0 and self.seconds is None:
            raise T48Error("simulations must be 1 or more, got 0; 0 = no limit is for a search with seconds=")
        return self

    def compile(self, rules: Rules = Rules()) -> Program:
        """The arrays of the compiled search."""
        fixed = self.simulations and not self.reuse
        capacity = min(self.positions, self.simulations + 1) if fixed else self.positions
        integers = {
            SETTINGS.CAPACITY: capacity,
            SETTINGS.SIMULATIONS: self.simulations,
            SETTINGS.CHANCE: {"open": CHANCE.OPEN_LOOP, "closed": CHANCE.BY_SPAWN, "stored": CHANCE.ONE_SPAWN}[
                self.chance
            ],
            SETTINGS.ROLLOUT: {"uniform": ROLLOUT.UNIFORM, "merge": ROLLOUT.MERGE_FIRST, "evaluator": ROLLOUT.GUIDED}[
                self.rollout
            ],
            SETTINGS.ROLLOUT_LIMIT: -1 if self.rollout_limit is None else self.rollout_limit,
            SETTINGS.FINAL: {"visits": FINAL.BY_VISITS, "mean": FINAL.BY_MEAN}[self.final],
            SETTINGS.REUSE: int(self.reuse),
            SETTINGS.REWARD: {"points": REWARD.POINTS, "minmax": REWARD.MIN_MAX, "win": REWARD.WIN, "raw": REWARD.RAW}[
                self.reward
            ],
            SETTINGS.WIN_RANK: self.win.bit_length() - 1,
        }
        reals = {
            REALS.EXPLORATION: self.exploration,
            REALS.SECONDS: self.seconds or 0.0,
            REALS.EVALUATOR_PROBABILITY: self.evaluator_share,
            REALS.VALUE_WEIGHT: self.value_weight,
        }
        words = memory_words(capacity)
        return assemble(self.kernel, rules, integers, reals, self.evaluator, self.order, words, self.seed)

"""What every kind of agent answers, and what the lab has to know of it."""

from __future__ import annotations

import functools
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator

from t48lab.agents.programs import ENGINE, Program
from t48lab.agents.searches import SearchResult, TreeKind, run_search
from t48lab.agents.spawners import Spawner
from t48lab.board import DIRECTIONS, Board
from t48lab.errors import T48Error
from t48lab.evaluators import BaseEvaluator
from t48lab.families import COLORS, OTHER
from t48lab.records import StopTile, checked
from t48lab.rules import Rules
from t48lab.specs import SpecRecord, digest

AGENTS: dict[str, type[Agent]] = {}
"""Every kind of agent by the name that starts its spec."""

BY_NUMBER = DIRECTIONS
"""The order of preference that breaks ties by the lowest direction number."""


def _order(value: object) -> object:
    names = value.split("/") if isinstance(value, str) else value
    if isinstance(names, (list, tuple)) and sorted(map(str, names)) == sorted(DIRECTIONS):
        return tuple(names)
    raise T48Error(f"order must name each of {'/'.join(DIRECTIONS)} once, got {value!r}")


Order = Annotated[tuple[str, ...], BeforeValidator(_order)]

TIES = "order of preference among moves of equal value"


class Agent(SpecRecord):
    """A player of 2048: parameters only, so that it can be compared, hashed, written down and sent anywhere.

    What the lab has to know of a kind of agent beside its parameters stands in the class.
    """

    color: ClassVar[str] = OTHER
    """In figures; the kinds below have those of Okabe and Ito (2008), which colour-blind readers can tell apart."""
    kernel: ClassVar[str] = ""
    """The compiled search: a file in kernels/, or a module by its full name; empty for agents in plain Python."""
    budgets: ClassVar[tuple[str, ...]] = ()
    """Parameters that say how much to search, and give way to `seconds`."""
    tree: ClassVar[TreeKind] = "none"
    """What a line of play and a decision tree show below a move."""

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        """Enter the new kind of agent in AGENTS, and its colour in COLORS, under its name."""
        if cls.name:
            AGENTS[cls.name], COLORS[cls.name] = cls, cls.color

    @property
    def timed(self) -> bool:
        """Whether seconds limit the search, so that the same seed may play another game."""
        return getattr(self, "seconds", None) is not None

    @property
    def by_position(self) -> bool:
        """Whether its move depends on the position alone: not on draws, time, or what it searched before."""
        return not (self.timed or hasattr(self, "seed") or getattr(self, "nodes", None))

    @property
    def engine(self) -> str:
        """Version of everything that decides its games beside its parameters; goes up when any of them changes."""
        return ENGINE

    def compile(self, rules: Rules = Rules()) -> Program:
        """The arrays that the agent's compiled search reads on boards of these rules."""
        raise NotImplementedError(f"{type(self).__name__} has no compiled search")

    def search(self, board: Board | str, rules: Rules | None = None) -> SearchResult:
        """The best move of a position, the value and visits of each move, and the cost; `board` may be text.

        The same board gets the same answer each time, unless seconds limit the search. Raises T48Error when the rules
        are for boards of another size.
        """
        return self._found(board, rules, "all")

    def _found(self, board: Board | str, rules: Rules | None, values: Literal["all", "best"]) -> SearchResult:
        board = Board.parse(board)
        return run_search(program(self, board.rules(rules)), board, values, self.tree)

    def at_depth(self, depth: int) -> Self:
        """The agent that looks exactly so many moves ahead; trees of `mean` and `worst` are grown by it."""
        raise NotImplementedError(f"{type(self).__name__} needs a method at_depth(depth) for its trees")

    def leaf_value(self, board: Board) -> float:
        """What a position is worth to the search where it is lost or not looked into; for the same trees."""
        raise NotImplementedError(f"{type(self).__name__} needs a method leaf_value(board) for its trees")

    def key(self, rules: Rules = Rules(), stop_tile: int | None = None, spawner: Spawner | None = None) -> str:
        """Sixteen hexadecimal digits that stand for everything that decides a game but its seed and number.

        That is every parameter, weights rather than a preset's name, the rules, the stop tile, the engine's
        version and, beside random spawns, every parameter of the spawner and its engine's version.
        """
        stop_tile = checked(StopTile, stop_tile, "stop_tile")
        facts = {"engine": self.engine, "agent": self.resolved(), "rules": rules.model_dump(), "stop_tile": stop_tile}
        facts |= _revisions(self, rules)
        if spawner is not None and spawner.name != "random":
            facts["spawner"] = spawner.resolved()
            facts |= {f"spawner_{name}": revision for name, revision in _revisions(spawner, rules).items()}
            if spawner.engine != ENGINE:
                facts["spawner_engine"] = spawner.engine
        return digest(facts)


def _revisions(record: SpecRecord, rules: Rules) -> dict[str, str]:
    """What a key says of evaluators whose tables are made otherwise than once, by parameter."""
    evaluators = {name: meant for name, meant in record.meant().items() if isinstance(meant, BaseEvaluator)}
    revisions = {f"{name}_revision": evaluator.revision(rules) for name, evaluator in evaluators.items()}
    return {name: revision for name, revision in revisions.items() if revision != "1"}


@functools.lru_cache(maxsize=64)
def program(agent: Agent, rules: Rules) -> Program:
    """The agent's program, compiled once."""
    return agent.compile(rules)

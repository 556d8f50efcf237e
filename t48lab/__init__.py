"""t48lab: a research lab for agents that play 2048.

Every public name is loaded when it is first used, so importing the package compiles nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from t48lab.agents import AGENTS as AGENTS
    from t48lab.agents import MCTS as MCTS
    from t48lab.agents import Agent as Agent
    from t48lab.agents import BestFirst as BestFirst
    from t48lab.agents import Expectimax as Expectimax
    from t48lab.agents import Greedy as Greedy
    from t48lab.agents import Minimax as Minimax
    from t48lab.agents import PriorityAgent as PriorityAgent
    from t48lab.agents import RandomAgent as RandomAgent
    from t48lab.agents import make_agent as make_agent
    from t48lab.batch import BatchInterrupted as BatchInterrupted
    from t48lab.batch import iter_batch as iter_batch
    from t48lab.batch import play_batch as play_batch
    from t48lab.board import DIRECTIONS as DIRECTIONS
    from t48lab.board import Board as Board
    from t48lab.board import IllegalMove as IllegalMove
    from t48lab.board import Move as Move
    from t48lab.errors import T48Error as T48Error
    from t48lab.evaluators import PRESETS as PRESETS
    from t48lab.evaluators import Evaluator as Evaluator
    from t48lab.evaluators import Term as Term
    from t48lab.evaluators import get_evaluator as get_evaluator
    from t48lab.games import GameRecord as GameRecord
    from t48lab.games import Position as Position
    from t48lab.games import play as play
    from t48lab.games import replay as replay
    from t48lab.outcomes import tune as tune
    from t48lab.ownterms import line_term as line_term
    from t48lab.parallel import search_together as search_together
    from t48lab.plain import PlainAgent as PlainAgent
    from t48lab.rules import Rules as Rules
    from t48lab.searches import SearchResult as SearchResult
    from t48lab.spawners import AdversarialSpawner as AdversarialSpawner
    from t48lab.spawners import RandomSpawner as RandomSpawner
    from t48lab.spawners import make_spawner as make_spawner
    from t48lab.studies import load_study as load_study

__version__ = "0.1.0"

_NAMES = {
    "agents": "AGENTS MCTS Agent BestFirst Expectimax Greedy Minimax PriorityAgent RandomAgent make_agent",
    "batch": "BatchInterrupted iter_batch play_batch",
    "board": "DIRECTIONS Board IllegalMove Move",
    "errors": "T48Error",
    "evaluators": "PRESETS Evaluator Term get_evaluator",
    "outcomes": "tune",
    "studies": "load_study",
    "games": "GameRecord Position play replay",
    "ownterms": "line_term",
    "parallel": "search_together",
    "plain": "PlainAgent",
    "rules": "Rules",
    "searches": "SearchResult",
    "spawners": "AdversarialSpawner RandomSpawner make_spawner",
}
_HOMES = {name: room for room, names in _NAMES.items() for name in names.split()}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 't48lab' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"t48lab.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})

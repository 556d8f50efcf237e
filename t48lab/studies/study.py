"""Studies: a TOML file becomes a checked plan of what to tune, on which games, and how to confirm it.

title = "Depth 2, the weights of four terms"
trials = 500
games = 200                      # the most that a trial plays
tuning_seed = 101                # base seed of the games that all trials play
baselines = { classic = "expectimax:depth=2,evaluator=classic" }

[agent]
agent = "expectimax:depth=2"
evaluator = "tuned"

[free]
"monotonicity.weight" = true     # the range that the term's record states
"corner.weight" = { low = 1, high = 100, log = true }

A file may start from another one (`base = "other.toml"`) and leave out terms (`without = ["corner"]`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from t48lab.agents import Agent
from t48lab.analysis import COSTS, SCORES
from t48lab.errors import T48Error
from t48lab.experiments import agent_of, beside
from t48lab.files import read_toml
from t48lab.records import Checked, Count, FolderName, Record, Seed, Table, check_keys, checked, nearest, parameter
from t48lab.specs import digest
from t48lab.studies.spaces import Free, evaluator_of, free_parameter, point_of

TEMPLATE = "start"
"""The first baseline of every study: its agent as the file states it."""

_KEYS = (
    "name title base without trials minutes seed games tuning_seed objective sampler pruner importance confirm "
    "sensitivity agent free baselines"
).split()
_MERGED = ("agent", "free", "baselines", "sampler", "pruner", "confirm", "sensitivity")
_DEEP = {"agent": 2}
"""Tables whose own tables are merged as well, down to an evaluator's terms."""


class Sampler(Record):
    """Who proposes the next trial's parameters."""

    name: ClassVar[str] = "sampler"
    kind: Literal["tpe", "cmaes", "random", "gp"] = parameter("tpe", "tpe, cmaes, random, or gp (which needs torch)")
    startup: int = parameter(20, "first trials at random", "trials", ge=1, le=10_000)


class Pruner(Record):
    """When a trial that is clearly worse than the best one ends early."""

    name: ClassVar[str] = "pruner"
    kind: Literal["wilcoxon", "none"] = parameter("wilcoxon", "a signed-rank test against the best trial, or none")
    p: float = parameter(0.1, "a trial ends when it would be as bad by luck with less than this", ge=0.0, le=1.0)
    block: int = parameter(10, "games between two looks", "games", ge=1, le=10_000)
    startup: int = parameter(20, "games before the first look", "games", ge=2, le=10_000)


class Confirmation(Record):
    """The games that no trial has seen."""

    name: ClassVar[str] = "confirm"
    top: int = parameter(5, "best trials that are confirmed", "trials", ge=1, le=100)
    games: int = parameter(400, "games of each confirmed trial and baseline", "games", ge=2, le=10**6)
    seed: Seed = parameter(102, "base seed of the games that choose among them")
    report_games: int = parameter(400, "games of the chosen one and the baselines", "games", ge=2, le=10**6)
    report_seed: Seed = parameter(103, "base seed of the games that say how good the chosen one is")


class Sensitivity(Record):
    """Games around the winner, one parameter changed at a time."""

    name: ClassVar[str] = "sensitivity"
    points: int = parameter(0, "values of each parameter; 0 = no such games", ge=0, le=100)
    games: int = parameter(100, "games at each value", "games", ge=2, le=10**6)
    seed: Seed = parameter(104, "base seed of these games")


def _by_kind(value: Any) -> Any:
    """A record's table, from it or from the kind alone."""
    return {"kind": value} if isinstance(value, str) else value


def _objectives(value: Any) -> tuple[str, ...]:
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, (list, tuple)) or len(names) not in (1, 2):
        raise T48Error(f'objective must be one such as "mean_score", or a list of a score and a cost, got {value!r}')
    for name, known in zip(names, (SCORES, COSTS), strict=False):
        if name not in known:
            raise T48Error(f"objective {name!r} is unknown, {nearest(str(name), known)}")
    return tuple(names)


class Plan(Checked):
    """A checked study; `load_study` makes one from a file."""

    name: FolderName
    title: str = ""
    agent: Agent
    space: tuple[Free, ...]
    trials: Count = 100
    minutes: float | None = Field(None, gt=0, le=1e6, strict=True)
    seed: Seed = 1
    games: Count = 200
    tuning_seed: Seed = 101
    objectives: Annotated[tuple[str, ...], BeforeValidator(_objectives)] = ("mean_score",)
    sampler: Annotated[Sampler, BeforeValidator(_by_kind)] = Sampler()
    pruner: Annotated[Pruner, BeforeValidator(_by_kind)]
    importance: Literal["pedanova", "fanova"] = "pedanova"
    confirm: Confirmation = Confirmation()
    sensitivity: Sensitivity = Sensitivity()
    baselines: dict[str, Agent]

    @property
    def record(self) -> dict[str, Any]:
        """Everything that decides what a trial's figures mean and which trials come, as plain data."""
        record = {
            "engine": self.agent.engine,
            "agent": self.agent.resolved(),
            "free": {free.name: free.plain() for free in self.space},
            "games": self.games,
            "tuning_seed": self.tuning_seed,
            "seed": self.seed,
            "objective": list(self.objectives),
            "sampler": self.sampler.model_dump(),
            "pruner": self.pruner.model_dump(),
        }
        return dict(json.loads(json.dumps(record, allow_nan=False)))

    @property
    def key(self) -> str:
        """Sixteen hexadecimal digits that stand for the record."""
        return digest(self.record)

    @property
    def starts(self) -> list[dict[str, Any]]:
        """The points of the space at which baselines lie: the first trials of a study."""
        found = (point_of(agent, self.agent, self.space) for agent in self.baselines.values())
        return [point for point in found if point is not None]

    def seeds(self) -> dict[str, int]:
        """Base seed of each kind of games by name."""
        return {
            "tuning_seed": self.tuning_seed,
            "confirm.seed": self.confirm.seed,
            "confirm.report_seed": self.confirm.report_seed,
            "sensitivity.seed": self.sensitivity.seed,
        }


def load_study(path: str | Path, trials: int | None = None) -> Plan:
    """The study that a TOML file describes, `trials` in place of the file's; raises T48Error."""
    path = Path(path)
    given = {} if trials is None else {"trials": checked(Count, trials, "trials")}
    try:
        return make_study(_read(path, []) | given, path.stem)
    except T48Error as error:
        raise T48Error(str(error) if str(path) in str(error) else f"{path}: {error}") from None


def _read(path: Path, seen: list[Path]) -> dict[str, Any]:
    """The file's data on top of the data of the file that it starts from."""
    data = read_toml(path, "a study's")
    if "agent" in data:
        data["agent"] = beside(data["agent"], path.parent)
    if isinstance(baselines := data.get("baselines"), dict):
        data["baselines"] = {label: beside(value, path.parent) for label, value in baselines.items()}
    if path.resolve() in seen:
        raise T48Error(f"{path} starts from itself, give base the name of another file")
    if "base" not in data:
        return data
    below = _read(path.parent / checked(str, data.pop("base"), "base"), [*seen, path.resolve()])
    below.pop("name", None)
    merged = {
        key: _over(below[key], data[key], _DEEP.get(key, 0))
        for key in _MERGED
        if all(isinstance(d.get(key), dict) for d in (below, data))
    }
    return below | data | merged


def _over(below: dict[str, Any], above: dict[str, Any], levels: int) -> dict[str, Any]:
    """The two tables in one, `above` winning; tables within them likewise, `levels` down."""
    both = {key: below.get(key) for key, value in above.items() if isinstance(value, dict)} if levels else {}
    inner = {key: _over(low, above[key], levels - 1) for key, low in both.items() if isinstance(low, dict)}
    return below | above | inner


def make_study(data: Mapping[str, Any], name: str) -> Plan:
    """The study of a mapping with the keys of the TOML file; raises T48Error that names the bad one."""
    check_keys(data, _KEYS)
    without = _without(data.get("without", []))
    agent = _agent(data.get("agent"), without)
    stated = {key: value for key, value in data.items() if key in Plan.model_fields}
    objectives = _objectives(data.get("objective", "mean_score"))
    pruner = "wilcoxon" if len(objectives) == 1 else "none"
    made = {
        "agent": agent,
        "objectives": objectives,
        "space": _space(checked(Table, data.get("free"), "free"), agent, without),
        "baselines": _baselines(checked(Table, data.get("baselines", {}), "baselines"), agent),
    }
    plan = Plan(**{"name": name, "pruner": pruner} | stated | made)
    _check(plan)
    return plan


def _check(plan: Plan) -> None:
    seeds: dict[int, str] = {}
    for name, seed in plan.seeds().items():
        if seed in seeds:
            raise T48Error(f"{seeds[seed]} and {name} are both {seed}: give each kind of games a seed of its own")
        seeds[seed] = name
    if len(plan.objectives) > 1 and plan.pruner.kind != "none":
        raise T48Error('a study of two objectives cannot prune, write pruner = "none"')
    if plan.sampler.kind == "cmaes" and (len(plan.objectives) > 1 or any(free.choices for free in plan.space)):
        raise T48Error("sampler cmaes takes one objective and ranges of numbers only, take tpe")


def _agent(value: Any, without: Sequence[str]) -> Agent:
    try:
        agent = agent_of(value)
        if not without:
            return agent
        return agent.changed(evaluator=evaluator_of(agent).without(without))
    except T48Error as error:
        raise T48Error(f"agent: {error}") from None


def _without(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(term, str) for term in value):
        raise T48Error(f'without must be a list of terms such as ["corner"], got {value!r}')
    return value


def _space(table: dict[str, Any], agent: Agent, without: Sequence[str]) -> tuple[Free, ...]:
    kept = {name: value for name, value in table.items() if name.partition(".")[0] not in without}
    space = tuple(free_parameter(name, value, agent) for name, value in kept.items() if value is not False)
    if not space:
        raise T48Error('free is empty, add a line such as "empty.weight" = true')
    return space


def _baselines(table: dict[str, Any], template: Agent) -> dict[str, Agent]:
    found: dict[str, Agent] = {TEMPLATE: template}
    for label, value in table.items():
        try:
            agent = agent_of(value)
        except T48Error as error:
            raise T48Error(f"baseline {label!r}: {error}") from None
        twin = next((other for other, known in found.items() if known.key() == agent.key()), None)
        if twin is not None:
            raise T48Error(f"baselines {twin!r} and {label!r} have the same parameters, keep one")
        found[label] = agent
    return found

"""Experiments: a TOML file becomes checked records, and records become a results folder.

title = "Two agents"
games = 100                      # of each agent; an agent may have a number of its own
seed = 2048
baseline = "greedy"

[agents]
greedy = "greedy:by=reward"
"expectimax 2" = { agent = "expectimax", depth = 2, games = 50, group = "Searches" }
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator

from t48lab.agents import AGENTS, NAMED, Agent, RandomSpawner, Spawner, make_spawner
from t48lab.analysis import pairs, summary
from t48lab.errors import T48Error
from t48lab.evaluators import is_path
from t48lab.experiments.manifest import finish_run, start_run
from t48lab.experiments.store import GameKey, Store, are_asked
from t48lab.files import read_toml
from t48lab.games import iter_batch
from t48lab.records import Checked, Count, FolderName, Seed, StopTile, Table, check_keys, checked, nearest
from t48lab.rules import Rules
from t48lab.specs import split_named

if TYPE_CHECKING:
    import pandas as pd

_EVALUATOR = re.compile(r"([:,]\s*evaluator\s*=\s*)(\"[^\"]*\"|[^,\"{]+)")
"""An evaluator that a spec names, in quotes or without."""

_OWN_KEYS = ("agent", "games", "group")
_KEYS = ("name", "title", "games", "seed", "spawners", "rules", "stop_tile", "baseline", "agents")

Missing = tuple["Entry", Spawner, set[int]]
"""An entry and a spawner that lack games, and the games that are there."""


class Entry(Checked):
    """An agent of an experiment: its label in tables, how many games it plays, and the section it stands in."""

    label: str
    agent: Agent
    games: Count
    group: str = ""


def _spawners(value: Any) -> tuple[Spawner, ...]:
    specs = [value] if isinstance(value, str) else value
    if not isinstance(specs, (list, tuple)) or not specs or len({str(spec) for spec in specs}) < len(specs):
        raise T48Error(f'spawners must be a list of different specs such as ["random"], got {value!r}')
    return tuple(make_spawner(spec) for spec in specs)


class Experiment(Checked):
    """A checked experiment; `load_experiment` makes one from a file."""

    name: FolderName
    title: str = ""
    seed: Seed = 2048
    entries: tuple[Entry, ...]
    spawners: Annotated[tuple[Spawner, ...], BeforeValidator(_spawners)] = (RandomSpawner(),)
    rules: Rules = Rules()
    stop_tile: StopTile = None
    baseline: str

    @cached_property
    def keys(self) -> dict[str, str]:
        """The label of every agent_key that this experiment plays."""
        return {key: entry.label for entry in self.entries for key in self.keys_of(entry).values()}

    @property
    def parameters(self) -> dict[str, dict[str, Any]]:
        """By label everything that an agent_key stands for, as plain data."""
        shared = {"rules": self.rules.model_dump(), "stop_tile": self.stop_tile}
        return {entry.label: entry.agent.resolved() | shared for entry in self.entries}

    def keys_of(self, entry: Entry) -> dict[str, str]:
        """The agent_key of an entry by the spec of each spawner."""
        return {s.spec: entry.agent.key(self.rules, self.stop_tile, s) for s in self.spawners}


def load_experiment(path: str | Path, games: int | None = None, seed: int | None = None) -> Experiment:
    """The experiment that a TOML file describes, `games` and `seed` in place of the file's; raises T48Error."""
    path = Path(path)
    given = {} if seed is None else {"seed": checked(Seed, seed, "seed")}
    games = None if games is None else checked(Count, games, "games")
    data = read_toml(path)
    try:
        if isinstance(agents := data.get("agents"), dict):
            data["agents"] = {label: beside(value, path.parent) for label, value in agents.items()}
        return make_experiment(data | given, path.stem, games)
    except T48Error as error:
        raise T48Error(f"{path}: {error}") from None


def make_experiment(data: Mapping[str, Any], name: str, games: int | None = None) -> Experiment:
    """The experiment of a mapping with the keys of the TOML file; raises T48Error that names the bad one."""
    check_keys(data, _KEYS)
    tables = checked(Table, data.get("agents"), "agents")
    if not tables:
        raise T48Error('agents is empty, add a line such as "expectimax 2" = "expectimax:depth=2"')
    default = checked(Count, data.get("games", 100), "games")
    entries = tuple(_entry(label, value, default, games) for label, value in tables.items())
    stated = {key: value for key, value in data.items() if key not in ("games", "agents")}
    experiment = Experiment(**{"name": name, "baseline": entries[0].label} | stated, entries=entries)
    _check_baseline(experiment)
    _check_distinct(experiment)
    return experiment


def _entry(label: str, value: Any, default: int, games: int | None) -> Entry:
    try:
        if not label.strip():
            raise T48Error("an agent needs a label that is not empty")
        agent = agent_of(value)
        own = {} if isinstance(value, str) else {key: value[key] for key in ("games", "group") if key in value}
        entry = Entry(**{"games": default} | own, label=label, agent=agent)
        return entry if games is None else entry.changed(games=games)
    except T48Error as error:
        raise T48Error(f"agent {label!r}: {error}") from None


def beside(value: Any, folder: Path) -> Any:
    """What `agent_of` reads, an evaluator's file looked for from this folder, that of the file that names it."""
    if isinstance(value, str):
        return _EVALUATOR.sub(lambda found: found[1] + json.dumps(_placed(found[2].strip().strip('"'), folder)), value)
    if not isinstance(value, Mapping):
        return value
    placed = {name: _placed(value[name], folder) for name in ("evaluator",) if name in value}
    spec = {"agent": beside(value["agent"], folder)} if isinstance(value.get("agent"), str) else {}
    return {**value, **placed, **spec}


def _placed(choice: Any, folder: Path) -> Any:
    return str(folder / choice) if is_path(choice) else choice


def agent_of(value: Any) -> Agent:
    """The agent of a spec, or of a table: a kind or spec under `agent`, any parameters beside it; raises T48Error."""
    table = {"agent": value} if isinstance(value, str) else value
    if not isinstance(table, Mapping):
        raise T48Error(f'it must be a spec or a table such as {{ agent = "mcts", seed = 1 }}, got {value!r}')
    if not isinstance(table.get("agent"), str):
        raise T48Error('it needs a kind or spec, such as agent = "expectimax"')
    name, stated = split_named(table["agent"], NAMED)
    if name not in AGENTS:
        raise T48Error(f"unknown agent {name!r}, {nearest(name, AGENTS)}")
    given = {key: value for key, value in table.items() if key not in _OWN_KEYS}
    check_keys(given, [*AGENTS[name].model_fields, *_OWN_KEYS])
    for key in given:
        if key in stated:
            raise T48Error(f"{key} is given twice, in the spec and beside it, keep one")
    return AGENTS[name](**stated, **given)


def _check_baseline(experiment: Experiment) -> None:
    labels = [entry.label for entry in experiment.entries]
    if experiment.baseline not in labels:
        known = nearest(experiment.baseline, labels)
        raise T48Error(f"baseline {experiment.baseline!r} is no agent of this experiment, {known}")


def _check_distinct(experiment: Experiment) -> None:
    seen: dict[str, str] = {}
    for entry in experiment.entries:
        for key in experiment.keys_of(entry).values():
            if key in seen:
                raise T48Error(f"agents {seen[key]!r} and {entry.label!r} have the same parameters, keep one")
        seen |= dict.fromkeys(experiment.keys_of(entry).values(), entry.label)


def run_experiment(
    experiment: Experiment,
    out: str | Path | None = None,
    workers: int | None = None,
    progress: bool = False,
    executor: Executor | None = None,
) -> pd.DataFrame:
    """The games that the experiment asks for, after playing those that its folder (default results/<name>) lacks.

    Writes games/, manifest.json, summary.csv and pairs.csv there. Ctrl-C keeps what is finished; the same call
    goes on from there. Raises T48Error, before anything is written, when the folder holds another experiment's
    games or another process is writing to it.
    """
    store = Store(out or Path("results") / experiment.name)
    store.check(experiment.name, experiment.keys, experiment.parameters)
    workers = None if workers is None else checked(Count, workers, "workers")
    with store.lock():
        store.check(experiment.name, experiment.keys, experiment.parameters)
        played = store.played()
        tasks = list(_missing(experiment, played))
        if tasks or not store.manifest().get("finished"):
            _play(experiment, store, tasks, workers, progress, executor)
        ask(experiment, store)
        frame = store.asked()
        store.write_table("summary", summary(frame))
        store.write_table("pairs", pairs(frame, experiment.baseline))
    return frame


def ask(experiment: Experiment, store: Store) -> None:
    """Notes in the manifest which games are asked for, where the folder holds others too: older ones stay stored."""
    asked = {
        "seed": experiment.seed,
        "games": {key: entry.games for entry in experiment.entries for key in experiment.keys_of(entry).values()},
    }
    manifest = store.manifest()
    whole = bool(are_asked(store.frame(), asked).all())
    if manifest.get("asked", asked if whole else None) != asked:
        store.write_manifest(manifest | {"asked": asked})


def _missing(experiment: Experiment, played: set[GameKey]) -> Iterator[Missing]:
    """Each entry and spawner that lacks games, with the games that it has."""
    known: dict[tuple[str, str], set[int]] = defaultdict(set)
    for key, spec, seed, game in played:
        if seed == experiment.seed:
            known[key, spec].add(game)
    for entry in experiment.entries:
        for spawner in experiment.spawners:
            has = known[experiment.keys_of(entry)[spawner.spec], spawner.spec]
            if not has.issuperset(range(entry.games)):
                yield entry, spawner, has


def _play(
    experiment: Experiment,
    store: Store,
    tasks: list[Missing],
    workers: int | None,
    progress: bool,
    executor: Executor | None,
) -> None:
    manifest = start_run(facts(experiment), store.manifest(), getattr(executor, "place", {}))
    store.write_manifest(manifest)
    for entry, spawner, has in tasks:
        parts = iter_batch(
            entry.agent,
            entry.games,
            experiment.seed,
            workers,
            executor,
            spawner,
            experiment.rules,
            experiment.stop_tile,
            progress,
            has,
            entry.label,
        )
        for part in parts:
            store.add(part)
    store.compact()
    if any(_missing(experiment, store.played())):
        raise T48Error(f"games were removed from {store.games} during the run, run the same command again")
    store.write_manifest(finish_run(manifest))


def facts(experiment: Experiment) -> dict[str, Any]:
    """What the manifest says of the experiment itself."""
    return {
        "experiment": experiment.name,
        "title": experiment.title,
        "baseline": experiment.baseline,
        "seeds": [experiment.seed],
        "spawners": [spawner.resolved() for spawner in experiment.spawners],
        "rules": experiment.rules.model_dump(),
        "stop_tile": experiment.stop_tile,
        "agents": {entry.label: _described(experiment, entry) for entry in experiment.entries},
    }


def _described(experiment: Experiment, entry: Entry) -> dict[str, Any]:
    return {
        "agent_keys": experiment.keys_of(entry),
        "spec": entry.agent.spec,
        "games": entry.games,
        "group": entry.group,
        "parameters": entry.agent.resolved(),
    }

"""Manifests: what a results folder was played with, where and when."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ConfigDict, Field

from t48lab.errors import T48Error
from t48lab.kernels import sources
from t48lab.machine import commit, machine, now, versions
from t48lab.records import Checked, Count, Seed, StopTile
from t48lab.rules import Rules


class _Kept(Checked):
    """Facts of a manifest that the lab reads; others may stand beside them."""

    model_config = ConfigDict(extra="allow")


class _Run(_Kept):
    started: str | None = None
    finished: str | None = None
    commit: str | None = None
    kernels: str | None = None
    versions: Mapping[str, str | None] = Field(default_factory=dict)
    machine: Mapping[str, Any] = Field(default_factory=dict)


class _Agent(_Kept):
    agent_keys: dict[str, str]
    spec: str = "random"
    games: Count = 1
    group: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict)


class _Asked(_Kept):
    seed: Seed
    games: dict[str, Count]


class _Manifest(_Run):
    experiment: str | None = None
    title: str | None = None
    baseline: str | None = None
    seeds: tuple[Seed, ...] = ()
    spawners: tuple[dict[str, Any], ...] = ()
    rules: Rules = Rules()
    stop_tile: StopTile = None
    agents: dict[str, _Agent]
    runs: tuple[_Run, ...] = ()
    asked: _Asked | None = None


def check_manifest(data: Any) -> None:
    """Raises T48Error at the first fact of a manifest that is of another kind than a run writes."""
    if not isinstance(data, dict):
        raise T48Error("it must be a table")
    _Manifest(**data)


def start_run(
    facts: Mapping[str, Any], before: Mapping[str, Any], place: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The manifest while a run goes on; `facts` describe the experiment, `before` is the manifest until now.

    `facts` needs "seeds" (a list) and "agents" (by label, each with "agent_keys" by spawner). Seeds and agents
    that were played earlier stay listed, and so do earlier runs: their games are still there. `place` is what
    there is to say of this run's workers when they are on other machines.
    """
    run: dict[str, Any] = {"started": now(), "finished": None, "commit": commit(), "kernels": sources()}
    run |= {"versions": versions(), "machine": machine(), **(place or {})}
    known = {key for agent in facts["agents"].values() for key in agent["agent_keys"].values()}
    older = {
        label: agent
        for label, agent in before.get("agents", {}).items()
        if known.isdisjoint(agent["agent_keys"].values())
    }
    return {
        **facts,
        "seeds": sorted({*before.get("seeds", []), *facts["seeds"]}),
        "agents": {**facts["agents"], **older},
        **run,
        "started": before.get("started", run["started"]),
        "runs": [*before.get("runs", []), run],
    }


def finish_run(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest with the time at which its last run finished."""
    *earlier, last = manifest["runs"]
    end = {"finished": now()}
    return {**manifest, **end, "runs": [*earlier, last | end]}

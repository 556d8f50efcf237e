"""Manifests: what a results folder was played with, where and when."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from t48lab.kernels import sources
from t48lab.machine import commit, machine, now, versions


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

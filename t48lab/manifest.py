"""Manifests: what a results folder was played with, where and when."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import t48lab
from t48lab.kernels import sources

LIBRARIES = ("numpy", "numba", "llvmlite", "pandas", "pyarrow", "scipy")


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


def versions() -> dict[str, str]:
    """The versions that results may depend on, by name."""
    own = {"t48lab": t48lab.__version__, "python": platform.python_version()}
    return own | {name: metadata.version(name) for name in LIBRARIES}


def machine() -> dict[str, str | int]:
    """Processor, how many of them this process may use, and operating system."""
    return {"processor": _processor(), "cores": len(os.sched_getaffinity(0)), "system": platform.system()}


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    found = re.search(r"^model name\s*:\s*(.+)$", text, flags=re.MULTILINE)
    return found[1].strip() if found else platform.processor() or platform.machine()


def commit() -> str | None:
    """The commit of the checkout that this code runs from, `+` behind it when its files differ; None outside of one."""
    git = ["git", "-C", str(Path(__file__).parent)]
    try:
        head = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, timeout=10, check=True)
        same = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", "."], timeout=10, check=False).returncode == 0
    except (OSError, subprocess.SubprocessError):
        return None
    return head.stdout.strip() + ("" if same else "+")


def now() -> str:
    """The time in UTC, to the second, as ISO 8601 writes it."""
    return datetime.now(UTC).isoformat(timespec="seconds")

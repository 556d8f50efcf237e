"""What a notebook shows beside its figures: the manifest at its end, so that a reader can play the same games."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from t48lab.experiments.sheets import Sheet
from t48lab.experiments.store import Store
from t48lab.machine import commit, machine, now, versions


def manifest_sheet(results: str | Path | None = None, **live: object) -> Sheet:
    """The table of what a notebook rests on: `live` facts of the games it played itself, and a results folder's own."""
    here = {**live, "played": now(), "commit": commit(), "versions": versions(), "machine": machine()}
    sections = [("live, in this notebook", _rows(here))]
    if results is not None:
        stored = Store(results).manifest()
        games = {label: agent["games"] for label, agent in stored.get("agents", {}).items()}
        counts = sorted(set(games.values()))
        facts: dict[str, Any] = {"experiment": stored.get("experiment"), "agents": len(games)}
        facts["games each"] = " to ".join(f"{count:,}" for count in dict.fromkeys([counts[0], counts[-1]]))
        facts |= {name: stored.get(name) for name in ("seeds", "started", "finished", "commit", "versions", "machine")}
        sections.append((f"stored, {'/'.join(Path(results).resolve().parts[-2:])}", _rows(facts)))
    note = "The same seeds, commit and versions give the same games."
    return Sheet("Manifest", ["fact", "value"], sections, note, words=True)


def _rows(facts: Mapping[str, object]) -> list[list[str]]:
    return [[name.replace("_", " "), _words(value)] for name, value in facts.items()]


def _words(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {part}" for name, part in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return "unknown" if value is None else str(value)

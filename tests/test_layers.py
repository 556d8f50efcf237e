"""Imports point down: a room may import only rooms that stand before it in ROOMS."""

import ast
import sys
from pathlib import Path

import pytest

ROOMS = (
    "errors kernels records rules board terms presets tables ownterms evaluators specs programs searches "
    "spawners systems agents parallel plain progress chunks games diagnostics batch manifest results stats budgets "
    "cluster experiment sequential duel claims verify trees spaces studies storage workers samplers trials tuning "
    "confirm importance plots tuning_plots budget_plots claim_plots figures outcomes treeart pictures viewer report "
    "essays commands cli"
).split()
SEARCHES = {"expectimax", "minimax", "mcts", "bestfirst"}
TOP = Path(__file__).parents[1] / "t48lab"
MODULES = sorted(TOP.rglob("*.py"))


def imported(path):
    """Dotted names of everything that a module imports, wherever in it the import stands."""
    package = path.relative_to(TOP.parent).parent.parts
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = [*package[: len(package) - node.level + 1]] if node.level else []
            stem = [*base, *(node.module.split(".") if node.module else [])]
            yield from (".".join([*stem, alias.name]) for alias in node.names)


def own(path):
    """The parts below t48lab of the package's own modules that a module imports."""
    return [parts[1:] for name in imported(path) if (parts := name.split("."))[0] == "t48lab" and parts[1:]]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(TOP)))
def test_imports_point_down(path):
    room = path.relative_to(TOP).with_suffix("").parts[0]
    if room in ("__init__", "__main__"):
        return
    assert room in ROOMS, f"{room} is a new room: give it a place in ROOMS and in docs/architecture.md"
    below = ROOMS[: ROOMS.index(room)] + [room] * (path.parent != TOP)
    assert [parts for parts in own(path) if parts[0] not in below] == []


@pytest.mark.parametrize("path", sorted((TOP / "kernels").glob("*.py")), ids=lambda path: path.stem)
def test_kernels_know_numbers_only(path):
    allowed = {"numpy", "numba", "llvmlite", "t48lab", *sys.stdlib_module_names}
    assert {name.split(".")[0] for name in imported(path)} <= allowed
    if path.stem in SEARCHES:
        assert [parts for parts in own(path) if SEARCHES & set(parts) - {path.stem}] == []

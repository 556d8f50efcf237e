"""Every committed result is found again: its agents' keys, made anew from their parameters, are those it is kept by."""

import json
from pathlib import Path

import pytest

from t48lab import AGENTS, Rules, make_agent, make_spawner

FOLDER = Path(__file__).parents[1] / "results"
MANIFESTS = sorted(FOLDER.glob("**/manifest.json"))


def stored(manifest):
    """Parameters, rules, stop tile, spawner and key of every agent that a manifest names."""
    if "study" in manifest:
        yield manifest["found"], Rules(), None, None, manifest["found"]["agent_key"]
        return
    spawners = {make_spawner(spec["name"]).spec: spec for spec in manifest["spawners"]}
    for agent in manifest["agents"].values():
        for spawner, key in agent["agent_keys"].items():
            assert len(spawners) == 1 or spawner in spawners
            yield agent, Rules(**manifest["rules"]), manifest["stop_tile"], make_spawner(spawner), key


def remade(described):
    """The agent of its parameters alone, or where these hold a net's hash, of its spec."""
    parameters = described["parameters"]
    if isinstance(parameters.get("evaluator"), dict) and "sha256" in parameters["evaluator"]:
        return make_agent(described["spec"])
    return AGENTS[parameters["name"]](**{name: value for name, value in parameters.items() if name != "name"})


def test_there_are_results():
    assert len(MANIFESTS) > 20


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: str(path.parent.relative_to(FOLDER)))
def test_keys_stay(path):
    for described, rules, stop_tile, spawner, key in stored(json.loads(path.read_text(encoding="utf-8"))):
        agent = remade(described)
        assert agent.key(rules, stop_tile, spawner) == key
        assert json.loads(json.dumps(agent.resolved())) == described["parameters"]
        assert make_agent(agent.spec) == agent

"""Training against a slow twin, the promises of a checkpoint, and the traps of learned evaluators."""

import json
import threading

import numpy as np
import pytest
from numba import config
from reference_training import Trainer

from t48lab import T48Error
from t48lab.learning import STRUCTURES, Structure, Training, load_training, open_net, train
from t48lab.learning import trainer as trainer_module

JIT = not config.DISABLE_JIT
RULES = {"3x3": {"rows": 3, "cols": 3}, "2x3": {"rows": 2, "cols": 3}, "2x4": {"rows": 2, "cols": 4}, "4x4": {}}
NETWORKS = {"3x3": ["012", "0134", "345"], "2x3": ["0134", "012"], "2x4": ["0145", "0123"], "4x4": "4x5"}
METHODS = {
    "td": {"method": "td", "rate": 0.1, "final_rate": 0.01},
    "tc": {"method": "tc", "initial": 500.0},
    "backward_td": {"method": "backward_td", "rate": 0.1, "trace": 0.7, "restart": 20},
    "backward_tc": {"method": "backward_tc", "restart": 20, "stages": [16, 64], "promotion": 4},
}


def training(size="4x4", method="td", **changes):
    numbers = {"network": NETWORKS[size], "rules": RULES[size], "games": 8, "seed": 7, **METHODS[method]}
    return Training(**(numbers | changes))


def twin(plan):
    patterns = [[int(digit, 16) for digit in pattern] for pattern in plan.structure.patterns]
    return Trainer(
        patterns, plan.rules.rows, plan.rules.cols, plan.coherent, plan.method.startswith("backward"), plan.rate,
        plan.final_rate, plan.trace, plan.initial, plan.restart, [tile.bit_length() - 1 for tile in plan.stages],
        plan.promotion, plan.games, plan.seed,
    )  # fmt: skip


def entry(structure, key):
    """The place of a twin's weight in the array of all weights."""
    stage, k, ranks = key
    sizes = [16 ** len(pattern) for pattern in structure.patterns]
    index = sum(rank * 16 ** (len(ranks) - 1 - i) for i, rank in enumerate(ranks))
    return stage * structure.entries + sum(sizes[:k]) + index


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", RULES)
def test_weights_are_those_of_the_slow_twin(size, method, tmp_path):
    plan = training(size, method, games=8 if JIT or size != "4x4" else 1)
    slow, net = twin(plan), train(plan, tmp_path)
    slow.train(plan.games)
    places = {entry(plan.structure, key): weight for key, weight in slow.weights.items()}
    assert {place: net.weights[place] for place in places} == places
    changed = np.flatnonzero(net.weights[: plan.structure.entries] != slow.blank)
    assert set(changed.tolist()) <= set(places)
    assert net.facts["curve"][0][1] == sum(slow.scores)
    if plan.coherent:
        sums = {entry(plan.structure, key): pair for key, pair in slow.sums.items()}
        assert {place: tuple(net.sums[2 * place : 2 * place + 2]) for place in sums} == sums


@pytest.mark.compiled
@pytest.mark.parametrize("method", METHODS)
def test_an_interrupted_training_ends_with_the_same_net(method, tmp_path):
    whole = train(training("3x3", method, games=60), tmp_path / "whole")
    steps = (1, 4, 37, 60) if METHODS[method].get("final_rate") is None else (60,)
    for games in steps:
        parts = train(training("3x3", method, games=games), tmp_path / "parts")
    assert parts.digest == whole.digest
    assert parts.facts["curve"] == whole.facts["curve"]


@pytest.mark.compiled
def test_ctrl_c_keeps_every_finished_game(tmp_path, monkeypatch):
    plan = training("3x3", "tc", games=400)
    whole = train(plan, tmp_path / "whole")
    wait, calls = trainer_module.wait, []

    def interrupted(futures):
        calls.append(futures)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return wait(futures)

    monkeypatch.setattr(trainer_module, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        train(plan, tmp_path / "parts")
    assert len(calls) == 2
    assert train(plan, tmp_path / "parts").digest == whole.digest


def test_a_correction_is_shared_by_all_look_ups(tmp_path):
    """What the first game teaches, which is played from blank weights, is the same with one pattern and with three."""
    taught = []
    for network in (["012"], ["012", "0134", "345"]):
        plan = training("3x3", "backward_td", network=network, rate=1e-6, trace=1.0, restart=0, games=1)
        taught.append(train(plan, tmp_path / str(len(network))).weights.sum(dtype=float))
    assert taught[0] > 0
    assert taught[1] == pytest.approx(taught[0], rel=1e-3)


def test_the_initial_value_is_that_of_a_board(tmp_path):
    plan = Training(network="4x5", method="td", rate=1e-9, initial=3200.0, games=1)
    net = train(plan, tmp_path)
    assert net.weights[12345] == np.float32(3200.0 / 32)


def test_weights_without_bounds_are_an_error(tmp_path):
    with pytest.raises(T48Error, match=r"the weights grew beyond all bounds in game \d+, lower the rate"):
        train(Training(network=["012"], rules=RULES["3x3"], method="td", rate=10.0, games=20_000), tmp_path)
    assert not (tmp_path / "checkpoint.net").exists()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"network": "4x7"}, "unknown structure '4x7', did you mean '4x6'?, or list the cells of each pattern"),
        ({"network": ["0123", "37bf"]}, "pattern 37bf is a symmetric copy of 0123, leave one of them out"),
        ({"network": ["0123", "0123"]}, "pattern 0123 is a symmetric copy of 0123, leave one of them out"),
        ({"network": ["0012"]}, "pattern '0012' must name 1 to 7 cells, each once"),
        ({"network": ["01234567"]}, "pattern '01234567' must name 1 to 7 cells, each once"),
        ({"network": ["01g"]}, "pattern '01g' must name cells 0 to f of the 4x4 board"),
        ({"network": [""]}, "pattern '' must name cells 0 to f of the 4x4 board"),
        ({"network": []}, "a network has 1 to 16 patterns, got 0"),
        ({"network": ["09"], "rules": {"rows": 3, "cols": 3}}, "pattern '09' must name cells 0 to 8 of the 3x3 board"),
        ({"stages": [1000]}, "stages must be tiles up to 32768 in ascending order, got [1000]"),
        ({"stages": [2048, 1024]}, "stages must be tiles up to 32768 in ascending order, got [2048, 1024]"),
        ({"rate": float("nan")}, "rate must be a finite number, got nan"),
        ({"rate": 0.0}, "rate must be more than 0, got 0.0"),
        ({"trace": 1.5}, "trace must be 1 or less, got 1.5"),
        ({"method": "q"}, "method must be td, tc, backward_td or backward_tc, got 'q'"),
        ({"games": 0}, "games must be 1 or more games, got 0"),
        ({"lamda": 0.5}, "training has no parameter 'lamda'"),
    ],
)
def test_errors_name_the_value_and_the_remedy(given, message):
    with pytest.raises(T48Error) as error:
        Training(**given)
    assert message in str(error.value)


def test_named_structures_have_no_copies():
    for name in STRUCTURES:
        assert Structure(patterns=name).lookups == 8 * len(STRUCTURES[name].split())


def test_a_training_comes_from_a_file(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text('network = ["012"]\nmethod = "tc"\n[rules]\nrows = 3\ncols = 3\n')
    assert load_training(path, games=5).model_dump()["games"] == 5
    assert load_training(path).structure.symmetries == 8
    path.write_text("rate = 11.0\n")
    with pytest.raises(T48Error, match=r"small\.toml: rate must be 10 or less, got 11\.0"):
        load_training(path)


def test_another_training_is_refused(tmp_path):
    train(training("3x3", "tc"), tmp_path)
    with pytest.raises(T48Error, match=r"comes from a training with another rate \(1\.0\), choose another --out"):
        train(training("3x3", "tc", rate=0.5), tmp_path)


def test_what_is_known_of_a_net_that_is_gone_is_not_overwritten(tmp_path):
    net = train(training("3x3", "td"), tmp_path)
    net.path.unlink()
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.suffix != ".lock"}
    with pytest.raises(T48Error, match="whose net is not there, choose another --out"):
        train(training("3x3", "td"), tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.suffix != ".lock"} == before


def test_a_folder_trains_one_training_at_a_time(tmp_path):
    with trainer_module._locked(tmp_path), pytest.raises(T48Error, match="is in use by another training"):
        train(training("3x3", "tc"), tmp_path)


@pytest.mark.compiled
def test_nets_of_several_threads_say_that_they_never_repeat(tmp_path):
    before = threading.active_count()
    net = train(training("3x3", "tc", games=300), tmp_path, threads=2)
    assert (net.facts["threads"], net.facts["repeatable"]) == (2, False)
    assert net.games == 300 == sum(block[0] for block in net.facts["curve"])
    assert train(training("3x3", "tc", games=301), tmp_path).facts["repeatable"] is False
    assert threading.active_count() == before


@pytest.mark.compiled
@pytest.mark.parametrize("method", ["tc", "backward_tc"])
def test_learning_pays(method, tmp_path):
    curve = train(training("4x4", method, games=2000, stages=[], promotion=0, restart=0, initial=0.0), tmp_path)
    first, second = (block[1] / block[0] for block in curve.facts["curve"])
    assert 5000 < first < second
    assert second > 15000


@pytest.mark.parametrize("damage", ["head", "weights", "cut", "foreign", "empty", "newer"])
def test_damaged_nets_are_refused(damage, tmp_path):
    path = train(training("3x3", "tc"), tmp_path).path
    data = bytearray(path.read_bytes())
    if damage == "head":
        data[100] ^= 1
    elif damage == "weights":
        data[-1] ^= 1
    elif damage == "newer":
        data = data.replace(b"t48lab net 1", b"t48lab net 2", 1)
    else:
        data = {"cut": data[:-1], "foreign": b"PK" + bytes(99), "empty": b""}[damage]
    path.write_bytes(data)
    messages = {
        "head": "the checksum of its head does not match",
        "weights": "the checksum of its sums does not match",
        "cut": "is damaged",
        "foreign": "is not a net of t48lab",
        "empty": "is not a net of t48lab",
        "newer": "has version 2, this t48lab reads up to 1: upgrade t48lab",
    }
    with pytest.raises(T48Error, match=messages[damage]):
        open_net(path).verify()
    with pytest.raises(T48Error, match=messages[damage]):
        train(training("3x3", "tc", games=9), tmp_path)


def test_a_missing_net_is_named(tmp_path):
    with pytest.raises(T48Error, match=r"cannot read .*none\.net \(no such file or directory\), give the path"):
        open_net(tmp_path / "none.net")


def test_a_net_is_plain_numbers_behind_json(tmp_path):
    net = train(training("3x3", "tc"), tmp_path)
    data = net.path.read_bytes()
    start = int(data[:64].split()[-1])
    header = json.loads(data[64:start].split(b"\n")[0])
    assert header["structure"]["patterns"] == NETWORKS["3x3"]
    assert header["training"]["seed"] == 7
    weights = np.frombuffer(data[start : start + 4 * net.structure.size], "<f4")
    assert (weights == net.weights).all()

"""Packed nets: what they keep, what it costs, and files that are not what they say."""

import json

import numpy as np
import pytest

from t48lab import T48Error
from t48lab.commands.cli import status
from t48lab.learning import Structure, Training, open_net, open_packed, pack_net, save_net, train

SMALL = Structure(patterns=("012", "0134"), rows=3, cols=3, stages=(64,))


@pytest.fixture(scope="module")
def net(tmp_path_factory):
    plan = Training(network=["012", "0134"], rules={"rows": 3, "cols": 3}, stages=[64], promotion=100, games=300)
    return train(plan, tmp_path_factory.mktemp("net"))


def make(path, weights, sums=None, training=None):
    return open_net(save_net(path, SMALL, training or {}, 1, np.asarray(weights, np.float32), sums))


def test_sixteen_bits_keep_every_weight_to_half_a_unit(net, tmp_path):
    packed = open_packed(pack_net(net, tmp_path / "a.net"))
    unit = 2.0**-packed.places
    assert np.abs(packed.unpack() * unit - net.weights).max() <= unit / 2
    assert packed.facts["kept"] == np.count_nonzero(net.weights)
    assert 2 * np.abs(net.weights).max() > 32767 * unit or packed.places == 10


def test_eight_bits_are_levels_of_each_table(net, tmp_path):
    exact, rough = (open_packed(pack_net(net, tmp_path / f"{bits}.net", bits)).unpack() for bits in (16, 8))
    for first, end in ((0, 4096), (4096, 69632), (69632, 73728), (73728, 139264)):
        assert len(np.unique(rough[first:end])) <= 257
    assert not rough[net.weights == 0].any()
    error = (exact.astype(int) - rough)[net.weights != 0].std()
    assert 0 < error < exact[net.weights != 0].std() / 40
    assert (tmp_path / "8.net").stat().st_size < (tmp_path / "16.net").stat().st_size


def test_what_matters_least_is_dropped_first(tmp_path):
    weights, sums = np.zeros(SMALL.size), np.zeros(2 * SMALL.size, np.float32)
    weights[[5, 6, 7, 8]] = 1, 2, 3, 4
    sums[1::2][[5, 6, 7, 8]] = 100, 1, 1, 1
    few = open_packed(pack_net(make(tmp_path / "a.net", weights), tmp_path / "b.net", keep=0.5)).unpack()
    assert np.flatnonzero(few).tolist() == [7, 8]
    met = open_packed(pack_net(make(tmp_path / "c.net", weights, sums), tmp_path / "d.net", keep=0.5)).unpack()
    assert np.flatnonzero(met).tolist() == [5, 8]


def test_what_was_never_learnt_keeps_the_initial_value(tmp_path):
    training = {"initial": 4.0 * SMALL.lookups}
    weights = np.full(SMALL.size, 4.0)
    weights[3], weights[9] = 1000.0, 5.0
    packed = open_packed(pack_net(make(tmp_path / "a.net", weights, None, training), tmp_path / "b.net", keep=0.5))
    entries = packed.unpack() * 2.0**-packed.places
    assert (entries[3], entries[9], entries[10]) == (1000.0, 4.0, 4.0)


@pytest.mark.parametrize("fault", ["cut", "longer", "flipped", "head", "places", "count", "not"])
def test_a_file_that_is_not_what_it_says_is_one_line(fault, net, tmp_path):
    path = pack_net(net, tmp_path / "a.net")
    data, start = path.read_bytes(), int(path.read_bytes()[:64].split()[-1])
    changed = {
        "cut": data[:-9],
        "longer": data + b"x",
        "flipped": data[: start + 900] + bytes([data[start + 900] ^ 1]) + data[start + 901 :],
        "head": data.replace(b'"kept"', b'"kepu"', 1),
        "not": b"something else\n" * 10,
    }
    if fault in changed:
        path.write_bytes(changed[fault])
    else:
        lies = {"places": {"places": 40}, "count": {"structure": SMALL.changed(stages=()).model_dump(mode="json")}}
        lie(path, lies[fault])
    with pytest.raises(T48Error, match=r"damaged|not a net") as told:
        open_packed(path).unpack()
    assert "\n" not in str(told.value)


def lie(path, changes):
    """Writes another head, with the right checksum, before the same parts."""
    from t48lab.learning.packing import MAGIC, write_head

    data = path.read_bytes()
    start = int(data[:64].split()[-1])
    header = json.loads(data[64:start].split(b"\n")[0]) | changes
    with path.open("wb") as file:
        write_head(file, MAGIC, header)
        file.write(data[start:])


def test_the_command_packs_and_refuses_in_one_line(net, tmp_path, capsys):
    out = tmp_path / "small.net"
    assert status(["pack", str(net.path), "--bits", "8", "--keep", "0.5", "--out", str(out)]) == 0
    assert capsys.readouterr().out.startswith(f"{out}: ")
    for wrong, words in (
        (["--bits", "4"], "bits must be 8 or 16, got 4"),
        (["--keep", "0"], "keep must be a share above 0 and up to 1, got 0"),
    ):
        assert status(["pack", str(net.path), "--out", str(out), *wrong]) == 2
        assert words in capsys.readouterr().err
    assert status(["pack", str(tmp_path / "none.net")]) == 2
    assert "cannot read" in capsys.readouterr().err
    broken = net.weights.copy()
    broken[7] = np.nan
    bad = save_net(tmp_path / "nan.net", net.structure, {}, 1, broken)
    assert status(["pack", str(bad)]) == 2
    assert "has weights that are no numbers, restore it" in capsys.readouterr().err

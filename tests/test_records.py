"""Types of fields: what they take, what they make of it, and the line that says what else would be right."""

import numpy as np
import pytest

from t48lab.errors import T48Error
from t48lab.experiments import make_experiment
from t48lab.records import Checked, Count, FolderName, Seed, StopTile, Table, checked, stop_rank

KEPT = {
    Seed: [(0, 0), (2**63 - 1, 2**63 - 1), (5.0, 5), (np.int64(3), 3), (np.float32(2), 2)],
    Count: [(1, 1), (np.uint8(7), 7), (2.0, 2), (10**400, 10**400)],
    StopTile: [(None, None), (256.0, 256), (np.int64(8), 8), (131072, 131072)],
    FolderName: [("a.b-c_1", "a.b-c_1")],
}
REFUSED = {
    Seed: (["7", -1, 2**63, 1.5, True, None, float("nan"), float("inf"), 1j, []], "a whole number from 0 to 2^63 - 1"),
    Count: (["many", 0, 2.5, False, None, np.True_], "1 or more"),
    StopTile: ([7, 4, 2**18, "2048", 1000, 8.5, True], "a power of two from 8 to 131072, or None"),
    FolderName: (["../up", "", 3, None, "a/b", "a\n"], "letters, digits, dots, - and _ (it names a folder)"),
    Table: ([None, 3, "text", []], "a table, write [it] and its lines below"),
    str: ([3, None], "text"),
}


@pytest.mark.parametrize(("kind", "value", "plain"), [(kind, *pair) for kind, pairs in KEPT.items() for pair in pairs])
def test_values_are_made_plain(kind, value, plain):
    kept = checked(kind, value, "it")
    assert (kept, type(kept)) == (plain, type(plain))


@pytest.mark.parametrize(
    ("kind", "value"), [(kind, value) for kind, (values, _) in REFUSED.items() for value in values]
)
def test_others_are_refused_in_one_line(kind, value):
    with pytest.raises(T48Error) as caught:
        checked(kind, value, "it")
    assert str(caught.value).startswith(f"it must be {REFUSED[kind][1]}, got ")
    assert "\n" not in str(caught.value)


def test_stop_tiles_have_ranks():
    assert [stop_rank(tile) for tile in (None, 8, 131072)] == [0, 3, 17]


def test_a_record_with_some_fields_changed_is_checked_again():
    class Pair(Checked):
        first: Count
        second: Seed = 0

    pair = Pair(first=3)
    assert pair.changed(second=4.0) == Pair(first=3, second=4)
    assert pair == Pair(first=3)
    with pytest.raises(T48Error, match="first must be 1 or more, got 0"):
        pair.changed(first=0)


def test_equal_numbers_have_equal_keys():
    def keys(tile, seed):
        experiment = make_experiment({"agents": {"a": "random"}, "stop_tile": tile, "seed": seed}, "try")
        return experiment.keys, experiment.seed, experiment.stop_tile

    assert keys(256.0, np.int64(5)) == keys(256, 5)
    assert keys(256, 5) != keys(512, 5)

"""The log of a game: what the compiled loop writes is what the file of its bits reads."""

import numpy as np
import pytest

from t48lab import Rules, play
from t48lab.games import log


@pytest.mark.parametrize("rules", [Rules(), Rules(rows=3, cols=4), Rules(rows=2, cols=3)], ids=str)
def test_a_log_is_decoded_and_encoded_again(rules):
    record = play("random", seed=5, rules=rules)
    data = log.encode(record.actions, record.spawns)
    assert data.dtype == np.uint8
    assert len(data) == record.moves + log.FIRST
    assert log.decode(data) == (record.actions, record.spawns)


def test_the_bits_of_a_byte():
    assert log.entry(0b0111_0_1_10) == ("down", (1, 3, 4))
    assert log.encode(("left",), ((0, 0, 2), (3, 3, 4), (2, 1, 2))).tolist() == [0, 0b1111_0100, 0b1001_0011]

"""The fingerprint of `t48lab bench`: a change of any count belongs into the changelog."""

import pytest

from t48lab.commands.bench import POSITIONS, fingerprint

NODES = {
    "expectimax:depth=1,evaluator=classic": 55,
    "expectimax:depth=2,evaluator=classic": 1303,
    "expectimax:depth=3,evaluator=classic": 28188,
    "minimax:depth=1,evaluator=classic": 55,
    "minimax:depth=2,evaluator=classic": 1077,
    "minimax:depth=3,evaluator=classic": 11345,
    "mcts:simulations=100": 84169,
    "expectimax:depth=3,evaluator=classic (best move)": 24478,
    "expectimax:depth=4,evaluator=classic (best move)": 306269,
}


@pytest.mark.compiled
def test_nodes_and_moves_are_what_they_were():
    assert len(POSITIONS) == 16
    assert fingerprint() == {"nodes": NODES, "digest": "6d58d6fe1ab3bd27"}

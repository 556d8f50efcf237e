"""Decision trees say what the searches found, and their pictures are well-formed; the adviser's loop goes on."""

import io
import json
import sys
import xml.etree.ElementTree as ET

import pytest

from t48lab import AGENTS, Board, Expectimax, Rules, get_evaluator, make_agent
from t48lab.agents.trees import FOLLOWED, SPAWNS, decision_tree
from t48lab.analysis import number
from t48lab.commands.cli import status
from t48lab.pictures import tree_svg

ROOT = "2 4 8 16 / 32 64 128 256 / 512 1024 2048 4096 / 4 8 2 2"
CROWDED = "2 4 8 16 / 16 32 64 128 / 4 4 256 512 / 0 2 8 1024"
OPEN = "2 4 0 16 / 0 0 64 0 / 0 4 0 512 / 0 2 0 0"
TREES = [
    ("expectimax:depth=2", ROOT),
    ("expectimax:depth=3", CROWDED),
    ("expectimax:depth=2,leaf=state,evaluator=c", OPEN),
    ("minimax:depth=2", OPEN),
    ("mcts:simulations=300", CROWDED),
    ("mcts:simulations=300,chance=stored", OPEN),
    ("mcts:simulations=100,chance=open", OPEN),
    ("expectimax:depth=2", "3x3: 2 4 8 0 16 2 4 0 0"),
    ("expectimax:nodes=500", OPEN),
]


def spawns(tree):
    for move in tree["moves"]:
        for spawn in move["spawns"]:
            yield move, spawn
            yield from spawns(spawn)


@pytest.mark.compiled
@pytest.mark.parametrize(("spec", "board"), TREES)
def test_tree_is_plain_data_and_a_picture(spec, board):
    tree = decision_tree(spec, board)
    found = make_agent(spec).search(board)
    assert json.loads(json.dumps(tree, allow_nan=False)) == tree
    assert {move["direction"]: move["value"] for move in tree["moves"]} == {
        name: value for name, value in found.values.items() if value is not None
    }
    assert [move["direction"] for move in tree["moves"] if move["best"]] == [found.best]
    assert tree["moves"][0]["best"]
    for move, spawn in spawns(tree):
        position = Board.parse(spawn["board"])
        if spawn["tile"]:
            after = {(r, c, t): b.hex for r, c, t, b in Board.parse(move["afterstate"]).spawns()}
            assert after[spawn["row"], spawn["col"], spawn["tile"]] == spawn["board"]
        assert all(reply["direction"] in position.legal_moves for reply in spawn["moves"])
    image = ET.fromstring(tree_svg(tree))
    words = ["".join(text.itertext()) for text in image.iter("{http://www.w3.org/2000/svg}text")]
    assert number(tree["value"]) in words
    assert any(found.best in word for word in words)


@pytest.mark.parametrize("leaf", ["afterstate", "state"])
def test_values_of_spawns_make_the_value_of_their_move(leaf):
    tree = decision_tree(Expectimax(depth=2, leaf=leaf, table=False), OPEN)
    for move in tree["moves"][:FOLLOWED]:
        parts = [*move["spawns"], move["others"]]
        assert sum(part["probability"] for part in parts) == pytest.approx(1)
        assert sum(part["probability"] * part["value"] for part in parts) == pytest.approx(move["value"])
        assert len(move["spawns"]) == SPAWNS[0]
    assert all(move["spawns"] == [] for move in tree["moves"][FOLLOWED:])


def test_minimax_shows_the_worst_spawn():
    tree = decision_tree("minimax:depth=2", OPEN)
    for move in tree["moves"][:FOLLOWED]:
        assert min(spawn["value"] for spawn in move["spawns"]) == pytest.approx(move["value"])


@pytest.mark.compiled
def test_playouts_are_counted_down_the_tree():
    tree = decision_tree("mcts:simulations=2000", CROWDED)
    assert tree["visits"] == 2000
    for move, spawn in spawns(tree):
        assert spawn["visits"] <= move["visits"]
        assert all(reply["visits"] <= spawn["visits"] for reply in spawn["moves"])


def test_lost_positions_end_the_tree():
    tree = decision_tree("expectimax:depth=2", ROOT)
    over = [spawn for _, spawn in spawns(tree) if spawn["over"]]
    assert {spawn["value"] for spawn in over} == {get_evaluator("tuned").lost}
    assert all(Board.parse(spawn["board"]).is_over and not spawn["moves"] for spawn in over)
    assert over
    nothing = decision_tree("expectimax:depth=2", "2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 2")
    assert nothing["best"] is None
    ET.fromstring(tree_svg(nothing))


@pytest.mark.parametrize(
    "name", sorted(name for name, kind in AGENTS.items() if kind.tree == "none" and name != "solved")
)
def test_agents_without_a_tree_show_their_moves(name):
    tree = decision_tree(name, OPEN)
    assert all(move["spawns"] == [] for move in tree["moves"])
    ET.fromstring(tree_svg(tree))


def test_rules_without_fours_have_no_spawned_fours():
    tree = decision_tree("expectimax:depth=2", CROWDED, Rules(four_probability=0.0))
    assert {spawn["tile"] for _, spawn in spawns(tree)} == {2}


@pytest.mark.compiled
@pytest.mark.parametrize("kind", ["svg", "json"])
def test_command_writes_a_tree(tmp_path, kind, capsys):
    path = tmp_path / "folder" / f"tree.{kind}"
    assert status(["advise", ROOT, "--tree", str(path), "--agent", "expectimax:depth=2"]) == 0
    assert "right is worth" in capsys.readouterr().out
    tree = decision_tree("expectimax:depth=2", ROOT)
    assert path.read_text() == tree_svg(tree) if kind == "svg" else json.loads(path.read_text()) == tree


def test_command_refuses_other_pictures(tmp_path, capsys):
    assert status(["advise", ROOT, "--tree", str(tmp_path / "tree.png")]) == 2
    assert "a tree is an .svg or a .json file" in capsys.readouterr().err
    assert status(["advise", "--loop", "--json"]) == 2


def loop(monkeypatch, capsys, *lines, board=()):
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
    assert status(["advise", *board, "--loop", "--agent", "greedy"]) == 0
    return capsys.readouterr().out


def test_loop_accepts_advice_moves_spawns_and_boards(monkeypatch, capsys):
    out = loop(monkeypatch, capsys, "", "3 0 2", "d", "0 1 4", "1100000000000000", "left", "", "q")
    assert "right, 4 points" in out
    assert out.count("greedy:by=reward") == 5
    assert "down, 0 points" in out


def test_loop_explains_what_makes_no_sense(monkeypatch, capsys):
    out = loop(monkeypatch, capsys, "sideways", "up", "right", "0 3 2", "2 2", "3 0 2", board=["2 2 0 0 " + "0 " * 12])
    assert "unknown direction 'sideways'" in out
    assert "up changes nothing" in out
    assert "is no spawn here" in out
    assert "got 2 cells" in out


def test_loop_goes_on_after_the_end_of_a_game(monkeypatch, capsys):
    over = "2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 2"
    out = loop(monkeypatch, capsys, "", "1100000000000000", board=[over])
    assert "The game is over" in out
    assert "no move is legal" in out

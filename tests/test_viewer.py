"""The boards of viewer.py from Python's side: what they tell the front end, and what they do when it asks."""

import json
import re
import xml.etree.ElementTree as ET
from base64 import b64decode
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from t48lab import MCTS, Board, Expectimax, IllegalMove, T48Error, play, replay
from t48lab.board import TILE_COLOURS
from t48lab.games import GameRecord
from t48lab.pictures.viewer import PERSON, Play, Replay
from t48lab.rules import Rules

WIDGET = "application/vnd.jupyter.widget-view+json"
QUICK = "expectimax:depth=1,evaluator=tuned"


@pytest.fixture(scope="module")
def record():
    return play("greedy:by=reward", seed=3)


def decoded(log):
    """(direction, cell, tile) of each move of a log."""
    names = {"u": "up", "r": "right", "d": "down", "l": "left"}
    return [(names[d], int(cell, 16), int(tile)) for d, cell, tile in zip(log[::3], log[1::3], log[2::3], strict=True)]


def sent(widget):
    """The traits that a front end gets, after a trip through JSON."""
    own = [name for name in widget.keys if not name.startswith("_") and name not in ("layout", "tabbable", "tooltip")]
    return json.loads(json.dumps({name: getattr(widget, name) for name in own}, allow_nan=False))


def test_the_log_holds_the_whole_game(record):
    widget = Replay(record)
    board, score = Board.parse(widget.first), 0
    for direction, cell, tile in decoded(widget.log):
        move = board.move(direction)
        board = next(b for r, c, t, b in move.afterstate.spawns() if (4 * r + c, t) == (cell, tile))
        score += move.reward
    assert (board.hex, score) == (record.final, record.score)
    assert len(widget.log) < 4 * record.moves


def test_the_front_end_moves_the_place_and_gets_advice(record):
    widget = Replay(record, agent=QUICK)
    for place in (7, 0, record.moves):
        widget.set_state({"place": place})
        position = list(replay(record))[place]
        found = Expectimax(depth=1, evaluator="tuned").search(position.board)
        assert widget.board == position.board
        assert widget.advice["place"] == place
        assert widget.advice["best"] == found.best
        assert f"score {position.score:,}" in widget.title
    assert widget.advice["values"] is None
    assert widget.advice["notes"][1] == "no legal move"


def test_costs_are_counted_from_the_best(record):
    advice = Replay(record, agent=QUICK, place=20).advice
    known = {name: value for name, value in advice["values"].items() if value is not None}
    assert advice["costs"][advice["best"]] == 0
    assert all(advice["costs"][name] == max(known.values()) - value for name, value in known.items())


def test_tree_search_shows_its_visits(record):
    advice = Replay(record, agent=MCTS(simulations=20), place=5).advice
    assert sum(count or 0 for count in advice["visits"].values()) == 20


def test_what_is_sent_is_json(record):
    assert sent(Replay(record, agent=QUICK))["mode"] == "replay"
    assert sent(Play(QUICK))["mode"] == "play"
    assert sent(Play("greedy", board="0" * 16))["advice"]["best"] is None


@pytest.mark.parametrize(("name", "value"), [("place", -1), ("place", 10**6), ("speed", 0), ("speed", 1000)])
def test_wrong_places_and_speeds_are_named(record, name, value):
    with pytest.raises(T48Error, match=f"{name} must be from .* got {value}"):
        Replay(record, **{name: value})


def test_a_damaged_record_is_refused(record):
    wrong = GameRecord(**{**record.model_dump(), "score": record.score + 4})
    with pytest.raises(T48Error, match="its moves lead to"):
        Replay(wrong)


def test_the_still_picture_shows_the_position(record):
    widget = Replay(record, agent=QUICK, place=12)
    bundle, _ = widget._repr_mimebundle_()
    assert set(bundle) == {WIDGET, "image/svg+xml", "image/png", "text/plain"}
    svg = bundle["image/svg+xml"]
    pixels = np.asarray(Image.open(BytesIO(b64decode(bundle["image/png"]))).convert("RGB"))
    width, height = (float(ET.fromstring(svg).get(side)) for side in ("width", "height"))
    assert pixels.shape[:2] == (round(height), round(width))
    fills = {tuple(bytes.fromhex(TILE_COLOURS[rank][1:])) for rank in widget.board.ranks().flat}
    assert fills <= {tuple(pixel) for pixel in pixels.reshape(-1, 3).tolist()}
    assert all(f">{tile}</text>" in svg for tile in widget.board.to_array().flat if tile)
    assert widget.board.hex in svg
    assert "move 12 of" in svg
    assert widget.advice["best"] in svg


def test_a_person_gets_the_agents_deal():
    record = play(QUICK, seed=9, game=4)
    widget = Play(QUICK, seed=9, game=4)
    for position in list(replay(record))[:60]:
        assert widget.board == position.board
        assert widget.score == position.score
        widget._heard(widget, {"kind": "follow"}, [])
    assert widget.state["moves"] == 60


def test_moves_undo_and_their_record():
    widget = Play(QUICK, seed=5)
    for direction in ("left", "up", "left", "up", "right"):
        if direction in widget.board.legal_moves:
            widget._heard(widget, {"kind": "move", "direction": direction}, [])
    before = widget.state
    assert before["last"]["action"] in ("left", "up", "right")
    action = before["last"]["action"]
    widget._heard(widget, {"kind": "undo"}, [])
    assert widget.state["moves"] == before["moves"] - 1
    assert widget.board.hex == before["last"]["before"]
    widget.move(action)
    assert widget.state == before, "the same move meets the same spawn"
    record = widget.record
    assert (record.agent, record.ended) == (PERSON, "unfinished")
    assert [position.board for position in replay(record)][-1] == widget.board
    assert Replay(record).place == 0


def test_undo_stops_at_the_first_position():
    widget = Play(QUICK, seed=5)
    first = widget.state
    for _ in range(3):
        widget._heard(widget, {"kind": "undo"}, [])
    assert widget.state == first


def test_what_makes_no_sense_changes_nothing():
    widget = Play(QUICK, board="2 4 8 16 / 4 8 16 32 / 2 4 8 16 / 0 0 0 2")
    before = widget.state, list(widget.steps)
    for message in ({}, {"kind": "fly"}, {"kind": "move"}, {"kind": "move", "direction": "up"}, "left", None):
        widget._heard(widget, message, [])
    with pytest.raises(IllegalMove):
        widget.move("up")
    assert (widget.state, widget.steps) == before


def test_advice_can_be_hidden():
    widget = Play(QUICK)
    widget._heard(widget, {"kind": "advised"}, [])
    assert (widget.advised, widget.advice) == (False, None)
    widget.follow()
    assert widget.advice is None
    widget._heard(widget, {"kind": "advised"}, [])
    assert widget.advice["place"] == 1


def test_new_games_are_dealt():
    widget = Play(QUICK, seed=5)
    first = widget.board
    widget._heard(widget, {"kind": "new"}, [])
    assert (widget.game, widget.board != first) == (1, True)
    widget.new(game=0)
    assert widget.board == first


def test_a_given_board_is_set_up_again_and_has_no_record():
    widget = Play(QUICK, board="2 2 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0")
    widget.move("left")
    assert widget.score == 4
    widget.new()
    assert widget.board.hex == "11" + 14 * "0"
    with pytest.raises(T48Error, match="start one from a seed"):
        _ = widget.record


def test_large_and_small_boards():
    widget = Play(QUICK, board="32768 32768 2 4 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0")
    widget.move("left")
    assert widget.board.max_tile == 65536
    assert Board.parse(widget.state["board"]) == widget.board
    small = play(QUICK, seed=1, rules=Rules(rows=3, cols=2))
    shown = Replay(small, place=small.moves)
    assert (shown.rows, shown.cols, shown.board.hex) == (3, 2, small.final)


def test_front_end_files_lie_beside_the_module_and_ask_nobody():
    folder = Path(__file__).parents[1] / "t48lab" / "pictures"
    for name in ("viewer.js", "viewer.css"):
        text = (folder / name).read_text(encoding="utf-8")
        assert not re.search(r"https?://|\bfetch\(|^import |@import|url\(", text, flags=re.MULTILINE), name

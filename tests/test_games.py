"""Whole games: played by seed, written down, replayed."""

import json
import os
import signal
import threading
import time

import pytest

from t48lab import (
    Board,
    GameRecord,
    Greedy,
    IllegalMove,
    PriorityAgent,
    RandomAgent,
    Rules,
    T48Error,
    make_spawner,
    play,
    replay,
)

AGENTS = [
    "random",
    "priority",
    "greedy",
    "expectimax:depth=1",
    "minimax:depth=1",
    "mcts:simulations=4",
    "mcts:simulations=9,chance=open,reuse=true",
]


@pytest.mark.parametrize("agent", AGENTS)
def test_record_replays_to_its_own_end(agent):
    record = play(agent, seed=3, stop_tile=256)
    steps = list(replay(record))
    assert len(steps) == record.moves + 1 == len(record.actions) + 1
    assert steps[-1].score == record.score
    assert steps[-1].board.max_tile == record.max_tile
    assert steps[-1].action is None
    assert [step.action for step in steps[:-1]] == list(record.actions)
    assert record.ended == ("stop tile" if record.max_tile == 256 else "no legal move")
    assert steps[-1].board.is_over or record.ended == "stop tile"


def test_score_is_what_the_tiles_are_worth_less_the_spawned_fours():
    for game in range(50):
        record = play("random", seed=8, game=game)
        fours = 0
        for step, spawn in zip(replay(record), [None, *record.spawns[2:]], strict=True):
            fours += sum(tile == 4 for *_, tile in record.spawns[:2]) if spawn is None else spawn[2] == 4
            ranks = step.board.ranks()
            assert step.score == int(((ranks - 1) * (1 << ranks))[ranks > 0].sum()) - 4 * fours


def test_same_seed_same_game_and_other_seeds_others():
    first = play("greedy", seed=0)
    assert play("greedy", seed=0).model_dump(exclude={"seconds"}) == first.model_dump(exclude={"seconds"})
    assert play("greedy", seed=0, game=1).spawns != first.spawns
    assert play("greedy", seed=1).spawns != first.spawns
    assert play(RandomAgent(seed=1), seed=0).actions != play(RandomAgent(), seed=0).actions


def test_spawns_do_not_depend_on_what_the_agent_draws():
    firsts = {play(RandomAgent(seed=seed), seed=5).spawns[:2] for seed in range(5)}
    assert len(firsts) == 1


def test_json_keeps_the_whole_record(tmp_path):
    record = play("priority", seed=2)
    path = record.save(tmp_path / "game.json")
    assert GameRecord.load(path) == record
    assert json.loads(path.read_text())["actions"][0] in ("left", "up", "right")
    assert str(record) == repr(record)
    assert len(repr(record)) < 160


@pytest.mark.parametrize("text", ["", "[]", "{", '{"seed": 1}', '{"format": 2}', "[" * 100_000])
def test_file_without_a_record_is_refused(tmp_path, text):
    path = tmp_path / "game.json"
    path.write_text(text)
    with pytest.raises(T48Error):
        GameRecord.load(path)
    with pytest.raises(T48Error):
        GameRecord.load(tmp_path / "none.json")


def test_changed_record_does_not_replay():
    record = play("random", seed=4)
    worse = record.model_copy(update={"score": record.score + 4})
    with pytest.raises(T48Error, match="score"):
        list(replay(worse))
    board = next(replay(record)).board
    illegal = next((d for d in ("up", "right", "down", "left") if d not in board.legal_moves), None)
    if illegal:
        with pytest.raises(IllegalMove):
            list(replay(record.model_copy(update={"actions": (illegal, *record.actions[1:])})))
    with pytest.raises(T48Error, match="cannot be"):
        list(replay(record.model_copy(update={"spawns": (record.spawns[0], record.spawns[0], *record.spawns[2:])})))
    with pytest.raises(T48Error, match="needed"):
        list(replay(record.model_copy(update={"spawns": record.spawns[1:]})))


def test_adversary_makes_games_shorter():
    spawner = make_spawner("adversarial:depth=0,evaluator=classic")
    agent = Greedy(evaluator="classic")
    hard = [play(agent, seed=1, game=game, spawner=spawner) for game in range(5)]
    easy = [play(agent, seed=1, game=game) for game in range(5)]
    assert sum(record.moves for record in hard) < sum(record.moves for record in easy)
    assert hard[0].spawner == "adversarial:depth=0,evaluator=classic"
    assert len({record.spawns[:2] for record in hard}) > 1
    for record in hard:
        list(replay(record))


@pytest.mark.parametrize(("rows", "cols"), [(2, 2), (2, 3), (3, 2), (3, 3), (3, 4)])
def test_smaller_boards_play_to_their_end(rows, cols):
    rules = Rules(rows=rows, cols=cols)
    for agent in (PriorityAgent(), RandomAgent()):
        record = play(agent, seed=6, rules=rules)
        end = list(replay(record))[-1].board
        assert record.final.startswith(f"{rows}x{cols}:")
        assert Board.parse(record.final) == end
        assert end.is_over


@pytest.mark.compiled
def test_ctrl_c_ends_a_long_game_after_the_current_move():
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    play("mcts:simulations=1", stop_tile=8)
    started = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        play("mcts:simulations=20000")
    assert time.monotonic() - started < 20


def test_fours_only():
    record = play("random", seed=1, rules=Rules(four_probability=1.0))
    assert {tile for *_, tile in record.spawns} == {4}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seed": -1}, "seed must be a whole number from 0"),
        ({"seed": 2**63}, "seed must be a whole number from 0"),
        ({"seed": 1.5}, "seed must be a whole number from 0"),
        ({"stop_tile": 100}, "stop_tile must be a power of two"),
        ({"spawner": "hostile"}, "unknown spawner 'hostile'"),
        ({"spawner": "adversarial:depth=-1"}, "depth must be 0 or more player moves, got -1"),
        ({"game": -1}, "game must be"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(T48Error, match=message):
        play("random", **arguments)

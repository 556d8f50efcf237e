"""Agents as records: specs, keys and errors; and what a search of one position says."""

import re

import numpy as np
import pytest

import t48lab
from t48lab import (
    AGENTS,
    MCTS,
    PRESETS,
    AdversarialSpawner,
    Board,
    Evaluator,
    Expectimax,
    Greedy,
    Minimax,
    PriorityAgent,
    RandomAgent,
    Rules,
    T48Error,
    get_evaluator,
    make_agent,
    make_spawner,
)
from t48lab.agents.programs import ENGINE
from t48lab.specs import digest

OWN = Evaluator(terms={"empty": 12.5, "monotonicity": {"weight": 47.0, "exponent": 3.5}}, lost=-1000.0)
EMPTIES = Evaluator(terms={"empty": 1.0}, lost=0.0)
DEFAULTS = [kind() for kind in AGENTS.values()]
AGENTS_TO_WRITE = [
    *DEFAULTS,
    RandomAgent(seed=7),
    PriorityAgent(order="down/up/left/right"),
    Greedy(evaluator="classic"),
    Greedy(evaluator=OWN),
    Expectimax(depth=5, evaluator=OWN, leaf="state", cutoff=0.001, table=False, fours=4),
    Expectimax(seconds=0.05),
    Expectimax(nodes=10_000, order=("left", "down", "right", "up")),
    Minimax(depth=1, evaluator="classic", table_bits=12),
    MCTS(simulations=50, chance="open", rollout="merge", rollout_limit=0, exploration=0.1 + 0.2),
    MCTS(seconds=0.01, reward="win", win=1024, final="mean", seed=2**61),
]
ROOT = Board.parse("2 4 8 16 / 32 64 128 256 / 512 1024 2048 4096 / 4 8 2 2")
ONE_MOVE = Board.parse("2 0 0 0 / 4 0 0 0 / 2 0 0 0 / 4 0 0 0")
CROWDED = Board.parse("2 4 8 16 / 16 32 64 128 / 4 4 256 512 / 0 2 8 1024")
QUICK = {
    "random": {},
    "priority": {},
    "greedy": {},
    "expectimax": {"depth": 2},
    "minimax": {},
    "bestfirst": {"nodes": 200},
    "mcts": {"simulations": 60},
}
BY_EVALUATOR = {"greedy": {"by": "evaluator"}, "mcts": {"rollout_limit": 3, "simulations": 20}}


def quick(name, **more):
    return AGENTS[name](**(QUICK[name] | more))


@pytest.mark.parametrize("agent", AGENTS_TO_WRITE, ids=lambda agent: agent.spec[:40])
def test_spec_leads_back_to_an_equal_agent(agent):
    again = make_agent(agent.spec)
    assert again == agent
    assert again.spec == agent.spec
    assert again.key() == agent.key()


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("expectimax", "expectimax:depth=3,evaluator=tuned"),
        (" Expectimax : table = true , depth=2 ", "expectimax:depth=2,evaluator=tuned"),
        ("mcts:exploration=1.41", "mcts:simulations=1000"),
        ("greedy:evaluator=classic", "greedy:by=evaluator,evaluator=classic"),
        ("random:seed=0", "random"),
        ("expectimax:nodes=none", "expectimax:depth=3,evaluator=tuned"),
        ('expectimax:evaluator={"terms":{"empty":1}},depth=1', 'expectimax:depth=1,evaluator={"terms":{"empty":1.0}}'),
    ],
)
def test_many_ways_to_write_an_agent_have_one_spec(text, canonical):
    spec = make_agent(text).spec
    assert make_agent(spec).spec == spec
    if "{" not in text:
        assert spec == canonical


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("expectimax:depth=0", "depth must be 1 or more player moves, got 0"),
        ("expectimax:depth=17", "depth must be 16 or less player moves, got 17"),
        ("expectimax:depth=two", "depth must be a whole number of player moves, got 'two'"),
        ("expectimax:dept=3", "expectimax has no parameter 'dept', did you mean 'depth'?"),
        ("expectmax", "unknown agent 'expectmax', did you mean 'expectimax'?"),
        ("expectimax:evaluator=classik", "no evaluator 'classik', did you mean 'classic'?"),
        ("expectimax:self=1", "expectimax has no parameter 'self'"),
        ('expectimax:evaluator={"self":1}', "no parameter 'self'"),
        ('expectimax:evaluator={"terms":{"emty":1}}', "did you mean 'empty'?"),
        ("expectimax:leaf=leaf", "leaf must be afterstate or state, got 'leaf'"),
        ("expectimax:cutoff=1.5", "cutoff must be 1 or less probability, got 1.5"),
        ("expectimax:table=maybe", "table must be true or false, got 'maybe'"),
        ("expectimax:depth=3,depth=4", "gives depth twice"),
        ("expectimax:depth", "key=value"),
        ("expectimax:", "ends after the colon"),
        ('expectimax:evaluator={"terms":', "unbalanced"),
        ("expectimax:evaluator={terms:1}", "evaluator is not valid JSON"),
        ("priority:order=up/down", "order must name each of up/right/down/left once, got 'up/down'"),
        ("mcts:simulations=0", "simulations must be 1 or more, got 0"),
        ("mcts:win=1000", "win must be a power of two from 4 to 65536, got 1000"),
        ("mcts:exploration=nan", "exploration must be"),
        ("mcts:seconds=-1", "seconds must be more than 0 seconds per move, got -1"),
        ("random:seed=-1", "seed must be 0 or more, got -1"),
        ("", "unknown agent ''"),
    ],
)
def test_bad_spec_gets_one_line_that_names_value_and_remedy(spec, message):
    with pytest.raises(T48Error, match=re.escape(message)) as error:
        make_agent(spec)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "junk", ["x" * 5000, "expectimax:" + "[" * 5000, "a=b", ":", "expectimax:={}", "\n", "é:ü=ß", "mcts:seed=1e400"]
)
def test_hostile_specs_raise_the_documented_error(junk):
    with pytest.raises(T48Error) as error:
        make_agent(junk)
    assert len(str(error.value)) < 400


def test_an_agent_made_in_python_is_checked_alike():
    with pytest.raises(T48Error, match="depth must be 1 or more player moves, got 0"):
        Expectimax(depth=0)
    with pytest.raises(T48Error, match="spec"):
        make_agent(17)


def test_records_are_frozen_and_tell_their_parameters():
    agent = Expectimax()
    with pytest.raises(ValueError):
        agent.depth = 4
    depth = Expectimax.parameters()["depth"]
    assert (depth.default, depth.low, depth.high, depth.unit) == (3, 1, 16, "player moves")
    assert Expectimax.parameters()["leaf"].choices == ("afterstate", "state")
    for kind in AGENTS.values():
        assert all(parameter.meaning for parameter in kind.parameters().values())


def test_key_stands_for_weights_rules_stop_tile_and_spawner():
    preset = get_evaluator("classic")
    heavier = Evaluator(**{**preset.model_dump(), "lost": -1.0})
    base = Expectimax(evaluator="classic")
    keys = {
        base.key(),
        Expectimax(evaluator=heavier).key(),
        Expectimax(evaluator="classic", depth=2).key(),
        base.key(Rules(rows=3)),
        base.key(stop_tile=2048),
        base.key(spawner=make_spawner("adversarial")),
        base.key(spawner=make_spawner("adversarial:depth=2")),
        Minimax(depth=3, evaluator="classic").key(),
    }
    assert len(keys) == 8
    assert Expectimax(evaluator=preset).key() == base.key() == base.key(spawner=make_spawner("random"))
    assert re.fullmatch("[0-9a-f]{16}", base.key())


def test_engine_of_searches_that_stored_wrong_bounds_at_a_floor():
    floored = get_evaluator("tuned").model_copy(update={"floor": True})
    for evaluator, engine in (("tuned", ENGINE), ("classic", "2"), (floored, "2")):
        assert [Minimax(depth=depth, evaluator=evaluator).engine for depth in (1, 2, 3)] == [ENGINE, ENGINE, engine]
        assert Minimax(nodes=100, evaluator=evaluator).engine == engine
        adversaries = [AdversarialSpawner(depth=depth, evaluator=evaluator) for depth in (0, 1, 2)]
        assert [adversary.engine for adversary in adversaries] == [ENGINE, ENGINE, engine]
        facts = {"spawner": adversaries[-1].resolved()} | ({"spawner_engine": engine} if engine != ENGINE else {})
        agent = {"engine": ENGINE, "agent": Greedy().resolved(), "rules": Rules().model_dump(), "stop_tile": None}
        assert Greedy().key(spawner=adversaries[-1]) == digest(agent | facts)
    assert Expectimax(depth=3, evaluator="classic").engine == ENGINE


def test_evaluator_of_a_file_travels_with_the_agent(tmp_path):
    path = tmp_path / "weights.toml"
    path.write_text("lost = -5.0\n[terms]\nempty = 3.0\n")
    agent = make_agent(f"expectimax:evaluator={path}")
    path.unlink()
    assert make_agent(agent.spec) == agent
    assert str(tmp_path) not in agent.spec


def test_label_is_short():
    assert Expectimax().label == Expectimax().spec
    assert re.fullmatch(r"expectimax:depth=3,evaluator=own-[0-9a-f]{8}", Expectimax(evaluator=OWN).label)


def test_public_names_are_all_there():
    assert {name for name in t48lab.__all__ if not hasattr(t48lab, name)} == set()
    assert set(t48lab.__all__) <= set(dir(t48lab))
    assert "evaluators" not in t48lab.__all__
    assert set(PRESETS) >= {"seed", "classic", "tuned"}
    with pytest.raises(AttributeError, match="Expectmax"):
        _ = t48lab.Expectmax


@pytest.mark.parametrize("name", QUICK)
def test_search_names_a_legal_move_and_values_of_legal_moves_only(name):
    result = quick(name).search(CROWDED)
    assert result.best in CROWDED.legal_moves
    assert list(result.values) == ["up", "right", "down", "left"]
    assert all(value is None for move, value in result.values.items() if move not in CROWDED.legal_moves)
    assert result.nodes >= 1
    assert result.seconds > 0
    assert result.principal_variation[0] == result.best
    assert result.best in repr(result)
    assert "<table>" in result._repr_html_()
    assert "np.float64" not in repr(result)


@pytest.mark.parametrize("name", QUICK)
def test_search_of_a_lost_position_finds_nothing(name):
    result = quick(name).search("2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 2")
    assert result.best is None
    assert set(result.values.values()) == {None}
    assert result.principal_variation == ()


@pytest.mark.parametrize("name", QUICK)
def test_same_board_same_answer_whatever_was_searched_before(name):
    agent = quick(name)
    first = agent.search(CROWDED)
    agent.search(ROOT)
    quick(name, **({"evaluator": "classic"} if name in ("expectimax", "minimax") else {})).search(CROWDED)
    again = agent.search(CROWDED)
    assert (again.best, again.values, again.visits, again.nodes) == (
        first.best,
        first.values,
        first.visits,
        first.nodes,
    )


@pytest.mark.parametrize(
    ("agent", "value"), [(Expectimax(depth=2, evaluator=EMPTIES), 0.1), (Minimax(evaluator=EMPTIES), 0.0)]
)
@pytest.mark.parametrize("table", [True, False])
def test_twos_and_fours_weigh_nine_to_one(agent, value, table):
    values = type(agent)(**{**dict(agent), "table": table}).search(ROOT).values
    assert values["up"] is values["down"] is None
    assert values["left"] == pytest.approx(value, rel=1e-6)
    assert values["right"] == pytest.approx(value, rel=1e-6)


def positions(count, seed):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        ranks = rng.integers(0, rng.integers(3, 12), 16) * (rng.random(16) < rng.uniform(0.4, 1.0))
        yield Board.from_array(np.where(ranks > 0, 1 << ranks, 0).reshape(4, 4))


@pytest.mark.compiled
@pytest.mark.parametrize("evaluator", ["classic", "tuned", "seed"])
@pytest.mark.parametrize("kind", [Expectimax, Minimax])
def test_table_changes_no_value_and_no_move(kind, evaluator):
    boards = list(positions(200, 13))
    for depth in (1, 2, 3):
        plain = kind(depth=depth, evaluator=evaluator, table=False)
        tabled = kind(depth=depth, evaluator=evaluator, table_bits=10)
        for board in boards:
            without, with_table = plain.search(board), tabled.search(board)
            assert with_table.best == without.best
            for move, value in without.values.items():
                assert with_table.values[move] == (value if value is None else pytest.approx(value, rel=1e-9, abs=1e-9))


@pytest.mark.parametrize("weight", [0.0, -1e6, 1e6])
@pytest.mark.parametrize("name", QUICK)
def test_only_legal_move_is_played_whatever_the_weights(name, weight):
    assert ONE_MOVE.legal_moves == ("right",)
    evaluator = Evaluator(terms={"empty": weight, "monotonicity": weight, "smoothness": weight, "corner": weight})
    more = {"evaluator": evaluator} | BY_EVALUATOR.get(name, {}) if "evaluator" in AGENTS[name].model_fields else {}
    assert quick(name, **more).search(ONE_MOVE).best == "right"


@pytest.mark.parametrize("reward", ["points", "minmax", "win", "raw"])
@pytest.mark.parametrize("chance", ["open", "closed", "stored"])
def test_mcts_counts_its_simulations(chance, reward):
    for simulations in (1, 2, 37):
        result = MCTS(simulations=simulations, chance=chance, reward=reward).search(CROWDED)
        assert result.best in CROWDED.legal_moves
        assert sum(visits or 0 for visits in result.visits.values()) == simulations
        assert all(value is None or np.isfinite(value) for value in result.values.values())


def test_mcts_draws_by_its_seed():
    visits = [MCTS(simulations=40, seed=seed).search(CROWDED).visits for seed in range(5)]
    assert len({tuple(v.values()) for v in visits}) > 1


def test_principal_variation_can_be_played():
    for agent, rules in [
        (Expectimax(), None),
        (Minimax(depth=3), None),
        (Minimax(depth=3), Rules(four_probability=0.0)),
    ]:
        board, line = CROWDED, agent.search(CROWDED, rules).principal_variation
        assert len(line) == 5
        assert all(spawn.startswith("2@") for spawn in line[1::2]) or (rules is None and type(agent) is Minimax)
        for move, spawn in zip(line[::2], [*line[1::2], None], strict=True):
            after = board.move(move).afterstate
            boards = {f"{tile}@{row},{col}": spawned for row, col, tile, spawned in after.spawns()}
            board = boards[spawn] if spawn else after


def test_tiles_past_the_packed_board_are_searched():
    board = Board.parse("65536 65536 2 4 / 32768 32768 2 4 / 0 0 0 0 / 131072 2 4 8")
    for name in QUICK:
        assert quick(name).search(board).best in board.legal_moves


def test_smaller_boards_are_searched_by_their_own_rules():
    board = Board.parse("2x3: 2 2 4 8 16 0")
    for name in QUICK:
        result = quick(name).search(board)
        assert result.best in board.legal_moves


def test_limits_deepen_and_say_how_far_they_came():
    shallow, deep = (Expectimax(nodes=nodes).search(CROWDED) for nodes in (50, 20_000))
    assert shallow.depth < deep.depth < 16
    assert Expectimax(seconds=0.02).timed
    assert not Expectimax().timed

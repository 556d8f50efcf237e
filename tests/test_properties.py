"""Laws that hold for whatever is typed: hostile text raises T48Error or nothing, and what is written reads back.

`T48LAB_EXAMPLES=5000` looks at more examples, and at others each time.
"""

import os
import string
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from t48lab import Board, GameRecord, Rules, make_agent, make_spawner, play, replay
from t48lab.agents import AGENTS, PlainAgent, Solved
from t48lab.agents.systems import SYSTEMS
from t48lab.commands.cli import status
from t48lab.errors import T48Error
from t48lab.evaluators import PRESETS, TERMS, Evaluator, get_evaluator
from t48lab.experiments import Store, load_experiment, make_experiment
from t48lab.specs import join_spec, split_spec
from t48lab.studies import load_study

ROOT = Path(__file__).parents[1]
EXAMPLES = int(os.environ.get("T48LAB_EXAMPLES", "60"))
settings.register_profile(
    "t48lab",
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=EXAMPLES <= 60,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("t48lab")

SPECS = [
    "expectimax:depth=3,evaluator=tuned", "minimax", "mcts:simulations=100,seconds=none,seed=7", "random",
    "priority:order=left/up/right/down", "greedy:by=reward", "bestfirst:nodes=100,worlds=3",
    'expectimax:evaluator={"terms":{"empty":{"weight":270.0}},"lost":0.0},depth=1', "system_a:evaluator=a_no_corner",
]  # fmt: skip
BOARDS = [
    "2 0 0 4 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0", "1002000000000000", "0xdcba987654321gh0", "3x3:2 2 4 / . . . / 0 0 0",
    "2,4,8,16,32,64,128,256,512,1024,2048,4096,8192,16384,32768,65536", "2x4:12345678", "[[2,2,4,0]]",
]  # fmt: skip
TOMLS = [
    *((ROOT / "experiments" / name).read_text() for name in ("quick.toml", "tune_quick.toml")),
    PRESETS["d_phase"].to_toml(),
    '[terms]\nempty = 270.0\ncorner = { weight = 10.0, exponent = 3.0 }\n',
]  # fmt: skip
FRAGMENTS = [
    "", "0x", "nan", "-inf", "1e999", "-1", "9" * 400, "{", "}", "[", "]", '"', "'", "\\", ",", "=", ":", "/", ".", "none",
    "true", "\0", "\ud800", "\udcff", "٣", "²", "１", "½", "\u2028", "\x85", "\u202e", "💥", '"""', "'''", "[[", "]]", "#",
    "\n", "\r", "\t", " ", "{}", "[]", "[" * 2000, '{"a":' * 2000, "=1", ",depth=2", "1" * 5000, "0" * 17, "1x1:", "9x9:",
    "-0", "1_0", "+2", "2.0", "1979-05-27", "00:00:00", "inf", "\n[agents]\n", "\nbase = '.'\n", '\nname = "../x"\n',
    "name = 'a'\n", "games = -1\n", "seed = true\n", "trials = 0\n",
]  # fmt: skip


@st.composite
def mutated(draw, examples):
    """A well-formed example after one to four careless edits, or nothing but noise."""
    text = draw(st.sampled_from(examples) | st.text(max_size=60))
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(text)))
        end = draw(st.integers(place, min(len(text), place + 12)))
        piece = draw(st.sampled_from(FRAGMENTS) | st.text(max_size=8) | st.just(text[place:end] * 2))
        text = text[:place] + piece + text[end:]
    return text


def only_our_error(call, *arguments):
    """What the call returns, None when it raises T48Error with one line; other errors fail the test."""
    try:
        return call(*arguments)
    except T48Error as error:
        assert str(error).strip()
        assert "\n" not in str(error)
        assert len(str(error)) < 1000
        assert "Traceback" not in str(error)
        return None


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9) | st.sampled_from(FRAGMENTS),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=12,
)


@given(mutated(BOARDS))
@example("0" * 5000)
@example("١" * 16)
@example("²" * 16)
def test_board_texts(text):
    board = only_our_error(Board.parse, text)
    if board is not None:
        assert Board.parse(board.hex) == board


@given(PLAIN | st.lists(st.lists(st.integers(-1, 2**20) | st.floats() | st.text(max_size=3), max_size=5), max_size=5))
def test_boards_of_anything(value):
    for call in (Board.parse, Board.from_array):
        board = only_our_error(call, value)
        if board is not None:
            assert Board.from_array(board.to_array()) == board


@given(st.integers(2, 4), st.integers(2, 4), st.data())
def test_boards_read_back(rows, cols, data):
    ranks = data.draw(st.lists(st.integers(0, 17), min_size=rows * cols, max_size=rows * cols))
    values = np.array([[1 << r if r else 0 for r in ranks[i * cols : i * cols + cols]] for i in range(rows)])
    board = Board.from_array(values)
    size = "" if (rows, cols) == (4, 4) else f"{rows}x{cols}:"
    for text in (board.hex, f"{size} {board}", size + ",".join(map(str, values.ravel())), board.hex.upper()):
        assert Board.parse(text) == board
    assert (board.to_array() == values).all()
    assert eval(repr(board), {"Board": Board}) == board


@given(mutated(SPECS))
def test_specs(text):
    agent = only_our_error(make_agent, text)
    if agent is not None:
        assert make_agent(agent.spec) == agent
        assert make_agent(agent.spec).spec == agent.spec
    only_our_error(make_spawner, text)
    only_our_error(get_evaluator, text)
    only_our_error(split_spec, text)


@given(st.dictionaries(st.text(string.ascii_lowercase, min_size=1), st.integers() | st.floats(allow_nan=False)))
def test_specs_of_numbers_read_back(values):
    name, found = split_spec(join_spec("name", values))
    assert name == "name"
    assert {key: type(values[key])(value) for key, value in found.items()} == values


@given(mutated(TOMLS) | st.binary(max_size=200).map(lambda data: data.decode("latin-1")))
def test_toml_files(tmp_path, text):
    path = tmp_path / "hostile.toml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    experiment = only_our_error(load_experiment, path)
    if experiment is not None:
        assert experiment.entries
    only_our_error(load_study, path)
    only_our_error(Evaluator.from_toml, path)
    only_our_error(get_evaluator, path)


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "{ a = " * 3000,
        "a = " + "[" * 5000,
        'base = "\\u0000"',
        'base = "' + "b" * 300 + '"',
        'base = "hostile.toml"',
    ],
    ids=["tables", "lists", "nothing", "a long name", "itself"],
)
def test_hostile_toml_files(tmp_path, text):
    path = tmp_path / "hostile.toml"
    path.write_text(text)
    for call in (load_experiment, load_study, Evaluator.from_toml):
        with pytest.raises(T48Error):
            call(path)


@given(st.dictionaries(st.sampled_from(["games", "seed", "agents", "rules", "spawners", "stop_tile", "name"]), PLAIN))
def test_experiments_of_anything(data):
    only_our_error(make_experiment, data, "name")
    only_our_error(make_experiment, {"agents": {"a": "random"}} | data, "name")
    only_our_error(make_experiment, {"agents": {"a": {"agent": "expectimax"} | data}}, "name")


@given(st.binary(max_size=300) | mutated(['{"agents": {}, "schema": 1}', '{"format": 1, "seed": 0}']))
def test_json_files(tmp_path, text):
    folder = tmp_path / "folder"
    folder.mkdir(exist_ok=True)
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    (folder / "manifest.json").write_bytes(data)
    only_our_error(Store(folder).manifest)
    only_our_error(GameRecord.load, folder / "manifest.json")


@given(
    st.lists(
        mutated([*BOARDS, *SPECS, "advise", "verify", "--agent", "--json", "play", "--seed", "9", "-h"]), max_size=4
    )
)
def test_command_lines(tmp_path, arguments):
    assume(not any(a in ("run", "tune", "bench", "notebooks", "claims", "diagnose", "duel") for a in arguments[:1]))
    assert status(["advise", *arguments, "--agent", "greedy"]) in (0, 2)
    assert status(arguments if arguments[:1] != ["play"] else []) in (0, 2)


WEIGHTS = st.floats(-1e6, 1e6, allow_subnormal=False)


@st.composite
def evaluators(draw):
    """A random evaluator; discards the few combinations that are refused."""
    names = draw(st.lists(st.sampled_from(sorted(TERMS)), max_size=5, unique=True))
    terms = {}
    for name in names:
        weight = draw(WEIGHTS)
        shaped = TERMS[name].exponent is not None and draw(st.booleans())
        terms[name] = {"weight": weight, "exponent": draw(st.floats(0.1, 5))} if shaped else weight
    lost = draw(st.just("evaluation") | WEIGHTS)
    full = draw(st.none() | WEIGHTS)
    floor = lost != "evaluation" and draw(st.booleans())
    try:
        made = Evaluator(terms=terms, lost=lost, full=full, floor=floor)
        made.revision(Rules())  # numbers too far apart are refused where tables are made
    except T48Error:
        assume(False)
    return made


@given(evaluators())
def test_evaluators_read_back(tmp_path, evaluator):
    path = tmp_path / "own.toml"
    path.write_text(evaluator.to_toml())
    assert Evaluator.from_toml(path) == evaluator
    assert make_agent(make_agent("greedy").model_copy(update={"evaluator": evaluator}).spec).evaluator == evaluator


CHEAP = {
    "depth": (1, 3), "least_depth": (1, 3), "table_bits": (10, 14), "nodes": (1, 120), "simulations": (1, 25),
    "positions": (1, 2000), "worlds": (1, 20), "rollout_limit": (0, 50), "seconds": (1e-6, 1e-4),
}  # fmt: skip
"""Ranges of parameters that cost time or memory; all others are drawn from the whole range that their records state."""


@st.composite
def agents(draw):
    """A random agent of any kind that takes boards of any size, each parameter within its range."""
    kind = draw(st.sampled_from([kind for kind in AGENTS.values() if not issubclass(kind, (PlainAgent, Solved))]))
    values = {}
    for name, known in kind.parameters().items():
        if name == "evaluator":
            values[name] = draw(st.sampled_from(sorted(PRESETS)) | evaluators())
        elif name == "order":
            values[name] = tuple(draw(st.permutations(["up", "right", "down", "left"])))
        elif name == "win":
            values[name] = 2 ** draw(st.integers(2, 16))
        elif known.choices:
            values[name] = draw(st.sampled_from(known.choices))
        elif isinstance(known.default, bool):
            values[name] = draw(st.booleans())
        else:
            values[name] = draw(number(name, kind, known))
    return kind(**values)


def number(name, kind, known):
    """Numbers of a parameter's range, or none where that is allowed."""
    low, high = CHEAP.get(name, (known.low, known.high))
    whole = "int" in str(kind.model_fields[name].annotation)
    drawn = st.integers(int(low), int(min(high, 2**62 - 1))) if whole else st.floats(low, high)
    return st.none() | drawn if known.default is None else drawn


@given(agents())
def test_agents_read_back(agent):
    again = make_agent(agent.spec)
    assert again == agent
    assert again.spec == agent.spec
    assert again.key() == agent.key()


@pytest.mark.compiled
@given(
    agents(),
    st.builds(Rules, rows=st.integers(2, 3), cols=st.integers(2, 4), four_probability=st.floats(0, 1)),
    st.integers(0, 2**63 - 1),
    st.sampled_from(["random", "adversarial:depth=0", "adversarial:depth=1,evaluator=a"]),
)
def test_agents_within_their_ranges_play_legal_games_to_the_end(agent, rules, seed, spawner):
    assume(rules.rows * rules.cols <= 9 or agent.name != "mcts")
    game = play(agent, seed=seed, rules=rules, spawner=spawner)
    *_, last = replay(game)
    assert last.board.is_over
    assert game.ended == "no legal move"
    assert (last.score, last.board.hex) == (game.score, game.final)
    if not agent.timed:
        assert play(agent, seed=seed, rules=rules, spawner=spawner).actions == game.actions


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_named_agent_reads_back(name):
    agent = make_agent(name)
    assert make_agent(agent.spec) == agent


@given(st.integers(0, 2**63 - 1), st.sampled_from(["random", "priority", "greedy"]))
def test_records_of_games_read_back(tmp_path, seed, spec):
    game = play(spec, seed=seed, rules=Rules(rows=2, cols=2))
    assert GameRecord.load(game.save(tmp_path / "game.json")) == game

"""Nets as evaluators: values and moves of a slow twin, in every search; one mapping for all; files that lie."""

import json
import pickle
import subprocess
import sys
import time

import numpy as np
import pytest
import reference_net as slow
from numba import config
from reference import empty_cells, legal, move, with_tile

from t48lab import AGENTS, Board, Rules, T48Error, get_evaluator, make_agent, play_batch
from t48lab.agents import decision_tree
from t48lab.board import DIRECTIONS
from t48lab.commands.cli import status
from t48lab.evaluators import Net, choice
from t48lab.kernels.layout import EXTRA
from t48lab.learning import Training, open_net, open_packed, pack_net, save_net, train, unpacked

JIT = not config.DISABLE_JIT
TRAININGS = {
    "4x4": {"network": ["01245", "01234", "0125a", "45678"], "stages": [128], "promotion": 10},
    "3x3": {"network": ["0134", "0124"], "rules": {"rows": 3, "cols": 3}},
    "2x4": {"network": ["0145", "0123", "0124"], "rules": {"rows": 2, "cols": 4}},
}
OVER = "2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 2"
BOARD = "2 4 8 16 / 16 32 64 128 / 4 4 256 512 / 0 2 8 1024"


@pytest.fixture(autouse=True, scope="module")
def _own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def nets(tmp_path_factory):
    made = {}
    for size, numbers in TRAININGS.items():
        plan = Training(**numbers, games=60 if JIT or size != "4x4" else 2, seed=3)
        made[size] = train(plan, tmp_path_factory.mktemp("net"))
    return made


def slow_twin(net, rules):
    net = net.playing
    shift = int(Net(path=str(net.path)).compile(rules).extra[EXTRA.SHIFT])
    weights = (np.rint(net.weights * 2.0**shift) / 2.0**shift).tolist()
    patterns = [sorted(int(digit, 16) for digit in pattern) for pattern in net.structure.patterns]
    return slow.Net(patterns, [tile.bit_length() - 1 for tile in net.structure.stages], weights)


def rules_of(size):
    return Rules(**TRAININGS[size].get("rules", {}))


def positions(size, count, seed):
    """Positions of random games, every fifth of each."""
    rules, draws, found = rules_of(size), np.random.default_rng(seed), []
    while len(found) < count:
        board, steps = ((0,) * rules.cols,) * rules.rows, 0
        while len(found) < count:
            cells = empty_cells(board)
            board = with_tile(board, *cells[draws.integers(len(cells))], 1 + (draws.random() < 0.1))
            moves = legal(board)
            if not moves:
                break
            if steps % 5 == 2:
                found.append(board)
            board, steps = move(board, draws.choice(moves))[0], steps + 1
    return found


def board_of(ranks):
    return Board.from_array(np.array([[2**rank if rank else 0 for rank in row] for row in ranks]))


def by_name(values):
    return {DIRECTIONS[direction]: value for direction, value in values.items()}


def test_before_its_promotion_a_net_plays_by_its_first_stage_alone(tmp_path):
    plan = Training(network=["0134", "0124"], rules={"rows": 3, "cols": 3}, stages=[16], promotion=50, games=20)
    early = train(plan, tmp_path / "early")
    late = Net(path=str(train(plan.model_copy(update={"games": 60}), tmp_path / "late").path))
    board = Board.parse("3x3:541230110")
    assert not early.weights[early.structure.entries :].any()
    one_stage = train(plan.model_copy(update={"stages": (), "promotion": 0}), tmp_path / "one")
    for path in (early.path, pack_net(early, tmp_path / "packed.net")):
        assert Net(path=str(path)).value(board) == Net(path=str(one_stage.path)).value(board) != 0
    assert late.value(board) != 0


@pytest.mark.parametrize("size", TRAININGS)
def test_values_are_those_of_the_slow_twin(size, nets):
    evaluator, net = Net(path=str(nets[size].path)), slow_twin(nets[size], rules_of(size))
    for ranks in positions(size, 10, 1):
        board = board_of(ranks)
        assert evaluator.value(board) == pytest.approx(net.to_come(ranks))
        parts = evaluator.explain(board)
        assert list(parts) == list(nets[size].structure.patterns)
        assert {evaluator.value(image) for image in board.symmetries() if image.rows == board.rows} == {
            sum(parts.values())
        }


@pytest.mark.parametrize(
    ("spec", "depth", "chance"),
    [
        ("greedy", 1, slow.mean),
        ("expectimax:depth=1", 1, slow.mean),
        ("expectimax:depth=2", 2, slow.mean),
        ("expectimax:depth=2,table=false,nodes=100000", 2, slow.mean),
        ("expectimax:depth=3", 3, slow.mean),
        ("minimax:depth=2", 2, slow.worst),
        ("minimax:depth=3", 3, slow.worst),
    ],
)
@pytest.mark.parametrize("size", ["3x3", "2x4"])
def test_searches_of_small_boards_count_every_reward(size, spec, depth, chance, nets):
    rules, agent = rules_of(size), with_net(spec, nets[size])
    net = slow_twin(nets[size], rules)
    for ranks in positions(size, 6 if JIT else 1, depth):
        wanted = by_name(net.root(ranks, depth, chance))
        found = agent.search(board_of(ranks), rules)
        assert {name: value for name, value in found.values.items() if value is not None} == pytest.approx(wanted)


def with_net(spec, net):
    return make_agent(f"{spec}{',' if ':' in spec else ':'}evaluator={net.path}")


@pytest.mark.compiled
def test_five_hundred_positions_get_the_moves_of_the_slow_twin(nets):
    agent, net = with_net("expectimax:depth=2", nets["4x4"]), slow_twin(nets["4x4"], Rules())
    for ranks in positions("4x4", 500, 5):
        wanted = by_name(net.root(ranks, 2, slow.mean))
        found = agent.search(board_of(ranks), values="best")
        assert {name: value for name, value in found.values.items() if value is not None} == pytest.approx(wanted)
        if wanted:
            most = max(wanted.values())
            assert found.best == next(name for name in DIRECTIONS if wanted.get(name, -1e9) >= most - 1e-9 * abs(most))


@pytest.mark.parametrize("name", ["mcts:simulations=40,rollout_limit=0", "bestfirst:nodes=60,worlds=3"])
def test_searches_that_count_points_themselves_add_what_is_to_come(name, nets):
    agent, evaluator = with_net(name, nets["4x4"]), Net(path=str(nets["4x4"].path))
    found = agent.search(BOARD)
    assert found.best in Board.parse(BOARD).legal_moves
    scale = max(
        abs(evaluator.value(Board.parse(BOARD).move(move).afterstate))
        for move in found.values
        if found.values[move] is not None
    )
    assert max(value for value in found.values.values() if value is not None) < 3 * scale + 5000
    assert decision_tree(agent, BOARD)["best"] == found.best


def test_one_look_ahead_of_mcts_is_the_value_of_its_leaf(nets):
    """With one simulation a move is worth its reward and the best next r + V of the position that was drawn."""
    agent, net = with_net("mcts:simulations=1,rollout_limit=0", nets["3x3"]), slow_twin(nets["3x3"], rules_of("3x3"))
    for ranks in positions("3x3", 10, 9):
        found = agent.search(board_of(ranks), rules_of("3x3"))
        if found.best is None:
            continue
        after, reward = move(ranks, DIRECTIONS.index(found.best))
        spawns = [with_tile(after, *cell, rank) for cell in empty_cells(after) for rank in (1, 2)]
        options = [reward + slow.best(net, board, 1, slow.mean) for board in spawns]
        assert min(abs(found.values[found.best] - option) for option in options) < 1e-6


def test_a_lost_position_has_nothing_to_come(nets):
    evaluator = Net(path=str(nets["4x4"].path))
    assert evaluator.lost_value(OVER) == 0.0
    agent = with_net("expectimax:depth=2,leaf=state", nets["4x4"])
    assert agent.leaf_value(Board.parse(OVER)) == 0.0


def test_larger_tiles_are_ranked_down_where_asked(nets):
    path = str(nets["4x4"].path)
    plain, down = Net(path=path), Net(path=path, top=256)
    large, small = "2 4 8 16 / 0 0 0 0 / 0 0 64 128 / 0 2 0 1024", "2 4 8 16 / 0 0 0 0 / 0 0 64 128 / 0 2 0 256"
    assert down.value(large) == down.value(small) == plain.value(small)
    full = "2 4 8 16 / 32 64 128 256 / 512 1024 2 4 / 8 16 32 64"
    assert down.value(full) == plain.value(full)
    for kind, more in (("greedy", {}), ("expectimax", {"depth": 2})):
        asked = [AGENTS[kind](evaluator=e, **more).search(b).values for e, b in ((down, large), (plain, small))]
        assert asked[0] == asked[1]
    assert AGENTS["greedy"](evaluator=down).key() != AGENTS["greedy"](evaluator=plain).key()


def test_a_key_is_of_the_weights_and_not_of_the_file(nets, tmp_path):
    net = nets["3x3"]
    copy = tmp_path / "copy.net"
    copy.write_bytes(net.path.read_bytes())
    packed = pack_net(net, tmp_path / "small.net", bits=8, keep=0.5)
    rules = rules_of("3x3")
    keys = [make_agent(f"greedy:evaluator={path}").key(rules) for path in (net.path, copy, packed)]
    assert keys[0] == keys[1] != keys[2]
    agent = make_agent(f"greedy:evaluator={copy}")
    assert make_agent(agent.spec) == agent == pickle.loads(pickle.dumps(agent))
    assert agent.label.startswith("greedy:by=evaluator,evaluator=copy-")
    assert "weights" not in json.dumps(agent.resolved())
    odd = Net(path=str(copy), top=2048)
    assert make_agent(AGENTS["greedy"](evaluator=odd).spec).evaluator == odd
    assert get_evaluator(copy).compile(rules).lines is Net(path=str(net.path)).compile(rules).lines


def test_games_are_the_same_packed_and_not(nets, tmp_path):
    net = nets["2x4"]
    packed = pack_net(net, tmp_path / "small.net")
    games = [
        play_batch(make_agent(f"greedy:evaluator={path}"), games=6, seed=4, rules=rules_of("2x4"))
        for path in (net.path, packed)
    ]
    assert games[0]["final"].tolist() == games[1]["final"].tolist()


def test_it_opens_at_once_from_the_second_time_on(nets):
    evaluator = Net(path=str(nets["4x4"].path))
    evaluator.compile()
    unpacked._mapping.cache_clear()
    start = time.perf_counter()
    fresh = Net(path=str(nets["4x4"].path)).tables(4, 4)
    assert time.perf_counter() - start < 0.5
    assert np.array_equal(fresh.lines, evaluator.compile().lines)


def test_a_cache_that_cannot_be_written_costs_time_alone(nets, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(unpacked, "cache", lambda: tmp_path / "file" / "below")
    fresh = Net(path=str(nets["3x3"].path)).tables(3, 3)
    assert fresh.lines.any()


@pytest.mark.parametrize("command", [["advise", BOARD, "--agent"], ["play", "--agent"]])
def test_bad_files_are_one_line_and_status_two(command, nets, tmp_path, capsys):
    def told(path, more=""):
        assert status([*command, f"greedy:evaluator={path}{more}"]) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        return error

    assert "is not for boards of 4x4, take another one" in told(nets["3x3"].path)
    assert "cannot read" in told(tmp_path / "none.net")
    broken = nets["4x4"].weights.copy()
    broken[7] = np.nan
    nan = save_net(tmp_path / "nan.net", nets["4x4"].structure, {}, 1, broken)
    assert "has weights that are no numbers, restore it" in told(nan)
    damaged = tmp_path / "damaged.net"
    data = bytearray(nets["4x4"].path.read_bytes())
    data[-len(data) // 3] ^= 255
    damaged.write_bytes(data)
    changed = open_net(damaged)
    with pytest.raises(T48Error, match="damaged"):
        changed.verify()
    short = tmp_path / "short.net"
    short.write_bytes(nets["4x4"].path.read_bytes()[:-5000])
    assert "damaged" in told(short)
    packed = pack_net(nets["4x4"], tmp_path / "packed.net")
    data = bytearray(packed.read_bytes())
    start = int(bytes(data[:64]).split()[-1])
    data[(start + len(data)) // 2] ^= 1
    packed.write_bytes(data)
    open_packed(packed)
    assert "damaged" in told(packed)
    text = tmp_path / "text.net"
    text.write_text("no net\n")
    assert "is not a net of t48lab, give the path of one" in told(text)


def test_a_file_that_was_exchanged_is_noticed(nets, tmp_path):
    path = tmp_path / "a.net"
    path.write_bytes(nets["3x3"].path.read_bytes())
    evaluator = Net(path=str(path))
    with pytest.raises(T48Error, match="holds another net than the one meant"):
        Net(path=str(path), sha256="0" * 64)
    pack_net(nets["3x3"], path, bits=8)
    with pytest.raises(T48Error, match="holds another net than before, restore it or start again"):
        evaluator.compile(rules_of("3x3"))
    with pytest.raises(T48Error, match="top must be a tile from 256 to 32768, or 0, got 100"):
        Net(path=str(path), top=100)


def test_another_process_reads_the_same_values(nets):
    code = f"from t48lab import get_evaluator; print(get_evaluator({str(nets['4x4'].path)!r}).value({BOARD!r}))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(shown.stdout) == Net(path=str(nets["4x4"].path)).value(BOARD)


def test_the_net_of_the_package_goes_by_name(nets, monkeypatch):
    path = nets["4x4"].path
    monkeypatch.setattr(choice, "LEARNED", path)
    agent = make_agent("expectimax:depth=1,evaluator=learned")
    assert agent.spec == "expectimax:depth=1,evaluator=learned"
    assert agent.key() == make_agent(f"expectimax:depth=1,evaluator={path}").key()
    assert agent.search(BOARD).best in Board.parse(BOARD).legal_moves
    monkeypatch.setattr(choice, "LEARNED", path.with_name("none.net"))
    with pytest.raises(T48Error, match=r"none.net is missing: install t48lab again"):
        make_agent("expectimax:depth=1,evaluator=learned")

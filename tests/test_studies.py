"""Study files: checked before anything is played, and every number in them has a place where its range is stated."""

import tomllib

import pytest
from study_files import ROOT, SMALL, write

from t48lab.agents import make_agent
from t48lab.errors import T48Error
from t48lab.studies.spaces import evaluator_of, free_parameter, placed, point_of
from t48lab.studies.study import load_study, make_study

pytestmark = pytest.mark.compiled

STUDIES = sorted(
    path
    for path in (ROOT / "experiments").glob("*.toml")
    if "\n[free]" in path.read_text() or "base =" in path.read_text()
)


def small(**changed):
    return make_study(tomllib.loads(SMALL) | changed, "small")


def test_a_file_with_everything(tmp_path):
    plan = load_study(write(tmp_path), trials=9)
    assert (plan.name, plan.title, plan.trials, plan.games, plan.seed) == ("small", "A small study", 9, 12, 3)
    assert (plan.tuning_seed, plan.confirm.seed, plan.confirm.report_seed) == (101, 102, 103)
    assert [free.name for free in plan.space] == ["monotonicity.weight", "corner.weight", "corner.exponent"]
    assert plan.space[0].plain() == {"low": 0.1, "high": 1000.0, "log": True}  # as terms.py states it
    assert list(plan.baselines) == ["start", "reward"]
    assert plan.baselines["start"] == plan.agent
    assert plan.starts == [{"monotonicity.weight": 47.0, "corner.weight": 10.0, "corner.exponent": 3.0}]
    assert plan.objectives == ("mean_score",)


def test_ranges_come_from_the_records():
    agent = make_agent("mcts:simulations=50")
    assert free_parameter("rollout", True, agent).choices == ("uniform", "merge", "evaluator")
    assert free_parameter("reuse", True, agent).choices == (False, True)
    assert free_parameter("evaluator_share", True, agent).plain() == {"low": 0.0, "high": 1.0, "log": False}
    assert free_parameter("rollout_limit", [10, "none"], agent).choices == (10, None)
    depth = free_parameter("depth", {"low": 1, "high": 3}, make_agent("expectimax"))
    assert (depth.whole, depth.plain()) == (True, {"low": 1, "high": 3, "log": False})
    assert free_parameter("evaluator", ["tuned", "classic"], agent).choices == ("tuned", "classic")


def test_a_point_of_the_space_is_an_agent_and_back():
    plan = small()
    point = {"monotonicity.weight": 5.5, "corner.weight": 2.0, "corner.exponent": 1.5}
    agent = placed(plan.agent, point)
    terms = evaluator_of(agent).terms
    assert (terms["monotonicity"].weight, terms["monotonicity"].exponent) == (5.5, 4.0)
    assert (terms["corner"].weight, terms["corner"].exponent) == (2.0, 1.5)
    assert evaluator_of(agent).lost == -1000.0
    assert point_of(agent, plan.agent, plan.space) == point
    for other in (make_agent("random"), make_agent("expectimax:depth=1"), placed(agent, {"depth": 2})):
        assert point_of(other, plan.agent, plan.space) is None
    assert point_of(placed(agent, {"corner.weight": 0.5}), plan.agent, plan.space) is None  # outside of the range


def test_the_record_holds_what_decides_a_trial():
    plan = small()
    same = [small(trials=99), small(title="other"), small(baselines={}), small(confirm={"top": 3}), small(minutes=1)]
    assert {other.key for other in same} == {plan.key}
    changed = [
        small(games=13),
        small(tuning_seed=7),
        small(seed=4),
        small(objective="mean_log_score"),
        small(sampler="random"),
        small(pruner="none"),
        small(free={"corner.weight": True}),
        small(agent=tomllib.loads(SMALL)["agent"] | {"agent": "expectimax:depth=2"}),
    ]
    assert len({other.key for other in [plan, *changed]}) == 1 + len(changed)


def test_files_build_on_others(tmp_path):
    write(tmp_path)
    text = 'base = "small.toml"\nwithout = ["corner"]\ngames = 5\nsampler = { startup = 2 }\n'
    plan = load_study(write(tmp_path, text, "less.toml"))
    assert (plan.name, plan.games, plan.trials) == ("less", 5, 8)
    assert (plan.sampler.kind, plan.sampler.startup) == ("tpe", 2)
    assert list(evaluator_of(plan.agent).terms) == ["empty", "monotonicity"]
    assert [free.name for free in plan.space] == ["monotonicity.weight"]
    deeper = 'base = "small.toml"\n[agent]\nagent = "expectimax:depth=2"\n[agent.evaluator.terms]\nmerges = 81.0\n'
    agent = load_study(write(tmp_path, deeper, "deeper.toml")).agent
    assert (agent.depth, evaluator_of(agent).lost) == (2, evaluator_of(load_study(tmp_path / "small.toml").agent).lost)
    assert list(evaluator_of(agent).terms) == sorted(
        ["merges", *evaluator_of(load_study(tmp_path / "small.toml").agent).terms]
    )
    loop = write(tmp_path, 'base = "loop.toml"', "loop.toml")
    with pytest.raises(T48Error, match="starts from itself"):
        load_study(loop)


BAD = {
    "misspelt key": ({"trails": 5}, "unknown key 'trails', did you mean 'trials'?"),
    "no trials": ({"trials": 0}, "trials must be 1 or more, got 0"),
    "no games": ({"games": 0}, "games must be 1 or more, got 0"),
    "no space": ({"free": {}}, "free is empty"),
    "no agent": ({"agent": "expectmax"}, "agent: unknown agent 'expectmax', did you mean 'expectimax'?"),
    "unknown term": ({"free": {"korner.weight": True}}, "no term 'korner', did you mean 'corner'?"),
    "unknown part": ({"free": {"corner.wait": True}}, "a term has no 'wait', did you mean 'weight'?"),
    "no exponent": ({"agent": "greedy:evaluator=classic", "free": {"merges.exponent": True}}, "has no exponent"),
    "unknown field": ({"free": {"dept": True}}, "did you mean 'depth'?"),
    "empty range": ({"free": {"corner.weight": {"low": 2, "high": 2}}}, "low must be less than high, got 2 and 2"),
    "no range": ({"free": {"lost": True}}, "its record states no range, give low and high"),
    "log of zero": ({"free": {"corner.weight": {"low": 0, "high": 2, "log": True}}}, "needs a low above 0, got 0"),
    "out of range": ({"free": {"depth": {"low": 0, "high": 2}}}, "depth must be 1 or more player moves, got 0"),
    "half a move": ({"free": {"depth": {"low": 1, "high": 2.5}}}, "low and high must be whole numbers"),
    "one choice": ({"free": {"depth": [1]}}, "two or more different choices"),
    "range of words": ({"free": {"leaf": {"low": 1, "high": 2}}}, "chosen from afterstate, state"),
    "a word": ({"free": {"depth": "deep"}}, "write true, a list of choices or"),
    "unknown end": ({"free": {"depth": {"lo": 1, "high": 2}}}, "unknown key 'lo', did you mean 'low'?"),
    "unknown objective": ({"objective": "mean_scor"}, "did you mean 'mean_score'?"),
    "two scores": ({"objective": ["mean_score", "mean_score"]}, "objective 'mean_score' is unknown, "),
    "three objectives": ({"objective": ["mean_score", "ms_per_move", "x"]}, "objective must be one such as"),
    "unknown sampler": ({"sampler": "tep"}, "kind must be 'tpe', 'cmaes', 'random' or 'gp', got 'tep'"),
    "unknown pruner": ({"pruner": "median"}, "kind must be"),
    "bad threshold": ({"pruner": {"p": 2.0}}, "p must be 1 or less, got 2"),
    "two and pruning": ({"objective": ["mean_score", "ms_per_move"], "pruner": "wilcoxon"}, "cannot prune"),
    "cmaes and words": ({"free": {"leaf": True}, "sampler": "cmaes"}, "sampler cmaes takes one objective and ranges"),
    "overlapping seeds": ({"tuning_seed": 102}, "tuning_seed and confirm.seed are both 102"),
    "report on the chosen": ({"confirm": {"seed": 103}}, "confirm.seed and confirm.report_seed are both 103"),
    "negative seed": ({"tuning_seed": -1}, "tuning_seed must be a whole number"),
    "baseline twice": ({"baselines": {"a": "random", "b": "random"}}, "'a' and 'b' have the same parameters"),
    "bad baseline": ({"baselines": {"a": "rondom"}}, "baseline 'a': unknown agent 'rondom'"),
    "no such term": ({"without": ["korner"]}, "the evaluator has no term 'korner'"),
    "without a word": ({"without": "corner"}, "without must be a list"),
    "no minutes": ({"minutes": 0}, "minutes must be more than 0"),
    "bad name": ({"name": "../x"}, "name must be letters"),
}


@pytest.mark.parametrize(("changed", "words"), BAD.values(), ids=BAD)
def test_bad_studies(changed, words):
    with pytest.raises(T48Error) as caught:
        small(**changed)
    message = str(caught.value).replace('"', "'")
    assert words in message or words.replace("'", "") in message.replace("'", "")
    assert "\n" not in message


def test_the_file_is_named(tmp_path):
    path = write(tmp_path, SMALL.replace("games = 12", "games = 0"))
    with pytest.raises(T48Error, match=f"{path}: games must be 1 or more, got 0"):
        load_study(path)
    with pytest.raises(T48Error, match=r"cannot read .* give the path of a study's \.toml file"):
        load_study(tmp_path / "none.toml")


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_committed_studies_load(path):
    plan = load_study(path)
    assert plan.title
    assert "start" in plan.baselines
    assert len(set(plan.seeds().values())) == 4


def test_studies_of_four_terms_exist():
    plans = {path.stem: load_study(path) for path in STUDIES}
    four = {"empty", "monotonicity", "smoothness", "corner"}
    for name in ("tune_depth2", "tune_depth3"):
        assert set(evaluator_of(plans[name].agent).terms) == four
        assert plans[name].trials >= 500
    assert {free.name for free in plans["tune_shapes"].space} >= {f"{term}.exponent" for term in four}
    assert plans["tune_two"].objectives == ("mean_score", "ms_per_move")
    ablated = {next(iter(four - set(evaluator_of(p.agent).terms))) for n, p in plans.items() if n.startswith("ablate")}
    assert ablated == four

"""What a user's machine brings along: settings of pip, colours, fonts and homes, copies of a checkout, impatience."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from t48lab import Evaluator, Expectimax, make_agent, play_batch
from t48lab.agents import search_together
from t48lab.commands import play
from t48lab.commands.cli import status
from t48lab.errors import T48Error
from t48lab.experiments import load_experiment
from t48lab.studies import load_study

pytestmark = pytest.mark.compiled
ROOT = Path(__file__).parents[1]
WEIGHTS = "[terms]\nempty = {}\n"


def run(*command, cwd=ROOT, text=None, **changes):
    """(status, stdout, stderr) of a command; None takes a variable away."""
    where = {name: value for name, value in (os.environ | changes).items() if value is not None}
    done = subprocess.run(command, cwd=cwd, env=where, input=text, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, said(done.stderr)


def said(errors):
    """What stands on stderr beside the notice of compiling."""
    return "".join(line for line in errors.splitlines(True) if not line.startswith("compiling kernels"))


def tool(*arguments, **options):
    return run(sys.executable, "-m", "t48lab", *arguments, **options)


@pytest.mark.parametrize("name", ["FORCE_COLOR", "TTY_COMPATIBLE", "CLICOLOR_FORCE"])
def test_colours_that_are_forced_make_no_terminal_of_a_pipe(name):
    code, out, errors = tool("play", "--agent", "greedy", **{name: "1"})
    assert (code, errors) == (0, "")
    assert "\x1b" not in out
    assert out.count("score ") == 1


@pytest.mark.parametrize("setting", ["text.usetex: True", "font.family: nonsense", "axes.formatter.use_mathtext: True"])
def test_figures_are_drawn_whatever_a_users_matplotlibrc_says(tmp_path, setting):
    (tmp_path / "matplotlibrc").write_text(setting)
    (tmp_path / "tiny.toml").write_text('games = 2\n[agents]\nrandom = "random"\n')
    code, _, errors = tool("run", "tiny.toml", cwd=tmp_path, PYTHONPATH=str(ROOT))
    assert (code, "Traceback" in errors) == (0, False), errors
    assert (tmp_path / "results" / "tiny" / "figures" / "scores.png").exists()


@pytest.mark.parametrize("variable", [{"HOME": "~"}, {"XDG_CACHE_HOME": "~/.cache"}, {"XDG_CACHE_HOME": "cache"}])
def test_kernels_are_never_kept_in_the_working_directory(tmp_path, variable):
    code = (
        "import numba; from numba.core import caching; from t48lab.kernels import greedy, caching as ours\n"
        "caching.InTreeCacheLocator.from_function = classmethod(lambda *_: None)\n"
        "def f(): pass\n"
        "f.__module__ = 't48lab.f'; f.__code__ = f.__code__.replace(co_filename=greedy.__file__)\n"
        "print(type(ours.cache_of(f)).__name__)"
    )
    changes = {"HOME": str(tmp_path), "XDG_CACHE_HOME": None, "NUMBA_CACHE_DIR": None} | variable
    found = run(sys.executable, "-c", code, cwd=tmp_path, PYTHONPATH=str(ROOT), **changes)
    assert found == (0, "NullCache\n", "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "spec", ["'expectimax:evaluator=w/a.toml'", "{ agent = 'expectimax', evaluator = 'w/a.toml' }"]
)
def test_an_evaluators_file_is_looked_for_beside_the_file_that_names_it(tmp_path, monkeypatch, spec):
    place = tmp_path / 'a, "b' / "lab"
    (place / "w").mkdir(parents=True)
    (place / "w" / "a.toml").write_text(WEIGHTS.format(3))
    (place / "x.toml").write_text(f"[agents]\na = {spec}\n")
    (place / "s.toml").write_text(
        f"baselines = {{ greedy = 'greedy', b = {spec.replace('expectimax', 'greedy')} }}\n[agent]\n"
        "agent = 'expectimax'\nevaluator = 'w/a.toml'\n[free]\n'empty.weight' = true\n"
    )
    (tmp_path / "t.toml").write_text("base = 'a, \"b/lab/s.toml'\ntrials = 3\n")
    monkeypatch.chdir(tmp_path)
    own = Evaluator(terms={"empty": 3.0})
    assert load_experiment(place / "x.toml").entries[0].agent.evaluator == own
    assert load_study("t.toml").agent.evaluator == load_study("t.toml").baselines["b"].evaluator == own
    with pytest.raises(T48Error, match=r"cannot read w/a\.toml"):
        make_agent("expectimax:evaluator=w/a.toml")


def test_an_evaluators_label_says_which_file_it_is_from(tmp_path):
    labels = []
    for folder, weight in (("one", 3), ("two", 4), ("one", 3)):
        path = tmp_path / folder / "my weights!.toml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(WEIGHTS.format(weight))
        labels.append(Expectimax(evaluator=path).label)
    assert labels[0] == labels[2] != labels[1]
    assert labels[0].startswith("expectimax:depth=3,evaluator=my_weights_-")
    own, read = Expectimax(evaluator=Evaluator(terms={"empty": 4.0})), Expectimax(evaluator=path)
    path.write_text(WEIGHTS.format(4))
    read = Expectimax(evaluator=path)
    assert (own, own.key(), own.spec) == (read, read.key(), read.spec)
    assert set(play_batch(read, games=1, stop_tile=32)["agent"]) == {read.label}


def test_searches_together_take_the_time_of_their_search(monkeypatch):
    from t48lab.agents import searches

    loaded, load = [], searches.load

    def slowly(kernel):
        import time

        if kernel not in loaded:
            loaded.append(kernel)
            time.sleep(0.5)
        return load(kernel)

    monkeypatch.setattr(searches, "load", slowly)
    found = search_together(make_agent("mcts:simulations=4"), "1100000000000000", 4)
    assert loaded
    assert found.seconds < 0.5


def test_the_conversation_knows_arrows_undo_and_the_score():
    text = "\x1b[D\n0 3 2\n\x1bOC\n\nundo\nz\nz\nq\n"
    code, out, errors = tool(
        "advise", "2 2 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0", "--loop", "--agent", "greedy", text=text
    )
    assert (code, errors) == (0, "")
    assert "left, 4 points" in out
    assert "right, 0 points" in out
    assert [line for line in out.splitlines() if line.startswith("score: ")] == [
        f"score: {score} in {moves} moves" for score, moves in ((0, 0), (4, 1), (4, 2), (4, 1), (0, 0), (0, 0))
    ]
    assert out.count("This is where the game begins.") == 2


@pytest.mark.parametrize("moves", [0, 1, 7])
def test_an_interrupted_game_shows_how_far_it_came(capsys, monkeypatch, moves):
    scenes = play._scenes

    def interrupted(task):
        for scene in scenes(task):
            if scene.moves == moves:
                raise KeyboardInterrupt
            yield scene

    monkeypatch.setattr(play, "_scenes", interrupted)
    assert status(["play", "--agent", "expectimax:depth=4"]) == 130
    out, errors = capsys.readouterr()
    assert said(errors) == "t48lab: interrupted: the game was not played to its end\n"
    assert (f", {moves - 1:,} moves\nagent expectimax:depth=4" in out) if moves else out == ""


def copied(folder):
    for name in ("t48lab", "Makefile"):
        whole = (ROOT / name).is_dir()
        (shutil.copytree if whole else shutil.copy)(ROOT / name, folder / name)
    return folder


@pytest.mark.parametrize("place", [".", "t48lab", "t48lab/kernels"])
def test_a_copy_that_runs_the_originals_code_is_told(tmp_path, place):
    top = copied(tmp_path)
    code = "from t48lab.commands.cli import main; main()"
    path = f"import sys; sys.path[:] = [{str(ROOT)!r}, *sys.path[1:]]; sys.argv[1:] = ['--version']; {code}"
    status_, out, errors = run(sys.executable, "-c", path, cwd=top / place)
    assert (status_, out.startswith("t48lab ")) == (0, True)
    assert errors == f"t48lab: this runs the code in {ROOT / 't48lab'}, not that of {top}: run `make setup` there\n"
    assert run(sys.executable, "-c", path, cwd=ROOT)[2] == ""


@pytest.mark.parametrize(("stamp", "again"), [("{}", False), ("/elsewhere", True), ("", True)])
def test_an_environment_of_another_folder_is_made_again(tmp_path, stamp, again):
    for name in ("Makefile", "requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "ready").write_text(stamp.format(tmp_path) + "\n")
    _, out, _ = run("make", "-n", "setup", cwd=tmp_path)
    assert ("rm -rf .venv" in out) == again


def test_bad_input_of_the_system_is_one_line(tmp_path, capsys):
    (tmp_path / "games").write_text("")
    assert status(["report", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1

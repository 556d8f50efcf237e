"""The command line: what it prints, and one line and status 2 for whatever is wrong."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from t48lab.analysis import summary_columns
from t48lab.commands import notebooks
from t48lab.commands.cli import status

pytestmark = pytest.mark.compiled
ROOT = Path(__file__).parents[1]
BOARD = "2 4 8 16 / 32 64 128 256 / 512 1024 2048 4096 / 4 8 2 2"
TINY = 'games = 4\nseed = 0\n[agents]\nrandom = "random"\ngreedy = "greedy"\n'


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """A function that runs a command line in an empty folder and returns (status, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)

    def function(*arguments):
        code = status([str(argument) for argument in arguments])
        out, errors = capsys.readouterr()
        return code, out, "".join(line for line in errors.splitlines(True) if not line.startswith("compiling kernels"))

    return function


@pytest.fixture
def tiny(tmp_path):
    path = tmp_path / "tiny.toml"
    path.write_text(TINY)
    return path


BAD = {
    "an unknown command": (["rnu"], "No such command 'rnu'"),
    "an unknown option": (["bench", "--jsn"], "No such option"),
    "no board": (["advise"], "Missing argument 'BOARD'"),
    "a board of 15 values": (["advise", "2 " * 15], "got 15 cells where a 4x4 board has 16"),
    "a board of 17 digits": (["advise", "1" * 17], "got 17 cells"),
    "an empty board text": (["advise", ""], "cells"),
    "a tile of 3": (["advise", "3" + " 0" * 15], "tile value 3 is no power of two, the nearest are 2 and 4"),
    "a negative tile": (["advise", "0" + " -2" * 15], "is out of range, use 0 for empty"),
    "a word for a tile": (["advise", "two" + " 0" * 15], "tile value 'two' is no whole number"),
    "an unknown agent": (["advise", BOARD, "--agent", "expectmax"], "unknown agent 'expectmax', did you mean"),
    "an unknown parameter": (["advise", BOARD, "--agent", "mcts:sims=3"], "mcts has no parameter 'sims'"),
    "depth 0": (["advise", BOARD, "--agent", "expectimax:depth=0"], "depth must be 1 or more player moves, got 0"),
    "depth 99": (["play", "--agent", "expectimax:depth=99"], "or less player moves, got 99"),
    "no simulations": (["play", "--agent", "mcts:simulations=0"], "simulations must be 1 or more"),
    "an unknown evaluator": (["play", "--agent", "greedy:evaluator=tund"], "tund"),
    "an unknown spawner": (["play", "--spawner", "ransom"], "unknown spawner 'ransom', did you mean 'random'?"),
    "a negative seed": (["play", "--seed", "-1"], "seed must be a whole number from 0 to 2^63 - 1, got -1"),
    "a seed in words": (["play", "--seed", "one"], "'one' is not a valid integer"),
    "no speed": (["play", "--speed", "0"], "speed must be from 0.1 to 1000"),
    "no experiment": (["run", "missing.toml"], "cannot read missing.toml (no such file or directory)"),
    "zero games": (["run", "tiny.toml", "--games", "0"], "games must be 1 or more, got 0"),
    "a bad seed": (["run", "tiny.toml", "--seed", "-5"], "seed must be a whole number"),
    "no workers": (["run", "tiny.toml", "--workers", "0"], "workers must be 1 or more, got 0"),
    "a file for a folder": (["run", "tiny.toml", "--out", "tiny.toml"], "tiny.toml is a file"),
    "an empty folder": (["report", "nothing"], "nothing holds no games"),
    "a size that is none": (["solve", "33"], "a size is rows x columns, as in 3x3, got '33'"),
    "a large board to solve": (["solve", "3x4"], "3x4 has about"),
    "an objective that is none": (["solve", "2x2", "--objective", "win"], "unknown objective 'win', choose from score"),
    "a tile out of reach": (["solve", "2x2", "--objective", "tile:64"], "tile 64 cannot be reached on 2x2"),
    "odds above 1": (["solve", "2x2", "--four", "2"], "four_probability must be 1 or less"),
    "an agent that draws": (["exact", "mcts", "--rules", "2x2"], "play_batch estimates its score with an interval"),
    "no size": (["exact", "random"], "Missing option '--rules'"),
    "an unknown notebook": (["notebooks", "--folder", "."], "holds no notebooks"),
}


@pytest.mark.parametrize(("arguments", "words"), BAD.values(), ids=BAD)
def test_bad_input_is_one_line_and_writes_nothing(run, tiny, tmp_path, arguments, words):
    code, out, errors = run(*arguments)
    assert (code, out) == (2, "")
    assert errors.startswith("t48lab: ")
    assert errors.count("\n") == 1
    assert words in errors
    assert os.listdir(tmp_path) == ["tiny.toml"]


def test_bad_experiments_are_one_line_and_write_nothing(run, tmp_path):
    for text in ('gmaes = 3\n[agents]\na = "random"', "games = = 3", '[agents]\na = "expectimax:depth=0"'):
        (tmp_path / "bad.toml").write_text(text)
        code, out, errors = run("run", "bad.toml")
        assert (code, out, errors.count("\n")) == (2, "", 1)
        assert errors.startswith("t48lab: bad.toml")
    assert os.listdir(tmp_path) == ["bad.toml"]


def test_another_experiments_folder_is_refused_and_untouched(run, tiny, tmp_path):
    assert run("run", tiny, "--out", "out")[0] == 0
    before = {path: path.read_bytes() for path in Path("out").rglob("*") if path.is_file()}
    (tmp_path / "other.toml").write_text(TINY)
    code, out, errors = run("run", "other.toml", "--out", "out")
    assert (code, out) == (2, "")
    assert errors == "t48lab: out holds games of experiment 'tiny', choose another --out or another name\n"
    assert {path: path.read_bytes() for path in Path("out").rglob("*") if path.is_file()} == before


def test_solve_and_exact(run, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    code, out, _ = run("solve", "2x2", "--objective", "tile:32")
    assert (code, out) == (0, "2x2 solved for tile:32: 110 positions, 0.0828872890716 expected at random starts\n")
    solved = json.loads(run("solve", "2x2", "--json")[1])
    assert solved["rules"] == {"rows": 2, "cols": 2, "four_probability": 0.1}
    assert (solved["positions"], round(solved["expected"], 6)) == (110, 66.964149)
    code, out, _ = run("exact", "random", "priority", "--rules", "2x2")
    assert (code, "19.6565" in out, "priority" in out) == (0, True, True)
    values = json.loads(run("exact", "random", "--rules", "2x2", "--json")[1])["random"]
    assert round(values["mean"], 6) == 19.656540
    assert values["tiles"]["4"] == 1.0


def test_advise(run):
    code, out, errors = run("advise", BOARD, "--agent", "expectimax:depth=1,evaluator=classic")
    assert (code, errors) == (0, "")
    assert "4    8    2    2" in out
    assert "> " in out
    assert "is worth" in out
    assert "agent: expectimax:depth=1,evaluator=classic" in out


@pytest.mark.parametrize("spec", ["expectimax:depth=2,evaluator=classic", "mcts:simulations=20", "random"])
def test_advise_json(run, spec):
    code, out, _ = run("advise", BOARD, "--agent", spec, "--json")
    found = json.loads(out)
    assert code == 0
    assert list(found) == ["board", "best", "agent", "nodes", "seconds", "moves"]
    assert (found["board"], found["best"]) == ("123456789abc2311", found["best"])
    assert found["agent"].startswith(spec)
    assert list(found["moves"]) == ["up", "right", "down", "left"]
    assert {name for name, move in found["moves"].items() if move["legal"]} == {"right", "left"}
    for move in found["moves"].values():
        assert list(move) == ["legal", "value", "visits"]
        assert move["legal"] or move["value"] is None
    if spec.startswith("mcts"):
        assert sum(move["visits"] or 0 for move in found["moves"].values()) == 20


def test_advise_on_a_lost_position(run):
    over = "1212212112122121"
    assert json.loads(run("advise", over, "--json")[1])["best"] is None
    code, out, _ = run("advise", over)
    assert code == 0
    assert "no legal move" in out


def test_run_prints_a_table_and_leaves_everything(run, tiny):
    code, out, errors = run("run", tiny)
    assert code == 0
    assert "Traceback" not in errors
    assert "mean score (95%)" in out
    assert "Is pairing by seed worth anything?" in out
    assert "np.float64(" not in out
    folder = Path("results/tiny")
    summary = pd.read_csv(folder / "summary.csv")
    assert list(summary.columns) == summary_columns()
    assert list(summary["agent"]) == ["random", "greedy"]
    assert list(summary["games"]) == [4, 4]
    assert {path.name for path in (folder / "figures").iterdir()} >= {"scores.png", "rates.svg", "speed.png"}
    assert {"pairs.csv", "manifest.json", "report.md", "tables"} <= set(os.listdir(folder))
    for path in folder.rglob("*.[mct][sde][vx]"):
        assert "np." not in path.read_text()


def test_games_and_seed_replace_the_files(run, tiny):
    assert run("run", tiny, "--games", 3, "--seed", 7, "--out", "out")[0] == 0
    frame = pd.read_parquet("out/games")
    assert sorted(frame["game"]) == [0, 0, 1, 1, 2, 2]
    assert set(frame["seed"]) == {7}


def test_report_again_with_another_baseline(run, tiny):
    run("run", tiny, "--out", "out")
    before = {path: path.read_bytes() for path in Path("out").rglob("*") if path.is_file()}
    assert run("report", "out")[0] == 0
    assert {path: path.read_bytes() for path in Path("out").rglob("*") if path.is_file()} == before
    code, out, _ = run("report", "out", "--baseline", "greedy")
    assert code == 0
    assert "Score minus that of greedy" in out
    assert set(pd.read_csv("out/pairs.csv")["agent"]) == {"random"}
    code, _, errors = run("report", "out", "--baseline", "greddy")
    assert (code, errors) == (2, "t48lab: baseline 'greddy' has no games here, did you mean 'greedy'?\n")


def test_report_says_what_is_damaged(run, tiny):
    run("run", tiny, "--out", "out")
    part = next(Path("out/games").glob("*.parquet"))
    part.write_bytes(part.read_bytes()[:-20])
    code, out, errors = run("report", "out")
    assert (code, out, errors.count("\n")) == (2, "", 1)
    assert str(part) in errors


def test_play_where_there_is_no_terminal(run):
    code, out, errors = run("play", "--agent", "greedy", "--seed", 3)
    assert (code, errors) == (0, "")
    from t48lab.board import Board
    from t48lab.games import play

    record = play("greedy", seed=3)
    assert out.startswith(f"{Board.parse(record.final)}\n")
    assert f"score {record.score:,}, largest tile {record.max_tile:,}, {record.moves:,} moves" in out
    assert "agent greedy:by=reward, spawner random, seed 3" in out
    assert run("play", "--agent", "greedy", "--seed", 3)[1] == out
    assert run("play", "--agent", "greedy", "--seed", 3, "--spawner", "adversarial:depth=0")[1] != out


def test_play_in_a_terminal_draws_every_move():
    """Through a pseudo-terminal: boards and the four values are redrawn, and the end stays."""
    command = [sys.executable, "-m", "t48lab", "play", "--agent", "greedy", "--speed", "1000"]
    leader, follower = pty.openpty()
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": "100", "LINES": "40"}
    process = subprocess.Popen(command, cwd=ROOT, stdout=follower, stderr=subprocess.STDOUT, env=environment)
    os.close(follower)
    text = b""
    while chunk := read(leader):
        text += chunk
    assert process.wait() == 0
    plain = text.decode()
    assert plain.count("score ") > 50
    assert all(name in plain for name in ("up", "right", "down", "left", "value"))
    assert "\x1b[" in plain
    assert "agent greedy:by=reward, spawner random, seed 1" in plain


def read(descriptor):
    try:
        return os.read(descriptor, 65536)
    except OSError:
        return b""


def test_bench_has_a_fingerprint_apart_from_speeds(run, monkeypatch):
    monkeypatch.setattr("t48lab.commands.bench.PLAYERS", (("random", 50), ("greedy", 5)))
    code, out, _ = run("bench", "--json")
    found = json.loads(out)
    assert code == 0
    assert set(found) == {"fingerprint", "speeds", "calls", "machine", "versions"}
    nodes = found["fingerprint"]["nodes"]
    assert nodes["expectimax:depth=1,evaluator=classic"] < nodes["expectimax:depth=2,evaluator=classic"]
    assert found["speeds"]["random"]["moves_per_s"] > 0
    code, out, _ = run("bench")
    assert found["fingerprint"]["digest"] in out
    assert "of random play" in out


def notebook(folder, name, code, tags=("parameters",)):
    import nbformat

    book = nbformat.v4.new_notebook()
    book.cells = [
        nbformat.v4.new_code_cell("QUICK = False\nGAMES = 2 if QUICK else 200", metadata={"tags": list(tags)}),
        nbformat.v4.new_code_cell(code),
    ]
    nbformat.write(book, folder / name)
    return folder / name


def test_notebooks_run_quickly_and_stay_as_they_are(run, tmp_path):
    good = notebook(tmp_path, "01_good.ipynb", "assert GAMES == 2")
    notebook(tmp_path, "02_bad.ipynb", "raise ValueError('as planned')")
    before = good.read_bytes()
    code, out, errors = run("notebooks", "01", "--folder", tmp_path)
    assert (code, errors) == (0, "")
    assert out.startswith("1 to run, in quick mode: under 2 minutes each\npassed  01_good.ipynb")
    assert good.read_bytes() == before
    code, out, errors = run("notebooks", "--folder", tmp_path)
    assert code == 2
    assert "failed  02_bad.ipynb" in out
    assert "ValueError: as planned" in out
    assert errors == "t48lab: 1 of 2 notebooks failed: 02_bad.ipynb; run them cell by cell\n"
    code, _, errors = run("notebooks", "01_godo", "--folder", tmp_path)
    assert (code, errors) == (2, "t48lab: no notebook starts with '01_godo', did you mean '01_good'?\n")


def test_full_notebooks_keep_their_outputs(run, tmp_path):
    path = notebook(tmp_path, "01.ipynb", "print(GAMES)")
    assert (
        "0 s on the machine of their last full run, and 1 for the first time"
        in run("notebooks", "--full", "--folder", tmp_path)[1]
    )
    assert json.loads(path.read_text())["cells"][1]["outputs"][0]["text"] == ["200\n"]
    assert json.loads(path.read_text())["metadata"]["t48lab"]["seconds"] >= 0
    assert "for the first time" not in run("notebooks", "--full", "--folder", tmp_path)[1]


def test_a_failed_assertion_is_quoted(run, tmp_path):
    notebook(tmp_path, "01.ipynb", "assert GAMES == 3")
    assert "AssertionError: assert GAMES == 3" in run("notebooks", "--folder", tmp_path)[1]


def test_notebooks_need_their_switch(tmp_path):
    path = notebook(tmp_path, "01.ipynb", "1", tags=())
    with pytest.raises(ValueError, match=r"01\.ipynb has no cell tagged parameters"):
        notebooks.execute(path, quick=True, keep=False)


def test_help_names_every_command_and_reads_well(run):
    code, out, errors = run("--help")
    assert (code, errors) == (0, "")
    for name in ("run", "report", "advise", "play", "bench", "notebooks"):
        assert f"  {name} " in out
        code, text, _ = run(name, "--help")
        assert code == 0
        assert "..." not in text.split("Options")[0].replace("[NAME]...", "").replace(
            '"2 0 0 4 / 0 0 ..."', ""
        ).replace('"1002..."', "")
    assert "..." not in out.split("Commands:")[1]
    assert run()[1] == out
    assert run("--version")[1].startswith("t48lab ")


def test_help_is_quick_and_loads_nothing_large():
    code = (
        "import sys; from t48lab.commands.cli import status; status(['--help']); "
        "sys.exit(any(name in sys.modules for name in ('numpy', 'pandas', 'numba', 'rich', 'matplotlib')))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=False, timeout=60)
    assert done.returncode == 0


def test_python_m_and_closed_pipes(tmp_path):
    done = subprocess.run(
        f"'{sys.executable}' -m t48lab --help | head -1; exit ${{PIPESTATUS[0]}}",
        shell=True, executable="/bin/bash", cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Usage: t48lab")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["verify", "DIR", "--seed", "-1"], "seed must be a whole number from 0 to 2^63 - 1, got -1"),
        (["verify", "DIR", "--games", "-1"], "games must be a whole number from 0 to 2^63 - 1, got -1"),
        (["verify", "DIR", "--seed", str(2**63)], "seed must be a whole number from 0 to 2^63 - 1"),
        (["verify", "DIR", "--workers", "0"], "workers must be 1 or more, got 0"),
        (["advise", "3" * 5000 + "x3:0", "--agent", "random"], "a board has 2 to 4 rows of 2 to 4 cells"),
        (["advise", "1" * 16, "--agent", "mcts:simulations=1", "--searches", str(10**9)], "searches must be from 1 to"),
        (["advise", "1" * 16, "--agent", "greedy:evaluator=/dev/zero"], "/dev/zero is no regular file"),
        (
            ["advise", "1" * 16, "--agent", "mcts:simulations=1000000000000"],
            "simulations must be 100000000 or less",
        ),
        (["advise", "1" * 16, "--agent", "expectimax:table_bits=40"], "table_bits must be 26 or less bits, got 40"),
        (["diagnose", "random", "--games", str(10**9)], "games must be from 0 to 10,000"),
    ],
)
def test_numbers_out_of_bounds_are_one_line(arguments, words, capsys):
    assert status(arguments) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert (words in output.err, output.err.count("\n")) == (True, 1)

"""`t48lab notebooks` where something is wrong: the notebook's file, its kernel, the folders around it, or the user."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest

from t48lab.commands.cli import status

pytestmark = pytest.mark.compiled
ROOT = Path(__file__).parents[1]


def written(folder, name, code):
    """A notebook with its switch and one cell of code, in a file."""
    book = nbformat.v4.new_notebook()
    switch = nbformat.v4.new_code_cell("QUICK = False", metadata={"tags": ["parameters"]})
    book.cells = [switch, nbformat.v4.new_code_cell(code)]
    nbformat.write(book, folder / name)
    return folder / name


DAMAGED = {
    "cut": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "zeros": lambda data: bytes(len(data)),
    "no UTF-8": lambda data: data.replace(b"QUICK", b"\xff\xfe"),
    "another shape": lambda data: b"[1, 2]",
    "cells of another shape": lambda data: json.dumps(json.loads(data) | {"cells": [3]}).encode(),
    "a cell without its source": lambda data: data.replace(b'"source"', b'"sauce"'),
    "nested too deeply": lambda data: b"[" * 100_000,
}


@pytest.mark.parametrize("kind", DAMAGED)
@pytest.mark.parametrize("options", [[], ["--full"]], ids=["quick", "full"])
def test_a_damaged_notebook_is_one_line_before_any_is_run(tmp_path, capsys, kind, options):
    written(tmp_path, "01.ipynb", "1")
    path = written(tmp_path, "02.ipynb", "1")
    path.write_bytes(DAMAGED[kind](path.read_bytes()))
    assert status(["notebooks", *options, "--folder", str(tmp_path)]) == 2
    out, errors = capsys.readouterr()
    assert (out, errors) == ("", f"t48lab: {path} is damaged or no notebook, restore it: git checkout {path}\n")


def test_a_strange_note_of_its_seconds_is_no_estimate(tmp_path, capsys):
    for name, note in (("01", [3]), ("02", {"seconds": "long"}), ("03", {"seconds": 3})):
        path = written(tmp_path, f"{name}.ipynb", "1")
        path.write_text(json.dumps(json.loads(path.read_text()) | {"metadata": {"t48lab": note}}))
    status(["notebooks", "--full", "--folder", str(tmp_path)])
    assert "about 3 s on the machine of their last full run, and 2 for the first time" in capsys.readouterr().out


BROKEN = {
    "a kernel that dies": ("import os; os.kill(os.getpid(), 9)", "Kernel died"),
    "a kernel that ends": ("import os; os._exit(0)", "Kernel died"),
    "a name that is not there": ("nothing", "NameError: name 'nothing' is not defined"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_one_that_fails_is_named_and_the_next_one_runs(tmp_path, capsys, kind):
    code, words = BROKEN[kind]
    written(tmp_path, "01_bad.ipynb", code)
    written(tmp_path, "02_good.ipynb", "1")
    assert status(["notebooks", "--folder", str(tmp_path)]) == 2
    out, errors = capsys.readouterr()
    failed, passed = out.splitlines()[1:]
    assert failed.startswith("failed  01_bad.ipynb")
    assert words in failed
    assert passed.startswith("passed  02_good.ipynb")
    assert errors == "t48lab: 1 of 2 notebooks failed: 01_bad.ipynb; run them cell by cell\n"


def test_ctrl_c_ends_it_with_130(tmp_path):
    reached = tmp_path / "reached"
    code = f"import os, time; open({str(reached)!r}, 'w').write(str(os.getpid())); time.sleep(90)"
    written(tmp_path, "01.ipynb", code)
    command = [sys.executable, "-m", "t48lab", "notebooks", "--folder", str(tmp_path)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not (reached.exists() and reached.read_text()):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors.split("\n")[-2]) == (130, "t48lab: interrupted")
    assert "Traceback" not in errors
    with pytest.raises(ProcessLookupError):
        os.kill(int(reached.read_text()), 0)


SURROUNDINGS = {
    "a long path for temporary files": lambda folder: {"TMPDIR": str(folder / ("x" * 150))},
    "a home that is not there": lambda folder: {"HOME": str(folder / "nobody")},
    "a backend that matplotlib does not know": lambda folder: {"MPLBACKEND": "nonsense"},
}


@pytest.mark.parametrize("kind", SURROUNDINGS)
def test_it_runs_whatever_surrounds_it(tmp_path, capsys, monkeypatch, kind):
    for name, value in SURROUNDINGS[kind](tmp_path).items():
        monkeypatch.setenv(name, value)
    if "TMPDIR" in os.environ:
        Path(os.environ["TMPDIR"]).mkdir(exist_ok=True)
    monkeypatch.setattr("tempfile.tempdir", None)
    figure = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()"
    path = written(tmp_path, "01.ipynb", figure)
    assert status(["notebooks", "--full", "--folder", str(tmp_path)]) == 0, capsys.readouterr()
    assert any("image/png" in output.get("data", {}) for output in nbformat.read(path, 4).cells[1].outputs)

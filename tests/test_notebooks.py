"""The essays in notebooks/: their form, what the committed outputs hold, and that each still runs."""

import ast
import json
import re
import resource
from pathlib import Path

import nbformat
import pytest

import t48lab
from t48lab.commands.notebooks import execute

FOLDER = Path(__file__).parents[1] / "notebooks"
PATHS = sorted(FOLDER.glob("*.ipynb"))
GALLERY = FOLDER / "gallery.ipynb"
ESSAYS = [path for path in PATHS if path.stem[0].isdigit()]
PARAMETERS = ["QUICK", "BASE_SEED", "GAMES", "RESULTS"]
NO_NETWORK = """
import socket
_connect = socket.socket.connect
def connect(self, address):
    assert self.family == socket.AF_UNIX, f"a notebook must not ask the network for {address}"
    return _connect(self, address)
socket.socket.connect = connect
"""
every = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
essay = pytest.mark.parametrize("path", ESSAYS, ids=lambda path: path.stem)


def read(path):
    return nbformat.read(path, as_version=4)


def sources(path, kind):
    return [cell.source for cell in read(path).cells if cell.cell_type == kind]


def outputs(path):
    return [output for cell in read(path).cells if cell.cell_type == "code" for output in cell.outputs]


def test_there_are_notebooks_and_an_index_of_them():
    index = (FOLDER / "README.md").read_text(encoding="utf-8")
    linked = re.findall(r"\]\((\w+\.ipynb)\)", index)
    assert sorted(set(linked)) == [path.name for path in PATHS]
    pictures = re.findall(r"!\[[^]]+\]\(([^)]+)\)", index)
    assert len(pictures) == len(PATHS)
    assert all((FOLDER / picture).exists() for picture in pictures)


@essay
def test_it_is_an_essay(path):
    cells, texts = read(path).cells, sources(path, "markdown")
    title, answer, *_ = [part for part in texts[0].split("\n\n") if part]
    assert title.startswith("# ")
    assert title.endswith("?")
    assert len(re.findall(r"[.!?](?:\*\*)?(?=\s|$)", answer)) == 2, "the answer has two sentences"
    assert 10 <= len(cells) <= 16
    assert 600 <= sum(len(text.split()) for text in texts) <= 1200
    assert sum("**Prediction" in text for text in texts) >= 3
    assert sum("refute" in text for text in texts) >= 1
    assert any(re.search(r"^- ", text, flags=re.MULTILINE) and "ot shown" in text for text in texts), "findings"


@essay
def test_its_code_is_calls(path):
    codes = sources(path, "code")
    nodes = [node for code in codes for node in ast.walk(ast.parse(code))]
    assert not [node for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef))]
    assert any(isinstance(node, ast.Assert) for node in nodes)
    assert "manifest_sheet(" in codes[-1]


@every
def test_its_parameters_are_in_one_cell(path):
    book = read(path)
    tagged = [cell for cell in book.cells if "parameters" in cell.metadata.get("tags", [])]
    assert len(tagged) == 1
    assigned = [node.targets[0].id for node in ast.parse(tagged[0].source).body if isinstance(node, ast.Assign)]
    assert assigned[:4] == PARAMETERS if path in ESSAYS else assigned[0] == "QUICK"
    assert book.metadata.kernelspec.name == "python3"


def test_the_gallery_draws_with_every_plot_function():
    defined = {
        node.name
        for module in Path(t48lab.__file__).parent.rglob("*plots.py")
        for node in ast.parse(module.read_text()).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("plot_")
    }
    calls = [set(re.findall(r"^plot_\w+(?=\()", code, flags=re.MULTILINE)) for code in sources(GALLERY, "code")]
    assert set().union(*calls) == defined
    assert max(map(len, calls)) == 1, "one cell each"


@every
def test_its_outputs_are_those_of_a_full_run(path):
    text = path.read_text(encoding="utf-8")
    codes = [cell for cell in read(path).cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in codes] == list(range(1, len(codes) + 1))
    assert re.search(r"^QUICK = False", sources(path, "code")[1], flags=re.MULTILINE)
    assert len(text) < 500_000
    assert sum("image/png" in out.get("data", {}) for out in outputs(path)) > 1


@every
def test_its_outputs_show_before_it_is_trusted(path):
    for out in outputs(path):
        data = out.get("data", {"text/plain": out.get("text", "")})
        table = "text/html" in data and not re.search(r"<(script|svg|iframe|img)\b", data["text/html"])
        words = not re.fullmatch(r"(<.*>)?", data["text/plain"].strip(), flags=re.DOTALL)
        assert "image/png" in data or "text/markdown" in data or table or words, data["text/plain"]


@every
def test_its_outputs_hold_nothing_ugly(path):
    assert [out.output_type for out in outputs(path) if out.output_type == "error" or out.get("name") == "stderr"] == []
    shown = json.dumps([out.get("text", "") or out.get("data", {}) for out in outputs(path)])
    for ugly in ("np.float64(", "Warning", "Traceback", "widget-view", *map(str, (FOLDER.parent, Path.home()))):
        assert ugly not in shown
    texts = [str(out.get("text", "")) + str(out.get("data", {}).get("text/plain", "")) for out in outputs(path)]
    assert not re.search(r"(?<![\w.])/(home|tmp|root|work|Users)/|0x[0-9a-f]{8}", " ".join(texts))


@every
@pytest.mark.slow
@pytest.mark.compiled
def test_it_runs_quickly_in_a_fresh_kernel(path, tmp_path, monkeypatch):
    startup = tmp_path / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "00-no-network.py").write_text(NO_NETWORK)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    before = used()
    book = execute(path, quick=True, keep=False)
    assert used() - before < 80, "40 s on two cores"
    assert [out for cell in book.cells for out in cell.get("outputs", []) if out.output_type == "error"] == []


def used():
    """Processor seconds of all child processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime

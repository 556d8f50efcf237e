"""The faces of the wings: sorted, complete, true, and in the wheel, which needs them when it runs."""

import ast
import importlib
import subprocess
import tomllib
from pathlib import Path

import pytest

import t48lab

PACKAGE = Path(t48lab.__file__).parent
FACES = sorted(PACKAGE.rglob("__init__.pyi"))
IDS = [str(face.parent.relative_to(PACKAGE.parent)) for face in FACES]


def names_of(face):
    lines = [node for node in ast.parse(face.read_text()).body if isinstance(node, ast.ImportFrom)]
    return [(node.module, alias.name, alias.asname) for node in lines for alias in node.names]


def module_of(face):
    return importlib.import_module(".".join(face.parent.relative_to(PACKAGE.parent).parts))


@pytest.mark.parametrize("face", FACES, ids=IDS)
def test_a_face_is_sorted_and_exports_what_it_lists(face):
    names = names_of(face)
    assert names == sorted(set(names))
    assert all(name == exported for _, name, exported in names)
    assert sorted(module_of(face).__all__) == sorted(name for _, name, _ in names)


@pytest.mark.parametrize("face", FACES, ids=IDS)
def test_every_name_of_a_face_exists(face):
    module = module_of(face)
    for source, name, _ in names_of(face):
        assert hasattr(module, name), f"{source}.{name}"
        assert name in dir(module)


def test_every_wing_that_is_loaded_lazily_has_a_face():
    lazy = [path.parent for path in PACKAGE.rglob("__init__.py") if "attach_stub" in path.read_text()]
    assert sorted(lazy) == [face.parent for face in FACES]


def test_a_star_imports_the_public_names():
    names = {}
    exec("from t48lab import *", names)
    assert {name for _, name, _ in names_of(PACKAGE / "__init__.pyi")} <= set(names)


def test_the_wheel_carries_the_faces():
    hatch = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    assert hatch["targets"]["wheel"] == {"packages": ["t48lab"]}  # whole, but for what git ignores
    assert set(hatch) == {"targets"}
    ignored = subprocess.run(["git", "check-ignore", "--", *FACES], cwd=PACKAGE, capture_output=True, check=False)
    assert ignored.stdout == b""

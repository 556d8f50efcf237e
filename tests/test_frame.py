"""The files that describe the environment say the same, and importing stays light."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
GROUPS = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
BOUNDS = {need.name: str(need.specifier) for group in GROUPS for need in map(Requirement, group)}
LOCK = (ROOT / "requirements.lock").read_text()
LOCKED = dict(re.findall(r"^([a-z0-9-]+)==([^ ;\n]+)", LOCK, flags=re.MULTILINE))


def test_conda_environment_has_the_same_bounds():
    text = (ROOT / "environment.yml").read_text()
    lines = dict(re.findall(r"^ +- ([a-z0-9-]+) ([<>=][^ \n]*)(?: +#.*)?$", text, flags=re.MULTILINE))
    same = {name: str(Requirement(name + bounds).specifier) for name, bounds in lines.items()}
    assert same == BOUNDS | {"python": PROJECT["requires-python"]}


@pytest.mark.parametrize("name", BOUNDS)
def test_lock_keeps_the_bounds(name):
    assert LOCKED[name] in Requirement(name + BOUNDS[name]).specifier


def test_lock_names_no_place():
    assert not re.search(r"://|--(extra-)?index|--find-links|file:|@ |(^|\s)[./~]*/", LOCK, flags=re.MULTILINE)


def test_every_dependency_says_why_it_is_there():
    block = (ROOT / "pyproject.toml").read_text().split("[project.scripts]")[0].split("\ndependencies")[1]
    needs = re.findall(r'^    "([a-z0-9-]+).*$', block, flags=re.MULTILINE)
    reasons = re.findall(r'^    "([a-z0-9-]+)[^"]*",\s+# .{20,}\.$', block, flags=re.MULTILINE)
    assert needs == reasons == list(BOUNDS)


def test_version_is_the_same_everywhere():
    assert f"\nversion: {PROJECT['version']}\n" in (ROOT / "CITATION.cff").read_text()


def test_importing_the_package_does_not_compile():
    code = "import sys, t48lab; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, timeout=60, check=False).returncode == 0

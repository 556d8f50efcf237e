"""Fixtures of the fault tests, all of which are marked `faults`."""

import subprocess
import time
from pathlib import Path

import faulty
import pytest

from t48lab.commands.cli import status


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.faults)
            item.add_marker(pytest.mark.compiled)


@pytest.fixture(scope="session")
def whole(tmp_path_factory):
    """(games, seconds, bytes): what an undisturbed run stores, how long it takes, and the size of its parts."""
    folder = tmp_path_factory.mktemp("whole")
    file = faulty.write(folder)
    faulty.run("run", file, "--games", "2", "--out", folder / "warm")
    begin = time.monotonic()
    faulty.run("run", file, "--out", folder / "whole")
    seconds = time.monotonic() - begin
    return faulty.stored(folder / "whole"), seconds, faulty.size(folder / "whole" / "games")


class Tool:
    """`t48lab` in this process, for faults that need no process of their own."""

    def __init__(self, capsys):
        self.capsys = capsys

    def run(self, *arguments, code=0):
        """(stdout, stderr) of a command line that ends with this status."""
        found = status([str(argument) for argument in arguments])
        out, err = self.capsys.readouterr()
        assert found == code, err
        return out, err

    def refused(self, *arguments):
        """The one line with which a command line is refused."""
        _, err = self.run(*arguments, code=2)
        lines = [line for line in err.splitlines() if line.startswith("t48lab: ")]
        assert len(lines) == 1, err
        return lines[0]


@pytest.fixture
def tool(capsys):
    """`t48lab` in this process: `tool.run(...)` and `tool.refused(...)`."""
    return Tool(capsys)


@pytest.fixture
def small_disk(tmp_path):
    """A function that mounts a file system of so many bytes; skips, visibly, where that is not allowed."""
    mounted = []

    def mount(size):
        folder = tmp_path / f"disk{len(mounted)}"
        folder.mkdir()
        options = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
        done = subprocess.run(options, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"needs root to mount a small disk: {done.stderr.strip()}")
        mounted.append(folder)
        return folder

    yield mount
    for folder in mounted:
        subprocess.run(["umount", "--lazy", str(folder)], check=False)


def remount(folder, how):
    subprocess.run(["mount", "-o", f"remount,{how}", str(folder)], check=True)


@pytest.fixture
def read_only():
    """A function that makes a small disk read-only; root is stopped by that too, unlike by modes of files."""
    return lambda folder: remount(folder, "ro")

"""A notebook that is run in full is written whole or stays as it was."""

import shutil
import subprocess
import sys

import nbformat
import pytest
from conftest import remount
from faulty import ROOT, environment

KILLED = """
import os, signal, sys
from t48lab.commands.cli import status
os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
status(["notebooks", "--full", "--folder", sys.argv[1]])
"""


@pytest.fixture
def essay():
    """A function that writes a notebook with a figure into a folder, and returns its path and its bytes."""

    def written(folder):
        book = nbformat.v4.new_notebook()
        figure = "import matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.show()"
        switch = nbformat.v4.new_code_cell("QUICK = True", metadata={"tags": ["parameters"]})
        book.cells = [switch, nbformat.v4.new_code_cell(figure), nbformat.v4.new_markdown_cell("word " * 30_000)]
        nbformat.write(book, folder / "01.ipynb")
        return folder / "01.ipynb", (folder / "01.ipynb").read_bytes()

    return written


@pytest.mark.parametrize("left", [0, 65_536])
def test_a_full_disk_leaves_the_notebook_as_it_was(small_disk, tool, essay, left):
    disk = small_disk("8m")
    path, before = essay(disk)
    filler = disk / "filler"
    filler.write_bytes(bytes(shutil.disk_usage(disk).free - left))
    assert "no space left on device" in tool.refused("notebooks", "--full", "--folder", disk)
    assert path.read_bytes() == before
    assert sorted(found.name for found in disk.iterdir()) == ["01.ipynb", "filler"]
    filler.unlink()
    tool.run("notebooks", "--full", "--folder", disk)
    assert path.read_bytes() != before
    assert (disk / "pictures" / "01.png").exists()


def test_a_read_only_folder_leaves_the_notebook_as_it_was(small_disk, tool, essay):
    disk = small_disk("8m")
    path, before = essay(disk)
    remount(disk, "ro")
    assert "read-only file system" in tool.refused("notebooks", "--full", "--folder", disk)
    assert path.read_bytes() == before


def test_a_kill_while_it_is_written_leaves_the_notebook_as_it_was(tmp_path, essay):
    path, before = essay(tmp_path)
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, timeout=300, check=False)
    assert done.returncode == -9, done.stderr
    assert path.read_bytes() == before

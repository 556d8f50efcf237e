"""Where the program runs: how many processors, which commit, and systems that lack what Linux has."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import t48lab
from t48lab import files, machine
from t48lab.files import abandoned, write_whole

PACKAGE = Path(t48lab.__file__).parent
ELSEWHERE = """
import os, pathlib, sys
import numba, pandas, pyarrow  # these know their system themselves
os.name = "elsewhere"
for name in ("sched_getaffinity", "kill", "fork", "O_DIRECTORY", "process_cpu_count", "getuid"):
    if hasattr(os, name):
        delattr(os, name)
opened, read = os.open, pathlib.Path.read_text

def only_files(path, *rest, **options):
    if os.path.isdir(path):
        raise PermissionError(13, "no folder is opened here")
    return opened(path, *rest, **options)

def no_proc(path, *rest, **options):
    if str(path).startswith("/proc"):
        raise FileNotFoundError(2, "there is no such file here")
    return read(path, *rest, **options)

os.open, pathlib.Path.read_text = only_files, no_proc
import t48lab
from t48lab.files import abandoned, write_whole
from t48lab.machine import cores, machine
from t48lab.studies.liveness import Watch, identity

folder = pathlib.Path(sys.argv[1])
write_whole(folder / "whole", b"all")
(folder / ".x.1.tmp").write_bytes(b"")
assert list(abandoned(folder)) == []
assert cores() == os.cpu_count() == machine()["cores"]
assert identity()["since"] is None
print(len(t48lab.play_batch("random", games=4)), (folder / "whole").read_bytes().decode())
"""


@pytest.mark.compiled
def test_a_batch_is_played_where_linux_calls_are_missing(tmp_path):
    command = [sys.executable, "-c", ELSEWHERE, str(tmp_path)]
    run = subprocess.run(command, cwd=PACKAGE.parent, capture_output=True, text=True, timeout=300, check=False)
    assert (run.stdout, run.returncode) == ("4 all\n", 0), run.stderr


def test_cores_are_those_that_this_process_may_use(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 3, 5}, raising=False)
    assert machine.cores() == machine.machine()["cores"] == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert machine.cores() == 1


def git(folder, *arguments):
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    run = subprocess.run(["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return run.stdout.strip()


def test_the_commit_is_the_packages_own_or_none(tmp_path, monkeypatch):
    if not shutil.which("git"):
        pytest.skip("there is no git here")
    source = tmp_path / "t48lab" / "machine.py"
    source.parent.mkdir()
    source.write_text("one")
    monkeypatch.setattr(machine, "__file__", str(source))
    assert machine.commit() is None
    git(tmp_path, "init", "-q")
    (tmp_path / "other").write_text("")
    git(tmp_path, "add", "other")
    git(tmp_path, "commit", "-qm", "a repository around an installed package")
    assert machine.commit() is None
    git(tmp_path, "add", "t48lab")
    git(tmp_path, "commit", "-qm", "its own")
    assert machine.commit() == git(tmp_path, "rev-parse", "HEAD")
    source.write_text("two")
    assert machine.commit() == git(tmp_path, "rev-parse", "HEAD") + "+"


def test_drafts_are_given_up_by_age_where_files_cannot_be_locked(tmp_path, monkeypatch):
    old, new = (tmp_path / f".{name}.1.tmp" for name in ("old", "new"))
    for draft in (old, new):
        draft.write_bytes(b"")
    os.utime(old, (0, 0))
    assert set(abandoned(tmp_path)) == {old, new}  # nobody holds them
    monkeypatch.setattr(files, "_POSIX", False)
    assert list(abandoned(tmp_path)) == [old]
    write_whole(tmp_path / "whole", b"all")
    assert (tmp_path / "whole").read_bytes() == b"all"

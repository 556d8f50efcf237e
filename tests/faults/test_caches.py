"""Numba's compiled kernels: damaged, read-only, without a home, or on a full disk; the answer is always the same."""

import json
import random
import shutil
import subprocess
import sys

import pytest
from conftest import remount
from faulty import ROOT, SEED, environment

BOARD = "2 2 4 0 / 0 4 0 0 / 0 0 2 0 / 0 0 0 0"
AGENT = "greedy:evaluator=tuned"
NOTICE = "compiling kernels"


def advise(place, agent=AGENT, **changes):
    """(answer without its time, stderr) of the package that is installed in a folder."""
    where = environment(PYTHONPATH=str(place), **changes)
    command = [sys.executable, "-W", "error", "-m", "t48lab", "advise", BOARD, "--json", "--agent", agent]
    done = subprocess.run(command, cwd=place, env=where, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return json.loads(done.stdout) | {"seconds": 0}, done.stderr


def installed(folder):
    """The folder, in which there is a copy of the package without compiled kernels."""
    shutil.copytree(ROOT / "t48lab", folder / "t48lab", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    """(folder, answer): a copy of the package with compiled kernels."""
    place = installed(tmp_path_factory.mktemp("warm"))
    answer, said = advise(place)
    assert NOTICE in said
    assert NOTICE not in advise(place)[1]
    return place, answer


def copied(warm, folder):
    shutil.copytree(warm[0] / "t48lab", folder / "t48lab")
    return folder


def compiled(place, ending):
    return sorted((place / "t48lab" / "kernels" / "__pycache__").glob(f"*.{ending}"))


def flip(data, draw):
    place = draw.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << draw.randrange(8)]) + data[place + 1 :]


DAMAGE = {
    "cut": lambda data, draw: data[: draw.randrange(len(data))],
    "empty": lambda data, draw: b"",
    "zeros": lambda data, draw: bytes(len(data)),
    "noise": lambda data, draw: draw.randbytes(len(data)),
    "a flipped bit": flip,
}


@pytest.mark.parametrize("kind", DAMAGE)
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_damaged_kernels_are_compiled_again(warm, tmp_path, kind, ending):
    place, draw = copied(warm, tmp_path), random.Random(f"{SEED} {kind} {ending}")
    simple = [path for path in compiled(place, ending) if path.name.startswith(("bitboard", "exact", "rng", "choice"))]
    for path in draw.sample(simple, 5):
        path.write_bytes(DAMAGE[kind](path.read_bytes(), draw))
    answer, said = advise(place)
    assert answer == warm[1]
    if kind != "a flipped bit":
        assert NOTICE in said
    assert NOTICE not in advise(place)[1]


@pytest.mark.slow
def test_kernels_of_other_sources_are_never_used(warm, tmp_path):
    place = copied(warm, tmp_path)
    source = place / "t48lab" / "kernels" / "lines.py"
    source.write_text(source.read_text() + "\n# another version\n")
    answer, said = advise(place)
    assert answer == warm[1]
    assert NOTICE in said


def test_an_installation_that_cannot_be_written_to_uses_the_home(warm, small_disk, tmp_path):
    disk = installed(small_disk("32m"))
    remount(disk, "ro")
    home = tmp_path / "home"
    home.mkdir()
    told = []
    for _ in range(2):
        answer, said = advise(disk, HOME=str(home), XDG_CACHE_HOME=None, PYTHONPYCACHEPREFIX=None)
        assert answer == warm[1]
        told.append("once per machine" in said)
    assert told == [True, False]
    assert list(home.rglob("*.nbc"))


def test_without_any_folder_for_kernels_they_are_compiled_in_memory(warm, small_disk, tmp_path):
    disk = installed(small_disk("32m"))
    remount(disk, "ro")
    answer, said = advise(disk, HOME=str(disk / "nobody"), XDG_CACHE_HOME=None, PYTHONPYCACHEPREFIX=None)
    assert answer == warm[1]
    assert "about 30 s each time: set NUMBA_CACHE_DIR to a folder that can be written to" in said


def test_without_a_home_at_all_it_starts(warm):
    answer, said = advise(warm[0], HOME=None, XDG_CACHE_HOME=None)
    assert answer == warm[1]
    assert NOTICE not in said


@pytest.mark.slow
def test_a_full_disk_keeps_no_kernel_and_stops_nothing(warm, small_disk):
    disk = installed(small_disk("8m"))
    filler = disk / "filler"
    filler.write_bytes(bytes(shutil.disk_usage(disk).free - 40_000))
    answer, _ = advise(disk, PYTHONPYCACHEPREFIX=None)
    assert answer == warm[1]
    filler.unlink()
    assert advise(disk)[0] == warm[1]
    assert NOTICE not in advise(disk)[1]


@pytest.mark.slow
def test_two_first_starts_at_once_share_one_cache(warm, tmp_path):
    place = installed(tmp_path)
    where = environment(PYTHONPATH=str(place))
    command = [sys.executable, "-W", "error", "-m", "t48lab", "advise", BOARD, "--json", "--agent", AGENT]
    processes = [
        subprocess.Popen(command, cwd=place, env=where, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    answers = []
    for process in processes:
        out, err = process.communicate(timeout=600)
        assert process.returncode == 0, err
        answers.append(json.loads(out) | {"seconds": 0})
    assert answers == [warm[1], warm[1]]
    assert NOTICE not in advise(place)[1]

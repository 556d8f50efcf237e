"""Tables of exact play: killed while they are made, damaged, swapped, or on a disk without room."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest
from faulty import KILLS, SEED, environment, kill
from test_disks import KEPT, filled

from t48lab import Rules, T48Error, solve

SMALL, LARGER = Rules(rows=2, cols=3), Rules(rows=2, cols=4)
MAKE = "import sys, t48lab as t; t.solve(t.Rules(rows=2, cols=4), workers=2, folder=sys.argv[1])"


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.glob("*.t48")}


def drafted(folder):
    return sum(path.stat().st_size for path in folder.glob("*.draft")) if folder.exists() else 0


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_killed_again_and_again_it_ends_with_the_same_bytes(tmp_path, how):
    solve(LARGER, folder=tmp_path / "whole")
    draw, kills, folder = random.Random(SEED), 0, tmp_path / "killed"
    while kills < KILLS:
        process = subprocess.Popen(
            [sys.executable, "-c", MAKE, str(folder)],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        seen = drafted(folder)
        while process.poll() is None and drafted(folder) == seen:
            time.sleep(0.001)
        time.sleep(draw.uniform(0.0, 0.3))
        if how == signal.SIGINT and process.poll() is None:
            os.kill(process.pid, how)
            process.wait(20)
        kill(process)
        kills += 1
        if len(contents(folder)) == 2:
            assert contents(folder) == contents(tmp_path / "whole")
            folder = tmp_path / f"killed{kills}"
    solve(LARGER, folder=folder)
    assert contents(folder) == contents(tmp_path / "whole")


@pytest.mark.parametrize("place", [0, 30, 1030, 1045, 5000, -1])
def test_a_damaged_table_is_refused_until_it_is_deleted(tmp_path, place):
    solve(SMALL, folder=tmp_path)
    whole = contents(tmp_path)
    for path in tmp_path.glob("*.t48"):
        data = bytearray(path.read_bytes())
        data[place] ^= 1
        path.write_bytes(data)
        with pytest.raises(T48Error, match=f"{path.name} .*delete it to have it made anew"):
            solve(SMALL, folder=tmp_path)
        path.unlink()
        solve(SMALL, folder=tmp_path)
        assert contents(tmp_path) == whole


@pytest.mark.parametrize("size", [0, 100, 1024, 3000, -8])
def test_a_table_that_was_cut_off_is_refused(tmp_path, size):
    solve(SMALL, folder=tmp_path)
    for path in tmp_path.glob("*score*.t48"):
        path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(T48Error, match="made anew"):
        solve(SMALL, folder=tmp_path)


def test_a_table_of_something_else_is_refused(tmp_path):
    solve(SMALL, folder=tmp_path)
    solve(SMALL, "adversary", folder=tmp_path)
    one, other = sorted(tmp_path.glob("*-0.1-fours-*.t48"))
    other.write_bytes(one.read_bytes())
    with pytest.raises(T48Error, match="does not hold what its name says"):
        solve(SMALL, folder=tmp_path)


def test_a_damaged_draft_is_made_again_from_the_damage_on(tmp_path):
    solve(SMALL, folder=tmp_path)
    whole = contents(tmp_path)
    for path in tmp_path.glob("*.t48"):
        data = bytearray(path.read_bytes())
        data[-20_000] ^= 1
        path.with_suffix(".draft").write_bytes(data)
        path.unlink()
    solve(SMALL, folder=tmp_path)
    assert contents(tmp_path) == whole


@pytest.mark.parametrize("left", [0, 20_000, 150_000])
def test_a_full_disk_ends_it_in_one_line_and_room_lets_it_go_on(small_disk, tmp_path, left, monkeypatch):
    disk = small_disk("16m")
    filler = filled(disk, left)
    with monkeypatch.context() as patch:
        patch.setattr("t48lab.exact.solution._check_room", lambda *_: None)
        with pytest.raises(T48Error, match=f"cannot write .*no space left on device; {KEPT}"):
            solve(SMALL, folder=disk / "tables")
    filler.unlink()
    solve(SMALL, folder=disk / "tables")
    solve(SMALL, folder=tmp_path)
    assert contents(disk / "tables") == contents(tmp_path)

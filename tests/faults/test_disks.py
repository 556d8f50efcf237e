"""Disks that are full, read-only, or lost power in the middle of a write."""

import random
import shutil
import subprocess

import pandas as pd
import pytest
from conftest import remount
from faulty import SEED, assert_part_of, leftovers, run, start, stored, wait_for, write
from results_frames import made_up
from study_files import SMALL

from t48lab.errors import T48Error
from t48lab.experiments import Store

KEPT = "what was stored before is kept"


def filled(folder, left):
    """A file that leaves so many bytes on a small disk."""
    filler = folder / "filler"
    free = shutil.disk_usage(folder).free
    filler.write_bytes(bytes(max(0, free - left)))
    return filler


@pytest.mark.parametrize("left", [0, 60_000, 300_000])
def test_a_full_disk_ends_a_run_in_one_line_and_room_lets_it_go_on(small_disk, tmp_path, whole, left, tool):
    disk, file = small_disk("16m"), write(tmp_path)
    filler = filled(disk, left)
    line = tool.refused("run", file, "--out", disk / "out")
    assert "no space left on device" in line
    assert KEPT in line
    if (disk / "out" / "games").exists():
        assert_part_of(stored(disk / "out"), whole[0])
        assert leftovers(disk / "out") == []
    filler.unlink()
    tool.run("run", file, "--out", disk / "out")
    pd.testing.assert_frame_equal(stored(disk / "out"), whole[0])


@pytest.mark.parametrize("left", [0, 20_000])
def test_a_full_disk_ends_a_study_in_one_line_and_room_lets_it_go_on(small_disk, tmp_path, left, tool):
    disk, file = small_disk("16m"), write(tmp_path, SMALL, "small.toml")
    filler = filled(disk, left)
    assert "no space left on device" in tool.refused("tune", file, "--out", disk / "out")
    filler.unlink()
    tool.run("tune", file, "--out", disk / "out")
    assert (disk / "out" / "best.toml").exists()


@pytest.mark.parametrize("left", [0, 20_000])
def test_a_full_disk_ends_a_duel_in_one_line_and_room_lets_it_go_on(small_disk, left, tool):
    disk = small_disk("16m")
    filler, contest = filled(disk, left), ["duel", "priority", "random", "--games", "2000", "--out", disk / "out"]
    assert "no space left on device" in tool.refused(*contest)
    filler.unlink()
    assert "beats" in tool.run(*contest)[0]
    tool.run("verify", disk / "out")


def test_a_read_only_folder_is_read_and_not_written(small_disk, tmp_path, tool):
    disk, file = small_disk("16m"), write(tmp_path)
    tool.run("run", file, "--games", "5", "--out", disk / "out")
    before = stored(disk / "out")
    remount(disk, "ro")
    out, _ = tool.run("verify", disk / "out")
    assert out.startswith("verified: 15 games of 3 agents are intact")
    for arguments in (
        ["run", file, "--games", "5", "--out", disk / "out"],
        ["run", file, "--games", "9", "--out", disk / "out"],
        ["run", file, "--games", "5", "--out", disk / "new"],
        ["report", disk / "out"],
        ["duel", "random", "greedy", "--out", disk / "duel"],
        ["tune", write(tmp_path, SMALL, "small.toml"), "--out", disk / "study"],
    ):
        line = tool.refused(*arguments)
        assert "read-only file system" in line.lower()
        assert str(disk) in line
    pd.testing.assert_frame_equal(stored(disk / "out"), before)
    remount(disk, "rw")
    tool.run("run", file, "--games", "9", "--out", disk / "out")
    assert len(stored(disk / "out")) == 27


def test_a_folder_that_closes_in_the_middle(tmp_path, whole, tool):
    file, out = write(tmp_path), tmp_path / "out"
    process = start("run", file, "--out", out)
    wait_for(lambda: len(list((out / "games").glob("*.parquet"))) > 1, process)
    closed = subprocess.run(["chattr", "+i", str(out / "games")], capture_output=True, text=True, check=False)
    try:
        _, err = process.communicate(timeout=600)
        if closed.returncode:
            pytest.skip(f"needs root and a file system with attributes: {closed.stderr.strip()}")
        assert process.returncode == 2, err
        assert "operation not permitted" in err.splitlines()[-1]
        assert KEPT in err.splitlines()[-1]
        assert_part_of(stored(out), whole[0])
    finally:
        subprocess.run(["chattr", "-i", str(out / "games")], capture_output=True, check=False)
    tool.run("run", file, "--out", out)
    pd.testing.assert_frame_equal(stored(out), whole[0])


def cuts(data, draw):
    """What a power cut may leave of a file: a beginning, zeros at the end, or nothing."""
    place = draw.randrange(len(data))
    return (data[:place], data[:place] + bytes(len(data) - place), b"")


def test_half_written_games_are_named_and_can_be_played_again(tmp_path, tool):
    file, draw, out = write(tmp_path), random.Random(SEED), tmp_path / "out"
    tool.run("run", file, "--games", "6", "--out", out)
    before = stored(out)
    part = next((out / "games").glob("*.parquet"))
    data = part.read_bytes()
    for cut in cuts(data, draw):
        part.write_bytes(cut)
        for command in (["run", file, "--games", "6", "--out", out], ["report", out], ["verify", out]):
            line = tool.refused(*command)
            assert f"{part} is damaged" in line
            assert "delete it to play its games again" in line
        assert part.read_bytes() == cut
    part.unlink()
    tool.run("run", file, "--games", "6", "--out", out)
    pd.testing.assert_frame_equal(stored(out), before)


def test_half_written_files_beside_the_games_are_named_or_written_again(tmp_path, tool):
    file, draw, out = write(tmp_path), random.Random(SEED), tmp_path / "out"
    tool.run("run", file, "--games", "6", "--out", out)
    before = stored(out)
    again = ["run", file, "--games", "6", "--out", out]
    written = {
        name: (out / name).read_bytes() for name in ("summary.csv", "pairs.csv", "report.md", "correlations.csv")
    }
    for damaged in zip(*(cuts(data, draw) for data in written.values()), strict=True):
        for name, cut in zip(written, damaged, strict=True):
            (out / name).write_bytes(cut)
        tool.run(*again)
        assert {name: (out / name).read_bytes() for name in written} == written
    manifest = out / "manifest.json"
    data = manifest.read_bytes()
    for cut in (data[:10], b"\0" * len(data), b""):
        manifest.write_bytes(cut)
        line = tool.refused(*again)
        assert f"{manifest} cannot be read" in line
        assert "restore it" in line
    manifest.write_bytes(data)
    (out / "games" / ".part-0.parquet.4194305.tmp").write_bytes(b"PAR1")
    tool.run(*again)
    assert leftovers(out) == []
    pd.testing.assert_frame_equal(stored(out), before)


@pytest.mark.slow
def test_a_half_written_journal_goes_on(tmp_path):
    file, draw = write(tmp_path, SMALL, "small.toml"), random.Random(SEED)
    run("tune", file, "--trials", "4", "--out", tmp_path / "whole")
    data = (tmp_path / "whole" / "journal.log").read_bytes()
    ends = [draw.randrange(len(data) // 2, len(data)), 1]
    for number, end in enumerate(ends):
        out = tmp_path / str(number)
        out.mkdir()
        (out / "journal.log").write_bytes(data[:end])
        run("tune", file, "--trials", "4", "--out", out)
        assert (out / "best.toml").exists()


def test_foreign_and_swapped_parts_are_refused(tmp_path, tool):
    file, out = write(tmp_path), tmp_path / "out"
    tool.run("run", file, "--games", "6", "--out", out)
    foreign = out / "games" / "other.parquet"
    made_up(3).to_parquet(foreign)
    for command in (["run", file, "--games", "6", "--out", out], ["report", out], ["verify", out]):
        assert f"{foreign} was not written by t48lab, remove it" in tool.refused(*command)
    foreign.unlink()
    other = tmp_path / "other"
    tool.run("run", write(tmp_path, '[agents]\n"x" = "priority"', "other.toml"), "--games", "4", "--out", other)
    part = next((other / "games").glob("*.parquet"))
    shutil.copy(part, out / "games" / part.name)
    assert "x" in set(stored(out)["agent"])
    assert "manifest.json does not know agent_key" in tool.refused("verify", out)
    with pytest.raises(T48Error, match="holds games"):
        Store(out).check("killed", {})

"""Files that are read: with a byte-order mark, of any size, of any kind."""

import os
from pathlib import Path

import pytest

from t48lab import GameRecord, T48Error, get_evaluator, make_agent, play
from t48lab.files import LARGEST_TOML, read_text, read_toml

WEIGHTS = "[terms]\nempty = 3.0\n"


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path):
    plain, marked = tmp_path / "plain.toml", tmp_path / "marked.toml"
    plain.write_text(WEIGHTS, encoding="utf-8")
    marked.write_text(WEIGHTS, encoding="utf-8-sig")
    assert get_evaluator(marked) == get_evaluator(plain)
    marked.write_text("[games]\na = 1\n", encoding="utf-8-sig")
    assert read_toml(marked) == {"games": {"a": 1}}
    record = play("random")
    (tmp_path / "game.json").write_text(record.model_dump_json(), encoding="utf-8-sig")
    assert GameRecord.load(tmp_path / "game.json") == record


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", "/dev/tty"])
def test_devices_are_refused(path):
    for call in (
        lambda: make_agent(f"greedy:evaluator={path}"),
        lambda: read_toml(Path(path)),
        lambda: GameRecord.load(path),
    ):
        with pytest.raises(T48Error, match="is no regular file"):
            call()


def test_pipes_are_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.toml")
    with pytest.raises(T48Error, match=r"pipe.toml is no regular file, give the path of an evaluator's .toml file"):
        get_evaluator(tmp_path / "pipe.toml")


def test_large_files_are_refused_unread(tmp_path):
    path = tmp_path / "large.toml"
    path.touch()
    os.truncate(path, 10 * 2**30)
    with pytest.raises(T48Error, match=r"large.toml has more than 1,000,000 bytes"):
        get_evaluator(path)
    with pytest.raises(T48Error, match=r"large.toml has more than 16,000,000 bytes"):
        GameRecord.load(path)


def test_the_largest_file_is_read(tmp_path):
    path = tmp_path / "just.toml"
    path.write_text(WEIGHTS + "#" * (LARGEST_TOML - len(WEIGHTS)), encoding="utf-8")
    assert len(read_text(path, LARGEST_TOML)) == LARGEST_TOML
    assert get_evaluator(path) == get_evaluator(path)
    with pytest.raises(T48Error, match="has more than"):
        read_text(path, LARGEST_TOML - 1)

"""A study's journal: no line changes, goes or trades places unnoticed, and nothing is written behind damage."""

import json
import random
import shutil
import threading
import tomllib

import optuna
import pytest
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from study_files import SMALL

from t48lab.errors import T48Error
from t48lab.studies import Storage, open_study
from t48lab.studies.journal import Journal
from t48lab.studies.study import make_study

pytestmark = pytest.mark.compiled


def plan(**changed):
    return make_study(tomllib.loads(SMALL) | changed, "small")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The bytes of a journal of six trials."""
    folder = tmp_path_factory.mktemp("whole")
    study = open_study(plan(), Storage(None, folder))
    for number in range(6):
        trial = study.ask()
        trial.suggest_float("x", 0.0, 1.0)
        trial.report(1.5 * number, number)
        study.tell(trial, 2.5 * number)
    return (folder / "journal.log").read_bytes()


def refused(folder, data):
    """What a journal with these bytes is refused with, after nothing was written to it."""
    path = folder / "journal.log"
    path.write_bytes(data)
    with pytest.raises(T48Error) as caught:
        open_study(plan(), Storage(None, folder)).ask()
    assert path.read_bytes() == data
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_every_flipped_bit_is_told(whole, tmp_path):
    places = {*range(0, len(whole), 61), *random.Random(3).sample(range(len(whole)), 60)}
    places |= {place for place, letter in enumerate(whole) if letter == 10}
    for place in sorted(places):
        data = bytearray(whole)
        data[place] ^= 1 << (place % 8)
        line = 1 + whole[:place].count(b"\n")
        words = refused(tmp_path, bytes(data))
        assert f"is damaged from line {line} on" in words
        assert "restore it, or " in words


DAMAGE = {
    "a line dropped": lambda lines: lines[:9] + lines[10:],
    "the first line dropped": lambda lines: lines[1:],
    "two lines swapped": lambda lines: [*lines[:9], lines[10], lines[9], *lines[11:]],
    "a line twice": lambda lines: [*lines[:9], lines[8], *lines[9:]],
    "a line of zeros": lambda lines: [*lines[:9], b"\0" * 40 + b"\n", *lines[9:]],
    "an empty line": lambda lines: [*lines[:9], b"\n", *lines[9:]],
    "JSON of another kind": lambda lines: [*lines[:9], b"[1]\n", *lines[9:]],
    "a number changed": lambda lines: [line.replace(b'"values":[7.5]', b'"values":[9.5]') for line in lines],
    "without checksums": lambda lines: [line.rpartition(b',"check"')[0] + b"}\n" for line in lines],
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_lines_that_are_not_what_was_written_are_told(whole, tmp_path, kind):
    lines = whole.splitlines(keepends=True)
    damaged = DAMAGE[kind](lines)
    assert damaged != lines
    assert "is damaged from line" in refused(tmp_path, b"".join(damaged))


def test_what_is_before_the_damage_goes_on(whole, tmp_path):
    path = tmp_path / "journal.log"
    path.write_bytes(b"".join(whole.splitlines(keepends=True)[:20]))
    study = open_study(plan(), Storage(None, tmp_path))
    before = len(study.trials)
    study.ask()
    assert len(open_study(plan(), Storage(None, tmp_path)).trials) == before + 1


def test_optuna_reads_a_journal(whole, tmp_path):
    (tmp_path / "journal.log").write_bytes(whole)
    storage = JournalStorage(JournalFileBackend(str(tmp_path / "journal.log")))
    found = optuna.load_study(study_name="small", storage=storage)
    assert [trial.value for trial in found.trials] == [2.5 * number for number in range(6)]


def test_another_program_that_writes_is_refused_and_loses_nothing(whole, tmp_path):
    path = tmp_path / "journal.log"
    path.write_bytes(whole)
    ours = open_study(plan(), Storage(None, tmp_path))
    theirs = optuna.load_study(study_name="small", storage=JournalStorage(JournalFileBackend(str(path))))
    stop, told = threading.Event(), []

    def write():
        for number in range(200):
            theirs.set_user_attr(f"note {number}", number)
        stop.set()

    thread = threading.Thread(target=write)
    thread.start()
    while not stop.is_set():
        try:
            ours.set_user_attr("own", 1)
        except T48Error as error:
            told.append(str(error))
    thread.join()
    assert "another program wrote it, and a study to share needs --storage with a database" in told[-1]
    notes = [json.loads(line).get("user_attr", {}) for line in path.read_bytes().splitlines()]
    assert {f"note {number}" for number in range(200)} <= {name for note in notes for name in note}


def test_a_journal_that_goes_away_is_told_and_not_made_again(whole, tmp_path):
    for number, remove in enumerate((lambda path: path.unlink(), lambda path: shutil.rmtree(path.parent))):
        folder = tmp_path / str(number)
        study = open_study(plan(), Storage(None, folder))
        remove(folder / "journal.log")
        for action in (study.ask, lambda study=study: study.trials):
            with pytest.raises(T48Error, match=r"journal\.log was removed during the run"):
                action()
        assert not (folder / "journal.log").exists()
    assert not (tmp_path / "1").exists()


def test_a_journal_that_grows_shorter_is_told(whole, tmp_path):
    path = tmp_path / "journal.log"
    path.write_bytes(whole)
    study = open_study(plan(), Storage(None, tmp_path))
    path.write_bytes(b"".join(whole.splitlines(keepends=True)[:9]))
    with pytest.raises(T48Error, match="it is shorter than it was"):
        study.ask()


def test_a_link_in_the_place_of_a_journal_is_not_followed(whole, tmp_path):
    victim = tmp_path / "precious"
    victim.write_bytes(whole)
    (tmp_path / "journal.log").symlink_to(victim)
    with pytest.raises(T48Error, match="cannot read"):
        open_study(plan(), Storage(None, tmp_path))
    victim.unlink()
    with pytest.raises(T48Error, match="cannot write"):
        open_study(plan(), Storage(None, tmp_path))
    assert not victim.exists()


def test_a_lock_that_is_removed_costs_no_line(tmp_path):
    writer = Journal(tmp_path / "journal.log")
    for number in range(40):
        writer.append_logs([{"op_code": 2, "number": number}])
        (tmp_path / "journal.lock").unlink()
    assert len(list(Journal(tmp_path / "journal.log").read_logs(0))) == 40

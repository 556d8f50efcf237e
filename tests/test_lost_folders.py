"""What is removed while it is used, machines that run out, and files that a command leaves as they are."""

import shutil
import subprocess
import sys

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from results_frames import AGENTS, made_up
from study_files import ROOT

from t48lab.errors import T48Error
from t48lab.experiments import Store, duel, run_experiment, verify, write_report
from t48lab.experiments.experiment import make_experiment
from t48lab.experiments.store import KEY
from t48lab.files import is_short

pytestmark = pytest.mark.compiled

FEW = {label: AGENTS[label] for label in ("random", "greedy")}


def experiment(**changed):
    data = {"games": 40, "seed": 7, "agents": {"mine": "greedy:by=reward", "other": "random"}}
    return make_experiment(data | changed, "try")


def remove_lock(out):
    (out / ".lock").unlink()


def replace_folder(out):
    shutil.move(out, out.with_name("moved"))
    (out / "games").mkdir(parents=True)
    (out / ".lock").write_bytes(b"")


REMOVED = {
    "folder": shutil.rmtree,
    "games": lambda out: shutil.rmtree(out / "games"),
    "lock": remove_lock,
    "folder replaced": replace_folder,
}


@pytest.mark.parametrize("what", REMOVED)
@pytest.mark.parametrize("parts", [1, 2])
def test_what_is_removed_during_a_run_stops_it(tmp_path, monkeypatch, what, parts):
    out, add, added = tmp_path / "out", Store.add, []

    def removing(store, games):
        path = add(store, games)
        added.append(path)
        if len(added) == parts:
            REMOVED[what](out)
        return path

    monkeypatch.setattr(Store, "add", removing)
    with pytest.raises(T48Error, match="was removed or replaced during the run, run the same command again"):
        run_experiment(experiment(), out, workers=1)
    monkeypatch.undo()
    if what in ("folder", "games"):
        assert not list(out.glob("games/*.parquet"))
    frame = run_experiment(experiment(), out, workers=1)
    assert len(frame) == 80
    assert not frame.duplicated(KEY).any()


def test_games_that_are_removed_during_a_run_are_missed(tmp_path, monkeypatch):
    out, compact = tmp_path / "out", Store.compact

    def removing(store):
        for part in list(store.games.glob("*.parquet"))[:1]:
            part.unlink()
        return compact(store)

    monkeypatch.setattr(Store, "compact", removing)
    with pytest.raises(T48Error, match=r"games were removed from .*games during the run"):
        run_experiment(experiment(), out, workers=1)
    assert not Store(out).manifest()["finished"]
    monkeypatch.undo()
    assert len(run_experiment(experiment(), out, workers=1)) == 80


def test_a_link_in_the_place_of_a_lock_is_not_written_to(tmp_path):
    victim, out = tmp_path / "precious", tmp_path / "out"
    victim.write_bytes(b"mine")
    out.mkdir()
    (out / ".lock").symlink_to(victim)
    with pytest.raises(T48Error), Store(out).lock():
        pass
    assert victim.read_bytes() == b"mine"


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != ".lock"}


def test_a_duel_that_plays_nothing_writes_nothing(tmp_path):
    arguments = ("greedy:by=reward", "random", 60, 3)
    found = duel(*arguments, out=tmp_path / "out")
    before = contents(tmp_path / "out")
    assert duel(*arguments, out=tmp_path / "out").sentence == found.sentence
    assert contents(tmp_path / "out") == before


def test_the_readmes_duel_leaves_the_committed_one_as_it_is(tmp_path):
    shutil.copytree(ROOT / "results/duel", tmp_path / "duel")
    before = contents(tmp_path / "duel")
    agents = [f"expectimax:depth=16,evaluator={name},seconds=0.0001" for name in ("tuned", "classic")]
    assert duel(*agents, games=200, out=tmp_path / "duel").sentence.startswith("No winner")
    assert contents(tmp_path / "duel") == before


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"agents": {"mine": "greedy:by=evaluator", "other": "random"}}, "by was reward, now evaluator"),
        ({"agents": {"mine": "greedy:by=reward,evaluator=classic", "other": "random"}}, "evaluator."),
        ({"stop_tile": 256}, "stop_tile was None, now 256"),
        ({"rules": {"rows": 3, "cols": 3}}, "rules.cols was 4, now 3; rules.rows was 4, now 3"),
        ({"agents": {"mine": "random:seed=4", "other": "random"}}, "by was reward, now absent"),
    ],
)
def test_other_parameters_are_named(tmp_path, change, words):
    run_experiment(experiment(games=3), tmp_path, workers=1)
    with pytest.raises(T48Error, match=r"holds games of 'mine' with other parameters \(") as caught:
        run_experiment(experiment(games=3, **change), tmp_path, workers=1)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 8},
        {"games": 10},
        {"agents": {"mine": "greedy:by=reward"}},
        {"agents": {"mine": "greedy:by=reward", "another": "priority"}, "seed": 9},
    ],
)
def test_a_report_shows_what_the_file_asks_for(tmp_path, change):
    run_experiment(experiment(), tmp_path, workers=1)
    changed = experiment(**change)
    frame = run_experiment(changed, tmp_path, workers=1)
    assert set(frame["agent"]) == {entry.label for entry in changed.entries}
    assert set(frame["seed"]) == {changed.seed}
    assert set(frame.groupby("agent").size()) == {changed.entries[0].games}
    assert len(Store(tmp_path).frame()) >= 80
    for older, games in ((False, len(frame)), (True, len(Store(tmp_path).frame()))):
        write_report(tmp_path, older=older)
        assert pd.read_csv(tmp_path / "summary.csv")["games"].sum() == games
        assert "summary.csv" in verify(tmp_path, games=1).tables
    back = run_experiment(experiment(), tmp_path, workers=1)
    assert (len(back), set(back["seed"])) == (80, {7})


def test_flipped_bits_in_the_names_of_columns_are_told(tmp_path):
    store = Store(tmp_path)
    path = store.add(made_up(5, FEW))
    whole = path.read_bytes()
    told = []
    for name in store.frame().columns:
        for place in (whole.index(name.encode()), whole.rindex(name.encode()) + len(name) - 1):
            for bit in (0, 5, 7):
                data = bytearray(whole)
                data[place] ^= 1 << bit
                path.write_bytes(data)
                try:
                    store.frame()
                except T48Error as error:
                    told.append(str(error))
    assert len(told) > 40
    assert all("delete it to play its games again" in words or "was not written by" in words for words in told)


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(MemoryError(), id="memory"),
        pytest.param(pa.ArrowMemoryError("malloc of size 64 failed"), id="Arrow's memory"),
        pytest.param(OSError(11, "Resource temporarily unavailable"), id="threads"),
        pytest.param(RuntimeError("can't start new thread"), id="Python's threads"),
    ],
)
def test_a_machine_that_has_run_out_is_not_a_broken_file(tmp_path, monkeypatch, error):
    store = Store(tmp_path)
    path = store.add(made_up(5, FEW))

    def out(*_, **__):
        raise error

    monkeypatch.setattr(pq, "ParquetFile", out)
    monkeypatch.setattr("threading.Thread.start", lambda _: (_ for _ in ()).throw(RuntimeError("can't start")))
    with pytest.raises(T48Error, match=r"memory or threads have run out .*: leave the file as it is") as caught:
        store.frame()
    assert "delete" not in str(caught.value)
    monkeypatch.undo()
    assert len(store.frame()) == 10
    monkeypatch.setattr(pq, "ParquetFile", out)
    with pytest.raises(T48Error, match=rf"{path.name} is damaged"):
        store.frame()


SHORT = """
import resource, sys
from t48lab.errors import T48Error
from t48lab.experiments import Store
import pandas, pyarrow.parquet, t48lab.experiments.store
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
limit = used + int(sys.argv[2]) * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    print(len(Store(sys.argv[1]).frame()))
except T48Error as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs limits of memory")
@pytest.mark.parametrize("spare", [2, 16, 64])
def test_little_memory_never_means_damage(tmp_path, spare):
    Store(tmp_path).add(made_up(20_000, FEW))
    found = subprocess.run(
        [sys.executable, "-c", SHORT, tmp_path, str(spare)], capture_output=True, text=True, timeout=60
    )
    assert found.stdout.strip() == "40000" or "leave" in found.stdout, found
    assert "delete" not in found.stdout


def test_there_is_room_here():
    assert not is_short(ValueError("broken"), 10**9)
    assert not is_short(MemoryError(), 1000)
    assert is_short(MemoryError(), 2**60)

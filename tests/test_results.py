"""The results store: every game once, whatever happens between two writes."""

import errno
import fcntl
import json
import os
import stat
import subprocess
import sys
import threading
import time

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from results_frames import AGENTS, made_up

from t48lab.errors import T48Error
from t48lab.experiments import make_experiment, run_experiment, write_report
from t48lab.experiments.store import KEY, SCHEMA, SCHEMA_VERSION, Store
from t48lab.files import abandoned, write_whole

pytestmark = pytest.mark.compiled

FEW = {label: AGENTS[label] for label in ("random", "greedy")}


def manifest(labels=("random", "greedy"), experiment="try"):
    return {
        "experiment": experiment,
        "agents": {label: {"agent_keys": {"random": f"key-{label}-random"}} for label in labels},
    }


def keys(labels=("random", "greedy")):
    return {f"key-{label}-random": label for label in labels}


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "try")
    store.write_manifest(manifest())
    return store


def damaged(store, change):
    """The path of a part whose bytes were changed."""
    path = store.add(made_up(5, FEW))
    data = bytearray(path.read_bytes())
    changed = change(data)
    path.write_bytes(data if changed is None else changed)
    return path


def test_what_goes_in_comes_out(store):
    frame = made_up(7, FEW)
    store.add(frame)
    pd.testing.assert_frame_equal(store.frame()[list(frame.columns)], frame, check_dtype=False)
    assert store.frame()["agent"].dtype == "str"
    assert list(store.frame().columns) == SCHEMA.names
    assert store.played() == set(frame[KEY].itertuples(index=False, name=None))


def test_an_empty_store_is_an_empty_frame_and_writes_nothing(tmp_path):
    store = Store(tmp_path / "nothing")
    assert store.frame().empty
    assert store.played() == set()
    assert store.compact() is None
    assert not store.folder.exists()


def test_games_stored_twice_are_read_once(store):
    store.add(made_up(5, FEW))
    store.add(made_up(9, FEW).assign(seconds=9.0))
    frame = store.frame()
    assert len(frame) == 18
    assert not frame.duplicated(KEY).any()


def test_order_is_the_manifests_then_seed_and_game(store):
    for first in (10, 0, 5):
        store.add(made_up(5, FEW, first=first).sample(frac=1, random_state=1))
    frame = store.frame()
    assert list(frame["agent"]) == ["random"] * 15 + ["greedy"] * 15
    assert list(frame["game"]) == [*range(15), *range(15)]


def test_renamed_agents_rename_their_games(store):
    store.add(made_up(5, FEW))
    store.write_manifest({"experiment": "try", "agents": {"new name": {"agent_keys": {"random": "key-greedy-random"}}}})
    assert store.agents() == {"key-greedy-random": "new name", "key-random-random": "random"}


def test_compacting_keeps_every_game_in_one_part(store):
    for first in range(0, 20, 5):
        store.add(made_up(5, FEW, first=first))
    store.add(made_up(5, FEW))
    before = store.frame()
    path = store.compact()
    assert list(store.games.glob("*.parquet")) == [path]
    pd.testing.assert_frame_equal(store.frame(), before)
    assert store.compact() == path


def test_a_kill_while_compacting_loses_and_doubles_nothing(store, monkeypatch):
    for first in range(0, 20, 5):
        store.add(made_up(5, FEW, first=first))
    before = store.frame()
    for stop in (0, 1, 1):
        unlinked = []

        def unlink(path, *_, stop=stop, unlinked=unlinked, **__):
            if len(unlinked) == stop:
                raise KeyboardInterrupt
            unlinked.append(path)
            os.unlink(path)

        with monkeypatch.context() as patch:
            patch.setattr("pathlib.PosixPath.unlink", unlink)
            with pytest.raises(KeyboardInterrupt):
                store.compact()
        pd.testing.assert_frame_equal(store.frame(), before)
    store.compact()
    pd.testing.assert_frame_equal(store.frame(), before)


def test_many_parts_are_compacted_on_the_way(store):
    for first in range(130):
        store.add(made_up(1, FEW, first=first))
    assert len(list(store.games.glob("*.parquet"))) < 70
    assert len(store.frame()) == 260


def test_reading_while_another_compacts(store):
    for first in range(0, 60, 5):
        store.add(made_up(5, FEW, first=first))
    stop = threading.Event()

    def churn():
        first = 60
        while not stop.is_set():
            store.add(made_up(1, FEW, first=first))
            store.compact()
            first += 1

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        counts = [len(Store(store.folder).frame()) for _ in range(30)]
    finally:
        stop.set()
        thread.join()
    assert counts[0] >= 120
    assert counts == sorted(counts)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda data: data[:-9], id="cut at the end"),
        pytest.param(lambda data: data[: len(data) // 2], id="cut in the middle"),
        pytest.param(lambda data: b"", id="empty"),
        pytest.param(lambda data: b"PAR1" + b"nonsense" * 50 + b"PAR1", id="nonsense"),
        pytest.param(lambda data: data.__setitem__(200, data[200] ^ 4), id="a bit in a page"),
        pytest.param(lambda data: bytes(len(data)), id="zeros"),
    ],
)
def test_damaged_parts_are_named(store, change):
    path = damaged(store, change)
    with pytest.raises(T48Error, match=r"part-\w+\.parquet is damaged .*delete it to play its games again") as caught:
        store.frame()
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_every_flipped_bit_is_noticed_or_harmless(store):
    path = store.add(made_up(5, FEW))
    whole, expected = path.read_bytes(), store.frame()
    noticed = 0
    for place in range(0, len(whole), 37):
        data = bytearray(whole)
        data[place] ^= 1 << (place % 8)
        path.write_bytes(data)
        try:
            pd.testing.assert_frame_equal(store.frame(), expected)
        except T48Error:
            noticed += 1
    assert noticed > 20


def test_changed_values_are_noticed(store):
    path = store.add(made_up(5, FEW))
    table = pq.read_table(path)
    scores = pa.array([score + 4 for score in table["score"].to_pylist()])
    forged = table.set_column(table.column_names.index("score"), "score", scores)
    pq.write_table(forged.replace_schema_metadata(table.schema.metadata), path)
    with pytest.raises(T48Error, match="checksum does not match"):
        store.frame()


def test_foreign_and_newer_parts_are_refused(store):
    foreign = store.games / "other.parquet"
    write_whole(foreign, b"")
    made_up(3, FEW).to_parquet(foreign)
    with pytest.raises(T48Error, match=r"other\.parquet was not written by t48lab, remove it"):
        store.frame()
    table = pa.table({"a": [1]}).replace_schema_metadata({"t48lab": json.dumps({"schema": SCHEMA_VERSION + 1})})
    pq.write_table(table, foreign)
    with pytest.raises(T48Error, match=r"schema 2, this t48lab reads up to 1: upgrade"):
        store.played()


def test_bad_manifests_are_named(store):
    path = store.folder / "manifest.json"
    for text, words in [
        ("{", "cannot be read"),
        ("[]", "not a manifest"),
        ('{"agents": []}', "not a manifest"),
        ('{"agents": {"a": {}}}', "not a manifest"),
        ("[" * 100_000, "cannot be read"),
        ('{"agents": {}}', "no schema version"),
        ('{"agents": {}, "schema": 99}', "upgrade t48lab"),
    ]:
        path.write_text(text)
        with pytest.raises(T48Error, match=words):
            store.manifest()


def test_rows_that_are_no_games_are_refused(store):
    with pytest.raises(T48Error, match="these rows are not games"):
        store.add(made_up(3, FEW).drop(columns="score"))
    with pytest.raises(T48Error, match="these rows are not games"):
        store.add(made_up(3, FEW).assign(score="many"))


def test_writes_leave_the_old_file_or_the_new_one(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_whole(path, b"old")
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(T48Error, match=r"cannot write .*file: no space left on device; what was stored before is kept"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_links_that_wait_for_a_draft_are_not_followed(tmp_path, monkeypatch):
    folder, victim = tmp_path / "shared", tmp_path / "precious"
    folder.mkdir()
    victim.write_bytes(b"mine")
    for name in ("summary.csv", "manifest.json"):
        (folder / f".{name}.{os.getpid()}.tmp").symlink_to(victim)
        write_whole(folder / name, b"theirs")
        assert (folder / name).read_bytes() == b"theirs"
    monkeypatch.setattr("secrets.token_hex", lambda _: "guessed")
    (folder / ".pairs.csv.guessed.tmp").symlink_to(victim)
    with pytest.raises(T48Error, match=r"cannot write .*pairs.csv: file exists"):
        write_whole(folder / "pairs.csv", b"theirs")
    monkeypatch.undo()
    (folder / "report.md").symlink_to(victim)
    write_whole(folder / "report.md", b"theirs")
    assert not (folder / "report.md").is_symlink()
    assert victim.read_bytes() == b"mine"


@pytest.mark.parametrize("name", ["figures", "games"])
def test_folders_that_are_links_are_not_written_to(tmp_path, name):
    folder, elsewhere = tmp_path / "shared", tmp_path / "elsewhere"
    run_experiment(make_experiment({"agents": {"random": "random"}, "games": 4}, "shared"), folder)
    (folder / name).rename(elsewhere) if name == "games" else elsewhere.mkdir()
    (folder / name).symlink_to(elsewhere)
    before = sorted(os.listdir(elsewhere))
    with pytest.raises(T48Error, match=f"{name} is a link, put a folder in its place"):
        write_report(folder)
    assert sorted(os.listdir(elsewhere)) == before


def test_writers_of_one_name_do_not_get_in_each_others_way(tmp_path):
    """Two containers that share a folder have processes of the same number; threads of one process stand for them."""
    path = tmp_path / "file"
    texts = [bytes([letter]) * 50_000 for letter in b"abcd"]
    failed = []

    def churn(text):
        try:
            for _ in range(60):
                write_whole(path, text)
                assert path.read_bytes() in texts
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=churn, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        for draft in abandoned(tmp_path):
            draft.unlink(missing_ok=True)
    assert not failed
    assert os.listdir(tmp_path) == ["file"]


def test_a_draft_that_is_swept_while_it_is_made_is_made_again(tmp_path, monkeypatch):
    flock, swept = fcntl.flock, []

    def sweep(descriptor, how):
        if not swept:
            swept.extend(tmp_path.glob(".*.tmp"))
            os.unlink(swept[0])
        flock(descriptor, how)

    monkeypatch.setattr("fcntl.flock", sweep)
    write_whole(tmp_path / "file", b"new")
    assert len(swept) == 1
    assert (tmp_path / "file").read_bytes() == b"new"


@pytest.mark.parametrize("code", [errno.EINVAL, errno.ENOSYS, errno.ENOTSUP])
@pytest.mark.parametrize("folders_only", [True, False])
def test_file_systems_that_cannot_sync_stop_nothing(tmp_path, monkeypatch, code, folders_only):
    fsync = os.fsync

    def refuse(descriptor):
        if not folders_only or stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(code, os.strerror(code))
        fsync(descriptor)

    monkeypatch.setattr("os.fsync", refuse)
    write_whole(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"new"


def test_leftover_drafts_are_ignored_and_swept(store, tmp_path):
    store.add(made_up(3, FEW))
    names = ("games/.part-x.parquet", ".summary.csv", "figures/.a.png")
    drafts = [store.folder / f"{name}.{token}.tmp" for name in names for token in (4194305, "0f" * 8)]
    living, link = store.folder / ".report.md.77.tmp", store.folder / ".report.md.78.tmp"
    for draft in [*drafts, living]:
        draft.parent.mkdir(exist_ok=True)
        draft.write_bytes(b"half")
    (tmp_path / "precious").write_bytes(b"mine")
    link.symlink_to(tmp_path / "precious")
    assert len(store.frame()) == 6
    with living.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with store.lock():
            assert not any(draft.exists() for draft in drafts)
            assert living.exists()
            assert not link.is_symlink()
    assert (tmp_path / "precious").read_bytes() == b"mine"


def test_one_writer_at_a_time(store):
    with store.lock():
        for other in (Store(store.folder), store):
            with pytest.raises(T48Error, match="in use by another run"), other.lock():
                pass
    with Store(store.folder).lock():
        pass


def test_the_lock_of_a_killed_process_is_free(store):
    code = """if True:
        import sys, time
        from t48lab.experiments import Store
        with Store(sys.argv[1]).lock():
            print("in", flush=True)
            time.sleep(60)
    """
    holder = subprocess.Popen([sys.executable, "-c", code, str(store.folder)], stdout=subprocess.PIPE)
    assert holder.stdout.readline() == b"in\n"
    with pytest.raises(T48Error, match="in use"), store.lock():
        pass
    holder.kill()
    holder.wait()
    holder.stdout.close()
    with store.lock():
        pass


def test_another_experiments_games_are_refused(store):
    store.check("anything", {"other": "label"})
    store.add(made_up(3, FEW))
    store.check("try", keys())
    store.check("try", keys(("random", "greedy")) | {"key-new": "new"})
    store.check("try", {"key-random-random": "renamed", "key-new": "random 2"})
    with pytest.raises(T48Error, match="holds games of experiment 'try', choose another --out"):
        store.check("other", keys())
    with pytest.raises(T48Error, match="holds games of 'greedy' with other parameters"):
        store.check("try", {"key-random-random": "random", "key-changed": "greedy"})
    with pytest.raises(T48Error, match=r"holds games of other agents only \('random', 'greedy'\)"):
        store.check("try", {"key-new": "new"})
    (store.folder / "manifest.json").unlink()
    with pytest.raises(T48Error, match=r"holds games without a manifest\.json"):
        store.check("try", keys())


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(T48Error, match="is a file, a results folder is needed"):
        Store(tmp_path / "file")
    with pytest.raises(T48Error, match=r"cannot be a results folder .file name too long., choose another"):
        Store(tmp_path / ("long" * 100))


def test_ten_thousand_games_read_quickly(store):
    store.add(made_up(5000, FEW))
    start = time.perf_counter()
    assert len(store.frame()) == 10_000
    assert time.perf_counter() - start < 5

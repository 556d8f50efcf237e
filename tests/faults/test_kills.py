"""kill -9 at random instants: no finished game is lost, none is stored twice, and no study gets stuck."""

import random
import shutil
import time

import pandas as pd
from faulty import KILLS, SEED, assert_part_of, keys, kill, leftovers, run, size, start, stored, wait, write
from study_files import SMALL

from t48lab.experiments import Store, verify
from t48lab.studies.storage import JOURNAL


def test_a_run_that_is_killed_again_and_again_ends_with_every_game_once(tmp_path, whole, record_property):
    games, seconds, parts = whole
    file, draw = write(tmp_path), random.Random(SEED)
    kills, folder, seen, found = 0, tmp_path / "0", set(), []
    while kills < KILLS:
        process = start("run", file, "--out", folder)
        wait(process, draw, seconds, lambda: size(folder / "games"), parts)  # noqa: B023
        if not kill(process):
            finish(file, folder, games)
            folder, seen = tmp_path / str(kills), set()
            continue
        kills += 1
        frame = stored(folder)
        assert_part_of(frame, games)
        assert seen <= keys(frame), "finished games were lost"
        seen = keys(frame)
        found.append(len(seen))
    finish(file, folder, games)
    record_property("kills", kills)
    print(
        f"\nrun: {kills} kills (seed {SEED}), {found.count(0)} before the first stored game, "
        f"{found.count(len(games))} after the last of {len(games)}: none lost, none twice"
    )


def finish(file, folder, games):
    run("run", file, "--out", folder)
    pd.testing.assert_frame_equal(stored(folder), games)
    assert verify(folder, games=1).tables == ("summary.csv", "pairs.csv", "correlations.csv", "front.csv")
    assert leftovers(folder) == []
    assert Store(folder).manifest()["finished"]
    shutil.rmtree(folder)


def trials(folder):
    """(state, parameters) of every trial of a study's journal."""
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    storage = JournalStorage(JournalFileBackend(str(folder / JOURNAL)))
    study = optuna.load_study(study_name="small", storage=storage)
    return [(trial.state.name, tuple(sorted(trial.params.items()))) for trial in study.get_trials(deepcopy=False)]


def test_a_study_that_is_killed_again_and_again_ends_with_exactly_its_trials(tmp_path, record_property):
    file, draw = write(tmp_path, SMALL.replace("\ngames = 12", "\ngames = 400"), "small.toml"), random.Random(SEED)
    begin = time.monotonic()
    run("tune", file, "--out", tmp_path / "whole")
    seconds, growth = time.monotonic() - begin, size(tmp_path / "whole", JOURNAL) / 4
    most = max(1, KILLS // 3)
    kills, folder, seen, found = 0, tmp_path / "0", set(), []
    while kills < most:
        process = start("tune", file, "--out", folder)
        wait(process, draw, seconds, lambda: size(folder, JOURNAL), growth)  # noqa: B023
        if not kill(process):
            finish_study(file, folder)
            folder, seen = tmp_path / str(kills), set()
            continue
        kills += 1
        if size(folder, JOURNAL):
            done = {params for state, params in (trials(folder)) if state == "COMPLETE"}
            assert seen <= done, "finished trials were lost"
            seen = done
        found.append(len(seen))
    finish_study(file, folder)
    record_property("kills", kills)
    print(
        f"\ntune: {kills} kills (seed {SEED}), {found.count(0)} before the first finished trial, "
        f"{found.count(8)} after the last of 8: none lost, none twice, no study stuck"
    )


def finish_study(file, folder):
    run("tune", file, "--out", folder)
    found = trials(folder)
    assert [state for state, _ in found].count("COMPLETE") == 8
    assert {state for state, _ in found} <= {"COMPLETE", "FAIL"}
    assert len({params for state, params in found if state == "COMPLETE"}) == 8, "two trials had the same parameters"
    for name, games in (("confirm", 10), ("report", 12)):
        assert set(stored(folder / name).groupby("agent_key").size()) == {games}
    assert (folder / "best.toml").exists()
    shutil.rmtree(folder)

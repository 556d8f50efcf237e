"""Studies on several machines: three workers, each with a folder of its own, share a real PostgreSQL server."""

import os
import re
import signal
import tomllib
from collections import Counter

import optuna
import postgres
import pytest
from study_files import SMALL, ended, start, wait_for, write

from t48lab.errors import T48Error
from t48lab.studies import Storage, open_study
from t48lab.studies.liveness import WORKER
from t48lab.studies.study import make_study

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.slow,
    pytest.mark.skipif(bool(postgres.missing()), reason=postgres.missing()),
]

STATES = optuna.trial.TrialState
TEXT = SMALL.replace("trials = 8", "trials = 15").replace("games = 12", "games = 60").replace("block = 4", "block = 20")


@pytest.fixture(scope="module")
def database():
    with postgres.server() as found:
        yield found


def trials_of(url, folder, name):
    plan = make_study(tomllib.loads(TEXT), name)
    return open_study(plan, Storage(url, folder)).get_trials(deepcopy=False)


def test_three_workers_finish_exactly_their_trials(database, tmp_path):
    url, password = database
    path = write(tmp_path, TEXT, "three.toml")
    outs = [tmp_path / f"machine{i}" for i in range(3)]
    workers = [start(path, "--out", out, "--workers", 1, T48LAB_STORAGE=url) for out in outs]
    said = [ended(worker) for worker in workers]
    trials = trials_of(url, tmp_path, "three")
    done = [trial for trial in trials if trial.state == STATES.COMPLETE]
    assert len(done) == 15
    assert len({tuple(trial.params.values()) for trial in done}) == 15
    assert len({trial.user_attrs[WORKER]["process"] for trial in done}) > 1
    assert any("Winner" in output for output, _ in said)
    written = [file for out in outs for file in out.rglob("*") if file.is_file()]
    assert any(file.name == "best.toml" for file in written)
    assert not [file for file in written if password.encode() in file.read_bytes()]
    assert not [text for texts in said for text in texts if password in text]
    assert any("lab:***@127.0.0.1" in file.read_text() for file in written if file.name == "manifest.json")


def test_a_killed_worker_costs_nothing(database, tmp_path):
    url, _ = database
    path = write(tmp_path, TEXT, "killed.toml")
    workers = [start(path, "--out", tmp_path / f"machine{i}", "--workers", 1, "--storage", url) for i in range(3)]

    def running():
        trials = trials_of(url, tmp_path, "killed")
        mine = [t for t in trials if t.user_attrs.get(WORKER, {}).get("process") == workers[0].pid]
        return any(t.state == STATES.RUNNING and t.intermediate_values for t in mine)

    wait_for(running, workers[0])
    os.killpg(workers[0].pid, signal.SIGKILL)
    workers[0].communicate(timeout=60)
    said = [ended(worker) for worker in workers[1:]]
    states = Counter(trial.state for trial in trials_of(url, tmp_path, "killed"))
    assert states[STATES.COMPLETE] == 15
    assert states[STATES.RUNNING] == states[STATES.WAITING] == 0
    assert any("Winner" in output for output, _ in said)


def test_a_changed_file_is_refused(database, tmp_path):
    url, _ = database
    first = make_study(tomllib.loads(TEXT), "changed")
    open_study(first, Storage(url, tmp_path))
    with pytest.raises(T48Error, match="games was 60, now 59"):
        open_study(make_study(tomllib.loads(TEXT) | {"games": 59}, "changed"), Storage(url, tmp_path))


def test_a_wrong_password_is_told_and_not_shown(database, tmp_path):
    url, _ = database
    path = write(tmp_path, TEXT)
    wrong = re.sub(r":[^:@]*@", ":not-the-right-one@", url)
    _, errors = ended(start(path, "--out", tmp_path / "out", "--storage", wrong), 2)
    assert "password authentication failed" in errors
    assert "not-the-right-one" not in errors
    assert len(errors.splitlines()) == 1

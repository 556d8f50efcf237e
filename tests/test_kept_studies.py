"""What a study's folder holds is never written over unasked, and a command that is refused writes nothing."""

import datetime
import shutil
import tomllib
from types import SimpleNamespace

import optuna
import pandas as pd
import pytest
from study_files import ROOT, SMALL, write

from t48lab.commands.cli import status
from t48lab.errors import T48Error
from t48lab.studies import tune
from t48lab.studies.outcomes import outlook
from t48lab.studies.study import make_study
from t48lab.studies.tuning import BEFORE, _Worker

pytestmark = pytest.mark.compiled

COMMITTED = sorted(path.parent.name for path in (ROOT / "results").glob("*/trials.parquet"))


@pytest.fixture(autouse=True)
def _no_figures(monkeypatch):
    monkeypatch.setattr("t48lab.studies.outcomes.write_figures", lambda *_: [])


def plan(**changed):
    return make_study(tomllib.loads(SMALL) | {"trials": 4} | changed, "small")


def contents(folder):
    return {
        path.relative_to(folder): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".lock"
    }


@pytest.mark.parametrize("name", [name for name in COMMITTED if (ROOT / f"experiments/{name}.toml").exists()])
def test_a_committed_study_is_told_and_left_as_it_is(name, tmp_path, capsys):
    out, file = tmp_path / name, str(ROOT / "experiments" / f"{name}.toml")
    shutil.copytree(ROOT / "results" / name, out, ignore=shutil.ignore_patterns("journal.*", "*.lock"))
    before = contents(out)
    for options in ([], ["--trials", "3"], ["--confirm"]):
        assert status(["tune", file, "--out", str(out), *options]) == 0
        said = capsys.readouterr().out
        assert "Winner: " in said
        assert "nothing was played or written" in said
    database = ["--storage", f"sqlite:///{tmp_path / 'new.db'}"]
    assert status(["tune", file, "--out", str(out), "--trials", "9999", *database]) == 2
    assert status(["tune", file, "--out", str(out), "--trials", "9999"]) == 2
    assert "holds trials of study" in capsys.readouterr().err
    assert contents(out) == before


@pytest.mark.compiled
def test_what_was_found_is_kept_without_its_journal(tmp_path):
    lines = tune(plan(), tmp_path)
    before = contents(tmp_path)
    assert tune(plan(), tmp_path) == lines  # nothing is left to play
    assert contents(tmp_path) == before
    journal = tmp_path / "journal.log"
    half = b"".join(journal.read_bytes().splitlines(keepends=True)[:12])
    for left in (None, b"", half):
        if left is None:
            journal.unlink()
        else:
            journal.write_bytes(left)
        kept = contents(tmp_path)
        assert tune(plan(), tmp_path)[-1].startswith("Found before, with 4 trials: nothing was played or written.")
        for other in (plan(trials=5), plan(games=11), plan(confirm={"top": 1})):
            with pytest.raises(T48Error, match=r"choose another --out|another file"):
                tune(other, tmp_path)
        assert contents(tmp_path) == kept


def test_a_damaged_table_is_told(tmp_path):
    (tmp_path / "trials.parquet").write_bytes(b"PAR1")
    with pytest.raises(T48Error, match=r"trials\.parquet cannot be read .*, restore it or choose another --out"):
        tune(plan(), tmp_path)
    assert contents(tmp_path).keys() == {(tmp_path / "trials.parquet").relative_to(tmp_path)}


@pytest.mark.parametrize(
    "options",
    [
        ["--workers", "0"],
        ["--workers", "-3", "--storage", "DB"],
        ["--confirm"],
        ["--confirm", "--storage", "DB"],
        ["--trials", "0"],
    ],
)
def test_what_is_refused_writes_nothing(tmp_path, options, capsys):
    file = write(tmp_path)
    options = [f"sqlite:///{tmp_path / 'new.db'}" if option == "DB" else option for option in options]
    assert status(["tune", str(file), "--out", str(tmp_path / "out"), *options]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["small.toml"]


def test_the_last_trial_is_told_by_what_is_noted_and_not_by_clocks():
    hour = datetime.timedelta(hours=1)
    midnight = datetime.datetime(2026, 10, 25, 2, 50)

    def trial(number, before, end):
        state = optuna.trial.TrialState.COMPLETE
        return SimpleNamespace(number=number, state=state, user_attrs={BEFORE: before}, datetime_complete=end)

    # 00:50 and 01:10 UTC of the night in which the clocks of Berlin go back, then a worker whose zone is behind
    for later in (midnight.replace(hour=2, minute=10), midnight - 9 * hour):
        trials = [trial(0, 0, midnight), trial(2, 1, midnight), trial(1, 2, later)]
        assert [_Worker.was_last(SimpleNamespace(own={own}), trials) for own in (0, 1, 2)] == [False, True, False]
    together = [trial(0, 0, midnight), trial(1, 1, midnight), trial(2, 1, midnight)]
    assert [_Worker.was_last(SimpleNamespace(own={own}), together) for own in (0, 1, 2)] == [False, False, True]


def test_ranges_that_are_outgrown_are_named(tmp_path):
    made = plan()
    places = {"monotonicity.weight": 0.98, "corner.weight": 0.5, "corner.exponent": 0.01}
    spread = pd.DataFrame([{"parameter": name, "trials": 5, "at_median": at} for name, at in places.items()])
    lines = outlook(made, spread, SimpleNamespace(agent=made.agent), tmp_path)
    assert lines[0] == "Its parameters: monotonicity.weight 47, corner.weight 10, corner.exponent 3."
    assert "monotonicity.weight: the best 5 trials lie at 0.98 of its range, 0.1 to 1000" in lines[1]
    assert "raise high" in lines[1]
    assert "corner.exponent: the best 5 trials lie at 0.01 of its range" in lines[2]
    assert "lower low" in lines[2]
    assert lines[3].startswith(f"Written to {tmp_path}")
    assert len(lines) == 4


@pytest.mark.compiled
@pytest.mark.parametrize("moment", ["trials", "confirm", "sensitivity"])
def test_a_folder_that_is_removed_is_told_and_does_not_come_back(tmp_path, monkeypatch, moment):
    out = tmp_path / "out"
    place = {
        "trials": "t48lab.studies.tuning.play_trial",
        "confirm": "t48lab.studies.outcomes.confirm",
        "sensitivity": "t48lab.studies.outcomes.sensitivity",
    }[moment]
    module, _, name = place.rpartition(".")
    real = getattr(__import__(module, fromlist=[name]), name)

    def removing(*arguments, **options):
        found = real(*arguments, **options) if moment != "confirm" else None
        shutil.rmtree(out)
        return real(*arguments, **options) if moment == "confirm" else found

    monkeypatch.setattr(place, removing)
    with pytest.raises(T48Error, match="was removed"):
        tune(plan(), out)
    assert not (out / "best.toml").exists()
    assert not (out / "manifest.json").exists()

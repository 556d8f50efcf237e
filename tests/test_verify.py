"""Verifying a folder: the first untruth is named, whether in a row, a table or a game that comes out differently."""

import ast
import json
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from t48lab.commands.cli import status
from t48lab.errors import T48Error, redacted
from t48lab.experiments import make_experiment, run_experiment, verify, write_report
from t48lab.experiments import store as results
from t48lab.experiments.store import SCHEMA, SCHEMA_VERSION, Store
from t48lab.games import COLUMNS, Column

pytestmark = pytest.mark.compiled

ROOT = Path(__file__).parents[1]
AGENTS = {"random": "random", "greedy": "greedy:by=evaluator,evaluator=tuned", "soon": "mcts:seconds=0.00001"}


def made(folder, agents=AGENTS, games=6, **more):
    run_experiment(make_experiment({"games": games, "seed": 3, "agents": agents, **more}, "try"), folder)
    return folder


@pytest.fixture
def folder(tmp_path):
    return made(tmp_path / "try", rules={"rows": 3, "cols": 4}, spawners=["random", "adversarial:depth=0"])


def forged(folder, **columns):
    """The folder, its games stored again with a right checksum and other values in the first row."""
    store = Store(folder)
    frame = store.frame()
    for column, value in columns.items():
        frame.loc[0, column] = value
    for path in store.games.glob("*.parquet"):
        path.unlink()
    store.add(frame)
    return folder


def test_games_of_any_rules_and_spawner_are_replayed(folder):
    found = verify(folder, games=4)
    assert (found.games, found.agents, found.replayed, found.timed) == (36, 6, 16, 12)
    assert found.tables == ("summary.csv", "pairs.csv")
    assert found.sentence == (
        "verified: 36 games of 6 agents are intact; summary.csv and pairs.csv follow from them; "
        "16 replayed without a difference; 12 games of timed agents cannot be replayed"
    )


def test_a_sample_depends_on_its_seed_and_all_may_be_asked_for(folder, monkeypatch):
    seen = []
    monkeypatch.setattr("t48lab.experiments.verification._compare_game", lambda stored, *_: seen.append(stored["game"]))
    for seed in (0, 0, 1):
        verify(folder, games=1, seed=seed)
    assert seen[:4] == seen[4:8] != seen[8:]
    assert verify(folder, games=100).replayed == 24


OVER = {"score": 0, "max_tile": 2, "moves": 0}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"moves": 1000}, r"game 0 of random \(seed 3\): moves is stored as 1000, no game of so many ends on 3x4:"),
        ({"moves": -2}, r"moves is stored as -2, no game of so many"),
        ({"moves": 1, "score": 3_932_100, "max_tile": 131072, "final": "3x4:h12345678912"}, "no game ends on"),
        ({"nodes": 1}, r"game 0 of random \(seed 3\): nodes is stored as 1, replayed as \d+"),
        ({"nodes": -1}, r"nodes is stored as -1, it is 0 or more"),
        ({"seconds": -0.5}, r"seconds is stored as -0\.5"),
        ({"seconds": float("nan")}, r"is damaged \(its column seconds has gaps\)"),
        ({"hits": 3}, r"hits is stored as 3, of 0 probes"),
        ({"score": 5}, r"game 0 of random \(seed 3\): no game ends on 3x4:\w+ with 5 points"),
        ({"max_tile": 65536}, r"max_tile is stored as 65536, 3x4:\w+ shows"),
        ({"final": "3x4:110000000000"} | OVER, "is stored as an end and has a legal move"),
        ({"final": "3x4:110000000000", "ended": "stop tile"} | OVER, "is stored as stopped, by its rules no tile ends"),
        ({"ended": "won"}, r"ended is stored as 'won', choose from no legal move, stop tile"),
        ({"final": "nonsense"}, r"game 0 of random \(seed 3\): final is no board"),
        ({"final": "1100000000000000"} | OVER, r"final is stored as 1100000000000000, no board of 3x4 cells"),
        ({"timed": True}, r"timed is stored as True, and random is not limited by seconds"),
        (
            {"spec": "expectimax:depth=2"},
            r"game 0 of random \(seed 3\): its spec expectimax:depth=2 names another kind",
        ),
        ({"spec": "random:seed=5"}, r"its spec random:seed=5 says another seed than its key means"),
        ({"spawner": "adversarial:depth=0"}, r"spawner is stored as adversarial:depth=0, its key means random"),
        ({"seed": 4}, r"game 0 of random \(seed 4\): manifest\.json does not know such a game, its seeds are \[3\]"),
    ],
)
def test_untrue_rows_are_named(folder, change, words):
    for name in ("summary", "pairs"):
        (folder / f"{name}.csv").unlink()
    with pytest.raises(T48Error, match=words):
        verify(forged(folder, **change), games=100)


@pytest.mark.parametrize("column", ["timed", "spec", "moves"])
def test_games_that_cannot_be_replayed_are_checked_as_well(folder, column):
    for name in ("summary", "pairs"):
        (folder / f"{name}.csv").unlink()
    value = {"timed": False, "spec": "mcts:seconds=0.1", "moves": 7}[column]
    frame = Store(folder).frame()
    row = frame.index[frame["agent"] == "soon"][0]
    frame.loc[row, column] = value
    for path in (folder / "games").glob("*.parquet"):
        path.unlink()
    Store(folder).add(frame)
    with pytest.raises(T48Error, match=r"game \d of soon \(seed 3\)"):
        verify(folder)


def test_the_rules_say_how_a_game_ends(tmp_path):
    folder = made(tmp_path / "stopped", {"random": "random"}, games=3, stop_tile=32)
    assert set(Store(folder).frame()["ended"]) == {"stop tile"}
    assert verify(folder).games == 3
    (folder / "summary.csv").unlink()
    with pytest.raises(T48Error, match="stored as without a legal move, and 32 ended it"):
        verify(forged(folder, ended="no legal move"), games=1)
    folder = made(tmp_path / "fours", {"random": "random"}, games=3, rules={"four_probability": 1.0})
    path = folder / "manifest.json"
    assert verify(folder).games == 3
    path.write_text(path.read_text().replace('"four_probability": 1.0', '"four_probability": 0.0'))
    with pytest.raises(T48Error, match="do not make agent_key"):
        verify(folder)


def test_a_manifest_does_not_say_another_agent_than_its_key(folder):
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["agents"]["soon"]["parameters"]["seconds"] = 1.0
    path.write_text(json.dumps(manifest))
    with pytest.raises(T48Error, match=r"soon: the parameters in manifest\.json do not make agent_key"):
        verify(folder)
    manifest["agents"]["soon"]["parameters"]["seconds"] = 0.00001
    manifest["agents"]["random"]["spec"] = "random:seed=2"
    path.write_text(json.dumps(manifest))
    with pytest.raises(T48Error, match=r"random in manifest\.json: its spec random:seed=2 says another seed"):
        verify(folder)


def test_other_kernels_may_have_looked_at_other_nodes(folder):
    for name in ("summary", "pairs"):
        (folder / f"{name}.csv").unlink()
    path = forged(folder, nodes=1) / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"runs": [{"kernels": "others"}]}))
    found = verify(folder, games=100)
    assert found.recounted == 1
    assert "1 of them took other kernels more or fewer nodes" in found.sentence


def test_a_consistent_lie_is_found_by_replaying(tmp_path):
    folder = made(tmp_path / "try", {"random": "random"})
    frame = Store(folder).frame()
    swapped = frame.assign(game=frame["game"].to_numpy()[::-1])
    for path in (folder / "games").glob("*.parquet"):
        path.unlink()
    Store(folder).add(swapped)
    with pytest.raises(T48Error, match="replayed as"):
        verify(folder, games=100)


def test_tables_that_do_not_follow_from_the_games_are_named(folder):
    path = folder / "summary.csv"
    text = path.read_text()
    path.write_text(text.replace(text.splitlines()[1].split(",")[4], "9999.5"))
    with pytest.raises(T48Error, match=r"summary\.csv: mean_score is stored as 9999\.5, the games give"):
        verify(folder)
    path.write_text("\n".join(text.splitlines()[:-1]))
    with pytest.raises(T48Error, match=r"summary\.csv has other rows or columns"):
        verify(folder)
    path.write_text('"')
    with pytest.raises(T48Error, match=r"summary\.csv"):
        verify(folder)
    path.unlink()
    assert verify(folder).tables == ("pairs.csv",)


def test_a_table_is_never_skipped(folder):
    """Neither an empty one, nor one that is a header alone, nor those that `report` adds."""
    write_report(folder)
    assert verify(folder).tables == ("summary.csv", "pairs.csv", "correlations.csv", "front.csv")
    for name in ("summary", "pairs", "correlations", "front"):
        path = folder / f"{name}.csv"
        text = path.read_text()
        for kept in ("", "\n", text.splitlines()[0] + "\n", text.replace(",", ";")):
            path.write_text(kept)
            with pytest.raises(T48Error, match=rf"{name}\.csv"):
                verify(folder)
        path.write_text(text)
        table = pd.read_csv(path)
        table.drop(columns=table.columns[2]).to_csv(path, index=False)
        with pytest.raises(T48Error, match=rf"{name}\.csv has other rows or columns"):
            verify(folder)
        path.write_text(text)


def test_one_agent_has_no_pairs_and_that_is_true(tmp_path):
    folder = made(tmp_path / "one", {"random": "random"})
    assert len((folder / "pairs.csv").read_text().splitlines()) == 1
    assert verify(folder).tables == ("summary.csv", "pairs.csv")


def test_parameters_that_make_another_key_are_named(folder):
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["agents"]["greedy"]["parameters"]["evaluator"]["lost"] = 1.0
    path.write_text(json.dumps(manifest))
    with pytest.raises(T48Error, match=r"greedy: the parameters in manifest\.json do not make agent_key"):
        verify(folder)
    manifest["agents"]["greedy"]["parameters"] = {"name": "gready"}
    path.write_text(json.dumps(manifest))
    with pytest.raises(T48Error, match="of kind 'gready', which this t48lab does not know"):
        verify(folder)
    del manifest["agents"]["greedy"]
    path.write_text(json.dumps(manifest))
    for name in ("summary", "pairs"):
        (folder / f"{name}.csv").unlink()
    with pytest.raises(T48Error, match=r"manifest\.json does not know agent_key"):
        verify(folder)


def test_stored_weights_replay_when_a_preset_has_changed(tmp_path, monkeypatch):
    folder = made(tmp_path / "try", {"greedy": "greedy:by=evaluator,evaluator=tuned", "random": "random"})
    from t48lab.evaluators import PRESETS

    monkeypatch.setitem(PRESETS, "tuned", PRESETS["classic"])
    assert verify(folder, games=100).replayed == 12


def test_a_folder_without_games_has_nothing_to_verify(tmp_path):
    with pytest.raises(T48Error, match="holds no games"):
        verify(tmp_path / "nothing")


@pytest.mark.parametrize("command", ["verify", "report"])
@pytest.mark.parametrize("left", ["manifest.json", "journal.log", "confirm"])
def test_a_study_is_told_from_an_experiment(tmp_path, capsys, command, left):
    study = tmp_path / "study"
    study.mkdir()
    if left == "manifest.json":
        (study / left).write_text('{"schema": 1, "study": "study", "seeds": {"tuning_seed": 1}}')
    elif left == "journal.log":
        (study / left).touch()
    else:
        made(study / left, {"random": "random"})
    assert status([command, str(study)]) == 2
    line = capsys.readouterr().err
    assert line.startswith(f"t48lab: {study} is the folder of a study, on which `t48lab tune` reports")
    assert (f"its games are in {study / 'confirm'}" in line) == (left == "confirm")
    assert not (study / "games").exists()


MANIFESTS = [
    {"seeds": None},
    {"seeds": [-1]},
    {"seeds": [10**30]},
    {"seeds": 3},
    {"runs": None},
    {"runs": [3]},
    {"rules": []},
    {"rules": {"rows": 99}},
    {"stop_tile": 3},
    {"stop_tile": True},
    {"title": 5},
    {"baseline": ["random"]},
    {"spawners": "random"},
    {"agents": {"random": {"agent_keys": {"random": 10**30}}}},
    {"agents": {"random": {"agent_keys": ["random"]}}},
    {"agents": {"random": {"agent_keys": {}, "parameters": None}}},
    {"machine": "fast"},
    {"started": 0},
    {"schema": True},
    {"schema": None},
    {"experiment": float("nan")},
    {"version": float("inf")},
]


@pytest.mark.parametrize("command", ["verify", "report", "run"])
@pytest.mark.parametrize("facts", MANIFESTS, ids=str)
def test_manifests_of_another_shape_are_refused_in_one_line(tmp_path, capsys, facts, command):
    path = tmp_path / "try" / "manifest.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"schema": 1, "experiment": "try", "agents": {}} | facts))
    (tmp_path / "try.toml").write_text('[agents]\nrandom = "random"\n')
    arguments = ["run", str(tmp_path / "try.toml"), "--out", str(path.parent)]
    assert status(arguments if command == "run" else [command, str(path.parent)]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert str(path) in err


@pytest.mark.parametrize("column", ["timed", "score", "final"])
def test_gaps_in_a_column_of_games_are_damage(folder, column):
    path = next((folder / "games").glob("*.parquet"))
    table = pq.read_table(path).replace_schema_metadata(None)
    place = table.column_names.index(column)
    values = [None, *table[column].to_pylist()[1:]]
    table = table.set_column(place, table.schema.field(column), pa.array(values, table.schema.field(column).type))
    label = json.dumps({"schema": SCHEMA_VERSION, "sha256": results._digest(table)})
    pq.write_table(table.replace_schema_metadata({"t48lab": label}), path)
    for command in ("verify", "report"):
        assert status([command, str(folder)]) == 2
    with pytest.raises(T48Error, match=rf"is damaged \(its column {column} has gaps\)"):
        Store(folder).frame()


def test_the_command_says_it_in_one_line(folder, capsys):
    assert status(["verify", str(folder), "--games", "1"]) == 0
    assert capsys.readouterr().out.startswith("verified: 36 games of 6 agents are intact")
    assert status(["verify", str(forged(folder, nodes=1)), "--games", "100"]) == 2
    assert capsys.readouterr().err.startswith("t48lab: ")


def test_parts_of_an_older_schema_are_read(folder, monkeypatch):
    before = Store(folder).frame()
    luck = Column("luck", float, since=SCHEMA_VERSION + 1, before=0.5)
    monkeypatch.setattr(results, "SCHEMA_VERSION", luck.since)
    monkeypatch.setattr(results, "COLUMNS", (*COLUMNS, luck))
    monkeypatch.setattr(results, "SCHEMA", pa.schema([*SCHEMA, ("luck", pa.float64())]))
    store = Store(folder)
    pd.testing.assert_frame_equal(store.frame(), before.assign(luck=0.5))
    store.add(before.assign(luck=1.0, game=before["game"] + 6))
    store.compact()
    assert sorted(store.frame()["luck"].unique()) == [0.5, 1.0]


WITH_ONE_MORE_COLUMN = """
import sys
from t48lab.games import rows
from t48lab.kernels.layout import ROW

read = lambda chunk, rules: chunk.rows[:, ROW.PROBES] + 5
rows.COLUMNS += (rows.Column("luck", int, read, "always", since=2),)

from t48lab.experiments import Store, load_experiment, run_experiment, verify

folder = sys.argv[1]
games = run_experiment(load_experiment(sys.argv[2]), folder)
with Store(folder).lock():
    Store(folder).compact()
stored = Store(folder).frame()
luck = stored["luck"]
assert luck.isna().sum() == 3 and (luck.dropna() == 5).sum() == 3, luck
print(verify(folder, games=6).sentence)
with Store(folder).lock():
    (part,) = Store(folder).games.glob("*.parquet")
    Store(folder).add(stored.assign(luck=luck + 1))
    part.unlink()
print(verify(folder, games=6).sentence)
"""


def test_one_more_column_is_one_record(tmp_path):
    """It is played, stored beside older games that lack it, and verified where it is stored."""
    experiment = {"seed": 3, "agents": {"random": "random"}}
    run_experiment(make_experiment({**experiment, "games": 3}, "try"), tmp_path / "out")
    file = tmp_path / "try.toml"
    file.write_text('seed = 3\ngames = 6\n[agents]\nrandom = "random"\n')
    command = [sys.executable, "-c", WITH_ONE_MORE_COLUMN, tmp_path / "out", file]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout.startswith("verified: 6 games of 1 agents are intact"), done.stderr
    assert "luck is stored as 6.0, replayed as 5" in done.stderr


def test_parts_with_other_columns_are_refused(folder):
    path = next((folder / "games").glob("*.parquet"))
    table = pq.read_table(path).replace_schema_metadata(None).drop_columns(["score"])
    label = json.dumps({"schema": 1, "sha256": results._digest(table)})
    pq.write_table(table.replace_schema_metadata({"t48lab": label}), path)
    with pytest.raises(T48Error, match="its columns are not those of games"):
        Store(folder).frame()


PICKLERS = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}


@pytest.mark.parametrize("path", sorted((ROOT / "t48lab").rglob("*.py")), ids=lambda path: path.stem)
def test_nothing_on_disk_is_ever_unpickled(path):
    tree = ast.parse(path.read_text())
    names = {
        alias.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
    }
    names |= {node.module.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    assert not names & PICKLERS
    used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert not used & {"read_pickle", "to_pickle", "allow_pickle"}
    loads = [n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.attr in ("load", "save")]
    assert not [n for n in loads if isinstance(n.value, ast.Name) and n.value.id == "np"]


def test_results_are_data_files(folder):
    kinds = {path.suffix for path in folder.rglob("*") if path.is_file() and path.name != ".lock"}
    assert kinds <= {".parquet", ".csv", ".json", ".md", ".tex", ".png", ".svg"}
    for path in folder.rglob("*.parquet"):
        assert not [
            f for f in pq.read_schema(path) if not (pa.types.is_primitive(f.type) or pa.types.is_string(f.type))
        ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://me:secret@host:5432/db failed", "postgresql://me:***@host:5432/db failed"),
        ("(postgresql+psycopg://me:se@cr:et@host/db)", "(postgresql+psycopg://me:***@host/db)"),
        ("postgres://host/db?user=me&password=secret&x=1", "postgres://host/db?user=me&password=***&x=1"),
        ("host=h password='se cret' user=me", "host=h password=*** user=me"),
        ("postgresql://host/db?sslpassword=secret", "postgresql://host/db?sslpassword=***"),
        ("cannot read postgresql:/me:secret@host/db", "cannot read postgresql:/me:***@host/db"),
        ("redis://:secret@host", "redis://:***@host"),
        ("no file ann@home:2048.toml", "no file ann@home:2048.toml"),
        ("tcp://127.0.0.1:8786 and sqlite:///a@b.db", "tcp://127.0.0.1:8786 and sqlite:///a@b.db"),
        ("depth must be 1 or more, got 0", "depth must be 1 or more, got 0"),
    ],
)
def test_passwords_are_left_out_of_what_is_said(text, shown, capsys):
    assert redacted(text) == str(T48Error(text)) == shown
    assert "secret" not in redacted(text)


@pytest.mark.parametrize(
    "arguments",
    [
        ["verify", "a"],
        ["verify"],
        ["report"],
        ["run"],
        ["tune"],
        ["play", "--agent"],
        ["advise"],
        ["run", "a.toml", "--out"],
    ],
)
def test_a_password_in_a_command_line_is_not_repeated(arguments, capsys):
    assert status([*arguments, "postgresql://me:secret@host/db"]) == 2
    assert "secret" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:secret@host:port/db",
        "postgresql://me:a@secret@127.0.0.1:1/db",
        "postgresql://me:a@secret@[::1/db",
        "nonsense://me:secret@host/db",
        "mysql+nonsense://me:secret@host/db",
        "sqlite://me:secret@host/file.db",
        "me:secret@host/db",
        "host=h password=secret",
    ],
)
def test_a_password_in_a_storage_that_is_refused_is_not_repeated(url, tmp_path, capsys):
    study = Path(__file__).parents[1] / "experiments" / "tune_quick.toml"
    assert status(["tune", str(study), "--out", str(tmp_path / "out"), "--storage", url]) == 2
    assert "secret" not in capsys.readouterr().err


@pytest.mark.parametrize("piece", ["a", "://a:", "password=", "password='", "@", ":/", "a@:/b:"])
def test_passwords_are_looked_for_in_a_long_text_quickly(piece):
    begin = time.process_time()
    assert len(str(T48Error(piece * 200_000))) < 1000
    assert time.process_time() - begin < 2

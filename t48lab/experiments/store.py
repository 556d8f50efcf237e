"""The results store: one folder an experiment, one row a game, nothing lost, doubled or mixed up.

`games/*.parquet` are parts, written whole or not at all; each carries the schema's version and a
checksum of its rows. `manifest.json` says what was played. A row's key is (agent_key, spawner, seed,
game): reading drops a second copy, so a run may be killed between any two writes.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from t48lab.errors import T48Error
from t48lab.experiments.manifest import check_manifest
from t48lab.files import Standing, abandoned, below, is_short, replacing, told, write_whole
from t48lab.games import COLUMNS
from t48lab.plaintext import for_csv
from t48lab.specs import differences

if TYPE_CHECKING:
    import pandas as pd

_TYPES = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
SCHEMA_VERSION = max(column.since for column in COLUMNS)
SCHEMA = pa.schema([(column.name, _TYPES[column.kind]) for column in COLUMNS])
KEY = ["agent_key", "spawner", "seed", "game"]
GameKey = tuple[str, str, int, int]

_LABEL = b"t48lab"
_PARTS_BEFORE_COMPACTING = 64
_SMALL_PART = 2**20
"""Bytes below which parts are merged on the way: about 40,000 games, which takes a third of a second."""
_LOOKS = 50
_OF_STUDIES = ("trials.parquet", "journal.log")


class Store:
    """The games of one folder; reading never writes, writing belongs inside `lock()`."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._standing: Standing | None = None
        try:
            usable = self.folder.is_dir() or not self.folder.exists()
        except OSError as error:
            reason = (error.strerror or "unknown reason").lower()
            raise T48Error(f"{self.folder} cannot be a results folder ({reason}), choose another") from None
        if not usable:
            raise T48Error(f"{self.folder} is a file, a results folder is needed")
        self.games = below(self.folder, "games")

    def frame(self) -> pd.DataFrame:
        """All games, each once, agents in the manifest's order, then by spawner, seed and game.

        Labels are the manifest's, so renaming an agent in an experiment renames its old games too.
        Raises T48Error that names the file when a part is damaged or was not written here.
        """
        agents = self.manifest().get("agents", {})
        labels = {key: label for label, agent in agents.items() for key in agent["agent_keys"].values()}
        with _room_for(self.games):
            return _in_order(self._table().to_pandas(use_threads=False), labels)

    def finished(self, older: bool = True) -> pd.DataFrame:
        """The `frame` of a folder that holds games, without `older` as `asked` has it.

        Raises T48Error when it holds no games, or is a study's.
        """
        frame = self.frame()
        if frame.empty:
            own = [str(path.parent) for path in sorted(self.folder.glob("*/games")) if any(path.glob("*.parquet"))]
            if own or any((self.folder / name).exists() for name in _OF_STUDIES):
                raise T48Error(_study(self.folder, own))
            raise T48Error(f"{self.folder} holds no games, give the folder of an experiment that has been run")
        return frame if older else self._asked(frame)

    def asked(self) -> pd.DataFrame:
        """The games that the last run asked for, as `frame` has them: other seeds, agents and games are left out.

        All games where the manifest does not say.
        """
        return self._asked(self.frame())

    def _asked(self, frame: pd.DataFrame) -> pd.DataFrame:
        asked = self.manifest().get("asked")
        return frame if asked is None else frame[are_asked(frame, asked)].reset_index(drop=True)

    def played(self) -> set[GameKey]:
        """The keys of all stored games."""
        with _room_for(self.games):
            columns = [column.to_pylist() for column in self._table().select(KEY).columns]
            return set(zip(*columns, strict=True))

    def agents(self) -> dict[str, str]:
        """The label of each agent_key that has stored games."""
        frame = self.frame().drop_duplicates("agent_key")
        return dict(zip(frame["agent_key"], frame["agent"], strict=True))

    def add(self, games: pd.DataFrame) -> Path:
        """The path of the new part that now holds these games, safe on disk when this returns."""
        try:
            table = pa.Table.from_pandas(games[SCHEMA.names], schema=SCHEMA, preserve_index=False)
        except (KeyError, pa.ArrowException) as error:
            raise T48Error(f"these rows are not games: {_first_line(error)}") from None
        path = self._write_part(table)
        small = [part for part in self._parts() if part.stat().st_size < _SMALL_PART]
        if len(small) > _PARTS_BEFORE_COMPACTING:
            return self._merge(small) or path
        return path

    def compact(self) -> Path | None:
        """The one part that now holds every game; None when there is none."""
        return self._merge(self._parts())

    def _merge(self, old: list[Path]) -> Path | None:
        """The one part that now holds the games of these.

        It is on disk before the old ones go, so a kill in between leaves copies, never gaps.
        """
        if len(old) < 2:
            return old[0] if old else None
        table = pa.concat_tables([_read_part(path) for path in old])
        kept = table.to_pandas().drop_duplicates(KEY).sort_values(KEY)
        new = self._write_part(pa.Table.from_pandas(kept, schema=SCHEMA, preserve_index=False))
        for path in old:
            if path != new:
                path.unlink()
        return new

    def manifest(self) -> dict[str, Any]:
        """What manifest.json holds, {} when there is none."""
        path = self.folder / "manifest.json"
        try:
            manifest = json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_number)
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            raise T48Error(f"{path} cannot be read ({_first_line(error)}), restore it") from None
        if isinstance(manifest, dict) and "study" in manifest and "agents" not in manifest:
            raise T48Error(_study(self.folder, [str(part.parent) for part in sorted(self.folder.glob("*/games"))]))
        try:
            check_manifest(manifest)
        except T48Error as error:
            remedy = "restore it or choose another folder"
            raise T48Error(f"{path} is not a manifest of t48lab ({error}), {remedy}") from None
        _check_version(manifest.get("schema"), path)
        return dict(manifest)

    def write_manifest(self, manifest: dict[str, Any]) -> None:
        """Writes this to manifest.json."""
        text = json.dumps({"schema": SCHEMA_VERSION} | manifest, indent=2, ensure_ascii=False, allow_nan=False)
        self._write(self.folder / "manifest.json", text.encode() + b"\n")

    def write_table(self, name: str, table: pd.DataFrame) -> Path:
        """The path of `name`.csv, which now holds this table."""
        path = self.folder / f"{name}.csv"
        text = table.select_dtypes(exclude=["number", "bool"]).columns
        shown = table.assign(**{str(column): table[column].map(as_cell) for column in text})
        self._write(path, shown.to_csv(index=False, lineterminator="\n").encode())
        return path

    def read_table(self, name: str) -> pd.DataFrame | None:
        """What `name`.csv holds, every cell as text; None when there is no such table."""
        import pandas as pd

        path = self.folder / f"{name}.csv"
        try:
            return pd.read_csv(path, dtype=str, keep_default_na=False)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise T48Error(f"{path} is no table ({_first_line(error)}), write it again with `t48lab report`") from None

    def check(
        self, experiment: str, agents: Mapping[str, str], parameters: Mapping[str, Mapping[str, Any]] | None = None
    ) -> None:
        """Raises T48Error when the folder holds another experiment's games.

        `agents` are labels by agent_key; `parameters` by label say what has changed of an agent. Another
        experiment is one of another name, one whose label stands for an agent with other parameters, or one that
        shares no agent with the stored games.
        """
        if not self._parts():
            return
        manifest, stored = self.manifest(), self.agents()
        remedy = "choose another --out or another name"
        if not manifest:
            raise T48Error(f"{self.folder} holds games without a manifest.json, {remedy}")
        if manifest.get("experiment") != experiment:
            raise T48Error(f"{self.folder} holds games of experiment {manifest.get('experiment')!r}, {remedy}")
        for key, label in stored.items():
            if key not in agents and label in agents.values():
                changed = self._changed(manifest, label, parameters or {})
                raise T48Error(f"{self.folder} holds games of {label!r} with other parameters{changed}, {remedy}")
        if not set(stored) & set(agents):
            names = ", ".join(map(repr, stored.values()))
            raise T48Error(f"{self.folder} holds games of other agents only ({names}), {remedy}")

    def _changed(self, manifest: dict[str, Any], label: str, parameters: Mapping[str, Mapping[str, Any]]) -> str:
        """What differs between an agent as it played and as it is now, in brackets; "" when that is not known."""
        before = manifest["agents"].get(label, {}).get("parameters")
        if before is None or label not in parameters:
            return ""
        stored = {name: manifest[name] for name in ("rules", "stop_tile") if name in manifest}
        return f" ({differences(before | stored, parameters[label]) or 'of another engine'})"

    @contextmanager
    def lock(self) -> Iterator[None]:
        """A context in which this process alone may write; raises T48Error when another one holds it."""
        from filelock import FileLock, Timeout

        with told(self.folder):
            self.games.mkdir(parents=True, exist_ok=True)
            guard = FileLock(self.folder / ".lock", timeout=0)
            try:
                guard.acquire()
            except Timeout:
                reason = "is in use by another run, wait for its end or choose another --out"
                raise T48Error(f"{self.folder} {reason}") from None
        try:
            self._standing = Standing(self.folder, self.games, self.folder / ".lock")
            for draft in abandoned(self.folder):
                draft.unlink(missing_ok=True)
            yield
        finally:
            self._standing = None
            guard.release()

    def _parts(self) -> list[Path]:
        return sorted(self.games.glob("*.parquet"))

    def _table(self) -> pa.Table:
        """All rows; looks again when a part vanishes because another process has just compacted."""
        for _ in range(_LOOKS):
            try:
                return pa.concat_tables([SCHEMA.empty_table(), *map(_read_part, self._parts())])
            except FileNotFoundError:
                continue
        raise T48Error(f"{self.games} keeps changing, wait for the end of the run that writes to it")

    def _write_part(self, table: pa.Table) -> Path:
        digest = _digest(table)
        label = json.dumps({"schema": SCHEMA_VERSION, "sha256": digest}).encode()
        sink = io.BytesIO()
        pq.write_table(table.replace_schema_metadata({_LABEL: label}), sink, compression="zstd")
        path = self.games / f"part-{digest[:16]}.parquet"
        self._write(path, sink.getvalue())
        return path

    def _write(self, path: Path, data: bytes) -> None:
        """Writes a file of the folder; inside `lock()` only as long as the folder and its lock are the same."""
        if self._standing is None:
            write_whole(path, data)
            return
        self._standing.check()
        with told(path), replacing(path) as file:
            file.write(data)


def are_asked(frame: pd.DataFrame, asked: dict[str, Any]) -> pd.Series[bool]:
    """Which games have the seed that is asked for, and a number below that of the games asked of their agent_key."""
    most = [asked["games"].get(key, 0) for key in frame["agent_key"]]
    found: pd.Series[bool] = (frame["seed"] == asked["seed"]) & (frame["game"] < most)
    return found


def _in_order(frame: pd.DataFrame, labels: dict[str, str]) -> pd.DataFrame:
    """The games, each once, under these labels by agent_key and in their order, then by spawner, seed and game."""
    frame["agent"] = frame["agent_key"].map(labels).astype("str").where(frame["agent_key"].isin(labels), frame["agent"])
    rank = {key: place for place, key in enumerate(labels)}
    frame = frame.drop_duplicates(KEY).assign(_rank=frame["agent_key"].map(rank).fillna(len(rank)))
    return frame.sort_values(["_rank", *KEY]).drop(columns="_rank").reset_index(drop=True)


@contextmanager
def _room_for(games: Path) -> Iterator[None]:
    """A context that turns a lack of memory into one line, which advises nothing that could cost games."""
    try:
        yield
    except MemoryError:
        raise T48Error(f"memory ran out over {games}, leave its files as they are and give the process more") from None


def as_cell(value: object) -> object:
    """What a table on disk has for a value: text as text, numbers as they are."""
    return for_csv(value) if isinstance(value, str) else value


def _read_part(path: Path) -> pa.Table:
    """The part's rows; raises T48Error when they are not exactly what was written, or the machine has run out."""
    remedy = "restore it, or delete it to play its games again"
    data: bytes | None = None
    try:
        data = path.read_bytes()
        return _checked_part(path, data, remedy)
    except (FileNotFoundError, T48Error):
        raise
    except Exception as error:  # Arrow raises many kinds on damaged bytes
        reason = _first_line(error)
        if is_short(error, len(data or b"")):
            raise T48Error(
                f"{path} could not be read, memory or threads have run out ({reason}): leave the file as it is and "
                "give the process more, or end others"
            ) from None
        verb = "cannot be read" if data is None else "is damaged"
        raise T48Error(f"{path} {verb} ({reason}), {remedy}") from None


def _checked_part(path: Path, data: bytes, remedy: str) -> pa.Table:
    """The rows of a part's bytes; raises T48Error for those of another kind, and whatever Arrow raises on damage."""
    table = pq.ParquetFile(io.BytesIO(data), pre_buffer=False).read(use_threads=False)  # short of threads, others hang
    label = json.loads((table.schema.metadata or {}).get(_LABEL, b"null"))
    if not isinstance(label, dict):
        raise T48Error(f"{path} was not written by t48lab, remove it from the folder")
    _check_version(label.get("schema"), path)
    table = table.replace_schema_metadata(None)
    if _digest(table) != label.get("sha256"):
        raise T48Error(f"{path} is damaged (its checksum does not match), {remedy}")
    table = _upgraded(table, label["schema"])
    if not table.schema.equals(SCHEMA):
        raise T48Error(f"{path} is damaged (its columns are not those of games), {remedy}")
    if gaps := [column.name for column in COLUMNS if column.since == 1 and table[column.name].null_count]:
        raise T48Error(f"{path} is damaged (its column {gaps[0]} has gaps), {remedy}")
    return table


def _upgraded(table: pa.Table, version: int) -> pa.Table:
    """The rows of an older version with the columns of this one; columns that have no place here stay."""
    for column in COLUMNS:
        if version < column.since <= SCHEMA_VERSION:
            values = pa.array([column.before] * len(table), SCHEMA.field(column.name).type)
            table = table.append_column(column.name, values)
    ordered = [name for name in SCHEMA.names if name in table.column_names]
    return table.select(ordered + [name for name in table.column_names if name not in ordered])


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number of JSON")


def _study(folder: Path, games: list[str]) -> str:
    """What to say where an experiment's folder is asked for and a study's is given."""
    where = f", its games are in {' and '.join(games)}: give one of these" if games else ""
    return f"{folder} is the folder of a study, on which `t48lab tune` reports{where or ' itself'}"


def _check_version(version: object, path: Path) -> None:
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise T48Error(f"{path} has no schema version, restore it or choose another folder")
    if version > SCHEMA_VERSION:
        raise T48Error(f"{path} has schema {version}, this t48lab reads up to {SCHEMA_VERSION}: upgrade t48lab")


def _digest(table: pa.Table) -> str:
    """SHA-256 of the values, whatever the encoding, compression or version of the file around them."""
    state = hashlib.sha256()
    for name in table.column_names:
        column = table[name]
        if pa.types.is_string(column.type):
            data = json.dumps(column.to_pylist()).encode()
        else:
            data = column.to_numpy().tobytes()
        state.update(f"{name}:{len(data)}:".encode() + data)
    return state.hexdigest()


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:120] if lines else type(error).__name__

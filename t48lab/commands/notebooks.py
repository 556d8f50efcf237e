"""`t48lab notebooks`: execute the essays in notebooks/, each in a fresh kernel."""

from __future__ import annotations

import asyncio
import io
import os
import re
from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from subprocess import DEVNULL
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

import click

FOLDER = Path("notebooks")
_SECONDS_A_CELL = {True: 600, False: 24 * 3600}
_SWITCH = re.compile(r"^QUICK\s*=\s*(True|False)", flags=re.MULTILINE)
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_WIDGET = "application/vnd.jupyter.widget-view+json"
_SVG = "image/svg+xml"
_KERNELS = ("bitboard", "exact", "rng", "gameloop")
_LONGEST_FOLDER = 90
"""Letters of a folder's path that leave room for a socket in it: the system allows 107."""


@click.command("notebooks")
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--full", is_flag=True, help="Run with QUICK = False and write the outputs into the notebook.")
@click.option("--folder", type=click.Path(path_type=Path), default=FOLDER, show_default=True, help="Where they are.")
def command(names: tuple[str, ...], full: bool, folder: Path) -> None:
    """Execute notebooks and say which pass.

    Those whose file names start with a NAME, or all. Quick mode changes no file.
    """
    from t48lab.agents import AGENTS, SPAWNERS
    from t48lab.compiled import load
    from t48lab.errors import T48Error

    paths = select(folder, names)
    books = [read(path) for path in paths]
    players = [kind.kernel for kind in AGENTS.values()] + [kind.kernel for kind in SPAWNERS.values()]
    for kernel in (*_KERNELS, *filter(None, players)):
        load(kernel)  # compiling says so on stderr, which would end up in a notebook
    click.echo(f"{len(paths)} to run, {expected(books) if full else 'in quick mode: under 2 minutes each'}")
    failed = [path.name for path in paths if not _report(path, full)]
    if failed:
        raise T48Error(f"{len(failed)} of {len(paths)} notebooks failed: {', '.join(failed)}; run them cell by cell")


def read(path: Path) -> Any:
    """The notebook in a file; raises T48Error where there is none."""
    import nbformat

    from t48lab.errors import T48Error

    files: Any = nbformat
    try:
        book = files.convert(files.reader.reads(path.read_text(encoding="utf-8")), 4)
        files.validate(book)
    except OSError as error:
        raise T48Error(f"cannot read {path}: {(error.strerror or 'unknown reason').lower()}") from None
    except MemoryError:
        raise
    except Exception:  # whatever damaged bytes make of a notebook
        raise T48Error(f"{path} is damaged or no notebook, restore it: git checkout {path}") from None
    return book


def expected(books: Sequence[Any]) -> str:
    """How long these take in full, as the runs whose outputs they hold took."""
    from t48lab.progress import duration

    stored = [book.metadata.get("t48lab") for book in books]
    known = [entry.get("seconds") if isinstance(entry, dict) else None for entry in stored]
    seconds = [value for value in known if isinstance(value, (int, float))]
    text = f"in full: about {duration(sum(seconds))} on the machine of their last full run"
    missing = len(books) - len(seconds)
    return text if not missing else f"{text}, and {missing} for the first time"


def select(folder: Path, names: tuple[str, ...]) -> list[Path]:
    """The paths of the notebooks that the names stand for, in order; raises T48Error for a name of none."""
    from t48lab.errors import T48Error
    from t48lab.records import nearest

    paths = sorted(folder.glob("*.ipynb"))
    if not paths:
        raise T48Error(f"{folder} holds no notebooks, run this at the root of a checkout or give --folder")
    for name in names:
        if not any(path.name.startswith(name) for path in paths):
            raise T48Error(f"no notebook starts with {name!r}, {nearest(name, [path.stem for path in paths])}")
    return [path for path in paths if not names or path.name.startswith(names)]


def _report(path: Path, full: bool) -> bool:
    from t48lab.errors import T48Error, one_line

    start = monotonic()
    try:
        execute(path, quick=not full, keep=full)
    except T48Error:
        raise
    except Exception as error:  # a cell's, its kernel's, or of what lies between
        reason = one_line(_reason(str(error) or type(error).__name__))
        click.echo(f"failed  {path.name}  {monotonic() - start:.0f} s  {reason}")
        return False
    click.echo(f"passed  {path.name}  {monotonic() - start:.0f} s")
    return True


def _reason(report: str) -> str:
    """The last line of a cell's error, and the line of code that raised one without words."""
    lines = [line.strip() for line in re.sub(r"\x1b\[[0-9;]*m", "", report).splitlines() if line.strip()]
    raised = [re.sub(r"^-+>\s*\d*\s*", "", line) for line in lines if re.match(r"-+>", line)]
    return f"{lines[-1]} {raised[-1]}" if lines[-1].endswith(":") and raised else lines[-1]


def execute(path: Path, quick: bool, keep: bool) -> Any:
    """The executed notebook, run beside its file with QUICK set; `keep` writes it back to the file."""
    import nbformat
    from nbclient import NotebookClient
    from traitlets.config import Config

    from t48lab.files import write_whole

    files: Any = nbformat
    book = read(path)
    set_quick(book, quick, path)
    place = {"metadata": {"path": str(path.parent)}}
    options: dict[str, Any] = {"timeout": _SECONDS_A_CELL[quick], "startup_timeout": 180, "store_widget_state": False}
    start = monotonic()
    with _sockets() as sockets:  # files in place of ports, which other users of the machine could reach
        files_of = {"transport": "ipc", "ip": f"{sockets}/kernel"} if os.name == "posix" else {}
        by_file = Config({"KernelManager": files_of})
        client: Any = NotebookClient(book, kernel_name="python3", resources=place, config=by_file, **options)
        with asyncio.Runner(loop_factory=_Loop) as runner:
            runner.run(_executed(client, _environment(sockets)))
    if keep:
        stand_still(book)
        book.metadata["t48lab"] = {"seconds": round(monotonic() - start)}
        write_whole(path, (files.writes(book) + "\n").encode())
        keep_picture(book, path.parent / "pictures" / path.stem)
    return book


class _Loop(asyncio.SelectorEventLoop):
    """An event loop that leaves Ctrl-C to its runner: nbclient would make a dead kernel of it."""

    def add_signal_handler(self, *args: Any) -> None:  # type: ignore[override]
        raise NotImplementedError


async def _executed(client: Any, environment: dict[str, str]) -> None:
    """Runs all cells; an interrupted one does not pass for a dead kernel's."""
    task = asyncio.current_task()
    try:
        await client.async_execute(env=environment, stderr=DEVNULL)
    except Exception:
        if task and task.cancelling():
            raise asyncio.CancelledError from None
        raise


@contextmanager
def _sockets() -> Iterator[str]:
    """A new folder, its path short enough for sockets, for all that a kernel leaves; the home where there is none."""
    with TemporaryDirectory() as usual, TemporaryDirectory(dir="/tmp" if len(usual) > _LONGEST_FOLDER else None) as new:
        homeless = not os.access(os.path.expanduser("~"), os.W_OK)
        before = os.environ.get("HOME")
        if homeless:
            os.environ["HOME"] = new
        try:
            yield new
        finally:
            if homeless:
                os.environ.pop("HOME") if before is None else os.environ.update(HOME=before)


def _environment(folder: str) -> dict[str, str]:
    """What a kernel meets: no settings and start-up files of this user's IPython, and no backend that figures need not.

    An IPYTHONDIR that is set stays.
    """
    kept = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
    return {"IPYTHONDIR": folder} | kept


def keep_picture(book: Any, stem: Path) -> None:
    """Writes the notebook's first figure, or its first picture, to a file for the index to show."""
    from t48lab.files import write_whole

    shown = [output.get("data", {}) for cell in book.cells for output in cell.get("outputs", [])]
    figures = [b64decode(data["image/png"]) for data in shown if "image/png" in data and _SVG not in data]
    pictures = [data[_SVG].encode() for data in shown if _SVG in data]
    for found, ending in ((figures, ".png"), (pictures, ".svg")):
        if found:
            write_whole(stem.with_suffix(ending), found[0])
            return


def stand_still(book: Any) -> None:
    """Makes the outputs' pictures smaller, and takes live widgets, addresses and times out of them."""
    for cell in book.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if len(data) > 1:
                data.pop(_WIDGET, None)
            if isinstance(text := data.get("text/plain"), str):
                data["text/plain"] = _ADDRESS.sub("", text)
            if "image/png" in data:
                data["image/png"] = b64encode(smaller(b64decode(data["image/png"]))).decode()


def smaller(png: bytes) -> bytes:
    """The same picture in 256 colours, which is all that a figure needs and takes half the space."""
    from PIL import Image

    sink = io.BytesIO()
    Image.open(io.BytesIO(png)).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(sink, "png", optimize=True)
    return min(sink.getvalue(), png, key=len)


def set_quick(book: Any, quick: bool, path: Path) -> None:
    """Changes the line `QUICK = ...` of the cell tagged `parameters` to say this; raises T48Error without one."""
    from t48lab.errors import T48Error

    for cell in book.cells:
        if "parameters" in cell.metadata.get("tags", []) and _SWITCH.search(cell.source):
            cell.source = _SWITCH.sub(f"QUICK = {quick}", cell.source, count=1)
            return
    raise T48Error(f"{path} has no cell tagged parameters with a line QUICK = True, add one")

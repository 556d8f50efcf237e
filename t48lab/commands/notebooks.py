"""`t48lab notebooks`: execute the essays in notebooks/, each in a fresh kernel."""

from __future__ import annotations

import io
import os
import re
from base64 import b64decode, b64encode
from collections.abc import Sequence
from pathlib import Path
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
    players = [kind.kernel for kind in AGENTS.values()] + [kind.kernel for kind in SPAWNERS.values()]
    for kernel in (*_KERNELS, *filter(None, players)):
        load(kernel)  # compiling says so on stderr, which would end up in a notebook
    click.echo(f"{len(paths)} to run, {expected(paths) if full else 'in quick mode: under 2 minutes each'}")
    failed = [path.name for path in paths if not _report(path, full)]
    if failed:
        raise T48Error(f"{len(failed)} of {len(paths)} notebooks failed: {', '.join(failed)}; run them cell by cell")


def expected(paths: Sequence[Path]) -> str:
    """How long these take in full, as the runs whose outputs they hold took."""
    import nbformat

    from t48lab.progress import duration

    files: Any = nbformat
    known = [files.read(path, as_version=4).metadata.get("t48lab", {}).get("seconds") for path in paths]
    missing = known.count(None)
    text = f"in full: about {duration(sum(seconds or 0 for seconds in known))} on the machine of their last full run"
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
    from nbclient.exceptions import CellExecutionError

    start = monotonic()
    try:
        execute(path, quick=not full, keep=full)
    except CellExecutionError as error:
        click.echo(f"failed  {path.name}  {monotonic() - start:.0f} s  {_reason(str(error))}")
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

    files: Any = nbformat
    book = files.read(path, as_version=4)
    set_quick(book, quick, path)
    place = {"metadata": {"path": str(path.parent)}}
    options: dict[str, Any] = {"timeout": _SECONDS_A_CELL[quick], "startup_timeout": 180, "store_widget_state": False}
    start = monotonic()
    with TemporaryDirectory() as sockets:  # files in place of ports, which other users of the machine could reach
        files_of = {"transport": "ipc", "ip": f"{sockets}/kernel"} if os.name == "posix" else {}
        by_file = Config({"KernelManager": files_of})
        client: Any = NotebookClient(book, kernel_name="python3", resources=place, config=by_file, **options)
        client.execute()
    if keep:
        stand_still(book)
        book.metadata["t48lab"] = {"seconds": round(monotonic() - start)}
        files.write(book, path)
        keep_picture(book, path.parent / "pictures" / path.stem)
    return book


def keep_picture(book: Any, stem: Path) -> None:
    """Writes the notebook's first figure, or its first picture, to a file for the index to show."""
    shown = [output.get("data", {}) for cell in book.cells for output in cell.get("outputs", [])]
    figures = [b64decode(data["image/png"]) for data in shown if "image/png" in data and _SVG not in data]
    pictures = [data[_SVG].encode() for data in shown if _SVG in data]
    for found, ending in ((figures, ".png"), (pictures, ".svg")):
        if found:
            stem.parent.mkdir(exist_ok=True)
            stem.with_suffix(ending).write_bytes(found[0])
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

"""`t48lab notebooks`: execute the essays in notebooks/, each in a fresh kernel."""

from __future__ import annotations

import re
from pathlib import Path
from time import monotonic
from typing import Any

import click

FOLDER = Path("notebooks")
_SECONDS_A_CELL = {True: 600, False: 24 * 3600}
_SWITCH = re.compile(r"^QUICK\s*=.*$", flags=re.MULTILINE)


@click.command("notebooks")
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--full", is_flag=True, help="Run with QUICK = False and write the outputs into the notebook.")
@click.option("--folder", type=click.Path(path_type=Path), default=FOLDER, show_default=True, help="Where they are.")
def command(names: tuple[str, ...], full: bool, folder: Path) -> None:
    """Execute notebooks and say which pass.

    Those whose file names start with a NAME, or all. Quick mode changes no file.
    """
    from t48lab.errors import T48Error

    paths = select(folder, names)
    failed = [path.name for path in paths if not _report(path, full)]
    if failed:
        raise T48Error(f"{len(failed)} of {len(paths)} notebooks failed: {', '.join(failed)}; run them cell by cell")


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
        last = [line for line in str(error).splitlines() if line.strip()][-1]
        click.echo(f"failed  {path.name}  {monotonic() - start:.0f} s  {last}")
        return False
    click.echo(f"passed  {path.name}  {monotonic() - start:.0f} s")
    return True


def execute(path: Path, quick: bool, keep: bool) -> Any:
    """The executed notebook, run beside its file with QUICK set; `keep` writes it back to the file."""
    import nbformat
    from nbclient import NotebookClient

    files: Any = nbformat
    book = files.read(path, as_version=4)
    set_quick(book, quick, path)
    place = {"metadata": {"path": str(path.parent)}}
    NotebookClient(book, timeout=_SECONDS_A_CELL[quick], kernel_name="python3", resources=place).execute()
    if keep:
        files.write(book, path)
    return book


def set_quick(book: Any, quick: bool, path: Path) -> None:
    """Nothing; the line `QUICK = ...` of the cell tagged `parameters` now says this; raises T48Error without one."""
    from t48lab.errors import T48Error

    for cell in book.cells:
        if "parameters" in cell.metadata.get("tags", []) and _SWITCH.search(cell.source):
            cell.source = _SWITCH.sub(f"QUICK = {quick}", cell.source, count=1)
            return
    raise T48Error(f"{path} has no cell tagged parameters with a line QUICK = True, add one")

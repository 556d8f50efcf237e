"""JupyterLab in headless Chromium: the notebooks run to their ends there, and the boards can be played with."""

import re
import shutil

import nbformat
import pytest
from lab_browser import (
    CHROMIUM,
    DRIVER,
    LOADED,
    NOTEBOOK,
    ROOT,
    chromium,
    displayed,
    jupyterlab,
    open_notebook,
    picture,
    run_all,
    shown,
    viewer,
    wait_for,
)  # fmt: skip

pytest.importorskip("selenium")
from selenium.webdriver.common.keys import Keys

from t48lab import Board, play, replay

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.compiled,
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="needs chromium and chromedriver"),
]
SPEC = "expectimax:depth=1,evaluator=tuned"
BOARDS = f"""from t48lab import play
from t48lab.pictures import Play, Replay
Replay(play({SPEC!r}, seed=7), speed=50)"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A copy of the notebooks beside the results that they read, and a small notebook with boards."""
    top = tmp_path_factory.mktemp("lab")
    shutil.copytree(ROOT / "notebooks", top / "notebooks")
    for path in (top / "notebooks").glob("*.ipynb"):
        path.write_text(path.read_text().replace("QUICK = False", "QUICK = True"))
    shutil.copytree(ROOT / "notebooks", top / "clone")
    (top / "results").symlink_to(ROOT / "results")
    book = nbformat.v4.new_notebook()
    book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    book.cells = [nbformat.v4.new_code_cell(source) for source in (BOARDS, f"Play({SPEC!r}, seed=7)")]
    nbformat.write(book, top / "boards.ipynb")
    return top


@pytest.fixture(scope="module")
def address(folder):
    with jupyterlab(folder) as found:
        yield found


@pytest.fixture
def driver(tmp_path):
    with chromium(tmp_path) as found:
        yield found


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("reader")) as found:
        yield found


def settled(widget):
    """The board that is shown once its tiles have stopped moving, and agree with what it says it is."""

    def agreed():
        board, tiles = shown(widget)
        return board if tiles == sorted(str(t) for t in Board.parse(board).to_array().flat if t) else None

    return wait_for(agreed, 10, "a board at rest")


def test_a_game_is_stepped_through_by_keyboard(driver, address):
    open_notebook(driver, address, "boards.ipynb")
    cells = run_all(driver)
    assert [cell["errors"] for cell in cells] == [[], []]
    positions = list(replay(play(SPEC, seed=7)))
    last = len(positions) - 1
    widget = viewer(driver)
    assert settled(widget) == positions[0].board.hex
    place = 0
    presses = [(Keys.ARROW_RIGHT, 1)] * 3 + [
        (Keys.PAGE_DOWN, 100),
        (Keys.ARROW_LEFT, -1),
        (Keys.SHIFT + Keys.ARROW_RIGHT, 10),
    ]
    for keys, step in presses:
        widget.send_keys(keys)
        place += step
        assert settled(widget) == positions[place].board.hex
    wait_for(lambda: widget.get_attribute("data-advised") == str(place), 20, "the advice")
    assert positions[place].action in widget.find_element("css selector", ".t48-best").text
    picture(driver, "replay")
    for keys, place in ((Keys.END, last), (Keys.HOME, 0)):
        widget.send_keys(keys)
        assert settled(widget) == positions[place].board.hex
    widget.send_keys(" ")
    wait_for(lambda: int(widget.get_attribute("data-place")) >= 20, 20, "the film")
    widget.send_keys(" ")
    stopped = int(widget.get_attribute("data-place"))
    assert settled(widget) == positions[stopped].board.hex
    jump = widget.find_element("css selector", "input[type=number]")
    jump.send_keys(Keys.CONTROL + "a")
    jump.send_keys("33", Keys.ENTER)
    wait_for(lambda: widget.get_attribute("data-place") == "33", 10, "the jump")
    assert settled(widget) == positions[33].board.hex
    assert driver.execute_script(f"{NOTEBOOK} return panel.content.activeCellIndex") < 2


def test_a_person_plays_with_advice_and_undo(driver, address):
    open_notebook(driver, address, "boards.ipynb")
    run_all(driver)
    positions = list(replay(play(SPEC, seed=7)))
    widget = viewer(driver, 1)
    assert settled(widget) == positions[0].board.hex
    for place in range(1, 6):
        widget.send_keys(Keys.ENTER)
        wait_for(lambda place=place: widget.get_attribute("data-place") == str(place), 10, "the move")
        assert settled(widget) == positions[place].board.hex
    widget.send_keys("u")
    wait_for(lambda: widget.get_attribute("data-place") == "4", 10, "the undo")
    assert settled(widget) == positions[4].board.hex
    board = positions[4].board
    legal = board.legal_moves[-1]
    widget.send_keys({"up": Keys.ARROW_UP, "right": "d", "down": "s", "left": Keys.ARROW_LEFT}[legal])
    wait_for(lambda: widget.get_attribute("data-place") == "5", 10, "the move")
    after = board.move(legal).afterstate
    assert settled(widget) in {spawned.hex for *_, spawned in after.spawns()}
    picture(driver, "play")
    widget.send_keys("h")
    wait_for(lambda: not widget.find_elements("css selector", ".t48-best"), 10, "hidden advice")


@pytest.mark.parametrize("name", ["01_first_comparison", "07_anatomy_of_a_decision"])
def test_notebooks_run_in_the_browser(driver, address, name):
    open_notebook(driver, address, f"notebooks/{name}.ipynb")
    cells = run_all(driver)
    assert [cell["errors"] for cell in cells] == [[]] * len(cells)
    assert [cell["count"] for cell in cells] == list(range(1, len(cells) + 1))
    widget = viewer(driver)
    before = settled(widget)
    picture(driver, f"{name}_before")
    widget.send_keys(Keys.ARROW_RIGHT if widget.get_attribute("data-place") == "0" else Keys.ARROW_LEFT)
    wait_for(lambda: shown(widget)[0] != before, 10, "another board")
    assert settled(widget) != before
    picture(driver, f"{name}_after")


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb")))
def test_a_fresh_clone_shows_every_stored_output(reader, address, name):
    open_notebook(reader, address, f"clone/{name}.ipynb", LOADED)
    book = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)
    stored = [cell.outputs for cell in book.cells if cell.cell_type == "code"]
    wait_for(lambda: loaded(displayed(reader), stored), 20, "every output")
    cells = displayed(reader)
    assert not any(cell["trusted"] for cell in cells if cell["outputs"])
    for cell, outputs in zip(cells, stored, strict=True):
        for seen, output in zip(cell["outputs"], outputs, strict=True):
            data = output.get("data", {})
            assert seen["height"] > 10
            assert len(seen["pictures"]) == ("image/png" in data)
            if "text/html" in data:
                assert seen["rows"] == data["text/html"].count("<tr")
            assert seen["pictures"] or not re.fullmatch("(<.*>)?", seen["text"])


def loaded(cells, stored):
    """Whether all outputs are on the page, and their pictures there."""
    there = [len(cell["outputs"]) for cell in cells] == [len(outputs) for outputs in stored]
    return there and all(width for cell in cells for seen in cell["outputs"] for width in seen["pictures"])

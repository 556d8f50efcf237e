"""A real JupyterLab on loopback and a headless Chromium that drives it; nothing is fetched from elsewhere."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
ARTEFACTS = Path(__file__).parent / "artefacts"
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
TOKEN = "loopback"
SETTINGS = {
    "notebook-extension/tracker": {"windowingMode": "none"},
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False, "doNotDisturbMode": True},
}
FLAGS = (
    "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage --window-size=1300,1500"
).split()

NOTEBOOK = """
const app = window.jupyterapp, panel = app && [...app.shell.widgets('main')].find(widget => widget.sessionContext);
"""
CODE = NOTEBOOK + "const cells = panel.content.widgets.filter(cell => cell.model.type === 'code');"
RAN = (
    CODE
    + """
return cells.map(({model}) => model.sharedModel.toJSON()).map(cell => ({
  count: cell.execution_count, errors: cell.outputs.filter(o => o.output_type === 'error').map(o => o.evalue)}));
"""
)
RUN_ALL = (
    NOTEBOOK
    + """
const done = arguments[0];
app.shell.activateById(panel.id);
app.commands.execute('notebook:run-all-cells').then(done, error => done(String(error)));
"""
)
READY = (
    NOTEBOOK
    + """
const kernel = panel && panel.sessionContext.session && panel.sessionContext.session.kernel;
return Boolean(kernel && kernel.status === 'idle' && panel.content.widgets.length);
"""
)
LOADED = NOTEBOOK + "return Boolean(panel && panel.context.isReady && panel.content.widgets.length);"
DISPLAYED = (
    CODE
    + """
const all = (node, what) => [...node.querySelectorAll(what)];
return cells.map(cell => ({
  trusted: cell.model.trusted,
  outputs: all(cell.node, '.jp-OutputArea-output').map(node => ({
    text: node.innerText.trim(), rows: all(node, 'tr').length, height: node.offsetHeight,
    pictures: all(node, 'img').map(img => img.naturalWidth)}))}));
"""
)


def free_port():
    """A port of loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def jupyterlab(folder):
    """The address of a JupyterLab that shows a folder, with settings of its own."""
    for name, values in SETTINGS.items():
        path = folder / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))
    port = free_port()
    options = {
        "ServerApp.ip": "127.0.0.1", "ServerApp.port": port, "ServerApp.port_retries": 0, "ServerApp.root_dir": folder,
        "IdentityProvider.token": TOKEN, "LabApp.user_settings_dir": folder / "settings",
        "LabApp.workspaces_dir": folder / "workspaces", "LabApp.expose_app_in_browser": True,
        "LabApp.check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
    }  # fmt: skip
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += [f"--{name}={value}" for name, value in options.items()]
    home = {f"JUPYTER_{name.upper()}_DIR": str(folder / name) for name in ("config", "runtime", "data")}
    with (folder / "server.log").open("w") as log:
        server = subprocess.Popen(command, cwd=folder, env=os.environ | home, stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(lambda: server.poll() is None and answers(f"{address}/api/status?token={TOKEN}"), 60, "JupyterLab")
        yield address
    finally:
        server.terminate()
        server.wait(20)


def answers(url):
    """Whether the address answers."""
    try:
        with urllib.request.urlopen(url, timeout=2) as reply:
            return reply.status == 200
    except OSError:
        return False


def wait_for(condition, seconds, what):
    """The first true answer of a condition; an AssertionError when there is none in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.1)
    raise AssertionError(f"{what} did not come within {seconds} s")


@contextmanager
def chromium(folder):
    """A headless Chromium with a profile of its own, whose page has the focus as if it were in front."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in [*FLAGS, f"--user-data-dir={folder / 'profile'}"]:
        options.add_argument(flag)
    os.environ["SE_OFFLINE"] = "true"
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=DRIVER))
    driver.set_script_timeout(240)
    driver.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})
    try:
        yield driver
    finally:
        driver.quit()


def open_notebook(driver, address, path, ready=READY):
    """Nothing; the notebook is open, and its kernel idle or whatever else is asked for."""
    driver.get(f"{address}/lab/tree/{path}?token={TOKEN}&reset")
    wait_for(lambda: driver.execute_script(ready), 90, f"{path} on the page")


def run_all(driver):
    """Every code cell's execution count and errors, after all have been run."""
    assert driver.execute_async_script(RUN_ALL) is True
    return driver.execute_script(RAN)


def displayed(driver):
    """For each code cell: whether it is trusted, and each output's text, rows of tables, height, widths of pictures."""
    return driver.execute_script(DISPLAYED)


def viewer(driver, place=0):
    """The widget of that place on the page, scrolled into view with the mouse on it and the keyboard's focus."""
    from selenium.webdriver.common.by import By

    found = wait_for(lambda: driver.find_elements(By.CSS_SELECTOR, ".t48")[place:], 20, "the viewer")[0]
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'}); arguments[0].focus();", found)
    time.sleep(0.3)
    return found


def picture(driver, name):
    """The path of a new screenshot among the artefacts."""
    ARTEFACTS.mkdir(exist_ok=True)
    path = ARTEFACTS / f"{name}.png"
    driver.save_screenshot(str(path))
    return path


SHOWN = """
const board = arguments[0].querySelector('.t48-board');
return [board.dataset.board, [...board.querySelectorAll('.t48-tile')].map(tile => tile.innerText)];
"""


def shown(widget):
    """(the board's notation, the tiles that can be seen, as sorted text) of a viewer at one moment."""
    board, tiles = widget.parent.execute_script(SHOWN, widget)
    return board, sorted(tiles)

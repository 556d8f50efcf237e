"""Streams that are closed, full, of another encoding or of no text: one line, the right status, and nothing lost."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.compiled
ROOT = Path(__file__).parents[1]
TOOL = f"'{sys.executable}' -m t48lab"
FULL = "t48lab: cannot write the output: no space left on device\n"
LABEL = "a − b"


def shell(line, folder, **changes):
    """(status, stdout, stderr) of a line of bash, stdout as bytes."""
    where = os.environ | {"PYTHONPATH": str(ROOT)} | changes
    line = f"set -o pipefail; {line}"
    done = subprocess.run(["/bin/bash", "-c", line], cwd=folder, env=where, capture_output=True, check=False)
    errors = [text for text in done.stderr.decode().splitlines(True) if not text.startswith("compiling kernels")]
    return done.returncode, done.stdout, "".join(errors)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with an experiment that has been run."""
    top = tmp_path_factory.mktemp("streams")
    (top / "tiny.toml").write_text(f'games = 2\nseed = 0\n[agents]\n"{LABEL}" = "random"\ngreedy = "greedy"\n')
    assert shell(f"{TOOL} run tiny.toml --out out", top)[0] == 0
    return top


@pytest.mark.parametrize("command", ["report out", "--help", "advise 1100000000000000", "bench --help"])
def test_a_reader_that_goes_away_ends_nothing_wrongly(folder, command):
    code, out, errors = shell(f"{TOOL} {command} | head -c 1", folder)
    assert (code, len(out), errors) == (0, 1, "")


@pytest.mark.parametrize("command", ["report out", "--version", "play --agent random"])
def test_a_full_output_is_one_line(folder, command):
    assert shell(f"{TOOL} {command} >/dev/full", folder) == (2, b"", FULL)
    assert shell(f"{TOOL} {command} >/dev/full 2>&1", folder) == (2, b"", "")


def test_a_run_that_cannot_be_printed_is_stored_all_the_same(tmp_path):
    (tmp_path / "tiny.toml").write_text('games = 2\n[agents]\n"\u2212" = "random"\n')
    code, _, errors = shell(f"{TOOL} run tiny.toml --out out >/dev/full", tmp_path)
    assert (code, errors) == (2, FULL)
    assert (tmp_path / "out" / "report.md").exists()


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "koi8-r", "utf-8"])
def test_what_an_encoding_lacks_is_written_plainly(folder, encoding):
    code, out, errors = shell(f"{TOOL} report out", folder, PYTHONIOENCODING=encoding, COLUMNS="160")
    text = out.decode(encoding)
    assert (code, errors) == (0, "")
    assert (LABEL if encoding == "utf-8" else "a - b") in text
    assert "?" not in text.replace("worth anything?", "")


def test_bytes_that_are_no_text_are_asked_again(folder):
    code, out, errors = shell(rf"printf '\xff\xfe\n\x80\nq\n' | {TOOL} advise --loop --agent greedy", folder)
    assert (code, errors) == (0, "")
    assert out.decode().count("is no rank") == 2


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", "</dev/null"])
def test_closed_streams_end_a_conversation(folder, closed):
    code, out, errors = shell(f"{TOOL} advise --loop --agent greedy {closed} | cat", folder)
    assert (code, errors) == (0, "")
    assert b"move [" in out or ">&-" in closed.replace("2>&-", "")


@pytest.mark.parametrize("backend", ["nonsense", "module://nowhere", "tkagg"])
def test_figures_need_no_backend_of_the_users(folder, backend):
    code, out, errors = shell(f"{TOOL} report out", folder, MPLBACKEND=backend)
    assert (code, errors) == (0, "")
    assert b"Written to out" in out


@pytest.mark.parametrize("command", ["--help", "report out", "advise 1100000000000000"])
def test_a_working_directory_that_was_removed_is_one_line(tmp_path, command):
    code, out, errors = shell(f"mkdir gone; cd gone; rmdir ../gone; {TOOL} {command}", tmp_path)
    assert (code, out, errors) == (2, b"", "t48lab: the working directory was removed, change to another one\n")

"""This machine and this program: versions, processor, cores, commit and the time."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

import t48lab

LIBRARIES = ("numpy", "numba", "llvmlite", "pandas", "pyarrow", "scipy")


def versions() -> dict[str, str]:
    """The versions that results may depend on, by name."""
    own = {"t48lab": t48lab.__version__, "python": platform.python_version()}
    return own | {name: metadata.version(name) for name in LIBRARIES}


def cores() -> int:
    """How many processors this process may use, 1 or more: on Linux those that it is bound to, elsewhere all."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def machine() -> dict[str, str | int]:
    """Processor, how many of them this process may use, and operating system."""
    return {"processor": _processor(), "cores": cores(), "system": platform.system()}


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    found = re.search(r"^model name\s*:\s*(.+)$", text, flags=re.MULTILINE)
    return found[1].strip() if found else platform.processor() or platform.machine()


def commit() -> str | None:
    """The commit of the checkout that this code runs from, `+` behind it when its files differ; None outside of one.

    A repository around an installed package does not count: it must hold this very file.
    """
    source = Path(__file__)
    try:
        _git(source.parent, "ls-files", "--error-unmatch", source.name)
        head = _git(source.parent, "rev-parse", "HEAD").strip()
        return head + ("+" if _git(source.parent, "diff", "--name-only", "HEAD", "--", ".") else "")
    except (OSError, subprocess.SubprocessError):
        return None


def _git(folder: Path, *arguments: str) -> str:
    """What git prints there; raises CalledProcessError when it fails."""
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout


def now() -> str:
    """The time in UTC, to the second, as ISO 8601 writes it."""
    return datetime.now(UTC).isoformat(timespec="seconds")

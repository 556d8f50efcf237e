"""A PostgreSQL server of the tests' own: on loopback, in a folder of its own, stopped at the end."""

import contextlib
import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))


def missing():
    """Why there can be no server here; an empty text when there can."""
    if not PROGRAMS:
        return "Debian's package postgresql is not installed: no /usr/lib/postgresql/*/bin/initdb"
    if os.geteuid() == 0 and not any(user.pw_name == "postgres" for user in pwd.getpwall()):
        return "PostgreSQL does not run as root, and there is no user postgres"
    return ""


@contextlib.contextmanager
def server():
    """URL and password of a new, empty database; the URL holds the password."""
    folder, password = Path(tempfile.mkdtemp(prefix="t48lab-pg-")), secrets.token_hex(12)
    (folder / "password").write_text(password)
    as_postgres = []
    if os.geteuid() == 0:
        as_postgres = ["runuser", "-u", "postgres", "--"]
        for path in (folder, folder / "password"):
            shutil.chown(path, "postgres", "postgres")
    port, programs = _free_port(), PROGRAMS[-1].parent

    def call(program, *arguments):
        command = [*as_postgres, str(programs / program), "-D", str(folder / "data"), *arguments]
        subprocess.run(command, cwd="/", check=True, stdout=subprocess.DEVNULL, timeout=120)

    options = f"-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories='' -c fsync=off"
    try:
        call(
            "initdb", "-U", "lab", "-A", "scram-sha-256", f"--pwfile={folder / 'password'}", "-E", "UTF8", "--no-locale"
        )
        call("pg_ctl", "-w", "-l", str(folder / "log"), "-o", options, "start")
        try:
            yield f"postgresql://lab:{password}@127.0.0.1:{port}/postgres", password
        finally:
            call("pg_ctl", "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]

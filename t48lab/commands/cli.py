"""The command line: exit status 0 done, 2 bad input (one line on stderr), 130 interrupted."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import click

import t48lab
from t48lab.commands import (
    advise,
    bench,
    claims,
    diagnose,
    duel,
    exact,
    notebooks,
    pack,
    play,
    report,
    run,
    solve,
    train,
    tune,
    verify,
)
from t48lab.commands.streams import Unwritable, prepare
from t48lab.errors import T48Error, redacted
from t48lab.plaintext import visible

DONE, BAD_INPUT, INTERRUPTED = 0, 2, 130


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}, invoke_without_command=True
)
@click.version_option(t48lab.__version__, message="t48lab %(version)s")
@click.pass_context
def cli(context: click.Context) -> None:
    """A research lab for agents that play 2048."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


COMMANDS = (
    run,
    report,
    tune,
    train,
    pack,
    duel,
    verify,
    advise,
    play,
    diagnose,
    claims,
    bench,
    solve,
    exact,
    notebooks,
)

for module in COMMANDS:
    cli.add_command(module.command)


def status(arguments: Sequence[str]) -> int:
    """The exit status of a command line, after everything else it does."""
    try:
        result = cli.main(list(arguments), prog_name="t48lab", standalone_mode=False)
        sys.stdout.flush()
    except run.Interrupted as stop:
        return _say(stop.format_message(), INTERRUPTED)
    except click.ClickException as error:
        return _say(error.format_message(), BAD_INPUT)
    except T48Error as error:
        return _say(str(error), BAD_INPUT)
    except (KeyboardInterrupt, click.Abort):
        return _say("interrupted", INTERRUPTED)
    except Unwritable as lost:
        return DONE if lost.closed else _say(str(lost), BAD_INPUT)
    except OSError as error:
        return _say(f"{error.filename or 'the system'}: {(error.strerror or 'unknown reason').lower()}", BAD_INPUT)
    return result if isinstance(result, int) else DONE


def _say(message: str, code: int) -> int:
    click.echo(f"t48lab: {visible(redacted(' '.join(message.split())))}", err=True)
    return code


def _without_passwords(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    sys.stderr.write(redacted("".join(traceback.format_exception(kind, error, trace))))


def _warn_of_another_checkout(folder: Path) -> None:
    """Says so where the code that runs is not that of the checkout around the folder, as in a copy of another one."""
    running = Path(t48lab.__file__).resolve().parent
    here = next((top for top in (folder, *folder.parents) if (top / "t48lab/commands/cli.py").is_file()), None)
    if here and (here / "Makefile").is_file() and (here / "t48lab").resolve() != running:
        click.echo(f"t48lab: this runs the code in {running}, not that of {here}: run `make setup` there", err=True)


def main() -> None:
    """Runs the command line of this process and ends it."""
    prepare()
    sys.excepthook = _without_passwords
    os.environ["MPLBACKEND"] = "agg"  # commands write figures to files, whatever this user's notebooks do
    try:
        _warn_of_another_checkout(Path.cwd())
        code = status(sys.argv[1:])
    except FileNotFoundError:
        code = _say("the working directory was removed, change to another one", BAD_INPUT)
    except KeyboardInterrupt:
        code = INTERRUPTED
    if code == INTERRUPTED:
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))  # a second Ctrl-C waits for nothing
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)  # the interpreter's last steps keep the status
    sys.exit(code)

"""Small studies for the tests of tuning, as text and as processes."""

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]

SMALL = """
title = "A small study"
trials = 8
games = 12
seed = 3
sampler = { kind = "tpe", startup = 4 }
pruner = { kind = "wilcoxon", p = 0.2, block = 4, startup = 4 }
confirm = { top = 2, games = 10, report_games = 12 }

[agent]
agent = "expectimax:depth=1"
[agent.evaluator]
lost = -1000.0
[agent.evaluator.terms]
empty = 540.0
monotonicity = { weight = 47.0, exponent = 4.0 }
corner = { weight = 10.0, exponent = 3.0 }

[free]
"monotonicity.weight" = true
"corner.weight" = { low = 1.0, high = 100.0, log = true }
"corner.exponent" = { low = 1, high = 4 }

[baselines]
reward = "greedy:by=reward"
"""


def write(folder, text=SMALL, name="small.toml"):
    """The path of a study file with this text."""
    path = folder / name
    path.write_text(text)
    return path


def start(*arguments, **environment):
    """A process that runs `t48lab tune` with these arguments, in a group of its own."""
    code = "from signal import *; signal(SIGINT, default_int_handler); from t48lab.commands.cli import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", code, "tune", *map(str, arguments)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def ended(process, status=0, seconds=300):
    """Output and errors of a process that has ended with this status."""
    output, errors = process.communicate(timeout=seconds)
    assert process.returncode == status, errors
    assert "Traceback" not in errors
    return output, errors


def wait_for(condition, process, seconds=120):
    """Nothing, once the condition holds or the process has ended."""
    deadline = time.monotonic() + seconds
    while not condition() and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.005)

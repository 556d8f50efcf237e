"""`python -m t48lab` is the command `t48lab`."""

from t48lab.commands.cli import main

main()

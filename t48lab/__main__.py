"""`python -m t48lab` is the command `t48lab`."""

from t48lab.cli import main

main()

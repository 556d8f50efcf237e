"""One module a command; they import what they need when they run, so that `t48lab --help` is quick."""

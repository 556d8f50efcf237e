"""What holds for every test."""

import signal


def pytest_configure() -> None:
    """Ctrl-C is heeded even where the tests were started in the background, which has it ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)

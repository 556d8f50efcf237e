"""Errors that name a value and its remedy in one line."""


class T48Error(ValueError):
    """Bad input; the message is one line: what is wrong, then what would be right."""

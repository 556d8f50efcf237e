"""Errors that name a value and its remedy in one line, and never a password."""

import re

LONGEST = 800
"""Most letters of a message: hostile input should not fill a screen."""

_USER_INFO = re.compile(r"([a-z][\w+.-]*://[^:/@\s]*:)\S*@", flags=re.IGNORECASE)
_PARAMETER = re.compile(r"\b((?:password|passwd|pwd|passfile)\s*=\s*)('[^']*'|[^&;\s]+)", flags=re.IGNORECASE)


def redacted(text: str) -> str:
    """The text with *** in place of each password: of URLs, `postgresql://me:***@host`, and after `password=`."""
    return _PARAMETER.sub(r"\1***", _USER_INFO.sub(r"\1***@", text))


def one_line(text: str) -> str:
    """The text in one line, without passwords, the middle left out where it is very long."""
    line = redacted(" ".join(text.splitlines()))
    return line if len(line) <= LONGEST else f"{line[: LONGEST // 2]} ... {line[-LONGEST // 2 :]}"


class T48Error(ValueError):
    """Bad input; the message is one line: what is wrong, then what would be right. Passwords are left out of it."""

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))

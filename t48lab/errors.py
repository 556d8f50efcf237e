"""Errors that name a value and its remedy in one line, and never a password."""

import re

from t48lab.plaintext import visible

LONGEST = 800
"""Most letters of a message: hostile input should not fill a screen."""

_WORD = re.compile(r"\S+")
_USER_INFO = re.compile(r"((?::/|//)[^:@]*:).*")
_PARAMETER = re.compile(r"\b(\w*(?:password|passwd|pwd|passfile)\s*=\s*)('[^']*'|[^&;\s]+)", flags=re.IGNORECASE)


def redacted(text: str) -> str:
    """The text with *** in place of each password: of URLs, `postgresql://me:***@host`, and after `password=`."""
    return _PARAMETER.sub(r"\1***", _WORD.sub(_without_user_info, text))


def _without_user_info(word: re.Match[str]) -> str:
    """The word with *** in place of what stands between a URL's user and its last `@`."""
    before, at, host = word[0].rpartition("@")
    return _USER_INFO.sub(r"\1***", before) + at + host


def one_line(text: str) -> str:
    """The text in one line, without passwords, the middle left out where it is very long."""
    line = redacted(visible(" ".join(text.splitlines())))
    return line if len(line) <= LONGEST else f"{line[: LONGEST // 2]} ... {line[-LONGEST // 2 :]}"


class T48Error(ValueError):
    """Bad input; the message is one line: what is wrong, then what would be right. Passwords are left out of it."""

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))

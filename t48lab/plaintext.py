"""Text from people, made text for whoever shows it: a label, a title or a spec is never a command, a formula or a tag.

Every medium has its own letters that mean something; here is the one place that knows them. What no medium can show
(control characters, lone surrogates, marks that turn the direction of writing) appears as Python would write it.
"""

from __future__ import annotations

import html
import re
import unicodedata

_TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_NEVER = ("Cc", "Cs", "Zl", "Zp", "Cn")
_TEX = {"&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_", "$": r"\$", "{": r"\{", "}": r"\}",
        "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}",
        "µ": r"\textmu{}", "–": "--", "−": "$-$", "·": r"$\cdot$"}  # fmt: skip
_MARKDOWN = re.compile(
    r"""[\\`*\[\]$~]             # code, emphasis, links, formulas, strikes
    | (?<![^\W_])_|_(?![^\W_])   # an underscore that is not inside a word
    | <(?=[A-Za-z/!?])           # a tag
    | &(?=\#?\w+;)               # an entity
    | \|                         # a cell's end
    | ^[#>=] | ^[-+](?=\s) | (?<=^\d)[.)](?=\s)   # what a line begins with
    """,
    flags=re.VERBOSE,
)
_FORMULA = ("=", "+", "-", "@")


def visible(text: str) -> str:
    """The text in one line, every letter that cannot be shown as its escape: for terminals."""
    return "".join(_escaped(letter) if _hidden(letter) else letter for letter in text)


def _hidden(letter: str) -> bool:
    return not " " <= letter <= "~" and (letter in _TURNING or unicodedata.category(letter) in _NEVER)


def _escaped(letter: str) -> str:
    return letter.encode("unicode_escape").decode()


def for_markdown(text: str) -> str:
    """The text as Markdown shows it, in a paragraph or a cell."""
    return _MARKDOWN.sub(lambda found: f"\\{found[0]}", visible(text))


def for_markdown_code(text: str) -> str:
    """The text as a piece of code in Markdown: between more backticks than it has in a row."""
    line = visible(text)
    fence = "`" * (1 + max(map(len, re.findall("`+", line)), default=0))
    space = " " if line[:1] == "`" or line[-1:] == "`" else ""
    return f"{fence}{space}{line}{space}{fence}"


def for_latex(text: str) -> str:
    """The text as LaTeX sets it."""
    return "".join(_TEX.get(letter, letter) for letter in visible(text))


def for_figure(text: str) -> str:
    """The text as matplotlib draws it, without formulas; a legend hides names that begin with an underscore."""
    line = visible(text).replace("$", r"\$")
    return f"\N{ZERO WIDTH SPACE}{line}" if line.startswith("_") else line


def for_html(text: str) -> str:
    """The text as HTML and SVG show it, in an element or a quoted attribute."""
    return html.escape(visible(text), quote=True)


def for_csv(text: str) -> str:
    """The text as a cell in one line that no spreadsheet takes for a formula."""
    line = visible(text)
    return f"'{line}" if line.startswith(_FORMULA) else line

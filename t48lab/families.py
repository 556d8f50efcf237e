"""Families of agents: the first word of a label, and the colour that it keeps over all figures.

Kinds of agents enter their colours when they are defined, so figures need to know no agent.
"""

from __future__ import annotations

import importlib

OTHER = "#000000"
"""The colour of labels that start with no agent's name."""

COLORS: dict[str, str] = {}
"""Colours by family."""

KINDS: list[str] = []
"""Modules that define families, imported before a colour is looked up."""


def family_color(label: str) -> str:
    """The colour of an agent's family, which is the first word of its label."""
    for module in KINDS:
        importlib.import_module(module)
    words = label.replace(":", " ").lower().split()
    return COLORS.get(words[0], OTHER) if words else OTHER

"""t48lab: a research lab for agents that play 2048.

Every public name is loaded when it is first used, so importing the package compiles nothing.
"""

import lazy_loader

from t48lab import families

__version__ = "0.1.0"

families.KINDS.append("t48lab.agents.kinds")

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""t48lab: a research lab for agents that play 2048.

Every public name is loaded when it is first used, so importing the package compiles nothing.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

from .stills import Picture as Picture
from .stills import boards as boards
from .stills import decision as decision
from .treeart import tree_svg as tree_svg
from .viewer import Play as Play
from .viewer import Replay as Replay

from .objectives import Objective as Objective
from .objectives import read_objective as read_objective
from .solution import Solution as Solution
from .solution import solve as solve

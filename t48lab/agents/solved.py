"""Perfect players of small boards: best play, and the worst spawns, from tables that are made when first needed."""

from __future__ import annotations

import functools
import threading
from dataclasses import replace
from typing import ClassVar, Literal

from t48lab.agents.agent import BY_NUMBER, TIES, Agent, Order
from t48lab.agents.programs import Program, assemble
from t48lab.agents.searches import SearchResult
from t48lab.agents.spawners import SPAWNERS, Spawner
from t48lab.board import Board
from t48lab.exact import Solution, solve
from t48lab.kernels.layout import GOAL, SETTINGS
from t48lab.records import parameter
from t48lab.rules import Rules

_GOALS = {"score": GOAL.SCORE, "adversary": GOAL.ADVERSARY, "tile": GOAL.TILE}
_making = threading.Lock()


class Solved(Agent):
    """Plays best on boards of at most nine cells; its values are exact."""

    name: ClassVar[str] = "solved"
    color: ClassVar[str] = "#B59410"
    kernel: ClassVar[str] = "solved"
    main: ClassVar[tuple[str, ...]] = ("objective",)
    objective: str = parameter(
        "score",
        "what it plays for: score, the mean; adversary, what the worst spawns cannot prevent; tile:N, the chance of N",
    )
    order: Order = parameter(BY_NUMBER, TIES)

    def compile(self, rules: Rules = Rules()) -> Program:
        """The arrays of the compiled search; makes the tables where there are none yet."""
        return _program(self.kernel, rules, self.objective, self.order)

    def _found(self, board: Board | str, rules: Rules | None, values: Literal["all", "best"]) -> SearchResult:
        board = Board.parse(board)
        solution(board.rules(rules), self.objective).value(board)
        return super()._found(board, rules, values)


class PerfectAdversary(Spawner):
    """The spawn that leaves best play the fewest points that it can be sure of; on boards of at most nine cells."""

    name: ClassVar[str] = "perfect_adversary"
    kernel: ClassVar[str] = "worst"

    def compile(self, rules: Rules = Rules()) -> Program:
        """The arrays of the compiled search; makes the tables where there are none yet."""
        return _program(self.kernel, rules, "adversary")


SPAWNERS[PerfectAdversary.name] = PerfectAdversary


def solution(rules: Rules, objective: str) -> Solution:
    """The tables of best play, made once for all threads; raises T48Error as `solve` does."""
    with _making:
        return _solution(rules, objective)


@functools.lru_cache(maxsize=4)
def _solution(rules: Rules, objective: str) -> Solution:
    return solve(rules, objective, progress=True)


def _program(
    kernel: str,
    rules: Rules,
    objective: str,
    order: Order = BY_NUMBER,
) -> Program:
    known = solution(rules, objective)
    goal = _GOALS[objective.partition(":")[0]]
    program = assemble(kernel, rules, {SETTINGS.GOAL: goal}, order=order)
    book = known.numbers.words("<u8")
    book.flags.writeable = False
    return replace(program, lines=known.keys.words("<i4"), book=book)

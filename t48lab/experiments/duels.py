"""Duels: two agents on the same deals until the answer is clear, or until the deals run out.

The verdict is about wins: who scores more on the same seed and game. Outcomes count in the order of the games, and
those after the one that decides are left out, so workers and machines cannot change a verdict.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from t48lab.agents import Agent, make_agent
from t48lab.analysis import ALPHA, POWER, SequentialTest, Verdict, mean_interval, pairs, summary, whole, with_interval
from t48lab.errors import T48Error
from t48lab.experiments.experiment import Entry, Experiment, ask, facts, make_experiment
from t48lab.experiments.manifest import finish_run, start_run
from t48lab.experiments.store import Store
from t48lab.games import iter_batch, play_batch
from t48lab.machine import cores
from t48lab.progress import Progress
from t48lab.records import Count, checked

if TYPE_CHECKING:
    import pandas as pd

DEALS = 1000
"""Most deals of a duel, unless told otherwise."""
SEED = 2048

_TRIAL_GAMES, _TRIAL_SEED = 4, 2**40
_SHORTEST = 1e-4
_UNEVEN = 0.1


@dataclass(frozen=True)
class Duel:
    """A finished duel: its verdict, and the games that count for it, those of the first agent above the second's."""

    first: str
    second: str
    verdict: Verdict
    test: SequentialTest
    games: pd.DataFrame
    wins: int
    losses: int
    ties: int

    @property
    def deals(self) -> int:
        """The deals that count."""
        return self.wins + self.losses + self.ties

    @property
    def share(self) -> float:
        """The first agent's share of the deals, a tie counting half."""
        return (self.wins + self.ties / 2) / self.deals

    def interval(self) -> tuple[float, float]:
        """The 95% interval of `share`, exact although the duel may have stopped early."""
        return self.test.interval(self.wins + self.ties / 2, self.deals)

    @property
    def sentence(self) -> str:
        """The verdict in one line."""
        low, high = self.interval()
        ends = {"first": (self.share, low, high), "second": (1 - self.share, 1 - high, 1 - low)}
        share, low, high = ends.get(self.verdict, ends["first"])
        shown = f"{share:.1%} of {self.deals:,} deals (95% interval {low:.1%} to {high:.1%})"
        if self.verdict in ("first", "second"):
            names = (self.first, self.second) if self.verdict == "first" else (self.second, self.first)
            return f"{names[0]} beats {names[1]}: it wins {shown}."
        if self.verdict == "equal":
            reason = f"neither is likely to win {0.5 + self.test.effect:.1%} or more"
        else:
            reason = f"that is too close to call with {self.deals:,} deals"
        return f"No winner: {self.first} wins {shown} against {self.second}; {reason}."

    def difference(self) -> tuple[float, float, float]:
        """The mean of the first agent's score minus the second's on the same deals, with its 95% interval."""
        scores = self.games["score"].to_numpy(float)
        apart = scores[: self.deals] - scores[self.deals :]
        return (float(apart.mean()), *mean_interval(apart))

    @property
    def points(self) -> str:
        """The paired difference in one line, and how it can be clear where there is no winner."""
        mean, low, high = self.difference()
        shown = with_interval(mean, low, high, whole)
        line = f"Score of {self.first} minus that of {self.second}, same deals: {shown}, 95% interval."
        if self.verdict in ("first", "second") or low <= 0 <= high:
            return line
        more = self.first if low > 0 else self.second
        return (
            f"{line} {more} scores more in the mean; a winner has to win more deals, by however little, "
            f"and of those {self.first} has won {self.wins:,}, lost {self.losses:,} and tied {self.ties:,}."
        )

    @property
    def rates(self) -> str:
        """What the verdict may be trusted with, in one line."""
        return (
            f"Of duels between equal agents {ALPHA:.0%} at most have a winner; an agent that wins "
            f"{0.5 + self.test.effect:.1%} of deals is found in {POWER:.0%} or more. "
            f"Most deals: {self.test.deals:,}."
        )

    def uneven(self) -> str | None:
        """A line that says so when one agent took over 10% more processor time a move; None otherwise."""
        table = summary(self.games)
        fast, slow = sorted(table["ms_per_move"])
        if slow <= (1 + _UNEVEN) * fast:
            return None
        first, second = table["ms_per_move"]
        return f"Times differ: {first:.3g} and {second:.3g} ms of processor time a move."


def duel(
    first: Agent | str,
    second: Agent | str,
    games: int = DEALS,
    seed: int = SEED,
    workers: int | None = None,
    out: str | Path | None = None,
    progress: bool = False,
) -> Duel:
    """The duel of two agents over games 0, 1, ... of a seed, `games` deals at most.

    With `out` every finished game is stored in that folder as `run` stores it, and a second call goes on from
    there. Raises T48Error when both agents are the same.
    """
    test = SequentialTest(games)
    workers = cores() if workers is None else checked(Count, workers, "workers")
    experiment = _experiment(make_agent(first), make_agent(second), games, seed)
    store = Store(out) if out is not None else None
    with _stored(experiment, store), Progress(games, "deals at most", progress) as bar:
        match, played = _Match(experiment, store, workers), 0
        while True:
            before, played = played, min(games, _next_look(test, played, workers))
            found = _decided(test, experiment, match.games(played))
            if found:
                match.finish()
                return found
            bar.advance(played - before)
            bar.refresh()


def _next_look(test: SequentialTest, played: int, workers: int) -> int:
    """The deals to look at next: as many as a winner needs, then a quarter more each time."""
    return max(test.earliest, played + max(workers, played // 4))


class _Match:
    """The games of two agents on the same deals, played as they are asked for and stored if there is a store."""

    def __init__(self, experiment: Experiment, store: Store | None, workers: int) -> None:
        self.experiment, self.store, self.workers = experiment, store, workers
        self.played = None if store is None else store.frame()
        self.manifest: dict[str, Any] | None = None

    def games(self, deals: int) -> pd.DataFrame:
        """Games 0 to deals - 1 of both agents."""
        import pandas as pd

        parts = [] if self.played is None else [self.played]
        for entry in self.experiment.entries:
            seed = self.experiment.seed
            has = set() if self.played is None else set(_of(self.played, entry, seed)["game"])
            for part in iter_batch(entry.agent, deals, seed, self.workers, skip=has, label=entry.label):
                parts.append(part)
                if self.store:
                    self._begin(self.store)
                    self.store.add(part)
        self.played = pd.concat(parts, ignore_index=True)
        return self.played[self.played["game"] < deals]

    def _begin(self, store: Store) -> dict[str, Any]:
        """The manifest, which says from now on that a run has begun; one that plays nothing leaves no trace."""
        if self.manifest is None:
            self.manifest = start_run(facts(self.experiment), store.manifest())
            store.write_manifest(self.manifest)
        return self.manifest

    def finish(self) -> None:
        """Writes the tables, and into the manifest that the run has ended."""
        if self.store is None or (self.manifest is None and self.store.manifest().get("finished")):
            return
        self._begin(self.store)
        self.store.compact()
        ask(self.experiment, self.store)
        frame = self.store.asked()
        self.store.write_table("summary", summary(frame))
        self.store.write_table("pairs", pairs(frame, self.experiment.baseline))
        self.store.write_manifest(finish_run(self.store.manifest()))


def _of(games: pd.DataFrame, entry: Entry, seed: int) -> pd.DataFrame:
    return games[(games["agent_key"] == entry.agent.key()) & (games["seed"] == seed)]


def _decided(test: SequentialTest, experiment: Experiment, games: pd.DataFrame) -> Duel | None:
    """The duel as it stands after the first deal that decides it; None when none does."""
    import pandas as pd

    first, second = (_of(games, entry, experiment.seed).sort_values("game") for entry in experiment.entries)
    difference = first["score"].to_numpy() - second["score"].to_numpy()
    wins, losses = np.cumsum(difference > 0).tolist(), np.cumsum(difference < 0).tolist()
    for n, (won, lost) in enumerate(zip(wins, losses, strict=True), start=1):
        verdict = test.decide(won, lost, n - won - lost)
        if verdict:
            counted = pd.concat([first[:n], second[:n]], ignore_index=True)
            one, other = (entry.label for entry in experiment.entries)
            return Duel(one, other, verdict, test, counted, won, lost, n - won - lost)
    return None


def with_seconds(agent: Agent | str, seconds: float) -> Agent:
    """The agent with this processor time for each move in place of its depth, nodes or simulations; raises T48Error."""
    agent = make_agent(agent)
    if "seconds" not in type(agent).model_fields:
        raise T48Error(f"{agent.name} takes no time limit, so it cannot be given equal time; leave --equal-time out")
    kept = {name: getattr(agent, name) for name in type(agent).model_fields if name not in agent.budgets}
    return type(agent)(**kept | {"seconds": seconds})


def equal_time(
    first: Agent | str, second: Agent | str, seed: int = SEED, ms: float | None = None
) -> tuple[Agent, Agent]:
    """Both agents with `ms` milliseconds of processor time for each move, or with what the first takes as it is.

    That is its `seconds`, or else its mean over a few games of a seed that no duel uses, to two digits and 0.1 ms
    at least.
    """
    first, second = make_agent(first), make_agent(second)
    seconds = ms / 1000 if ms is not None else getattr(first, "seconds", None) or _seconds_per_move(first, seed)
    return with_seconds(first, seconds), with_seconds(second, seconds)


def _seconds_per_move(agent: Agent, seed: int) -> float:
    with_seconds(agent, 1.0)
    trial = play_batch(agent, games=_TRIAL_GAMES, seed=(seed + _TRIAL_SEED) % 2**63, workers=1)
    return max(_SHORTEST, float(f"{trial['seconds'].sum() / trial['moves'].sum():.2g}"))


def _experiment(first: Agent, second: Agent, games: int, seed: int) -> Experiment:
    agents = {agent.label: agent.spec for agent in (first, second)}
    if len(agents) < 2:
        raise T48Error(f"both agents are {first.label}, every deal would be a tie; give two different agents")
    head = {"title": f"{first.label} against {second.label}", "games": games, "seed": seed}
    return make_experiment(head | {"agents": agents, "baseline": second.label}, "duel")


@contextmanager
def _stored(experiment: Experiment, store: Store | None) -> Iterator[None]:
    """A context that holds the lock of the store, if there is one, for this experiment's games."""
    if store is None:
        yield
        return
    store.check(experiment.name, experiment.keys, experiment.parameters)
    with store.lock():
        store.check(experiment.name, experiment.keys, experiment.parameters)
        yield

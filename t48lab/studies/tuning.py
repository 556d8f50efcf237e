"""Running a study: any number of workers on any number of machines, until exactly so many trials are finished.

A worker takes a trial, plays its games, tells what they gave, and takes the next one. What is stored never says
more than what was finished: a worker that dies leaves a running trial behind, which another one, or the next
run, marks as failed and starts again with the same parameters.
"""

from __future__ import annotations

import math
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import optuna
from optuna.exceptions import UpdateFinishedTrialError
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, Trial, TrialState

from t48lab.errors import T48Error
from t48lab.games import Interrupts
from t48lab.machine import cores
from t48lab.progress import Progress
from t48lab.records import Count, checked
from t48lab.specs import differences
from t48lab.studies.liveness import Heart, Watch
from t48lab.studies.samplers import make_pruner, make_sampler
from t48lab.studies.spaces import placed
from t48lab.studies.storage import Storage
from t48lab.studies.study import Plan
from t48lab.studies.trials import Played, Stopped, Values, play_trial

if TYPE_CHECKING:
    from optuna import Study

RECORD, FIGURES, RETRIES, BEFORE = "t48lab", "games", "retries", "before"
"""Attributes: a study's record; of a trial what its games gave, how often it was started again, and how many
trials were finished when it was."""

_PICKLE = ":optimizer"
"""Part of the names under which Optuna's CMA-ES keeps pickles: `cma:optimizer:0`, `cmawm:optimizer:1`, ..."""
_MOST_RETRIES = 3
_LIVE = (TrialState.RUNNING, TrialState.COMPLETE)
_LOOK_SECONDS = 0.5


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a study; every finished trial is stored."""


def open_study(plan: Plan, storage: Storage) -> Study:
    """The study of this name in the storage, made if it is new; raises T48Error when it is another one's.

    Another one's is a study that was started from a different record, and one that t48lab did not start.
    """
    directions = [StudyDirection.MAXIMIZE, StudyDirection.MINIMIZE][: len(plan.objectives)]
    with storage.opening():
        study = storage.guarded(
            lambda: optuna.create_study(
                study_name=plan.name,
                storage=storage.optuna,
                directions=directions,
                load_if_exists=True,
                **_options(plan),
            )
        )
        if RECORD not in study.user_attrs and not study.get_trials(deepcopy=False):
            study.set_user_attr(RECORD, plan.record)
    check_study(plan, study)
    return study


def find_study(plan: Plan, storage: Storage) -> Study | None:
    """The study of this name in the storage, None where there is none; nothing is made. Raises like `open_study`."""
    options = _options(plan)
    try:
        study = storage.guarded(lambda: optuna.load_study(study_name=plan.name, storage=storage.optuna, **options))
    except KeyError:
        return None
    if RECORD not in study.user_attrs and not study.get_trials(deepcopy=False):
        return None
    check_study(plan, study)
    return study


def _options(plan: Plan) -> dict[str, Any]:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return {"sampler": make_sampler(plan), "pruner": make_pruner(plan.pruner)}


def check_study(plan: Plan, study: Study) -> None:
    """Raises T48Error when the study holds a pickle, or was started from another record: it says what differs."""
    refuse_pickles(study)
    stored = study.user_attrs.get(RECORD)
    remedy = "give the changed study another name, or change it back"
    if stored is None:
        raise T48Error(f"study {plan.name!r} in this storage was not started by t48lab tune, give yours another name")
    if differing := differences(stored, plan.record):
        raise T48Error(f"study {plan.name!r} was started from another file: {differing}; {remedy}")


def refuse_pickles(study: Study) -> None:
    """Raises T48Error that names a stored sampler's state: it is a pickle, and loading one runs what it says."""
    places = [("the study", study._storage.get_study_system_attrs(study._study_id))]
    places += [(f"trial {trial.number}", trial.system_attrs) for trial in study.get_trials(deepcopy=False)]
    for place, attributes in places:
        for name in attributes:
            if _PICKLE in name:
                raise T48Error(
                    f"study {study.study_name!r} holds a pickle, {name} of {place}, which is code and is never loaded: "
                    "give the study another name, or take it out of the storage"
                )


def run_trials(plan: Plan, study: Study, storage: Storage, workers: int | None = None, progress: bool = False) -> bool:
    """Whether this worker finished the study's last trial, once the study has its trials or the time is over.

    Games of a trial are played on `workers` threads. Raises Interrupted after Ctrl-C.
    """
    count = cores() if workers is None else checked(Count, workers, "workers")
    cancel = np.zeros(1, np.int64)
    with (
        ThreadPoolExecutor(count, "t48lab") as pool,
        Interrupts(cancel) as interrupts,
        Heart(storage.optuna) as heart,
        Progress(plan.trials - len(finished(study)), plan.name, progress, "trials") as bar,
    ):
        worker = _Worker(plan, study, storage, pool, count, interrupts, heart, bar)
        return worker.run()


def finished(study: Study) -> list[FrozenTrial]:
    """The study's finished trials by number, those that were pruned included."""
    return study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))


class _Worker:
    def __init__(
        self,
        plan: Plan,
        study: Study,
        storage: Storage,
        pool: ThreadPoolExecutor,
        workers: int,
        interrupts: Interrupts,
        heart: Heart,
        bar: Progress,
    ) -> None:
        self.plan, self.study, self.storage, self.pool, self.workers = plan, study, storage, pool, workers
        self.interrupts, self.heart, self.bar = interrupts, heart, bar
        self.watch, self.own = Watch(study.sampler.worker), set[int]()  # type: ignore[union-attr]
        self.end = time.monotonic() + 60 * plan.minutes if plan.minutes else math.inf
        self.known = len(finished(study))

    def run(self) -> bool:
        """Whether this worker finished the last trial; a fault of the storage costs the trial at hand at most."""
        while True:
            end = self.storage.guarded(self.step)
            if end is not None:
                return end

    def step(self) -> bool | None:
        """None as long as there is something to do, then whether this worker finished the last trial."""
        check_study(self.plan, self.study)
        trials = self.take_over(self.study.get_trials(deepcopy=False))
        self.show(trials)
        live = [trial for trial in trials if trial.state in _LIVE]
        if len(live) < self.plan.trials and time.monotonic() < self.end:
            self.one_trial()
        elif any(trial.state == TrialState.RUNNING for trial in live):
            self.rest()
        else:
            return self.was_last(trials)
        return None

    def was_last(self, trials: list[FrozenTrial]) -> bool:
        """Whether the trial that was finished last is this worker's, or no trial is.

        Each trial notes how many were finished before it: clocks and their zones need not agree.
        """
        complete = [trial for trial in trials if trial.state == TrialState.COMPLETE]
        if not complete:
            return False
        last = max(complete, key=lambda trial: (trial.user_attrs.get(BEFORE, 0), trial.number))
        return last.number in self.own or not self.own

    def rest(self) -> None:
        """Waits a moment in which others go on; raises Interrupted."""
        time.sleep(_LOOK_SECONDS)
        if self.interrupts.seen:
            raise Interrupted

    def take_over(self, trials: list[FrozenTrial]) -> list[FrozenTrial]:
        """The trials that count, after those that nobody runs any more are failed and put in line again."""
        left = [trial for trial in trials if trial.state == TrialState.RUNNING and self.watch.is_left(trial)]
        for trial in left:
            self.give_up(trial)
        return [trial for trial in trials if trial not in left]

    def give_up(self, trial: FrozenTrial) -> None:
        """Fails the trial and puts its parameters in line for another one, by one worker only."""
        try:
            self.study.tell(trial.number, state=TrialState.FAIL)
        except (ValueError, UpdateFinishedTrialError):
            return
        retries = trial.user_attrs.get(RETRIES, 0) + 1
        if len(trial.params) == len(self.plan.space) and retries <= _MOST_RETRIES:
            self.study.enqueue_trial(trial.params, user_attrs={RETRIES: retries})

    def one_trial(self) -> None:
        """Finishes one more trial, unless others were quicker; raises Interrupted."""
        if self.interrupts.seen:
            raise Interrupted
        space = {free.name: free.distribution() for free in self.plan.space}
        trial = self.study.ask(space)
        self.heart.trial_id = trial._trial_id
        try:
            if self.is_one_too_many(trial):
                self.study.tell(trial, state=TrialState.FAIL)
                return
            self.keep_start(trial)
            self.finish(trial, self.play(trial))
        except BaseException as error:
            self.give_up(self.frozen(trial))
            if isinstance(error, Stopped):
                raise Interrupted from None
            raise
        finally:
            self.heart.trial_id = None

    def is_one_too_many(self, trial: Trial) -> bool:
        """Whether workers that asked at once took more trials than are left, and this one must go."""
        live = sorted(t.number for t in self.study.get_trials(deepcopy=False, states=_LIVE))
        return trial.number in live[self.plan.trials :]

    def keep_start(self, trial: Trial) -> None:
        """Puts the baseline in line that should have been this trial, but for a retry."""
        starts = self.plan.starts
        if trial.number < len(starts) and trial.params != starts[trial.number]:
            self.study.enqueue_trial(starts[trial.number])

    def play(self, trial: Trial) -> Played:
        """The trial's games."""
        self.interrupts.cancel = np.zeros(1, np.int64)
        if self.interrupts.seen:
            raise Stopped
        agent = placed(self.plan.agent, trial.params)

        def look(games: list[int], values: Values) -> bool:
            self.bar.refresh()
            return self.report(trial, games, values)

        cancel = self.interrupts.cancel
        return play_trial(agent, self.plan, trial.number, self.pool, self.workers, cancel, look)

    def report(self, trial: Trial, games: list[int], values: Values) -> bool:
        """Whether the trial should end, after each game's value is reported under the game's number."""
        if self.plan.pruner.kind == "none":
            return False
        with self.storage.together():
            for game, value in zip(games, values.tolist(), strict=True):
                trial.report(value, game)
        return trial.should_prune()

    def finish(self, trial: Trial, played: Played) -> None:
        """Completes the trial, unless others took it for lost.

        A pruned trial is complete too, with the mean of the games that it played: so the sampler learns from it
        (the pruner's documentation asks for that), and the best trial always has all games, since no trial is
        pruned while its mean is above the best one's.
        """
        figures = played.figures(self.plan)
        trial.set_user_attr(FIGURES, figures)
        trial.set_user_attr(BEFORE, len(finished(self.study)))
        costs = [figures[name] for name in self.plan.objectives[1:]]
        try:
            self.study.tell(trial, [figures["mean"], *costs])
        except (ValueError, UpdateFinishedTrialError):
            return
        self.own.add(trial.number)

    def frozen(self, trial: Trial) -> FrozenTrial:
        return self.storage.optuna.get_trial(trial._trial_id)

    def show(self, trials: list[FrozenTrial]) -> None:
        """Shows on the bar how many trials are finished and what the best one gave."""
        complete = [trial for trial in trials if trial.state == TrialState.COMPLETE]
        self.bar.advance(len(complete) - self.known)
        self.known = len(complete)
        full = [trial for trial in complete if not trial.user_attrs.get(FIGURES, {}).get("pruned")]
        if full:
            best = max(full, key=lambda trial: trial.values[0])
            self.bar.label = f"{self.plan.name}, best {best.values[0]:,.6g} (trial {best.number})"
        self.bar.refresh()

"""The search of `tune`: Optuna asks for candidates, races decide how often each is repeated."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from floodway import _floodway
from floodway._errors import ResultsError, ScenarioError
from floodway._paired import (
    SCORE,
    Candidate,
    Constraint,
    Rows,
    Told,
    amount,
    blend,
    change_of,
    changed,
)
from floodway._space import Point, Space

SAMPLERS = ("tpe", "sobol", "random")

BATCH = 4
"""Candidates that are asked for before the first of them is told. It does not depend on threads, so
that answers do not either."""

ERROR = 0.05
"""The probability of a false verdict of a race, over all its looks and both directions."""


class Measures(Protocol):
    """What makes runs: of floodway, or of a test."""

    def add(self, candidates: Sequence[Candidate], seed: int, first: int, end: int) -> None:
        """Make these replications of all candidates."""


@dataclass(frozen=True)
class Goal:
    """What is to become small or large."""

    metric: str
    less: bool
    unit: str = ""

    def worth(self, base: Rows, rows: Rows) -> float:
        """Give the logarithm of the ratio to the baseline, negative where it is better.

        Of a score it is the difference in points. Candidates with fewer replications are compared
        with the same replications of the baseline.
        """
        found = amount(self.change(base, rows))
        if found is None:
            return 0.0
        size = found if self.unit == SCORE else math.log(max(1 + found / 100, 1e-12))
        return size if self.less else -size

    def change(self, base: Rows, rows: Rows) -> dict[str, Any] | None:
        """Give the paired change in the search, without the conditions of a report."""
        return change_of(blend(base, rows, self.metric, self.unit), unit=self.unit)

    def words(self, worth: float) -> str:
        """Write what `worth` gives: how much better or worse it is."""
        size = (
            f"{abs(worth):.2f} points"
            if self.unit == SCORE
            else (f"{abs(math.expm1(worth) * 100):.1f} %")
        )
        return f"{size} {'better' if worth < 0 else 'worse'}"


def stages(replications: int) -> list[int]:
    """Give the numbers of replications at which a race looks: 3, 6, 12, …, and the last.

    >>> stages(8), stages(3), stages(2)
    ([3, 6, 8], [3], [2])
    """
    looks, at = [], 3
    while at < replications:
        looks.append(at)
        at *= 2
    return [*looks, replications]


def loses(goal: Goal, best: Rows, rows: Rows, looks: int) -> bool:
    """Whether a candidate is worse than the best so far, by the paired test of floodway.

    The probability of the test has to be at most 0.05 over the number of looks (Bonferroni). The
    test has two sides, and one of them loses: an equal candidate loses one race with a probability
    of at most 2.5 %.
    """
    change = goal.change(best, rows)
    if change is None or change["p"] is None or change["p"] > ERROR / looks:
        return False
    worse = change["to"] > change["from"]
    if change["percent"] is not None:
        worse = change["percent"] > 0
    return bool(worse == goal.less)


class Search:
    """The candidates of a search, with all that decides which come next."""

    def __init__(
        self,
        space: Space,
        measure: Measures,
        goal: Goal,
        constraints: Sequence[Constraint],
        base: Candidate,
        variant: str,
        seed: int,
        replications: int,
    ) -> None:
        self.space, self.measure, self.goal = space, measure, goal
        self.constraints, self.base, self.variant = constraints, base, variant
        self.seed, self.replications = seed, replications
        self.candidates: dict[Point, Candidate] = {}
        self.best: Candidate | None = None

    def candidate(self, point: Point) -> Candidate:
        """Give a candidate, which may be one that cannot run."""
        values = self.space.values(point)
        try:
            scenario = changed(self.space.scenario, self.variant, self.space.overlay(point))
        except ScenarioError as error:
            why = error.problems[0].message if error.problems else str(error)
            return Candidate(values, None, status="invalid", reason=why)
        return Candidate(values, scenario)

    def race(self, points: Sequence[Point], to_the_end: bool = False) -> None:
        """Measure candidates together, each until it has lost or has all replications.

        All race against the best candidate from before, so that their order does not matter.
        """
        new = [point for point in dict.fromkeys(points) if point not in self.candidates]
        for point in new:
            self.candidates[point] = self.candidate(point)
        racing = [self.candidates[point] for point in new]
        racing = [candidate for candidate in racing if candidate.status == "complete"]
        best, first = self.best, 0
        looks = stages(self.replications)
        for end in looks:
            if not racing:
                return
            self.measure.add(racing, self.seed, first, end)
            first = end
            for candidate in racing:
                self._look(candidate, best, end, len(looks), to_the_end)
            racing = [candidate for candidate in racing if candidate.status == "complete"]
        for candidate in racing:
            if self.best is None or self._worth(candidate) < self._worth(self.best):
                self.best = candidate

    def _look(
        self, candidate: Candidate, best: Candidate | None, end: int, looks: int, to_the_end: bool
    ) -> None:
        rows, last = candidate.rows, end == self.replications
        lacking = [row for row in rows.values() if self.goal.metric not in row["numbers"]]
        if lacking or any(self.goal.metric in row["bounds"] for row in rows.values()):
            candidate.status = "broken"
            candidate.reason = f"{self.goal.metric} is not known: flows did not complete in time"
            return
        if any(row["violations"] for row in rows.values()):
            candidate.status, candidate.reason = "broken", "a run broke an invariant"
            return
        for constraint in self.constraints:
            excess = constraint.excess(rows, self.base.rows)
            lost = not last and constraint.is_lost(rows, self.replications)
            if lost or (last and (excess is None or excess > 0)):
                candidate.status, candidate.reason = "broken", f"breaks `{constraint.text}`"
                return
        if best and not last and not to_the_end and loses(self.goal, best.rows, rows, looks):
            candidate.status = "raced"
            candidate.reason = f"worse than the best so far after {end} replications"

    def _worth(self, candidate: Candidate) -> float:
        return self.goal.worth(self.base.rows, candidate.rows)

    def run(self, trials: int, sampler: str, storage: Path, key: str, told: Told | None) -> None:
        """Ask for candidates until there are so many trials; those in the storage count.

        A search that is repeated goes through the trials of the storage again, whose runs are in
        the cache, and comes to the same state.
        """
        optuna, settings = imported(), self.space.settings
        with _quiet(optuna):
            study = _study(optuna, storage, key)
            for begin in range(0, trials, BATCH):
                numbers = range(begin, min(begin + BATCH, trials))
                batch = []
                for number in numbers:
                    asked = study.get_trials(deepcopy=False)
                    if number < len(asked) and len(asked[number].params) == len(settings):
                        batch.append(asked[number].params)
                        continue
                    # A sampler for each trial: what it draws depends on the number of the trial and
                    # on the trials before it, not on whether the search was interrupted.
                    study.sampler = _sampler(optuna, sampler, self.seed, number)
                    if number < len(asked):
                        # The search ended between the question and the whole of its answer.
                        trial = optuna.trial.Trial(study, asked[number]._trial_id)
                    else:
                        trial = study.ask()
                    for setting in settings:
                        _suggest(trial, setting)
                    batch.append(trial.params)
                points = [self._point(params) for params in batch]
                self.race(points)
                for number, point in zip(numbers, points, strict=True):
                    self._tell(optuna, study, number, self.candidates[point])
                if told:
                    told(self._line(begin + len(batch), trials))

    def _point(self, params: Mapping[str, Any]) -> Point:
        point = []
        for setting in self.space.settings:
            value = params[setting.name]
            point.append(value if setting.ordered else setting.labels.index(value))
        return tuple(point)

    def _tell(self, optuna: Any, study: Any, number: int, candidate: Candidate) -> None:
        trial = study.get_trials(deepcopy=False)[number]
        if trial.state.is_finished():
            return
        if not candidate.rows or "not known" in candidate.reason:
            study.tell(number, state=optuna.trial.TrialState.PRUNED)
            return
        live = optuna.trial.Trial(study, trial._trial_id)
        broken = candidate.status == "broken"
        for constraint in self.constraints:
            excess = constraint.excess(candidate.rows, self.base.rows)
            worst = 1.0 if excess is None else excess
            # What cannot hold any more counts as broken, though its mean may not be yet.
            if broken and constraint.text in candidate.reason:
                worst = max(worst, 1e-6)
            live.set_constraint(constraint.text, min(worst, 1e6))
        study.tell(number, self._worth(candidate))

    def _line(self, done: int, trials: int) -> str:
        if self.best is None:
            return f"{done} of {trials} candidates: none keeps the constraints yet"
        return (
            f"{done} of {trials} candidates; the best is "
            f"{self.goal.words(self._worth(self.best))} than the baseline in the search"
        )

    def importance(self) -> dict[str, float]:
        """Give the share of the variance of the objective that each setting explains (fANOVA).

        Empty with fewer than four candidates, or if nothing varies.
        """
        optuna = imported()
        with _quiet(optuna):
            study = optuna.create_study()
            spread = set()
            for point, candidate in self.candidates.items():
                if not candidate.rows or "not known" in candidate.reason:
                    continue
                params, distributions = {}, {}
                for setting, level in zip(self.space.settings, point, strict=True):
                    params[setting.name] = level if setting.ordered else setting.labels[level]
                    distributions[setting.name] = _distribution(optuna, setting)
                value = self._worth(candidate)
                spread.add(value)
                study.add_trial(
                    optuna.trial.create_trial(
                        params=params, distributions=distributions, value=value
                    )
                )
            if len(spread) < 4:
                return {}
            evaluator = optuna.importance.FanovaImportanceEvaluator(seed=self.seed % 2**31)
            found = optuna.importance.get_param_importances(study, evaluator=evaluator)
            return {name: float(share) for name, share in found.items()}


def imported() -> Any:
    """Import Optuna, and scikit-learn, which its importance needs."""
    try:
        import optuna
        import sklearn  # noqa: F401
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{error.name} is not installed, and `tune` searches with it: "
            "pip install 'floodway[tune]'",
            name=error.name,
        ) from None
    return optuna


@contextmanager
def _quiet(optuna: Any) -> Iterator[None]:
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            yield
    finally:
        optuna.logging.set_verbosity(before)


def _study(optuna: Any, storage: Path, key: str) -> Any:
    """Open the journal, or begin one."""
    storage.parent.mkdir(parents=True, exist_ok=True)
    backend = optuna.storages.journal.JournalFileBackend(os.fspath(storage))
    study = optuna.create_study(
        storage=optuna.storages.JournalStorage(backend), study_name="tune", load_if_exists=True
    )
    there = study.user_attrs.get("key")
    if there is None:
        study.set_user_attr("key", key)
    elif there != key:
        raise ResultsError(
            f"{storage.parent} has another search, with other settings, objective, traffic, seed "
            "or version: name another directory as `out`, or remove this one"
        )
    return study


def _sampler(optuna: Any, name: str, seed: int, number: int) -> Any:
    seed = (seed * 1_000_003 + number) % 2**31 if name != "sobol" else seed % 2**31
    if name == "random":
        return optuna.samplers.RandomSampler(seed=seed)
    if name == "sobol":
        return optuna.samplers.QMCSampler(
            qmc_type="sobol",
            scramble=True,
            seed=seed,
            independent_sampler=optuna.samplers.RandomSampler(seed=seed + number),
            warn_independent_sampling=False,
        )
    return optuna.samplers.TPESampler(seed=seed, multivariate=True)


def _suggest(trial: Any, setting: Any) -> None:
    if setting.ordered:
        trial.suggest_int(setting.name, 0, len(setting.labels) - 1)
    else:
        trial.suggest_categorical(setting.name, list(setting.labels))


def _distribution(optuna: Any, setting: Any) -> Any:
    if setting.ordered:
        return optuna.distributions.IntDistribution(0, len(setting.labels) - 1)
    return optuna.distributions.CategoricalDistribution(list(setting.labels))


def sampler(name: str) -> str:
    """Look at the name of a sampler."""
    if name not in SAMPLERS:
        remedy = _floodway.remedy(str(name), "samplers", list(SAMPLERS))
        raise ValueError(f"there is no sampler {name!r}; {remedy}")
    return name

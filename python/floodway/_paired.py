"""Runs of changed scenarios, in pairs: the same replication has the same seed everywhere."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floodway import _floodway, _sweep, _toml

if TYPE_CHECKING:
    from floodway._scenario import Scenario

SCORE = "MOS"
"""The unit of opinion scores, of which changes are differences in points."""

Row = dict[str, Any]
"""A run: its ``numbers`` by metric, which of them are only ``bounds``, and its ``violations``."""

Rows = dict[tuple[str, int], Row]
"""Runs by traffic and replication."""

Job = tuple["Scenario", str, int, int]
"""A scenario, one of its variants, the seed, and the replication."""


class Runs:
    """Makes runs, or takes them from the cache, on threads or on the workers of Dask."""

    def __init__(self, cache: Path | None, threads: int | None, client: Any) -> None:
        if client is not None:
            _sweep._look_at(client)
        self._cache = os.fspath(cache.absolute()) if cache else None
        self._threads, self._client = threads or os.cpu_count() or 1, client
        self.meanings: dict[str, dict[str, Any]] = {}
        """What metrics are: ``unit``, ``meaning``, ``resolution``, and flows that one ``needs``."""
        self.made = 0
        """Runs that were simulated."""
        self.reused = 0
        """Runs that were taken from the cache."""

    def rows(self, jobs: Sequence[Job]) -> list[Row]:
        """Make runs, in the order of the jobs. All are cached that ended before an interruption."""
        arguments = [_argument(*job) for job in jobs]
        if self._client is not None:
            futures = [
                self._client.submit(
                    _sweep._make, recipe, _floodway.sources, self._cache, task, pure=False
                )
                for recipe, task in arguments
            ]
            try:
                found = self._client.gather(futures)
            except BaseException:
                if not _sweep._is_closed(self._client):
                    self._client.cancel(futures)
                raise
        else:
            with ThreadPoolExecutor(self._threads) as pool:
                futures = [
                    pool.submit(_sweep._make, recipe, _floodway.sources, self._cache, task)
                    for recipe, task in arguments
                ]
                try:
                    found = [future.result() for future in futures]
                except BaseException:
                    pool.shutdown(wait=True, cancel_futures=True)
                    raise
        rows = []
        for row, meaning, was_there, _, _ in found:
            self.meanings.update(json.loads(meaning))
            self.reused += was_there
            self.made += not was_there
            rows.append(json.loads(row))
        return rows


def _argument(
    scenario: Scenario, variant: str, seed: int, replication: int
) -> tuple[_sweep.Recipe, _sweep.Task]:
    text, file, quick, set = scenario._made_from()
    # A sweep with one point, which has the seed.
    dimensions = (f"seed={seed}",)
    recipe = (text, file, quick, set, dimensions, (), None, None, (variant,))
    return recipe, (0, 0, replication)


def changed(scenario: Scenario, variant: str, overlay: Mapping[str, Any]) -> Scenario:
    """Give a scenario in which the variant is changed, also where it has its own values."""
    if not overlay:
        return scenario
    if not scenario._has(variant):
        return scenario.with_(overlay)
    for path, value in overlay.items():
        scenario = scenario.with_(variants={variant: {path: value}})
    return scenario


def blend(ones: Rows, others: Rows, metric: str, unit: str = "") -> list[tuple[float, float]]:
    """Give the pairs of a metric, one for each replication that both have.

    Over several traffics the values of a replication are averaged first, so that replications stay
    the units of the test: geometrically, so that each traffic counts alike, or arithmetically if
    one of the values is zero or they are scores.
    """
    both = ones.keys() & others.keys()
    pairs: dict[int, list[tuple[float, float]]] = {}
    missing: set[int] = set()
    for traffic, replication in sorted(both):
        sides = [rows[traffic, replication]["numbers"].get(metric) for rows in (ones, others)]
        if sides[0] is None or sides[1] is None:
            missing.add(replication)
        else:
            pairs.setdefault(replication, []).append((sides[0], sides[1]))
    whole = {at: of for at, of in sorted(pairs.items()) if at not in missing}
    positive = all(value > 0 for of in whole.values() for pair in of for value in pair)
    mean = _geometric if positive and unit != SCORE else _arithmetic
    return [(mean([a for a, _ in of]), mean([b for _, b in of])) for of in whole.values()]


def _geometric(values: Sequence[float]) -> float:
    if len(values) == 1:
        return values[0]
    return math.exp(sum(map(math.log, values)) / len(values))


def _arithmetic(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def change_of(
    pairs: Iterable[tuple[float, float]], resolution: float = 0.0, unit: str = ""
) -> dict[str, Any] | None:
    """Give the paired change with its interval, as reports have it; none of no pairs."""
    change: dict[str, Any] | None = json.loads(_floodway.change(list(pairs), resolution, unit))
    return change


def change(
    ones: Rows, others: Rows, metric: str, meanings: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any] | None:
    """Give the paired change of a metric between runs; a bound has no interval."""
    meaning = meanings.get(metric, {})
    resolution, unit = meaning.get("resolution", 0.0), meaning.get("unit", "")
    found = change_of(blend(ones, others, metric, unit), resolution, unit)
    both = ones.keys() & others.keys()
    rows = [side[at] for side in (ones, others) for at in both]
    why = None
    if any(metric in row["bounds"] for row in rows):
        why = "a bound, because flows had not completed"
    elif (needs := meaning.get("needs", 0)) > min((flows(row, metric) for row in rows), default=0):
        why = f"needs at least {needs} flows in every replication"
    if found and why:
        found.update(low=None, high=None, p=None, no_interval=why)
        if found.get("points"):
            found["points"].update(low=None, high=None)
    return found


def flows(row: Row, metric: str) -> float:
    """Count the flows that a metric of completion times or slowdowns is of."""
    at = re.search("fct_|slowdown_", metric)
    prefix = metric[: at.start()] if at else ""
    numbers = row["numbers"]
    return float(sum(numbers.get(f"{prefix}{name}", 0) for name in ("finished", "unfinished")))


def words(change: Mapping[str, Any] | None) -> str:
    """Write a change in percent, or of a score in points, with its interval."""
    if change is None:
        return "not measured"
    if of := change.get("points"):
        text = f"{of['value']:+.2f} points".replace("-", "−")  # noqa: RUF001
        if of["low"] is None:
            return text
        ends = f"{of['low']:+.2f} to {of['high']:+.2f}".replace("-", "−")  # noqa: RUF001
        return f"{text} (95 % CI {ends})"
    if change["percent"] is None:
        return f"from 0 to {change['to']:.4g}" if change["to"] else "0 on both sides"
    text = f"{_signed(change['percent'])} %"
    if change["low"] is not None:
        return f"{text} (95 % CI {_signed(change['low'])} to {_signed(change['high'])})"
    if change["from"] == change["to"]:
        return "no change"
    return f"{text} (no interval: {_why(change.get('no_interval'))})"


def amount(change: Mapping[str, Any] | None) -> float | None:
    """Give a change as a number: in percent, or of a score in points."""
    if change is None:
        return None
    points = change.get("points")
    found: float | None = points["value"] if points else change["percent"]
    return found


def _why(reason: object) -> str:
    return str(reason).replace("_", " ") if reason else "one replication"


def _signed(percent: float) -> str:
    digits = 0 if abs(percent) >= 9.95 else 1
    text = f"{abs(percent):.{digits}f}"
    if float(text) == 0:
        return "0"
    return ("−" if percent < 0 else "+") + text  # noqa: RUF001


def is_clear(change: Mapping[str, Any] | None, worse: bool, less: bool) -> bool:
    """Whether a change is clear, and in the direction that is asked for."""
    if change is None or change["p"] is None or change["p"] > 0.05:
        return False
    rises: bool = change["to"] > change["from"]
    if change["percent"] is not None:
        rises = change["percent"] > 0
    return rises == (worse == less)


_CONSTRAINT = re.compile(r"\s*(\w+)\s*(<=|>=|==)\s*(?:([-+.\deE]+)\s*(\*\s*baseline)?|baseline)\s*")


@dataclass(frozen=True)
class Constraint:
    """A condition on the mean of a metric, which must hold under every traffic."""

    text: str
    """As it was written."""
    metric: str
    """The metric."""
    sign: str
    """``<=``, ``>=`` or ``==``."""
    bound: float
    """The bound in the unit of the metric, or as a multiple of the baseline."""
    relative: bool
    """Whether the bound is a multiple of the baseline's mean."""

    @classmethod
    def parse(cls, text: str) -> Constraint:
        """Read a constraint."""
        found = _CONSTRAINT.fullmatch(text) if isinstance(text, str) else None
        try:
            if not found:
                raise ValueError
            bound = float(found[3]) if found[3] else 1.0
        except ValueError:
            raise ValueError(
                f"{text!r} is no constraint: write a metric, <=, >= or ==, and a number or a "
                "multiple of the baseline, like 'dropped_packets == 0' or "
                "'persistent_goodput_gbps >= 0.98 * baseline'"
            ) from None
        relative = bool(found[4]) or not found[3]
        return cls(text.strip(), found[1], found[2], bound, relative)

    def excess(self, rows: Rows, base: Rows) -> float | None:
        """Give by how much it is broken, relative to the bound; at most 0 if it holds.

        None if a run lacks the metric.
        """
        worst = -math.inf
        for traffic in dict.fromkeys(traffic for traffic, _ in rows):
            at = [key for key in rows if key[0] == traffic]
            values = [rows[key]["numbers"].get(self.metric) for key in at]
            known = [value for value in values if value is not None]
            if len(known) < len(values):
                return None
            bound = self.bound
            if self.relative:
                others = [base[key]["numbers"].get(self.metric) for key in at if key in base]
                there = [value for value in others if value is not None]
                if not there:
                    return None
                bound *= _arithmetic(there)
            over = _arithmetic(known) - bound
            over = {"<=": over, ">=": -over, "==": abs(over)}[self.sign]
            worst = max(worst, over / (abs(bound) or 1.0))
        # Rounding in the last digits is no excess.
        return worst if worst > 1e-9 else min(worst, 0.0)

    def is_lost(self, rows: Rows, replications: int) -> bool:
        """Whether it cannot hold any more, whatever the remaining replications measure."""
        if self.relative or self.sign == ">=":
            return False
        for traffic in dict.fromkeys(traffic for traffic, _ in rows):
            of = [rows[key]["numbers"].get(self.metric, 0) for key in rows if key[0] == traffic]
            if sum(of) / replications > self.bound:
                return True
        return False


@dataclass
class Candidate:
    """Values that were tried, with their runs."""

    values: dict[str, str]
    """The value of each setting, as shown."""
    scenario: Scenario | None
    """The scenario with them; none if it cannot run."""
    rows: Rows = field(default_factory=dict)
    """Its runs."""
    status: str = "complete"
    """``complete``, ``raced`` (stopped early), ``broken`` (a constraint) or ``invalid``."""
    reason: str = ""
    """Why it was stopped."""

    @property
    def replications(self) -> int:
        """How many replications it has."""
        return len({replication for _, replication in self.rows})


class Measure:
    """Runs candidates under all traffics."""

    def __init__(self, runs: Runs, variant: str, traffic: Mapping[str, Mapping[str, Any]]) -> None:
        self.runs, self.variant, self.traffic = runs, variant, traffic

    def add(self, candidates: Sequence[Candidate], seed: int, first: int, end: int) -> None:
        """Make these replications of all candidates, those that lack."""
        jobs: list[Job] = []
        where: list[tuple[Candidate, tuple[str, int]]] = []
        for candidate in candidates:
            assert candidate.scenario is not None
            for name, overlay in self.traffic.items():
                scenario = candidate.scenario.with_(overlay) if overlay else candidate.scenario
                for replication in range(first, end):
                    if (name, replication) not in candidate.rows:
                        jobs.append((scenario, self.variant, seed, replication))
                        where.append((candidate, (name, replication)))
        for (candidate, key), row in zip(where, self.runs.rows(jobs), strict=True):
            candidate.rows[key] = row


def traffics(name: str, given: object, default: bool) -> dict[str, dict[str, Any]]:
    """Read workloads or loads: overlays by name, or in a list."""
    if given is None:
        return {"": {}} if default else {}
    if isinstance(given, Mapping):
        named = dict(given)
    elif isinstance(given, Iterable) and not isinstance(given, str):
        named = {}
        for overlay in given:
            if not isinstance(overlay, Mapping):
                break
            label = ", ".join(f"{path}={_toml.plain(value)}" for path, value in overlay.items())
            named[label or "as written"] = overlay
        else:
            return {label: dict(overlay) for label, overlay in named.items()}
        named = {"": None}
    else:
        named = {"": None}
    if not named or not all(isinstance(overlay, Mapping) for overlay in named.values()):
        raise TypeError(
            f"`{name}` is {given!r}: write what changes the traffic, by name, like "
            "{'load 0.3': {'workload.0.many_to_many.load': 0.3}}"
        )
    return {str(label): dict(overlay) for label, overlay in named.items()}


Told = Callable[[str], object]
"""Is called with a line of progress."""

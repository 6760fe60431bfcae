"""Search for values of settings that are best under constraints, with evidence."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from floodway import _arguments, _floodway, _lean, _toml
from floodway._answer import Answer
from floodway._paired import (
    Candidate,
    Constraint,
    Measure,
    Row,
    Runs,
    flows,
    traffics,
)
from floodway._scenario import Scenario, load
from floodway._search import Goal, Search, imported, sampler
from floodway._space import Space

USUAL = (
    "slowdown_mean",
    "fct_mean_ns",
    "fct_p99_ns",
    "persistent_goodput_gbps",
    "paused_ns",
    "dropped_packets",
)
"""Metrics that an answer shows beside the objective, where there are runs with them."""

MOST_MOVES = 3
"""How often a better neighbor of the best candidate becomes the best."""


def tune(
    scenario: Scenario | str | os.PathLike[str],
    objective: str,
    vary: Mapping[str, Any],
    *,
    subject_to: Iterable[str] = (),
    better: str | None = None,
    variant: str | None = None,
    traffic: Mapping[str, Mapping[str, Any]] | Iterable[Mapping[str, Any]] | None = None,
    held_out: Mapping[str, Mapping[str, Any]] | Iterable[Mapping[str, Any]] | None = None,
    others: Iterable[str] = (),
    rules: Mapping[str, Mapping[str, Any]] | None = None,
    uncertain: Mapping[str, Iterable[Any]] | None = None,
    trials: int = 40,
    replications: int = 6,
    held_out_replications: int = 10,
    seed: int | None = None,
    held_out_seed: int | None = None,
    search: str = "tpe",
    out: str | os.PathLike[str] | None = None,
    cache: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    client: Any = None,
    progress: Callable[[str], object] | None = None,
) -> Answer:
    """Search for the values of settings with the best objective that keep all constraints.

    All candidates see the same traffic: replication `r` has the same seed in each. A candidate that
    is worse than the best so far gets no further replications. What is recommended is compared with
    the scenario's own values on seeds, and if given on traffic, that the search has not seen.

    Parameters
    ----------
    scenario
        The scenario, or its file. Its own values are the baseline.
    objective
        A metric of a run, a column of the table ``runs`` of a sweep, such as ``slowdown_p99``.
    vary
        The settings: for each path a range like ``"10KB..400KB/9log"``, a list of choices, or
        overlays by name, ``{"isolation": {"off": {}, "on": {...}}}``.
    subject_to
        Constraints on means, such as ``"dropped_packets == 0"`` or
        ``"persistent_goodput_gbps >= 0.98 * baseline"``.
    better
        ``less`` or ``more``; only needed where the metric does not decide it.
    variant
        The variant that is tuned; may be left out if there is one only.
    traffic
        What is changed for each workload or load, by name. The objective is the mean change over
        all of them, and constraints hold under each. Default: the scenario's own.
    held_out
        Further traffic for the held-out test alone.
    others
        Metrics that are shown beside the objective. Default: those of constraints, and usual ones.
    rules
        Values to compare with in the held-out test too, by name: of a handbook or of a vendor.
    uncertain
        Values that are not known for sure, each with its ends, like
        ``{"switch.latency": ["300ns", "1us"]}``: the held-out test is repeated at each end.
        Default the values of device profiles that are assumed and have a range; ``{}`` for none.
    trials
        Candidates that the search asks for.
    replications
        Runs of a candidate under each traffic; in the held-out test `held_out_replications`.
    seed
        Of the search. Default the scenario's.
    held_out_seed
        Of the held-out test. Default one more than that of the search and a million.
    search
        ``tpe``, or as a reference ``sobol`` or ``random``.
    out
        Directory of the search's journal and of the answer. Default ``results/tune-`` and the
        scenario's name. A search that is there is continued.
    cache
        Directory of the runs. Default ``runs`` in `out`.
    threads
        Default one for each core. Answers do not depend on it.
    client
        A ``dask.distributed.Client``, on whose workers the runs are made.
    progress
        Is called with a line of text now and then.

    Raises
    ------
    ScenarioError
        If a path does not exist, or none of its values is possible.
    ValueError
        If the metric is unknown, a range has nothing to search, or the baseline breaks a
        constraint.
    ResultsError
        If `out` has another search.
    """
    imported()
    search = sampler(search)
    if not isinstance(scenario, Scenario):
        scenario = load(scenario)
    for name, count in (("trials", trials), ("held_out_replications", held_out_replications)):
        if count < 1:
            raise ValueError(f"`{name}` is {count}: it must be at least 1")
    if replications < 2:
        raise ValueError(
            f"`replications` is {replications}: it must be at least 2, because a difference of one "
            "replication has no interval"
        )
    variant = scenario._one(variant)
    scenario.variant(variant)
    space = Space(scenario, vary)
    searched = [path for setting in space.settings for of in setting.overlays for path in of]
    ends = _lean.uncertain(scenario, variant, uncertain, searched)
    constraints = [Constraint.parse(text) for text in _toml.texts("subject_to", subject_to)]
    seen = traffics("traffic", traffic, default=True)
    unseen = traffics("held_out", held_out, default=False)
    if both := seen.keys() & unseen.keys():
        raise ValueError(
            f"`traffic` and `held_out` both have {sorted(both)[0]!r}: traffic that the search has "
            "seen is no test; give it another name or leave it out"
        )
    for changes in (*seen.values(), *unseen.values()):
        scenario.with_(changes)
    first = scenario.seed if seed is None else seed
    test = first + 1_000_001 if held_out_seed is None else held_out_seed
    if test == first:
        raise ValueError(f"`held_out_seed` is {test}, the seed of the search: give another one")
    default = Path("results") / f"tune-{scenario.name}"
    path = _arguments.directory("out", default if out is None else out)
    place = path / "runs" if cache is None else _arguments.directory("cache", cache)
    runs = Runs(place, _arguments.threads(threads), client)

    base = Candidate({}, scenario)
    measure = Measure(runs, variant, seen)
    measure.add([base], first, 0, replications)
    goal = _goal(objective, better, base, runs)
    _known(constraints, others, runs)
    _keeps(constraints, base)
    key = json.dumps([
        _floodway.sources, scenario._made_from(), variant, space.key(), objective, goal.less,
        [each.text for each in constraints], seen, first, replications, search,
    ], default=str)  # fmt: skip
    found = Search(space, measure, goal, constraints, base, variant, first, replications)
    found.run(trials, search, path / "search.journal", key, progress)

    around = _around(found, space)
    best = found.best
    tested = {"baseline": Candidate({}, scenario)}
    if best is not None:
        tested["recommended"] = Candidate(best.values, best.scenario)
    for name, overlay in (rules or {}).items():
        tested[name] = Candidate({}, scenario.with_(overlay))
    leaning = []
    if best is not None and best.scenario is not None:
        leaning = _lean.cases((scenario, best.scenario), variant, ends)
    if progress:
        progress("held-out test")
    Measure(runs, variant, {**seen, **unseen}).add(
        [*tested.values(), *_lean.candidates(leaning)], test, 0, held_out_replications
    )
    shown = _shown(goal, constraints, others, tested["baseline"])
    answer = Answer(
        scenario=scenario, variant=variant, goal=goal, constraints=constraints, found=found,
        around=around, tested=tested, meanings=runs.meanings, others=shown,
        seeds=(first, test), path=path, counts=(runs.made, runs.reused), sampler=search,
        leaning=leaning,
    )  # fmt: skip
    answer.write()
    return answer


def _around(found: Search, space: Space) -> list[tuple[str, str, Candidate]]:
    """Change one setting of the best candidate at a time; a better neighbor is the next best."""
    around: list[tuple[str, str, Candidate]] = []
    for _ in range(MOST_MOVES):
        best = found.best
        if best is None:
            return []
        at = next(point for point, of in found.candidates.items() if of is best)
        near = [
            (number, (*at[:number], level, *at[number + 1 :]))
            for number, setting in enumerate(space.settings)
            for level in setting.around(at[number])
        ]
        found.race([point for _, point in near], to_the_end=True)
        around = [
            (space.settings[number].name, space.settings[number].labels[point[number]],
             found.candidates[point])
            for number, point in near
        ]  # fmt: skip
        if found.best is best:
            break
    return around


def _goal(objective: str, better: str | None, base: Candidate, runs: Runs) -> Goal:
    _metric(objective, "objective", runs)
    direction = better or _floodway.better(objective)
    if direction not in ("less", "more"):
        raise ValueError(
            f"neither less nor more of `{objective}` is better in itself: say better='less' or "
            "better='more'"
            if better is None
            else f"`better` is {better!r}: write 'less' or 'more'"
        )
    rows: list[Row] = list(base.rows.values())
    if any(objective not in row["numbers"] for row in rows):
        raise ValueError(
            f"not every replication of the baseline has `{objective}`: make runs longer"
        )
    if any(objective in row["bounds"] for row in rows):
        raise ValueError(
            f"`{objective}` of the baseline is only a lower bound, because flows did not complete: "
            "raise `limit`"
        )
    needs, least = runs.meanings[objective]["needs"], min(flows(row, objective) for row in rows)
    if least < needs:
        raise ValueError(
            f"`{objective}` needs {needs} flows in every run, and a run of the baseline has "
            f"{least:.0f}: lengthen `arrivals`, or take a mean or a lower percentile"
        )
    if all(row["numbers"][objective] == 0 for row in rows):
        raise ValueError(
            f"`{objective}` is 0 in every run of the baseline, so there is no change in percent: "
            "choose another objective, or a constraint such as "
            f"'{objective} == 0'"
        )
    return Goal(objective, direction == "less", runs.meanings[objective].get("unit", ""))


def _metric(name: str, what: str, runs: Runs) -> None:
    if name not in runs.meanings:
        remedy = _floodway.remedy(name, "metrics", sorted(runs.meanings))
        raise ValueError(f"these runs have no metric `{name}` ({what}); {remedy}")


def _known(constraints: Iterable[Constraint], others: Iterable[str], runs: Runs) -> None:
    for constraint in constraints:
        _metric(constraint.metric, f"in `{constraint.text}`", runs)
    for name in _toml.texts("others", others):
        _metric(name, "others", runs)


def _keeps(constraints: Iterable[Constraint], base: Candidate) -> None:
    for constraint in constraints:
        excess = constraint.excess(base.rows, base.rows)
        if excess is None or excess > 0:
            values = [row["numbers"].get(constraint.metric) for row in base.rows.values()]
            known = [value for value in values if value is not None]
            mean = f"{sum(known) / len(known):.6g}" if known else "not measured"
            raise ValueError(
                f"the baseline breaks `{constraint.text}`: its mean is {mean}. Relax the "
                "constraint, write it relative to the baseline, or begin with values that keep it"
            )


def _shown(
    goal: Goal, constraints: Iterable[Constraint], others: Iterable[str], base: Candidate
) -> list[str]:
    of = [constraint.metric for constraint in constraints]
    given = list(others)
    there = base.rows.values()
    usual = [name for name in USUAL if all(name in row["numbers"] for row in there)]
    names = dict.fromkeys([*of, *(given or usual)])
    return [name for name in names if name != goal.metric]

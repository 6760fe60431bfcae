"""Whether a mechanism is worth it: the same traffic with and without it, in pairs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from floodway import _arguments, _floodway, _lean, _toml
from floodway._answer import _cells, _page, _row, _rows
from floodway._chart import Chart, Charted
from floodway._errors import ScenarioError
from floodway._html import escape
from floodway._html import table as html_table
from floodway._paired import Candidate, Measure, Runs, change, changed, is_clear, traffics, words
from floodway._scenario import Scenario, load
from floodway._text import line

MECHANISMS: dict[str, list[dict[str, Any]]] = {
    "congestion isolation": [
        {"switch.flow_control.congestion_isolation": True},
        {"switch.flow_control.congestion_isolation": True, "switch.queue.count": 2},
    ],
    "source flow control": [{"switch.flow_control.source_flow_control": True}],
    "bfc": [
        {"switch.flow_control.bfc": True},
        # As in its paper: no marks, and senders at line rate until they are paused.
        {
            "switch.flow_control.bfc": True,
            "switch.aqm": "drop_tail",
            "host.congestion": "line_rate",
        },
    ],
    "pfc": [{"switch.flow_control.pfc": True}],
    "hpcc": [{"host.congestion": "hpcc"}],
    "dcqcn": [{"host.congestion": "dcqcn"}],
    "timely": [{"host.congestion": "timely"}],
    "trimming": [
        {"switch.overflow": "trim"},
        # Nothing is trimmed where nothing is dropped, and receivers have to ask for what was.
        {
            "switch.overflow": "trim",
            "switch.flow_control.pfc": False,
            "host.transport.rocev2.recovery": "selective_repeat",
        },
    ],
}
"""Mechanisms by short names: what each changes in a scenario, and what else if that cannot run."""

DECIDE = (
    "slowdown_mean", "slowdown_p99", "fct_mean_ns", "fct_p99_ns", "under_10KB_fct_p99_ns",
    "persistent_goodput_gbps", "dropped_packets", "paused_ns", "unfinished",
)  # fmt: skip
"""Metrics that people decide by, where there are runs with them."""


class Worth(Charted):
    """What a mechanism does to a network and its traffic."""

    def __init__(
        self,
        name: str,
        mechanism: str,
        changes: dict[str, Any],
        measured: list[dict[str, Any]],
        replications: int,
        is_idle: bool,
        basis: dict[str, Any] | None = None,
        leans: list[dict[str, Any]] | None = None,
    ) -> None:
        self.name: str = name
        """The scenario's name."""
        self.mechanism: str = mechanism
        """The mechanism's name."""
        self.changes: dict[str, Any] = changes
        """What it changes in the scenario."""
        self.is_idle: bool = is_idle
        """Whether all runs are the same with and without it, to the bit."""
        self.measured: list[dict[str, Any]] = measured
        """For each ``traffic`` and ``metric``: the paired ``change`` from without to with, and its
        ``verdict``: ``better``, ``worse``, ``no difference`` or ``unknown``."""
        self.replications: int = replications
        """How many pairs there are under each traffic."""
        self.basis: dict[str, Any] | None = basis
        """Where the settings of switches and hosts come from, if it names device profiles."""
        self.leans: list[dict[str, Any]] = leans or []
        """The same comparison with an uncertain value at an end of its range: ``path``, ``value``,
        what was ``measured``, metrics whose verdict is another one (``changed``), and whether all
        verdicts are the same (``stands``); None where the value is impossible (``reason``)."""

    @property
    def answer(self) -> tuple[str, ...]:
        """What it comes to, in sentences: what is better, what is worse, and the verdict."""
        if self.is_idle:
            return (f"{self.mechanism} has no effect here: all runs are the same without it.",)
        said = []
        sides = {}
        for verdict in ("better", "worse"):
            of = [row for row in self.measured if row["verdict"] == verdict]
            sides[verdict] = of
            if of:
                parts = [f"`{row['metric']}`{_under(row)} {words(row['change'])}" for row in of]
                said.append(f"{verdict.capitalize()}: {'; '.join(parts)}.")
        same = dict.fromkeys(
            row["metric"] for row in self.measured if row["verdict"] == "no difference"
        )
        if same:
            said.append(f"No clear difference in {', '.join(f'`{name}`' for name in same)}.")
        if sides["better"] and not sides["worse"]:
            verdict = f"{self.mechanism} is worth it here by what was measured"
        elif sides["worse"] and not sides["better"]:
            verdict = f"{self.mechanism} is not worth it here: it only does harm"
        elif sides["better"]:
            verdict = f"{self.mechanism} is a trade: some metrics are better, others worse"
        else:
            verdict = f"{self.mechanism} makes no clear difference here"
        baseline = f"compared with the scenario as written, {self.replications} paired replications"
        changes = _changes(self.changes)
        if changes != self.mechanism:
            said.append(f"With it means {changes}.")
        return (f"{verdict} ({baseline}).", *said, *self._leaning())

    def _leaning(self) -> list[str]:
        """Say how far the verdicts lean on values that are not known for sure."""
        said = [_lean.share(self.basis)] if self.basis else []
        measured = [row for row in self.leans if row["stands"] is not None]
        falls = [row for row in measured if not row["stands"]]
        if falls:
            each = "; ".join(
                f"{row['path']} = {row['value']} ({', '.join(row['changed'])})" for row in falls
            )
            said.append(f"Verdicts on metrics depend on values that are uncertain: {each}.")
        elif measured:
            paths = ", ".join(dict.fromkeys(row["path"] for row in measured))
            said.append(f"All verdicts stand at the ends of every uncertain value: {paths}.")
        return said

    @property
    def charts(self) -> dict[str, Chart]:
        """The chart of its page, by name."""
        groups: dict[str, list[Any]] = {}
        for row in self.measured:
            label = row["traffic"] or "as written"
            groups.setdefault(row["metric"], []).append(_row(label, row["change"]))
        caption = f"Change with {self.mechanism}, with 95 % intervals"
        chart = _rows("worth", caption, list(groups.items()))
        return {chart.name: chart}

    def page(self, path: str | os.PathLike[str]) -> Path:
        """Write a page with the answer, the table and the chart: one HTML file."""
        parts = ["<ul>", *(f"<li>{escape(of)}</li>" for of in self.answer), "</ul>"]
        rows = [
            [row["traffic"] or "as written", row["metric"], *_cells(row["change"]), row["verdict"]]
            for row in self.measured
        ]
        head = ["traffic", "metric", "without", "with", "change", "replications", "verdict"]
        parts.append(html_table(head, rows, "Paired by replication, intervals of 95 %"))
        parts += [f"<figure>{chart.svg}</figure>" for chart in self.charts.values()]
        if self.leans:
            stands = {True: "yes", False: "no", None: "not possible"}
            ends = [
                [row["path"], row["value"], stands[row["stands"]],
                 row["reason"] or ", ".join(row["changed"])]
                for row in self.leans
            ]  # fmt: skip
            head = ["value", "is", "all verdicts stand", "other verdicts, or why not"]
            parts.append(html_table(head, ends, "The same at the ends of uncertain values"))
        return _page(path, f"Is {self.mechanism} worth it in {self.name}?", parts)

    def __repr__(self) -> str:
        return line(f"<Worth {self.name}: {self.answer[0]}>")

    def _repr_html_(self) -> str:
        return html_table(["answer"], [[of] for of in self.answer], repr(self)[1:-1])


def _under(row: Mapping[str, Any]) -> str:
    return f" under {row['traffic']}" if row["traffic"] else ""


def worth(
    scenario: Scenario | str | os.PathLike[str],
    mechanism: str | Mapping[str, Any],
    *,
    variant: str | None = None,
    traffic: Mapping[str, Mapping[str, Any]] | Iterable[Mapping[str, Any]] | None = None,
    metrics: Iterable[str] = (),
    uncertain: Mapping[str, Iterable[Any]] | None = None,
    replications: int = 10,
    seed: int | None = None,
    cache: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    client: Any = None,
) -> Worth:
    """Compare a scenario with and without a mechanism, on the same traffic.

    Parameters
    ----------
    scenario
        The scenario, or its file, without the mechanism: the baseline.
    mechanism
        A short name (``congestion isolation``, ``source flow control``, ``bfc``, ``pfc``, ``hpcc``,
        ``dcqcn``, ``timely``, ``trimming``), or what changes in the scenario.
    variant
        The variant that is the baseline; may be left out if there is one only.
    traffic
        What is changed for each workload or load, by name, as for `tune`.
    metrics
        What is compared. Default what people usually decide by.
    uncertain
        Values that are not known for sure, each with its ends, as for `tune`: the comparison is
        repeated at each end.
    replications
        Pairs of runs under each traffic.
    seed
        Default the scenario's.
    cache
        Directory of the runs, or None for none.
    threads, client
        As for `tune`.

    Raises
    ------
    ValueError
        If a name is unknown, or nothing can be compared.
    ScenarioError
        If the scenario cannot run with the mechanism.
    """
    if not isinstance(scenario, Scenario):
        scenario = load(scenario)
    if replications < 2:
        raise ValueError(
            f"`replications` is {replications}: it must be at least 2, because a difference of one "
            "replication has no interval"
        )
    if isinstance(mechanism, str):
        key = mechanism.lower().replace("_", " ")
        if key not in MECHANISMS:
            remedy = _floodway.remedy(key, "mechanisms", list(MECHANISMS))
            raise ValueError(f"there is no mechanism {mechanism!r}; {remedy}, or write its changes")
        label, overlays = mechanism, MECHANISMS[key]
    else:
        label, overlays = _changes(mechanism), [dict(mechanism)]
    variant = scenario._one(variant)
    overlay, other = _first(scenario, variant, overlays)
    place = None if cache is None else _arguments.directory("cache", cache)
    runs = Runs(place, _arguments.threads(threads), client)
    without, with_ = Candidate({}, scenario), Candidate({}, other)
    if without.scenario == with_.scenario:
        raise ValueError(f"`mechanism` is {mechanism!r}, which changes nothing: write its changes")
    seen = traffics("traffic", traffic, default=True)
    ends = _lean.uncertain(scenario, variant, uncertain, overlay)
    leaning = _lean.cases((scenario, other), variant, ends)
    first = scenario.seed if seed is None else seed
    every = [without, with_, *_lean.candidates(leaning)]
    Measure(runs, variant, seen).add(every, first, 0, replications)
    names = _toml.texts("metrics", metrics)
    for name in names:
        if name not in runs.meanings:
            remedy = _floodway.remedy(name, "metrics", sorted(runs.meanings))
            raise ValueError(f"these runs have no metric `{name}`; {remedy}")
    names = names or [name for name in DECIDE if name in runs.meanings]
    measured = _measured((without, with_), names, seen, runs)
    leans = []
    for case in leaning:
        of = _measured((case.sides[0], case.sides[1]), names, seen, runs) if case.sides else []
        leans.append(_leaned(case, of, measured))
    idle = all(
        row["fingerprint"] == with_.rows[key]["fingerprint"] for key, row in without.rows.items()
    )
    basis = _lean.basis(scenario, variant)
    return Worth(scenario.name, label, overlay, measured, replications, idle, basis, leans)


def _measured(
    sides: tuple[Candidate, Candidate], names: Iterable[str], seen: Iterable[str], runs: Runs
) -> list[dict[str, Any]]:
    """Compare two candidates in these metrics, under each traffic."""
    measured = []
    for metric in names:
        for at in seen:
            rows = [{key: row for key, row in of.rows.items() if key[0] == at} for of in sides]
            of = change(rows[0], rows[1], metric, runs.meanings)
            if of is not None:
                verdict = _verdict(metric, of)
                measured.append({"traffic": at, "metric": metric, "change": of, "verdict": verdict})
    return measured


def _leaned(
    case: _lean.Case, of: list[dict[str, Any]], measured: list[dict[str, Any]]
) -> dict[str, Any]:
    """Say which verdicts are others with an uncertain value at an end."""
    row = {"path": case.path, "value": case.value, "measured": of, "reason": case.reason}
    if not case.sides:
        return {**row, "changed": [], "stands": None}
    known = {(each["traffic"], each["metric"]): each["verdict"] for each in measured}
    others = [
        each["metric"]
        for each in of
        if known.get((each["traffic"], each["metric"])) != each["verdict"]
    ]
    return {**row, "changed": list(dict.fromkeys(others)), "stands": not others}


def _first(
    scenario: Scenario, variant: str, overlays: list[dict[str, Any]]
) -> tuple[dict[str, Any], Scenario]:
    """Give the first overlay with which the scenario can run, or raise what is wrong with it."""
    failed: ScenarioError | None = None
    for overlay in overlays:
        try:
            return overlay, changed(scenario, variant, overlay)
        except ScenarioError as error:
            failed = failed or error
    assert failed is not None
    raise failed


def _changes(overlay: Mapping[str, Any]) -> str:
    return ", ".join(f"{path} = {_toml.plain(value)}" for path, value in overlay.items())


def _verdict(metric: str, of: dict[str, Any]) -> str:
    direction = _floodway.better(metric)
    if direction is None or (of["p"] is None):
        return "unknown"
    less = direction == "less"
    if is_clear(of, worse=False, less=less):
        return "better"
    return "worse" if is_clear(of, worse=True, less=less) else "no difference"

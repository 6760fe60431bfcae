"""What a search comes to: recommended values with their evidence, as text, page and scenario."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floodway import _floodway, _lean, _toml
from floodway._chart import Chart, Charted
from floodway._html import escape
from floodway._html import table as html_table
from floodway._paired import SCORE, Candidate, Constraint, amount, change, is_clear, words
from floodway._text import line

if TYPE_CHECKING:
    from floodway._lean import Case
    from floodway._scenario import Scenario
    from floodway._search import Goal, Search

Changed = dict[str, Any]
"""A paired change with its interval, as the table of a comparison has it."""


class Answer(Charted):
    """What came out of a search."""

    def __init__(
        self,
        scenario: Scenario,
        variant: str,
        goal: Goal,
        constraints: Sequence[Constraint],
        found: Search,
        around: Sequence[tuple[str, str, Candidate]],
        tested: Mapping[str, Candidate],
        meanings: Mapping[str, Mapping[str, Any]],
        others: Sequence[str],
        seeds: tuple[int, int],
        path: Path,
        counts: tuple[int, int],
        sampler: str,
        leaning: Sequence[Case] = (),
    ) -> None:
        self._scenario, self._variant, self._goal = scenario, variant, goal
        self._found, self._tested, self._meanings = found, tested, meanings
        self._constraints, self._seeds, self._sampler = constraints, seeds, sampler
        self.path: Path = path
        """The directory with the journal of the search, the runs and ``tune.json``."""
        best = found.best
        self.values: dict[str, str] | None = dict(best.values) if best else None
        """The best values that were found; None if no candidate keeps the constraints."""
        self.candidates: tuple[Candidate, ...] = tuple(found.candidates.values())
        """All candidates in the order in which they were tried, with their runs."""
        self.others: tuple[str, ...] = tuple(others)
        """Metrics that are shown beside the objective."""
        self.importance: dict[str, float] = found.importance()
        """The share of the objective's variance that each setting explains (fANOVA)."""
        self.runs: int = counts[0] + counts[1]
        """How many runs the answer is from."""
        self.reused: int = counts[1]
        """How many of them were taken from the cache."""
        self.equals: list[dict[str, Any]] = self._equals(best)
        """Candidates that keep the constraints and cannot be told apart from the best: their
        ``values``, and the ``change`` of the objective from the best, paired."""
        self.around: list[dict[str, Any]] = [
            {"setting": name, "value": value, "status": of.status, "reason": of.reason,
             "change": self._change(best, of) if best and of.rows else None}
            for name, value, of in around
        ]  # fmt: skip
        """One setting changed at a time: the ``change`` of the objective from the best."""
        self.held_out: list[dict[str, Any]] = self._held_out()
        """Changes from the baseline on seeds and traffic that the search has not seen: ``what``
        (``recommended`` or a rule), ``traffic``, ``metric``, ``change``."""
        self.broken: tuple[str, ...] = self._broken()
        """Constraints that the recommended values break in the held-out test."""
        self.basis: dict[str, Any] | None = _lean.basis(scenario, variant)
        """Where the settings of switches and hosts come from, if the scenario names device
        profiles: their ``values``, each with ``evidence`` and ``source``."""
        self.leans: list[dict[str, Any]] = [self._lean(case) for case in leaning]
        """The held-out test with an uncertain value at an end of its range: ``path``, ``value``,
        the ``change`` of the objective from the scenario's own values to the recommended ones,
        constraints that are ``broken``, and whether the verdict ``stands``; None where the value is
        impossible (``reason``)."""

    def _change(self, ones: Candidate, others: Candidate) -> Changed | None:
        return change(ones.rows, others.rows, self._goal.metric, self._meanings)

    def _equals(self, best: Candidate | None) -> list[dict[str, Any]]:
        equals = []
        for candidate in self.candidates:
            if best is None or candidate is best or candidate.status != "complete":
                continue
            of = self._change(best, candidate)
            if not is_clear(of, worse=True, less=self._goal.less):
                equals.append({"values": candidate.values, "change": of})
        return equals

    def _held_out(self) -> list[dict[str, Any]]:
        base, rows = self._tested["baseline"].rows, []
        names = list(dict.fromkeys(traffic for traffic, _ in base))
        for what, candidate in self._tested.items():
            if what == "baseline":
                continue
            for metric in (self._goal.metric, *self.others):
                for traffic in [*names, None] if len(names) > 1 else names:
                    sides = [
                        {key: row for key, row in side.items() if traffic in (None, key[0])}
                        for side in (base, candidate.rows)
                    ]
                    rows.append({
                        "what": what,
                        "traffic": "all" if traffic is None else traffic or "as written",
                        "metric": metric,
                        "change": change(sides[0], sides[1], metric, self._meanings),
                    })  # fmt: skip
        return rows

    def _broken(self) -> tuple[str, ...]:
        if "recommended" not in self._tested:
            return ()
        rows, base = self._tested["recommended"].rows, self._tested["baseline"].rows
        excess = [(of.text, of.excess(rows, base)) for of in self._constraints]
        return tuple(text for text, over in excess if over is None or over > 0)

    def _lean(self, case: Case) -> dict[str, Any]:
        found: dict[str, Any] = {"path": case.path, "value": case.value, "change": None}
        if not case.sides:
            return {**found, "broken": [], "stands": None, "reason": case.reason}
        base, best = case.sides
        of = self._change(base, best)
        excess = [(each.text, each.excess(best.rows, base.rows)) for each in self._constraints]
        broken = [text for text, over in excess if over is None or over > 0]
        verdict = self._verdict(of, broken)
        stands = verdict == self._verdict(self.tested(), self.broken)
        return {**found, "change": of, "broken": broken, "stands": stands, "reason": ""}

    def _verdict(self, of: Changed | None, broken: Sequence[str]) -> str:
        if broken:
            return "broken"
        if is_clear(of, worse=False, less=self._goal.less):
            return "better"
        return "worse" if is_clear(of, worse=True, less=self._goal.less) else "as good"

    def _leaning(self) -> list[str]:
        """Say how far the answer leans on values that are not known for sure."""
        said = [_lean.share(self.basis)] if self.basis else []
        measured = [row for row in self.leans if row["stands"] is not None]
        if not measured:
            return said
        metric = f"`{self._goal.metric}`"
        falls = [row for row in measured if not row["stands"]]
        paths = ", ".join(dict.fromkeys(row["path"] for row in measured))
        if falls:
            each = "; ".join(
                f"{row['path']} = {row['value']}: {metric} {words(row['change'])}"
                + (f", and {', '.join(row['broken'])} breaks" if row["broken"] else "")
                for row in falls
            )
            said.append(
                f"This verdict depends on values that are uncertain: it changes with {each}."
            )
        else:
            amounts = [amount(row["change"]) for row in measured]
            known = [of for of in amounts if of is not None]
            unit, digits = ("points", 2) if self._goal.unit == SCORE else ("%", 1)
            ends = [f"{of:+.{digits}f} {unit}" for of in (min(known), max(known))] if known else []
            span = f" ({metric} {' to '.join(ends)})" if ends else ""
            said.append(f"The verdict stands at the ends of every uncertain value{span}: {paths}.")
        return said

    def tested(self, what: str = "recommended", metric: str | None = None) -> Changed | None:
        """Give the held-out change of a metric over all traffic, default of the objective."""
        metric = metric or self._goal.metric
        of = [row for row in self.held_out if (row["what"], row["metric"]) == (what, metric)]
        return of[-1]["change"] if of else None

    @staticmethod
    def words(change: Changed | None) -> str:
        """Write a change in percent with its interval."""
        return words(change)

    def rival(self, what: str) -> Changed | None:
        """Give the held-out change of the objective from a rule to the recommended values."""
        if "recommended" not in self._tested:
            return None
        return self._change(self._tested[what], self._tested["recommended"])

    @property
    def edges(self) -> tuple[str, ...]:
        """Settings whose best value is an end of their range, beyond which it may be better."""
        at = [point for point, of in self._found.candidates.items() if of is self._found.best]
        return tuple(
            setting.name
            for point in at
            for setting, level in zip(self._found.space.settings, point, strict=True)
            if setting.ordered and level in (0, len(setting.labels) - 1)
        )

    @property
    def is_better(self) -> bool:
        """Whether the values are clearly better than the baseline in the held-out test."""
        clear = is_clear(self.tested(), worse=False, less=self._goal.less)
        return clear and not self.broken

    @property
    def answer(self) -> tuple[str, ...]:
        """What it comes to, in sentences."""
        metric = self._goal.metric
        if self.values is None:
            return (
                "No candidate keeps all constraints: keep the scenario's own values, widen the "
                "ranges, or relax a constraint.",
            )
        values = ", ".join(f"{name} = {value}" for name, value in self.values.items())
        held = self.tested()
        measured = f"`{metric}` {words(held)} vs. the scenario's own values on held-out runs"
        if held and held["n"]:
            measured += f" ({held['n']} paired replications)"
        if self.broken:
            verdict = (
                f"Do not use them yet: on held-out runs they break {', '.join(self.broken)}; "
                f"{measured}."
            )
        elif self.is_better:
            verdict = f"The recommended values are better: {measured}."
        elif is_clear(held, worse=True, less=self._goal.less):
            verdict = f"The default is better: {measured}. Keep the scenario's own values."
        elif held and held["p"] is None:
            verdict = f"There is no verdict: {measured}; raise `held_out_replications`."
        else:
            verdict = f"The default is as good: {measured}."
        sentences = [verdict, f"Best values found: {values}."]
        if self.edges:
            sentences.append(
                f"{', '.join(self.edges)}: the best value is an end of the range; a wider range "
                "may have a better one."
            )
        for rule in self._tested:
            if rule not in ("baseline", "recommended"):
                of = self.rival(rule)
                sentences.append(f"Compared with the rule `{rule}`: `{metric}` {words(of)}.")
        sentences += self._leaning()
        if self.equals:
            sentences.append(
                f"{len(self.equals)} other candidate(s) cannot be told apart from the best at 95 %."
            )
        if self.importance:
            name, share = max(self.importance.items(), key=lambda pair: pair[1])
            sentences.append(
                f"{name} matters most: it explains {share:.0%} of the objective's variance "
                "between candidates."
            )
        return tuple(sentences)

    def scenario(self) -> Scenario:
        """Give the scenario with the best values."""
        best = self._found.best
        if best is None or best.scenario is None:
            raise ValueError("no candidate keeps all constraints, so there are no values")
        return best.scenario

    @property
    def toml(self) -> str:
        """The best values as TOML: an overlay, to be put into a scenario or below a variant."""
        best = self._found.best
        at = [point for point, of in self._found.candidates.items() if of is best]
        return _toml.document(_toml.nested(self._found.space.overlay(at[0]))) if at else ""

    @property
    def front(self) -> dict[str, list[Candidate]]:
        """By other metric, the candidates of which none is better in it and in the objective."""
        fronts = {}
        for metric in self.others:
            at = self._places(metric)
            better = _floodway.better(metric) or "less"
            signs = (1 if self._goal.less else -1, 1 if better == "less" else -1)
            scored = [(of, x * signs[0], y * signs[1]) for of, x, y in at]
            fronts[metric] = [
                of
                for of, x, y in scored
                if not any(a <= x and b <= y and (a, b) != (x, y) for _, a, b in scored)
            ]
        return fronts

    def _places(self, metric: str) -> list[tuple[Candidate, float, float]]:
        """The changes of the objective and of another metric from the baseline."""
        places = []
        for of in self.candidates:
            if of.status != "complete":
                continue
            base = self._found.base.rows
            both = [change(base, of.rows, name, self._meanings)
                    for name in (self._goal.metric, metric)]  # fmt: skip
            x, y = (amount(each) for each in both)
            if x is not None and y is not None:
                places.append((of, x, y))
        return places

    @property
    def charts(self) -> dict[str, Chart]:
        """The charts of its page, by name."""
        return {chart.name: chart for chart in self._charts()}

    def _charts(self) -> list[Chart]:
        charts = []
        groups = []
        for metric in (self._goal.metric, *self.others):
            rows = [
                _row(f"{row['what']}, {row['traffic']}", row["change"])
                for row in self.held_out
                if row["metric"] == metric
            ]
            if rows:
                groups.append((metric, rows))
        if groups:
            caption = "Held-out test: change from the scenario's own values, with 95 % intervals"
            charts.append(_rows("held-out", caption, groups))
        for metric, front in self.front.items():
            places = self._places(metric)
            if len(places) < 2:
                continue
            on = sorted((x, y) for of, x, y in places if of in front)
            off = [(x, y) for of, x, y in places if of not in front]
            series = [("Pareto front", on, True), ("other candidates", off, False)]
            x, y = (
                f"change of {of} in "
                + ("points" if self._meanings.get(of, {}).get("unit") == SCORE else "%")
                for of in (self._goal.metric, metric)
            )
            axes = (x, y)
            caption = f"What {self._goal.metric} costs in {metric}, in the search"
            drawn = _floodway.chart_of_points(
                f"front-{metric.replace('_', '-')}", caption, axes, [of for of in series if of[1]]
            )
            charts.append(Chart(drawn))
        around: dict[str, list[tuple[str, float | None, tuple[float, float] | None, str]]] = {}
        for row in self.around:
            if row["change"]:
                broken = ", breaks a constraint" if row["status"] == "broken" else ""
                of = _row(row["value"] + broken, row["change"])
                around.setdefault(row["setting"], []).append(of)
        if around:
            caption = f"One setting at a time: change of {self._goal.metric} from the best values"
            charts.append(_rows("one-at-a-time", caption, list(around.items())))
        return charts

    @property
    def json(self) -> dict[str, Any]:
        """All of it but the runs."""
        return {
            "scenario": self._scenario.name,
            "variant": self._variant,
            "objective": self._goal.metric,
            "better": "less" if self._goal.less else "more",
            "constraints": [of.text for of in self._constraints],
            "seeds": {"search": self._seeds[0], "held_out": self._seeds[1]},
            "sampler": self._sampler,
            "answer": list(self.answer),
            "is_better": self.is_better,
            "broken": list(self.broken),
            "values": self.values,
            "edges": list(self.edges),
            "equals": self.equals,
            "importance": self.importance,
            "around": self.around,
            "held_out": self.held_out,
            "basis": self.basis,
            "leans": self.leans,
            "candidates": [
                {"values": of.values, "status": of.status, "reason": of.reason,
                 "replications": of.replications}
                for of in self.candidates
            ],
        }  # fmt: skip

    def patch(
        self,
        configs: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
        out: str | os.PathLike[str] | None = None,
        rate: str = "100Gbps",
    ) -> dict[str, list[dict[str, Any]]]:
        """Give what the recommended values change in configurations of SONiC, as JSON patches.

        The scenario must be one that ``floodway import sonic`` made of the same configurations. The
        patches are those of ``floodway export sonic``.

        Parameters
        ----------
        configs
            The directory of the configurations, or several directories and files.
        out
            A directory for the patches: ``NAME.patch.json`` for each switch that changes.
        rate
            Speed of ports that have none in the table PORT, as for the import.

        Returns
        -------
        dict
            The operations by the name of the switch.

        Raises
        ------
        ScenarioError
            If the configurations cannot be read, are of other switches, or cannot have a value.
        ValueError
            If there are no values.
        """
        return self.scenario().patch(configs, out, self._variant, rate)

    def write(self) -> None:
        """Write ``tune.json`` and ``tune.toml`` into the directory of the answer."""
        self.path.mkdir(parents=True, exist_ok=True)
        (self.path / "tune.json").write_text(json.dumps(self.json, indent=1), encoding="utf-8")
        (self.path / "tune.toml").write_text(self.toml, encoding="utf-8")

    def page(self, path: str | os.PathLike[str]) -> Path:
        """Write a page with the answer, its tables and its charts: one HTML file."""
        statuses = [of.status for of in self.candidates]
        counts = ", ".join(f"{statuses.count(name)} {name}" for name in dict.fromkeys(statuses))
        parts = ["<ul>", *(f"<li>{_code(of)}</li>" for of in self.answer), "</ul>"]
        if self.toml:
            parts.append(f"<h2>Recommended values</h2><pre>{escape(self.toml)}</pre>")
        parts.append("<h2>Held-out test</h2>")
        charts = self._charts()
        parts += [f"<figure>{chart.svg}</figure>" for chart in charts if chart.name == "held-out"]
        rows: list[list[object]] = [
            [row["what"], row["traffic"], row["metric"], *_cells(row["change"])]
            for row in self.held_out
        ]
        head = ["values", "traffic", "metric", "baseline", "value", "change", "replications"]
        parts.append(html_table(head, rows, "Changes from the scenario's own values, paired"))
        if self.basis:
            parts.append("<h2>Device profiles</h2>")
            known = [
                [of["profile"], of["path"], _toml.plain(of["value"]), of["evidence"], of["source"]]
                for of in self.basis["values"]
            ]
            head = ["profile", "setting", "value", "evidence", "source"]
            parts.append(html_table(head, known, "Values from device profiles"))
        if self.leans:
            parts.append("<h2>Uncertain values</h2>")
            stands = {True: "yes", False: "no", None: "not possible"}
            ends = [
                [row["path"], row["value"], *_cells(row["change"]), stands[row["stands"]],
                 row["reason"] or ", ".join(row["broken"])]
                for row in self.leans
            ]  # fmt: skip
            head = ["value", "is", "baseline", "recommended", "change", "replications",
                    "verdict stands", "remark"]  # fmt: skip
            parts.append(html_table(head, ends, "The held-out test at their ends"))
        if self.equals:
            parts.append("<h2>Candidates that cannot be told apart from the best</h2>")
            names = list(self.equals[0]["values"])
            same = [[*of["values"].values(), words(of["change"])] for of in self.equals]
            parts.append(html_table([*names, self._goal.metric], same, "Changes from the best"))
        if self.importance:
            parts.append("<h2>Sensitivity</h2>")
            shares = [[name, f"{share:.0%}"] for name, share in self.importance.items()]
            parts.append(html_table(["setting", "share"], shares, "Share of variance (fANOVA)"))
        parts += [f"<figure>{chart.svg}</figure>" for chart in charts if chart.name != "held-out"]
        parts.append(
            f"<h2>Method</h2><p>{escape(counts)} of {len(statuses)} candidates, asked for by "
            f"{escape(self._sampler)}; {self.runs} runs. Search seed {self._seeds[0]}, held-out "
            f"seed {self._seeds[1]}. Constraints: "
            f"{escape('; '.join(of.text for of in self._constraints) or 'none')}. Intervals are "
            "of 95 % each, paired by replication.</p>"
        )
        return _page(path, f"Tuning {self._scenario.name}", parts)

    def __repr__(self) -> str:
        return line(f"<Answer {self._scenario.name}: {self.answer[0]}>")

    def _repr_html_(self) -> str:
        return html_table(["answer"], [[of] for of in self.answer], repr(self)[1:-1])


def _page(path: str | os.PathLike[str], title: str, parts: Sequence[str]) -> Path:
    """Write one HTML file."""
    style = (
        "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
        "td,th{padding:.2rem .6rem;border-bottom:1px solid #ccc}"
        "table{border-collapse:collapse;display:block;overflow-x:auto}"
        "figure{margin:1rem 0;overflow-x:auto}figure>svg{max-width:100%;height:auto}"
    )
    text = (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}'
        f"</title><style>{style}</style></head><body><h1>{escape(title)}</h1>"
        f"{''.join(parts)}</body></html>\n"
    )
    where = Path(path)
    where.write_text(text, encoding="utf-8")
    return where


def _code(sentence: str) -> str:
    parts = escape(sentence).split("`")
    return "".join(f"<code>{of}</code>" if at % 2 else of for at, of in enumerate(parts))


def _cells(of: Changed | None) -> list[object]:
    if of is None:
        return ["", "", "not measured", 0]
    sides = [
        f"{of[side]:,.0f}" if of[side] >= 1e4 else f"{of[side]:.4g}" for side in ("from", "to")
    ]
    return [*sides, words(of), of["n"]]


def _row(
    label: str, of: Changed | None
) -> tuple[str, float | None, tuple[float, float] | None, str]:
    if of is None or of["percent"] is None:
        return label, None, None, words(of)
    interval = None if of["low"] is None else (of["low"], of["high"])
    return label, of["percent"], interval, f"{of['percent']:+.1f} %"


def _rows(
    name: str,
    caption: str,
    groups: list[tuple[str, list[tuple[str, float | None, tuple[float, float] | None, str]]]],
) -> Chart:
    return Chart(_floodway.chart_of_changes(name, caption, "change in %", groups))

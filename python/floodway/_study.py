"""Studies: the experiments behind a set of published claims, and what comes of each."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from floodway import _arguments, _floodway, _toml
from floodway._chart import Chart, Charted, by_name
from floodway._errors import warn_of, warn_of_others
from floodway._html import table as html_table
from floodway._progress import Advance, shown
from floodway._text import line


class Study(Charted):
    """What a study came to."""

    def __init__(self, text: str, page: Path, charts: Iterable[_floodway.Picture] = ()) -> None:
        self.json: dict[str, Any] = json.loads(text)
        """All of it but the charts."""
        self.page: Path = page
        """The report, one HTML file."""
        self._charts = by_name(charts)

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.json["study"])

    @property
    def answer(self) -> tuple[str, ...]:
        """What it comes to, in sentences."""
        return tuple(self.json["answer"])

    @property
    def claims(self) -> list[dict[str, Any]]:
        """The claims in order.

        Each has its ``id``, the ``quotation`` of the source, the ``verdict`` over all ``readings``
        of it, the ``result`` in a sentence, and its numbers, ``parts``.
        """
        claims: list[dict[str, Any]] = self.json["claims"]
        return claims

    @property
    def checks(self) -> list[dict[str, Any]]:
        """What cannot fail, number by number: whether the experiments are what the sources say."""
        checks: list[dict[str, Any]] = self.json["checks"]
        return checks

    @property
    def violations(self) -> tuple[str, ...]:
        """What happened that should not; empty in a sound study."""
        return tuple(self.json["violations"])

    @property
    def charts(self) -> dict[str, Chart]:
        """The charts of the report, experiment by experiment."""
        return self._charts

    def __repr__(self) -> str:
        verdicts = [claim["verdict"] for claim in self.claims]
        counts = ", ".join(f"{verdicts.count(name)} {name}" for name in dict.fromkeys(verdicts))
        return line(f"<Study {self.name} ({self.json['level']}): {counts}>")

    def _repr_html_(self) -> str:
        head = ["claim", "in the words of the source", "verdict", "in readings", "measured"]
        rows = [
            [claim["id"], claim["quotation"], claim["verdict"], _share(claim), claim["result"]]
            for claim in self.claims
        ]
        return html_table(head, rows, repr(self)[1:-1])


def _share(claim: Mapping[str, Any]) -> str:
    readings = claim["readings"]
    return f"{readings['holds']} of {readings['holds'] + readings['does_not']}"


def study(
    name: str | os.PathLike[str],
    level: str = "standard",
    set: Mapping[str, Any] | Iterable[str] = (),
    out: str | os.PathLike[str] | None = None,
    replace: bool = False,
    threads: int | None = None,
    progress: bool | Callable[[Advance], object] = True,
) -> Study:
    """Run a study.

    Parameters
    ----------
    name
        ``ci``, ``sfc``, ``dualq``, ``short-range``, ``interplay`` or ``access``, or a folder with a
        ``study.toml``.
    level
        ``quick``, ``standard`` or ``full``.
    set
        What to change in all experiments; the claims are then judged under it.
    out
        Directory for the results; runs that are there already are not repeated. Default
        ``results/study-`` and the name, or the last part of the folder; of a quick one with
        ``-quick`` after it.
    replace
        Whether runs that are there are repeated.
    threads
        Default one for each core. Results do not depend on it.
    progress
        As for `Scenario.compare`.

    Raises
    ------
    ScenarioError
        If a change makes no sense in one of its experiments.
    ResultsError
        If `out` holds something else, or the same study with other changes, or another process
        writes there.

    Warns
    -----
    RuntimeWarning
        If something happened that should not, which is then in ``violations``.
    UserWarning
        If there are files among the runs that floodway did not write. They stay.
    """
    texts = _toml.settings(set) if isinstance(set, Mapping) else _toml.texts("set", set)
    end = "-quick" if level == "quick" else ""
    name = os.fspath(name)
    label = Path(name).resolve().name if Path(name).is_dir() else name
    default = Path("results") / f"study-{label}{end}"
    path = _arguments.directory("out", default if out is None else out)
    threads = _arguments.threads(threads)
    bar = shown(progress, f"study {label}")
    watch = (lambda *values: bar(Advance(*values))) if bar else None
    try:
        place = (os.fspath(path), replace)
        text, page, charts, others = _floodway.study(name, level, texts, place, threads, watch)
    finally:
        if bar:
            bar.close()
    warn_of_others(others)
    study = Study(text, Path(page), charts)
    warn_of(study.violations, "study")
    return study

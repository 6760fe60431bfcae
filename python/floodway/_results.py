"""Results directories, as ``floodway run`` leaves them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from floodway import _floodway
from floodway._chart import Chart, Charted, by_name
from floodway._html import table as html_table
from floodway._run import Run, Tables
from floodway._table import Table
from floodway._text import line


def open(path: str | os.PathLike[str]) -> Results:
    """Open a results directory.

    Raises
    ------
    ResultsError
        If there are no results, or another version of floodway wrote them.
    """
    return Results(os.fspath(path))


class Results(Charted):
    """A results directory as it was found.

    The tables of all its runs are attributes: ``results.flows`` has the flows of every run in one
    table, which begins with the columns ``variant`` and ``replication``. Tables are read when they
    are asked for, and compared with their checksums.
    """

    def __init__(self, path: str) -> None:
        self._stored = _floodway.open(path)
        self.path: Path = Path(path)
        """Where it is."""
        self.manifest: dict[str, Any] = json.loads(self._stored.manifest)
        """What was run, how and when."""
        summary = self._stored.summary
        self.summary: dict[str, Any] | None = json.loads(summary) if summary else None
        """What came out, with intervals; none of an experiment that did not end."""
        self.runs: tuple[Run, ...] = tuple(map(self._run, range(len(self.manifest["runs"]))))
        """The runs, in order of variant and replication."""
        # Of the runs that were cut short too: they tell why they ended.
        names = dict.fromkeys(name for run in self.runs for name in run.tables)
        self.tables: Mapping[str, Table] = Tables(names, self._read)
        """The tables of all runs, by name."""

    def _run(self, place: int) -> Run:
        record = self.manifest["runs"][place]
        same = ["variant", "replication", "seed", "stop", "simulated_ns", "hops", "wall_s"]
        same += ["fingerprint", "violations"]
        names = [table["name"] for table in record["tables"]]
        tables = Tables(names, partial(self._read_one, place))
        values = {name: record[name] for name in same}
        folder = self.path / "runs" / record["variant"] / str(record["replication"])
        capture = folder / "capture.pcapng"
        return Run(
            **values,
            tables=tables,
            draw=partial(self._draw, place),
            repeat=partial(self._repeat, place),
            pcap=capture if capture.exists() else None,
        )

    def _draw(self, place: int, _: Run) -> list[_floodway.Picture]:
        return self._stored.charts_of_run(place)

    def _repeat(self, place: int, *arguments: Any) -> _floodway.Explained:
        return self._stored.why(place, *arguments)

    def _read_one(self, place: int, name: str) -> Table:
        return Table(self._stored.table(place, name))

    def _read(self, name: str) -> Table:
        places = [place for place, run in enumerate(self.runs) if name in run.tables]
        return Table(self._stored.table_of_runs(places, name))

    @property
    def name(self) -> str:
        """The scenario's name."""
        return str(self.manifest["scenario"]["name"])

    @property
    def status(self) -> str:
        """How far it came: ``complete``, ``interrupted``, or ``running`` if nobody said the end."""
        return str(self.manifest["status"])

    @property
    def variants(self) -> tuple[str, ...]:
        """The names of the variants, the baseline first."""
        return tuple(variant["name"] for variant in self.manifest["variants"])

    @property
    def claims(self) -> list[dict[str, Any]]:
        """What the scenario claims of its results, ``[[claim]]``; empty if it claims nothing.

        Each has its ``id``, the ``quotation`` of its ``source``, the ``verdict``, the ``result`` in
        a sentence, and its numbers, ``parts``, as the claims of a `Study` have them.
        """
        claims: list[dict[str, Any]] = (self.summary or {}).get("claims", [])
        return claims

    @property
    def charts(self) -> dict[str, Chart]:
        """The charts of the report by name, drawn again from the tables: ``slowdown-by-size``.

        Raises
        ------
        ResultsError
            If tables are not as they were written, or were not kept as Parquet.
        """
        return by_name(self._stored.charts())

    def run(self, variant: str, replication: int = 0) -> Run:
        """Give one of the runs.

        Raises
        ------
        KeyError
            If there is no such run.
        """
        for run in self.runs:
            if (run.variant, run.replication) == (variant, replication):
                return run
        there = ", ".join(f"{run.variant} {run.replication}" for run in self.runs) or "none"
        raise KeyError(f"there is no run {variant} {replication}; there are {there}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the path: the tables stay in their files."""
        return open, (os.path.abspath(self.path),)

    def __getattr__(self, name: str) -> Table:
        tables = self.__dict__.get("tables", {})
        if name in tables:
            table: Table = tables[name]
            return table
        known = ", ".join(tables) or "none"
        raise AttributeError(f"results have no attribute and no table {name!r}; tables: {known}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.tables]

    def __repr__(self) -> str:
        return line(f"<Results {self.name}: {self.status}, {len(self.runs)} runs in {self.path}>")

    def _repr_html_(self) -> str:
        head = ["variant", "replication", "stop", "simulated_ns", "hops", "wall_s", "fingerprint"]
        rows = [[getattr(run, name) for name in head] for run in self.runs]
        return html_table(head, rows, repr(self)[1:-1])


class Comparison(Charted):
    """Results directories side by side, as ``floodway compare results`` shows them."""

    def __init__(self, summary: str, pictures: list[_floodway.Picture], page: str) -> None:
        self.summary: dict[str, Any] = json.loads(summary)
        """What came out, with intervals, in the form of a ``summary.json``."""
        self._charts = by_name(pictures)
        self.page: str = page
        """The report, as HTML."""

    @property
    def charts(self) -> dict[str, Chart]:
        """The charts of the report, by name."""
        return self._charts

    @property
    def variants(self) -> tuple[str, ...]:
        """The names of the variants of all directories, the baseline first."""
        return tuple(self.summary["order"])

    @property
    def caveats(self) -> tuple[str, ...]:
        """What should be known before its numbers are used."""
        return tuple(self.summary["caveats"])

    def __repr__(self) -> str:
        return line(f"<Comparison of {', '.join(self.variants)}>")


def compare(
    first: Results | str | os.PathLike[str], *more: Results | str | os.PathLike[str]
) -> Comparison:
    """Put results directories side by side.

    The first variant of the first directory is the baseline. Changes are paired by replication
    where seeds and flows are the same; otherwise there are none, and a caveat says so.

    Parameters
    ----------
    first, more
        Two directories or more, as paths or opened.

    Raises
    ------
    ResultsError
        If there are no results, or tables are not as they were written.
    ValueError
        If a directory is named twice, or only one is named.
    """
    if not more:
        raise ValueError("one results directory is compared with nothing: name another")
    opened = [of if isinstance(of, Results) else open(of) for of in (first, *more)]
    return Comparison(*_floodway.together([of._stored for of in opened]))

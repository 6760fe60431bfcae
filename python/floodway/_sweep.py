"""Sweeps: a scenario at every point of a grid, on this machine or on many."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from floodway import _floodway, _toml
from floodway._chart import Chart, Charted, by_name
from floodway._html import table as html_table
from floodway._progress import Advance, Shown, shown
from floodway._table import Table
from floodway._text import line

Words = tuple[str, ...]
Recipe = tuple[str, str, bool, Words, Words, Words, str | None, int | None, Words]
"""What a grid is made from: text, file, quick, changes, dimensions, reference, until, at most,
variants."""

Task = tuple[int, int, int]
"""Point, variant and replication."""


class Sweep(Charted):
    """What came out of a sweep."""

    def __init__(self, swept: _floodway.Swept, path: Path) -> None:
        self.path: Path = path
        """The results directory."""
        self.page: Path = Path(swept.page)
        """The report, one HTML file."""
        self.json: dict[str, Any] = json.loads(swept.json)
        """All of it."""
        self.answer: tuple[str, ...] = tuple(swept.answer)
        """What it comes to, in sentences."""
        runs, points, long = swept.tables
        self.runs: Table = Table(runs)
        """A row for every run, with all its numbers."""
        self.points: Table = Table(points)
        """A row for every point and variant: means, their 95 % intervals, and changes from the
        first variant, paired by replication."""
        self.long: Table = Table(long)
        """A row for every point, variant and metric: the mean with its interval, the changes from
        the reference point, the first variant and the best point, and whether it is in the best
        set."""
        self._charts = by_name(swept.charts)

    @property
    def charts(self) -> dict[str, Chart]:
        """The charts of the report: ``fct-mean-ns`` shows the metric ``fct_mean_ns``, and so on."""
        return self._charts

    @property
    def name(self) -> str:
        """The scenario's name."""
        return str(self.json["scenario"])

    @property
    def variants(self) -> tuple[str, ...]:
        """The names of the variants, the baseline first."""
        return tuple(self.json["variants"])

    @property
    def reference(self) -> dict[str, str]:
        """The point from which changes are counted: its values by path."""
        at = self.json["points"][self.json["reference"]["point"]]
        axes = self.json["axes"]
        return {axis["path"]: axis["values"][of] for axis, of in zip(axes, at, strict=True)}

    @property
    def caveats(self) -> tuple[str, ...]:
        """What should be known before its numbers are used."""
        return tuple(self.json["caveats"])

    @property
    def violations(self) -> tuple[str, ...]:
        """What happened that should not; empty in a sound sweep."""
        return tuple(self.json["violations"])

    @property
    def fingerprint(self) -> str:
        """Of all runs: the same on every machine and with any number of threads."""
        return str(self.json["provenance"]["fingerprint"])

    @property
    def reused(self) -> int:
        """Runs that were taken from the cache."""
        return int(self.json["provenance"]["reused"])

    def __repr__(self) -> str:
        points, runs = len(self.json["points"]), len(self.json["runs"])
        return line(f"<Sweep {self.name}: {runs} runs at {points} points in {self.path}>")

    def _repr_html_(self) -> str:
        rows = [[axis["path"], ", ".join(axis["values"])] for axis in self.json["axes"]]
        rows.append(["variants", ", ".join(self.variants)])
        rows += [["answer", sentence.replace("`", "")] for sentence in self.answer]
        return html_table(["sweep", self.name], rows, repr(self)[1:-1])


def dimensions(vary: Mapping[str, str | Iterable[object]]) -> list[str]:
    """Write dimensions as ``--vary`` takes them.

    >>> dimensions({"a.b": [0.2, 0.4], "c": ["1KB", "2KB"], "d": "1us..100us/3log"})
    ['a.b=0.2,0.4', 'c=1KB,2KB', 'd=1us..100us/3log']
    """
    if not isinstance(vary, Mapping):
        raise TypeError(
            f"`vary` is {vary!r}: write a mapping of paths to values, like "
            "{'switch.queue.size': ['500KB', '1MB']}"
        )
    return [f"{path}={_values(path, values)}" for path, values in vary.items()]


def _values(path: str, values: object) -> str:
    """Write the values of a dimension: a range, or a list of values in their order."""
    if isinstance(values, str):
        return values
    if isinstance(values, (set, frozenset)):
        raise TypeError(
            f"`vary` has a set for {path!r}, and a set has no order: write a list, or "
            "sorted(...) of the set"
        )
    if isinstance(values, Mapping):
        raise TypeError(
            f"`vary` has a mapping for {path!r}: write the whole path with dots, like "
            "{'switch.queue.size': ['500KB', '1MB']}"
        )
    if not isinstance(values, Iterable):
        raise TypeError(
            f"`vary` has {values!r} for {path!r}, which is one value: write a list, as in "
            f"[{values!r}], or a range like '0.2..0.8/4'"
        )
    return ",".join(_toml.plain(value) for value in values)


def settings(reference: Mapping[str, object] | None) -> list[str]:
    """Write a reference as ``--reference`` takes it.

    >>> settings({"a.b": 0.2, "c": "1KB"})
    ['a.b=0.2', 'c=1KB']
    """
    if reference is None:
        return []
    if not isinstance(reference, Mapping):
        raise TypeError(
            f"`reference` is {reference!r}: write a mapping of paths to values, like "
            "{'switch.queue.size': '1MB'}"
        )
    if not reference:
        raise ValueError(
            "`reference` is empty: write the value of a path that is varied, like "
            "{'switch.queue.size': '1MB'}, or leave it out"
        )
    return [f"{path}={_toml.plain(value)}" for path, value in reference.items()]


def run(
    recipe: Recipe,
    path: Path,
    cache: Path | None,
    metrics: list[str],
    threads: int | None,
    progress: bool | Callable[[Advance], object],
    client: Any,
    label: str,
) -> Sweep:
    """Run a sweep here, or on the workers of a client of Dask."""
    if client is not None:
        _look_at(client)
    # Made before the bar, so that what is wrong is told on a clean line.
    grid = _grid(recipe)
    bar = shown(progress, label)
    try:
        if client is not None:
            swept = _distributed(recipe, path, cache, metrics, client, bar)
        else:
            watch = (lambda *values: bar(Advance(*values))) if bar else None
            place = os.fspath(cache) if cache else None
            swept = grid.run(os.fspath(path), place, metrics, threads, watch)
    finally:
        if bar:
            bar.close()
    return Sweep(swept, path)


@lru_cache(maxsize=8)
def _grid(recipe: Recipe) -> _floodway.Grid:
    """Make the grid; a worker does that once for all its runs."""
    text, file, quick, set, vary, reference, until, at_most, variants = recipe
    return _floodway.Grid(
        (text, file, quick, list(set)),
        list(vary),
        list(reference),
        until,
        at_most,
        list(variants),
    )


def _make(
    recipe: Recipe, sources: str, cache: str | None, task: Task
) -> tuple[str, str, bool, float, int]:
    """Make one run, on a worker: one thread for each, because workers have as many as they want."""
    if sources != _floodway.sources:
        raise RuntimeError(
            f"the worker on {platform.node()} has another floodway ({_floodway.__version__}, from "
            "other sources), so its runs would be others; install the same package on all workers"
        )
    return _grid(recipe).make(task, cache, 1)


def _look_at(client: Any) -> None:
    """Raise what is wrong with a client."""
    # Who has a client has imported this.
    distributed = sys.modules.get("distributed")
    if distributed is None or not isinstance(client, distributed.Client):
        raise TypeError(
            f"`client` is {client!r}: a sweep needs a distributed.Client, or None to run here"
        )
    if client.asynchronous:
        raise TypeError("`client` is asynchronous: make it without asynchronous=True")
    if _is_closed(client):
        raise RuntimeError("the client is closed: keep it open until the sweep has ended")


def _is_closed(client: Any) -> bool:
    return client.status in ("closing", "closed")


def _distributed(
    recipe: Recipe,
    path: Path,
    cache: Path | None,
    metrics: list[str],
    client: Any,
    bar: Shown | None,
) -> _floodway.Swept:
    """Run a sweep on the workers of a client.

    What is next is decided here, from the runs so far; a run depends on nothing but its task. A run
    that is lost with its worker is made again by another; those that have come here stay.
    """
    grid = _grid(recipe)
    started, held = grid.begin(os.fspath(path))
    try:
        return _locked(grid, recipe, started, path, cache, metrics, client, bar)
    finally:
        held.release()


def _locked(
    grid: _floodway.Grid,
    recipe: Recipe,
    started: str,
    path: Path,
    cache: Path | None,
    metrics: list[str],
    client: Any,
    bar: Shown | None,
) -> _floodway.Swept:
    """Run a sweep on the workers of a client, into a directory that is locked."""
    from dask.distributed import as_completed

    place = os.fspath(cache.absolute()) if cache else None
    make = partial(_make, recipe, _floodway.sources, place)
    threads = sum(client.nthreads().values())
    rows: dict[Task, str] = {}
    meanings: dict[str, None] = {}
    found = 0
    while tasks := grid.due(list(rows.values()), list(meanings)):
        simulated_ns, hops = 0.0, 0
        futures: list[Any] = []
        try:
            # Not pure: Dask has a memory of its own for what is, but runs are in the cache.
            futures = client.map(make, tasks, pure=False)
            by_future = {future.key: task for future, task in zip(futures, tasks, strict=True)}
            for done, future in enumerate(as_completed(futures), 1):
                row, meaning, was_there, its_ns, its_hops = future.result()
                rows[by_future[future.key]] = row
                if meaning not in meanings:
                    grid.possible(meaning, metrics)
                    meanings[meaning] = None
                found += was_there
                simulated_ns, hops = simulated_ns + its_ns, hops + its_hops
                if bar:
                    bar(Advance(None, done / len(tasks), done, len(tasks), simulated_ns, hops))
        except BaseException as error:
            if not _is_closed(client):
                # Those that have begun go on to their end, and into the cache.
                client.cancel(futures)
                raise
            if not isinstance(error, Exception):
                raise
            kept = f"what is finished is in {cache}" if cache else "nothing is kept without a cache"
            raise RuntimeError(
                f"the client was closed before the sweep had ended; {kept}: keep the client open, "
                "and run the sweep again"
            ) from error
        # Some metrics are only in some runs of a round.
        grid.look_for(list(meanings), metrics)
    ordered = [rows[task] for task in sorted(rows)]
    made = (found, started, threads)
    return grid.finish(ordered, list(meanings), made, os.fspath(path), metrics)

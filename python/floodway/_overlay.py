"""Measured latency under load beside simulated: data files of flent over results of floodway."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from floodway._errors import FlentError, ResultsError
from floodway._flent import FlentFile, Point, of_json, read_flent
from floodway._html import table as html_table
from floodway._plot import draw
from floodway._results import Results
from floodway._results import open as open_results
from floodway._text import line

_QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}

_DIRECTIONS = ("download", "upload")

# The columns of the table after the name: the key, the heading, and decimals.
_COLUMNS = {
    "ping_idle_p50_ms": ("idle ping, median [ms]", 2),
    "ping_loaded_p50_ms": ("loaded, median [ms]", 2),
    "ping_loaded_p95_ms": ("p95 [ms]", 2),
    "ping_loaded_p99_ms": ("p99 [ms]", 2),
    "pings_loaded": ("loaded pings", 0),
    "download_mbps": ("download [Mb/s]", 2),
    "upload_mbps": ("upload [Mb/s]", 2),
}


def lay_over(
    *what: FlentFile | Results | str | os.PathLike[str],
    variants: Sequence[str] | None = None,
    replication: int = 0,
    pings: str = "",
    labels: Sequence[str] | None = None,
) -> Overlay:
    """Put measured latency under load beside simulated.

    Parameters
    ----------
    what
        Data files of flent and results directories of floodway, as paths or opened. A results
        directory stands for a run of each of its variants.
    variants
        Of results directories only these variants.
    replication
        Of results directories this replication.
    pings
        Only series of pings whose name contains this, such as ``UDP BE``. Default all.
    labels
        Names for table and chart, one for each file and variant. Default their titles.

    Raises
    ------
    FlentError
        If a file cannot be read, or has no such pings.
    ResultsError
        If there are no results, no such variant or replication, no pings, or no ``flow_samples``.
    ValueError
        If nothing is named, or there is not a label for each file and variant.
    """
    files = [file for one in what for file in _files(one, variants, replication)]
    if not files:
        raise ValueError("nothing is named: give a data file of flent or a results directory")
    for file in files:
        if not _chosen(file, pings):
            there = ", ".join(repr(name) for name in file.pings) or "none"
            named = f" with {pings!r} in its name" if pings else ""
            raise FlentError(
                f"{file.path} has no series of pings{named}; it has {there}: "
                + ("choose other pings" if file.pings else "measure with a test such as rrul")
            )
    if labels is None:
        labels = [file.title for file in files]
        labels = [
            label if labels.count(label) == 1 else f"{label} ({at + 1})"
            for at, label in enumerate(labels)
        ]
    elif len(labels) != len(files) or len(set(labels)) < len(labels):
        raise ValueError(
            f"{len(labels)} labels were given for {len(files)} files and variants: give a "
            "different one for each, in their order"
        )
    return Overlay(files, list(labels), pings)


def _files(
    one: FlentFile | Results | str | os.PathLike[str],
    variants: Sequence[str] | None,
    replication: int,
) -> Iterator[FlentFile]:
    if isinstance(one, FlentFile):
        yield one
        return
    if not isinstance(one, Results):
        if not Path(one).is_dir():
            yield read_flent(one)
            return
        one = open_results(one)
    for variant in one.variants if variants is None else variants:
        places = [
            place
            for place, run in enumerate(one.runs)
            if (run.variant, run.replication) == (variant, replication)
        ]
        if not places:
            there = ", ".join(f"{run.variant} {run.replication}" for run in one.runs) or "none"
            raise ResultsError(
                f"{one.path} has no run {variant} {replication}; there are {there}: "
                "choose other variants, or another replication"
            )
        yield of_json(one.path / variant, json.loads(one._stored.flent(places[0])))


def _chosen(file: FlentFile, pings: str) -> list[str]:
    return [name for name in file.pings if pings in name]


def _quantile(values: list[float], p: float) -> float:
    """Give a quantile of sorted values, linear between two of them; NaN of none."""
    if not values:
        return math.nan
    place = p * (len(values) - 1)
    below = math.floor(place)
    above = min(below + 1, len(values) - 1)
    return values[below] + (values[above] - values[below]) * (place - below)


class Overlay:
    """Latency under load of several files and runs. A notebook shows its table."""

    def __init__(self, files: Sequence[FlentFile], labels: Sequence[str], pings: str) -> None:
        self.files: tuple[FlentFile, ...] = tuple(files)
        """What is compared. Runs of floodway have the form of flent's files."""
        self.labels: tuple[str, ...] = tuple(labels)
        """What they are called here, in the same order."""
        self.pings: str = pings
        """Which series of pings count: those with this in their names."""

    @property
    def table(self) -> list[dict[str, Any]]:
        """A row for each file: its ``name``, quantiles of round-trip times, and mean goodput.

        A ping is idle before the first TCP flow has a rate, and loaded from then until the last
        one has. Without TCP flows all pings are idle. NaN stands for what is not there.
        """
        return [self._row(label, file) for label, file in zip(self.labels, self.files, strict=True)]

    def _row(self, label: str, file: FlentFile) -> dict[str, Any]:
        idle, loaded = self._split(file)
        row: dict[str, Any] = {"name": label, "ping_idle_p50_ms": _quantile(idle, 0.5)}
        for name, p in _QUANTILES.items():
            row[f"ping_loaded_{name}_ms"] = _quantile(loaded, p)
        row["pings_loaded"] = len(loaded)
        for direction in _DIRECTIONS:
            rates = [rate for _, rate in file.goodput(direction)]
            row[f"{direction}_mbps"] = sum(rates) / len(rates) if rates else math.nan
        return row

    def _split(self, file: FlentFile) -> tuple[list[float], list[float]]:
        """Give the sorted times of idle pings and of loaded ones, in milliseconds."""
        begin, end = file.load or (math.inf, math.inf)
        points = self._points(file)
        idle = sorted(value for time, value in points if time < begin)
        loaded = sorted(value for time, value in points if begin <= time <= end)
        return idle, loaded

    def _points(self, file: FlentFile) -> list[Point]:
        return sorted(point for name in _chosen(file, self.pings) for point in file.series(name))

    @property
    def vega(self) -> dict[str, Any]:
        """A specification of Vega-Lite 5 with the numbers of the chart.

        It has four parts: pings over time, their distribution under load, up to the largest 99th
        percentile unless its axis is logarithmic, and goodput over time in both directions.
        """
        over_time, cdf = [], []
        goodput: dict[str, list[dict[str, Any]]] = {direction: [] for direction in _DIRECTIONS}
        for label, file in zip(self.labels, self.files, strict=True):
            over_time += _series(label, _means(self._points(file)), 1e6)
            loaded = self._split(file)[1]
            steps = [(value * 1e6, at / len(loaded)) for at, value in enumerate(loaded, 1)]
            cdf += _series(label, steps, 1.0)
            for direction, values in goodput.items():
                values += _series(label, _means(file.goodput(direction)), 1e6)
        x = _latency(cdf, "x")
        tails = [_quantile(self._split(file)[1], 0.99) * 1e6 for file in self.files]
        tails = [tail for tail in tails if not math.isnan(tail)]
        if tails and not x["scale"]:
            # The slowest pings would take most of the axis.
            x["scale"] = {"domain": [0.95 * min(value["x"] for value in cdf), 1.05 * max(tails)]}
        time = {"title": "time since the beginning [s]"}
        share = {"title": "share of pings", "scale": {"domain": [0, 1]}}
        parts = [
            _part(
                f"Pings over time, means over {_STEP_S:g} s",
                over_time,
                time,
                _latency(over_time, "y"),
            ),
            _part("Pings under load (CDF)", cdf, x, share, interpolate="step-after"),
        ]
        parts += [
            _part(f"Goodput over time: {direction}", values, time, {"title": "goodput [b/s]"})
            for direction, values in goodput.items()
        ]
        return {"title": "Latency under load", "columns": 2, "concat": parts}

    def plot(self) -> list[Any]:
        """Draw pings over time and their distribution, and goodput by direction, with matplotlib.

        Returns
        -------
        list of matplotlib.axes.Axes
            The axes of the four parts, in a new figure: ``axes[0].figure``.

        Raises
        ------
        ModuleNotFoundError
            If matplotlib is not installed.
        """
        axes: list[Any] = draw(self.vega, None)
        return axes

    def save(self, path: str | os.PathLike[str]) -> None:
        """Draw the chart into a file, whose ending says in which form: .png, .pdf or .svg.

        Raises
        ------
        ValueError
            If matplotlib has no such form.
        """
        figure = self.plot()[0].figure
        try:
            figure.savefig(path, dpi=150)
        finally:
            from matplotlib import pyplot

            pyplot.close(figure)

    def __str__(self) -> str:
        """Write the table as text."""
        rows = [["", *(heading for heading, _ in _COLUMNS.values())], *self._cells()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        written = [
            "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])])
            for row in rows
        ]
        return "\n".join(text.rstrip() for text in written)

    def _cells(self) -> list[list[str]]:
        def cell(value: float, digits: int) -> str:
            return "-" if math.isnan(value) else f"{value:.{digits}f}"

        return [
            [line(row["name"]), *(cell(row[key], digits) for key, (_, digits) in _COLUMNS.items())]
            for row in self.table
        ]

    def __repr__(self) -> str:
        return line(f"<Overlay of {', '.join(self.labels)}>")

    def _repr_html_(self) -> str:
        head = ["", *(heading for heading, _ in _COLUMNS.values())]
        return html_table(head, self._cells(), "Latency under load")


# The time over which a chart averages: the step of flent by default.
_STEP_S = 0.2


def _means(points: list[Point]) -> list[Point]:
    """Give the mean of the values in each step, at its middle."""
    steps: dict[int, list[float]] = {}
    for time, value in points:
        steps.setdefault(math.floor(time / _STEP_S), []).append(value)
    return [
        ((step + 0.5) * _STEP_S, sum(values) / len(values))
        for step, values in sorted(steps.items())
    ]


def _series(label: str, points: list[Point], factor: float) -> list[dict[str, Any]]:
    return [{"series": label, "x": x, "y": y * factor} for x, y in points]


def _latency(values: list[dict[str, Any]], letter: str) -> dict[str, Any]:
    """Give an axis of times: logarithmic if they differ so much that it has several labels."""
    times = [value[letter] for value in values]
    spread = bool(times) and max(times) > 30 * min(times) > 0
    return {"title": "round-trip time [ns]", "scale": {"type": "log"} if spread else {}}


def _part(
    title: str,
    values: list[dict[str, Any]],
    x: dict[str, Any],
    y: dict[str, Any],
    **mark: str,
) -> dict[str, Any]:
    encoding: dict[str, Any] = {
        name: {"field": name, "type": "quantitative", **channel}
        for name, channel in (("x", x), ("y", y))
    }
    encoding["color"] = {"field": "series", "type": "nominal", "title": None}
    layer = {"data": {"values": values}, "mark": {"type": "line", **mark}, "encoding": encoding}
    return {"title": title, "height": 260, "width": 400, "layer": [layer]}

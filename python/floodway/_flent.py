"""Data files of flent, which measures networks: https://flent.org."""

from __future__ import annotations

import bz2
import gzip
import json
import math
import os
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from floodway._errors import FlentError
from floodway._text import line

VERSION = 4
"""The version of the format that is read."""

# What a file may be unpacked: a measurement of a day has a hundredth of it.
_MOST_BYTES = 1 << 29

_PING = "Ping (ms) "

# Series that flent computes from the others of the same name.
_COMPUTED = ("avg", "sum")

Point = tuple[float, float]
"""A time in seconds since the test began, and a value."""


def read_flent(path: str | os.PathLike[str]) -> FlentFile:
    """Read a data file of flent, format version 4: ``.flent.gz``, also with bzip2 or not packed.

    Parameters
    ----------
    path
        The file, measured by flent or written by ``floodway export flent``.

    Raises
    ------
    OSError
        If the file cannot be opened.
    FlentError
        If it is cut, damaged, no JSON, no data file of flent, or one of another version.
    """
    path = Path(path)
    with path.open("rb") as file:
        text = _unpacked(path, file)
    try:
        data = json.loads(text, parse_constant=lambda _: None)
    except UnicodeDecodeError as error:
        raise _no_json(path, f"byte {error.start} is no text") from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}: {error.msg}"
        raise _no_json(path, place) from None
    except RecursionError:
        raise _no_json(path, "its values are nested too deeply") from None
    return of_json(path, data)


def _unpacked(path: Path, file: BinaryIO) -> bytes:
    packed = file.read(_MOST_BYTES + 1)
    name, text = "", packed
    try:
        if packed.startswith(b"\x1f\x8b"):
            name = "gzip"
            with gzip.GzipFile(fileobj=BytesIO(packed)) as unpacked:
                text = unpacked.read(_MOST_BYTES + 1)
        elif packed.startswith(b"BZ"):
            name = "bzip2"
            with bz2.BZ2File(BytesIO(packed)) as unpacked:
                text = unpacked.read(_MOST_BYTES + 1)
    except EOFError:
        raise FlentError(
            f"{path} is cut: its {name} data end after {len(packed):,} bytes, before they are "
            "complete; copy the file again from where it was measured"
        ) from None
    except (OSError, zlib.error, ValueError) as error:
        raise FlentError(
            f"{path} is damaged: {name} cannot unpack it ({error}); copy the file again from "
            "where it was measured"
        ) from None
    if len(text) > _MOST_BYTES:
        raise FlentError(
            f"{path} has more than {_MOST_BYTES >> 20} MiB of text; "
            "measure for a shorter time, or with a longer --step-size"
        )
    return text


def _no_json(path: Path, cause: str) -> FlentError:
    return FlentError(
        f"{path} is no data file of flent: it is not JSON ({cause}); "
        "give the file with the ending .flent.gz that flent wrote"
    )


def of_json(path: Path, data: Any) -> FlentFile:
    """Check what a file has, and give it."""
    needed = {"version": int, "metadata": dict, "x_values": list, "results": dict}
    has = data if isinstance(data, dict) else {}
    missing = [name for name, kind in needed.items() if not isinstance(has.get(name), kind)]
    if missing:
        names = ", ".join(f"`{name}`" for name in missing)
        raise FlentError(
            f"{path} is JSON, but no data file of flent, which has {names} besides; "
            "give the file with the ending .flent.gz that flent wrote"
        )
    if has["version"] != VERSION:
        older = has["version"] < VERSION
        remedy = (
            "let flent convert it: python -c \"from flent import resultset; resultset.load('OLD')"
            ".dump_file('NEW.flent.gz')\""
            if older
            else "write it with a version of flent that has format version 4, such as 2.3.0"
        )
        raise FlentError(
            f"{path} has version {has['version']} of flent's format, and version {VERSION} is "
            f"read; {remedy}"
        )
    times = has["x_values"]
    if not all(_is_number(time) for time in times):
        raise _damaged(path, "`x_values` has values that are no times in seconds")
    for name, values in has["results"].items():
        if not isinstance(values, list) or len(values) != len(times):
            count = len(values) if isinstance(values, list) else "no"
            raise _damaged(path, f"series {name!r} has {count} values for {len(times)} times")
        if not all(value is None or _is_number(value) for value in values):
            raise _damaged(path, f"series {name!r} has values that are no numbers")
    raw = has.get("raw_values") or {}
    if not isinstance(raw, dict) or not all(isinstance(of, list) for of in raw.values()):
        raise _damaged(path, "`raw_values` has no lists of values")
    metadata = has["metadata"]
    points = {name: _points(path, name, values) for name, values in raw.items()}
    start = _start(metadata, [of[0][0] for of in points.values() if of])
    return FlentFile(
        path=path,
        metadata=metadata,
        x_values=[float(time) for time in times],
        results=has["results"],
        raw_values={
            name: [(time - start, value) for time, value in of] for name, of in points.items() if of
        },
    )


def _is_number(value: object) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and math.isfinite(value)  # type: ignore[arg-type]


def _damaged(path: Path, cause: str) -> FlentError:
    return FlentError(f"{path} is damaged: {cause}; copy or measure it again")


def _points(path: Path, name: str, values: list[Any]) -> list[Point]:
    """Give times since 1970 and values; entries of other quantities, such as windows, have none."""
    points = []
    for value in values:
        if not isinstance(value, dict):
            raise _damaged(path, f"the raw values of {name!r} are no objects with `t` and `val`")
        time, number = value.get("t"), value.get("val")
        if _is_number(time) and _is_number(number):
            points.append((float(time), float(number)))  # type: ignore[arg-type]
    return points


def _start(metadata: Mapping[str, Any], firsts: list[float]) -> float:
    """Give when the test began, in seconds since 1970."""
    if not firsts:
        return 0.0
    text = metadata.get("T0") or metadata.get("TIME")
    try:
        when = datetime.fromisoformat(str(text).replace("Z", "+00:00"))
    except ValueError:
        return min(firsts)
    # Without a zone it may be local time: zones are quarters of an hour apart.
    start = when.replace(tzinfo=when.tzinfo or timezone.utc).timestamp()
    return start + round((min(firsts) - start) / 900) * 900


@dataclass(frozen=True, repr=False)
class FlentFile:
    """What flent measured in one test, or a run of floodway in its form.

    Times count from the beginning of the test, in seconds. Rates are in Mb/s and the times of
    pings in milliseconds, as in the file.
    """

    path: Path
    """Where it is."""
    metadata: Mapping[str, Any] = field(hash=False)
    """What flent says about the test, such as ``NAME``, ``TITLE``, ``LENGTH`` and ``HOSTS``."""
    x_values: list[float] = field(hash=False)
    """The times of `results`."""
    results: Mapping[str, list[float | None]] = field(hash=False)
    """Series by name, with a value or None for each of these times."""
    raw_values: Mapping[str, list[Point]] = field(hash=False)
    """Series by name as they were measured: times and values, without those that flent computes."""

    @property
    def test(self) -> str:
        """The name of the test, such as ``rrul``."""
        return str(self.metadata.get("NAME") or "")

    @property
    def title(self) -> str:
        """Its title; that of the file if it has none."""
        return str(self.metadata.get("TITLE") or self.path.name.split(".flent")[0])

    @property
    def pings(self) -> tuple[str, ...]:
        """The names of the series with round-trip times, without their average."""
        return self._named(_PING)

    def series(self, name: str) -> list[Point]:
        """Give a series as it was measured; one that flent computes at the times of `x_values`.

        Raises
        ------
        FlentError
            If the file has no such series.
        """
        if name in self.raw_values:
            return self.raw_values[name]
        if name not in self.results:
            there = ", ".join(repr(name) for name in self.results) or "none"
            raise FlentError(
                f"{self.path} has no series {name!r}; it has {there}: "
                "choose one of these, or measure with a test that has it, such as rrul"
            )
        both = zip(self.x_values, self.results[name], strict=True)
        return [(time, value) for time, value in both if value is not None]

    def goodput(self, direction: str) -> list[Point]:
        """Give the sum of the goodput of all TCP flows in a direction, in Mb/s.

        Parameters
        ----------
        direction
            ``download`` or ``upload``.

        Raises
        ------
        ValueError
            If there is no such direction.
        """
        if direction not in ("download", "upload"):
            raise ValueError(f"direction {direction!r} is neither 'download' nor 'upload'")
        sums: dict[float, float] = {}
        for name in self._named(f"TCP {direction}"):
            for time, value in zip(self.x_values, self.results[name], strict=True):
                if value is not None:
                    sums[time] = sums.get(time, 0.0) + value
        return list(sums.items())

    @property
    def load(self) -> tuple[float, float] | None:
        """When the first TCP flow has a rate, and when the last one has; None without any."""
        times = [time for of in ("download", "upload") for time, _ in self.goodput(of)]
        return (min(times), max(times)) if times else None

    def _named(self, beginning: str) -> tuple[str, ...]:
        def is_measured(name: str) -> bool:
            rest = name.removeprefix(beginning).strip()
            # A name with two colons has another quantity of the series before them.
            return name.startswith(beginning) and rest not in _COMPUTED and not _is_part(name)

        return tuple(name for name in self.results if is_measured(name))

    def __repr__(self) -> str:
        count = len(self.results)
        return line(f"<FlentFile {self.test}: {count} series, {self.title}, in {self.path}>")


def _is_part(name: str) -> bool:
    """Say whether a series has another quantity than that of its name: ``… BE::tcp_rtt``.

    The numbered flows of a test with several streams, ``… BE::1``, are series of their own.
    """
    _, found, rest = name.partition("::")
    return bool(found) and not rest.isdigit()

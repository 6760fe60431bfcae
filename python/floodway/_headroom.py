"""Headroom: as a sum, by rates and cables, of a vendor's table, and of a pool that ports share."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from operator import index
from pathlib import Path
from typing import Any

from floodway import _arguments, _floodway
from floodway._scenario import Scenario


@dataclass(frozen=True)
class HeadroomPart:
    """A part of a headroom."""

    part: str
    """What it is."""
    time_ns: float
    """How long it delays the end of the arrivals; 0 for single frames."""
    on_wire: int
    """The bytes that the link carries in this time."""
    buffer: int
    """The buffer space that they fill at most, in bytes."""
    evidence: str | None
    """How the time is known, as in a device profile; None if it is computed or was given."""
    source: str | None
    """And from where."""


@dataclass(frozen=True)
class WorstCase:
    """The worst case of a headroom that a search has found by simulation."""

    bytes: int
    """The largest occupancy above XOFF."""
    runs: int
    """How many runs the search took."""
    toml: str = field(repr=False)
    """The scenario in which it occurs."""

    @property
    def scenario(self) -> Scenario:
        """The scenario in which it occurs."""
        return Scenario._of(self.toml, "headroom.toml", False, [])


@dataclass(frozen=True)
class Headroom:
    """What a lossless port has room for after it has sent a pause, in bytes."""

    rate: str
    """Rate of the link."""
    cable: str
    """Length of the cable."""
    total: int
    """The headroom."""
    parts: tuple[HeadroomPart, ...]
    """What it consists of."""
    worst_frame: int
    """Length of the frame that takes most of the buffer for its time on the wire."""
    worst_occupied: int
    """The buffer space that it takes."""
    worst_total: int | None
    """With a measured delay: the headroom without the measurement, by the cable and the bounds of
    IEEE 802.3."""
    _settings: dict[str, Any] = field(repr=False, compare=False)

    def search(self) -> WorstCase:
        """Search for the worst case by simulation; for one class (``classes=1``)."""
        if self._settings["classes"] != 1:
            raise ValueError("a search is for one class: compute the headroom with `classes=1`")
        return WorstCase(*_floodway.headroom_search(self.rate, self.cable, self._settings))

    def to_pandas(self) -> Any:
        """Give the parts as a ``pandas.DataFrame``; needs pandas."""
        return _frame(self.parts)


@dataclass(frozen=True)
class Headrooms(Sequence[Headroom]):
    """Headrooms by rate and cable."""

    all: tuple[Headroom, ...]
    """The headrooms, rate by rate."""

    def __getitem__(self, key: Any) -> Any:
        """Give one by its number, or by its rate and cable as they were asked for."""
        if isinstance(key, tuple):
            found = [one for one in self.all if (one.rate, one.cable) == key]
            if not found:
                raise KeyError(key)
            return found[0]
        return self.all[key]

    def __len__(self) -> int:
        return len(self.all)

    def __iter__(self) -> Iterator[Headroom]:
        return iter(self.all)

    def to_pandas(self) -> Any:
        """Give a ``pandas.DataFrame`` with rates as rows and cables as columns; needs pandas."""
        import pandas

        rates = list(dict.fromkeys(one.rate for one in self.all))
        cables = list(dict.fromkeys(one.cable for one in self.all))
        cells = {(one.rate, one.cable): one.total for one in self.all}
        rows = [[cells[rate, cable] for cable in cables] for rate in rates]
        return pandas.DataFrame(rows, index=rates, columns=cables)


@dataclass(frozen=True)
class TableLine:
    """A line of a vendor's table of headrooms."""

    rate: str
    """Speed of the port."""
    cable: str
    """Length of the cable."""
    xoff: int
    """The headroom that the table has."""
    cable_holds: int
    """The bytes that the cable holds in both directions."""
    reading: int | None
    """What the best reading of the table gives."""
    computed: int
    """What the sum gives."""
    is_half: bool
    """Whether the table has half of what the reading gives."""
    too_small: bool
    """Whether a link that is full of long frames overflows it."""


@dataclass(frozen=True)
class TableRest:
    """What a table has at a speed for everything but the cable, in bytes."""

    rate: str
    """The speed."""
    bytes: int
    """What the table has."""
    computed: int
    """The sum of frames, pause frames and the neighbor's response."""
    phy: int | None
    """The bound of MAC and PHY at the switch's end; None if it is not known at this speed."""
    remains: int
    """What the table has in addition; negative if it has less."""
    remains_ns: float
    """The same as the time in which frames of 64 bytes fill it."""


@dataclass(frozen=True)
class HeadroomTable:
    """A vendor's table of headrooms, explained."""

    lines: tuple[TableLine, ...]
    """Its lines."""
    rests: tuple[TableRest, ...]
    """What does not depend on the cable; empty if the reading does not say it."""
    cell: int
    """Bytes of a cell of the sum."""
    explained: int
    """How many lines the reading explains."""
    tried: int
    """How many readings were tried."""
    as_good: int
    """How many of them explain as many lines."""
    reading: dict[str, Any] | None
    """The reading with its constants; None if none explains more than half of the lines."""

    def to_pandas(self) -> Any:
        """Give the lines as a ``pandas.DataFrame``; needs pandas."""
        return _frame(self.lines)


@dataclass(frozen=True)
class PoolRisk:
    """How likely a pool of headroom of one size overflows."""

    pool: str
    """``scenario``, ``oversubscribed`` or ``size``."""
    oversubscription: float | None
    """N of a pool that is oversubscribed 1:N."""
    smallest_bytes: int
    """The smallest pool of a switch."""
    largest_bytes: int
    """The largest pool of a switch."""
    overflows: int
    """Replications in which it overflows."""
    replications: int
    """All replications."""
    probability: float
    """The share of replications in which it overflows."""
    probability_low: float
    """Lower end of the 95 % interval of Clopper and Pearson."""
    probability_high: float
    """Upper end."""
    per_second: float | None
    """Overflows per second of simulated time, of a pool that loses nothing."""
    per_pause: float | None
    """Overflows per pause."""


@dataclass(frozen=True)
class HeadroomRisk:
    """How likely pools of headroom overflow under the traffic of a scenario."""

    risks: tuple[PoolRisk, ...]
    """By size: that of the scenario if it has one, those by N, and those by bytes."""
    median_bytes: float
    """The largest use of a pool in the middle replication."""
    p90_bytes: float
    """In nine of ten replications at most."""
    max_bytes: float
    """In all."""
    safe_oversubscription: float | None
    """The largest N with which no pool would have overflowed; None if no headroom was used."""
    simulated_ns: float
    """Simulated time of all replications."""
    pauses: int
    """Pauses in all of them."""
    lost: int
    """Packets that were lost because the headroom of their own port was too small."""

    def to_pandas(self) -> Any:
        """Give the risks as a ``pandas.DataFrame``; needs pandas."""
        return _frame(self.risks)


def headroom(
    rate: str = "100Gbps",
    cable: str = "40m",
    *,
    largest_frame: int = 9216,
    smallest_frame: int = 64,
    cell: int = 1,
    classes: int = 2,
    response: str | None = None,
    latency: str = "0ns",
    delay_per_meter: str = "5ns",
    phy: str | None = None,
    gearbox: str = "0ns",
    measured_delay: str | None = None,
) -> Headroom:
    """Compute the headroom of a link as a sum of its parts, as ``floodway headroom`` does.

    ``cell``: bytes in which the switch allocates its buffer. ``response``: the time that the
    neighbor takes to obey; by default what IEEE 802.3 allows. ``phy``: delays of MAC and PHY at the
    switch's end, a time or ``standard``. ``measured_delay``: a measured round trip, which takes the
    place of cable, response, MAC and PHY.

    >>> headroom("400Gbps", "500m", cell=420).total
    1604820
    """
    settings = {
        "largest_frame": largest_frame,
        "smallest_frame": smallest_frame,
        "cell": cell,
        "classes": classes,
        "response": response,
        "latency": latency,
        "delay_per_meter": delay_per_meter,
        "phy": phy,
        "gearbox": gearbox,
        "measured_delay": measured_delay,
    }
    if measured_delay is not None and response is not None:
        raise ValueError("a measured delay contains the response: leave `response` out")
    found = json.loads(_floodway.headroom(rate, cable, settings))
    return Headroom(
        rate=rate,
        cable=cable,
        total=found["total"],
        parts=tuple(HeadroomPart(**part) for part in found["parts"]),
        worst_frame=found["worst_frame"],
        worst_occupied=found["worst_occupied"],
        worst_total=found["worst_total"],
        _settings=settings,
    )


def headrooms(rates: Iterable[str], cables: Iterable[str], **settings: Any) -> Headrooms:
    """Compute the headrooms of several rates and cables; ``settings`` are those of `headroom`.

    >>> headrooms(["100Gbps", "400Gbps"], ["40m", "500m"])["400Gbps", "500m"].total
    335056
    """
    if isinstance(rates, str) or isinstance(cables, str):
        raise TypeError("`rates` and `cables` are lists; for one of each there is `headroom`")
    cables = list(cables)
    return Headrooms(tuple(headroom(rate, cable, **settings) for rate in rates for cable in cables))


def headroom_table(
    path: str | os.PathLike[str],
    *,
    largest_frame: int = 9216,
    smallest_frame: int = 64,
    cell: int = 1,
    classes: int = 2,
    response: str | None = None,
    phy: str | None = None,
) -> HeadroomTable:
    """Explain a vendor's table of headrooms, ``pg_profile_lookup.ini`` of SONiC, line by line.

    The arguments are those of the sum beside the table (`headroom`); ``cell=1`` takes the cell that
    the table shows.
    """
    settings = {
        "largest_frame": largest_frame,
        "smallest_frame": smallest_frame,
        "cell": cell,
        "classes": classes,
        "response": response,
        "latency": "0ns",
        "delay_per_meter": "5ns",
        "phy": phy,
        "gearbox": "0ns",
        "measured_delay": None,
    }
    found = json.loads(_floodway.headroom_table(Path(path), settings))
    found["lines"] = tuple(TableLine(**line) for line in found["lines"])
    found["rests"] = tuple(TableRest(**rest) for rest in found["rests"])
    return HeadroomTable(**found)


def headroom_risk(
    scenario: Scenario,
    *,
    replications: int = 100,
    pools: Iterable[str] = (),
    oversubscription: Iterable[float] = (1, 2, 3, 4, 6, 8, 12, 16),
    variant: str | None = None,
    threads: int | None = None,
) -> HeadroomRisk:
    """Estimate how likely a pool of headroom that ports share overflows.

    The scenario is simulated ``replications`` times, each time with other traffic. ``pools``: sizes
    such as ``"200KB"``. ``oversubscription``: N of pools that are oversubscribed 1:N.
    """
    if isinstance(pools, str):
        raise TypeError('`pools` is a list of sizes, such as ["200KB"]')
    if not 1 <= index(replications) <= 1_000_000:
        raise ValueError(f"`replications` is {replications}: write 1 to 1000000")
    parts = [float(n) for n in oversubscription]
    for n in parts:
        if not 1 <= n <= 1e6:
            raise ValueError(f"a pool that is oversubscribed 1:{n:g}: write N from 1 to 1000000")
    text = _floodway.headroom_risk(
        scenario._checked,
        scenario._one(variant),
        replications,
        list(pools),
        parts,
        _arguments.threads(threads),
    )
    found = json.loads(text)
    found["risks"] = tuple(PoolRisk(**risk) for risk in found["risks"])
    return HeadroomRisk(**found.pop("peaks"), **found)


def _frame(rows: Sequence[Any]) -> Any:
    import pandas

    return pandas.DataFrame([asdict(row) for row in rows])

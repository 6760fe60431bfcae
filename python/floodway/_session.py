"""Sessions: a run that a program drives with its own flows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from operator import index
from types import TracebackType

from floodway import _arguments, _floodway
from floodway._errors import warn_of
from floodway._run import Run
from floodway._scenario import Scenario, load
from floodway._text import line


@dataclass(frozen=True)
class Completion:
    """A flow whose last byte has arrived."""

    flow: int
    """Its number, as `Session.inject` gave it."""
    start_ns: float
    """When it started: the host latency after its injection, in nanoseconds."""
    completed_ns: float
    """When its last byte arrived, in nanoseconds."""

    @property
    def fct_ns(self) -> float:
        """The time from its start to its completion, in nanoseconds."""
        return self.completed_ns - self.start_ns


class Session:
    """A run into which flows are injected while it goes on.

    Injected flows take the place of those of one workload of the scenario, with its transport,
    congestion control and DSCP; other workloads send as they do in a run. Time stands still between
    calls. A flow that is injected at a time starts the host latency later. The same injections at
    the same times have the same results, on any number of threads.

    Times are numbers of nanoseconds or texts such as ``"2us"``.

    Parameters
    ----------
    scenario
        The scenario, or the path of its file.
    variant
        The name of the variant; may be left out if there is one only.
    replication
        Which one, counted from 0; may be left out if there is one only.
    workload
        The name or the number of the workload whose place injected flows take; may be left out if
        there is one only.
    latency
        Time from the injection of a flow to its start, such as the time that software needs. It is
        at least a window, the shortest time in which a frame crosses a link. Default a window.
    threads
        Default 1. Results do not depend on it.
    audit
        Whether the invariants of the simulation are checked at every event.

    Raises
    ------
    ScenarioError
        If the scenario cannot run.
    ValueError
        If the scenario cannot be a session, or leaves open which run it is.

    Examples
    --------
    >>> import floodway
    >>> scenario = floodway.Scenario(
    ...     name="two-hosts", arrivals="1us", limit="10ms",
    ...     topology={"star": {"hosts": 2}}, host={"congestion": "line_rate"},
    ...     workload=[{"permutation": {"bytes": "1KB"}}],
    ... )
    >>> with floodway.Session(scenario, latency="1us") as session:
    ...     request = session.inject("host 0", "host 1", 1000)
    ...     arrived = session.next()
    ...     response = session.inject("host 1", "host 0", "64KB")
    ...     answered = session.next()
    >>> arrived.flow == request, answered.flow == response
    (True, True)
    >>> round(answered.start_ns - arrived.completed_ns)
    1000
    >>> session.run.flows["bytes"].to_list()
    [1000, 64000]
    """

    def __init__(
        self,
        scenario: Scenario | str | os.PathLike[str],
        variant: str | None = None,
        replication: int | None = None,
        workload: str | int | None = None,
        latency: str | float | None = None,
        threads: int | None = 1,
        audit: bool = False,
    ) -> None:
        if not isinstance(scenario, Scenario):
            scenario = load(scenario)
        if replication is not None and not 0 <= index(replication) < 2**32:
            raise ValueError(f"`replication` is {replication}: they are counted from 0")
        self._scenario = scenario
        self._inner = _floodway.Session(
            scenario._checked,
            (variant, replication, None if workload is None else str(workload)),
            (
                None if latency is None else _picoseconds("latency", latency),
                _arguments.threads(threads),
                audit,
            ),
        )
        self._numbers = {name: number for number, name in enumerate(self._inner.hosts)}
        self._run: Run | None = None

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names of the hosts, in order of their numbers."""
        return tuple(self._inner.hosts)

    @property
    def latency_ns(self) -> float:
        """Time from the injection of a flow to its start, in nanoseconds."""
        return self._inner.latency / 1e3

    @property
    def window_ns(self) -> float:
        """The least latency, in nanoseconds: the shortest time in which a frame crosses a link."""
        return self._inner.window / 1e3

    @property
    def end_ns(self) -> float:
        """The time limit of the scenario, in nanoseconds."""
        return self._inner.end / 1e3

    @property
    def now(self) -> float:
        """The time of the session, in nanoseconds."""
        return self._inner.now / 1e3

    @property
    def in_flight(self) -> int:
        """Number of injected flows whose completion has not been returned."""
        return self._inner.in_flight

    @property
    def closed(self) -> bool:
        """Whether it is closed."""
        return self._inner.closed

    @property
    def run(self) -> Run:
        """The tables of the session, once it is closed."""
        if self._run is None:
            raise ValueError("the session is open: its tables are there after `close`")
        return self._run

    def inject(
        self,
        source: str | int,
        destination: str | int,
        size: str | int,
        at: str | float | None = None,
    ) -> int:
        """Inject a flow, and give its number.

        Parameters
        ----------
        source, destination
            Two hosts, by name or number.
        size
            In bytes, or a text such as ``"1MB"``.
        at
            When, not before now; the flow starts the host latency later. Default now.
        """
        octets = _floodway.octets(size) if isinstance(size, str) else _bytes(size)
        time = None if at is None else _picoseconds("at", at)
        ends = self._host("source", source), self._host("destination", destination)
        return self._inner.inject(*ends, octets, time)

    def advance(self, until: str | float) -> list[Completion]:
        """Advance to a time, and give the completions until then, in order of time and flow."""
        return [_completion(found) for found in self._inner.advance(_picoseconds("until", until))]

    def next(self, until: str | float | None = None) -> Completion | None:
        """Advance to the next completion, or to a time if that comes first, and give it.

        Completions at the same time come one by one, in order of flow. Without a time, none means
        that no injected flow is in flight, or that those that are do not complete before the end.
        """
        found = self._inner.next(None if until is None else _picoseconds("until", until))
        return None if found is None else _completion(found)

    def __iter__(self) -> Iterator[Completion]:
        """Give completion after completion, of flows that are injected meanwhile too."""
        while (completion := self.next()) is not None:
            yield completion

    def close(self) -> Run:
        """End the session, and give its tables, which are those of a run.

        Warns
        -----
        RuntimeWarning
            If something happened that should not, which is then in ``violations``.
        """
        outcome = self._inner.close()
        self._run = self._scenario._run(outcome, self._inner.variant, self._inner.replication)
        warn_of(outcome.violations, "session")
        return self._run

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self.closed:
            self.close()

    def __repr__(self) -> str:
        name = self._scenario.name
        if self.closed:
            return line(f"<Session {name}: closed>")
        return line(f"<Session {name}: {self.now:g} ns, {self.in_flight} flows in flight>")

    def _host(self, argument: str, host: str | int) -> int:
        if not isinstance(host, str):
            number = index(host)
        elif host in self._numbers:
            return self._numbers[host]
        else:
            raise ValueError(
                f"`{argument}` is {host!r}, and the network has no such host: it has "
                f"{len(self._numbers)} hosts, {self._inner.hosts[0]} to {self._inner.hosts[-1]}"
            )
        if not 0 <= number < len(self._numbers):
            raise ValueError(
                f"`{argument}` is {number}, and the network has {len(self._numbers)} hosts: "
                f"they have the numbers 0 to {len(self._numbers) - 1}"
            )
        return number


def _completion(found: tuple[int, int, int]) -> Completion:
    flow, start, completed = found
    return Completion(flow, start / 1e3, completed / 1e3)


def _bytes(size: int) -> int:
    if index(size) < 0:
        raise ValueError(f"`size` is {size}: the size must be at least 1 byte")
    if index(size) >= 2**64:
        raise ValueError(f"`size` is {size}: no flow has so many bytes, write a smaller size")
    return index(size)


def _picoseconds(argument: str, time: str | float) -> int:
    """Read a time, which may be a number of nanoseconds."""
    if isinstance(time, str):
        return _floodway.picoseconds(time)
    if not 0 <= time < 2**53:
        raise ValueError(f"`{argument}` is {time}: it must be a time of at least 0 ns")
    return round(time * 1e3)

"""One run: a variant of a scenario in one replication."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floodway._chart import Chart, Charted, by_name
from floodway._errors import ResultsError
from floodway._html import table as html_table
from floodway._progress import Progress
from floodway._table import Table
from floodway._text import line

if TYPE_CHECKING:
    from floodway import _floodway
    from floodway._why import Explanation


class Tables(Mapping[str, Table]):
    """Tables by name; each is read when it is first asked for."""

    def __init__(self, names: Iterable[str], read: Callable[[str], Table]) -> None:
        self._read = read
        self._tables: dict[str, Table | None] = dict.fromkeys(names)

    def __getitem__(self, name: str) -> Table:
        table = self._tables[name]
        if table is None:
            table = self._tables[name] = self._read(name)
        return table

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what reads them: the tables of a run, or the path of a results directory."""
        return Tables, (list(self), self._read)

    def __repr__(self) -> str:
        return line(f"<Tables {', '.join(self)}>")


class Run(Charted):
    """What came out of one run.

    Its tables are attributes: ``run.flows``, ``run.queues``, ``run.pauses`` and so on;
    ``run.tables`` has them by name. With the key ``explained_flows`` of a scenario, the first
    replication also has the tables of explained delays, such as ``run.delays``; `why` makes them
    for any run in a results directory.
    """

    def __init__(
        self,
        *,
        variant: str,
        replication: int,
        seed: int,
        tables: Tables,
        stop: str,
        simulated_ns: float,
        hops: int,
        wall_s: float,
        fingerprint: str,
        violations: list[str],
        draw: Callable[[Run], list[_floodway.Picture]],
        repeat: Callable[..., _floodway.Explained] | None = None,
        pcap: Path | None = None,
    ) -> None:
        self.variant: str = variant
        """The name of the variant."""
        self.replication: int = replication
        """The replication, counted from 0; its traffic is the same in every variant."""
        self.seed: int = seed
        """Its seed, which the variants share."""
        self.tables: Mapping[str, Table] = tables
        """All tables by name."""
        self.stop: str = stop
        """Why it ended: ``flows_done`` or ``time_limit``; in results also ``interrupted``."""
        self.simulated_ns: float = simulated_ns
        """Simulated time at its end, in nanoseconds."""
        self.hops: int = hops
        """Packet-hops: one frame over one link."""
        self.wall_s: float = wall_s
        """Seconds that the simulation took."""
        self.fingerprint: str = fingerprint
        """Of all tables, in hexadecimal: the same for any number of threads."""
        self.violations: list[str] = violations
        """What should not have happened; empty in a sound run."""
        self.pcap: Path | None = pcap
        """Its frames as a file for Wireshark; none if they were not captured."""
        self._draw = draw
        self._repeat = repeat

    @property
    def charts(self) -> dict[str, Chart]:
        """The charts of a report about this run alone, by name: ``slowdown-by-size``."""
        return by_name(self._draw(self))

    @property
    def measured_ns(self) -> tuple[float, float]:
        """The start and the end of the measured interval, in nanoseconds.

        Counters, queue depths, waiting times and rates cover it.
        """
        counters = self.tables["counters"]
        values = dict(zip(counters["name"], counters["value"], strict=True))
        return values["warmup_ns"], values["warmup_ns"] + values["measured_ns"]

    def why(
        self,
        flow: int | None = None,
        *,
        flows: Iterable[int] | None = None,
        slowest: int | None = None,
        sample: int = 200,
        root: str | None = None,
        without: str | Iterable[str] | None = None,
        against: str | None = None,
        path: bool | int = False,
        packets: bool = False,
        scenario: str | os.PathLike[str] | None = None,
        progress: bool | Callable[[Progress], object] = True,
    ) -> Explanation:
        """Explain what flows of a stored run spent their time on, and who caused it.

        It is what ``floodway why`` does: the run is repeated on one thread with an observer of
        delays, and must have the fingerprint of the stored one. The time of each followed flow is
        divided into parts by cause and place, which add up to its completion time.

        Parameters
        ----------
        flow
            The number of a flow to explain.
        flows
            The same for several flows.
        slowest
            If none is named, so many flows with the largest slowdown are explained. Default 3.
        sample
            At most so many flows, spread evenly over all measured ones, are followed for the totals
            by workload and size.
        root
            Instead, list the flows that pauses with this root delayed: ``"leaf 7 to host 57"``.
        without
            Instead, run the experiment once more with the flows of one or several causes reduced to
            one byte, and compare what the others save with what the explanation predicts:
            ``"flow:14"``, ``"workload:incast"``, or ``"root:leaf 7 to host 57"``.
        against
            Instead, show where the time goes that flows save or lose compared with this variant, in
            all replications that both variants have.
        path
            Instead, explain the critical path of flows that depend on each other: to the measured
            flow that completes last, or to the flow with this number. The run is repeated twice.
        packets
            Whether each packet of the flows that are explained one by one is explained, too: then
            there is a table ``packet_parts``.
        scenario
            The scenario file that was run. Default the one that the results name. It is not needed
            for a scenario that was built in code.
        progress
            Whether a bar shows how far it is, in a terminal or a notebook; or a function that is
            told now and then. What it raises stops the run.

        Raises
        ------
        ResultsError
            If the run is in no results directory, the scenario is not what it was, another version
            of floodway made the results, a flow is not there or has not completed, a root or a
            cause is none, or no flow on the path waited for another.
        ScenarioError
            If the scenario cannot run.
        """
        from floodway._why import explain

        if self._repeat is None:
            raise ResultsError(
                "this run is in no results directory, so it cannot be repeated: run the scenario "
                "with `compare`, or set `explained_flows` in it"
            )
        return explain(
            self._repeat,
            f"why {self.variant} {self.replication}",
            flow=flow,
            flows=flows,
            slowest=slowest,
            sample=sample,
            root=root,
            without=without,
            against=against,
            packets=packets,
            path=path,
            scenario=None if scenario is None else os.fspath(scenario),
            progress=progress,
        )

    def __getattr__(self, name: str) -> Table:
        # Asked for by copying and the like, before there is anything.
        tables = self.__dict__.get("tables", {})
        if name in tables:
            table: Table = tables[name]
            return table
        known = ", ".join(tables) or "none"
        raise AttributeError(f"a run has no attribute and no table {name!r}; its tables: {known}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.tables]

    def __repr__(self) -> str:
        broken = f", {len(self.violations)} violations" if self.violations else ""
        return line(
            f"<Run {self.variant} {self.replication}: {self.simulated_ns / 1e6:.3f} ms simulated, "
            f"{self.hops} packet-hops in {self.wall_s:.2g} s, {self.stop}, fingerprint "
            f"{self.fingerprint}{broken}>"
        )

    def _repr_html_(self) -> str:
        rows = [[name, len(table), table.doc] for name, table in self.tables.items()]
        return html_table(["table", "rows", "a row is"], rows, repr(self)[1:-1])

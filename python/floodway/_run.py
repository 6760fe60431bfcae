"""One run: a variant of a scenario in one replication."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from floodway._html import table as html_table
from floodway._table import Table
from floodway._text import line


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


class Run:
    """What came out of one run.

    Its tables are attributes: ``run.flows``, ``run.queues``, ``run.pauses`` and so on;
    ``run.tables`` has them by name.
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

    @property
    def measured_ns(self) -> tuple[float, float]:
        """The start and the end of the measured interval, in nanoseconds.

        Counters, queue depths, waiting times and rates cover it.
        """
        counters = self.tables["counters"]
        values = dict(zip(counters["name"], counters["value"], strict=True))
        return values["warmup_ns"], values["warmup_ns"] + values["measured_ns"]

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

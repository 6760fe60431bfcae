"""Why flows took as long as they did."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from operator import index
from typing import Any

from floodway import _floodway
from floodway._html import escape
from floodway._progress import Progress, shown
from floodway._run import Tables
from floodway._table import Table

SLOWEST = 3
"""Flows with the largest slowdown that are explained one by one, as in ``floodway why``."""


class Explanation:
    """What flows of a run spent their time on, and who caused it.

    It prints as the text of ``floodway why``. Its tables are attributes: ``explained``, ``delays``,
    ``delay_parts``, ``delay_losses``, ``delay_marks``, ``delay_cuts``, ``root_flows`` and
    ``pause_causes``; ``tables`` has them by name. In ``delay_parts`` are the flows that are
    explained one by one. With ``packets=True`` there is ``packet_parts``, too.
    """

    def __init__(self, explained: _floodway.Explained) -> None:
        self.text: str = explained.text
        """What ``floodway why`` prints."""
        self.json: dict[str, Any] = json.loads(explained.json)
        """What it prints with ``--json``. Times are in whole picoseconds."""
        tables = {table.name: Table(table) for table in explained.tables}
        self.tables: Mapping[str, Table] = Tables(tables, tables.__getitem__)
        """The tables by name."""

    def __getattr__(self, name: str) -> Table:
        tables = self.__dict__.get("tables", {})
        if name in tables:
            table: Table = tables[name]
            return table
        known = ", ".join(tables) or "none"
        raise AttributeError(
            f"an explanation has no attribute and no table {name!r}; its tables: {known}"
        )

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.tables]

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text.rstrip("\n")

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.text)}</pre>"


def numbers(flow: int | None, flows: Iterable[int] | None) -> list[int] | None:
    """Give the numbers of flows that are named, or none if nobody names any.

    >>> numbers(7, [1, 2])
    [7, 1, 2]
    """
    if flow is None and flows is None:
        return None
    named = [] if flow is None else [index(flow)]
    named += map(index, flows or ())
    for number in named:
        if number < 0:
            raise ValueError(f"there is no flow {number}: flows are numbered from 0")
    return named


def count(name: str, value: int) -> int:
    """Give a number of flows.

    >>> count("sample", 200)
    200
    """
    if index(value) < 0:
        raise ValueError(f"`{name}` is {value}: write a number of flows, or 0 for none")
    return index(value)


def explain(
    repeat: Callable[..., _floodway.Explained],
    label: str,
    *,
    flow: int | None,
    flows: Iterable[int] | None,
    slowest: int | None,
    sample: int,
    root: str | None,
    without: str | Iterable[str] | None,
    against: str | None,
    path: bool | int,
    packets: bool,
    scenario: str | None,
    progress: bool | Callable[[Progress], object],
) -> Explanation:
    """Repeat a run, with the arguments of `Run.why`."""
    named = numbers(flow, flows)
    if named is not None and slowest is not None:
        raise ValueError("`slowest` chooses flows, and so do `flow` and `flows`: leave one out")
    causes = [without] if isinstance(without, str) else list(without or ())
    is_path = path is not False
    questions = {
        "flow, flows or slowest": named is not None or slowest is not None,
        "root": root is not None,
        "without": bool(causes),
        "against": against is not None,
        "path": is_path,
    }
    if packets and any(given for name, given in questions.items() if not name.startswith("flow")):
        raise ValueError("`packets` explains those of flows: leave out other questions")
    asked = [f"`{question}`" for question, given in questions.items() if given]
    if len(asked) > 1:
        raise ValueError(f"{' and '.join(asked)} are different questions: ask one at a time")
    if slowest is None:
        slowest = SLOWEST if named is None else 0
    bar = shown(progress, label)
    watch = (lambda *values: bar(Progress(*values))) if bar else None
    last = None if isinstance(path, bool) else numbers(path, None)
    question: _floodway.Asked = {
        "flows": named or [],
        "slowest": count("slowest", slowest),
        "sample": count("sample", sample),
        "root": root,
        "without": causes,
        "against": against,
        "is_path": is_path,
        "path": last[0] if last else None,
        "packets": packets,
    }
    try:
        return Explanation(repeat(scenario, question, watch))
    finally:
        if bar:
            bar.close()

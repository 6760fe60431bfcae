"""Scenarios: loaded from files or built in code, checked, changed, and run."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from floodway import _arguments, _floodway, _patches, _sweep, _toml
from floodway._errors import Problem, warn_of, warn_of_others
from floodway._html import details
from floodway._html import table as html_table
from floodway._progress import Advance, Progress, shown
from floodway._results import Results
from floodway._results import open as open_results
from floodway._run import Run, Tables
from floodway._sweep import Sweep
from floodway._table import Table
from floodway._text import line

Changes = Mapping[str, Any]
"""Fields of a scenario with their new values; names nested or with dots between them."""

_BUILT = "<scenario>"
"""Stands in messages for the file of a scenario that was built in code."""

_VARIANTS = re.compile(r"^\s*\[?\s*variants\b", re.MULTILINE)
"""Where variants begin in a scenario's text."""


def load(
    path: str | os.PathLike[str], quick: bool = False, set: Changes | Iterable[str] = ()
) -> Scenario:
    """Read and check a scenario file.

    Parameters
    ----------
    path
        A TOML file.
    quick
        Whether its overlay ``[quick]`` is applied, which makes it smaller.
    set
        What to change, as for `Scenario.with_`, or texts like ``switch.queue.size=2MB``.

    Raises
    ------
    ScenarioError
        If it cannot run, with every reason.
    """
    try:
        text = Path(path).read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        # The program says what is wrong with a file that cannot be read.
        _floodway.load(os.fspath(path), quick, [])
        raise
    return parse(text, os.fspath(path), quick, set)


def parse(
    text: str,
    file: str = "<text>",
    quick: bool = False,
    set: Changes | Iterable[str] = (),
) -> Scenario:
    """Check a scenario that is given as the text of a file.

    Parameters
    ----------
    text
        TOML.
    file
        The name for messages. Files that the scenario names are sought beside it.
    quick, set
        As for `load`.

    Raises
    ------
    ScenarioError
        If it cannot run, with every reason.
    """
    if not isinstance(set, Mapping):
        return Scenario._of(text, file, quick, _toml.texts("set", set))
    if any(key == "variants" for key in set):
        # Which variants are new is known of a scenario that is read.
        return Scenario._of(text, file, quick, []).with_(set)
    return Scenario._of(text, file, quick, _toml.settings(set))


class Scenario:
    """A valid scenario with all its variants; it never changes.

    It is written as in TOML, with quantities as text, from a mapping, from keywords, or both:

    >>> scenario = Scenario(
    ...     name="two-senders",
    ...     arrivals="1us",
    ...     limit="10ms",
    ...     topology={"star": {"hosts": 3}},
    ...     switch={"aqm": "ramp"},
    ...     workload=[{"incast": {"senders": 2, "bytes": "100KB"}}],
    ...     variants={"usual": {}, "deep": {"switch.queue.size": "2MB"}},
    ... )
    >>> scenario
    <Scenario two-senders: variants usual, deep; 1 replication>

    Parameters
    ----------
    fields
        The fields of a scenario file.
    **more
        More of them.

    Raises
    ------
    ScenarioError
        If it cannot run. Lines are those of the TOML that the mapping is written as.
    """

    _checked: _floodway.Checked
    _text: str
    _file: str
    _quick: bool
    _set: list[str]

    def __init__(self, fields: Changes | None = None, /, **more: Any) -> None:
        text = _toml.document(_toml.nested({**(fields or {}), **more}))
        self._read(text, _BUILT, False, [])

    @classmethod
    def _of(cls, text: str, file: str, quick: bool, set: list[str]) -> Scenario:
        scenario = cls.__new__(cls)
        scenario._read(text, file, quick, set)
        return scenario

    def _read(self, text: str, file: str, quick: bool, set: list[str]) -> None:
        self._checked = _floodway.parse(text, file, quick, set)
        self._text, self._file, self._quick, self._set = text, file, quick, set

    def __reduce__(self) -> tuple[Any, ...]:
        """Write it as its text, so that another process can read it."""
        return Scenario._of, (self._text, self._file, self._quick, self._set)

    def _made_from(self) -> tuple[str, str, bool, tuple[str, ...]]:
        return self._text, self._file, self._quick, tuple(self._set)

    def __eq__(self, other: object) -> bool:
        """Whether both are of the same text, file, overlay ``[quick]`` and changes."""
        if not isinstance(other, Scenario):
            return NotImplemented
        return self._made_from() == other._made_from()

    def __hash__(self) -> int:
        return hash(self._made_from())

    @property
    def name(self) -> str:
        """A short name for directories and headings."""
        return self._checked.name

    @property
    def question(self) -> str:
        """What it is to answer; may be empty."""
        return self._checked.question

    @property
    def seed(self) -> int:
        """Decides every random choice."""
        return self._checked.seed

    @property
    def replications(self) -> int:
        """Runs of every variant."""
        return self._checked.replications

    @property
    def variants(self) -> tuple[str, ...]:
        """The names of the variants, the baseline first."""
        return tuple(self._checked.variants)

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """What should be known before it runs."""
        return tuple(self._checked.warnings)

    @property
    def toml(self) -> str:
        """Its text as TOML. What `changes` says, and ``[quick]``, is not applied there."""
        return self._text

    @property
    def changes(self) -> tuple[str, ...]:
        """What was changed in the text, as the arguments of ``--set`` on the command line."""
        return tuple(self._set)

    def with_(self, changes: Changes | None = None, /, **more: Any) -> Scenario:
        """Give a changed copy.

        Mappings are laid over what is there, key by key; everything else is replaced. Naming
        another member of a family, such as ``switch.aqm``, replaces the member, and ``False``
        removes a mechanism or a variant. Elements of a list have numbers.

        Parameters
        ----------
        changes
            Fields with their new values; names are nested or have dots between them. Under
            ``variants``, new names add variants and known ones change them.
        **more
            More of them.

        Examples
        --------
        >>> base = Scenario(
        ...     name="two-senders", arrivals="1us", limit="10ms",
        ...     topology={"star": {"hosts": 3}},
        ...     workload=[{"incast": {"senders": 2, "bytes": "100KB"}}],
        ... )
        >>> deep = base.with_({"switch.queue.size": "2MB", "workload.0.incast.bytes": "1MB"})
        >>> deep.settings()["switch"]["queue"]["size"]
        '2MB'
        >>> base.with_(variants={"shallow": {}, "deep": {"switch.queue.size": "2MB"}}).variants
        ('shallow', 'deep')
        """
        changes = {**(changes or {}), **more}
        variants = changes.pop("variants", {})
        if not isinstance(variants, Mapping):
            raise TypeError(f"`variants` is {variants!r}, not a mapping of names to changes")
        text, set = self._text, [*self._set, *_toml.settings(changes)]
        new = {}
        for name, overlay in variants.items():
            if not self._has(name):
                new[name] = overlay
            elif "." in name:
                raise ValueError(
                    f"the variant {name!r} cannot be changed: there is a dot in its name"
                )
            elif isinstance(overlay, Mapping) and len(overlay) > 1:
                set += [_toml.setting(f"variants.{name}", {key: overlay[key]}) for key in overlay]
            else:
                set.append(_toml.setting(f"variants.{name}", overlay))
        if new:
            text = f"{text.rstrip()}\n\n{_toml.document(_toml.nested({'variants': new}))}"
        return Scenario._of(text, self._file, self._quick, set)

    def _has(self, variant: str) -> bool:
        """Whether it can be changed: a scenario without variants shows a `base` that is none."""
        return variant in self.variants and bool(_VARIANTS.search(self._text) or "base" != variant)

    def as_quick(self) -> Scenario:
        """Give a copy with its overlay ``[quick]`` applied, which makes it smaller."""
        return Scenario._of(self._text, self._file, True, self._set)

    def variant(self, name: str) -> Variant:
        """Give one of the variants."""
        self._checked.settings(name)
        return Variant(self, name)

    def settings(self, variant: str | None = None) -> dict[str, Any]:
        """Give all parameters of a variant, defaults filled in.

        Parameters
        ----------
        variant
            Its name; may be left out if there is one only.
        """
        settings: dict[str, Any] = json.loads(self._checked.settings(self._one(variant)))
        return settings

    def check(self) -> dict[str, dict[str, Any]]:
        """Give the numbers that follow from each variant, by its name.

        They are those of ``floodway check``: size of the network, unloaded round-trip time,
        bandwidth-delay product, headroom, loads, expected flows, memory.
        """
        return self._check(list(self.variants))

    def patch(
        self,
        configs: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
        out: str | os.PathLike[str] | None = None,
        variant: str | None = None,
        rate: str = "100Gbps",
    ) -> dict[str, list[dict[str, Any]]]:
        """Give what a variant changes in configurations of SONiC, as JSON patches.

        The scenario must be one that `import_sonic` or ``floodway import sonic`` made of the same
        configurations, with changes. The patches are those of ``floodway export sonic``. What the
        scenario changes and a patch cannot have is a warning.

        Parameters
        ----------
        configs
            The directory of the configurations, or several directories and files.
        out
            A directory for the patches: ``NAME.patch.json`` for each switch that changes.
        variant
            Its name; may be left out if there is one only.
        rate
            Speed of ports that have none in the table PORT, as for the import.

        Returns
        -------
        dict
            The operations of a JSON patch (RFC 6902) by the name of the switch.

        Raises
        ------
        ScenarioError
            If the configurations cannot be read, are of other switches, or cannot have a value.
        """
        return _patches.patches(self._checked, self._one(variant), configs, out, rate)

    def _check(self, variants: list[str]) -> dict[str, dict[str, Any]]:
        found = json.loads(self._checked.derived(variants))["variants"]
        return {numbers.pop("name"): numbers for numbers in found}

    def run(
        self,
        variant: str | None = None,
        replication: int = 0,
        threads: int | None = None,
        progress: bool | Callable[[Progress], object] = True,
        audit: bool = False,
    ) -> Run:
        """Simulate one variant in one replication.

        Other threads of Python go on meanwhile. An interrupt, such as Ctrl-C, stops it at once.

        Parameters
        ----------
        variant
            Its name; may be left out if there is one only.
        replication
            Which one, counted from 0. The same replication has the same traffic in every variant.
        threads
            Default one for each core. Results do not depend on it.
        progress
            Whether a bar shows how far it is, in a terminal or a notebook; or a function that is
            told now and then. What it raises stops the run.
        audit
            Whether the invariants of the simulation are checked at every event. Results are the
            same; the run takes longer.

        Warns
        -----
        RuntimeWarning
            If something happened that should not, which is then in ``violations``.
        """
        variant = self._one(variant)
        threads = _arguments.threads(threads)
        bar = shown(progress, f"{self.name} {variant} {replication}")
        watch = (lambda *values: bar(Progress(*values))) if bar else None
        try:
            outcome = self._checked.simulate(variant, replication, threads, audit, watch)
        finally:
            if bar:
                bar.close()
        warn_of(outcome.violations, "run")
        return self._run(outcome, variant, replication)

    def _run(self, outcome: _floodway.Outcome, variant: str, replication: int) -> Run:
        tables = {table.name: Table(table) for table in outcome.tables}
        return Run(
            variant=variant,
            replication=replication,
            seed=self._checked.replication_seed(replication),
            tables=Tables(tables, tables.__getitem__),
            stop=outcome.stop,
            simulated_ns=outcome.simulated_ns,
            hops=outcome.hops,
            wall_s=outcome.wall_s,
            fingerprint=outcome.fingerprint,
            violations=outcome.violations,
            draw=self._draw,
        )

    def _draw(self, run: Run) -> list[_floodway.Picture]:
        tables = [table._inner for table in run.tables.values()]
        return self._checked.charts(run.variant, run.replication, run.simulated_ns, tables)

    def compare(
        self,
        out: str | os.PathLike[str] | None = None,
        variants: Iterable[str] | None = None,
        existing: str = "refuse",
        trace: str | None = None,
        pcap: Iterable[str] = (),
        threads: int | None = None,
        progress: bool | Callable[[Advance], object] = True,
    ) -> Results:
        """Simulate all variants in all replications, into a results directory.

        It is what ``floodway run`` does: the directory has a report, a summary with intervals and
        paired differences, and the tables of every run. An interrupt, such as Ctrl-C, keeps what
        is finished.

        Parameters
        ----------
        out
            The directory. Default ``results/`` and the scenario's name.
        variants
            Their names; the first is the baseline. Default all.
        existing
            What becomes of results that are there: ``refuse``, ``replace``, or ``resume``, which
            keeps the runs that would come out the same.
        trace
            ``perfetto`` keeps the first run of every variant as a trace for Perfetto's viewer too,
            ``trace.pftrace`` beside its tables, and records it with 1000 samples if the scenario
            does not say how many.
        pcap
            Where the frames of the first run of every variant are captured for Wireshark: nodes
            such as ``leaf 0``, ports such as ``leaf 0:2``, or ``all``. ``run.pcap`` is the file.
        threads
            Default one for each core. Results do not depend on it.
        progress
            Whether a bar shows how far it is, in a terminal or a notebook; or a function that is
            told now and then. What it raises stops the runs.

        Raises
        ------
        ResultsError
            If results are there, or cannot be kept, or another process writes to `out`.

        Warns
        -----
        RuntimeWarning
            If something happened that should not, which is then in ``violations`` of the runs.
        UserWarning
            If there are files among the runs that floodway did not write. They stay.
        """
        default = Path("results") / self.name
        path = _arguments.directory("out", default if out is None else out)
        threads = _arguments.threads(threads)
        names = list(self.variants) if variants is None else _toml.texts("variants", variants)
        places = _toml.texts("pcap", pcap)
        if not names:
            raise ValueError("nothing is compared: name at least one variant, or None for all")
        bar = shown(progress, self.name)
        watch = (lambda *values: bar(Advance(*values))) if bar else None
        try:
            place = (os.fspath(path), existing)
            others = self._checked.execute(names, place, (trace, places), threads, watch)
        finally:
            if bar:
                bar.close()
        warn_of_others(others)
        results = open_results(path)
        warn_of((text for run in results.runs for text in run.violations), "comparison")
        return results

    def sweep(
        self,
        vary: Mapping[str, str | Iterable[object]] | None = None,
        *,
        reference: Mapping[str, object] | None = None,
        until: str | None = None,
        at_most: int | None = None,
        variants: Iterable[str] = (),
        metrics: Iterable[str] = (),
        out: str | os.PathLike[str] | None = None,
        cache: str | os.PathLike[str] | None = "results/cache",
        threads: int | None = None,
        progress: bool | Callable[[Advance], object] = True,
        client: Any = None,
    ) -> Sweep:
        """Simulate it at every point of a grid of settings.

        Nothing is simulated twice: runs are kept in a cache under a hash of all that decides them,
        so a sweep that was interrupted goes on where it was.

        Parameters
        ----------
        vary
            The dimensions: for each path a list of values, or a range like ``"0.2..0.8/4"``. They
            are added to those of the scenario's ``[sweep]``, or replace them.
        reference
            The point from which changes are counted: a value for each varied path, or for some.
            Default: the point with the scenario's own values, or if the grid has none the first.
        until
            Repeat until the 95 % interval of a metric reaches at most a part of its mean to either
            side everywhere, as in ``"fct_p99_ns=0.05"``. Default: as the scenario says.
        at_most
            The most replications of a point, with `until`. Default 30.
        variants
            Their names. Default all.
        metrics
            What the report shows. Default what usually matters.
        out
            Directory for the results. Default ``results/sweep-`` and the scenario's name.
        cache
            Directory of the runs, or ``None`` for none.
        threads
            Default one for each core. Results do not depend on it. Not used with `client`.
        progress
            As for `compare`.
        client
            A ``dask.distributed.Client``, on whose workers the runs are made. The cache has to be
            on a file system that all of them share, or ``None``. A worker that dies loses
            nothing but the runs it was at and those that only it held, which others make.

        Raises
        ------
        ScenarioError
            If there is a point at which it cannot run.
        ResultsError
            If `out` holds something else, another process writes there, or results cannot be kept.
        RuntimeError
            If `client` is closed. What was finished before is in the cache.

        Warns
        -----
        RuntimeWarning
            If something happened that should not, which is then in ``violations``.
        """
        default = Path("results") / f"sweep-{self.name}"
        path = _arguments.directory("out", default if out is None else out)
        place = None if cache is None else _arguments.directory("cache", cache)
        threads = _arguments.threads(threads)
        recipe: _sweep.Recipe = (
            self._text,
            self._file,
            self._quick,
            tuple(self._set),
            tuple(_sweep.dimensions(vary or {})),
            tuple(_sweep.settings(reference)),
            until,
            at_most,
            tuple(_toml.texts("variants", variants)),
        )
        label = f"sweep of {self.name}"
        wanted = _toml.texts("metrics", metrics)
        sweep = _sweep.run(recipe, path, place, wanted, threads, progress, client, label)
        warn_of(sweep.violations, "sweep")
        return sweep

    def _one(self, variant: str | None) -> str:
        if variant is not None:
            return variant
        if len(self.variants) == 1:
            return self.variants[0]
        names = ", ".join(self.variants)
        raise ValueError(f"the scenario `{self.name}` has several variants; name one of {names}")

    def __repr__(self) -> str:
        return line(f"<Scenario {self.name}: {self._summary()}>")

    def _summary(self) -> str:
        parts = [
            f"variant{'s' if len(self.variants) > 1 else ''} {', '.join(self.variants)}",
            f"{self.replications} replication{'s' if self.replications > 1 else ''}",
        ]
        if self.warnings:
            parts.append(f"{len(self.warnings)} warning{'s' if len(self.warnings) > 1 else ''}")
        return "; ".join(parts)

    def _repr_html_(self) -> str:
        rows: list[list[object]] = [
            ["question", self.question],
            ["variants", ", ".join(self.variants)],
            ["replications", self.replications],
            ["seed", self.seed],
            ["changes", ", ".join(self.changes)],
        ]
        told = [row for row in rows if row[1] != ""]
        parts = [html_table(["scenario", self.name], told, "")]
        parts += [details(warning.message, warning.text) for warning in self.warnings]
        return "".join([*parts, details("text", self.toml)])


@dataclass(frozen=True)
class Variant:
    """One variant of a scenario."""

    scenario: Scenario
    """The scenario."""
    name: str
    """Its name."""

    @property
    def settings(self) -> dict[str, Any]:
        """All its parameters, defaults filled in."""
        return self.scenario.settings(self.name)

    def check(self) -> dict[str, Any]:
        """Give the numbers that follow from it, as `Scenario.check` does."""
        return self.scenario._check([self.name])[self.name]

    def run(
        self,
        replication: int = 0,
        threads: int | None = None,
        progress: bool | Callable[[Progress], object] = True,
        audit: bool = False,
    ) -> Run:
        """Simulate it in one replication, as `Scenario.run` does."""
        return self.scenario.run(self.name, replication, threads, progress, audit)

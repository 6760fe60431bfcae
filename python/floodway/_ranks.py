"""One run over the processes of a communicator of mpi4py."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from floodway import _arguments, _floodway, _toml
from floodway._errors import warn_of, warn_of_others
from floodway._messages import Messages
from floodway._progress import Advance, Progress, shown
from floodway._results import Results
from floodway._results import open as open_results
from floodway._run import Run
from floodway._scenario import Scenario


class Ranks:
    """The processes of a communicator (ranks), which make each run together.

    All of them call the same methods with the same arguments. Results are the same as those of one
    process. Rank 0 gets them, and the others get None. A communicator of one process runs as
    `Scenario` does.

    Parameters
    ----------
    comm
        A communicator of mpi4py, such as ``MPI.COMM_WORLD`` or a part of it.
    """

    def __init__(self, comm: object) -> None:
        self._comm = comm

    def run(
        self,
        scenario: Scenario,
        variant: str | None = None,
        replication: int = 0,
        threads: int = 1,
        progress: bool | Callable[[Progress], object] = True,
    ) -> Run | None:
        """Simulate one variant in one replication, as `Scenario.run` does.

        Parameters
        ----------
        scenario
            The scenario.
        variant
            Its name; may be left out if there is one only.
        replication
            Which one, counted from 0.
        threads
            Of each process.
        progress
            As for `Scenario.run`. Rank 0 shows it.

        Raises
        ------
        ValueError
            If the ranks have something else to run, or are more than the switches.
        RuntimeError
            If another rank cannot run it, or has stopped it.
        """
        variant = scenario._one(variant)
        threads = _arguments.threads(threads) or 1
        with self._messages() as messages:
            if messages is None:
                return scenario.run(variant, replication, threads, progress)
            bar = shown(messages.rank == 0 and progress, f"{scenario.name} {variant} {replication}")
            watch = (lambda *values: bar(Progress(*values))) if bar else None
            try:
                outcome = _floodway.simulate_over(
                    scenario._checked, variant, replication, threads, messages, watch
                )
            finally:
                if bar:
                    bar.close()
        if outcome is None:
            return None
        if outcome.stop == "interrupted":
            raise RuntimeError("another rank stopped the run: it has no result")
        warn_of(outcome.violations, "run")
        return scenario._run(outcome, variant, replication)

    def compare(
        self,
        scenario: Scenario,
        out: str | os.PathLike[str] | None = None,
        variants: Iterable[str] | None = None,
        existing: str = "refuse",
        trace: str | None = None,
        threads: int = 1,
        progress: bool | Callable[[Advance], object] = True,
    ) -> Results | None:
        """Simulate all variants in all replications, as `Scenario.compare` does.

        Rank 0 writes the results directory, and nobody else needs it. Runs are made one after the
        other, each by all ranks.

        Parameters
        ----------
        scenario
            The scenario.
        out, variants, existing, trace
            As for `Scenario.compare`.
        threads
            Of each process.
        progress
            As for `Scenario.compare`. Rank 0 shows it.

        Raises
        ------
        ResultsError
            On rank 0, if results are there or cannot be kept, or another process writes to `out`.
        ValueError, RuntimeError
            As for `run`.
        """
        default = Path("results") / scenario.name
        path = _arguments.directory("out", default if out is None else out)
        threads = _arguments.threads(threads) or 1
        names = list(scenario.variants) if variants is None else _toml.texts("variants", variants)
        if not names:
            raise ValueError("nothing is compared: name at least one variant, or None for all")
        with self._messages() as messages:
            if messages is None:
                return scenario.compare(path, names, existing, trace, (), threads, progress)
            bar = shown(messages.rank == 0 and progress, scenario.name)
            watch = (lambda *values: bar(Advance(*values))) if bar else None
            try:
                place = (os.fspath(path), existing, trace)
                others = _floodway.execute_over(
                    scenario._checked, names, place, threads, messages, watch
                )
            finally:
                if bar:
                    bar.close()
            if messages.rank > 0:
                return None
        warn_of_others(others)
        results = open_results(path)
        warn_of((text for run in results.runs for text in run.violations), "comparison")
        return results

    @contextmanager
    def _messages(self) -> Iterator[Messages | None]:
        """Messages between the ranks during a run; none if there is one process."""
        messages = Messages(self._comm)
        try:
            yield messages if messages.count > 1 else None
        finally:
            messages.close()

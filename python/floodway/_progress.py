"""How far a run is: as a value, and as a bar."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Protocol, TextIO

_BAR = 10


@dataclass(frozen=True)
class Progress:
    """How far a run is."""

    now_ns: float
    """Simulated time, in nanoseconds."""
    end_ns: float
    """When it ends at the latest, in nanoseconds."""
    hops: int
    """Packet-hops so far: one frame over one link."""
    flows_done: int
    """Flows that have ended."""
    flows: int
    """Flows that will end, if there is time."""

    @property
    def fraction(self) -> float:
        """The part that is done, from 0 to 1: of the time or of the flows, whichever is more."""
        parts = [(self.now_ns, self.end_ns), (self.flows_done, self.flows)]
        return max((min(part / whole, 1.0) for part, whole in parts if whole > 0), default=0.0)

    @property
    def words(self) -> str:
        """What stands beside a bar."""
        return f"{self.now_ns / 1e6:.2f} ms simulated"


@dataclass(frozen=True)
class Advance:
    """How far the runs of an experiment, a study or a sweep are."""

    name: str | None
    """The experiment, if it is one of several."""
    fraction: float
    """The part that is done, from 0 to 1: an estimate."""
    runs_done: int
    """Runs that have ended."""
    runs: int
    """Runs of the experiment, or of the round of a sweep."""
    simulated_ns: float
    """Simulated time of all runs, in nanoseconds."""
    hops: int
    """Packet-hops of all runs: one frame over one link."""

    @property
    def words(self) -> str:
        """What stands beside a bar."""
        name = f"{self.name}: " if self.name else ""
        return f"{name}{self.runs_done} of {self.runs} runs"


class Shown(Protocol):
    """Something that shows progress."""

    def __call__(self, progress: Any) -> object:
        """Show it."""

    def close(self) -> None:
        """Leave the terminal as it was."""


class Told:
    """Progress that is told to a function and shown nowhere."""

    def __init__(self, tell: Callable[[Any], object]) -> None:
        self._tell = tell

    def __call__(self, progress: Any) -> object:
        """Tell it."""
        return self._tell(progress)

    def close(self) -> None:
        """Nothing was opened."""


def shown(progress: bool | Callable[[Any], object], label: str) -> Shown | None:
    """Choose how to show progress: in a notebook or a terminal if there is one."""
    if callable(progress):
        return Told(progress)
    if not isinstance(progress, bool):
        raise TypeError(
            f"`progress` is {progress!r}: write True, False, or a function that is told how far it "
            "is"
        )
    if not progress or not (_in_notebook() or sys.stderr.isatty()):
        return None
    # In a notebook the bar of tqdm needs another package, and warns if that is not there.
    plain = _in_notebook() and find_spec("ipywidgets") is None
    try:
        if plain:
            from tqdm import tqdm
        else:
            from tqdm.auto import tqdm
    except ImportError:
        return Line(label, sys.stderr)
    form = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}{postfix}"
    return Bar(tqdm(total=1.0, desc=label, leave=False, bar_format=form))


def _in_notebook() -> bool:
    """Whether this runs in a notebook, which shows more than text."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return type(shell).__name__ == "ZMQInteractiveShell"


class Bar:
    """The bar of tqdm."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def __call__(self, progress: Any) -> None:
        """Show it."""
        self._bar.set_postfix_str(progress.words, refresh=False)
        self._bar.n = progress.fraction
        self._bar.refresh()

    def close(self) -> None:
        """Remove the bar."""
        self._bar.close()


class Line:
    """A bar of text, on one line."""

    def __init__(self, label: str, out: TextIO) -> None:
        self._label = label
        self._out = out
        self._begun = time.monotonic()

    def __call__(self, progress: Any) -> None:
        """Show it."""
        part = progress.fraction
        bar = ("━" * round(part * _BAR)).ljust(_BAR, "─")
        words = progress.words
        if part > 0.01:
            left = (time.monotonic() - self._begun) * (1 - part) / part
            words = f"{left:.0f} s left, {words}"
        self._out.write(f"\r\x1b[2K{self._label} {bar} {part:4.0%}  {words}")
        self._out.flush()

    def close(self) -> None:
        """Remove the line."""
        self._out.write("\r\x1b[2K")
        self._out.flush()

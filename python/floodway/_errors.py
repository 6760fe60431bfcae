"""What can be wrong. The compiled half raises these too."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a scenario, or that should be known before it runs."""

    message: str
    """The cause."""
    help: str
    """The remedy."""
    severity: str
    """``error``, ``warning`` or ``advice``."""
    file: str
    """The file, the argument, such as ``vary``, or ``--set`` for what was changed afterwards."""
    line: int | None
    """The line, from 1, as far as it is known."""
    column: int | None
    """The column in characters, from 1, as far as it is known."""
    variants: list[str]
    """The variants that have it, if not all of them do."""
    text: str
    """All of this as the program shows it, with the line and a mark below the word."""

    def __str__(self) -> str:
        return self.text


class ScenarioError(ValueError):
    """A scenario cannot run.

    Its text is that of the program: every problem with its place, cause and remedy.

    Attributes
    ----------
    problems : tuple of Problem
        At least one, in the order of their places.
    """

    # As users write it, also where it is shown uncaught.
    __module__ = "floodway"

    problems: tuple[Problem, ...]

    def __init__(self, text: str, problems: Sequence[Problem]) -> None:
        super().__init__(text, tuple(problems))
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return str(self.args[0])


class ResultsError(ValueError):
    """Results cannot be read, not be kept, or not be explained.

    There are none, they are not as they were written, another process writes there, or the
    directory holds something else. A run is not explained if it cannot be repeated, or has no such
    flow.
    """

    __module__ = "floodway"


class FlentError(ValueError):
    """A data file of flent cannot be read, or has not what is asked of it.

    Its text names the file, the cause and the remedy.
    """

    __module__ = "floodway"


def warn_of(violations: Iterable[str], what: str) -> None:
    """Warn whoever called the function that calls this, if anything happened that should not."""
    if broken := "; ".join(violations):
        # Imported here, because the compiled half imports this module.
        from floodway._floodway import printable

        warnings.warn(
            f"this {what} is no result: {printable(broken)}", RuntimeWarning, stacklevel=3
        )


def warn_of_others(notes: Iterable[str]) -> None:
    """Warn whoever called the function that calls this of files that floodway did not write."""
    for note in notes:
        warnings.warn(note, UserWarning, stacklevel=3)

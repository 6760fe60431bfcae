"""How far an answer leans on values that are assumed: the same at the ends of their ranges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from floodway import _toml
from floodway._errors import ScenarioError
from floodway._paired import Candidate, changed

if TYPE_CHECKING:
    from floodway._scenario import Scenario

Ends = dict[str, list[Any]]
"""By path the values between which it may be."""


def basis(scenario: Scenario, variant: str) -> dict[str, Any] | None:
    """Say where the settings of a variant come from; None if it names no device profile."""
    found: dict[str, Any] | None = scenario._check([variant])[variant].get("basis")
    return found


def uncertain(
    scenario: Scenario,
    variant: str,
    given: Mapping[str, Iterable[Any]] | None,
    searched: Iterable[str],
) -> Ends:
    """Give what is uncertain: as the user says, or else the assumed values of profiles in use."""
    if given is None:
        of = basis(scenario, variant)
        ends = {
            value["path"]: list(value["range"])
            for value in (of["values"] if of else [])
            if value["evidence"] == "assumed" and value.get("range")
        }
        return {path: values for path, values in ends.items() if path not in set(searched)}
    if not isinstance(given, Mapping):
        raise TypeError(
            f"`uncertain` is {given!r}: write the ends of each value, like "
            "{'switch.latency': ['300ns', '1us']}"
        )
    ends = {}
    for path, values in given.items():
        if isinstance(values, (str, Mapping)) or not isinstance(values, Iterable):
            raise TypeError(
                f"`uncertain` has {values!r} for {path!r}: write a list of the values at its ends, "
                "like ['300ns', '1us']"
            )
        if path in set(searched):
            raise ValueError(f"{path!r} is searched, so it cannot be uncertain too: leave one out")
        ends[path] = list(values)
    for path, values in ends.items():
        _possible(scenario, variant, path, values)
    return ends


def _possible(scenario: Scenario, variant: str, path: str, values: list[Any]) -> None:
    """Raise the first error if a value can have none of its ends, such as of a wrong path."""
    first: ScenarioError | None = None
    for value in values:
        try:
            changed(scenario, variant, {path: value})
        except ScenarioError as error:
            first = first or error
        else:
            return
    if first:
        raise first


class Case:
    """Both sides of a comparison with one uncertain value at one of its ends."""

    def __init__(
        self, sides: tuple[Scenario, Scenario], variant: str, path: str, value: Any
    ) -> None:
        self.path, self.value = path, _toml.plain(value)
        self.reason = ""
        """Why it cannot be measured."""
        self.sides: list[Candidate] = []
        """Without and with what is compared."""
        try:
            self.sides = [Candidate({}, changed(side, variant, {path: value})) for side in sides]
        except ScenarioError as error:
            self.reason = error.problems[0].message if error.problems else str(error)


def cases(sides: tuple[Scenario, Scenario], variant: str, ends: Ends) -> list[Case]:
    """Give the comparisons to make, those that are possible and those that are not."""
    return [Case(sides, variant, path, value) for path, values in ends.items() for value in values]


def candidates(of: Iterable[Case]) -> list[Candidate]:
    """Give the candidates of all cases, to be run."""
    return [side for case in of for side in case.sides]


def share(of: Mapping[str, Any] | None) -> str:
    """Say in a sentence how many values of profiles are assumed; empty without profiles."""
    if of is None:
        return ""
    names = ", ".join(name for name, _ in of["profiles"])
    assumed = [value["path"] for value in of["values"] if value["evidence"] == "assumed"]
    total = len(of["values"])
    if not assumed:
        return f"None of the {total} values from device profiles ({names}) is assumed."
    return (
        f"{len(assumed)} of the {total} values from device profiles ({names}) are assumed: "
        f"{', '.join(assumed)}."
    )

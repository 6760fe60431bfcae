"""Settings of a scenario that are searched: what values they can have, and scenarios with them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from floodway import _floodway, _toml
from floodway._errors import ScenarioError

if TYPE_CHECKING:
    from floodway._scenario import Scenario

Point = tuple[int, ...]
"""A candidate: which level each setting has."""


@dataclass(frozen=True)
class Setting:
    """A setting that is searched."""

    name: str
    """The path in the scenario, or the name of a choice between overlays."""
    labels: tuple[str, ...]
    """Its levels as they are shown."""
    overlays: tuple[dict[str, Any], ...]
    """What each level changes in the scenario."""
    ordered: bool
    """Whether the levels have an order, as those of a range do."""

    def around(self, level: int) -> list[int]:
        """Give the levels to compare with this one: all others, or of a range those beside it."""
        if not self.ordered:
            return [other for other in range(len(self.labels)) if other != level]
        step = max(1, len(self.labels) // 8)
        return [at for at in (level - step, level + step) if 0 <= at < len(self.labels)]


class Space:
    """All settings that are searched."""

    def __init__(self, scenario: Scenario, vary: Mapping[str, Any]) -> None:
        if not isinstance(vary, Mapping) or not vary:
            raise ValueError(
                f"`vary` is {vary!r}: name at least one setting with its range or choices, like "
                "{'switch.aqm.ramp.kmin': '10KB..400KB/9log'}"
            )
        self.scenario = scenario
        self.settings = tuple(_setting(name, values) for name, values in vary.items())
        for setting in self.settings:
            self._check(setting)

    def _check(self, setting: Setting) -> None:
        """Raise the first error if a setting cannot have any of its levels, such as a wrong path.

        Single levels may be impossible beside the scenario's other values, and possible in a
        candidate: `kmin` above the scenario's `kmax`.
        """
        first: ScenarioError | None = None
        for overlay in setting.overlays:
            try:
                self.scenario.with_(overlay)
            except ScenarioError as error:
                first = first or error
            else:
                return
        if first:
            raise first

    def values(self, point: Point) -> dict[str, str]:
        """Give the values of a candidate as they are shown."""
        pairs = zip(self.settings, point, strict=True)
        return {setting.name: setting.labels[level] for setting, level in pairs}

    def overlay(self, point: Point) -> dict[str, Any]:
        """Give what a candidate changes in the scenario."""
        whole: dict[str, Any] = {}
        for setting, level in zip(self.settings, point, strict=True):
            whole.update(setting.overlays[level])
        return whole

    def key(self) -> str:
        """Write what decides the meaning of a candidate, to recognize another search."""
        of = [[each.name, each.labels, each.overlays] for each in self.settings]
        return json.dumps(of, default=str)


def _setting(name: str, values: object) -> Setting:
    if isinstance(values, Mapping):
        overlays = {str(label): overlay for label, overlay in values.items()}
        for label, overlay in overlays.items():
            if not isinstance(overlay, Mapping):
                raise TypeError(
                    f"`vary` has {overlay!r} for the choice {label!r} of {name!r}: write what it "
                    "changes, like {'on': {'switch.flow_control': {'congestion_isolation': True}}}"
                )
        levels = [dict(overlay) for overlay in overlays.values()]
        return _of(name, list(overlays), levels, ordered=False)
    if isinstance(values, str):
        labels = _floodway.levels(f"{name}={values}")
        if ".." in values:
            labels = _rounded(labels)
        return _of(name, labels, [{name: typed(label)} for label in labels], ".." in values)
    if isinstance(values, (set, frozenset)) or not isinstance(values, Iterable):
        raise TypeError(
            f"`vary` has {values!r} for {name!r}: write a list of choices, a range like "
            "'10KB..400KB/9log', or a mapping of names to overlays"
        )
    levels = list(values)
    return _of(name, [_toml.plain(of) for of in levels], [{name: of} for of in levels], False)


_NUMBER = re.compile(r"([-+.\deE]+)(.*)")


def _rounded(labels: list[str]) -> list[str]:
    """Write the values of a range with four digits, unless two of them become the same.

    >>> _rounded(["5KB", "50.29733719KB"])
    ['5KB', '50.3KB']
    """
    found = [_NUMBER.fullmatch(label) for label in labels]
    short = [f"{_plain(float(of[1]))}{of[2]}" for of in found if of]
    return short if len(set(short)) == len(labels) else labels


def _plain(value: float) -> str:
    return str(int(value)) if value == int(value) else f"{float(f'{value:.4g}')}"


def _of(name: str, labels: list[str], overlays: list[dict[str, Any]], ordered: bool) -> Setting:
    if len(set(labels)) < 2:
        raise ValueError(
            f"`vary` gives {name!r} {len(set(labels))} value(s), so there is nothing to search: "
            "give two at least, or leave it out"
        )
    if len(set(labels)) < len(labels):
        raise ValueError(f"`vary` gives {name!r} the same value twice: leave one out")
    return Setting(name, tuple(labels), tuple(overlays), ordered)


def typed(text: str) -> object:
    """Read a value as `--set` does: a number, a truth value, or else text."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, (bool, int, float)) else text

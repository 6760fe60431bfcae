"""Configurations of switches as scenarios, lint, and device profiles."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from floodway import _floodway
from floodway._errors import Problem
from floodway._scenario import Scenario, load


@dataclass(frozen=True)
class Finding:
    """Something that lint finds: a valid setting that has caused trouble in other networks."""

    name: str
    """What kind of finding it is, such as ``pauses-before-marks``."""
    why: str
    """Why it is trouble."""
    problem: Problem
    """The place, what is found, and the remedy."""

    def __str__(self) -> str:
        return f"[{self.name}] {self.problem}"


@dataclass(frozen=True)
class ImportedField:
    """What became of a field of a configuration."""

    fate: str
    """``taken over``, ``differs``, or ``no counterpart or no effect``."""
    key: str
    """The field; what it is about if the configurations do not have it."""
    value: str
    """What it says."""
    meaning: str
    """Which setting of the scenario it became, or why there is none."""


@dataclass(frozen=True)
class SonicImport:
    """Configurations of SONiC as a scenario."""

    toml: str = field(repr=False)
    """The scenario file, with comments."""
    fields: int
    """How many fields the configurations have."""
    account: tuple[ImportedField, ...] = field(repr=False)
    """What became of them; fields that became the same are one."""
    warnings: tuple[Problem, ...]
    """What is doubtful."""
    notes: tuple[str, ...]
    """What is missing among the files."""
    findings: tuple[Finding, ...]
    """What lint finds in the configurations."""

    @property
    def scenario(self) -> Scenario:
        """The scenario."""
        return Scenario._of(self.toml, "scenario.toml", False, [])

    def to_pandas(self) -> Any:
        """Give the account as a ``pandas.DataFrame``; needs pandas."""
        import pandas

        return pandas.DataFrame([asdict(row) for row in self.account])


def import_sonic(
    *paths: str | os.PathLike[str],
    name: str = "fabric",
    rate: str = "100Gbps",
    profile: str | None = None,
) -> SonicImport:
    """Read configurations of SONiC, as ``floodway import sonic`` does.

    Parameters
    ----------
    *paths
        Directories, each of which is a switch or has a directory for each; or files.
    name
        The name of the scenario.
    rate
        Speed of ports that have none in the table PORT.
    profile
        The model of the switches, one of `profiles`: its cells and its latency, which are not in
        CONFIG_DB.

    Raises
    ------
    ScenarioError
        If a file cannot be read, with its place, the cause and the remedy.
    ValueError
        If no path is given, or there is no such profile of a switch.
    """
    if not paths:
        raise ValueError("name at least one directory or file with a configuration")
    names = [os.fspath(path) for path in paths]
    found = _floodway.import_sonic(names, name, rate, profile)
    return SonicImport(
        found.toml,
        found.fields,
        tuple(ImportedField(*row) for row in found.account),
        tuple(found.warnings),
        tuple(found.notes),
        tuple(Finding(*one) for one in found.findings),
    )


def lint(
    what: Scenario | str | os.PathLike[str], variants: Sequence[str] = ()
) -> tuple[Finding, ...]:
    """Find settings that have caused trouble in other networks, as ``floodway check`` does.

    Parameters
    ----------
    what
        A scenario, the path of a scenario file, or a path of configurations of SONiC.
    variants
        The variants of a scenario to look at; default all.

    Raises
    ------
    ScenarioError
        If it cannot be read.
    ValueError
        If the scenario has no such variant, or variants of configurations are asked for.
    """
    if not isinstance(what, Scenario):
        if _floodway.is_configuration(os.fspath(what)):
            if variants:
                raise ValueError("configurations have no variants: leave `variants` out")
            return import_sonic(what).findings
        what = load(what)
    if unknown := [name for name in variants if name not in what.variants]:
        names = ", ".join(what.variants)
        raise ValueError(f"there is no variant {unknown[0]!r}; the variants are {names}")
    found = _floodway.lint_scenario(*what._made_from(), list(variants))
    return tuple(Finding(*one) for one in found)


@dataclass(frozen=True)
class ProfileValue:
    """A setting of a device profile."""

    path: str
    """The setting, with dots, as in a scenario."""
    value: Any
    """Its value."""
    range: tuple[Any, Any] | None
    """The least and the largest value that it may have, if that is known."""
    evidence: str
    """``measured``, ``datasheet``, ``standard``, ``vendor table`` or ``assumed``."""
    source: str
    """From where it is known."""


@dataclass(frozen=True)
class ProfileFact:
    """What is known of a model and is not a setting."""

    name: str
    """What it is about."""
    value: str
    """What is known."""
    evidence: str
    """As for `ProfileValue`."""
    source: str
    """From where it is known."""


@dataclass(frozen=True)
class DeviceProfile:
    """What is known of a model of a switch or a NIC."""

    name: str
    """The name for ``profile = [...]`` in a scenario."""
    device: str
    """``switch`` or ``nic``."""
    model: str
    """The model."""
    summary: str
    """What it is, in one line."""
    rates: tuple[str, ...]
    """The rates that its ports can have."""
    facts: tuple[ProfileFact, ...] = field(repr=False)
    """What else is known of it."""
    values: tuple[ProfileValue, ...] = field(repr=False)
    """Its settings."""

    def to_pandas(self) -> Any:
        """Give the settings as a ``pandas.DataFrame``; needs pandas."""
        import pandas

        return pandas.DataFrame([asdict(value) for value in self.values])


def profiles() -> tuple[DeviceProfile, ...]:
    """Give the device profiles that are part of the package."""
    return tuple(_profile(one) for one in json.loads(_floodway.profiles()))


def profile(name: str | os.PathLike[str]) -> DeviceProfile:
    """Give a device profile by its name, or by the path of its file.

    Raises
    ------
    ScenarioError
        If there is none, or the file is no profile.
    """
    return _profile(json.loads(_floodway.profile(os.fspath(name))))


def _profile(written: dict[str, Any]) -> DeviceProfile:
    values = tuple(
        ProfileValue(
            one["path"],
            one["value"],
            tuple(one["range"]) if one.get("range") else None,
            one["evidence"],
            one["source"],
        )
        for one in written["values"]
    )
    facts = tuple(ProfileFact(**one) for one in written["facts"])
    return DeviceProfile(
        name=written["name"],
        device=written["device"],
        model=written["model"],
        summary=written["summary"],
        rates=tuple(written["rates"]),
        facts=facts,
        values=values,
    )

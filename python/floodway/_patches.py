"""What a scenario changes in configurations of switches."""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from floodway import _floodway

HARDWARE = ("switch.cell", "switch.latency")
"""What no configuration has, because it belongs to the model of a switch."""


def patches(
    checked: _floodway.Checked,
    variant: str,
    configs: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    out: str | os.PathLike[str] | None,
    rate: str,
) -> dict[str, list[dict[str, Any]]]:
    """Give what a variant changes, by switch, and write it into files; see `Scenario.patch`."""
    paths = [configs] if isinstance(configs, (str, os.PathLike)) else configs
    found, unsaid = checked.patches(variant, [os.fspath(path) for path in paths], rate)
    for setting in unsaid:
        if setting not in HARDWARE:
            warnings.warn(
                f"the patch does not have what is changed in `{setting}`", UserWarning, stacklevel=3
            )
    texts = {name: text for name, text in found if json.loads(text)}
    if out is not None and texts:
        files = {name: f"{re.sub(r'[^A-Za-z0-9_.-]', '-', name)}.patch.json" for name in texts}
        if len(set(files.values())) < len(files):
            raise ValueError(
                "two switches would have the same file; give one of them another `hostname`"
            )
        folder = Path(out)
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (folder / files[name]).write_text(text, encoding="utf-8")
    return {name: json.loads(text) for name, text in found}

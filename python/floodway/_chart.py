"""Charts of results, as the reports have them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Chart:
    """A chart as SVG. A notebook shows it; it needs no other package."""

    name: str
    """A short name, fit for files."""
    caption: str
    """What it asks or shows."""
    svg: str = field(repr=False)
    """The picture, with its style."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to an SVG file, which browsers and drawing programs open."""
        path = Path(path)
        if path.suffix.lower() not in ("", ".svg"):
            raise ValueError(
                f"{path.name} would not be what its name says: charts are SVG; save it as "
                f"{path.stem}.svg, which browsers and drawing programs convert"
            )
        path.write_text(self.svg, encoding="utf-8")

    def _repr_svg_(self) -> str:
        return self.svg


def by_name(pictures: Iterable[tuple[str, str, str]]) -> dict[str, Chart]:
    """Give charts by their names, in order."""
    return {name: Chart(name, caption, svg) for name, caption, svg in pictures}

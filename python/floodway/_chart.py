"""Charts of results, as the reports have them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floodway._plot import draw
from floodway._text import line

if TYPE_CHECKING:
    from floodway import _floodway


@dataclass(frozen=True)
class _Kept:
    """What is left of a chart that was pickled: what it shows, and no way to draw it otherwise."""

    name: str
    caption: str
    parts: list[str]
    svg: str
    csv: str
    vega: str | None

    def paper(self, width_mm: float, points: float, font: str) -> str:
        raise self._gone()

    def only(self, heading: str) -> _floodway.Picture:
        raise self._gone()

    def _gone(self) -> RuntimeError:
        return RuntimeError(
            f"the chart {self.name} was pickled, so it cannot be drawn otherwise: draw it before, "
            "or open the results again"
        )


class Chart:
    """A chart with its numbers. A notebook shows it; it needs no other package."""

    def __init__(self, drawn: _floodway.Picture | _Kept) -> None:
        self._drawn = drawn
        self.name: str = drawn.name
        """A short name, fit for files."""
        self.caption: str = drawn.caption
        """What it shows."""
        self.parts: tuple[str, ...] = tuple(drawn.parts)
        """The headings of its parts; empty of one without parts."""

    @property
    def svg(self) -> str:
        """The picture as on a page, with caption, legend and style."""
        return self._drawn.svg

    @property
    def csv(self) -> str:
        """Its numbers as comma-separated values: ``pandas.read_csv(io.StringIO(chart.csv))``."""
        return self._drawn.csv

    @property
    def vega(self) -> dict[str, Any] | None:
        """A specification of Vega-Lite 5 with the numbers; None of a map of tiles.

        ``altair.Chart.from_dict(chart.vega)`` opens it.
        """
        spec = self._drawn.vega
        return json.loads(spec) if spec else None

    def paper(
        self,
        width_mm: float = 88,
        *,
        points: float = 8,
        font: str = "Helvetica, Arial, sans-serif",
    ) -> str:
        """Give the picture as SVG for a paper: in its size in print, without card and caption.

        Parameters
        ----------
        width_mm
            Its width in print, in millimeters: 88 is a column of two, 180 both.
        points
            The size of its text.
        font
            As CSS names it: ``"Times, serif"``.
        """
        if not (20 <= width_mm <= 1000 and 4 <= points <= 40):
            raise ValueError(
                f"a picture {width_mm} mm wide with text of {points} points cannot be set: "
                "give 20 to 1000 mm and 4 to 40 points"
            )
        return self._drawn.paper(width_mm, points, font)

    def plot(self, ax: Any | None = None) -> Any:
        """Draw it with matplotlib, which has to be installed.

        Parameters
        ----------
        ax
            The axes to draw a chart of one part on. Default new ones, in a new figure.

        Returns
        -------
        matplotlib.axes.Axes or list of them
            The axes, one for each part of a chart with several. ``axes.figure`` is the figure.

        Raises
        ------
        ValueError
            If matplotlib has no such chart, such as a map of tiles, or if it has several parts and
            is to be drawn on one axes.
        """
        spec = self.vega
        if spec is None:
            raise ValueError(f"{self.name} cannot be drawn with matplotlib; use `svg` or `save`")
        return draw(spec, ax)

    def only(self, part: str) -> Chart:
        """Give one part of it, by its heading: ``chart.only("all flows")``.

        Raises
        ------
        KeyError
            If there is no such part.
        """
        if part not in self.parts:
            there = ", ".join(self.parts) or "none"
            raise KeyError(f"{self.name} has no part {part!r}; it has {there}")
        return Chart(self._drawn.only(part))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file, whose name says in which form.

        ``.svg`` is the picture as on a page; ``.pdf`` and ``.png`` are the picture as `paper` gives
        it, and need the package vl-convert-python (``pip install floodway[pdf]``). ``.csv`` has its
        numbers, and ``.json`` is a specification of Vega-Lite.
        """
        path = Path(path)
        if path.suffix.lower() in _CONVERTED:
            path.write_bytes(_converted(self.paper(), path.suffix.lower()))
            return
        forms = {".svg": self.svg, "": self.svg, ".csv": self.csv}
        if path.suffix.lower() == ".json":
            spec = self.vega
            if spec is None:
                raise ValueError(f"{self.name} has no form in Vega-Lite; save it as .svg or .csv")
            forms[".json"] = json.dumps(spec, indent=1)
        text = forms.get(path.suffix.lower())
        if text is None:
            raise ValueError(
                f"a chart cannot be saved as {path.name}; "
                f"the endings are .svg, .pdf, .png, .csv and .json"
            )
        path.write_text(text, encoding="utf-8")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Chart):
            return NotImplemented
        return (self.name, self.svg, self.csv) == (other.name, other.svg, other.csv)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what it shows."""
        of = self._drawn
        return Chart, (_Kept(of.name, of.caption, list(of.parts), of.svg, of.csv, of.vega),)

    def __repr__(self) -> str:
        return line(f"<Chart {self.name}: {self.caption}>")

    def _repr_svg_(self) -> str:
        return self.svg


class Charted:
    """Something with charts, each of which it draws in one call."""

    @property
    def charts(self) -> dict[str, Chart]:
        """The charts, by name."""
        raise NotImplementedError

    def plot(self, name: str, part: str | None = None, ax: Any | None = None) -> Any:
        """Draw one of `charts` with matplotlib: ``plot("fct-mean-ns")``.

        Parameters
        ----------
        name
            The name of the chart.
        part
            Of a chart with several parts the one with this heading: ``"all flows"``.
        ax
            The axes to draw one part on. Default new ones, in a new figure.

        Returns
        -------
        matplotlib.axes.Axes or list of them
            The axes, one for each part.

        Raises
        ------
        KeyError
            If there is no such chart or part.
        """
        charts = self.charts
        if name not in charts:
            raise KeyError(f"there is no chart {name!r}; there are {', '.join(charts) or 'none'}")
        chart = charts[name] if part is None else charts[name].only(part)
        return chart.plot(ax)


# Forms that a picture is converted to.
_CONVERTED = (".pdf", ".png")


def _converted(svg: str, suffix: str) -> bytes:
    try:
        import vl_convert
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            f"vl-convert-python is not installed, and makes {suffix} files: "
            "pip install vl-convert-python, or save the chart as .svg",
            name="vl_convert",
        ) from None
    if suffix == ".pdf":
        return bytes(vl_convert.svg_to_pdf(svg))
    return bytes(vl_convert.svg_to_png(svg, ppi=300))


def by_name(pictures: Iterable[_floodway.Picture]) -> dict[str, Chart]:
    """Give charts by their names, in order."""
    return {picture.name: Chart(picture) for picture in pictures}

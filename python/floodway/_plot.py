"""Charts drawn with matplotlib, from their specification of Vega-Lite, which has the numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_STYLES = ["-", "--", "-.", ":"]

# Units whose numbers are written with prefixes: the factor to the unit after it.
_UNITS = {"ns": (1e-9, "s"), "bytes": (1.0, "B"), "b/s": (1.0, "b/s")}


def draw(spec: dict[str, Any], ax: Any | None) -> Any:
    """Draw a chart.

    Returns
    -------
    matplotlib.axes.Axes or list of them
        The axes, one for each part of a chart with several.
    """
    try:
        from matplotlib import pyplot
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "matplotlib is not installed, and draws this: pip install matplotlib",
            name="matplotlib",
        ) from None

    panels = list(_panels(spec))
    if ax is None:
        across = min(len(panels), spec.get("columns", 1))
        down = -(-len(panels) // across)
        tall = [panel.height for panel in panels[::across]]
        figure, grid = pyplot.subplots(
            down,
            across,
            squeeze=False,
            figsize=(5.2 * across, sum(tall)),
            height_ratios=tall,
            layout="constrained",
        )
        axes = list(grid.flat)
        for unused in axes[len(panels) :]:
            unused.set_visible(False)
        caption = spec.get("title", "")
        text = caption["text"] if isinstance(caption, dict) else caption
        if len(panels) > 1:
            figure.suptitle(text)
        elif not panels[0].title:
            panels[0].title = text
    elif len(panels) == 1:
        axes = [ax]
    else:
        parts = ", ".join(repr(panel.title) for panel in panels)
        raise ValueError(
            f"this chart has {len(panels)} parts and one axes to draw on: leave `ax` out, or draw "
            f"one part of {parts}"
        )
    series = list(dict.fromkeys(name for panel in panels for name in panel.series()))
    places = {name: at for at, name in enumerate(series)}
    for panel, one in zip(panels, axes, strict=False):
        panel.draw(one, places)
    return axes[0] if len(panels) == 1 else axes[: len(panels)]


def _panels(spec: dict[str, Any]) -> Iterator[_Lines | _Rows | _Stacks]:
    """Give the parts of a specification, each of which takes axes of its own."""
    for several in ("concat", "vconcat"):
        if several in spec:
            for part in spec[several]:
                yield from _panels(part)
            return
    if "facet" in spec:
        values = spec["data"]["values"]
        for group in dict.fromkeys(value["group"] for value in values):
            rows = [value for value in values if value["group"] == group]
            yield _Rows(group, rows, spec["spec"]["layer"][0])
    elif "layer" in spec:
        yield _Lines(spec)
    else:
        yield _Stacks(spec)


def _heading(spec: dict[str, Any]) -> str:
    title = spec.get("title", "")
    return str(title.get("subtitle", "") if isinstance(title, dict) else title)


def _axis(ax: Any, letter: str, channel: dict[str, Any]) -> None:
    """Set scale, limits, label and the form of numbers of an axis."""
    from matplotlib import ticker

    scale = channel.get("scale", {})
    title = channel["title"]
    axis = getattr(ax, f"{letter}axis")
    if scale.get("type") == "log":
        getattr(ax, f"set_{letter}scale")("log")
        axis.set_minor_formatter(ticker.NullFormatter())
    if "domain" in scale:
        getattr(ax, f"set_{letter}lim")(*scale["domain"])
    for unit, (factor, base) in _UNITS.items():
        if title.endswith(f"[{unit}]"):
            title = title.removesuffix(f"[{unit}]").strip()
            axis.set_major_formatter(ticker.FuncFormatter(_Prefixed(factor, base)))
            break
    getattr(ax, f"set_{letter}label")(title)


class _Prefixed:
    """Write numbers with a unit and its prefix: 10 µs."""

    def __init__(self, factor: float, unit: str) -> None:
        from matplotlib import ticker

        self.factor = factor
        self.write = ticker.EngFormatter(unit=unit)

    def __call__(self, value: float, at: int | None = None) -> str:
        return str(self.write(value * self.factor))


class _Lines:
    """Lines, steps, areas and points over two axes."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self.layers = spec["layer"]
        self.title = _heading(spec)
        self.height = spec.get("height", 260) / 80

    def series(self) -> Iterator[str]:
        for layer in self.layers:
            yield from (value["series"] for value in layer["data"]["values"])

    def draw(self, ax: Any, places: Mapping[str, int]) -> None:
        labeled: set[str] = set()
        for layer in self.layers:
            mark = layer["mark"]
            kind = mark if isinstance(mark, str) else mark["type"]
            values = layer["data"]["values"]
            for name in dict.fromkeys(value["series"] for value in values):
                of = [value for value in values if value["series"] == name]
                color = f"C{places[name] % 10}"
                label = None if name in labeled else name
                labeled.add(name)
                x = [value["x"] for value in of]
                if kind == "rule":
                    low, high = ([value[end] for value in of] for end in ("low", "high"))
                    ax.vlines(x, low, high, color=color)
                    continue
                y = [value["y"] for value in of]
                if kind == "point":
                    ax.plot(x, y, "o", color=color, label=label)
                elif kind == "area":
                    ax.fill_between(x, y, color=color, alpha=0.3, label=label)
                else:
                    ax.plot(
                        x,
                        y,
                        _STYLES[places[name] % len(_STYLES)],
                        color=color,
                        label=label,
                        marker="o" if mark.get("point") else None,
                        drawstyle="steps-post" if "interpolate" in mark else "default",
                    )
        encoding = self.layers[0]["encoding"]
        _axis(ax, "x", encoding["x"])
        _axis(ax, "y", encoding["y"])
        ax.set_title(self.title, fontsize="medium")
        if len(labeled) > 1:
            ax.legend(fontsize="small")


class _Rows:
    """Numbers with their intervals along one axis, a row each."""

    def __init__(self, group: str, rows: list[dict[str, Any]], layer: dict[str, Any]) -> None:
        self.title = group
        self.rows = rows
        self.channel = layer["encoding"]["x"]
        self.is_bar = layer["mark"]["type"] == "bar"
        self.height = 0.9 + 0.3 * len(rows)

    def series(self) -> Iterator[str]:
        yield from (row["series"] for row in self.rows)

    def draw(self, ax: Any, places: Mapping[str, int]) -> None:
        for at, row in enumerate(self.rows):
            color = f"C{places[row['series']] % 10}"
            if row["value"] is not None:
                if self.is_bar:
                    ax.barh(at, row["value"], color=color, height=0.6)
                else:
                    ax.plot(row["value"], at, "o", color=color)
            if row["low"] is not None and row["high"] is not None:
                ax.hlines(at, row["low"], row["high"], color="0.2" if self.is_bar else color)
            if row.get("claimed") is not None:
                ax.plot(row["claimed"], at, "D", color="black", fillstyle="none")
        ax.set_yticks(range(len(self.rows)), [row["series"] for row in self.rows])
        ax.set_ylim(len(self.rows) - 0.5, -0.5)
        _axis(ax, "x", self.channel)
        ax.set_title(self.title, fontsize="medium", loc="left")


class _Stacks:
    """Bars that are divided into parts."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self.title = _heading(spec)
        self.values = spec["data"]["values"]
        self.channel = spec["encoding"]["x"]
        self.parts = list(spec["encoding"]["color"]["sort"])
        self.height = 1.2 + 0.3 * len(set(self.series()))

    def series(self) -> Iterator[str]:
        yield from (value["series"] for value in self.values)

    def draw(self, ax: Any, places: Mapping[str, int]) -> None:
        rows = list(dict.fromkeys(self.series()))
        ends = dict.fromkeys(rows, 0.0)
        labeled: set[str] = set()
        for value in sorted(self.values, key=lambda value: value["order"]):
            name, part, length = value["series"], value["part"], value["value"] or 0.0
            ax.barh(
                rows.index(name),
                length,
                left=ends[name],
                height=0.6,
                color=f"C{self.parts.index(part) % 10}",
                label=None if part in labeled else part,
            )
            labeled.add(part)
            ends[name] += length
        ax.set_yticks(range(len(rows)), rows)
        ax.set_ylim(len(rows) - 0.5, -0.5)
        _axis(ax, "x", self.channel)
        ax.set_title(self.title, fontsize="medium", loc="left")
        ax.legend(fontsize="small")

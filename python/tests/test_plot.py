"""Charts drawn with matplotlib, and as PDF and PNG."""

import csv
import io
import sys

import pytest

import floodway
from floodway._plot import draw

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture
def results(stored):
    return floodway.open(stored)


@pytest.fixture(autouse=True)
def no_figure_is_left():
    yield
    matplotlib.pyplot.close("all")


def test_lines_are_those_of_the_chart(results):
    from matplotlib import pyplot

    chart = results.charts["fct-cdf"].only("all flows")
    axes = results.plot("fct-cdf", "all flows")
    points = {}
    for row in csv.DictReader(io.StringIO(chart.csv)):
        x, y = list(row)[-2:]
        points.setdefault(row["series"], []).append((float(row[x]), float(row[y])))
    drawn = {line.get_label(): line.get_xydata() for line in axes.get_lines()}
    assert drawn.keys() == set(results.variants) == points.keys()
    for name, of in points.items():
        assert [tuple(point) for point in drawn[name]] == of
    assert axes.get_xscale() == "log"
    assert axes.get_xlabel() and "ns" not in axes.get_xlabel()
    # Numbers of an axis have units with prefixes.
    axes.figure.canvas.draw()
    assert any(label.get_text().endswith("µs") for label in axes.get_xticklabels())

    mine = pyplot.figure().subplots()
    assert results.plot("fct-cdf", "all flows", mine) is mine


def test_intervals_and_claimed_numbers():
    def row(series, value, low, high, claimed):
        return {"group": "mice", "series": series, "value": value} | {
            "low": low,
            "high": high,
            "claimed": claimed,
        }

    x = {"field": "value", "title": "change [%]", "scale": {"type": "log"}}
    layer = {"mark": {"type": "point"}, "encoding": {"x": x}}
    values = [row("a", 2.0, 1.0, 4.0, 3.0), row("b", 5.0, None, None, None)]
    axes = draw({"facet": {}, "data": {"values": values}, "spec": {"layer": [layer]}}, None)
    (interval,) = axes.collections
    assert interval.get_segments()[0].tolist() == [[1.0, 0.0], [4.0, 0.0]]
    numbers = [(line.get_xdata()[0], line.get_ydata()[0]) for line in axes.get_lines()]
    assert numbers == [(2.0, 0), (3.0, 0), (5.0, 1)]
    assert (axes.get_xscale(), axes.get_xlabel()) == ("log", "change [%]")


def test_rows_are_the_means_of_the_summary(results):
    parts = results.plot("mean-fct")
    (axes,) = [axes for axes in parts if axes.get_title(loc="left") == "all flows"]
    assert [label.get_text() for label in axes.get_yticklabels()] == list(results.variants)
    means = [line.get_xdata()[0] for line in axes.get_lines()]
    of = results.summary["variants"]
    assert means == [of[name]["fct"]["all"]["mean_ns"]["mean"] for name in results.variants]
    # All replications have the same flows, so that there is no interval.
    assert not axes.collections


def test_every_chart_is_drawn_or_refused(results):
    for name, chart in results.charts.items():
        if chart.vega is None:
            with pytest.raises(ValueError, match=f"{name} cannot be drawn with matplotlib"):
                chart.plot()
        else:
            assert chart.plot() is not None


def test_what_cannot_be_drawn(results, monkeypatch):
    from matplotlib import pyplot

    with pytest.raises(KeyError, match=r"there is no chart 'fct'; there are .*fct-cdf"):
        results.plot("fct")
    with pytest.raises(KeyError, match="fct-cdf has no part 'mice'"):
        results.plot("fct-cdf", "mice")
    with pytest.raises(ValueError, match="parts and one axes to draw on: leave `ax` out, or draw"):
        results.plot("fct-cdf", ax=pyplot.figure().subplots())
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ModuleNotFoundError, match="draws this: pip install matplotlib"):
        results.plot("fct-cdf", "all flows")


def test_a_run_has_charts_of_its_own(results, stored):
    kept = results.run("marks", 1)
    run = floodway.load(stored.parent / "scenario.toml").run("marks", 1)
    assert list(run.charts) == list(kept.charts)
    assert all(run.charts[name].csv == kept.charts[name].csv for name in run.charts)
    flows = [t for t in zip(run.flows["fct_ns"], run.flows["measured"], strict=True) if t[1]]
    mean = sum(fct for fct, _ in flows) / len(flows)
    (axes,) = [of for of in run.plot("mean-fct") if of.get_title(loc="left") == "all flows"]
    assert axes.get_lines()[0].get_xdata()[0] == pytest.approx(mean, rel=1e-12)


def test_pdf_and_png(results, tmp_path, monkeypatch):
    pytest.importorskip("vl_convert")
    chart = results.charts["fct-cdf"].only("all flows")
    chart.save(tmp_path / "cdf.pdf")
    pdf = (tmp_path / "cdf.pdf").read_bytes()
    assert pdf.startswith(b"%PDF-") and b"/FontFile" in pdf, "text is text, in a font that is there"
    chart.save(tmp_path / "cdf.PNG")
    assert (tmp_path / "cdf.PNG").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(ModuleNotFoundError, match=r"makes \.pdf files: pip install vl-convert-pyt"):
        chart.save(tmp_path / "other.pdf")
    with pytest.raises(ValueError, match=r"as cdf\.eps; the endings are \.svg, \.pdf"):
        chart.save(tmp_path / "cdf.eps")

"""Data files of flent that are read, and laid over results."""

import bz2
import gzip
import json
import math
import subprocess
import sys

import pytest

import floodway
from floodway._overlay_command import main

# A test that began at 12:00 UTC, day 20787 after 1970-01-01, with two idle pings, three under load
# and two flows.
BEGAN = 20_787 * 86_400 + 12 * 3_600
PINGS = [(0.1, 20.0), (0.3, 22.0), (1.1, 40.0), (1.3, 60.0), (1.9, 100.0)]
MEASURED = {
    "version": 4,
    "metadata": {"NAME": "rrul_be", "TITLE": "home", "T0": "2026-11-30T12:00:00.000000Z"},
    "x_values": [0.0, 1.0, 1.5, 2.0],
    "results": {
        "Ping (ms) UDP BE1": [None, 30.0, 80.0, None],
        "Ping (ms) avg": [None, 30.0, 80.0, None],
        "TCP download BE": [None, 10.0, 20.0, 30.0],
        "TCP download BE::tcp_rtt": [None, 50.0, 50.0, 50.0],
        "TCP download BE2": [None, None, 5.0, 5.0],
        "TCP download sum": [None, 10.0, 25.0, 35.0],
        "TCP upload BE::1": [None, 1.0, 2.0, 3.0],
        "TCP upload avg": [None, 1.0, 2.0, 3.0],
    },
    "raw_values": {
        "Ping (ms) UDP BE1": [
            {"t": BEGAN + time, "val": value, "seq": at} for at, (time, value) in enumerate(PINGS)
        ],
        "Ping (ms) avg": [],
        # Windows are measured at times of their own, and have no `val`.
        "TCP download BE": [{"t": BEGAN + 1.2, "tcp_cwnd": 10.0}],
    },
}


def flat(points):
    """Times and values one after the other, as `pytest.approx` compares them."""
    return pytest.approx([number for point in points for number in point])


def numbers(points):
    return [number for point in points for number in point]


def changed(**fields):
    return json.dumps({**MEASURED, **fields}).encode()


@pytest.fixture
def measured(tmp_path):
    path = tmp_path / "home.flent.gz"
    path.write_bytes(gzip.compress(changed()))
    return path


def test_series_of_a_file(measured):
    file = floodway.read_flent(measured)
    assert (file.test, file.title, file.path) == ("rrul_be", "home", measured)
    assert file.pings == ("Ping (ms) UDP BE1",)
    assert numbers(file.series("Ping (ms) UDP BE1")) == flat(PINGS)
    # Series that flent computes have no values of their own.
    assert file.series("Ping (ms) avg") == [(1.0, 30.0), (1.5, 80.0)]
    # Sums leave out averages and other quantities; a flow that has not begun adds nothing.
    assert file.goodput("download") == [(1.0, 10.0), (1.5, 25.0), (2.0, 35.0)]
    assert file.goodput("upload") == [(1.0, 1.0), (1.5, 2.0), (2.0, 3.0)]
    assert file.load == (1.0, 2.0)
    with pytest.raises(ValueError, match="'sideways' is neither 'download' nor 'upload'"):
        file.goodput("sideways")


@pytest.mark.parametrize("zone", ["2026-11-30T13:00:00.000000", "2026-11-30T05:30:00"])
def test_a_time_without_a_zone_is_local(tmp_path, zone):
    path = tmp_path / "local.flent"
    path.write_bytes(changed(metadata={"NAME": "rrul", "T0": zone}))
    series = floodway.read_flent(path).series("Ping (ms) UDP BE1")
    assert numbers(series) == flat(PINGS)


def test_packings(measured, tmp_path):
    for name, pack in (("a.flent.bz2", bz2.compress), ("b.flent", bytes)):
        (tmp_path / name).write_bytes(pack(changed()))
        same = floodway.read_flent(tmp_path / name)
        assert same.results == floodway.read_flent(measured).results


GZIP = gzip.compress(changed())


@pytest.mark.parametrize(
    ("content", "cause", "remedy"),
    [
        (GZIP[:-100], f"is cut: its gzip data end after {len(GZIP) - 100:,} bytes", "copy the"),
        (GZIP[:40] + b"\0\0\0" + GZIP[43:], "is damaged: gzip cannot unpack it", "copy the file"),
        (b"RIFF \xff\xfe", "it is not JSON (byte 5 is no text)", "ending .flent.gz that flent"),
        (b'{"version": 4,', "it is not JSON (line 1, column 15: ", "ending .flent.gz that flent"),
        (b"", "it is not JSON (line 1, column 1: ", "ending .flent.gz that flent wrote"),
        (b"[" * 200_000, "its values are nested too deeply", "ending .flent.gz that flent wrote"),
        (b"[4]", "which has `version`, `metadata`, `x_values`, `results` besides", "flent wrote"),
        (changed(results=None), "no data file of flent, which has `results` besides", "give the"),
        (changed(version=3), "version 3 of flent's format, and version 4 is read", ".dump_file("),
        (changed(version=5), "version 5 of flent's format, and version 4 is read", "such as 2.3.0"),
        (changed(x_values=[0.0, "1", 2.0, 3.0]), "`x_values` has values that are no times", "copy"),
        (changed(results={"Ping": [1.0]}), "series 'Ping' has 1 values for 4 times", "measure it"),
        (changed(results={"Ping": ["a"] * 4}), "series 'Ping' has values that are no num", "copy"),
        (changed(raw_values=[1]), "`raw_values` has no lists of values", "measure it again"),
        (changed(raw_values={"Ping": [1]}), "the raw values of 'Ping' are no objects", "copy or"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_file(tmp_path, content, cause, remedy):
    path = tmp_path / "x.flent.gz"
    path.write_bytes(content)
    with pytest.raises(floodway.FlentError) as raised:
        floodway.read_flent(path)
    text = str(raised.value)
    assert text.startswith(str(path)) and cause in text and remedy in text.split(";")[-1], text


def test_a_missing_series(measured):
    file = floodway.read_flent(measured)
    with pytest.raises(
        floodway.FlentError, match=r"no series 'TCP upload BK'; it has 'Ping \(ms\)"
    ):
        file.series("TCP upload BK")
    with pytest.raises(FileNotFoundError):
        floodway.read_flent(measured.parent / "nothing.flent.gz")


def test_numbers_by_hand(measured):
    (row,) = floodway.lay_over(measured).table
    # Idle: 20 and 22 ms. Loaded: 40, 60 and 100 ms; 0.95 of the way over two gaps is nine tenths of
    # the second.
    assert row["ping_idle_p50_ms"] == pytest.approx(21.0)
    assert row["ping_loaded_p50_ms"] == pytest.approx(60.0)
    assert row["ping_loaded_p95_ms"] == pytest.approx(96.0)
    assert row["pings_loaded"] == 3
    # Means of 10, 25 and 35, and of 1, 2 and 3 Mb/s.
    assert row["download_mbps"] == pytest.approx(70 / 3)
    assert row["upload_mbps"] == pytest.approx(2.0)
    assert row["name"] == "home"


def test_a_file_without_load(tmp_path):
    results = {"Ping (ms) ICMP": [20.0, 21.0, None, 23.0]}
    (tmp_path / "ping.flent").write_bytes(changed(results=results, raw_values={}))
    overlay = floodway.lay_over(tmp_path / "ping.flent")
    (row,) = overlay.table
    assert (row["ping_idle_p50_ms"], row["pings_loaded"]) == (21.0, 0)
    assert math.isnan(row["ping_loaded_p50_ms"]) and math.isnan(row["download_mbps"])
    assert str(overlay).splitlines()[1].split()[1:] == ["21.00", "-", "-", "-", "0", "-", "-"]


def test_what_cannot_be_laid_over(measured, tmp_path):
    (tmp_path / "tcp.flent").write_bytes(changed(results={"TCP upload BE": [1.0] * 4}))
    with pytest.raises(floodway.FlentError, match=r"no series of pings; it has none: measure with"):
        floodway.lay_over(tmp_path / "tcp.flent")
    with pytest.raises(floodway.FlentError, match=r"with 'EF' in its name; it has 'Ping.*choose"):
        floodway.lay_over(measured, pings="EF")
    with pytest.raises(ValueError, match="nothing is named"):
        floodway.lay_over()
    with pytest.raises(ValueError, match="1 labels were given for 2 files"):
        floodway.lay_over(measured, measured, labels=["one"])
    assert floodway.lay_over(measured, measured).labels == ("home (1)", "home (2)")


SCENARIO = """
name = "line"
arrivals = "4s"
limit = "5s"
flow_samples = "200ms"
[topology.dumbbell]
left = 1
right = 1
bottleneck_rate = "50Mbps"
bottleneck_rate_back = "10Mbps"
bottleneck_delay = "8ms"
[switch.queue]
size = "100KB"
[host.transport.tcp]
[[workload]]
name = "upload-BE"
long_flows = { count = 1, from = "right", to = "left", start = "1s", stop = "3s" }
[[workload]]
name = "ping-BE"
ping = { interval = "100ms" }
[variants.fifo]
[variants.fq_codel.switch.queue.discipline.fq_codel]
"""


@pytest.fixture(scope="module")
def simulated(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("line")
    (folder / "line.toml").write_text(SCENARIO)
    for words in (
        ["run", "line.toml", "--out", "out"],
        ["export", "flent", "out", "--variant", "fq_codel"],
    ):
        subprocess.run([program, *words], cwd=folder, capture_output=True, check=True)
    return folder


def test_ours_is_read_and_laid_over(simulated, measured):
    overlay = floodway.lay_over(measured, simulated / "out")
    assert overlay.labels == ("home", "line: fifo", "line: fq_codel")
    fifo, fq_codel = overlay.table[1:]
    # Without load, propagation of 20 ms and 122 bytes over links of 1 Gb/s, 10 and 50 Mb/s.
    assert fifo["ping_idle_p50_ms"] == pytest.approx(20.121024)
    # A buffer of 100 KB takes 81 ms of the line.
    assert fifo["ping_loaded_p50_ms"] > 60 > 24 > fq_codel["ping_loaded_p50_ms"]
    assert 8 < fifo["upload_mbps"] < 9.7 and math.isnan(fifo["download_mbps"])
    # The exported file has the same values as the results.
    exported = floodway.read_flent(simulated / "line-fq_codel.flent.gz")
    assert exported.results == overlay.files[2].results
    assert exported.pings == ("Ping (ms) UDP BE",)
    row = floodway.lay_over(exported).table[0]
    assert row == fq_codel
    with pytest.raises(floodway.ResultsError, match="no run cake 0; there are fifo 0, fq_codel 0:"):
        floodway.lay_over(floodway.open(simulated / "out"), variants=["cake"])


def test_a_run_without_samples(program, simulated, tmp_path):
    (tmp_path / "line.toml").write_text(SCENARIO.replace('flow_samples = "200ms"', ""))
    command = [program, "run", "line.toml", "--out", "out", "--variant", "fifo"]
    subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    with pytest.raises(floodway.ResultsError, match=r"variant fifo: .* write flow_samples = "):
        floodway.lay_over(tmp_path / "out")


def test_the_chart(simulated, measured, tmp_path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    overlay = floodway.lay_over(measured, simulated / "out", variants=["fifo"])
    over_time, cdf, download, upload = overlay.plot()
    lines = {of.get_label(): of.get_xydata().tolist() for of in cdf.get_lines()}
    assert lines.keys() == {"home", "line: fifo"}
    assert lines["home"] == [
        pytest.approx(point) for point in ([40e6, 1 / 3], [60e6, 2 / 3], [100e6, 1.0])
    ]
    # The times differ by less than a factor of 30, so numbers stand at the axes.
    assert cdf.get_xscale() == over_time.get_yscale() == "linear"
    far = floodway.read_flent(measured)
    far.raw_values["Ping (ms) UDP BE1"].append((1.95, 4000.0))
    _, cdf_of_far, _, _ = floodway.lay_over(far).plot()
    assert cdf_of_far.get_xscale() == "log"
    home = over_time.get_lines()[0].get_xydata().tolist()
    assert home[0] == pytest.approx([0.1, 20e6]) and len(home) == 5
    # The measured line has both directions, and ours only an upload.
    assert [len(axes.get_lines()) for axes in (download, upload)] == [1, 2]
    assert upload.get_lines()[0].get_xydata()[:, 1].tolist() == [1e6, 2e6, 3e6]
    matplotlib.pyplot.close("all")
    overlay.save(tmp_path / "overlay.png")
    assert (tmp_path / "overlay.png").read_bytes().startswith(b"\x89PNG")
    assert not matplotlib.pyplot.get_fignums()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ModuleNotFoundError, match="pip install matplotlib"):
        overlay.plot()


def test_the_command(simulated, measured, capsys, tmp_path):
    words = [str(measured), str(simulated / "out"), "--variant", "fifo", "--label", "my line"]
    words += ["--label", "simulated"]
    assert main(words) == 0
    head, first, second = capsys.readouterr().out.splitlines()
    assert "idle ping, median [ms]" in head and first.startswith("my line  ")
    assert first.split()[2:4] == ["21.00", "60.00"] and second.startswith("simulated")
    (tmp_path / "cut.flent.gz").write_bytes(GZIP[:90])
    assert main([str(tmp_path / "cut.flent.gz")]) == 2
    assert capsys.readouterr().err.startswith(f"error: {tmp_path / 'cut.flent.gz'} is cut: ")
    command = [sys.executable, "-m", "floodway", "overlay", str(measured)]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "home" in said.stdout


def test_a_file_that_flent_wrote(tmp_path):
    """flent's own code writes the file, with the series that a test of it has."""
    resultset = pytest.importorskip("flent.resultset", reason="flent is not installed")
    from datetime import datetime

    began = datetime(2026, 11, 30, 12)
    written = resultset.ResultSet(NAME="rrul_be", TITLE="by flent", T0=began, TIME=began)
    names = [name for name in MEASURED["results"] if name != "Ping (ms) avg"]
    written.create_series(names)
    for at, time in enumerate(MEASURED["x_values"]):
        values = {name: MEASURED["results"][name][at] for name in names}
        written.append_datapoint(time, values)
    written.raw_values = MEASURED["raw_values"]
    written.dump_file(str(tmp_path / "written.flent.gz"))
    file = floodway.read_flent(tmp_path / "written.flent.gz")
    assert file.title == "by flent"
    assert numbers(file.series("Ping (ms) UDP BE1")) == flat(PINGS)
    assert file.goodput("download") == [(1.0, 10.0), (1.5, 25.0), (2.0, 35.0)]
    # An old file is converted as its message says.
    old = json.loads(changed(version=3))
    (tmp_path / "old.flent").write_text(json.dumps(old))
    with pytest.raises(floodway.FlentError, match="let flent convert it"):
        floodway.read_flent(tmp_path / "old.flent")
    script = "from flent import resultset; resultset.load('old.flent').dump_file('new.flent.gz')"
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)
    assert floodway.read_flent(tmp_path / "new.flent.gz").pings == ("Ping (ms) UDP BE1",)

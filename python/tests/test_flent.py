"""The data file of flent: its fields by the documented format, and what flent itself reads."""

import gzip
import json
import subprocess

import pytest

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
name = "download-EF"
long_flows = { count = 1, start = "1s", stop = "3s" }
[[workload]]
name = "ping-BE"
ping = { interval = "100ms" }
"""


@pytest.fixture
def file(program, tmp_path):
    (tmp_path / "line.toml").write_text(SCENARIO)
    for words in (["run", "line.toml", "--out", "out"], ["export", "flent", "out"]):
        subprocess.run([program, *words], cwd=tmp_path, capture_output=True, check=True)
    return tmp_path / "line-base.flent.gz"


def test_fields_are_those_of_the_format(file):
    data = json.loads(gzip.decompress(file.read_bytes()))
    assert (data["version"], data["metadata"]["NAME"]) == (4, "rrul")
    times = data["x_values"]
    assert all(len(values) == len(times) for values in data["results"].values())
    assert data["metadata"]["STEP_SIZE"] == pytest.approx(0.2)
    # An idle ping: propagation of 20 ms, and 122 bytes over links of 1 Gb/s, 10 and 50 Mb/s.
    pings = data["raw_values"]["Ping (ms) UDP BE"]
    assert [ping["val"] for ping in pings[:9]] == pytest.approx([20.121024] * 9)
    # Nothing is sent in the first second, and a line of 10 Mb/s carries at most 10 Mb/s on
    # average; what a receiver holds behind a lost segment is delivered at once.
    upload = dict(zip(times, data["results"]["TCP upload BE"], strict=True))
    assert upload[times[0]] is None
    rates = [rate for rate in upload.values() if rate is not None]
    assert 5 < sum(rates) / len(rates) <= 10
    assert data["results"]["TCP upload avg"] == data["results"]["TCP upload BE"]


def test_flent_reads_it(file):
    resultset = pytest.importorskip("flent.resultset", reason="flent is not installed")
    results = resultset.load(str(file))
    assert results.meta("NAME") == "rrul"
    assert {"TCP upload BE", "TCP download EF", "Ping (ms) UDP BE"} <= set(results.series_names)
    pings = list(results.raw_series("Ping (ms) UDP BE"))
    time, milliseconds = pings[0]
    assert time == pytest.approx(0.020121024, abs=1e-5)
    assert milliseconds == pytest.approx(20.121024)


def test_a_run_without_pings_is_refused(program, tmp_path):
    without = SCENARIO[: SCENARIO.rindex("[[workload]]")]
    (tmp_path / "line.toml").write_text(without)
    command = [program, "run", "line.toml", "--out", "out"]
    subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    command = [program, "export", "flent", "out"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert said.returncode == 2
    assert "the run has no pings" in said.stderr and "floodway new rrul" in said.stderr

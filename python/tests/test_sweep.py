"""Sweeps: what `floodway sweep` does."""

import json
import os
import pickle
import re
import signal
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest
from conftest import Terminal, in_a_process, wait_for, without_times

import floodway


@pytest.fixture
def swept(scenarios):
    return floodway.load(scenarios / "swept.toml")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder, in which the test is."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_is_what_the_program_does(swept, scenarios, program, folder):
    sweep = swept.sweep(progress=False)
    assert os.fspath(sweep.path) == "results/sweep-swept"
    command = [program, "sweep", scenarios / "swept.toml", "--json", "--out", "program"]
    done = subprocess.run(
        [*command, "--cache", "its-own"], check=True, capture_output=True, text=True
    )
    there = json.loads(done.stdout)
    # 2 senders and sizes, 3 of these, 2 variants, 2 replications.
    assert len(sweep.json["runs"]) == 24
    assert without_times(sweep.json) == without_times(there)
    assert sweep.fingerprint == there["provenance"]["fingerprint"]
    kept = json.loads((sweep.path / "sweep.json").read_text())
    assert len(kept.pop("files")["."]) == 7
    assert kept == sweep.json
    assert sweep.page == sweep.path / "report.html" and sweep.page.is_file()
    # The program takes the runs that Python has made, and the other way round.
    done = subprocess.run(
        [*command, "--cache", "results/cache"], check=True, capture_output=True, text=True
    )
    assert json.loads(done.stdout)["provenance"]["reused"] == 24
    assert swept.sweep(cache="its-own", progress=False).reused == 24


def test_nothing_is_simulated_twice(swept, folder):
    first = swept.sweep(progress=False)
    assert first.reused == 0
    again = swept.sweep(progress=False, threads=3)
    assert (again.reused, again.fingerprint) == (24, first.fingerprint)
    assert again.runs.to_dict() == first.runs.to_dict()
    # Without a cache all is made again, and comes out the same.
    without = swept.sweep(progress=False, cache=None, out="without")
    assert (without.reused, without.fingerprint) == (0, first.fingerprint)


def test_what_comes_out(swept, folder):
    sweep = swept.sweep(progress=False)
    assert (sweep.name, sweep.variants, sweep.violations) == ("swept", ("shallow", "deep"), ())
    assert sweep.caveats == tuple(sweep.json["caveats"])
    assert len(sweep.runs) == 24 and len(sweep.points) == 12
    path = "workload.0.incast.bytes"
    assert sweep.points.columns[:4] == ["point", "workload.0.incast.senders", path, "variant"]
    # The second axis goes fastest, with two variants at each point.
    assert sweep.points[path].to_list() == [20e3, 20e3, 40e3, 40e3, 60e3, 60e3] * 2
    again = pickle.loads(pickle.dumps(sweep))
    assert (again.json, again.charts) == (sweep.json, sweep.charts)
    assert str(again.points.to_dict()) == str(sweep.points.to_dict())
    # Each number is what a run by itself says.
    last = swept.with_({"workload.0.incast": {"senders": 4, "bytes": "60KB"}}).run("deep", 1)
    assert sweep.runs["fingerprint"].to_list()[-1] == last.fingerprint
    mean = sum(last.flows["fct_ns"]) / len(last.flows)
    assert sweep.runs["fct_mean_ns"].to_list()[-1] == pytest.approx(mean)
    # Neither memory is ever full.
    (answer,) = sweep.answer
    assert answer == (
        "deep and shallow have the same runs at all points: what differs between them never acted."
    )
    assert sweep.reference == {"workload.0.incast.senders": "2", path: "20KB"}


def test_charts_are_pictures(swept, folder):
    charts = swept.sweep(progress=False, metrics=["fct_p99_ns"]).charts
    # Lines over the first axis, of two axes a map for each variant, and changes from the reference.
    assert list(charts) == [
        "fct-p99-ns",
        "fct-p99-ns-shallow",
        "fct-p99-ns-deep",
        "fct-p99-ns-change",
    ]
    chart = charts["fct-p99-ns"]
    assert chart.caption.startswith("99th percentile of the completion time")
    root = ElementTree.fromstring(chart.svg)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert {"shallow", "deep"} <= {text.strip() for text in root.itertext()}
    with pytest.raises(ValueError) as caught:
        chart.save("chart.eps")
    assert str(caught.value) == (
        "a chart cannot be saved as chart.eps; the endings are .svg, .pdf, .png, .csv and .json"
    )
    assert not (folder / "chart.eps").exists()
    chart.save("chart.svg")
    assert (folder / "chart.svg").read_text() == chart.svg == chart._repr_svg_()
    assert "<svg" not in repr(chart)


def test_dimensions_are_added_and_replaced(swept, folder):
    sweep = swept.sweep(
        {"workload.0.incast.bytes": "20KB", "switch.latency": "1us..100us/3log"}, progress=False
    )
    axes = {axis["path"]: axis["values"] for axis in sweep.json["axes"]}
    assert axes == {
        "workload.0.incast.senders": ["2", "4"],
        "workload.0.incast.bytes": ["20KB"],
        "switch.latency": ["1us", "10us", "100us"],
    }
    some = swept.sweep(variants=["deep"], out="some", progress=False)
    assert (some.variants, len(some.runs), some.reused) == (("deep",), 12, 0)


def test_points_are_compared_with_the_reference(swept, folder):
    path = "workload.0.incast.bytes"
    vary = {"workload.0.incast.senders": [2], path: ["20KB", "40KB", "60KB"]}
    sweep = swept.sweep(
        vary, reference={path: "0.04MB"}, variants=["deep"], metrics=["fct_mean_ns"], progress=False
    )
    assert sweep.reference == {"workload.0.incast.senders": "2", path: "40KB"}
    assert sweep.json["reference"] == {"point": 1, "origin": "given"}
    long = sweep.long.to_dict()
    rows = [row for row, metric in enumerate(long["metric"]) if metric == "fct_mean_ns"]
    column = lambda name: [long[name][row] for row in rows]  # noqa: E731
    assert column("reference") == [0, 1, 0]
    assert column("mean") == sweep.points["fct_mean_ns"].to_list()
    means = sweep.runs["fct_mean_ns"].to_list()
    # Two replications of each size: the geometric mean of the ratios of pairs.
    pairs = [(means[0] / means[2], means[1] / means[3]), (means[4] / means[2], means[5] / means[3])]
    changes = [100 * ((one * other) ** 0.5 - 1) for one, other in pairs]
    change = column("reference_change_percent")
    assert [change[0], change[2]] == pytest.approx(changes)
    # Sizes are traffic, so none of them is the best.
    assert column("best_set") == ["", "", ""]
    with pytest.raises(floodway.ScenarioError) as caught:
        swept.sweep(vary, reference={path: "50KB"})
    assert str(caught.value) == (
        f"error: the grid has no point with `{path}=50KB`\n --> reference:1:1\n  |\n"
        f"1 | {path}=50KB\n  | {'^' * len(f'{path}=50KB')}\n"
        f"  = help: did you mean 40KB? The values of `{path}` are: 20KB, 40KB, 60KB"
    )
    with pytest.raises(TypeError, match="`reference` is 3: write a mapping of paths to values"):
        swept.sweep(vary, reference=3)
    with pytest.raises(ValueError, match="`reference` is empty: write the value of a path that is"):
        swept.sweep(vary, reference={})


def test_a_workload_is_addressed_by_its_name(swept, folder):
    named = swept.with_({"workload.0.name": "burst"})
    by_name = named.with_({"workload.burst.incast.bytes": "60KB"})
    by_number = named.with_({"workload.0.incast.bytes": "60KB"})
    assert by_name.run("deep").fingerprint == by_number.run("deep").fingerprint
    sweep = named.sweep({"workload.burst.incast.bytes": ["20KB"]}, progress=False)
    # The dimension of the file has the same path.
    assert [axis["path"] for axis in sweep.json["axes"]] == [
        "workload.0.incast.senders",
        "workload.burst.incast.bytes",
    ]
    with pytest.raises(floodway.ScenarioError, match=r"did you mean `workload\.burst`"):
        named.with_({"workload.bursts.incast.bytes": "60KB"})


def test_a_scenario_of_code_is_swept_with_its_changes(turns, folder):
    sweep = turns.with_({"switch.latency": "1us"}).sweep(
        {"workload.0.list.flow.0.bytes": ["10240B", "20480B"]}, progress=False
    )
    # A full packet takes 88.48 ns on a wire. The later of the flows ends with the last of all
    # packets: 20 or 30 after the first has come to the switch and crossed it.
    first_arrives = 88.48 + 200 + 1000
    ends = [first_arrives + packets * 88.48 + 200 for packets in (20, 30)]
    longest = [max(turns.with_(set).run().flows["fct_ns"]) for set in _settings()]
    assert longest == pytest.approx(ends, abs=1e-6)
    assert sweep.runs["fct_p999_ns"].to_list() == pytest.approx(ends, rel=0.01)


def _settings():
    for size in ("10240B", "20480B"):
        yield {"switch.latency": "1us", "workload.0.list.flow.0.bytes": size}


def test_it_goes_on_until_enough_is_known(scenarios, folder):
    tiny = floodway.load(scenarios / "tiny.toml")
    vary = {"workload.0.many_to_many.load": [0.3]}
    two = tiny.sweep(vary, progress=False)
    assert set(two.points["replications"]) == {2}
    more = tiny.sweep(vary, until="fct_mean_ns=0.0001", at_most=4, progress=False)
    # Nothing is known to a ten-thousandth after four, which is the most.
    assert set(more.points["replications"]) == {4}
    assert more.reused == 4


def test_errors_come_before_anything_runs(swept, turns, scenarios, program, folder):
    def words(option, value):
        done = subprocess.run(
            [program, "sweep", "swept.toml", option, value],
            cwd=scenarios,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 2
        said = done.stderr.strip().replace("swept.toml", os.fspath(scenarios / "swept.toml"))
        # Only the place has another name here.
        return said.replace(f" --> {option}:1:1\n", f" --> {option[2:]}:1:1\n")

    path = "workload.0.incast.bites"
    with pytest.raises(floodway.ScenarioError) as caught:
        swept.sweep({path: ["1KB"]})
    assert str(caught.value) == words("--vary", f"{path}=1KB")
    assert caught.value.problems[0].help.startswith("did you mean `bytes`?")
    with pytest.raises(floodway.ScenarioError) as caught:
        swept.sweep(until="fct_p99_ns=-1")
    assert str(caught.value) == words("--until", "fct_p99_ns=-1")
    with pytest.raises(floodway.ScenarioError) as caught:
        swept.sweep(variants=["deeper"])
    assert str(caught.value) == words("--variant", "deeper")
    assert " --> variant:1:1\n" in str(caught.value)
    assert caught.value.problems[0].file == "variant"
    with pytest.raises(floodway.ScenarioError) as caught:
        swept.sweep({"switch.latency": "1us..2us"})
    assert str(caught.value).startswith(
        "error: the range does not say in how many steps\n --> vary:1:1\n"
    )
    (problem,) = caught.value.problems
    assert problem.help == (
        'write a list like `vary={"switch.queue.size": ["500KB", "1MB"]}`, or a range like '
        '`vary={"workload.0.many_to_many.load": "0.2..0.8/4"}`'
    )
    assert problem.help in problem.text and problem.file == "vary"
    with pytest.raises(floodway.ScenarioError) as caught:
        swept.sweep(until="fct_p99_ns=much")
    assert " --> until:1:1\n" in str(caught.value)
    assert caught.value.problems[0].help == 'write it like `until="fct_p99_ns=0.05"`'
    with pytest.raises(floodway.ScenarioError, match="or run it without `quick`"):
        swept.as_quick()

    with pytest.raises(ValueError) as caught:
        turns.sweep()
    assert str(caught.value) == (
        "the scenario `turns` has no `[sweep]`, so nothing is varied; say what, as in "
        '`vary={"switch.queue.size": ["500KB", "1MB"]}`'
    )
    with pytest.raises(ValueError) as caught:
        swept.sweep(at_most=4)
    assert str(caught.value) == "`at_most` says how long to go on with `until`, which is not given"
    for threads in (0, -1):
        with pytest.raises(
            ValueError,
            match=f"^a run needs at least 1 thread, and `threads` is {threads}: leave it out",
        ):
            swept.sweep(threads=threads)
    for name in ("out", "cache"):
        with pytest.raises(
            ValueError, match=f"^`{name}` is empty: name a directory, or leave `{name}` out$"
        ):
            swept.sweep(**{name: ""})
    with pytest.raises(TypeError) as caught:
        swept.sweep(progress=3)
    assert str(caught.value) == (
        "`progress` is 3: write True, False, or a function that is told how far it is"
    )
    for vary, words in [
        ({"seed": {1, 2}}, "has a set for 'seed', and a set has no order: write a list, or sorted"),
        (
            {"switch": {"latency": [1]}},
            "has a mapping for 'switch': write the whole path with dots",
        ),
        ({"seed": 1}, "has 1 for 'seed', which is one value: write a list, as in [1], or a range"),
        (["seed=1,2"], "is ['seed=1,2']: write a mapping of paths to values, like"),
    ]:
        with pytest.raises(TypeError, match=re.escape(f"`vary` {words}")):
            swept.sweep(vary)
    with pytest.raises(TypeError, match="`variants` is one text: write a list of texts"):
        swept.sweep(variants="deep")
    with pytest.raises(TypeError, match="`metrics` is one text: write a list of texts"):
        swept.sweep(metrics="fct_p99_ns")
    assert list(folder.iterdir()) == []


def test_an_unknown_metric_is_an_error_after_the_first_run(swept, folder):
    for wrong in ({"until": "fct_p99=0.1"}, {"metrics": ["fct_p99"]}):
        with pytest.raises(
            ValueError, match="these runs have no metric `fct_p99`; did you mean `fct_p99_ns`"
        ):
            swept.sweep(progress=False, **wrong)
    # What has ended is not lost.
    assert swept.sweep(progress=False).reused >= 1


def test_a_foreign_directory_is_left_alone(swept, folder):
    (folder / "thesis.tex").write_text("")
    with pytest.raises(floodway.ResultsError, match=r"another directory: `out=`$"):
        swept.sweep(out=folder, cache=None)
    assert [path.name for path in folder.iterdir()] == ["thesis.tex"]


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_an_interrupted_sweep_goes_on_where_it_was(scenarios, folder):
    script = f"""
import floodway
scenario = floodway.load({os.fspath(scenarios / "endless.toml")!r})
try:
    scenario.sweep({{"workload.0.incast.senders": [2, 3]}}, threads=3)
except KeyboardInterrupt:
    print("interrupted")
"""
    cache = folder / "results/cache"
    with in_a_process(script) as child:
        # At each of two points one variant is done at once, and the other takes hours.
        wait_for(lambda: sum(1 for _ in cache.glob("??/*/run.json")) == 2, child)
        child.send_signal(signal.SIGINT)
        said, _ = child.communicate(timeout=60)
    assert said == "interrupted\n"
    endless = floodway.load(scenarios / "endless.toml")
    vary = {"workload.0.incast.senders": [2, 3]}
    more = endless.with_(replications=2)
    sweep = more.sweep(vary, variants=["short"], progress=False)
    assert (len(sweep.runs), sweep.reused) == (4, 2)


def test_progress_is_told_and_what_it_raises_stops_the_runs(scenarios, folder):
    endless = floodway.load(scenarios / "endless.toml")

    def watch(progress):
        if progress.runs_done == 2:
            raise RuntimeError(progress.words)

    with pytest.raises(RuntimeError, match="2 of 4 runs"):
        endless.sweep({"workload.0.incast.senders": [2, 3]}, threads=3, progress=watch)


@pytest.mark.parametrize("with_tqdm", [True, False])
def test_a_bar_in_a_terminal(swept, folder, monkeypatch, with_tqdm):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    if not with_tqdm:
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    swept.sweep({"workload.0.incast.bytes": ["20KB"]})
    assert "sweep of swept" in terminal.text
    assert "8 of 8 runs" in terminal.text
    # Nothing of it stays.
    assert terminal.text.rstrip(" ").endswith(("\r", "\x1b[2K"))


def test_violations_warn(scenarios, folder):
    lossy = floodway.load(scenarios / "lossy.toml")
    with pytest.warns(RuntimeWarning, match="this sweep is no result: .*lossless") as caught:
        sweep = lossy.sweep({"workload.0.incast.senders": [7]}, progress=False)
    assert caught[0].filename == __file__
    assert sweep.violations


def test_it_shows_itself(swept, folder):
    sweep = swept.sweep(progress=False)
    assert repr(sweep) == "<Sweep swept: 24 runs at 6 points in results/sweep-swept>"
    html = sweep._repr_html_()
    assert "20KB, 40KB, 60KB" in html and "shallow, deep" in html and "`" not in html

"""Explanations of the delays of flows."""

import itertools
import json
import pickle
import subprocess

import pytest
from conftest import results

import floodway

#: As in the tests of the program: two large messages and a small one. PFC pauses the hosts, and the
#: small message, to an idle host, is paused with them.
SCENARIO = """\
name = "incast"
arrivals = "50us"
limit = "400us"
[topology.star]
hosts = 4
rate = "100Gbps"
delay = "200ns"
[switch.flow_control.pfc]
xoff = "20KB"
xon = "10KB"
[host.congestion.line_rate]
[[workload]]
name = "incast"
[workload.list]
flow = [
    { src = 1, dst = 0, bytes = "200KB", start = "0us" },
    { src = 2, dst = 0, bytes = "200KB", start = "0us" },
    { src = 2, dst = 3, bytes = "5KB", start = "10us" },
]
"""

TABLES = [
    "explained",
    "delays",
    "delay_parts",
    "delay_losses",
    "delay_marks",
    "delay_cuts",
    "root_flows",
    "pause_causes",
]


COLUMNS = ["packet", "from_ps", "to_ps"]


@pytest.fixture(scope="module")
def kept(program, tmp_path_factory):
    """A results directory without explanations."""
    return results(program, tmp_path_factory.mktemp("why"), SCENARIO)


@pytest.fixture
def run(kept, monkeypatch):
    # The results name the scenario as it was named then.
    monkeypatch.chdir(kept.parent)
    return floodway.open(kept).runs[0]


def test_tables_of_an_explained_run_are_like_others():
    scenario = floodway.parse(SCENARIO).with_(explained_flows=3)
    run = scenario.run(progress=False)
    assert [name for name in run.tables if name in TABLES] == TABLES
    # The parts of every flow add up to its time.
    times = dict.fromkeys(run.explained["flow"], 0)
    for flow, time in zip(run.delays["flow"], run.delays["time_ps"], strict=True):
        times[flow] += time
    assert times == dict(zip(run.explained["flow"], run.explained["fct_ps"], strict=True))
    roots = dict(zip(run.delays["part"], run.delays["root_peer"], strict=True))
    assert roots["paused"] == "host 0"
    assert "where" not in run.delays.doc and "time" in run.delays.doc
    assert "delays" in dir(run)


def test_a_run_is_explained_as_by_the_program(program, kept, run):
    def said(*options):
        command = [program, "why", "results", *options]
        return subprocess.run(
            command, cwd=kept.parent, check=True, capture_output=True, text=True
        ).stdout

    explanation = run.why(2)
    assert str(explanation) == explanation.text == said("--flow", "2")
    assert repr(explanation) == explanation.text.rstrip("\n")
    assert explanation.json == json.loads(said("--flow", "2", "--json"))
    assert run.why(flow=2).json == run.why(flows=[2]).json == explanation.json
    packets = run.why(2, packets=True)
    assert packets.json == json.loads(said("--flow", "2", "--packets", "--json"))
    table = packets.packet_parts
    # Five packets, without gap or overlap from the generation of each to its arrival.
    assert sorted(set(table["packet"])) == list(range(5))
    for one, following in itertools.pairwise(zip(*(table[c] for c in COLUMNS), strict=True)):
        assert one[0] != following[0] or one[2] == following[1]
    with pytest.raises(ValueError, match="`packets` explains those of flows"):
        run.why(path=True, packets=True)
    both = run.why(flows=(2, 0), sample=1)
    assert [flow["flow"] for flow in both.json["flows"]] == [2, 0]
    assert both.json == json.loads(said("--flow", "2", "--flow", "0", "--sample", "1", "--json"))
    assert run.why().text == said()
    assert run.why(slowest=1).text == said("--slowest", "1")
    # An empty choice is a choice: totals only.
    assert run.why(flows=[]).json["flows"] == []
    root = "switch to host 0"
    assert run.why(root=root).text == said("--root", root)
    assert "flow 2 (incast)  host 2  host 3" in run.why(root=root).text
    without = run.why(without="flow:0")
    assert without.text == said("--without", "flow:0")
    assert without.json["without"] == [0]
    causes = ["flow:0", f"root:{root}"]
    assert run.why(without=causes).json == json.loads(
        said("--without", causes[0], "--without", causes[1], "--json")
    )


def test_a_variant_is_compared_with_another(program, tmp_path, monkeypatch):
    variants = (
        "[variants.pfc]\n[variants.high]\n"
        'switch.flow_control.pfc = { xoff = "900KB", xon = "800KB" }\n'
    )
    kept = results(program, tmp_path, SCENARIO + variants)
    monkeypatch.chdir(kept.parent)
    high = floodway.open(kept).run("high")
    compared = high.why(against="pfc")
    assert compared.json["groups"][0]["parts"][0]["part"] == "completion"
    assert compared.text.startswith("high against pfc, replication 0: mean times")
    command = [program, "why", kept, "--variant", "high", "--against", "pfc"]
    assert compared.text == subprocess.run(command, capture_output=True, text=True).stdout


def test_its_tables_have_every_part(run):
    explanation = run.why(flow=2, sample=0)
    assert list(explanation.tables) == TABLES
    parts = explanation.delay_parts
    assert set(parts["flow"]) == {2}
    start, fct = explanation.explained["start_ps"][0], explanation.explained["fct_ps"][0]
    assert parts["from_ps"][0] == start
    assert parts["to_ps"][-1] == start + fct
    assert parts["from_ps"][1:] == parts["to_ps"][:-1]
    # The completion time is that of the table flows, there in nanoseconds.
    assert fct == round(run.flows["fct_ns"][2] * 1e3)
    polars = pytest.importorskip("polars")
    paused = polars.DataFrame(explanation.delays).filter(polars.col("part") == "paused")
    assert paused["root_peer"].unique().to_list() == ["host 0"]
    with pytest.raises(AttributeError, match="no table 'parts'; its tables: explained, delays,"):
        _ = explanation.parts


def test_it_shows_itself_and_can_be_pickled(run):
    explanation = pickle.loads(pickle.dumps(run.why(flow=2)))
    assert "Flow 2 (incast): host 2 to host 3, 5.00 KB, started at 10.0 µs" in explanation.text
    assert explanation._repr_html_().startswith("<pre>base, replication 0: 3 measured flows")
    assert "delays" in dir(explanation)
    assert explanation.delays["flow"].to_list() != []
    # The run too, with what repeats it.
    again = pickle.loads(pickle.dumps(run))
    assert again.why(flow=2).text == explanation.text


def test_progress_is_told_and_can_stop_it(run):
    told = []
    run.why(progress=told.append)
    assert (told[-1].end_ns, told[-1].flows) == (400_000, 3)

    def stop(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run.why(progress=stop)


def test_a_scenario_built_in_code_needs_no_file(tmp_path):
    built = floodway.Scenario(
        name="built",
        arrivals="1us",
        limit="1ms",
        topology={"star": {"hosts": 3}},
        workload=[{"incast": {"senders": 2, "bytes": "100KB"}}],
    )
    run = built.compare(tmp_path / "out", progress=False).runs[0]
    explanation = run.why(slowest=1)
    assert explanation.text.startswith("base, replication 0: 2 measured flows")
    assert set(explanation.delays["part"]) >= {"serialization", "propagation", "other_flows"}
    with pytest.raises(floodway.ResultsError, match="no results directory, so it cannot be rep"):
        built.run(progress=False).why()


def test_the_critical_path_of_a_collective(tmp_path):
    ring = floodway.Scenario(
        name="ring",
        arrivals="1ms",
        limit="10ms",
        topology={"star": {"hosts": 4}},
        workload=[{"all_reduce": {"ranks": "all", "bytes": "40KB"}}],
    )
    run = ring.compare(tmp_path / "out", progress=False).runs[0]
    explanation = run.why(path=True)
    # Twice three steps around the ring.
    assert "Critical path to flow 23" in explanation.text
    assert [flow["flow"] for flow in explanation.json["flows"]] == [12, 19, 2, 9, 16, 23]
    assert set(explanation.explained["flow"]) == {12, 19, 2, 9, 16, 23}
    # Three steps are enough for flow 2, which its own last two flows held up.
    assert [flow["flow"] for flow in run.why(path=2).json["flows"]] == [12, 19, 2]


def test_what_cannot_be_explained_is_refused(kept, run, tmp_path, monkeypatch):
    def refused(text, error=floodway.ResultsError, **arguments):
        with pytest.raises(error) as caught:
            run.why(**arguments)
        assert text in str(caught.value)

    refused(
        "there is no flow 3: the run has flows 0 to 2; their numbers are in the table flows",
        flow=3,
    )
    refused("there is no flow 8000000000: the run has", flow=8_000_000_000)
    refused("there is no flow -1: flows are numbered from 0", ValueError, flow=-1)
    refused("cannot be interpreted as an integer", TypeError, flow="2")
    refused("`slowest` chooses flows, and so do `flow` and", ValueError, flow=2, slowest=1)
    refused("`sample` is -1: write a number of flows, or 0", ValueError, sample=-1)
    refused("`slowest` is -2: write a number of flows, or 0", ValueError, slowest=-2)
    refused("`root` and `without` are different q", ValueError, root="a", without="flow:0")
    refused("`flow, flows or slowest` and `path` are d", ValueError, flow=2, path=True)
    refused("`x` is not the root of a pause; these are: `switch to host 0`", root="x")
    refused("has no run of the variant `x` and replication 0", against="x")
    refused("`root` and `against` are different q", ValueError, root="a", against="x")
    refused("`x` is no cause: write flow:NUMBER, workload:NAME or root:PORT", without="x")
    refused("flow 1 (incast) waited for no other flow", path=True)
    refused("there is no flow -1: flows are numbered from 0", ValueError, path=-1)
    refused("`progress` is 7: write True, False, or a function", TypeError, progress=7)
    refused(
        "there is no file nowhere.toml, the scenario of these results; name it with `scenario=`",
        scenario="nowhere.toml",
    )
    # Other traffic under the same name.
    other = tmp_path / "other.toml"
    other.write_text(SCENARIO.replace("5KB", "6KB"))
    refused("is not what it was when", scenario=other)
    refused("or name the scenario that was run with `scenario=`", scenario=other)
    monkeypatch.chdir(tmp_path)
    refused("there is no file scenario.toml, the scenario of these results")
    assert run.why(scenario=kept.parent / "scenario.toml", flow=2).json["flows"][0]["flow"] == 2


def test_results_of_another_version_and_interrupted_runs_are_refused(kept, tmp_path, monkeypatch):
    monkeypatch.chdir(kept.parent)
    manifest = json.loads((kept / "manifest.json").read_text())

    def changed(name, **values):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "runs").symlink_to(kept / "runs")
        record = {**manifest["runs"][0], **values}
        (folder / "manifest.json").write_text(json.dumps({**manifest, "runs": [record]}))
        return floodway.open(folder).runs[0]

    with pytest.raises(floodway.ResultsError) as caught:
        changed("other", fingerprint="0123456789abcdef").why()
    now = manifest["runs"][0]["fingerprint"]
    assert str(caught.value) == (
        "run 0 of `base` has the fingerprint 0123456789abcdef in these results and "
        f"{now} now: they are of another version of floodway; run scenario.toml again"
    )
    with pytest.raises(floodway.ResultsError) as caught:
        changed("cut", stop="interrupted").why()
    assert str(caught.value) == (
        "run 0 of `base` was interrupted, so it cannot be repeated; run scenario.toml again to "
        "its end"
    )


def test_flows_that_have_not_completed_are_refused(program, tmp_path, monkeypatch):
    # The only flow that is measured begins after the warm-up, and has no time to end.
    late = '    { src = 1, dst = 3, bytes = "50MB", start = "45us" },\n]'
    text = SCENARIO.replace('arrivals = "50us"', 'arrivals = "50us"\nwarmup = "40us"')
    run = floodway.open(results(program, tmp_path, text.replace("\n]", "\n" + late))).runs[0]
    monkeypatch.chdir(tmp_path)
    with pytest.raises(floodway.ResultsError) as caught:
        run.why()
    assert str(caught.value) == (
        "no measured flow has completed in this run; name one of the others with `flow=`"
    )
    with pytest.raises(floodway.ResultsError) as caught:
        run.why(flow=3)
    assert str(caught.value) == (
        "flow 3 has not completed in this run, so there is no completion time to explain; choose a "
        "flow with an `fct_ns` in the table flows"
    )
    assert run.why(flow=2).json["flows"][0]["flow"] == 2

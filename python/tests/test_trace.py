"""Traces of recorded runs, read with the schema that Perfetto publishes."""

import os
import shutil
from collections import defaultdict
from itertools import pairwise

import pytest
from conftest import results

import floodway

proto = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")

#: Three senders to one receiver behind a switch that pauses them.
SCENARIO = """\
name = "traced"
arrivals = "10us"
limit = "1ms"
replications = 2
sample_interval = "1us"
explained_flows = 3
[topology.star]
hosts = 4
[switch.flow_control.pfc]
xoff = "20KB"
[[workload]]
[workload.incast]
senders = 3
bytes = "200KB"
[variants.plain]
[variants.marks.switch.aqm.step]
"""


@pytest.fixture(scope="module")
def traced(program, tmp_path_factory):
    """A results directory with a trace of the first run of each variant."""
    folder = tmp_path_factory.mktemp("traced")
    return results(program, folder, SCENARIO, "--trace", "perfetto")


@pytest.fixture(scope="module")
def packets(traced):
    trace = proto.Trace()
    trace.ParseFromString((traced / "runs/plain/0/trace.pftrace").read_bytes())
    return trace.packet


@pytest.fixture(scope="module")
def tracks(packets):
    """What happens, by the path of its track: pairs of times and events."""
    names, happens = {}, defaultdict(list)
    for packet in packets:
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            assert track.uuid not in names
            above = f"{names[track.parent_uuid]}/" if track.HasField("parent_uuid") else ""
            names[track.uuid] = above + track.name
        else:
            event = packet.track_event
            happens[names[event.track_uuid], event.track_uuid].append((packet.timestamp, event))
    return happens


def test_only_first_runs_are_traced(traced):
    found = sorted(str(path.relative_to(traced)) for path in traced.rglob("*.pftrace"))
    assert found == ["runs/marks/0/trace.pftrace", "runs/plain/0/trace.pftrace"]


def test_perfetto_knows_every_field(packets):
    def unknown(message):
        again = type(message)()
        again.CopyFrom(message)
        again.DiscardUnknownFields()
        return again != message

    assert len(packets) > 50
    assert not [packet for packet in packets if unknown(packet)]
    assert packets[0].sequence_flags == proto.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED


def test_slices_of_a_track_follow_each_other(tracks):
    begin, end = proto.TrackEvent.TYPE_SLICE_BEGIN, proto.TrackEvent.TYPE_SLICE_END
    slices = {key: events for key, events in tracks.items() if events[0][1].type == begin}
    assert any("paused" in name for name, _ in slices)
    for events in slices.values():
        kinds = [event.type for _, event in events]
        assert kinds == [begin, end] * (len(events) // 2)
        assert all(one[0] <= other[0] for one, other in pairwise(events))


def test_counters_and_slices_are_what_the_tables_say(traced, tracks):
    run = floodway.open(traced).run("plain", 0)
    backlogs = run.tables["backlogs"].to_arrow().to_pylist()
    waiting = defaultdict(list)
    for row in backlogs:
        waiting[row["node"], row["port"], row["queue"]].append(
            (round(row["time_ns"]), row["backlog_bytes"])
        )
    assert waiting
    counters = {name: events for (name, _), events in tracks.items() if "/queue " in name}
    assert len(counters) == len(waiting)
    for (node, port, queue), rows in waiting.items():
        (name,) = (
            name
            for name in counters
            if f"/{node}/port {port} " in name and name.endswith(f"/queue {queue}")
        )
        assert [(at, event.counter_value) for at, event in counters[name]] == rows

    flows = run.tables["flows"].to_arrow().to_pylist()
    slices = [
        (events[at][0], events[at + 1][0])
        for (name, _), events in tracks.items()
        if name.startswith("flows/")
        for at in range(0, len(events), 2)
    ]
    spans = [(row["start_ns"], row["start_ns"] + row["fct_ns"]) for row in flows]
    assert sorted(slices) == sorted((round(start), round(end)) for start, end in spans)


def test_explained_flows_are_slices_with_arrows_from_pauses(traced, tracks):
    run = floodway.open(traced).run("plain", 0)
    parts = run.delay_parts.to_arrow().to_pylist()
    expected, paused = defaultdict(list), 0
    for part in parts:
        hop = (f"flow {part['flow']}: ", f"/{part['node']} to {part['peer']}")
        expected[hop].append((round(part["from_ps"] / 1e3), round(part["to_ps"] / 1e3)))
        paused += part["part"] == "paused"
    assert paused
    hops = {name: events for (name, _), events in tracks.items() if name.startswith("explained")}
    assert len(hops) == len(expected)
    for (flow, hop), spans in expected.items():
        (name,) = (name for name in hops if f"/{flow}" in name and name.endswith(hop))
        events = hops[name]
        slices = [(events[at][0], events[at + 1][0]) for at in range(0, len(events), 2)]
        # A half of a nanosecond may be rounded to either side.
        assert all(
            abs(a - b) <= 1
            for one, other in zip(slices, spans, strict=True)
            for a, b in zip(one, other, strict=True)
        )
    # Each arrow leads from the slice of a pause to a paused part, which begins in it.
    ends = defaultdict(list)
    for (name, _), events in tracks.items():
        for (at, event), (until, _) in pairwise(events):
            for arrow in event.flow_ids:
                ends[arrow].append((name.split("/")[0] == "explained flows", at, until, event.name))
    assert len(ends) == paused
    (receiver,) = set(run.explained["dst"])
    for pair in ends.values():
        (_, begins, until, pause), (of_flow, at, _, part) = sorted(pair)
        assert of_flow and begins <= at < until
        assert (pause, part) == ("paused 0", f"paused: switch to {receiver}")


def test_a_comparison_keeps_the_same_trace(traced, tmp_path):
    scenario = floodway.load(traced.parent / "scenario.toml")
    scenario.compare(tmp_path / "out", trace="perfetto", progress=False)
    trace = "runs/plain/0/trace.pftrace"
    assert (tmp_path / "out" / trace).read_bytes() == (traced / trace).read_bytes()
    with pytest.raises(ValueError, match="there is no trace `perfeto`; did you mean `perfetto`"):
        scenario.compare(tmp_path / "other", trace="perfeto", progress=False)


def test_the_trace_processor_reads_it(traced):
    """Its program is no part of the package from PyPI, which fetches it from elsewhere."""
    shell = os.environ.get("TRACE_PROCESSOR") or shutil.which("trace_processor_shell")
    if not shell:
        pytest.skip("there is no trace processor: set TRACE_PROCESSOR to trace_processor_shell")
    from perfetto.trace_processor import TraceProcessor, TraceProcessorConfig

    config = TraceProcessorConfig(bin_path=shell)
    path = str(traced / "runs/plain/0/trace.pftrace")
    with TraceProcessor(trace=path, config=config) as processor:
        query = "select count(*) as n from slice where category = 'flow'"
        flows = len(floodway.open(traced).run("plain", 0).tables["flows"])
        assert next(iter(processor.query(query))).n == flows
        query = "select name, value from stats where severity = 'error' and value > 0"
        assert not list(processor.query(query))

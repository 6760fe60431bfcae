"""One value per quantity: what terminal and page print is what the tables have."""

import json
import math
import re
import subprocess
from html.parser import HTMLParser
from itertools import groupby

import pytest

import floodway

# Two kinds of work, so that flows are unfinished at the limit, packets are dropped and marked,
# and ports are paused; and a variant that does nothing else than the baseline.
SCENARIO = """
name = "numbers"
question = "Does every number stand in a table?"
arrivals = "200us"
warmup = "20us"
limit = "900us"
replications = 4
share_hosts = true
[topology.clos]
leaves = 2
spines = 2
hosts_per_leaf = 4
[switch.queue]
size = "150KB"
[switch.aqm.ramp]
kmin = "5KB"
kmax = "100KB"
[[workload]]
name = "around"
[workload.many_to_many]
sizes = "web_search"
clusters = 1
cluster_size = 8
load = 0.7
[[workload]]
name = "burst"
[workload.incast]
senders = 6
bytes = "300KB"
start = "30us"
[variants.drop]
[variants.pfc.switch.flow_control.pfc]
xoff = "60KB"
xon = "50KB"
[variants.again]
switch.aqm.ramp.kmin = "5KB"
"""

UNITS = {
    "ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9, "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9,
    "b/s": 1, "kb/s": 1e3, "Mb/s": 1e6, "Gb/s": 1e9,
    "million": 1e6, "billion": 1e9,
}  # fmt: skip
NUMBER = r"[-+]?\d[\d,]*(?:\.\d+)?"
QUANTITY = rf"(?P<bound>≥ ?)?(?P<value>{NUMBER})(?: (?P<unit>{'|'.join(UNITS)}))?(?!\w)"
CHANGE = rf"(?P<percent>[-+]?[\d.]+) %(?: \[(?P<low>{NUMBER}), (?P<high>{NUMBER})\])?"

# How the page sets numbers, and as they are parsed.
DASH = "\N{EN DASH}"
PLAIN = str.maketrans("\N{MINUS SIGN}\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}", "-  ")

TIMES = "ns|µs|ms|s"
SPAN = (
    rf"(?P<start>{NUMBER})(?: (?P<start_unit>{TIMES}))? to "
    rf"(?:(?P<first>{NUMBER}){DASH})?(?P<last>{NUMBER}) (?P<unit>{TIMES})"
)

COUNTERS = {
    "XOFF frames": "xoff_frames",
    "paused time": "paused_ns",
    "marked packets": "marked_packets",
    "CNPs": "cnps_sent",
    "retransmitted": "retransmitted_packets",
    "dropped packets": "dropped_packets",
}


def number(text):
    return float(text.replace(",", ""))


def step(text):
    """A unit in the last place of a number as it is printed."""
    digits = text.partition(".")[2]
    return 10.0 ** -len(digits)


def agrees(text, value, scale=1.0):
    """Whether a value prints like this, within the rounding of the last digit."""
    least = 0.501 * max(step(text), 0.0)
    large = abs(value) / scale >= 1000 and "." not in text and "," not in text
    return abs(number(text) - value / scale) <= (abs(value) / scale * 0.005 if large else least)


def same_change(found, change):
    """Compare a printed change with that of the summary."""
    assert agrees(found["percent"], change["percent"]), (found[0], change)
    for end in ("low", "high"):
        if change[end] is None:
            assert found[end] is None, (found[0], change)
        else:
            assert agrees(found[end], change[end]), (found[0], change)


def same_span(found, interval):
    """Compare a printed interval of time with that of the summary."""
    unit = UNITS[found["unit"]]
    assert agrees(found["start"], interval["from_ns"], UNITS.get(found["start_unit"], 1))
    assert agrees(found["last"], interval["last_end_ns"], unit)
    assert agrees(found["first"] or found["last"], interval["first_end_ns"], unit)


@pytest.fixture(scope="module")
def made(program, tmp_path_factory):
    """A results directory, and what the terminal showed."""
    folder = tmp_path_factory.mktemp("numbers")
    (folder / "numbers.toml").write_text(SCENARIO)
    command = [program, "run", "numbers.toml", "--out", "out"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return folder / "out", done.stdout


@pytest.fixture(scope="module")
def summary(made):
    return json.loads((made[0] / "summary.json").read_text())


def test_the_scenario_shows_all_that_is_compared(summary):
    baseline = summary["variants"]["drop"]
    assert baseline["fct"]["all"]["unfinished"] > 0
    assert baseline["counters"]["dropped_packets"]["mean"] > 0
    assert summary["variants"]["pfc"]["counters"]["xoff_frames"]["mean"] > 0
    assert summary["variants"]["again"]["same_as"] == "drop"


def rows(terminal):
    """The rows of the tables: heading, label, variants and the text of the cells."""
    heading, names = "", []
    for line in terminal.splitlines():
        if re.match(r"(mean|counters|delivered|time|response|throughput)\b.*  \w", line):
            heading, *names = re.split(r" {2,}", line.strip())
        elif line.startswith("  ") and names and line.strip():
            label, *cells = re.split(r" {2,}", line.strip())
            # Values are set to the right, so that a gap may be left of them.
            yield heading, label, names, " ".join(cells)
        elif not line.strip():
            names = []


def test_every_number_of_the_terminal_is_in_the_summary(made, summary):
    classes = {of["label"]: of["key"] for of in summary["classes"]}
    seen = 0
    for heading, label, names, text in rows(made[1]):
        place = 0
        for name in names:
            of = summary["variants"][name]
            if heading == "mean completion time" and label in classes:
                measure = of["fct"][classes[label]]["mean_ns"]
            elif label in ("measured, in all", "unfinished, in all"):
                flows = of["fct"]["all"]
                count = flows["unfinished"]
                if label.startswith("measured"):
                    count += flows["finished"]
                measure = {"mean": count, "change": None}
            elif label == "measured interval":
                found = re.compile(rf" *{SPAN}").match(text, place)
                same_span(found, of["interval"])
                place, seen = found.end(), seen + 1
                continue
            elif heading.startswith("counters"):
                measure = of["counters"][COUNTERS[label]]
            else:
                raise AssertionError(f"what is {heading}: {label}?")
            if measure["mean"] is None:
                assert text[place:].lstrip().startswith("-")
                place = text.index("-", place) + 1
                continue
            found = re.compile(QUANTITY).match(text, re.compile(r" *").match(text, place).end())
            assert found, (label, text[place:])
            scale = UNITS.get(found["unit"], 1)
            assert agrees(found["value"], measure["mean"], scale), (label, name, found[0], measure)
            place, seen = found.end(), seen + 1
            change = measure["change"]
            if change is None or (change["p"] == 1.0 and change["from"] == change["to"]):
                continue
            if change.get("no_interval") == "bound":
                found = re.compile(" not known").match(text, place)
                assert found, (label, name, text[place:], change)
            elif change.get("points"):
                found = re.compile(r" [-+−0-9.]+ points").match(text, place)  # noqa: RUF001
                assert found, (label, name, text[place:], change)
            elif change["percent"] is None:
                found = re.compile(" from 0").match(text, place)
                assert found and change["from"] == 0
            else:
                found = re.compile(" " + CHANGE).match(text, place)
                assert found, (label, name, text[place:], change)
                same_change(found, change)
            place, seen = found.end(), seen + 1
        assert not text[place:].strip(), (label, text[place:])
    assert seen > 40


def test_the_answer_is_in_the_summary(made, summary):
    pfc, again = summary["answer"]
    assert again == (
        "again vs. drop: these are the same runs, to the bit: what differs between them never acted"
    )
    assert " ".join(made[1].split()).startswith(" ".join(f"{pfc} {again}".split()))
    of = summary["variants"]["pfc"]
    changes = [of["fct"][key]["mean_ns"]["change"] for key in ("under_100KB", "all")]
    found = list(re.finditer(CHANGE, pfc.partition(";")[0]))
    assert len(found) == 2
    for printed, change in zip(found, changes, strict=True):
        same_change(printed, change)


class Page(HTMLParser):
    """The tables of a page as rows of cells, each with its texts."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.depth = [], None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag == "table":
            self.tables.append([])
        elif tag == "tr" and self.tables:
            self.tables[-1].append([])
        elif tag in ("td", "th") and self.tables:
            self.tables[-1][-1].append([])
            self.depth = tag

    def handle_endtag(self, tag):
        if tag == self.depth:
            self.depth = None

    def handle_data(self, data):
        if self.depth:
            text = data.translate(PLAIN)
            self.tables[-1][-1][-1].append(text.strip())


def check_cell(parts, measure):
    """A cell with a mean, and below it an interval, why there is none, or a change."""
    parts = [part for part in parts if part]
    if measure["mean"] is None:
        assert parts == [DASH]
        return
    found = re.fullmatch(QUANTITY, parts[0])
    assert found, parts
    scale = UNITS.get(found["unit"], 1)
    assert agrees(found["value"], measure["mean"], scale), (parts, measure)
    assert bool(found["bound"]) == measure.get("bound", False)
    for part in parts[1:]:
        if interval := re.fullmatch(rf"\[({NUMBER}), ({NUMBER})\]", part):
            assert agrees(interval[1], measure["low"], scale), (parts, measure)
            assert agrees(interval[2], measure["high"], scale), (parts, measure)
        elif change := re.fullmatch(CHANGE, part):
            same_change(change, measure["change"])
        elif part == "from 0":
            assert measure["change"]["from"] == 0
        else:
            assert measure["low"] is None and measure["no_interval"], (part, measure)


def test_every_number_in_the_tables_of_the_page_is_in_the_summary(made, summary):
    tables = Page((made[0] / "report.html").read_text()).tables
    classes = {of["label"]: of["key"] for of in summary["classes"]}
    columns = ["mean_ns", "p50_ns", "p95_ns", "p99_ns", "p999_ns", "mean_slowdown", "p99_slowdown"]
    (times,) = (table for table in tables if table[0][2:3] == [["mean"]])
    group, seen = None, 0
    for row in times[1:]:
        if len(row) == 1:
            group = classes["".join(row[0])]
            continue
        of = summary["variants"]["".join(row[0])]["fct"][group]
        flows, unfinished = row[1][0], row[1][1:]
        assert number(flows) == of["finished"] + of["unfinished"]
        assert number(re.search(NUMBER, " ".join(unfinished))[0]) == of["unfinished"]
        for cell, column in zip(row[2:], columns, strict=True):
            check_cell(cell, of[column])
            seen += 1
    assert seen >= 7 * 3 * 3
    counted = 0
    for table in tables:
        names = ["".join(cell) for cell in table[0][1:]]
        for row in table[1:]:
            key = row[0][0] if row and row[0] else ""
            if names != summary["order"] or key not in summary["variants"]["drop"]["counters"]:
                continue
            for name, cell in zip(names, row[1:], strict=True):
                check_cell(cell, summary["variants"][name]["counters"][key])
                counted += 1
    assert counted > 60


def quantile(values, share):
    """Type 7 of Hyndman and Fan."""
    rank = share * (len(values) - 1)
    below = math.floor(rank)
    above = min(below + 1, len(values) - 1)
    return values[below] + (values[above] - values[below]) * (rank - below)


def times_of(run):
    """The completion times of measured flows, or the time so far if they did not complete."""
    flows = run.flows
    columns = [flows[name].to_list() for name in ("fct_ns", "start_ns", "measured")]
    all_flows = zip(*columns, strict=True)
    measured = [(fct, start) for fct, start, measured in all_flows if measured]
    return [run.simulated_ns - start if math.isnan(fct) else fct for fct, start in measured]


def test_the_summary_follows_from_the_flows(made, summary):
    results = floodway.open(made[0])
    means = {}
    for variant, runs in groupby(results.runs, key=lambda run: run.variant):
        times = [sorted(times_of(run)) for run in runs]
        of = summary["variants"][variant]["fct"]["all"]
        means[variant] = [sum(values) / len(values) for values in times]
        assert math.isclose(of["mean_ns"]["mean"], sum(means[variant]) / 4, rel_tol=1e-9)
        for key, share in (("p50_ns", 0.5), ("p95_ns", 0.95), ("p99_ns", 0.99)):
            value = sum(quantile(values, share) for values in times) / 4
            assert math.isclose(of[key]["mean"], value, rel_tol=1e-9)
    logs = [math.log(b / a) for a, b in zip(means["drop"], means["pfc"], strict=True)]
    change = summary["variants"]["pfc"]["fct"]["all"]["mean_ns"]["change"]
    assert math.isclose(change["percent"], 100 * math.expm1(sum(logs) / 4), rel_tol=1e-9)


ABSENT = {"bfc", "cims", "cnms", "drc", "indicated", "indications", "isolations", "sfc", "watchdog"}


def test_counters_are_those_of_the_runs_over_the_interval_that_is_printed(made, summary):
    results = floodway.open(made[0])
    for variant, runs in groupby(results.runs, key=lambda run: run.variant):
        tables = [run.counters for run in runs]
        values = [dict(zip(of["name"], of["value"], strict=True)) for of in tables]
        counters = summary["variants"][variant]["counters"]
        for name in values[0]:
            mean = sum(of[name] for of in values) / 4
            if name not in counters:
                # Of a mechanism that no variant has.
                assert mean == 0 and name.split("_")[0] in ABSENT, name
                continue
            assert math.isclose(counters[name]["mean"], mean, rel_tol=1e-9), name
        interval = summary["variants"][variant]["interval"]
        ends = [of["warmup_ns"] + of["measured_ns"] for of in values]
        assert (interval["from_ns"], interval["end"]) == (20_000, "later")
        assert (interval["first_end_ns"], interval["last_end_ns"]) == (min(ends), max(ends))
        spans = [run.measured_ns for run in results.runs if run.variant == variant]
        assert sorted(spans) == sorted((20_000, end) for end in ends)


def test_sweeps_and_runs_have_the_same_numbers(made, summary, tmp_path):
    scenario = floodway.load(made[0].parent / "numbers.toml")
    sweep = scenario.sweep({"switch.queue.size": ["150KB"]}, out=tmp_path / "sweep", cache=None)
    points = sweep.points.to_dict()
    for row, variant in enumerate(points["variant"]):
        of = summary["variants"][variant]
        assert math.isclose(points["fct_mean_ns"][row], of["fct"]["all"]["mean_ns"]["mean"])
        for name in ("marked_packets", "dropped_packets", "xoff_frames", "measured_ns"):
            assert math.isclose(points[name][row], of["counters"][name]["mean"]), name
        for end in ("low", "high"):
            mine = points[f"fct_mean_ns_{end}"][row]
            theirs = of["fct"]["all"]["mean_ns"][end]
            assert math.isclose(mine, theirs)


TEMPLATES = [
    "backplane",
    "cable",
    "clos",
    "custom",
    "dsl",
    "dumbbell",
    "fat-tree",
    "l4s",
    "rrul",
    "training",
]


@pytest.mark.parametrize("template", TEMPLATES)
def test_templates_count_what_their_flows_have(template, program, tmp_path):
    new = [program, "new", template, "--template", template]
    subprocess.run(new, cwd=tmp_path, capture_output=True, check=True)
    command = [program, "run", f"{template}.toml", "--quick", "--out", "out"]
    subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    results = floodway.open(tmp_path / "out")
    for run in results.runs:
        start, end = run.measured_ns
        assert 0 <= start < end <= run.simulated_ns
        counters = dict(zip(run.counters["name"], run.counters["value"], strict=True))
        of_flows = sum(run.flows["retransmitted_packets"])
        # Only of an interval that is the whole run; elsewhere flows go on after it.
        if results.summary["variants"][run.variant]["interval"]["end"] == "completion":
            assert start == 0 and counters["retransmitted_packets"] == of_flows
            assert counters["data_packets_sent"] == sum(run.flows["packets_sent"])
        else:
            assert counters["retransmitted_packets"] <= of_flows

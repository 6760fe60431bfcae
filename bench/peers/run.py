#!/usr/bin/env python3
"""The same work in ns-3 and in floodway, in turn on this machine: ratios pair by pair.

Needs Python 3 and nothing beside it; a C++ compiler and make; ns-3 with its headers, which is Debian's
package libns3-dev or the wheel `ns3` of PyPI (--ns3 names its folder); and cargo. ../README.md says
how to read what it prints.
"""

import argparse
import json
import os
import platform
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SCENARIOS = ROOT / "scenarios" / "peers"

# How much slower packages of ns-3 are than an optimised build, because asserts and logging are
# compiled in: 1.4 to 1.7 times. The larger number is the one that is kind to ns-3.
HANDICAP = 1.7
# Measured elsewhere, on a machine with 2 cores of Zen 4: packet-hops per CPU second.
TABLE_HPCC_CASE_B = 658e3
TABLE_NS3_CASE_F = 1.10e6

# What is compared: ns-3's program, its arguments, floodway's scenario, by how much hops may differ.
# Without a number the amounts of work are only printed: two implementations of TCP never send the
# same packets.
CASES = {
    "case-f": {
        "title": "case F: bare devices, constant rate",
        "program": "case_f",
        "arguments": [],
        "scenario": "case-f.toml",
        "tolerance": 0.01,
    },
    "udp": {
        "title": "UDP over the IP stack, constant rate",
        "program": "udp",
        "arguments": [],
        "scenario": "case-f.toml",
        "tolerance": 0.01,
    },
    "dctcp": {
        "title": "TCP DCTCP over the IP stack",
        "program": "dctcp",
        "arguments": [str(SCENARIOS / "hpcc-case-b" / "flow.txt")],
        "scenario": "dctcp.toml",
        "tolerance": None,
    },
}


def fail(message):
    """Ends the program with what is wrong and what to do about it."""
    sys.exit(f"error: {message}")


def call(command, **how):
    """Runs a command that has to succeed; what it said on standard output."""
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, **how)
    if done.returncode != 0:
        words = " ".join(map(str, command))
        fail(f"`{words}` ended with status {done.returncode}; what it said stands above")
    return done.stdout


def needs(tool, remedy):
    """Looks for a program."""
    if shutil.which(tool) is None:
        fail(f"there is no `{tool}` here: {remedy}")


def build_ns3(folder, out):
    """Builds the C++ programs; the version of ns-3, for the table."""
    needs("make", "install make")
    needs("c++", "install a C++ compiler")
    make = ["make", "--silent", "-C", str(HERE / "ns3"), f"OUT={out}", "CXX=c++"]
    if folder is None:
        headers = Path("/usr/include/ns3/core-module.h")
        if not headers.exists():
            fail(
                "ns-3 is not installed: run `apt-get install libns3-dev`, or "
                "`pip install ns3` and name the folder `ns3` of the installed package with --ns3"
            )
        found = sorted(Path("/usr/lib").glob("*/libns3-core.so.*"))
        version = "3." + found[0].suffix[1:] if found else "unknown"
        call(make, stderr=sys.stderr)
        return f"ns-3 {version}, package of the distribution"
    folder = Path(folder).resolve()
    found = sorted(folder.glob("lib64/libns3.*-core.so"))
    if not found:
        fail(f"{folder} has no lib64/libns3.*-core.so: name the folder `ns3` of the installed wheel")
    name = re.fullmatch(r"lib(ns(3\.\d+))-core\.so", found[0].name)
    if name is None:
        fail(f"{found[0].name} has no version that is known here")
    # The wheel's headers need C++20, so its objects do not go with those of the other package.
    make[4] = f"OUT={out}/wheel"
    call([*make, f"NS3={folder}", f"NAME={name[1]}"], stderr=sys.stderr)
    return f"ns-3 {name[2]}, wheel of PyPI"


def build_floodway(binary):
    """Builds floodway, unless it is there; its path."""
    if binary is not None:
        if not Path(binary).is_file():
            fail(f"there is no floodway at {binary}: build it with `make build`")
        return Path(binary).resolve()
    needs("cargo", "install Rust as https://rustup.rs says")
    call(["cargo", "build", "--release", "--locked", "--package", "floodway-cli"], cwd=ROOT)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / "release" / "floodway"


def run_ns3(program, arguments):
    """One run of a program of ns-3. It measures itself, after set-up."""
    return json.loads(call([str(program), *arguments]))


def run_floodway(floodway, scenario):
    """One run of floodway on one thread. Two numbers bound the CPU seconds of its simulation from
    above: the elapsed time of the simulation alone, which floodway tells, and the CPU seconds of
    the whole process with set-up and results. The smaller one is taken."""
    with tempfile.TemporaryDirectory() as place:
        out = Path(place) / "results"
        command = [floodway, "run", scenario, "--threads", "1", "--quiet", "--out", out]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        call([str(word) for word in command])
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        manifest = json.loads((out / "manifest.json").read_text())
        summary = json.loads((out / "summary.json").read_text())
    (run,) = manifest["runs"]
    (variant,) = summary["variants"].values()
    process = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    flows = variant["fct"]["all"]
    return {
        "hops": run["hops"],
        "cpu_s": min(process, run["wall_s"]),
        "process_cpu_s": process,
        "simulation_wall_s": run["wall_s"],
        "flows": flows["finished"] + flows["unfinished"],
        "flows_done": flows["finished"],
        "delivered_bytes": round(variant["counters"]["data_bytes_delivered"]["mean"]),
        "drops": round(variant["counters"]["dropped_packets"]["mean"]),
    }


def rate(run):
    """Packet-hops per CPU second."""
    return run["hops"] / run["cpu_s"]


def spread(values):
    """The median and the range."""
    values = list(values)
    return {"median": statistics.median(values), "low": min(values), "high": max(values)}


def compare(case, programs, floodway, pairs):
    """Runs both in turn."""
    rows = []
    for number in range(pairs):
        print(f"{case['title']}: pair {number + 1} of {pairs}", file=sys.stderr)
        theirs = run_ns3(programs / case["program"], case["arguments"])
        ours = run_floodway(floodway, SCENARIOS / case["scenario"])
        rows.append({"ns3": theirs, "floodway": ours, "ratio": rate(ours) / rate(theirs)})
    theirs, ours = rows[0]["ns3"], rows[0]["floodway"]
    difference = ours["hops"] / theirs["hops"] - 1
    if case["tolerance"] is not None and abs(difference) > case["tolerance"]:
        fail(
            f"{case['title']}: {theirs['hops']} packet-hops in ns-3 and {ours['hops']} in floodway "
            f"differ by more than {case['tolerance']:.0%}, so this is not the same work"
        )
    ratios = spread(row["ratio"] for row in rows)
    return {
        "title": case["title"],
        "pairs": rows,
        "hops_difference": difference,
        "ns3_hops_per_s": spread(rate(row["ns3"]) for row in rows),
        "floodway_hops_per_s": spread(rate(row["floodway"]) for row in rows),
        "ratio": ratios,
        "ratio_to_optimised": {name: value / HANDICAP for name, value in ratios.items()},
    }


def against_the_table(floodway, pairs, case_f):
    """Case B of HPCC's simulator, which cannot be fetched: against its number from the table."""
    scenario = SCENARIOS / "hpcc-case-b" / "scenario.toml"
    if not scenario.exists():
        return {"skipped": "there is no scenarios/peers/hpcc-case-b/scenario.toml"}
    runs = []
    for number in range(pairs):
        print(f"case B: run {number + 1} of {pairs}", file=sys.stderr)
        runs.append(run_floodway(floodway, scenario))
    ours = spread(rate(run) for run in runs)
    result = {
        "hops": runs[0]["hops"],
        "floodway_hops_per_s": ours,
        "table_hops_per_s": TABLE_HPCC_CASE_B,
        "ratio": ours["median"] / TABLE_HPCC_CASE_B,
    }
    if case_f is not None:
        # How fast this machine would be with an optimised ns-3, over the table's machine.
        result["machine"] = [
            case_f["ns3_hops_per_s"]["median"] * slower / TABLE_NS3_CASE_F for slower in (1.4, 1.7)
        ]
    return result


def count(value):
    """A number of packet-hops."""
    return f"{value:,}"


def per_second(value):
    """A rate in words."""
    return f"{value / 1e6:.2f} M" if value >= 1e6 else f"{value / 1e3:.0f} k"


def table(header, rows, markdown):
    """Lines of a table."""
    if markdown:
        lines = [f"| {' | '.join(header)} |", f"| {' | '.join('---' for _ in header)} |"]
        return lines + [f"| {' | '.join(row)} |" for row in rows]
    widths = [max(map(len, column)) for column in zip(header, *rows)]
    return ["  ".join(w.rjust(n) for w, n in zip(row, widths)) for row in [header, *rows]]


def machine():
    """The processor's name and how many of it, from the system."""
    name = platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                name = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    return f"{name}, {os.cpu_count()} cores"


def show(report, markdown):
    """The report as text or as Markdown."""
    load, cores = report["load"], os.cpu_count() or 1
    busy = " (a busy machine: look at the ratios only)" if load > cores / 2 else ""
    lines = [
        f"{report['machine']}; {report['ns3']}; load average at the start {load:.1f}{busy}.",
        "",
    ]
    rows = []
    for case in report["cases"].values():
        for pair in case["pairs"]:
            theirs, ours = pair["ns3"], pair["floodway"]
            rows.append([
                case["title"], count(theirs["hops"]), count(ours["hops"]),
                f"{theirs['cpu_s']:.2f}", f"{ours['cpu_s']:.3f}",
                per_second(rate(theirs)), per_second(rate(ours)), f"{pair['ratio']:.1f}",
            ])
    header = ["case", "hops ns-3", "hops floodway", "CPU s ns-3", "CPU s floodway",
              "hops/s ns-3", "hops/s floodway", "ratio"]
    lines += table(header, rows, markdown) + [""]
    rows = []
    for case in report["cases"].values():
        ratio, fair = case["ratio"], case["ratio_to_optimised"]
        rows.append([
            case["title"], f"{ratio['median']:.1f} ({ratio['low']:.1f} to {ratio['high']:.1f})",
            f"{fair['median']:.1f} ({fair['low']:.1f} to {fair['high']:.1f})",
            f"{case['hops_difference']:+.2%}",
        ])
    header = ["case", "ratio, median (range)", f"the same / {HANDICAP}", "hops of floodway"]
    lines += table(header, rows, markdown) + [""]
    lines.append(
        "The package of ns-3 has asserts and logging compiled in and is 1.4 to 1.7 times slower than "
        f"an optimised build: the ratio divided by {HANDICAP} is what floodway can claim against that."
    )
    dctcp = report["cases"].get("dctcp")
    if dctcp:
        both = [dctcp["pairs"][0][who] for who in ("ns3", "floodway")]
        done = " and ".join(f"{run['flows_done']} of {run['flows']}" for run in both)
        sent = " and ".join(f"{run['delivered_bytes'] / 1e6:.1f} MB" for run in both)
        lost = " and ".join(count(run["drops"]) for run in both)
        lines += ["", f"DCTCP, ns-3 and floodway: flows done {done}, delivered {sent}, drops {lost}."]
    case_b = report["case_b"]
    lines.append("")
    if case_b is None:
        pass
    elif "skipped" in case_b:
        lines.append(f"Case B was skipped: {case_b['skipped']}.")
    else:
        lines.append(
            f"Case B against a number from a table, {per_second(TABLE_HPCC_CASE_B)} hops/s of HPCC's "
            f"simulator on another machine (2 cores of Zen 4): floodway {count(case_b['hops'])} hops at "
            f"{per_second(case_b['floodway_hops_per_s']['median'])} hops/s, {case_b['ratio']:.1f} times."
        )
        if "machine" in case_b:
            low, high = case_b["machine"]
            lines.append(
                f"As a hint of how the machines compare: in case F ns-3 is {low:.2f} to {high:.2f} times "
                f"as fast here as there, its handicap of 1.4 to 1.7 taken out, so of that ratio "
                f"{case_b['ratio'] / high:.1f} to {case_b['ratio'] / low:.1f} are floodway's."
            )
    return "\n".join(lines).rstrip()


def options():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("case", nargs="*", help=f"only these cases, of {', '.join(CASES)}")
    parser.add_argument("--pairs", type=int, default=5, help="how often both run; default 5")
    parser.add_argument("--ns3", metavar="DIR", help="the folder `ns3` of PyPI's wheel; default "
                        "what the distribution has installed")
    parser.add_argument("--floodway", metavar="FILE", help="the program; default is built")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--markdown", action="store_true", help="print Markdown, for ../README.md")
    chosen = parser.parse_args()
    unknown = [name for name in chosen.case if name not in CASES]
    if unknown:
        fail(f"there is no case `{unknown[0]}`; the cases are {', '.join(CASES)}")
    if chosen.pairs < 1:
        fail("--pairs is at least 1")
    return chosen


def main():
    """Builds, runs, and prints."""
    chosen = options()
    load = os.getloadavg()[0]
    programs = ROOT / "target" / "peers"
    version = build_ns3(chosen.ns3, programs)
    floodway = build_floodway(chosen.floodway)
    if chosen.ns3 is not None:
        programs /= "wheel"
    cases = {
        name: compare(case, programs, floodway, chosen.pairs)
        for name, case in CASES.items()
        if not chosen.case or name in chosen.case
    }
    case_b = None
    if not chosen.case:
        case_b = against_the_table(floodway, chosen.pairs, cases.get("case-f"))
    report = {
        "machine": machine(), "load": load, "ns3": version, "handicap": HANDICAP,
        "cases": cases, "case_b": case_b,
    }
    print(json.dumps(report, indent=2) if chosen.json else show(report, chosen.markdown))


if __name__ == "__main__":
    main()

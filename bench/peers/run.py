#!/usr/bin/env python3
"""The same work in another simulator and in floodway, alternately on this machine: ratios pair by pair.

Needs Python 3 and nothing beside it; a C++ compiler and make; cargo; and the other simulator: ns-3
with its headers, which is Debian's package libns3-dev or the wheel `ns3` of PyPI (--ns3 names its
folder), or a checkout of HPCC's simulator (--hpcc) or of htsim (--htsim). ../README.md says how to
read what it prints.
"""

import argparse
import json
import os
import re
import sys
import tempfile
from pathlib import Path

import beside
import hpcc
import htsim
from common import (
    HERE, ROOT, SCENARIOS, build_floodway, call, count, fail, in_words, machine, measure, needs,
    per_second, run_floodway, spread, table, where,
)

# The simulators that are built from a checkout.
CHECKOUTS = {"hpcc": hpcc, "htsim": htsim}

# How much slower packages of ns-3 are than an optimized build, because asserts and logging are
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


def run_ns3(program, arguments):
    """One run of a program of ns-3. It measures itself, after set-up, and is measured as a process."""
    with tempfile.TemporaryDirectory() as place:
        cost = measure([program, *arguments], Path(place))
        result = json.loads((Path(place) / "output.txt").read_text())
    return result | {"process_cpu_s": cost["cpu_s"], "memory_bytes": cost["memory_bytes"]}


def simulate(floodway, scenario):
    """One run of floodway. Two numbers bound the CPU seconds of its simulation from above: the elapsed
    time of the simulation alone, which floodway reports, and the CPU seconds of the whole process
    with set-up and results. The smaller one is taken."""
    run = run_floodway(floodway, scenario)
    process = run["cpu_s"]
    return run | {"cpu_s": min(process, run["simulation_wall_s"]), "process_cpu_s": process}


def rate(run):
    """Packet-hops per CPU second."""
    return run["hops"] / run["cpu_s"]


def compare(case, programs, floodway, pairs):
    """Runs both alternately."""
    rows = []
    for number in range(pairs):
        print(f"{case['title']}: pair {number + 1} of {pairs}", file=sys.stderr)
        theirs = run_ns3(programs / case["program"], case["arguments"])
        ours = simulate(floodway, SCENARIOS / case["scenario"])
        processes = theirs["process_cpu_s"] / theirs["hops"] / ours["process_cpu_s"] * ours["hops"]
        rows.append({
            "ns3": theirs, "floodway": ours, "ratio": rate(ours) / rate(theirs),
            "process_ratio": processes,
        })
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
        "process_ratio": spread(row["process_ratio"] for row in rows),
        "ratio_to_optimized": {name: value / HANDICAP for name, value in ratios.items()},
    }


def against_the_table(floodway, pairs, case_f):
    """Case B of HPCC's simulator, without a checkout of it: against its number from the table."""
    scenario = SCENARIOS / "hpcc-case-b" / "scenario.toml"
    if not scenario.exists():
        return {"skipped": "there is no scenarios/peers/hpcc-case-b/scenario.toml"}
    runs = []
    for number in range(pairs):
        print(f"case B: run {number + 1} of {pairs}", file=sys.stderr)
        runs.append(simulate(floodway, scenario))
    ours = spread(rate(run) for run in runs)
    result = {
        "hops": runs[0]["hops"],
        "floodway_hops_per_s": ours,
        "table_hops_per_s": TABLE_HPCC_CASE_B,
        "ratio": ours["median"] / TABLE_HPCC_CASE_B,
    }
    if case_f is not None:
        # How fast this machine would be with an optimized ns-3, over the table's machine.
        result["machine"] = [
            case_f["ns3_hops_per_s"]["median"] * slower / TABLE_NS3_CASE_F for slower in (1.4, 1.7)
        ]
    return result


def show(report, markdown):
    """The comparison with ns-3 as text or as Markdown."""
    lines = [f"{report['ns3']}.", ""]
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
        ratio, fair = case["ratio"], case["ratio_to_optimized"]
        rows.append([
            case["title"], in_words(ratio), in_words(fair), in_words(case["process_ratio"]),
            f"{case['hops_difference']:+.2%}",
        ])
    header = ["case", "ratio, median (range)", f"the same / {HANDICAP}", "whole processes",
              "hops of floodway"]
    lines += table(header, rows, markdown) + [""]
    lines.append(
        "The package of ns-3 has asserts and logging compiled in and is 1.4 to 1.7 times slower than "
        f"an optimized build: the ratio divided by {HANDICAP} is what floodway can claim against that."
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
    every = [*CASES, *(name for peer in CHECKOUTS.values() for name in peer.CASES)]
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("case", nargs="*", help=f"only these cases, of {', '.join(every)}")
    parser.add_argument("--pairs", type=int, default=5, help="how often both run; default 5")
    parser.add_argument("--ns3", metavar="DIR", help="the folder `ns3` of PyPI's wheel; default "
                        "what the distribution has installed")
    parser.add_argument("--hpcc", metavar="DIR", help="a checkout of HPCC's simulator, which is "
                        "built in it; ns-3 is then compared only if its cases are named")
    parser.add_argument("--htsim", metavar="DIR", help="a checkout of htsim, likewise")
    parser.add_argument("--python2", metavar="FILE", help="a Python 2, to build HPCC's simulator")
    parser.add_argument("--packets", type=int, help="packets of each flow of a permutation; default "
                        + ", ".join(f"{number} in {name}" for peer in CHECKOUTS.values()
                                    for name, number in peer.PACKETS.items()))
    parser.add_argument("--floodway", metavar="FILE", help="the program; default is built")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--markdown", action="store_true", help="print Markdown, for ../README.md")
    chosen = parser.parse_args()
    unknown = [name for name in chosen.case if name not in every]
    if unknown:
        fail(f"there is no case `{unknown[0]}`; the cases are {', '.join(every)}")
    for option, peer in CHECKOUTS.items():
        folder = getattr(chosen, option)
        wanted = [name for name in chosen.case if name in peer.CASES]
        if wanted and folder is None:
            fail(f"`{wanted[0]}` needs a checkout of {peer.TITLE}: name its folder with --{option}")
        if folder is not None and not Path(folder).is_dir():
            fail(f"there is no folder {folder}: name a checkout of {peer.TITLE} with --{option}")
    for option, value in [("pairs", chosen.pairs), ("packets", chosen.packets)]:
        if value is not None and value < 1:
            fail(f"--{option} must be at least 1")
    return chosen


def compare_ns3(chosen, floodway):
    """All of ns-3: what was compared, or nothing if other simulators were asked for."""
    named = [name for name in chosen.case if name in CASES]
    if not named and (chosen.case or chosen.ns3 is None and (chosen.hpcc or chosen.htsim)):
        return None
    programs = ROOT / "target" / "peers"
    version = build_ns3(chosen.ns3, programs)
    if chosen.ns3 is not None:
        programs /= "wheel"
    cases = {
        name: compare(CASES[name], programs, floodway, chosen.pairs) for name in named or CASES
    }
    case_b = None if named else against_the_table(floodway, chosen.pairs, cases.get("case-f"))
    return {"ns3": version, "handicap": HANDICAP, "cases": cases, "case_b": case_b}


def main():
    """Builds, runs, and prints."""
    chosen = options()
    report = {"machine": machine(), "load": os.getloadavg()[0]}
    # Everything is built before anything is measured.
    built = {
        option: peer.build(Path(folder).resolve(), chosen)
        for option, peer in CHECKOUTS.items() if (folder := getattr(chosen, option)) is not None
        and (not chosen.case or any(name in peer.CASES for name in chosen.case))
    }
    floodway = build_floodway(chosen.floodway)
    report |= compare_ns3(chosen, floodway) or {}
    for option, program in built.items():
        report[option] = beside.compare(CHECKOUTS[option], program, floodway, chosen, getattr(chosen, option))
    if chosen.json:
        print(json.dumps(report, indent=2))
        return
    parts = [where(report)]
    parts += [show(report, chosen.markdown)] if "cases" in report else []
    parts += [beside.show(report[option], chosen.markdown) for option in built]
    print("\n\n".join(parts))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)

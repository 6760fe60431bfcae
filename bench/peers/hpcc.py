"""The HPCC authors' simulator, from a checkout of alibaba-edu/High-Precision-Congestion-Control.

It is a fork of ns-3.17: waf needs Python 2, and compilers newer than gcc 5 need `-fpermissive`.
"""

import json
import os
import shutil
import subprocess
import sys

from common import (
    SCENARIOS, call, completions, fail, last_lines, measure, needs, run_floodway,
)

TITLE = "HPCC's simulator"
PAYLOAD = 1000
# Naming CXXFLAGS drops the -O3 of waf's own profile, so it has to be here.
FLAGS = "-O3 -w -fpermissive -std=gnu++11"
MODULES = "applications,point-to-point,internet"

CASES = {
    "hpcc-case-b": "case B: leaf-spine, 128 hosts, DCQCN, web search, 1 ms",
    "hpcc-fat-tree": "fat-tree, 320 hosts, DCQCN, a permutation",
}
PACKETS = {"hpcc-fat-tree": 1000}

# The configuration of case B, but for these keys.
FAT_TREE = {
    "SIMULATOR_STOP_TIME": None,
    "KMAX_MAP": "2 100000000000 1600 400000000000 6400",
    "KMIN_MAP": "2 100000000000 400 400000000000 1600",
    "PMAX_MAP": "2 100000000000 0.20 400000000000 0.20",
}


def python2(named):
    """A Python 2, which waf of ns-3.17 is written in."""
    for name in [named] if named else ["python2.7", "python2", "python"]:
        if shutil.which(name) is None:
            continue
        done = subprocess.run([name, "-V"], capture_output=True, text=True, check=False)
        if (done.stdout + done.stderr).startswith("Python 2."):
            return name
    fail(
        f"{named or 'no `python2.7` here'} is {'not ' if named else 'no '}Python 2, which waf of "
        "HPCC's simulator needs: install it (`conda create -n old python=2.7` has one) and name the "
        "program with --python2"
    )


def build(checkout, options):
    """Builds the simulator if it is not built; its program and its environment."""
    simulation = checkout / "simulation"
    for file in ["scratch/third.cc", "waf", "src/point-to-point/model/rdma-hw.cc"]:
        if not (simulation / file).is_file():
            fail(
                f"{checkout} has no simulation/{file}, so it is no checkout of "
                "alibaba-edu/High-Precision-Congestion-Control: name its folder with --hpcc"
            )
    program = simulation / "build" / "scratch" / "third"
    if not program.is_file():
        needs("c++", "install a C++ compiler")
        waf = [python2(options.python2), "waf"]
        print(f"building {TITLE}, which takes minutes", file=sys.stderr)
        call(
            [*waf, "configure", "-d", "optimized", "--disable-python", f"--enable-modules={MODULES}"],
            cwd=simulation, env=os.environ | {"CXXFLAGS": FLAGS}, stderr=sys.stderr,
        )
        call([*waf, "build"], cwd=simulation, stderr=sys.stderr)
        if not program.is_file():
            fail(f"waf has made no {program}: this is another version than is known here")
    profile = simulation / "build" / "c4che" / "_cache.py"
    if profile.is_file() and "optimized" not in profile.read_text():
        fail(
            f"{simulation}/build is not an optimized build, so a comparison would not be fair: "
            f"remove {simulation}/build and start again, or configure it with `-d optimized`"
        )
    libraries = [str(simulation / "build"), os.environ.get("LD_LIBRARY_PATH", "")]
    return program, os.environ | {"LD_LIBRARY_PATH": ":".join(filter(None, libraries))}


def fat_tree():
    """320 hosts in 5 pods of 4 edge and 4 aggregation switches, 16 core switches, as in the paper."""
    links = [(host, 320 + host // 16, 100) for host in range(320)]
    for edge in range(20):
        links += [(320 + edge, 340 + edge // 4 * 4 + up, 400) for up in range(4)]
    for aggregation in range(20):
        links += [(340 + aggregation, 360 + aggregation % 4 * 4 + up, 400) for up in range(4)]
    switches = " ".join(map(str, range(320, 376)))
    lines = [f"{a} {b} {rate}Gbps 1000ns 0" for a, b, rate in links]
    return "\n".join([f"376 56 {len(links)}", switches, *lines, ""])


def write(name, packets, folder):
    """Writes the simulator's input; the packet-hops that it asks for, if they can be counted."""
    case_b = SCENARIOS / "hpcc-case-b"
    # A trace of no node: without this file the simulator reads an uninitialized number of them.
    (folder / "trace.txt").write_text("0\n")
    if name == "hpcc-case-b":
        for file in ["config.txt", "topology.txt", "flow.txt"]:
            shutil.copyfile(case_b / file, folder / file)
        return None
    # All hosts send at the same time, each to a host in another pod: over six links. Forty times as
    # long as at line rate is enough for all to end.
    stop = 2 + 40 * packets * (PAYLOAD + 48) * 8 / 100e9 + 0.001
    lines = []
    for line in (case_b / "config.txt").read_text().splitlines():
        key = line.split(" ", maxsplit=1)[0]
        value = f"{stop:.6f}" if key == "SIMULATOR_STOP_TIME" else FAT_TREE.get(key)
        lines.append(line if value is None else f"{key} {value}")
    (folder / "config.txt").write_text("\n".join([*lines, ""]))
    (folder / "topology.txt").write_text(fat_tree())
    flows = [f"{host} {(host + 161) % 320} 3 100 {packets * PAYLOAD} 2" for host in range(320)]
    (folder / "flow.txt").write_text("\n".join([str(len(flows)), *flows, ""]))
    return 2 * 6 * packets * len(flows)


def run_theirs(program, folder, hops):
    """One run of the simulator, and what it says of its flows."""
    file, env = program
    fct = folder / "fct.txt"
    fct.unlink(missing_ok=True)
    cost = measure([file, "config.txt"], folder, env)
    lines = [line.split() for line in fct.read_text().splitlines()] if fct.is_file() else []
    if not lines or any(len(line) != 8 for line in lines):
        fail(
            f"{file} has written no `fct.txt` with eight columns: it is another version than is "
            f"known here, or no flow has ended. The end of its output:{last_lines(folder / 'output.txt')}"
        )
    return cost | {
        "hops": hops,
        "flows_done": len(lines),
        "completions_us": sorted(int(line[6]) / 1000 for line in lines),
    }


def run_ours(floodway, theirs, folder):
    """The same files in floodway: the import counts."""
    made = folder / "scenario"
    cost = measure([floodway, "import", "hpcc", theirs / "config.txt", "--out", made], folder)
    run = run_floodway(floodway, made / "scenario.toml", folder)
    run["cpu_s"] += cost["cpu_s"]
    run["wall_s"] += cost["wall_s"]
    run["completions_us"] = completions(floodway, folder / "results", folder)
    compared = json.loads(call(
        [str(floodway), "compare", "hpcc", str(folder / "results"), str(theirs / "fct.txt"), "--json"],
        stderr=subprocess.DEVNULL,
    ))
    run["agreement"] = {
        key: compared[key] for key in
        ["in_both", "within_1_percent", "p10_ratio", "median_ratio", "p90_ratio"]
    }
    return run

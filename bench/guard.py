#!/usr/bin/env python3
"""Keeps the engine fast: instructions per packet-hop of a few short runs, counted by callgrind and
compared with bench/instructions.json.

    make guard                       compares; what costs more than 5 % more is an error
    make guard-accept                writes what it counts into bench/instructions.json
    python3 bench/guard.py --where ci-128
                                     which functions the instructions of a run are in

Instructions are the same on every call and on a busy machine, where times are not. Only the
engine's run is counted: not the scenario, not the building of the network, not the results. They
depend on the compiler, whose version stands in the file; with another one the bound is 15 %.
"""

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
FIGURES = HERE / "instructions.json"
OUT = HERE.parent / "target" / "guard"
ENGINE = "floodway_sim::run::run"
CASES = ["ci-128", "sfc-128", "dualq-tcp", "plain-128"]
BOUND = 5.0
BOUND_OF_OTHERS = 15.0


def main():
    options = parsed()
    if not shutil.which("valgrind"):
        fail(
            "instructions are counted by valgrind, and there is none here: install it "
            "(apt-get install valgrind, dnf install valgrind) and run make again"
        )
    if not Path(options.floodway).is_file():
        fail(f"there is no {options.floodway}: build it with make build")
    OUT.mkdir(parents=True, exist_ok=True)
    if options.where:
        return where(options.floodway, options.where)
    counted = {case: count(options.floodway, case) for case in CASES}
    if options.accept:
        return accept(counted)
    return compare(counted, options.floodway)


def parsed():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--accept", action="store_true", help="write the figures")
    parser.add_argument("--where", metavar="CASE", help="show the functions of a case")
    parser.add_argument("--floodway", metavar="FILE", default="target/release/floodway")
    return parser.parse_args()


def command(floodway, case):
    """What counts the instructions of a case."""
    return [
        "valgrind",
        "--tool=callgrind",
        f"--callgrind-out-file={out(case)}",
        f"--toggle-collect={ENGINE}",
        floodway,
        *["bench", case, "--brief", "--threads", "1", "--json"],
    ]


def out(case):
    return os.path.relpath(OUT / f"{case}.out")


def count(floodway, case):
    """Runs a case: its packet-hops, and instructions for each."""
    words = command(floodway, case)
    # Small pages: for large ones the program starts itself again, and valgrind does not follow.
    small = {**os.environ, "GLIBC_TUNABLES": "glibc.malloc.hugetlb=0"}
    ran = subprocess.run(words, capture_output=True, text=True, env=small)
    collected = re.search(r"Collected : (\d+)", ran.stderr)
    if ran.returncode != 0 or not collected:
        fail(f"this failed:\n  {' '.join(words)}\n{ran.stderr}")
    if int(collected[1]) == 0:
        fail(
            f"no instructions were counted: the program has no function {ENGINE}. If it was "
            "renamed, name it in bench/guard.py; it must not be inlined"
        )
    hops = json.loads(ran.stdout)[0]["hops"]
    return {"hops": hops, "instructions_per_hop": round(int(collected[1]) / hops, 2)}


def compiler():
    """What the instructions depend on besides the sources."""
    told = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True)
    return f"{told.stdout.strip()}, {platform.machine()}"


def accept(counted):
    figures = {"compiler": compiler(), "cases": counted}
    FIGURES.write_text(json.dumps(figures, indent=2) + "\n")
    for case, now in counted.items():
        print(f"{case:10} {now['instructions_per_hop']:8.1f} instructions per packet-hop")
    print(f"written to {os.path.relpath(FIGURES)}")


def compare(counted, floodway):
    figures = json.loads(FIGURES.read_text())
    bound = BOUND
    if figures["compiler"] != compiler():
        bound = BOUND_OF_OTHERS
        print(
            f"note: the figures are of {figures['compiler']}, and this is {compiler()}: "
            f"they may differ by {bound:g} % instead of {BOUND:g} %"
        )
    worse, better = [], []
    for case, now in counted.items():
        before = figures["cases"].get(case)
        if not before:
            fail(f"{os.path.relpath(FIGURES)} has no figure of {case}: run make guard-accept")
        change = (now["instructions_per_hop"] / before["instructions_per_hop"] - 1) * 100
        print(
            f"{case:10} {now['instructions_per_hop']:8.1f} instructions per packet-hop, "
            f"{change:+.1f} % against {before['instructions_per_hop']:.1f}"
        )
        if now["hops"] != before["hops"]:
            print(
                f"note: {case} is other work than it was: {now['hops']} packet-hops instead of "
                f"{before['hops']}"
            )
        if change > bound:
            worse.append((case, change))
        elif change < -bound:
            better.append(case)
    if better:
        print(
            f"note: {', '.join(better)} became more than {bound:g} % better: run make guard-accept "
            "and commit the figures, so that it stays so"
        )
    if worse:
        fail(explained(worse, bound, floodway))


def explained(worse, bound, floodway):
    cases = ", ".join(f"{case} by {change:.1f} %" for case, change in worse)
    case = worse[0][0]
    return (
        f"a packet-hop takes more than {bound:g} % more instructions than "
        f"{os.path.relpath(FIGURES)} says: {cases}\n"
        "  where they are, by function (do the same before the change, and compare):\n"
        f"    python3 bench/guard.py --where {case}\n"
        "  and by line:\n"
        f"    {' '.join(command(floodway, case))}\n"
        f"    callgrind_annotate --auto=yes {out(case)}\n"
        "  if it is worth that, write the figures, and say in the commit what for:\n"
        "    make guard-accept"
    )


def where(floodway, case):
    """Shows the functions with the most instructions of their own, what is inlined included."""
    hops = count(floodway, case)["hops"]
    own = functions(OUT / f"{case}.out")
    total = sum(own.values())
    print(f"{total / hops:8.1f}  100.0 %  {case}: instructions per packet-hop, {hops} packet-hops")
    for name, instructions in own.most_common(40):
        print(f"{instructions / hops:8.1f}  {instructions / total:6.1%}  {name}")


def functions(file):
    """Own instructions by function, from callgrind's format: names stand once, later only their
    numbers; the line after `calls=` is what the called function took."""
    names, own, current, call = {}, Counter(), None, False
    for line in file.read_text().splitlines():
        if line.startswith("fn="):
            number, name = re.match(r"fn=\((\d+)\)(?: (.*))?", line).groups()
            current = names.setdefault(number, name) if name else names[number]
        elif line.startswith("cfn="):
            number, name = re.match(r"cfn=\((\d+)\)(?: (.*))?", line).groups()
            if name:
                names[number] = name
        elif line.startswith("calls="):
            call = True
        elif line[:1] in "+-*0123456789" and line:
            if not call:
                own[current] += int(line.split()[1])
            call = False
    return own


def fail(text):
    sys.stdout.flush()
    print(f"error: {text}", file=sys.stderr)
    sys.exit(1)


if __name__ == "__main__":
    main()

"""How many flows a second a session takes, beside a run with the same flows: docs/embed.md.

    python bench/session.py [FLOWS]

64 hosts in a leaf-spine network send 10 KB each 100 ns, one after the other, to others at random. The time is that of
the processor, of all threads together, so that other programs on the machine matter little.
"""

import csv
import os
import random
import sys
import tempfile
import time

import floodway

HOSTS, BYTES, STEP_NS, LATENCY_NS = 64, 10_000, 100, 1_000
NETWORK = {
    "name": "speed",
    "limit": "1s",
    "topology": {"clos": {"leaves": 8, "spines": 8, "hosts_per_leaf": 8}},
    "host": {"congestion": "line_rate"},
}


def run(flows, threads):
    """Simulate the flows as a workload."""
    with tempfile.NamedTemporaryFile("w", suffix=".csv", delete=False, newline="") as file:
        out = csv.writer(file)
        out.writerow(["src", "dst", "bytes", "start_ns"])
        out.writerows((src, dst, BYTES, at + LATENCY_NS) for at, src, dst in flows)
    try:
        scenario = floodway.Scenario(
            {
                **NETWORK,
                "arrivals": f"{flows[-1][0] + 2 * LATENCY_NS}ns",
                "workload": [{"file": {"path": file.name}}],
            }
        )
        return scenario.run(threads=threads)
    finally:
        os.unlink(file.name)


def session(flows, threads, drive):
    """Inject the flows, and collect their completions one by one."""
    place = [{"permutation": {"bytes": "1KB"}}]
    scenario = floodway.Scenario({**NETWORK, "arrivals": "1us", "workload": place})
    with floodway.Session(scenario, latency=f"{LATENCY_NS}ns", threads=threads) as opened:
        drive(opened, flows)
        for _ in opened:
            pass
    return opened.run


def before(opened, flows):
    """Inject all flows at the beginning."""
    for at, src, dst in flows:
        opened.inject(src, dst, BYTES, at=at)


def in_time(opened, flows):
    """Advance to the time of each flow before it is injected."""
    for at, src, dst in flows:
        opened.advance(at)
        opened.inject(src, dst, BYTES)


def by_completion(opened, flows):
    """Keep as many flows in flight as there are hosts: each completion injects one."""
    for number, (_, src, dst) in enumerate(flows):
        if number >= HOSTS:
            opened.next()
        opened.inject(src, dst, BYTES)


def main():
    """Print a line for each way."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000
    rng = random.Random(1)
    flows = [(STEP_NS * number, *rng.sample(range(HOSTS), 2)) for number in range(count)]
    ways = [("run", lambda threads: run(flows, threads))]
    for drive in (before, in_time, by_completion):
        ways.append((drive.__name__, lambda threads, drive=drive: session(flows, threads, drive)))
    for threads in (1, 2):
        for name, way in ways:
            begun = time.process_time()
            done = way(threads)
            took = time.process_time() - begun
            print(f"{threads} {name:14}{count / took:9,.0f} flows a second  {done.fingerprint}")


main()

"""htsim, from a checkout of Broadcom/csg-htsim: its RoCE with PFC, and with ECMP by flow."""

import re
import sys

from common import call, completions, fail, last_lines, measure, needs, run_floodway

TITLE = "htsim"
MTU = 4096
# The thresholds of PFC in packets of `MTU`, and hosts' links, which senders are paced for.
XON, XOFF = 12, 15
GBPS = 100

CASES = {
    "htsim-leaf-spine": "RoCE and PFC: leaf-spine, 128 hosts, a permutation",
    "htsim-fat-tree": "RoCE and PFC: fat-tree, 1,024 hosts, a permutation",
}
PACKETS = {"htsim-leaf-spine": 4883, "htsim-fat-tree": 488}
# Hosts, hosts of a pod, links from one host to another pod or leaf and back, and tiers from below: rate
# of links downward, ports downward and upward.
NETWORKS = {
    "htsim-leaf-spine": (128, 128, 4, [(100, 16, 8), (200, 8, None)]),
    "htsim-fat-tree": (1024, 64, 6, [(100, 8, 8), (100, 8, 8), (100, 16, None)]),
}
# Everything that htsim has not is switched off: preamble and gap, headroom, the delay of pauses.
SCENARIO = """\
name = "{name}"
arrivals = "1us"
limit = "{limit}us"
replications = 1
wire_overhead = "0B"

[topology.file]
path = "network.topo"

[switch.queue]
size = "4MB"

[switch.flow_control.pfc]
xoff = "{xoff}B"
xon = "{xon}B"
response = "0ns"
refresh = false

[switch.feedback]
ack = 0

[host.transport.rocev2]
mtu = "{mtu}B"
overhead = "64B"
answer = "64B"
shortest = "0B"

[host.congestion.line_rate]

[[workload]]
[workload.file]
path = "connections.cm"
"""
FINISHED = re.compile(rb"^Flow Roce_(\d+)_(\d+) \d+ finished at (\S+) ")


def build(checkout, _options):
    """Builds the program, which make does if it is not there; its path."""
    sim = checkout / "sim"
    for file in ["Makefile", "roce.cpp", "datacenter/Makefile", "datacenter/main_roce.cpp"]:
        if not (sim / file).is_file():
            fail(
                f"{checkout} has no sim/{file}, so it is no checkout of Broadcom/csg-htsim (others of "
                "htsim have another layout): name its folder with --htsim"
            )
    needs("make", "install make")
    needs("g++", "install g++, which the Makefile of htsim names")
    print(f"building {TITLE}", file=sys.stderr)
    for folder, target in [(sim, "libhtsim.a"), (sim / "datacenter", "htsim_roce")]:
        call(["make", "-C", str(folder), target], stderr=sys.stderr)
    program = sim / "datacenter" / "htsim_roce"
    if not program.is_file():
        fail(f"make has made no {program}: this is another version than is known here")
    return program


def longest_us(packets):
    """Forty times as long as at line rate, which is enough for all flows to end."""
    return int(40 * packets * (MTU + 64) * 8 / (GBPS * 1000)) + 1000


def write(name, packets, folder):
    """Writes the network and the connections, which both read, and floodway's scenario; the packet-hops
    that they ask for: a packet and its acknowledgment over all links of a path."""
    hosts, pod, links, tiers = NETWORKS[name]
    lines = [f"Nodes {hosts}", f"Tiers {len(tiers)}", f"Podsize {pod}"]
    for tier, (rate, down, up) in enumerate(tiers):
        lines += ["", f"Tier {tier}", f"Downlink_speed_Gbps {rate}", f"Radix_Down {down}"]
        lines += [] if up is None else [f"Radix_Up {up}"]
        lines += ["Downlink_Latency_ns 1000", "Switch_Latency_ns 0"]
    (folder / "network.topo").write_text("\n".join([*lines, ""]))
    lines = [f"Nodes {hosts}", f"Connections {hosts}"]
    for host in range(hosts):
        other = (host + hosts // 2 + 1) % hosts
        lines.append(f"{host}->{other} id {host + 1} start 0 size {packets * MTU}")
    (folder / "connections.cm").write_text("\n".join([*lines, ""]))
    (folder / "scenario.toml").write_text(SCENARIO.format(
        name=name, limit=longest_us(packets), xoff=XOFF * MTU, xon=XON * MTU, mtu=MTU
    ))
    return 2 * links * packets * hosts


def run_theirs(program, folder, hops):
    """One run of htsim, and what it says of its flows."""
    connections = (folder / "connections.cm").read_text().splitlines()
    packets = int(connections[2].split()[-1]) // MTU
    hosts = int(connections[0].split()[1])
    hint = ""
    if "Tiers 2" in (folder / "network.topo").read_text():
        hint = " If it says `_tiers == 3`, this version reads no network of two tiers: leave this case out."
    cost = measure(
        [
            program, "-topo", "network.topo", "-tm", "connections.cm", "-nodes", hosts,
            "-strat", "ecmp_host", "-paths", 256, "-queue_type", "lossless_input", "-q", 1000,
            "-mtu", MTU, "-linkspeed", GBPS * 1000, "-pfc_thresholds", XON, XOFF,
            "-end", longest_us(packets), "-seed", 1, "-o", "htsim.log",
        ],
        folder, hint=hint,
    )
    output = folder / "output.txt"
    with output.open("rb") as file:
        found = [match for line in file if (match := FINISHED.match(line))]
    if not found:
        fail(
            f"{program} says of no flow that it has finished: it is another version than is known "
            f"here, or no flow has ended. The end of its output:{last_lines(output)}"
        )
    return cost | {
        "hops": hops,
        "flows_done": len(found),
        "completions_us": sorted(float(match[3]) for match in found),
        "printed_bytes": output.stat().st_size,
    }


def run_ours(floodway, theirs, folder):
    """The same files in floodway, which reads them as they are."""
    run = run_floodway(floodway, theirs / "scenario.toml", folder)
    run["completions_us"] = completions(floodway, folder / "results", folder)
    return run

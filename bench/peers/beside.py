"""A simulator from a checkout beside floodway: the same files, whole process and whole process."""

import statistics
import sys
import tempfile
from pathlib import Path

from common import commit, count, fail, in_words, spread, table

# By how much packet-hops may differ from those that the case asks for. Pauses come on top.
TOLERANCE = 0.02
# Output of this size is not a log: it is work.
MUCH = 1_000_000


def quantiles(times):
    """The fastest flow, the median and the slowest."""
    return {"fastest": times[0], "median": statistics.median(times), "slowest": times[-1]}


def pair(peer, program, floodway, theirs_in, hops):
    """Runs one after the other in new folders: what both cost, and what came of it."""
    theirs = peer.run_theirs(program, theirs_in, hops)
    with tempfile.TemporaryDirectory() as place:
        ours = peer.run_ours(floodway, theirs_in, Path(place))
    return {"theirs": theirs, "floodway": ours, "ratio": theirs["cpu_s"] / ours["cpu_s"]}


def case(peer, name, program, floodway, chosen):
    """All pairs of a case."""
    pairs = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        hops = peer.write(name, chosen.packets or peer.PACKETS.get(name), folder)
        for number in range(chosen.pairs):
            print(f"{name}: pair {number + 1} of {chosen.pairs}", file=sys.stderr)
            pairs.append(pair(peer, program, floodway, folder, hops))
    theirs, ours = pairs[0]["theirs"], pairs[0]["floodway"]
    if hops is not None:
        # Only if all flows have ended, and nothing was sent again, were these hops made.
        if theirs["flows_done"] != ours["flows"] or ours["flows_done"] != ours["flows"]:
            fail(
                f"{name}: of {ours['flows']} flows, {theirs['flows_done']} have ended in {peer.TITLE} "
                f"and {ours['flows_done']} in floodway, so this is not the same work"
            )
        if abs(ours["hops"] / hops - 1) > TOLERANCE:
            fail(
                f"{name}: floodway has made {ours['hops']} packet-hops, where packets and "
                f"acknowledgments need {hops}, so this is not the same work"
            )
    for run in (run for both in pairs for run in (both["theirs"], both["floodway"])):
        run["completions_us"] = quantiles(run["completions_us"])
    return {
        "title": peer.CASES[name],
        "pairs": pairs,
        "ratio": spread(both["ratio"] for both in pairs),
    }


def compare(peer, program, floodway, chosen, checkout):
    """All cases of a simulator, or those that are named."""
    names = [name for name in peer.CASES if not chosen.case or name in chosen.case]
    return {
        "title": peer.TITLE,
        "commit": commit(checkout),
        "cases": {name: case(peer, name, program, floodway, chosen) for name in names},
    }


def megabytes(run):
    """The memory of a process."""
    return f"{run['memory_bytes'] / 1e6:.0f} MB"


def show(report, markdown):
    """The report as text or as Markdown."""
    title = report["title"]
    lines = [f"{title}, {report['commit']}. CPU seconds, user and system, of whole processes.", ""]
    rows = []
    for done in report["cases"].values():
        for both in done["pairs"]:
            theirs, ours = both["theirs"], both["floodway"]
            rows.append([
                done["title"], count(theirs["hops"]) if theirs["hops"] else "not counted",
                count(ours["hops"]), f"{theirs['cpu_s']:.2f}", f"{ours['cpu_s']:.2f}",
                megabytes(theirs), megabytes(ours), f"{both['ratio']:.1f}",
            ])
    lines += table(
        ["case", "hops there", "hops floodway", "CPU s there", "CPU s floodway", "memory there",
         "memory floodway", "ratio"], rows, markdown,
    )
    rows = []
    for done in report["cases"].values():
        theirs, ours = (done["pairs"][0][who] for who in ("theirs", "floodway"))
        cells = [
            f"{theirs['completions_us'][what]:,.1f}, {ours['completions_us'][what]:,.1f}"
            for what in ("fastest", "median", "slowest")
        ]
        rows.append([
            done["title"], in_words(done["ratio"]),
            f"{theirs['flows_done']}, {ours['flows_done']} of {ours['flows']}", *cells,
        ])
    lines += ["", *table(
        ["case", "ratio, median (range)", "flows done, there and in floodway",
         "fastest flow, µs", "median flow, µs", "slowest flow, µs"], rows, markdown,
    )]
    for done in report["cases"].values():
        theirs, ours = (done["pairs"][0][who] for who in ("theirs", "floodway"))
        if "agreement" in ours:
            found = ours["agreement"]
            lines += ["", (
                f"{done['title']}: of {found['in_both']} flows that have ended in both, "
                f"{found['within_1_percent']} have times within 1 %; the ratio of their times, floodway "
                f"to {title}, has quantiles 10 %, 50 %, 90 % of {found['p10_ratio']:.3f}, "
                f"{found['median_ratio']:.3f}, {found['p90_ratio']:.3f}."
            )]
        if theirs.get("printed_bytes", 0) > MUCH:
            lines += ["", (
                f"{done['title']}: {title} has printed {theirs['printed_bytes'] / 1e6:.0f} MB, a line "
                "for each packet or so. Its CPU seconds contain that: for a fair ratio, remove what prints."
            )]
    return "\n".join(lines)

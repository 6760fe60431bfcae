"""Four public traffics: tuned values, a default and a textbook rule on held-out runs (docs/tune.md).

Run with the Python package: ``python bench/tune/run.py results/tune-cases [CASE …]``. It prints the
rows of the table; a search that was interrupted is continued.
"""

import sys
from pathlib import Path

import floodway

# The ECN curve of the simulator of HPCC's authors for 100 Gb/s, and their timers of DCQCN.
SCRIPT = {"kmin": "400KB", "kmax": "1600KB", "pmax": 0.2}
# That of the decks about IEEE 802.1Qcz (scenarios/ci).
DECK = {"kmin": "10KB", "kmax": "300KB", "pmax": 0.01}
# That of the DCQCN paper (SIGCOMM 2015, figure 14), with its increase timer.
PAPER = {
    "switch.aqm.ramp.kmin": "5KB",
    "switch.aqm.ramp.kmax": "200KB",
    "switch.aqm.ramp.pmax": 0.01,
    "host.congestion.dcqcn.increase_timer": "55us",
}
VARY = {
    "switch.aqm.ramp.kmin": "5KB..800KB/9log",
    "switch.aqm.ramp.kmax": "20KB..3200KB/9log",
    "switch.aqm.ramp.pmax": [0.01, 0.05, 0.2, 0.5, 1.0],
    "host.congestion.dcqcn.increase_timer": ["10us", "55us", "300us"],
}
SEARCH, TEST = 1, 20_261_127


def scenario(name, sizes, load, curve, arrivals, max_size=None, more=()):
    """Sixteen hosts at four leaves and two spines; lossless by PFC, DCQCN."""
    spread = {"sizes": sizes, "clusters": 1, "cluster_size": 16, "load": load}
    if max_size:
        spread["max_size"] = max_size
    return floodway.Scenario(
        name=name,
        arrivals=arrivals,
        limit="40ms",
        seed=SEARCH,
        share_hosts=True,
        placement="consecutive",
        topology={
            "clos": {
                "leaves": 4,
                "spines": 2,
                "hosts_per_leaf": 4,
                "host_rate": "100Gbps",
                "fabric_rate": "200Gbps",
                "host_delay": "1us",
                "fabric_delay": "1us",
            }
        },
        switch={
            "queue": {"size": "4MB"},
            "aqm": {"ramp": curve},
            "flow_control": {
                "pfc": {"xoff": "750KB", "xon": "600KB", "measured_on": "egress_queue"}
            },
        },
        host={
            "congestion": {
                "dcqcn": {
                    "variant": "nic",
                    "cnp_interval": "4us",
                    "alpha_timer": "1us",
                    "byte_counter": "0B",
                    "increase_timer": "300us",
                    "additive_increase": "20Mbps",
                    "hyper_increase": "200Mbps",
                    "fast_recovery": 1,
                }
            }
        },
        workload=[{"many_to_many": spread}, *more],
    )


INCAST = {"incast_series": {"hosts": 16, "senders": 12, "bytes": "100KB", "load": 0.05}}
LARGE = "1MB_to_10MB_fct_mean_ns <= 1.02 * baseline"
CASES = {
    "web search": (
        scenario("web-search", "web_search", 0.5, SCRIPT, "2ms", "5MB"),
        "under_100KB_slowdown_mean",
        LARGE,
    ),
    "hadoop": (
        scenario("hadoop", "facebook_hadoop", 0.5, SCRIPT, "1ms", "5MB"),
        "under_100KB_slowdown_p99",
        LARGE,
    ),
    "data mining": (
        scenario("data-mining", "data_mining", 0.5, DECK, "1ms", "5MB"),
        "under_100KB_slowdown_p99",
        LARGE,
    ),
    "RPC and incast": (
        scenario("rpc-incast", "google_all_rpc", 0.4, DECK, "500us", more=[INCAST]),
        "under_100KB_slowdown_p99",
        "100KB_to_1MB_fct_mean_ns <= 1.02 * baseline",
    ),
}


def main(out, names):
    """Tune the cases, and print the rows of the table."""
    for name in names or CASES:
        case, objective, large = CASES[name]
        answer = floodway.tune(
            case,
            objective,
            VARY,
            subject_to=["dropped_packets == 0", large],
            held_out={"load 0.3": {"workload.0.many_to_many.load": 0.3}},
            rules={"DCQCN paper": PAPER},
            trials=24,
            replications=5,
            held_out_replications=16,
            held_out_seed=TEST,
            out=Path(out) / case.name,
            progress=lambda line: print(line, file=sys.stderr, flush=True),
        )
        answer.page(answer.path / "tune.html")
        words = floodway.Answer.words
        values = ", ".join(f"{key.split('.')[-1]} {of}" for key, of in answer.values.items())
        cells = [
            name,
            f"`{objective}`",
            values,
            words(answer.tested()),
            words(answer.rival("DCQCN paper")),
            ", ".join(f"`{of}`" for of in answer.broken) or "all kept",
        ]
        print("| " + " | ".join(cells) + " |", flush=True)
        for sentence in answer.answer:
            print("  " + sentence, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])

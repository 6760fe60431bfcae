//! The numbers of these claims, each with its rule and with what was expected before the runs that count.
//!
//! Expectations follow from the deck's numbers as far as they go: rates, round trips, buffers. Single
//! short runs with `seed=7` showed that the scenarios run; no tolerance is from them.

use crate::claim::{Rule, rows_alike};
use crate::evidence::{Evidence, Facts};
use crate::flows::FlowGroup;
use crate::measure::{Measured, unpaired_contrast};
use crate::traffic::Traffic;

use super::{SIZES, UDP};
use crate::sfc::{INCAST, MEDIUM, NATIVE, PFC, PROXY, SHORT, case};

const SCALE: &str = "conclusion, future work: bigger scale";
const ROUND_TRIPS: &str = "conclusion, future work: higher RTT";
const TRANSPORTS: &str = "high level concept";
const LOWER: &str = "lower than with PFC (not shown)";

/// The mean completion time of a group compared with PFC.
fn fct(group: FlowGroup) -> impl Fn(&Evidence, &'static str, &'static str) -> Measured {
    move |evidence, experiment, variant| {
        evidence.fct_change(case(experiment, PFC), case(experiment, variant), group)
    }
}

/// The mean number of bytes in a switch compared with PFC.
fn occupancy(evidence: &Evidence, experiment: &'static str, variant: &'static str) -> Measured {
    let bytes = |facts: &Facts| facts.number("switch_mean_occupancy_bytes");
    evidence.change(case(experiment, PFC), case(experiment, variant), bytes)
}

fn dropped(evidence: &Evidence, experiment: &'static str, variant: &'static str) -> Measured {
    evidence.most(case(experiment, variant), "packets", Facts::all_drops)
}

/// How the gain in the largest network compares with that in the smallest. Their traffic differs, so
/// replications are not paired.
fn gain_by_size(evidence: &Evidence, largest: &'static str, variant: &'static str) -> Measured {
    let logs =
        |experiment| evidence.fct_logs(case(experiment, PFC), case(experiment, variant), SHORT);
    unpaired_contrast(&logs(largest), &logs(SIZES[0].0))
}

rows_alike! { SHORT_AT_SCALE, "N1a": "mean completion time of background messages < 10 KB, with SFC vs. PFC",
    claimed LOWER, in SCALE, Rule::Less(10.0), fct(SHORT);
    "1,024 hosts, proxy": "scale-1024" PROXY,
        "about -70 %: as with 320 hosts, less because PFC has had 1.2 ms to spread and not 5";
    "1,024 hosts, native": "scale-1024" NATIVE, "about -80 %, likewise";
}

rows_alike! { MEDIUM_AT_SCALE, "N1b":
    "mean completion time of background messages of 10 KB to 1 MB, with SFC vs. PFC",
    claimed LOWER, in SCALE, Rule::Less(10.0), fct(MEDIUM);
    "1,024 hosts, proxy": "scale-1024" PROXY,
        "about -20 %: every host is in as many incasts as with 320 hosts, so NICs are paused as long";
    "1,024 hosts, native": "scale-1024" NATIVE, "about -85 %";
}

rows_alike! { GAIN_AT_SCALE, "N1c": "ratio of the mean completion times of background messages < 10 KB \
    with SFC to PFC, with 1,024 hosts vs. 128",
    claimed "the gain holds in larger networks (not shown)", in SCALE, Rule::NotAbove(50.0), gain_by_size;
    "proxy": "scale-1024" PROXY,
        "about 0: load, incasts and switches are the same for each host; PFC's pauses cross the cores \
         at any number of pods";
    "native": "scale-1024" NATIVE, "about 0, likewise";
}

rows_alike! { SHORT_BY_RTT, "N2a": "mean completion time of background messages < 10 KB, with SFC vs. PFC",
    claimed LOWER, in ROUND_TRIPS, Rule::Less(10.0), fct(SHORT);
    "10 µs, proxy": "rtt-10" PROXY, "about -75 %: PFC stops all that goes to the receiver's building";
    "10 µs, native": "rtt-10" NATIVE, "about -85 %";
    "29 µs, proxy": "rtt-29" PROXY, "about -70 %";
    "29 µs, native": "rtt-29" NATIVE, "about -80 %";
    "109 µs, proxy": "rtt-109" PROXY, "about -65 %: half of the messages take 50 µs anyway";
    "109 µs, native": "rtt-109" NATIVE, "about -70 %";
    "209 µs, proxy": "rtt-209" PROXY, "about -50 %";
    "209 µs, native": "rtt-209" NATIVE, "about -55 %";
    "109 µs, window 15 µs, proxy": "rtt-109-fixed" PROXY,
        "about -20 %: a window of an eighth of the round trip leaves PFC little to stop";
    "109 µs, window 15 µs, native": "rtt-109-fixed" NATIVE, "about -20 %";
    "109 µs, thresholds by RTT, proxy": "rtt-109-all" PROXY, "about -50 %: queues of 900 KB are 73 µs";
    "109 µs, thresholds by RTT, native": "rtt-109-all" NATIVE, "about -50 %";
}

rows_alike! { OCCUPANCY_BY_RTT, "N2b": "mean number of bytes in a switch over time and switches, with SFC vs. \
    PFC",
    claimed LOWER, in ROUND_TRIPS, Rule::Less(10.0), occupancy;
    "10 µs, proxy": "rtt-10" PROXY, "about -90 %";
    "10 µs, native": "rtt-10" NATIVE, "about -80 %";
    "29 µs, proxy": "rtt-29" PROXY, "about -80 %";
    "29 µs, native": "rtt-29" NATIVE, "about -70 %";
    "109 µs, proxy": "rtt-109" PROXY,
        "less, by some -50 %: 8 MB wait before the first message arrives, and PFC's headroom fills too";
    "109 µs, native": "rtt-109" NATIVE, "likewise";
    "209 µs, proxy": "rtt-209" PROXY, "likewise";
    "209 µs, native": "rtt-209" NATIVE, "likewise";
}

/// Sixteen senders and one receiver, all at 100 Gb/s, 1086 of 1106 bytes on the wire: the queue grows by
/// 184 KB a microsecond, half a microsecond to the trigger, and a round trip less the receiver's own
/// link, 1 µs, until the first message has an effect. Half of 16 MB and 50 KB, 8.05 MB, is the most of a
/// port, reached after 44 µs. All 16 messages are 33.9 MB. Background, half of the receiver's link, adds 3 %.
const NEAR: &str = "none: 1.7 MB by the first reaction, of 8.05 MB that a port may have";
const MIDDLE: &str = "none: 5.2 MB by the first reaction, of 8.05 MB that a port may have";
const FAR: &str = "some: 19.9 MB by the first reaction, 8.05 MB that a port may have; at most 10,900 \
    packets at first, fewer as far as paths are uneven and other switches hold a part of it";
const FARTHEST: &str = "some: the whole messages, 31.8 MB less what leaves, are there before the first \
    reaction, 8.05 MB that a port may have; at most 21,900 packets at first, fewer likewise";
const FIXED: &str = "none: windows let 3.2 MB be in flight, of 8.05 MB that a port may have";

rows_alike! { DROPS_BY_RTT, "N2c": "packets that switches drop, the most of any run",
    claimed "none", in "conclusion", Rule::AtMost(0.0), dropped;
    "10 µs, proxy": "rtt-10" PROXY, NEAR;
    "10 µs, native": "rtt-10" NATIVE, NEAR;
    "29 µs, proxy": "rtt-29" PROXY, MIDDLE;
    "29 µs, native": "rtt-29" NATIVE, MIDDLE;
    "109 µs, proxy": "rtt-109" PROXY, FAR;
    "109 µs, native": "rtt-109" NATIVE, FAR;
    "209 µs, proxy": "rtt-209" PROXY, FARTHEST;
    "209 µs, native": "rtt-209" NATIVE, FARTHEST;
    "109 µs, window 15 µs, proxy": "rtt-109-fixed" PROXY, FIXED;
    "109 µs, window 15 µs, native": "rtt-109-fixed" NATIVE, FIXED;
    "209 µs, window 15 µs, proxy": "rtt-209-fixed" PROXY, FIXED;
    "209 µs, window 15 µs, native": "rtt-209-fixed" NATIVE, FIXED;
    "109 µs, thresholds by RTT, proxy": "rtt-109-all" PROXY, FAR;
    "109 µs, thresholds by RTT, native": "rtt-109-all" NATIVE, FAR;
    "209 µs, thresholds by RTT, proxy": "rtt-209-all" PROXY, FARTHEST;
    "209 µs, thresholds by RTT, native": "rtt-209-all" NATIVE, FARTHEST;
}

const AS_PFC: &str = "about 0: the link of the receiver is busy all the time with either";
const AGAIN: &str = "longer by 10 % and more: what was dropped is asked for once in 500 µs";

rows_alike! { INCAST_BY_RTT, "N2d": "mean completion time of the incast's messages, with SFC vs. PFC",
    claimed "not longer", in ROUND_TRIPS, Rule::NotAbove(5.0), fct(INCAST);
    "10 µs, proxy": "rtt-10" PROXY, AS_PFC;
    "10 µs, native": "rtt-10" NATIVE, AS_PFC;
    "29 µs, proxy": "rtt-29" PROXY, AS_PFC;
    "29 µs, native": "rtt-29" NATIVE, AS_PFC;
    "109 µs, proxy": "rtt-109" PROXY, AGAIN;
    "109 µs, native": "rtt-109" NATIVE, AGAIN;
    "209 µs, proxy": "rtt-209" PROXY, AGAIN;
    "209 µs, native": "rtt-209" NATIVE, AGAIN;
}

const QUIET: &str = "no clear change: DCTCP keeps queues near 50 KB, and the first windows of 120 \
    connections, 1.7 MB, are below XOFF at each of five ingress ports";

rows_alike! { OVER_TCP, "N3a": "mean completion time of TCP messages < 10 KB, with SFC vs. PFC",
    claimed LOWER, in TRANSPORTS, Rule::Less(10.0), fct(SHORT);
    "DCTCP, incasts over RoCEv2, proxy": "dctcp-rocev2" PROXY, "about -70 %";
    "DCTCP, incasts over RoCEv2, native": "dctcp-rocev2" NATIVE,
        "about -70 %: NICs hold back TCP by destination as they do RoCEv2; what is left are SYNs that \
         ECN's threshold drops, with a timeout of 1 ms";
    "Cubic, incasts over RoCEv2, proxy": "cubic-rocev2" PROXY, "about -80 %";
    "Cubic, incasts over RoCEv2, native": "cubic-rocev2" NATIVE,
        "about -90 %: without ECN nothing but flow control keeps queues short";
    "DCTCP, incasts too, proxy": "dctcp" PROXY,
        "longer: the first windows of an incast pass 100 KB, and each stops 120 NICs";
    "DCTCP, incasts too, native": "dctcp" NATIVE, QUIET;
    "Cubic, incasts too, proxy": "cubic" PROXY, "about -60 %";
    "Cubic, incasts too, native": "cubic" NATIVE, "about -80 %";
}

rows_alike! { INCASTS_OVER_TCP, "N3b": "mean completion time of incast messages, with SFC vs. PFC",
    claimed "not longer", in TRANSPORTS, Rule::NotAbove(5.0), fct(INCAST);
    "DCTCP, incasts over RoCEv2, proxy": "dctcp-rocev2" PROXY, "open: about as with RoCEv2 alone (E4)";
    "DCTCP, incasts over RoCEv2, native": "dctcp-rocev2" NATIVE, "about -30 %, as with RoCEv2 alone";
    "Cubic, incasts over RoCEv2, proxy": "cubic-rocev2" PROXY, "open";
    "Cubic, incasts over RoCEv2, native": "cubic-rocev2" NATIVE, "less";
    "DCTCP, incasts too, proxy": "dctcp" PROXY, "longer, as other messages";
    "DCTCP, incasts too, native": "dctcp" NATIVE, "about 0";
    "Cubic, incasts too, proxy": "cubic" PROXY, "open";
    "Cubic, incasts too, native": "cubic" NATIVE, "less";
}

/// Of the datagrams that were sent, the share that was dropped.
fn lost_datagrams(
    evidence: &Evidence,
    experiment: &'static str,
    variant: &'static str,
) -> Measured {
    evidence.most(case(experiment, variant), "% of datagrams", |facts| 100.0 * lost_share(facts))
}

/// The same in one run.
pub fn lost_share(facts: &Facts) -> f64 {
    facts.of_workload(UDP, |of| of.lost as f64 / of.sent as f64)
}

/// The datagrams that arrived in a run.
pub fn arrived(facts: &Facts) -> f64 {
    facts.of_workload(UDP, Traffic::arrived)
}

/// The change of what arrives, from Source Flow Control to PFC.
fn fewer_datagrams(e: &Evidence, experiment: &'static str, variant: &'static str) -> Measured {
    e.change(case(experiment, variant), case(experiment, PFC), arrived)
}

rows_alike! { OVER_UDP, "N3c": "number of UDP datagrams that arrive, with PFC vs. SFC",
    claimed "works with UDP", in TRANSPORTS, Rule::NotAbove(5.0), fewer_datagrams;
    "beside DCTCP and RoCEv2, proxy": "dctcp-rocev2" PROXY,
        "about -10 %: either stops NICs as a whole, the proxy no longer than PFC";
    "beside DCTCP and RoCEv2, native": "dctcp-rocev2" NATIVE,
        "less with PFC, by a third: a NIC that is stopped does not send the same later";
    "beside Cubic and RoCEv2, proxy": "cubic-rocev2" PROXY, "likewise";
    "beside Cubic and RoCEv2, native": "cubic-rocev2" NATIVE, "likewise";
}

rows_alike! { UDP_OVERLOAD, "N3d": "share of the datagrams of 16 UDP flows that are dropped if they offer 160 % of \
    their receiver's link, the most of any run",
    claimed "works with UDP", in TRANSPORTS, Rule::AtMost(0.1), lost_datagrams;
    "proxy": "udp-overload" PROXY,
        "none: it is stopped from 100 KB on, and 16 MB have room for a round trip of 160 Gb/s, 240 KB. \
         Without flow control 38 % are too many";
    "native": "udp-overload" NATIVE, "none, likewise";
}

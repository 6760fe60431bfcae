//! Claims about results, each with the rule that judges it and what was expected before the runs.
//!
//! The study runs on traffic of its own (`seed=3`). Rules were chosen before the first run, from
//! theory and from a rough model that was made before this simulator had TCP; the limits of the laws
//! (C4) were revised after previews with `seed=7`. What was expected is what an earlier version
//! measured with `seed=2`, and theory for what it did not have. After that version, and before the
//! runs with `seed=3`, equal rates got a narrower band, in which the whole interval has to lie
//! ([`super::measures::EQUAL`]): a factor of 2 had counted as equal. Where a text says "open",
//! nothing of the kind had been measured.

pub mod alone;
pub mod further;
pub mod laws;
pub mod mixes;

use crate::claim::Claim;

/// The claims that are not checks, in the words of the deck; in brackets, in our words, those of the
/// papers and of RFC 9332.
pub const CLAIMS: &[Claim] = &[
    Claim::new(
        "C2",
        "Smooth and delay a drop or mark to allow bursts [Reno] – Don't smooth or delay queue size, \
         shallower marking threshold [DCTCP]",
    ),
    Claim::new(
        "C3",
        "DCTCP does not work on traditional RED-ECN … HIGH drop … continuous FULL queues",
    ),
    Claim::new(
        "C4",
        "Steady state rate has been calculated for existing CC schemes: 1.22 / (p^(1/2) RTT) for Reno, \
         1.17 / (p^(3/4) RTT^(1/4)) for Cubic … DCTCP running in non-on/off mode behaves as 2 / (p RTT)",
    ),
    Claim::new(
        "C5a",
        "DCTCP behaves exactly as Reno if we correctly correlate marking and dropping",
    ),
    Claim::new("C5b", "DCTCP behaves \"too\" exactly as Reno … No latency gain"),
    Claim::new("C6", "ZERO Q latency"),
    Claim::new(
        "C7a",
        "Throughput … AQM = DualQ Coupled … Y-axis: all rows: 0 – (80 / <nbr_flows>) Mbps",
    ),
    Claim::new(
        "C7b",
        "Q size PDF … AQM = DualQ Coupled … X-axis: 0 – 300 packets (450 Kbytes, 90/w ms)",
    ),
    Claim::new("C8a", "Throughput ratio (Cubic / DCTCP): RED AQM"),
    Claim::new("C8b", "Throughput ratio (Cubic / DCTCP): DualQ Coupled AQM"),
    Claim::new(
        "C8c",
        "How should an AQM guarantee an equal steady state rate for flows with different congestion \
         control schemes",
    ),
    Claim::new(
        "P1a",
        "[PI2: equal rates of coexisting flows on links of 4 to 200 Mb/s and 5 to 100 ms, on average]",
    ),
    Claim::new("P1b", "[PI2: the same, on each of these links]"),
    Claim::new("P2", "[PI2 and DualPI2 hold the queuing delay at its target]"),
    Claim::new(
        "P3",
        "[DualQ: median queuing delay of 100 to 300 us, 99th percentile below 2 ms, zero congestion \
         loss, near-full utilization]",
    ),
    Claim::new("P4", "[On overload, delay stays bounded]"),
    Claim::new("P5", "Low latency and high throughput for adaptive interactive applications"),
    Claim::new("P6", "[Roughly equal flow rates with today's congestion controls]"),
];

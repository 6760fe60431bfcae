//! The claims in the words of the decks.

use floodway_report::words;

use crate::claim::Claim;
use crate::evidence::Evidence;
use crate::exhibit::moves;
use crate::flows::FlowGroup;

use super::super::{ALL, CI, MICE, WITHOUT, case};
use super::{THREE, TWO, both, paused, pauses};

/// All that are not checks of the set-up.
pub const CLAIMS: &[Claim] = &[
    Claim::new(
        "A1",
        "Lossless environment with PFC – Reduction in Flow Completion Times 63% (Mice), 23% \
         (Elephants), 38% (Average)",
    ),
    Claim::new(
        "A2",
        "Lossless with PFC – Reduction in Pause Frame Counts 84% (switch model dependent)",
    ),
    Claim::new(
        "A3",
        "Lossy environment without PFC – Reduction in Overall Packet Loss Rate 66%",
    ),
    Claim::new("A6", "The mice benefit the most.").told(&by_size),
    Claim::new(
        "A7",
        "With 3 queue model both \"without CI\" and \"CI\" have mice prioritization mechanism. The \
         performance of the mice is not improved as much.",
    )
    .told(&|evidence| by_queues(evidence, MICE, "mice")),
    Claim::new("A8a", "CI reduces Pause frame count and XOFF duration."),
    Claim::new("A8b", "XOFF duration is less significant than Pause frame count").told(&|evidence| {
        let (from, to) = both(evidence, TWO);
        format!(
            "With isolation, the number of pause frames {}, and the paused time {}.",
            moves(&evidence.change(from, to, pauses)),
            moves(&evidence.change(from, to, paused))
        )
    }),
    Claim::new("A9", "Adding CI allows the data center size to scale.").told(&by_servers),
    Claim::new(
        "A10a",
        "If lossless operation is NOT a requirement, CI works without enabling PFC",
    ),
    Claim::new("A10b", "CI can perform local isolation only, without signaling"),
    Claim::new(
        "A10c",
        "CI can coordinate isolation with upstream neighbors – best performance",
    ),
    Claim::new(
        "D3",
        "In 2 queue model without mice prioritization, CI performs even better. The mice benefit the \
         most.",
    )
    .told(&|evidence| {
        let [all, mice] = [(ALL, "all flows"), (MICE, "mice")]
            .map(|(group, name)| by_queues(evidence, group, name));
        format!("{all} {mice}")
    }),
    Claim::new(
        "D5a",
        "Only change PFC XOFF threshold from 750KB to 1500KB … Performance improvement is achieved \
         because fewer pause and CNP frames are triggered",
    ),
    Claim::new("D5b", "… large flows are affected more than small flows [XOFF 1500KB]")
        .told(&|evidence| by_threshold(evidence, "memory-xoff")),
    Claim::new(
        "D6a",
        "Only change the CI high threshold from 300KB to 600KB … Performance improvement is achieved \
         because fewer pause and CNP frames are triggered",
    ),
    Claim::new("D6b", "… still large flows are affected more than small flows [high 600KB]")
        .told(&|evidence| by_threshold(evidence, "memory-high")),
    Claim::new(
        "D8",
        "For the elephant, the increment is 200us, which is much more than 1.2us, mainly because of \
         more pause frames.",
    ),
    Claim::new("D9a", "CI makes the average queue depth of non-congested queue quite low."),
    Claim::new(
        "D9b",
        "The max queue depth of non-congested queue never exceeds the PFC threshold due to the \
         immediate isolation of congested flows.",
    ),
    Claim::new(
        "D9c",
        "With CI, HOLB never occur in Queue 1 because PFC XOFF threshold never be exceeded.",
    ),
    Claim::new(
        "D11",
        "For queue 0 (congested), fewer queues across the fabric suffer from congestion because with \
         CI fewer flows are in the congested queue.",
    ),
    Claim::new(
        "D12a",
        "CI reduces packet loss rate … CI reduces the number of flows experiencing packet loss.",
    ),
    Claim::new(
        "D12b",
        "Only packets from congested flows are dropped. Non-congested queue never fills.",
    ),
    Claim::new(
        "D13",
        "Threshold setting seems critical for the congested flows, but not for the non-congested \
         flows.",
    )
    .told(&|evidence| {
        let of = |experiment| by_threshold(evidence, experiment);
        format!("{} {}", of("memory-xoff"), of("memory-high"))
    }),
    Claim::new("N1a", "Improve performance of TCP and UDP based flows [TCP flows < 100 KB]")
        .for_each("congestion control and flow control"),
    Claim::new("N1b", "Improve performance of TCP and UDP based flows [all TCP flows]")
        .for_each("congestion control and flow control"),
    Claim::new("N1c", "Improve performance of TCP and UDP based flows [fewer datagrams are dropped]")
        .for_each("congestion control"),
    Claim::new("N1d", "Improve performance of TCP and UDP based flows [more datagrams arrive, with PFC]")
        .for_each("congestion control"),
    Claim::new("N2a", "Reduce pressure on switch buffer growth [mice, a quarter of the buffer]")
        .for_each("network"),
    Claim::new("N2b", "Reduce pressure on switch buffer growth [all flows, a quarter of the buffer]")
        .for_each("network"),
    Claim::new("N2c", "Reduce pressure on switch buffer growth [pauses, a quarter of the buffer]")
        .for_each("network"),
    Claim::new("N2d", "Reduce pressure on switch buffer growth [losses, a quarter of the buffer]")
        .for_each("network"),
];

fn by_size(evidence: &Evidence) -> String {
    let (from, to) = both(evidence, TWO);
    let of = |group: &FlowGroup| {
        format!("{}: {}", group.label, moves(&evidence.fct_change(from, to, *group)))
    };
    let groups: Vec<String> = super::super::GROUPS.iter().map(of).collect();
    format!("With isolation, the mean completion time changes as follows: {}.", groups.join("; "))
}

/// How isolation changes a group with two queues and with three.
fn by_queues(evidence: &Evidence, group: FlowGroup, name: &str) -> String {
    let change = |experiment| {
        moves(&evidence.fct_change(case(experiment, WITHOUT), case(experiment, CI), group))
    };
    format!(
        "With isolation, the mean completion time of {name} {} with two queues, and {} with three.",
        change(TWO),
        change(THREE)
    )
}

/// How isolation changes all flows, by the size of the fabric.
fn by_servers(evidence: &Evidence) -> String {
    let sizes = super::super::plan::SIZES.iter();
    let run = sizes.filter(|(name, _)| evidence.has(case(name, CI)));
    let of = |(name, servers): &(&'static str, f64)| {
        let change = evidence.fct_change(case(name, WITHOUT), case(name, CI), ALL);
        format!("{} with {servers} servers", moves(&change))
    };
    let sizes: Vec<String> = run.map(of).collect();
    match sizes.is_empty() {
        true => "Not measured.".to_owned(),
        false => {
            format!(
                "With isolation, the mean completion time of all flows {}.",
                words::list(&sizes)
            )
        }
    }
}

/// How a higher threshold changes elephants and mice, with isolation.
fn by_threshold(evidence: &Evidence, experiment: &'static str) -> String {
    let what = match experiment {
        "memory-xoff" => "XOFF at 1500 KB",
        _ => "the high threshold at 600 KB",
    };
    let change = |group| moves(&super::variations::varied(evidence, experiment, group));
    format!(
        "With {what} and isolation, the mean completion time of flows > 10 MB {}, and that of mice {}.",
        change(super::super::ELEPHANTS),
        change(MICE)
    )
}

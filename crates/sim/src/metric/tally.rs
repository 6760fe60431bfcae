//! Counters of mechanisms, summed over nodes: one row here is one counter in the results.
//!
//! A tally is taken at the beginning and at the end of the measured interval, so that variants are
//! compared over the same time, however long each of them takes to finish.

use floodway_model::id::CLASSES;
use serde::{Deserialize, Serialize};

use crate::errors::Counts;

/// Counters of the ports of one tier, for one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pauses {
    /// XOFF frames sent, without refreshes.
    pub xoffs: u64,
    /// Time paused, in ps.
    pub paused: u64,
}

/// Counters of one tier, by class.
pub type Tier = [Pauses; CLASSES];

/// Declares the counters: field, name in results, meaning. Mechanisms that are off by default have
/// a separate method for their rows.
macro_rules! counters {
    (
        $($field:ident: $meaning:literal,)+
        $(; $rows:ident, there $when:literal: $($of_group:ident: $about:literal,)+)+
    ) => {
        /// Sums of the counters of nodes since the start of the run.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub struct Tally {
            $(#[doc = $meaning] pub $field: u64,)+
            $($(#[doc = $about] pub $of_group: u64,)+)+
            /// Packets dropped by switches, by the data queue that they were bound for: data, and
            /// feedback queued with data.
            pub queues: [u64; CLASSES],
            /// PFC frames, however many classes each covers, if one may cover several.
            pub pfc_frames: u64,
            /// By tier, hosts last.
            pub tiers: Vec<Tier>,
        }

        impl Tally {
            /// Adds the counters of other nodes.
            pub fn add(&mut self, other: &Self) {
                $(self.$field += other.$field;)+
                $($(self.$of_group += other.$of_group;)+)+
                self.pfc_frames += other.pfc_frames;
                for (mine, theirs) in self.queues.iter_mut().zip(other.queues) {
                    *mine += theirs;
                }
                for (number, theirs) in other.tiers.iter().enumerate() {
                    for (mine, theirs) in self.tier(number).iter_mut().zip(theirs) {
                        mine.xoffs += theirs.xoffs;
                        mine.paused += theirs.paused;
                    }
                }
            }

            /// The change since an earlier tally of the same nodes.
            pub fn since(&self, earlier: &Self) -> Self {
                let tier = |(number, now): (usize, &Tier)| -> Tier {
                    let before = earlier.tiers.get(number).copied().unwrap_or_default();
                    std::array::from_fn(|class| Pauses {
                        xoffs: now[class].xoffs - before[class].xoffs,
                        paused: now[class].paused - before[class].paused,
                    })
                };
                Self {
                    $($field: self.$field - earlier.$field,)+
                    $($($of_group: self.$of_group - earlier.$of_group,)+)+
                    pfc_frames: self.pfc_frames - earlier.pfc_frames,
                    queues: std::array::from_fn(|queue| self.queues[queue] - earlier.queues[queue]),
                    tiers: self.tiers.iter().enumerate().map(tier).collect(),
                }
            }

            /// Name, value and meaning of every counter, in a network with this many data queues.
            pub fn rows(&self, queues: usize) -> Vec<(String, u64, String)> {
                let mut rows =
                    vec![$((stringify!($field).to_owned(), self.$field, $meaning.to_owned()),)+];
                self.rows_of_queues(queues, &mut rows);
                self.rows_of_tiers(queues, &mut rows);
                rows
            }

            $(
                /// The same for the counters of a mechanism that is off by default. Results without
                /// the mechanism do not contain them.
                pub fn $rows(&self) -> Vec<(String, u64, String)> {
                    vec![$((
                        stringify!($of_group).to_owned(),
                        self.$of_group,
                        concat!($about, " There ", $when, " only.").to_owned(),
                    ),)+]
                }
            )+
        }
    };
}

impl Tally {
    /// Adds what bit errors did at a transmitter.
    pub fn count_errors(&mut self, counts: Counts) {
        self.corrupted_frames += counts.corrupted;
        self.replayed_frames += counts.replayed;
        self.lost_to_errors += counts.lost;
    }

    /// The counters of this tier, which is created if it does not exist.
    pub fn tier(&mut self, number: usize) -> &mut Tier {
        if self.tiers.len() <= number {
            self.tiers.resize(number + 1, Tier::default());
        }
        &mut self.tiers[number]
    }

    fn rows_of_queues(&self, queues: usize, rows: &mut Vec<(String, u64, String)>) {
        for (queue, &dropped) in self.queues[..queues].iter().enumerate() {
            rows.push((
                format!("dropped_packets_queue_{queue}"),
                dropped,
                format!(
                    "Packets bound for data queue {queue} of any port that switches dropped: data, and \
                     feedback that `switch.feedback` puts into that queue."
                ),
            ));
        }
    }

    fn rows_of_tiers(&self, classes: usize, rows: &mut Vec<(String, u64, String)>) {
        let hosts = self.tiers.len().saturating_sub(1);
        for (number, tier) in self.tiers.iter().enumerate() {
            let (key, who) = if number == hosts {
                ("hosts".to_owned(), "hosts".to_owned())
            } else {
                (format!("tier_{number}"), format!("switches of tier {number}"))
            };
            let sent = format!("Pause frames that {who} sent to stop");
            let stopped = format!("Time that ports of {who} were not allowed to send");
            let mut row = |name: String, value, meaning| rows.push((name, value, meaning));
            let sum = |of: fn(&Pauses) -> u64| tier.iter().map(of).sum::<u64>();
            row(
                format!("{key}_xoff_frames"),
                sum(|pauses| pauses.xoffs),
                format!("{sent} a class, without refreshes."),
            );
            row(
                format!("{key}_paused_ns"),
                sum(|pauses| pauses.paused) / 1_000,
                format!("{stopped} a class."),
            );
            for (class, pauses) in tier[..classes].iter().enumerate() {
                // Hosts obey pauses and send none.
                if number != hosts {
                    row(
                        format!("{key}_class_{class}_xoff_frames"),
                        pauses.xoffs,
                        format!("{sent} class {class}, without refreshes."),
                    );
                }
                row(
                    format!("{key}_class_{class}_paused_ns"),
                    pauses.paused / 1_000,
                    format!("{stopped} class {class}."),
                );
            }
        }
    }
}

// The meanings are values of a table, so they are part of fingerprints: another text, or spelling, makes other results.
counters! {
    pause_frames: "Pause frames that stop a class, refreshes included.",
    xoff_frames: "Pause frames that stop a class, without refreshes.",
    xon_frames: "Pause frames that let a class go on.",
    paused_ns: "Time that ports were not allowed to send a class, summed over ports and classes.",
    watchdog_storms: "Times that the watchdog of PFC found a queue in a storm of pauses.",
    watchdog_drops: "Packets dropped by it; they are no faults of a lossless class.",
    bfc_pauses: "Physical queues that switches told their neighbours to stop, once per pause.",
    bfc_resumes: "Physical queues that switches let go on, once per pause.",
    bfc_paused_ns: "Time that physical queues were paused, summed over those of switches and NICs.",
    bfc_collisions: "Flows that came with no packet waiting and found others in their physical queue, and senders that had to share one in a NIC.",
    drc_feedback_frames: "Feedback frames of Directional Rate Control that switches sent.",
    drc_cuts: "Times that a transmitter decreased the rate factor of a direction.",
    drc_stopped_ns: "Time that directions were stopped, summed over those of switches and NICs.",
    marked_packets: "Packets that a switch marked with CE, once per switch: data, and acknowledgements that `switch.feedback` puts among it.",
    indicated_packets: "Packets that a switch found congested and of which layer 2 told instead of a mark, once per switch.",
    indications_mapped: "Packets with a layer 2 indication that were ECN-capable, so that the NIC of the receiver set CE.",
    indications_passed: "Packets with a layer 2 indication that were not, and were passed on unchanged.",
    indications_sent: "Backward congestion indications that switches sent.",
    indications_received: "Backward congestion indications that the NICs of sources received.",
    cnms_sent: "Congestion notification messages (QCN) that switches sent.",
    cnms_received: "Congestion notification messages (QCN) that the hosts of sources received.",
    isolations: "Flows put into a stream table by the curve, once per port and time.",
    isolations_refused: "Packets whose flow was not isolated because the stream table was full.",
    isolations_evicted: "Entries of the stream table that made room for others.",
    cims_sent: "Congestion isolation messages that switches sent.",
    cims_received: "Congestion isolation messages that switches received; hosts get the others.",
    sfc_messages: "Source flow control messages that switches sent because a queue was too deep.",
    sfc_reminders: "Pauses and messages by which edge switches stopped hosts that sent to a paused destination.",
    sfc_proxy_pauses: "Pause frames that edge switches sent in place of source flow control messages.",
    sfc_holds_ns: "Time that hosts held back traffic to a paused destination, summed over hosts, destinations and classes.",
    cnps_sent: "Congestion notification packets that receivers sent.",
    naks_sent: "Negative acknowledgements that receivers sent.",
    timeouts: "Retransmission timeouts.",
    retransmitted_packets: "Data packets sent again.",
    reordered_packets: "Data packets that arrived after one of their flow that was sent later.",
    dropped_packets: "Packets dropped by switches, for any reason.",
    lost_on_links: "Frames that were on a link when it failed, or were sent there before that was known.",
    data_packets_sent: "Data packets that senders put on the wire.",
    data_bytes_delivered: "Payload that arrived, each byte once, of all flows.",
    persistent_bytes_delivered: "Payload that arrived, each byte once, of flows that never end.",
    ; rows_of_trimming, there "with `switch.overflow.trim`":
    trimmed_packets: "Data packets that switches trimmed, because they or others found no room.",
    headers_dropped: "Headers of trimmed packets that switches dropped, for any reason.",
    headers_received: "Headers of trimmed packets that arrived at receivers, each of which is answered by a NAK.",
    ; rows_of_credit, there "with a congestion control that has a receiver's half":
    credits_sent: "Credit frames that receivers sent, as NDP's pulls.",
    credits_received: "Credit frames that arrived at senders, also of flows that were complete.",
    ; rows_of_link_credit, there "with credit-based flow control":
    link_credits_sent: "Credit frames by which switches told neighbours of room for a class.",
    ; rows_of_cake, there "with the ACK filter of CAKE":
    acks_filtered: "Acknowledgements that CAKE dropped because a newer one in the same queue said as much.",
    ; rows_of_sleek, there "with `host.transport.uet.sleek`":
    inferred_losses: "Packets that senders took for lost because later ones had arrived, or by a probe; others are retransmitted after a NAK or a timeout.",
    requests_sent: "Requests of senders for an acknowledgement or for credit, probes included.",
    ; rows_of_errors, there "with bit errors or a retry on links":
    corrupted_frames: "Frames that arrived with a bit error, once for each time that they were sent.",
    replayed_frames: "Frames that a port sent again by its link-level retry, once for each time.",
    lost_to_errors: "Frames lost because of bit errors: all that had one, or those that a retry gave up.",
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two classes of one tier.
    fn tier(xoffs: [u64; 2], paused: [u64; 2]) -> Tier {
        let mut tier = Tier::default();
        for class in 0..2 {
            tier[class] = Pauses { xoffs: xoffs[class], paused: paused[class] };
        }
        tier
    }

    #[test]
    fn an_interval_is_the_difference_of_two_tallies() {
        let first = tier([2, 0], [10, 7]);
        let mut early = Tally { xoff_frames: 2, tiers: vec![first], ..Tally::default() };
        let mut other = Tally { xoff_frames: 1, ..Tally::default() };
        (other.queues[1], other.tiers) = (4, vec![tier([0, 3], [5, 0]), tier([1, 0], [0, 1])]);
        let mut late = early.clone();
        early.add(&Tally::default());
        late.add(&other);
        assert_eq!((late.xoff_frames, late.queues[..2].to_vec()), (3, vec![0, 4]));
        assert_eq!(late.tiers, [tier([2, 3], [15, 7]), tier([1, 0], [0, 1])]);
        assert_eq!(late.since(&early), other);
    }

    #[test]
    fn rows_are_of_tiers_and_of_their_classes() {
        let tiers = vec![tier([2, 3], [15_000, 7_000]), tier([0, 0], [1_000, 2_000])];
        let mut tally = Tally { tiers, ..Tally::default() };
        tally.queues[1] = 9;
        let rows = tally.rows(2);
        let of = |row: &(String, u64, String)| format!("{} {}", row.0, row.1);
        let at = rows.iter().position(|row| row.0 == "dropped_packets_queue_0").unwrap();
        let last: Vec<String> = rows[at..].iter().map(of).collect();
        assert_eq!(
            last,
            [
                "dropped_packets_queue_0 0",
                "dropped_packets_queue_1 9",
                "tier_0_xoff_frames 5",
                "tier_0_paused_ns 22",
                "tier_0_class_0_xoff_frames 2",
                "tier_0_class_0_paused_ns 15",
                "tier_0_class_1_xoff_frames 3",
                "tier_0_class_1_paused_ns 7",
                "hosts_xoff_frames 0",
                "hosts_paused_ns 3",
                "hosts_class_0_paused_ns 1",
                "hosts_class_1_paused_ns 2",
            ]
        );
    }
}

//! What the mechanisms did, summed over nodes: one row here is one counter in the results.
//!
//! A tally is taken when the measurement begins and when it ends, so that variants are compared
//! over the same stretch of time, however long each of them takes to finish.

/// Declares the counters: field, name in results, meaning.
macro_rules! counters {
    ($($field:ident: $meaning:literal,)+) => {
        /// Sums of what nodes have counted since the start of the run.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Tally {
            $(#[doc = $meaning] pub $field: u64,)+
            /// By tier, hosts last: XOFF frames sent, and time not allowed to send, ps.
            pub tiers: Vec<(u64, u64)>,
        }

        impl Tally {
            /// Adds what other nodes have counted.
            pub fn add(&mut self, other: &Self) {
                $(self.$field += other.$field;)+
                self.tiers.resize(self.tiers.len().max(other.tiers.len()), (0, 0));
                for (mine, theirs) in self.tiers.iter_mut().zip(&other.tiers) {
                    *mine = (mine.0 + theirs.0, mine.1 + theirs.1);
                }
            }

            /// What has been counted since an earlier tally of the same nodes.
            pub fn since(&self, earlier: &Self) -> Self {
                let tier = |(tier, now): (usize, &(u64, u64))| {
                    let before = earlier.tiers.get(tier).copied().unwrap_or_default();
                    (now.0 - before.0, now.1 - before.1)
                };
                Self {
                    $($field: self.$field - earlier.$field,)+
                    tiers: self.tiers.iter().enumerate().map(tier).collect(),
                }
            }

            /// Name, value and meaning of every counter.
            pub fn rows(&self) -> Vec<(String, u64, String)> {
                let mut rows =
                    vec![$((stringify!($field).to_owned(), self.$field, $meaning.to_owned()),)+];
                let hosts = self.tiers.len().saturating_sub(1);
                for (tier, (xoffs, paused)) in self.tiers.iter().enumerate() {
                    let (key, who) = if tier == hosts {
                        ("hosts".to_owned(), "hosts".to_owned())
                    } else {
                        (format!("tier_{tier}"), format!("switches of tier {tier}"))
                    };
                    rows.push((
                        format!("{key}_xoff_frames"),
                        *xoffs,
                        format!("Pause frames that {who} sent to stop a class, without refreshes."),
                    ));
                    rows.push((
                        format!("{key}_paused_ns"),
                        paused / 1_000,
                        format!("Time that ports of {who} were not allowed to send a class."),
                    ));
                }
                rows
            }
        }
    };
}

counters! {
    pause_frames: "Pause frames that stop a class, refreshes included.",
    xoff_frames: "Pause frames that stop a class, without refreshes.",
    xon_frames: "Pause frames that let a class go on.",
    paused_ns: "Time that ports were not allowed to send a class, summed over ports and classes.",
    marked_packets: "Data packets that a switch marked with CE, once per switch.",
    isolations: "Flows put into a stream table by the curve, once per port and time.",
    isolations_refused: "Packets whose flow was not isolated because the stream table was full.",
    cims_sent: "Congestion isolation messages that switches sent.",
    cims_received: "Congestion isolation messages that switches received; hosts get the others.",
    cnps_sent: "Congestion notification packets that receivers sent.",
    naks_sent: "Negative acknowledgements that receivers sent.",
    timeouts: "Retransmission timeouts.",
    retransmitted_packets: "Data packets sent again.",
    dropped_packets: "Packets dropped by switches, for any reason.",
    data_packets_sent: "Data packets that senders put on the wire.",
    data_bytes_delivered: "Payload that arrived in order, of all flows.",
    persistent_bytes_delivered: "Payload that arrived in order, of flows that never end.",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_is_the_difference_of_two_tallies() {
        let mut early = Tally { xoff_frames: 2, tiers: vec![(2, 10)], ..Tally::default() };
        let other = Tally { xoff_frames: 1, tiers: vec![(0, 5), (1, 0)], ..Tally::default() };
        let mut late = early.clone();
        early.add(&Tally::default());
        late.add(&other);
        assert_eq!((late.xoff_frames, late.tiers.clone()), (3, vec![(2, 15), (1, 0)]));
        assert_eq!(late.since(&early), other);
    }
}

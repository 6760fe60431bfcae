//! Loss recovery: what a sender retransmits after a loss, and its timeouts.

pub mod go_back_n;
pub mod selective_repeat;
mod trimmed;

use floodway_model::Duration;

floodway_model::family! {
    /// Loss recovery: what is retransmitted after a loss, and when.
    "host.transport.rocev2.recovery":
    GoBackN = "go_back_n" (go_back_n::Spec):
        "Everything from the first missing packet on is sent again, as RoCEv2 NICs do it.",
    SelectiveRepeat = "selective_repeat" (selective_repeat::Spec):
        "Only what is missing is sent again, as in IRN (SIGCOMM 2018).",
}

impl Default for Spec {
    fn default() -> Self {
        Self::GoBackN(go_back_n::Spec::default())
    }
}

impl Spec {
    /// The timeout fields, with their values.
    pub(super) fn timeouts(&self) -> Vec<(String, Duration)> {
        let path = |field: &str| format!("recovery.{}.{field}", self.name());
        match self {
            Self::GoBackN(spec) => vec![(path("retransmit_timeout"), spec.retransmit_timeout)],
            Self::SelectiveRepeat(spec) => vec![
                (path("retransmit_timeout"), spec.retransmit_timeout),
                (path("retransmit_timeout_low"), spec.retransmit_timeout_low),
            ],
        }
    }

    /// Time without progress after which a sender considers packets lost, with this many sent and
    /// not acknowledged.
    #[inline]
    pub fn timeout(&self, in_flight: u32) -> Duration {
        match self {
            Self::GoBackN(spec) => spec.retransmit_timeout,
            Self::SelectiveRepeat(spec) if in_flight < spec.low_timeout_packets => {
                spec.retransmit_timeout_low
            }
            Self::SelectiveRepeat(spec) => spec.retransmit_timeout,
        }
    }
}

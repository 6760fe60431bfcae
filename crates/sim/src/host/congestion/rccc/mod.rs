//! RCCC, the receiver-credit congestion control of Ultra Ethernet (1.0, section 3.6.14; heritage: EQDS,
//! Olteanu et al., NSDI 2022). A receiving host knows all senders of its link and gives them credit, a
//! little less than the link carries. A sender has a first credit, which it may use at once, and after
//! that sends only what it has credit for. Each packet states the total credit that the sender asks for,
//! and each credit the total that it got, so that a later message makes up for a lost one.
//!
//! With `nscc`, a packet is sent if credit and the window of [`nscc`] both permit it: the window for the
//! links between switches, and credit for the link of the receiver. A packet that was trimmed at the port
//! of its destination then leaves the window as it is. Ports to hosts should not mark either:
//! `switch.marks_to_hosts = false`.
//!
//! Bytes are those on the wire, with preamble and gap. In what a sender asks for, a packet of full size
//! stands for any packet. The specification's chapter was not available: the rules are those of public
//! notes about it and, where these give none, of the consortium's simulator uet-htsim (commit 40ccb05).
//!
//! Choices where these leave details open, and simplifications:
//!
//! - A packet states the credit that it asks for in full packets, modulo 1024, so that a sender asks for
//!   at most [`FARTHEST`] packets in advance. Ultra Ethernet has 24 bits.
//! - A sender that has no credit, and whose requests have all been granted, requests credit at once. If
//!   credit does not come within the retransmission timeout of the transport, it requests again, and
//!   then after twice that time. A receiver answers a request even if nothing remains to be granted,
//!   because the last credit may have been lost.
//! - With `slow_credit`, a receiver for whose credit no flow waits gives some to flows that ask for none,
//!   so that they have it when they need it, and so that it makes up for lost credit. A context ends with
//!   its message here, so that flows get it which have been granted everything and are not complete.
//! - With `credit_timeout`, a receiver repeats the total of a flow of which nothing has come for so long.
//!   The specification has a timeout of credit at the destination (section 3.6.14.5); what it does there
//!   and how long it is are assumed.
//! - Not modeled: the control of the pace by marks and trimmed packets that uet-htsim has for
//!   oversubscribed networks.

mod pacer;
mod sender;
#[cfg(test)]
mod tests;

use floodway_model::check::{Check, Findings};
use floodway_model::{Bytes, Duration, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{Around, Network};
use super::{Control, nscc};
use crate::host::transport;
use floodway_model::packet::Entropy;

pub use pacer::Pacer;
pub use sender::State;

/// The most packets that a sender asks for in advance: half of what a packet can distinguish.
pub const FARTHEST: u64 = Entropy::TARGETS as u64 / 2 - 1;

/// Parameters of RCCC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Round-trip time without queueing from which the first credit is derived. Default none: that of
    /// the hosts farthest apart, for a full packet and its acknowledgement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_rtt: Option<Duration>,
    /// First credit of a sender, and the maximum that it may have or ask for, in bandwidth-delay
    /// products (MaxWnd). Default 1.5 (uet-htsim).
    pub max_window: f64,
    /// Maximum credit in one frame. Default 16384B (uet-htsim: four packets of 4096 bytes).
    pub grant: Bytes,
    /// Rate at which a receiver gives credit, relative to that of its link. Default 0.99 (uet-htsim).
    pub pace: f64,
    /// Credit that a receiver gives beyond what a flow has asked for, while no flow waits for credit.
    /// Default 0B, none (uet-htsim: the maximum of a sender).
    #[serde(skip_serializing_if = "is_none")]
    pub slow_credit: Bytes,
    /// Time after which a receiver repeats the total credit of a flow that is not complete and of which
    /// nothing has come since; must be above a round trip. Default none (assumed: Ultra Ethernet has such
    /// a timeout, of unknown length).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credit_timeout: Option<Duration>,
    /// Parameters of the window by network signals that limits senders in addition. Default none: no
    /// such window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nscc: Option<nscc::Spec>,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            base_rtt: None,
            max_window: 1.5,
            grant: Bytes(16_384),
            pace: 0.99,
            slow_credit: Bytes(0),
            credit_timeout: None,
            nscc: None,
        }
    }
}

/// So that the parameters of runs without it are written as they were before there was such credit.
fn is_none(slow_credit: &Bytes) -> bool {
    *slow_credit == Bytes(0)
}

/// Credit in one frame must be far below what the counter in it distinguishes.
const LARGEST_GRANT: Bytes = Bytes(1_000_000);

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.positive("base_rtt", self.base_rtt, "remove it for that of the network");
        let why = "with less first credit the path is idle until more comes; usual is 1.5";
        findings.range("max_window", self.max_window, 1.0..=1_000.0, why);
        let why = "usual are 16384B, four packets";
        findings.range("grant", self.grant, Bytes(1)..=LARGEST_GRANT, why);
        let why = "above 1, queues at the receiver's port never drain; usual is 0.99";
        findings.range("pace", self.pace, 0.01..=1.0, why);
        let why = "usual is 1.5 bandwidth-delay products, as the first credit";
        findings.range("slow_credit", self.slow_credit, ..=LARGEST_GRANT, why);
        findings.positive("credit_timeout", self.credit_timeout, "remove it for none");
        if let Some(nscc) = &self.nscc {
            nscc.check(&mut findings.within("nscc"));
        }
    }
}

impl Spec {
    /// First credit, and the maximum that a sender may have, in bytes: at least a packet of this length.
    pub(super) fn max_credit(&self, line_rate: Rate, base_rtt: Duration, packet: u64) -> u64 {
        let base_rtt = self.base_rtt.unwrap_or(base_rtt).as_secs();
        let bytes = self.max_window * line_rate.0 as f64 / 8.0 * base_rtt;
        (bytes as u64).max(packet)
    }

    fn check_signals(&self, around: &Around<'_>, findings: &mut Findings<'_>) {
        let Some(nscc) = &self.nscc else { return };
        nscc::State::check_signals(nscc, around, &mut findings.within("nscc"));
        let marks = around.switch.no_marks().is_none();
        if marks && around.switch.marks_to_hosts {
            findings.warn(
                "nscc",
                "ports to hosts mark, so that `nscc` also controls the link of the receiver, as credit does",
                "write switch.marks_to_hosts = false (Ultra Ethernet, section 3.6.14)",
            );
        }
    }

    fn check_on(&self, network: &Network<'_>, findings: &mut Findings<'_>) {
        let base_rtt = network.check_base_rtt(self.base_rtt, findings);
        if let Some(nscc) = &self.nscc {
            network.check_base_rtt(nscc.base_rtt, &mut findings.within("nscc"));
        }
        let around = network.around;
        let transport::Spec::Uet(uet) = around.transport else { return };
        if uet.entropy.values > Entropy::VALUES_WITH_TARGET {
            findings.error(
                [&*around.of_transport("entropy.values"), ""],
                format!(
                    "packets that ask for credit have 8 bits of entropy, and `entropy.values` is {}",
                    uet.entropy.values
                ),
                format!("write at most {}", Entropy::VALUES_WITH_TARGET),
            );
        }
        let frame = u64::from(around.transport.largest_frame()).max(1);
        let round_trip = network.round_trip;
        if let Some(timeout) = self.credit_timeout.filter(|timeout| *timeout <= round_trip) {
            findings.error(
                "credit_timeout",
                format!(
                    "the timeout of credit ({timeout}) is not above the round-trip time of an empty \
                     network ({round_trip})"
                ),
                "credit would be repeated while packets are on their way: raise it well above that",
            );
        }
        if self.slow_credit.0 > FARTHEST * frame {
            findings.error(
                "slow_credit",
                format!(
                    "{} are {} packets, and what a sender asks for is known up to {FARTHEST} packets \
                     behind what it was given",
                    self.slow_credit,
                    self.slow_credit.0 / frame
                ),
                format!("write at most \"{}B\"", FARTHEST * frame),
            );
        }
        let bdp = network.fastest_host().bytes_in(base_rtt).0;
        if bdp > FARTHEST * frame {
            findings.warn(
                "",
                format!(
                    "a round trip at line rate is {} packets, and a sender of `rccc` asks for at most {FARTHEST} in advance",
                    bdp / frame
                ),
                format!("a flow cannot use the whole link: raise {}", around.of_transport("mtu").trim_start_matches('/')),
            );
        }
    }
}

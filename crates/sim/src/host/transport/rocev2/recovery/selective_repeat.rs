//! Selective repeat as in IRN (Mittal et al., "Revisiting Network Support for RDMA", SIGCOMM 2018,
//! section 3.1): the receiver keeps what comes out of order and answers each such packet with a NAK
//! that names it; the sender sends again only what is missing.
//!
//! A packet counts as lost if a later one has arrived, because packets of a flow keep their order.
//! Where they do not, as with spraying, it counts as lost only if it has not arrived either a while
//! after that answer came (`reordering`): the idea is that of RACK (RFC 8985, section 6), which
//! waits for a part of the round-trip time. The paper proposes a number of NAKs instead (section 7),
//! which would be another time at every rate, and does not come together at the end of a message.
//! It is sent again once; if that is lost too, the timeout tells. Lost packets go before new ones,
//! at the rate of the flow. Recovery is over when everything up to the last packet that was sent
//! before the last repetition is acknowledged, which needs no flag: the sender remembers up to
//! where it has repeated (`State::again`).
//!
//! After a timeout the first packet that is not acknowledged is sent again, and, beyond the paper,
//! the last one that was sent (a tail loss probe, RFC 8985 section 7): if it arrives, its NAK tells
//! at once what is missing between the two. In the paper a lost end of n packets takes n timeouts.
//! Where switches trim packets (`switch.overflow.trim`), a negative acknowledgement names one packet (`trimmed.rs`). That
//! one is sent again, and what comes behind it is no sign of its loss.
//!
//! The paper's other half, a limit on what is in flight (BDP-FC), is not here.

use std::collections::VecDeque;

use floodway_model::check::{Check, Findings};
use floodway_model::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::trimmed::Trimmed;
use crate::host::transport::numbers::Numbers;

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Time without progress of the cumulative acknowledgement after which packets are taken for
    /// lost. Default 320us (IRN, RTO_high).
    pub retransmit_timeout: Duration,
    /// The same while few packets are in flight, so that a short message does not wait long for
    /// its end. Default 100us (IRN, RTO_low).
    pub retransmit_timeout_low: Duration,
    /// Fewer packets than this in flight are few. Default 3 (IRN).
    pub low_timeout_packets: u32,
    /// How long after the answer to a later packet a missing one is waited for before it is sent
    /// again: for paths whose delays differ by so much. Default 0s: not at all (IRN), as on paths
    /// that keep the order.
    pub reordering: Duration,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            retransmit_timeout: Duration::from_us(320),
            retransmit_timeout_low: Duration::from_us(100),
            low_timeout_packets: 3,
            reordering: Duration::ZERO,
        }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        let (timeout, low) = (self.retransmit_timeout, self.retransmit_timeout_low);
        findings.positive("retransmit_timeout", timeout, "IRN has 320us");
        findings.positive("retransmit_timeout_low", low, "IRN has 100us");
        let remedy = "the first is for few packets in flight: lower it, or raise the second";
        findings.at_most(("retransmit_timeout_low", low), ("retransmit_timeout", timeout), remedy);
        if self.reordering > Duration::ZERO {
            findings.below(
                ("reordering", self.reordering),
                ("retransmit_timeout", timeout),
                "missing packets would be waited for until the timeout: set `reordering` to the time by \
                 which the delays of paths can differ",
            );
        }
    }
}

/// What a sender knows of the packets above the cumulative acknowledgement.
#[derive(Debug, Default)]
pub(in crate::host::transport::rocev2) struct State {
    /// Those that have arrived.
    arrived: Numbers,
    /// Of those below, the ones that have not arrived are lost.
    lost_below: u32,
    /// All lost ones below have been sent again.
    again: u32,
    /// After a timeout: the last packet sent, which is sent again to learn of the ones before it.
    probe: Option<u32>,
    /// How long a missing packet is waited for.
    reordering: Duration,
    /// Packets that have arrived, ascending, and when those before them that have not count as lost:
    /// only where such a one is missing.
    suspicions: VecDeque<(u32, Instant)>,
    /// What is known of trimmed packets; `None` if no switch trims.
    trimmed: Option<Box<Trimmed>>,
}

impl State {
    /// Before anything has been sent.
    pub fn new(spec: &Spec) -> Self {
        Self { reordering: spec.reordering, ..Self::default() }
    }

    /// Switches may trim packets.
    pub fn expect_headers(&mut self) {
        self.trimmed = Some(Box::default());
    }

    /// The transmission of `psn` that began at `sent_at` has arrived trimmed.
    pub fn on_trimmed(&mut self, psn: u32, sent_at: Instant) {
        if let Some(trimmed) = self.trimmed.as_mut().filter(|_| !self.arrived.contains(psn)) {
            trimmed.add(psn, sent_at);
        }
        self.dispel();
    }

    /// The first packet from `from` on of which nothing is known: neither that it has arrived nor that it was trimmed.
    fn next_missing(&self, from: u32) -> u32 {
        let mut number = self.arrived.next_absent(from);
        while let Some(trimmed) = &self.trimmed {
            let untrimmed = trimmed.next_unknown(number);
            if untrimmed == number {
                break;
            }
            number = self.arrived.next_absent(untrimmed);
        }
        number
    }

    /// Everything below `psn` has arrived.
    pub fn on_ack(&mut self, psn: u32) {
        self.arrived.forget_below(psn);
        if let Some(trimmed) = &mut self.trimmed {
            trimmed.forget_below(psn);
        }
        self.again = self.again.max(psn);
        self.probe = self.probe.filter(|&probe| probe >= psn);
        self.dispel();
    }

    /// `psn` has arrived, above the cumulative acknowledgement.
    pub fn on_arrived(&mut self, psn: u32, now: Instant) {
        self.arrived.insert(psn);
        if let Some(trimmed) = &mut self.trimmed {
            trimmed.on_arrived(psn);
        }
        self.probe = self.probe.filter(|&probe| probe != psn);
        if self.reordering == Duration::ZERO {
            self.lost_below = self.lost_below.max(psn);
            return;
        }
        if self.suspicions.back().is_none_or(|&(last, _)| last < psn) {
            self.suspicions.push_back((psn, now + self.reordering));
        }
        self.dispel();
    }

    /// Forgets the suspicions before which nothing is missing any more.
    fn dispel(&mut self) {
        if self.suspicions.is_empty() {
            return;
        }
        let missing = self.next_missing(self.lost_below.max(self.again));
        while self.suspicions.front().is_some_and(|&(psn, _)| psn <= missing) {
            self.suspicions.pop_front();
        }
    }

    /// When a packet that is missing now counts as lost if it has not arrived.
    #[inline]
    pub fn suspects_until(&self) -> Instant {
        self.suspicions.front().map_or(Instant::NEVER, |&(_, until)| until)
    }

    /// Takes the packets for lost that have been waited for until now.
    pub fn give_up(&mut self, now: Instant) {
        while let Some(&(psn, _)) = self.suspicions.front().filter(|(_, until)| *until <= now) {
            self.suspicions.pop_front();
            self.lost_below = self.lost_below.max(psn);
        }
        self.dispel();
    }

    /// Nothing has moved for too long with the packets from `first` to `last` in flight.
    pub fn on_timeout(&mut self, first: u32, last: u32) {
        self.again = first;
        self.lost_below = self.lost_below.max(first + 1);
        self.probe = Some(last).filter(|&last| last > first && !self.arrived.contains(last));
        if let Some(trimmed) = &mut self.trimmed {
            trimmed.on_timeout();
            self.probe = self.probe.filter(|&probe| !trimmed.wants(probe));
        }
    }

    /// Whether a packet was trimmed and is still to be sent again.
    pub fn wants(&self, psn: u32) -> bool {
        self.trimmed.as_ref().is_some_and(|trimmed| trimmed.wants(psn))
    }

    /// Whether a packet is to be sent again.
    pub fn has_lost(&self) -> bool {
        self.probe.is_some()
            || self.next_missing(self.again) < self.lost_below
            || self.trimmed.as_ref().is_some_and(|trimmed| trimmed.wants_any())
    }

    /// The next packet to send again, which leaves now.
    pub fn next_lost(&mut self, now: Instant) -> Option<u32> {
        if let Some(psn) = self.trimmed.as_ref().and_then(|trimmed| trimmed.next()) {
            return self.leaves(psn, now);
        }
        let lost = self.next_missing(self.again);
        if lost < self.lost_below {
            self.again = lost + 1;
            return self.leaves(lost, now);
        }
        let probe = self.probe.take()?;
        self.leaves(probe, now)
    }

    /// A packet is sent again.
    fn leaves(&mut self, psn: u32, now: Instant) -> Option<u32> {
        if let Some(trimmed) = &mut self.trimmed {
            trimmed.on_repeated(psn, now);
        }
        Some(psn)
    }
}

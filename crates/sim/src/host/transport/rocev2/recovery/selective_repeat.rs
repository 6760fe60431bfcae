//! Selective repeat as in IRN (Mittal et al., "Revisiting Network Support for RDMA", SIGCOMM 2018, section 3.1): the
//! receiver keeps packets that arrive out of order and answers each of them with a NAK that names it; the sender
//! retransmits only missing packets.
//!
//! A packet is considered lost if a later one has arrived, because packets of a flow keep their order. Where they do
//! not, as with spraying, it is considered lost only if it has still not arrived some time after that NAK
//! (`reordering`). The idea is that of RACK (RFC 8985, section 6), which waits for a fraction of the round-trip time.
//! The paper proposes a number of NAKs instead (section 7), which would correspond to a different time at every rate,
//! and is not reached at the end of a message. A lost packet is retransmitted once; if the retransmission is lost too,
//! only the timeout detects it. Retransmissions go before new packets, at the rate of the flow. Recovery is over when
//! everything up to the last packet sent before the last retransmission is acknowledged. This needs no flag, because
//! the sender remembers how far it has retransmitted (`State::again`).
//!
//! After a timeout the first unacknowledged packet is retransmitted. In addition to the paper, the last packet sent is
//! retransmitted too (a tail loss probe, RFC 8985 section 7): if it arrives, its NAK reveals at once what is missing
//! between the two. In the paper a lost tail of n packets takes n timeouts. Where switches trim packets
//! (`switch.overflow.trim`), a negative acknowledgement names one packet (`trimmed.rs`). That packet is retransmitted,
//! and arrivals of later packets do not indicate its loss.
//!
//! The other half of the paper, a limit on the data in flight (BDP-FC), is not implemented here.

use std::collections::VecDeque;

use floodway_model::check::{Check, Findings};
use floodway_model::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::trimmed::Trimmed;
use crate::host::transport::numbers::Numbers;

/// Parameters of selective repeat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Time without progress of the cumulative acknowledgement after which packets are considered
    /// lost. Default 320us (IRN, RTO_high).
    pub retransmit_timeout: Duration,
    /// The same timeout while few packets are in flight, so that a lost tail of a short message is
    /// recovered sooner. Default 100us (IRN, RTO_low).
    pub retransmit_timeout_low: Duration,
    /// Number of packets in flight below which `retransmit_timeout_low` applies. Default 3 (IRN).
    pub low_timeout_packets: u32,
    /// Reordering window: how long after the NAK for a later packet a missing one is retransmitted,
    /// for paths whose delays differ by up to this time. Default 0s: at once (IRN), as for paths
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
        findings.timeout("retransmit_timeout", timeout, "IRN has 320us");
        findings.timeout("retransmit_timeout_low", low, "IRN has 100us");
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

/// State of a sender about packets above the cumulative acknowledgement.
#[derive(Debug, Default)]
pub(in crate::host::transport::rocev2) struct State {
    /// Packets that have arrived.
    arrived: Numbers,
    /// Packets below this number that have not arrived are lost.
    lost_below: u32,
    /// All lost packets below this number have been retransmitted.
    again: u32,
    /// After a timeout: the last packet sent, which is retransmitted to learn about the packets
    /// before it.
    probe: Option<u32>,
    /// Reordering window.
    reordering: Duration,
    /// Packets that have arrived, ascending, and the time at which missing packets before them are
    /// considered lost; only for packets with a missing one before them.
    suspicions: VecDeque<(u32, Instant)>,
    /// State of trimmed packets; `None` if no switch trims.
    trimmed: Option<Box<Trimmed>>,
}

impl State {
    /// Initial state.
    pub fn new(spec: &Spec) -> Self {
        Self { reordering: spec.reordering, ..Self::default() }
    }

    /// Enables the handling of trimmed packets.
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

    /// First packet at or after `from` that is not known to have arrived or to have been trimmed.
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

    /// `psn`, which is above the cumulative acknowledgement, has arrived.
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

    /// Removes the suspicions before which nothing is missing any more.
    fn dispel(&mut self) {
        if self.suspicions.is_empty() {
            return;
        }
        let missing = self.next_missing(self.lost_below.max(self.again));
        while self.suspicions.front().is_some_and(|&(psn, _)| psn <= missing) {
            self.suspicions.pop_front();
        }
    }

    /// Time at which a currently missing packet is considered lost if it has not arrived.
    #[inline]
    pub fn suspects_until(&self) -> Instant {
        self.suspicions.front().map_or(Instant::NEVER, |&(_, until)| until)
    }

    /// Considers packets lost whose reordering window has passed.
    pub fn give_up(&mut self, now: Instant) {
        while let Some(&(psn, _)) = self.suspicions.front().filter(|(_, until)| *until <= now) {
            self.suspicions.pop_front();
            self.lost_below = self.lost_below.max(psn);
        }
        self.dispel();
    }

    /// A timeout without progress, with the packets from `first` to `last` in flight.
    pub fn on_timeout(&mut self, first: u32, last: u32) {
        self.again = first;
        self.lost_below = self.lost_below.max(first + 1);
        self.probe = Some(last).filter(|&last| last > first && !self.arrived.contains(last));
        if let Some(trimmed) = &mut self.trimmed {
            trimmed.on_timeout();
            self.probe = self.probe.filter(|&probe| !trimmed.wants(probe));
        }
    }

    /// Whether a packet was trimmed and has not been retransmitted yet.
    pub fn wants(&self, psn: u32) -> bool {
        self.trimmed.as_ref().is_some_and(|trimmed| trimmed.wants(psn))
    }

    /// Whether a packet must be retransmitted.
    pub fn has_lost(&self) -> bool {
        self.probe.is_some()
            || self.next_missing(self.again) < self.lost_below
            || self.trimmed.as_ref().is_some_and(|trimmed| trimmed.wants_any())
    }

    /// The next packet to retransmit, which is sent now.
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

    /// Records that a packet is retransmitted.
    fn leaves(&mut self, psn: u32, now: Instant) -> Option<u32> {
        if let Some(trimmed) = &mut self.trimmed {
            trimmed.on_repeated(psn, now);
        }
        Some(psn)
    }
}

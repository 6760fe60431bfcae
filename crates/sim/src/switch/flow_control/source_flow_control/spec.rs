use floodway_model::check::{Check, Findings};
use floodway_model::{Bytes, Duration, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::switch::check::{CheckBeside, Facts};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Who obeys a message. Default `proxy` (deck: "works with today's RDMA NICs").
    pub mode: Mode,
    /// Depth of an egress queue from which on the sources of what joins it are told. Default
    /// 100KB (deck: 2/3 of the bandwidth-delay product).
    pub trigger: Bytes,
    /// Depth to which the queue can drain while its sources are quiet. Default 50KB (deck: 1/3 of
    /// the bandwidth-delay product).
    pub target: Bytes,
    /// The least time between two messages that one `suppress_by` causes at one egress queue, and
    /// between two reminders from the destination cache. Default 6us (deck: half a round trip).
    pub suppression: Duration,
    /// What is left alone for that time. Default `source` (assumed).
    pub suppress_by: SuppressBy,
    /// Whether edge switches remember paused destinations, and pause their hosts' traffic to them
    /// without waiting for a message from far away. Default true (deck: "destination cache: ToR").
    pub cache: bool,
    /// Time that is taken off every pause, for the way of the message and of the first data after
    /// it (US patent 9,614,777 does that). Default 0ns (the deck names none).
    pub deduct: Duration,
    /// The data queues that are watched, counted from 0; empty means all. Default all.
    pub queues: Vec<u8>,
}

/// Who obeys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The NIC of the source, which holds back what it has for that destination in that class.
    Native,
    /// The edge switch of the source, which ends the message and sends the NIC a PFC frame
    /// instead: that stops the whole class there.
    #[default]
    Proxy,
}

/// What is left alone after a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SuppressBy {
    /// The source host: one message for all its flows through the queue.
    #[default]
    Source,
    /// The flow.
    Flow,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            mode: Mode::Proxy,
            trigger: Bytes(100_000),
            target: Bytes(50_000),
            suppression: Duration::from_us(6),
            suppress_by: SuppressBy::Source,
            cache: true,
            deduct: Duration::ZERO,
            queues: Vec::new(),
        }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        let remedy = "sources are quiet while the queue drains from the trigger to the target: set the target lower";
        findings.below(("target", self.target), ("trigger", self.trigger), remedy);
        findings.latency("deduct", self.deduct);
        findings.latency("suppression", self.suppression);
        if self.suppression == Duration::ZERO {
            findings.warn(
                "suppression",
                "without a suppression period every packet above the trigger makes a message",
                "write about half a round trip, for example \"6us\"",
            );
        }
    }
}

impl CheckBeside for Spec {
    fn check_beside(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        facts.check_queues("queues", &self.queues, findings);
    }

    fn threshold(&self) -> Option<(&'static str, Bytes, &'static str)> {
        Some(("trigger", self.trigger, "no source is ever notified"))
    }
}

/// How fast a queue drains: its part of the rate of its port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drain {
    /// Rate of the port.
    pub rate: Rate,
    /// Weight of the queue, and of all queues that want to send, it included.
    pub share: (u64, u64),
}

impl Spec {
    /// Whether `queue` is watched.
    #[inline]
    pub fn covers(&self, queue: usize) -> bool {
        self.queues.is_empty() || self.queues.contains(&(queue as u8))
    }

    /// How long sources are to be quiet, in whole nanoseconds, which is what a message carries:
    /// until a queue of `backlog` bytes has drained to the target,
    /// T = 8 (backlog - target) / rate, less `deduct`, rounded down.
    pub fn pause_ns(&self, backlog: u64, drain: Drain) -> u32 {
        let line = drain.rate.time_for(Bytes(backlog.saturating_sub(self.target.0)));
        let (weight, all) = drain.share;
        let time = u128::from(line.0) * u128::from(all) / u128::from(weight);
        let left = time.saturating_sub(u128::from(self.deduct.0));
        u32::try_from(left / 1_000).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alone(gbps: u64) -> Drain {
        Drain { rate: Rate::from_gbps(gbps), share: (1, 1) }
    }

    #[test]
    fn pause_is_the_time_to_drain_to_the_target() {
        let spec = Spec::default();
        // 100 KB above the target at 100 Gb/s: 8e5 bit / 1e11 bit/s = 8 us; at 400 Gb/s 2 us.
        assert_eq!(spec.pause_ns(150_000, alone(100)), 8_000);
        assert_eq!(spec.pause_ns(150_000, alone(400)), 2_000);
        // At the trigger: 50 KB, 4 us. Whole nanoseconds, rounded down: 1 byte is 0.08 ns.
        assert_eq!(spec.pause_ns(100_000, alone(100)), 4_000);
        assert_eq!(spec.pause_ns(100_012, alone(100)), 4_000);
        assert_eq!(spec.pause_ns(100_013, alone(100)), 4_001);
        // At the target and below it there is nothing to wait for.
        assert_eq!(spec.pause_ns(50_000, alone(100)), 0);
        assert_eq!(spec.pause_ns(10, alone(100)), 0);
    }

    #[test]
    fn a_queue_that_shares_its_link_drains_slower() {
        let quarter = Drain { rate: Rate::from_gbps(100), share: (1, 4) };
        assert_eq!(Spec::default().pause_ns(150_000, quarter), 32_000);
    }

    #[test]
    fn what_is_on_its_way_can_be_deducted() {
        let spec = Spec { deduct: Duration::from_us(6), ..Spec::default() };
        assert_eq!(spec.pause_ns(150_000, alone(100)), 2_000);
        assert_eq!(spec.pause_ns(100_000, alone(100)), 0);
    }
}

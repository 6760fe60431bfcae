use floodway_model::check::{Check, Findings};
use floodway_model::{Bytes, Duration, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::switch::check::{CheckBeside, Facts};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Which device obeys a message. Default `proxy` (deck: "works with today's RDMA NICs").
    pub mode: Mode,
    /// Depth of an egress queue, in bytes, from which the sources of arriving packets are notified.
    /// Default 100KB (deck: 2/3 of the bandwidth-delay product).
    pub trigger: Bytes,
    /// Depth in bytes to which the queue can drain while its sources are paused. Default 50KB
    /// (deck: 1/3 of the bandwidth-delay product).
    pub target: Bytes,
    /// Minimum interval between two messages for the same `suppress_by` from one egress queue, and
    /// between two reminders from the destination cache. Default 6us (deck: half a round-trip
    /// time).
    pub suppression: Duration,
    /// To what the suppression applies: a source host or a flow. Default `source` (assumed).
    pub suppress_by: SuppressBy,
    /// Whether edge switches cache paused destinations, and pause the traffic of their hosts to
    /// them without a message from the congested switch. Default true (deck: "destination cache:
    /// ToR").
    pub cache: bool,
    /// Time subtracted from every pause, for the travel time of the message and of the first data
    /// after it (as in US patent 9,614,777). Default 0ns (the deck names none).
    pub deduct: Duration,
    /// Data queues that are monitored, counted from 0; empty means all. Default all.
    pub queues: Vec<u8>,
}

/// Which device obeys a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The NIC of the source, which holds back traffic to that destination in that class.
    Native,
    /// The edge switch of the source, which consumes the message and sends a PFC frame to the NIC
    /// instead: the NIC then pauses the whole class.
    #[default]
    Proxy,
}

/// For what further messages are suppressed after a message.
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

/// How fast a queue drains: its share of the rate of its port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drain {
    /// Rate of the port.
    pub rate: Rate,
    /// Weight of the queue, and the sum of the weights of all queues that want to send, including
    /// this one.
    pub share: (u64, u64),
}

impl Spec {
    /// Whether `queue` is monitored.
    #[inline]
    pub fn covers(&self, queue: usize) -> bool {
        self.queues.is_empty() || self.queues.contains(&(queue as u8))
    }

    /// The pause time for sources, in whole nanoseconds, the unit of messages: the time in which a
    /// queue of `backlog` bytes drains to the target, T = 8 (backlog - target) / rate, minus
    /// `deduct`, rounded down.
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
        // At the target and below it no pause is needed.
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

//! Controlled delay (CoDel, RFC 8289): drops at the head of the queue once the sojourn times of all
//! packets of an interval were above the target, and then more and more often while this continues.

#[cfg(test)]
mod tests;

use floodway_model::check::{Check, Findings};
use floodway_model::{Duration, Instant, Packet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Aqm, Verdict, View};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Acceptable standing queue delay: sojourn times above it for a whole `interval` start drops.
    /// Default 5ms (RFC 8289, section 4.3).
    pub target: Duration,
    /// How long the target may be exceeded before the first drop; about the largest round-trip
    /// time. Default 100ms (RFC 8289, section 4.2).
    pub interval: Duration,
    /// Whether ECN-capable packets are marked instead of dropped. Default true (in Linux only with
    /// the option `ecn`).
    pub ecn: bool,
    /// Sojourn time above which every ECN-capable packet is marked in addition, for senders that
    /// need a step threshold (Linux `ce_threshold`). Default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ce_threshold: Option<Duration>,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            target: Duration::from_ms(5),
            interval: Duration::from_ms(100),
            ecn: true,
            ce_threshold: None,
        }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.positive("target", self.target, "RFC 8289 has 5ms");
        findings.positive("interval", self.interval, "RFC 8289 has 100ms");
        findings.positive("ce_threshold", self.ce_threshold, "without it there is none");
        if self.interval == Duration::ZERO {
            return;
        }
        let why =
            "RFC 8289 recommends a target of 5 % of the interval, which is about a round trip time";
        findings.below(("target", self.target), ("interval", self.interval), why);
    }
}

/// State of one queue, with the names of RFC 8289, section 5. Also that of a flow queue in
/// [`fq_codel`](crate::switch::discipline::fq_codel).
#[derive(Clone, Debug, Default)]
pub struct Queue {
    /// When the sojourn time will have been above the target for an interval; `None` if it is not
    /// above.
    first_above_time: Option<Instant>,
    /// Whether it is in the dropping state.
    dropping: bool,
    /// When the next drop is due, in the dropping state; otherwise when it would have been due.
    drop_next: Instant,
    /// Drops since it entered the dropping state.
    count: u32,
    /// `count` when it last entered the dropping state.
    lastcount: u32,
    /// A packet was dropped at `drop_next`. The next drop time is computed once it is known whether
    /// the packet behind it is above the target too.
    dropped: bool,
}

/// CoDel on all data queues of a port, independently.
#[derive(Clone, Debug)]
pub struct State {
    spec: Spec,
    queues: Vec<Queue>,
}

impl Spec {
    /// `interval / sqrt(count)` after `from`. The square root is exact; Linux approximates it with
    /// 16 bits.
    fn control_law(&self, from: Instant, count: u32) -> Instant {
        from + Duration((self.interval.0 as f64 / f64::from(count).sqrt()).round() as u64)
    }
}

/// A packet about to leave.
#[derive(Clone, Debug)]
pub struct Head {
    /// How long it was queued.
    pub sojourn: Duration,
    /// Whether more than one packet length of data stays behind it.
    pub backlogged: bool,
    /// Current time.
    pub now: Instant,
}

impl Queue {
    /// Verdict on the packet at the head. `capable`: it can signal congestion instead of being dropped.
    pub fn decide(&mut self, spec: &Spec, head: &Head, capable: bool) -> Verdict {
        let marks = spec.ecn && capable;
        if self.hits(spec, head, marks) {
            return if marks { Verdict::Congested } else { Verdict::Drop };
        }
        let above = spec.ce_threshold.is_some_and(|threshold| head.sojourn > threshold);
        Verdict::congested(above && capable)
    }

    /// Packets at the head were dropped for lack of room. They count as drops of CoDel, as in Linux, so that the
    /// next ones follow faster.
    pub fn on_overflow(&mut self, packets: u32) {
        self.count = self.count.saturating_add(packets);
    }

    /// Whether the queue has been above the target for an interval: `dodequeue` in the RFC.
    fn ok_to_drop(&mut self, spec: &Spec, head: &Head) -> bool {
        if head.sojourn < spec.target || !head.backlogged {
            self.first_above_time = None;
            return false;
        }
        match self.first_above_time {
            None => {
                self.first_above_time = Some(head.now + spec.interval);
                false
            }
            Some(time) => head.now >= time,
        }
    }

    /// Whether the packet is to be dropped or, if `marks`, marked: `deque` in the RFC, one packet
    /// at a time.
    fn hits(&mut self, spec: &Spec, head: &Head, marks: bool) -> bool {
        let ok_to_drop = self.ok_to_drop(spec, head);
        let after_a_drop = std::mem::take(&mut self.dropped);
        if !self.dropping {
            if ok_to_drop {
                self.begin(spec, head.now);
            }
            return ok_to_drop;
        }
        if !ok_to_drop {
            self.dropping = false;
            return false;
        }
        if after_a_drop {
            self.drop_next = spec.control_law(self.drop_next, self.count);
        }
        if head.now < self.drop_next {
            return false;
        }
        self.count += 1;
        if marks {
            // A marked packet leaves, so no further packet is examined now.
            self.drop_next = spec.control_law(self.drop_next, self.count);
        } else {
            self.dropped = true;
        }
        true
    }

    /// Enters the dropping state. If it was in that state recently, it resumes with the drop rate
    /// that it had reached.
    fn begin(&mut self, spec: &Spec, now: Instant) {
        let delta = self.count.wrapping_sub(self.lastcount);
        let recent = now.since(self.drop_next.min(now)) < spec.interval * 16;
        self.count = if delta > 1 && recent { delta } else { 1 };
        self.lastcount = self.count;
        self.drop_next = spec.control_law(now, self.count);
        self.dropping = true;
    }
}

impl Aqm for State {
    type Spec = Spec;
    const JUDGES_DEPARTURES: bool = true;

    fn no_marks(spec: &Spec) -> Option<&'static str> {
        (!spec.ecn && spec.ce_threshold.is_none()).then_some("switch.aqm.codel.ecn")
    }

    fn needs_ecn(spec: &Spec) -> &'static [&'static str] {
        if spec.ecn { &["ecn", "ce_threshold"] } else { &["ce_threshold"] }
    }

    fn new(spec: &Spec, queues: usize) -> Self {
        Self { spec: spec.clone(), queues: vec![Queue::default(); queues] }
    }

    #[inline(never)]
    fn on_departure(&mut self, queue: usize, packet: &Packet, view: &mut View<'_>) -> Verdict {
        let left = view.backlog(queue) - view.occupied(packet);
        let head = Head {
            sojourn: view.sojourn(queue),
            backlogged: left > view.largest_frame(),
            now: view.now,
        };
        let capable = view.can_mark(packet);
        self.queues[queue].decide(&self.spec, &head, capable)
    }
}

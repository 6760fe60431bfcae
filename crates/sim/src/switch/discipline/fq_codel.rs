//! FQ-CoDel (RFC 8290): flow queueing ([`flows`](super::flows)) with CoDel (RFC 8289) in each flow queue. CoDel's state
//! and the sojourn times are those of a flow queue, and so is the rule that CoDel never drops if no more than a full
//! frame stays behind.
//!
//! Linux applies that rule to all flow queues together. It also counts drops for lack of room as drops of CoDel, which
//! the RFC does not mention and which is done here as well.

use floodway_model::check::{Check, Findings};
use floodway_model::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::flows::{Flows, Head, PerFlow};
use super::{Leaving, fq};
use crate::switch::aqm::{Aqm, Verdict, codel};
use crate::switch::mechanism::Site;

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Quantum: bytes of frames that a flow may send per round, at least 1. Default 1518B: the 1514 bytes of RFC
    /// 8290, section 5.2.4 (the MTU of Ethernet with its header), and the FCS, which frames have here.
    pub quantum: Bytes,
    /// Number of queues into which flows are hashed, with a different hash at every port (`flows` of `tc`). Flows that
    /// collide share a queue, its quantum and its CoDel. Default 1024 (RFC 8290, section 5.2.5).
    pub queues: u32,
    /// Acceptable standing queue delay of a flow queue: sojourn times above it for a whole `interval` start drops.
    /// Default 5ms (RFC 8290, section 5.2.2).
    pub target: Duration,
    /// How long the target may be exceeded before the first drop; about the largest round-trip
    /// time. Default 100ms (RFC 8290, section 5.2.1).
    pub interval: Duration,
    /// Whether ECN-capable packets are marked instead of dropped. Default true (RFC 8290, section 5.2.7).
    pub ecn: bool,
    /// Sojourn time above which every ECN-capable packet is marked in addition, for senders that
    /// need a step threshold (RFC 8290, section 5.2.8). Default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ce_threshold: Option<Duration>,
    /// How many packets the flow with the most bytes loses at once at most if there is no room; it loses no more than half
    /// of its bytes. Default 64 (RFC 8290, section 4.1).
    pub drop_batch: u32,
}

impl Default for Spec {
    fn default() -> Self {
        let codel::Spec { target, interval, ecn, ce_threshold } = codel::Spec::default();
        Self {
            quantum: Bytes(1_518),
            queues: 1_024,
            target,
            interval,
            ecn,
            ce_threshold,
            drop_batch: 64,
        }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        fq::check_quantum(self.quantum, findings);
        findings.range("queues", self.queues, 1.., "RFC 8290 has 1024");
        self.codel().check(findings);
        findings.range("drop_batch", self.drop_batch, 1.., "RFC 8290 has 64");
    }
}

impl Spec {
    /// Parameters of CoDel, which has the same names for them.
    fn codel(&self) -> codel::Spec {
        let Self { target, interval, ecn, ce_threshold, .. } = *self;
        codel::Spec { target, interval, ecn, ce_threshold }
    }

    /// Initial state of a data queue.
    pub fn build(&self, site: &Site<'_>, queue: usize) -> FqCodel {
        let aqm = CodelPerFlow { codel: self.codel(), drop_batch: self.drop_batch };
        FqCodel::new(aqm, self.quantum, Some(self.queues), site, queue)
    }

    /// The field because of which it never marks; `None` if it may mark.
    pub fn no_marks(&self) -> Option<&'static str> {
        let never = codel::State::no_marks(&self.codel()).is_some();
        never.then_some("switch.queue.discipline.fq_codel.ecn")
    }

    /// The fields that affect only ECN-capable packets.
    pub fn needs_ecn(&self) -> &'static [&'static str] {
        codel::State::needs_ecn(&self.codel())
    }
}

/// The flows of one data queue.
pub type FqCodel = Flows<CodelPerFlow>;

/// CoDel in each flow queue. Its state lasts, because it remembers the drop rate that it had reached.
#[derive(Debug)]
pub struct CodelPerFlow {
    codel: codel::Spec,
    drop_batch: u32,
}

impl PerFlow for CodelPerFlow {
    type State = codel::Queue;
    const LASTS: bool = true;

    fn decide(&self, queue: &mut codel::Queue, head: &Head<'_>, leaving: &Leaving<'_>) -> Verdict {
        let capable = leaving.can_mark(head.packet);
        let head = codel::Head {
            sojourn: leaving.now.since(head.since),
            backlogged: head.left > leaving.largest_frame,
            now: leaving.now,
        };
        queue.decide(&self.codel, &head, capable)
    }

    fn batch(&self) -> u32 {
        self.drop_batch
    }

    fn on_overflow(&self, queue: &mut codel::Queue) {
        queue.on_overflow(1);
    }
}

#[cfg(test)]
mod tests {
    use floodway_model::Instant;
    use floodway_model::random::Stream;

    use super::*;
    use crate::link::Transmitter;
    use crate::switch::discipline::Discipline;
    use crate::switch::discipline::stand::packet;
    use crate::switch::mechanism::SitePort;

    fn fq_codel(spec: Spec) -> FqCodel {
        spec.build(&Site::with_ports("s", 1, &[SitePort::HOST]), 0)
    }

    fn ms(ms: u64) -> Instant {
        Instant(ms * 1_000_000_000)
    }

    /// In a frame every millisecond, where frames have 1000 bytes: times in milliseconds and flows of the packets that CoDel
    /// drops. `waits` returns how long the packets of a flow wait at a time, in milliseconds; a flow always has three, unless it
    /// is `None`.
    fn drops(
        fq: &mut FqCodel,
        (from, until): (u64, u64),
        flows: u32,
        waits: impl Fn(u32, u64) -> Option<u64>,
    ) -> Vec<(u64, u32)> {
        let (mut rng, tx) = (Stream::named(1, "none"), Transmitter::new(SitePort::HOST.link));
        let mut dropped = Vec::new();
        for now in from..until {
            loop {
                for flow in 0..flows {
                    let Some(waited) = waits(flow, now) else { continue };
                    while fq.iter().filter(|queued| queued.packet.flow.0 == flow).count() < 3 {
                        fq.push(packet(flow, 0, 1_000), ms(now - waited), &mut rng);
                    }
                }
                fq.settle(ms(now));
                let mut leaving =
                    Leaving { now: ms(now), indicates: false, largest_frame: 1_000, rng: &mut rng };
                let verdict = fq.on_departure(&mut leaving);
                let Some(left) = fq.pop().map(|queued| queued.packet) else { break };
                if verdict == Verdict::Pass {
                    fq.on_sent(&left, &tx, ms(now));
                    break;
                }
                dropped.push((now, left.flow.0));
            }
        }
        dropped
    }

    /// By hand: the first drop is an interval of 100 ms after the delay has exceeded the target, the next ones follow after
    /// 100/sqrt(n) ms, n = 1, 2, ...: 100, 200, 270.7, 328.4, 378.4, 423.2 ms later. The flows leave alternately, so
    /// that each is examined every 2 ms, and the times are those of the next packet of flow 0, in even milliseconds from 1000
    /// on. Flow 1 waits for less than the target of 50 ms until 1251, and its first drop is an interval later.
    #[test]
    fn each_flow_has_a_control_law_of_its_own() {
        let target = Duration::from_ms(50);
        let mut fq = fq_codel(Spec { quantum: Bytes(1_000), target, ..Spec::default() });
        let waits = |flow, now| Some(if flow == 0 || now > 1_250 { 60 } else { 1 });
        let found = drops(&mut fq, (1_000, 1_440), 2, waits);
        let of = |flow| {
            let times = found.iter().filter(move |(_, of)| *of == flow);
            times.map(|(time, _)| *time).collect::<Vec<_>>()
        };
        let due: [f64; 6] = [1_100.0, 1_200.0, 1_270.7, 1_328.4, 1_378.4, 1_423.2];
        assert_eq!(of(0).len(), due.len(), "{found:?}");
        for (time, due) in of(0).into_iter().zip(due) {
            assert!((0.0..=2.5).contains(&(time as f64 - due)), "{time} is due at {due}");
        }
        // It has packets that joined before 1251 for three rounds.
        assert_eq!(of(1).len(), 1, "{found:?}");
        assert!((1_351..=1_358).contains(&of(1)[0]), "{found:?}");
    }

    /// The backlog of a flow queue decides whether CoDel may drop, not that of all: a packet that leaves no full frame
    /// behind in its own flow queue is never dropped.
    #[test]
    fn the_last_packets_of_a_flow_are_not_dropped() {
        let mut fq = fq_codel(Spec::default());
        let mut rng = Stream::named(1, "none");
        for at in 0..1_000 {
            for flow in 0..20 {
                if fq.iter().filter(|queued| queued.packet.flow.0 == flow).count() < 2 {
                    fq.push(packet(flow, 0, 1_000), ms(at), &mut rng);
                }
            }
            fq.settle(ms(at + 50));
            let mut leaving =
                Leaving { now: ms(at + 50), indicates: false, largest_frame: 1_000, rng: &mut rng };
            assert_eq!(fq.on_departure(&mut leaving), Verdict::Pass);
            let left = fq.pop().unwrap().packet;
            fq.on_sent(&left, &Transmitter::new(SitePort::HOST.link), ms(at + 50));
        }
    }

    /// What flow loses how many packets of 1000 bytes for an arriving packet, with ten of flow 1 and six of flow 2.
    fn overflow(drop_batch: u32, arriving: (u32, u16)) -> Vec<u32> {
        let mut fq = fq_codel(Spec { drop_batch, ..Spec::default() });
        let mut rng = Stream::named(1, "none");
        let mut fill = |flow, count| {
            (0..count).for_each(|_| fq.push(packet(flow, 0, 1_000), ms(0), &mut rng));
        };
        fill(1, 10);
        fill(2, 6);
        let first = fq.push_out(&packet(arriving.0, 0, arriving.1).packet, ms(0));
        let all = std::iter::successors(first, |_| fq.push_out_more());
        let found = all.map(|queued| queued.packet.flow.0).collect();
        assert!(fq.is_consistent());
        found
    }

    /// RFC 8290, section 4.1: half of the bytes of the fattest flow, and no more than a batch. The arriving packet counts
    /// with its flow.
    #[test]
    fn the_fattest_flow_loses_half_of_its_queue() {
        assert_eq!(overflow(64, (3, 1_000)), [1; 5]);
        assert_eq!(overflow(64, (1, 1_000)), [1; 6]);
        assert_eq!(overflow(3, (3, 1_000)), [1; 3]);
        assert_eq!(overflow(1, (3, 1_000)), [1]);
        // 6000 and 4500 bytes: half are 5250.
        assert_eq!(overflow(64, (2, 4_500)), [2; 6]);
        // It is itself more than half of the largest.
        assert_eq!(overflow(64, (4, 20_000)), [0; 0]);
    }

    /// Five packets lost for lack of room: the second drop of CoDel is 100/sqrt(5) = 44.7 ms after the first, not
    /// 100 ms.
    #[test]
    fn losses_for_lack_of_room_raise_the_drop_rate() {
        let after = |lost: usize| {
            let mut fq = fq_codel(Spec { drop_batch: 1, ..Spec::default() });
            let mut rng = Stream::named(1, "none");
            for _ in 0..lost {
                fq.push(packet(0, 0, 1_000), ms(900), &mut rng);
                fq.push_out(&packet(0, 0, 1_000).packet, ms(900)).unwrap();
            }
            drops(&mut fq, (1_000, 1_210), 1, |_, _| Some(10))
        };
        assert_eq!(after(0)[..2], [(1_100, 0), (1_200, 0)]);
        assert_eq!(after(5)[..2], [(1_100, 0), (1_145, 0)]);
    }

    /// A flow that has left the lists continues with the drop rate that it had: RFC 8289, section 4.3.
    #[test]
    fn the_state_of_a_flow_queue_lasts() {
        let mut fq = fq_codel(Spec::default());
        assert_eq!(drops(&mut fq, (1_000, 1_600), 1, |_, _| Some(10)).len(), 10);
        assert_eq!(drops(&mut fq, (1_600, 1_610), 1, |_, _| None), []);
        assert!(fq.first().is_none(), "it is in neither list");
        // Nine of the ten were after the first; the second drop is 100/sqrt(9) = 33.3 ms after the first.
        let again = drops(&mut fq, (1_610, 1_750), 1, |_, _| Some(10));
        assert_eq!(again[..2], [(1_710, 0), (1_744, 0)]);
    }

    #[test]
    fn packets_that_can_be_marked_are_not_dropped() {
        for (ecn, expected) in [(true, Verdict::Congested), (false, Verdict::Drop)] {
            let mut fq = fq_codel(Spec { ecn, ..Spec::default() });
            let mut rng = Stream::named(1, "none");
            let verdict = |fq: &mut FqCodel, now, rng: &mut Stream| {
                (0..3).for_each(|_| fq.push(packet(0, 0, 1_000), ms(0), rng));
                fq.settle(ms(now));
                let mut leaving =
                    Leaving { now: ms(now), indicates: true, largest_frame: 1_000, rng };
                let verdict = fq.on_departure(&mut leaving);
                fq.pop();
                verdict
            };
            assert_eq!(verdict(&mut fq, 10, &mut rng), Verdict::Pass);
            assert_eq!(verdict(&mut fq, 110, &mut rng), expected);
        }
    }
}

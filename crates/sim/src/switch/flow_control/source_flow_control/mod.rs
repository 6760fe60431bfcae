//! Source Flow Control (SFC, project P802.1Qdw; IEEE 802.1 interim, May 2022; Le et al., "SFC:
//! Near-Source Congestion Signaling and Flow Control", arXiv 2305.00538). A switch whose egress
//! queue is too deep sends a message to the sources of arriving packets, directly through all
//! switches in between, with the time for which they must pause. There is no message to resume: a
//! pause expires.
//!
//! The text of the amendment is not public; this is the mechanism of the deck. Where the deck
//! leaves details open, the pause is the time in which the queue drains to its target at the rate
//! of its port ([`Spec::pause_ns`]), and of two pauses the one that ends later applies.
//!
//! The edge switch of the source has two further functions. As a proxy it translates the message
//! into a PFC frame, for a NIC without support for source flow control. And its destination cache
//! stores the destination of the pause, so that its other hosts are paused by the first packet that
//! they send there.

mod in_switch;
mod spec;

use floodway_model::id::CLASSES;
use floodway_model::units::PS_PER_S;
use floodway_model::{Duration, Instant, Packet, Rate};
use rustc_hash::FxHashMap;

use super::pausing::Source;
use crate::link::pause_time;
use crate::switch::mechanism::Site;
use crate::switch::rests::Rests;
pub use spec::{Drain, Mode, Spec, SuppressBy};

/// Source Flow Control state of one switch.
#[derive(Debug)]
pub struct SourceFlowControl {
    spec: Spec,
    /// When a message was last sent, by source or flow and by egress queue.
    notified: Rests<(u32, u32)>,
    /// When a reminder was last sent, by host, destination and class.
    reminded: Rests<(u32, u32, u8)>,
    /// By destination and class (the one in which flows begin): until when it is paused. Never
    /// iterated.
    cache: FxHashMap<(u32, u8), Instant>,
    /// When the last pause in the cache ends; afterwards no lookup is needed.
    cache_until: Instant,
    /// By [`Source`]: until when this switch, as a proxy, has paused it.
    proxied: Vec<Instant>,
    /// Messages that were sent, or that ended at this switch at once, because a queue was too deep.
    messages: u64,
    /// Messages sent, or pauses begun, because of the destination cache.
    reminders: u64,
    /// PFC frames sent instead of messages, including those that repeat the remainder of a pause on
    /// a link that works again.
    proxy_pauses: u64,
}

impl SourceFlowControl {
    /// Initial state for a switch.
    fn new(spec: &Spec, site: &Site<'_>) -> Self {
        Self {
            spec: spec.clone(),
            notified: Rests::default(),
            reminded: Rests::default(),
            cache: FxHashMap::default(),
            cache_until: Instant::ZERO,
            proxied: vec![Instant::ZERO; site.ports.len() * CLASSES],
            messages: 0,
            reminders: 0,
            proxy_pauses: 0,
        }
    }

    /// A data packet has joined a queue, now `backlog` bytes deep; `queue` is its number among all
    /// queues of the switch. Returns the pause time in nanoseconds to send to its source, if a
    /// message is due now.
    #[inline]
    fn on_enqueue(
        &mut self,
        packet: &Packet,
        queue: u32,
        backlog: u64,
        drain: impl FnOnce() -> Drain,
        now: Instant,
    ) -> Option<u32> {
        let spec = &self.spec;
        if backlog < spec.trigger.0 {
            return None;
        }
        let pause_ns = spec.pause_ns(backlog, drain());
        let who = match spec.suppress_by {
            SuppressBy::Source => packet.src.0,
            SuppressBy::Flow => packet.flow.0,
        };
        let notify = pause_ns > 0 && self.notified.may((who, queue), spec.suppression, now);
        notify.then_some(pause_ns)
    }

    /// A message to host `src` of this switch says that a destination is paused from now on.
    fn learn(&mut self, src: u32, dst: u32, class: u8, pause_ns: u32, now: Instant) {
        // That host knows now; packets that it had already sent are no reason for a reminder.
        self.reminded.done((src, dst, class), now);
        let until = now + Duration::from_ns(pause_ns.into());
        let known = self.cache.entry((dst, class)).or_insert(until);
        *known = until.max(*known);
        self.cache_until = self.cache_until.max(until);
    }

    /// A host of this switch has sent a data packet of a flow that begins in `class`. Returns the
    /// pause time in nanoseconds to send to it, if its destination is paused in that class and a
    /// reminder is due now.
    #[inline]
    fn resend_notification(&mut self, packet: &Packet, class: u8, now: Instant) -> Option<u32> {
        if self.cache_until <= now || !self.spec.cache {
            return None;
        }
        let dst = packet.dst.0;
        let until = *self.cache.get(&(dst, class))?;
        let left_ns = (until.since(now).0 / 1_000) as u32;
        let who = (packet.src.0, dst, class);
        let notify = left_ns > 0 && self.reminded.may(who, self.spec.suppression, now);
        self.reminders += u64::from(notify);
        notify.then_some(left_ns)
    }

    /// As a proxy: the quanta of the PFC frame that pauses `source` for at most this time. `None`
    /// if no frame is needed, because the source is already paused for longer or the time is less
    /// than a quantum.
    fn proxy(&mut self, source: Source, pause_ns: u32, rate: Rate, now: Instant) -> Option<u16> {
        let quanta = quanta_within(Duration::from_ns(pause_ns.into()), rate);
        let until = now + pause_time(quanta, rate);
        let known = &mut self.proxied[source.index()];
        if until <= *known || quanta == 0 {
            return None;
        }
        *known = until;
        Some(quanta)
    }

    /// The remainder of the pause of a source, in quanta: 0 if it is over.
    fn quanta_left(&self, source: Source, rate: Rate, now: Instant) -> u16 {
        quanta_within(self.proxied[source.index()].since(now), rate)
    }
}

/// The most quanta of 512 bit times that do not exceed `time`, at most 65535, the maximum of a
/// frame.
fn quanta_within(time: Duration, rate: Rate) -> u16 {
    let quanta = u128::from(time.0) * u128::from(rate.0) / (512 * u128::from(PS_PER_S));
    let quanta = u16::try_from(quanta).unwrap_or(u16::MAX);
    // If a bit time is not a whole number of picoseconds, the duration of many is rounded up.
    if pause_time(quanta, rate) > time { quanta.saturating_sub(1) } else { quanta }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::switch::mechanism::SitePort;
    use floodway_model::{Body, Class, Dscp, Echo, Ecn, FlowId, NodeId, PortIx, Tos};

    const GBPS_100: Rate = Rate::from_gbps(100);
    const DRAIN: Drain = Drain { rate: GBPS_100, share: (1, 1) };

    fn new(spec: &Spec) -> SourceFlowControl {
        SourceFlowControl::new(spec, &Site::with_ports("switch", 1, &[SitePort::HOST; 1]))
    }

    fn us(us: u64) -> Instant {
        Instant(us * 1_000_000)
    }

    fn packet(flow: u32, src: u32, dst: u32) -> Packet {
        Packet {
            flow: FlowId(flow),
            connection: 0,
            src: NodeId(src),
            dst: NodeId(dst),
            bytes: 1086,
            ingress: PortIx(0),
            class: Class(0),
            tos: Tos::new(Dscp::DEFAULT, Ecn::Ect0),
            indicated: false,
            physical_queue: 0,
            body: Body::Data { echo: Echo::default(), psn: 0, sent_at: Instant::ZERO },
        }
    }

    #[test]
    fn a_source_is_told_once_per_suppression_period_and_queue() {
        let mut sfc = new(&Spec::default());
        let mut notified = |flow, src, queue, backlog, at| {
            sfc.on_enqueue(&packet(flow, src, 9), queue, backlog, || DRAIN, at)
        };
        assert_eq!(notified(0, 1, 0, 99_999, us(0)), None);
        assert_eq!(notified(0, 1, 0, 100_000, us(0)), Some(4_000));
        // Another flow of the same source, another queue, another source.
        assert_eq!(notified(1, 1, 0, 150_000, us(1)), None);
        assert_eq!(notified(1, 1, 7, 150_000, us(1)), Some(8_000));
        assert_eq!(notified(2, 2, 0, 150_000, us(1)), Some(8_000));
        assert_eq!(notified(0, 1, 0, 150_000, us(5)), None);
        assert_eq!(notified(0, 1, 0, 150_000, us(6)), Some(8_000));
    }

    #[test]
    fn or_a_flow() {
        let spec = Spec { suppress_by: SuppressBy::Flow, ..Spec::default() };
        let mut sfc = new(&spec);
        for (flow, notifies) in [(0, true), (0, false), (1, true)] {
            let notified = sfc.on_enqueue(&packet(flow, 1, 9), 0, 100_000, || DRAIN, us(0));
            assert_eq!(notified.is_some(), notifies);
        }
    }

    #[test]
    fn the_cache_keeps_the_latest_end_and_tells_what_is_left() {
        let mut sfc = new(&Spec::default());
        assert_eq!(sfc.resend_notification(&packet(0, 1, 9), 0, us(0)), None);
        sfc.learn(3, 9, 0, 20_000, us(0));
        // A shorter pause does not shorten the current one.
        sfc.learn(4, 9, 0, 5_000, us(1));
        // A host that received a message itself gets no reminder so soon.
        assert_eq!(sfc.resend_notification(&packet(0, 4, 9), 0, us(4)), None);
        assert_eq!(sfc.resend_notification(&packet(0, 4, 9), 0, us(7)), Some(13_000));
        assert_eq!(sfc.resend_notification(&packet(0, 1, 9), 0, us(4)), Some(16_000));
        assert_eq!(sfc.resend_notification(&packet(0, 1, 9), 0, us(5)), None);
        assert_eq!(sfc.resend_notification(&packet(0, 2, 9), 0, us(5)), Some(15_000));
        assert_eq!(sfc.resend_notification(&packet(0, 1, 8), 0, us(5)), None);
        assert_eq!(sfc.resend_notification(&packet(0, 1, 9), 0, us(10)), Some(10_000));
        assert_eq!(sfc.resend_notification(&packet(0, 1, 9), 0, us(20)), None);
        let mut without = new(&Spec { cache: false, ..Spec::default() });
        without.learn(3, 9, 0, 20_000, us(0));
        assert_eq!(without.resend_notification(&packet(0, 5, 9), 0, us(10)), None);
    }

    #[test]
    fn a_proxy_never_pauses_for_longer_than_it_was_told_nor_shortens_a_pause() {
        let (mut sfc, source) = (new(&Spec::default()), Source::new(0, 3));
        // A quantum is 5.12 ns at 100 Gb/s: 8 us are 1562.5 of them.
        assert_eq!(sfc.proxy(source, 8_000, GBPS_100, us(0)), Some(1_562));
        // 1 us later a pause of 7 us would end at the same time; 2 us would end before, 8 us after
        // it.
        assert_eq!(sfc.proxy(source, 2_000, GBPS_100, us(1)), None);
        assert_eq!(sfc.quanta_left(source, GBPS_100, us(1)), 1_562 - 196);
        assert_eq!(sfc.proxy(source, 8_000, GBPS_100, us(1)), Some(1_562));
        assert_eq!(sfc.quanta_left(source, GBPS_100, us(9)), 0);
        // Less than a quantum gives no frame; more than a frame holds is limited.
        assert_eq!(sfc.proxy(source, 5, GBPS_100, us(20)), None);
        assert_eq!(sfc.proxy(source, 4_000_000, GBPS_100, us(20)), Some(65_535));
    }

    #[test]
    fn quanta_fit_at_any_rate() {
        for mbps in [10, 999, 2_500, 3_333, 40_000, 100_000, 400_000] {
            let rate = Rate(mbps * 1_000_000);
            for ns in [0, 1, 511, 512, 5_119, 77_777, 1_234_567] {
                let time = Duration::from_ns(ns);
                let quanta = quanta_within(time, rate);
                assert!(pause_time(quanta, rate) <= time, "{mbps} {ns}");
                if quanta < u16::MAX {
                    let more = pause_time(quanta + 1, rate);
                    assert!(more + Duration(1) > time, "{mbps} {ns}");
                }
            }
        }
    }
}

//! CAKE (Høiland-Jørgensen, Täht, Morton, "Piece of CAKE: A Comprehensive Queue Management Solution for Home Gateways",
//! LANMAN 2018; tc-cake(8)): tins by DSCP, an eight-way set-associative hash of flows, DRR++ with host isolation, the AQM
//! COBALT, and a shaper in deficit mode that counts bytes as the line does.
//!
//! Behavior that paper and manual leave open is that of Linux 6.12. Unlike there, hosts are distinguished exactly and not by
//! a hash. `nat` has no meaning here, because no address is ever translated, nor have `split-gso`, because a packet is never
//! longer than a frame, and `fwmark`.

pub mod acks;
mod cobalt;
pub mod diffserv;
mod estimate;
mod rtt;
#[cfg(test)]
mod tests;
mod tin;

use std::any::Any;
use std::collections::VecDeque;

use floodway_model::check::{Check, Findings};
use floodway_model::line::{Counting, FCS, Framing, Line};
use floodway_model::random::{Stream, mix};
use floodway_model::{Bytes, Dscp, Duration, Graph, Instant, Packet, Rate, Tos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Discipline, Leaving};
use crate::link::Transmitter;
use crate::metric::Tally;
use crate::switch::aqm::Verdict;
use crate::switch::mechanism::Site;
use crate::switch::queue::Queued;
use acks::AckFilter;
use cobalt::Params;
use diffserv::Diffserv;
use estimate::Estimate;
use tin::Tin;

/// Flow queues of a tin.
const FLOWS: usize = 1_024;
/// Flow queues of a set.
const WAYS: usize = 8;

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Rate of the shaper (`bandwidth` of `tc`). Default none: packets leave when the link is free.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Rate of the shaper as a share of the rate of the port's link, instead of `rate`. Default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Tins, by the DSCP. Default `diffserv3` (tc-cake(8)).
    pub diffserv: Diffserv,
    /// What shares the tin equally. Default `triple_isolate` (tc-cake(8)).
    pub isolation: Isolation,
    /// Round-trip time for which the AQM is set: its interval, and 20 times its target; or a keyword of tc-cake(8) for it:
    /// `datacentre` (100us), `lan` (1ms), `metro` (10ms), `regional` (30ms), `internet` (100ms), `oceanic` (300ms), `satellite`
    /// (1s). Default 100ms (tc-cake(8)).
    #[serde(deserialize_with = "rtt::read")]
    #[schemars(with = "rtt::Rtt")]
    pub rtt: Duration,
    /// Kind of line: the defaults of the following fields. Default `raw` (tc-cake(8)).
    pub line: Line,
    /// Bytes that the line adds to an IP packet; may be negative. Default that of `line`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overhead: Option<i64>,
    /// Smallest size on the line, before framing. Default that of `line`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mpu: Option<Bytes>,
    /// How the line divides packets. Default that of `line`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub framing: Option<Framing>,
    /// Which acknowledgements of TCP are dropped for newer ones. Default `off` (tc-cake(8)).
    #[serde(skip_serializing_if = "AckFilter::is_off")]
    pub ack_filter: AckFilter,
    /// Whether packets that are dropped count for the shaper as well, because they have already crossed the line: for a shaper
    /// behind it (`ingress`). Default false (tc-cake(8)).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ingress: bool,
    /// Whether the shaper follows an estimate of the rate at which packets arrive, from `rate` or `share` on if one is written
    /// (`autorate-ingress`). Default false (tc-cake(8)).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub autorate_ingress: bool,
    /// Bytes that may be queued, in frames; beyond it, the longest flow queue loses packets (`memlimit`). Default none: the
    /// size of the switch's queue is the limit, with the same drops.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memlimit: Option<Bytes>,
    /// Whether packets leave with the DSCP 0, after it has chosen their tin (`wash`). Default false (tc-cake(8)).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub wash: bool,
}

/// What shares a tin equally.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// Nothing: one flow queue.
    Flowblind,
    /// Source hosts.
    Srchost,
    /// Destination hosts.
    Dsthost,
    /// Pairs of hosts.
    Hosts,
    /// Flows.
    Flows,
    /// Source hosts, and the flows of each.
    DualSrchost,
    /// Destination hosts, and the flows of each.
    DualDsthost,
    /// Flows, of which none gets more than the share of either of its hosts.
    #[default]
    TripleIsolate,
}

impl Isolation {
    /// Whether bulk flows of a source and of a destination host share a quantum.
    const fn hosts(self) -> [bool; 2] {
        match self {
            Self::DualSrchost => [true, false],
            Self::DualDsthost => [false, true],
            Self::TripleIsolate => [true, true],
            _ => [false, false],
        }
    }

    /// What is hashed of a packet.
    fn key(self, packet: &Packet) -> u64 {
        let (src, dst) = (u64::from(packet.src.0), u64::from(packet.dst.0));
        match self {
            Self::Flowblind => 0,
            Self::Srchost => src,
            Self::Dsthost => dst,
            Self::Hosts => src << 32 | dst,
            _ => packet.flow.0.into(),
        }
    }
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            rate: None,
            share: None,
            diffserv: Diffserv::default(),
            isolation: Isolation::default(),
            rtt: Duration::from_ms(100),
            line: Line::Raw,
            overhead: None,
            mpu: None,
            framing: None,
            ack_filter: AckFilter::Off,
            ingress: false,
            autorate_ingress: false,
            memlimit: None,
            wash: false,
        }
    }
}

/// The overheads that tc-cake(8) permits.
const OVERHEADS: std::ops::RangeInclusive<i64> = -64..=256;

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.link_rate("rate", self.rate);
        let why = "a share of 0.95 keeps the queue here and not in the modem behind the link";
        findings.range("share", self.share, 0.001..=1.0, why);
        findings.positive("rtt", self.rtt, "tc-cake(8) has 100ms");
        if let Some(overhead) = self.overhead.filter(|overhead| !OVERHEADS.contains(overhead)) {
            findings.error(
                "overhead",
                format!("`{}` is {overhead}", findings.path("overhead")),
                "write -64 to 256 bytes, as tc-cake(8) has it",
            );
        }
        findings.range("mpu", self.mpu, Bytes(0)..=Bytes(256), "Ethernet has 84B");
        if self.rate.is_some() && self.share.is_some() {
            findings.error(
                ["share", "rate"],
                "`rate` and `share` both define the shaper",
                "remove one of the two",
            );
        }
        const ROOM: &str = "Linux has four times what the rate carries in `rtt`, and 4MB at least";
        findings.range("memlimit", self.memlimit, Bytes(1_518).., ROOM);
        if self.shapes() {
            return;
        }
        if self.ingress {
            findings.warn(
                "ingress",
                format!("`{}` has no effect without a shaper", findings.path("ingress")),
                "it makes the shaper count what is dropped: set `rate` or `share`, or `autorate_ingress`",
            );
        }
        for (given, field) in [
            (self.line != Line::Raw, "line"),
            (self.overhead.is_some(), "overhead"),
            (self.mpu.is_some(), "mpu"),
            (self.framing.is_some(), "framing"),
        ] {
            if given {
                findings.warn(
                    field,
                    format!("`{}` has little effect without a shaper", findings.path(field)),
                    "the link sends frames as they are, and only the round robin counts them so: set `rate` or `share`",
                );
            }
        }
    }
}

impl Spec {
    /// Initial state of a data queue of this port.
    pub fn build(&self, site: &Site<'_>, port: usize, queue: usize) -> Cake {
        let link = &site.ports[port].link;
        let name = format!("cake at {}, port {port}, queue {queue}", site.name);
        let mut rng = Stream::named(site.seed, &name);
        let rate = self.rate.or_else(|| {
            self.share.map(|share| Rate(((link.rate.0 as f64 * share).round() as u64).max(1)))
        });
        let largest = u64::from(link.largest_frame).saturating_sub(FCS);
        let mut cake = Cake {
            spec: self.clone(),
            counting: self.line.counting().with(self.overhead, self.mpu, self.framing),
            largest,
            seed: rng.bits(),
            rng,
            rate,
            next: Instant::ZERO,
            tins: self.diffserv.tins().iter().map(|_| Tin::new(self.isolation)).collect(),
            turn: 0,
            current: None,
            popped: None,
            again: None,
            estimate: self.autorate_ingress.then(|| Estimate::new(rate)),
            out: VecDeque::new(),
            acks_filtered: 0,
        };
        cake.shape(rate);
        cake
    }

    /// Checks that the shaper is slower than some link of a switch.
    pub fn check_on(&self, graph: &Graph, findings: &mut Findings<'_>) {
        let Some(rate) = self.rate else { return };
        let ports = graph.switches().flat_map(|switch| &graph.node(switch).ports);
        let Some(fastest) = ports.map(|port| port.rate).max() else { return };
        if rate > fastest {
            findings.error(
                "rate",
                format!("the shaper ({rate}) is above the fastest link of a switch ({fastest})"),
                "lower it below the link, remove it, or use `share`",
            );
        }
    }

    /// Whether it has a shaper.
    pub const fn shapes(&self) -> bool {
        self.rate.is_some() || self.share.is_some() || self.autorate_ingress
    }

    /// Parameters of COBALT in a tin with this threshold: one and a half packet times of it are within the target.
    fn params(&self, threshold: Option<Rate>, largest: u64) -> Params {
        let target = Duration(self.rtt.0 / 20);
        let mtu_time = threshold.map_or(Duration::ZERO, |rate| rate.time_for(Bytes(largest)));
        let longer = target.max(Duration(mtu_time.0 * 3 / 2));
        let interval = (self.rtt + Duration(longer.0 - target.0)).max(Duration(2 * longer.0));
        Params { target: longer, interval, mtu_time }
    }
}

/// The packets of one data queue.
#[derive(Debug)]
pub struct Cake {
    spec: Spec,
    counting: Counting,
    /// Largest frame on the link, without its FCS.
    largest: u64,
    /// Seed of the hash.
    seed: u64,
    /// For the rounding of quanta and for BLUE.
    rng: Stream,
    /// Rate of the shaper.
    rate: Option<Rate>,
    /// When the shaper lets the next packet go.
    next: Instant,
    tins: Box<[Tin]>,
    /// The tin that is served, without a shaper.
    turn: usize,
    /// Tin and flow queue of the packet at the head.
    current: Option<(usize, usize)>,
    /// Tin and flow queue of the packet that was removed last.
    popped: Option<(usize, usize)>,
    /// In ingress mode: a packet of this tin was dropped at this time, when the shaper had let it go, and another one goes in
    /// its place.
    again: Option<(usize, Instant)>,
    /// With `autorate_ingress`.
    estimate: Option<Estimate>,
    /// Packets that were dropped when another one joined.
    out: VecDeque<Queued>,
    acks_filtered: u64,
}

impl Cake {
    /// Sets the rate of the shaper, and what depends on it.
    fn shape(&mut self, rate: Option<Rate>) {
        self.rate = rate;
        for (tin, share) in self.tins.iter_mut().zip(self.spec.diffserv.tins()) {
            let threshold = rate.map(|rate| share.threshold(rate));
            tin.configure(threshold, self.spec.params(threshold, self.largest));
        }
    }

    /// The shaper counts a packet of a tin; returns its length on the line.
    fn advance(&mut self, tin: usize, packet: &Packet, now: Instant) -> u64 {
        let bytes = self.counting.bytes(packet.bytes);
        let time =
            |rate: Option<Rate>| rate.map_or(Duration::ZERO, |rate| rate.time_for(Bytes(bytes)));
        self.next += time(self.rate);
        let of_tin = time(self.tins[tin].rate);
        self.tins[tin].advance(of_tin, now);
        bytes
    }

    /// A packet of a tin is dropped; in ingress mode, the shaper counts it.
    fn drops(&mut self, tin: usize, packet: &Packet, now: Instant) {
        if self.spec.ingress {
            self.advance(tin, packet, now);
        }
    }

    /// Removes the packet at the head of the longest flow queue, if a packet with this tin, hash and length had joined.
    fn overflow(&mut self, joining: Option<(usize, u64, u16)>, now: Instant) -> Option<Queued> {
        let of_tin = |(number, tin): (usize, &Tin)| {
            let arriving = joining.filter(|(own, ..)| *own == number);
            let (bytes, slot) = tin.longest(arriving.map(|(_, hash, bytes)| (hash, bytes)))?;
            Some((bytes, number, slot))
        };
        let longest = self.tins.iter().enumerate().filter_map(of_tin).max_by_key(|of| of.0);
        let (_, tin, slot) = longest?;
        let out = self.tins[tin].overflow(slot, now)?;
        self.drops(tin, &out.packet, now);
        Some(out)
    }

    fn hash(&self, packet: &Packet) -> u64 {
        mix(self.spec.isolation.key(packet) ^ self.seed)
    }

    fn is_empty(&self) -> bool {
        self.tins.iter().all(Tin::is_empty)
    }

    /// The tin that is served: with a shaper, that of the highest priority that is on schedule, or the one that is next on
    /// schedule; without one, by deficit round robin.
    fn tin(&mut self, now: Instant) -> usize {
        if self.rate.is_none() {
            while self.tins[self.turn].deficit < 0 || self.tins[self.turn].is_empty() {
                let tin = &mut self.tins[self.turn];
                if tin.deficit <= 0 {
                    tin.deficit += self.spec.diffserv.tins()[self.turn].quantum;
                }
                self.turn = (self.turn + 1) % self.tins.len();
            }
            return self.turn;
        }
        let waiting = self.tins.iter().enumerate().filter(|(_, tin)| !tin.is_empty());
        let due = waiting.map(|(number, tin)| (tin.next.max(now), std::cmp::Reverse(number)));
        due.min().map_or(0, |(_, number)| number.0)
    }
}

impl Discipline for Cake {
    fn push(&mut self, mut queued: Queued, now: Instant, _: &mut Stream) {
        if self.is_empty() {
            self.next = self.next.max(now);
        }
        let hash = self.hash(&queued.packet);
        let number = self.spec.diffserv.tin(queued.packet.dscp());
        if self.spec.wash {
            queued.packet.tos = Tos::new(Dscp::DEFAULT, queued.packet.ecn());
        }
        let tin = &mut self.tins[number];
        if tin.is_empty() {
            tin.next = tin.next.max(now);
        }
        let mut bytes = queued.packet.bytes;
        if let Some(ack) = tin.push(hash, queued, now, self.spec.ack_filter, &mut self.rng) {
            self.drops(number, &ack.packet, now);
            bytes = bytes.saturating_sub(ack.packet.bytes);
            self.acks_filtered += 1;
            self.out.push_back(ack);
        }
        if let Some(rate) =
            self.estimate.as_mut().and_then(|estimate| estimate.arrives(bytes.into(), now))
        {
            self.shape(Some(rate));
        }
        if let Some(Bytes(limit)) = self.spec.memlimit {
            while self.tins.iter().map(|tin| tin.bytes).sum::<u64>() > limit {
                let Some(out) = self.overflow(None, now) else { break };
                self.out.push_back(out);
            }
        }
    }

    fn settle(&mut self, now: Instant) -> Instant {
        self.current = None;
        if self.is_empty() {
            return Instant::NEVER;
        }
        let again = self.again.filter(|&(tin, at)| at == now && !self.tins[tin].is_empty());
        if again.is_none() && self.rate.is_some() && self.next > now {
            return self.next;
        }
        let tin = again.map_or_else(|| self.tin(now), |(tin, _)| tin);
        self.current = self.tins[tin].settle(now, &mut self.rng).map(|slot| (tin, slot));
        Instant::NEVER
    }

    fn head(&self) -> Option<&Queued> {
        let (tin, slot) = self.current?;
        self.tins[tin].head(slot).map(|(queued, _)| queued)
    }

    fn head_mut(&mut self) -> Option<&mut Packet> {
        let (tin, slot) = self.current?;
        self.tins[tin].head_mut(slot)
    }

    fn head_since(&self) -> Option<Instant> {
        let (tin, slot) = self.current?;
        self.tins[tin].head(slot).map(|(_, since)| *since)
    }

    fn on_departure(&mut self, leaving: &mut Leaving<'_>) -> Verdict {
        let Some((tin, slot)) = self.current else { return Verdict::Pass };
        let Some((queued, since)) = self.tins[tin].head(slot) else { return Verdict::Pass };
        let sojourn = leaving.now.since(*since);
        let can_mark = leaving.can_mark(&queued.packet);
        let (packet, now) = (queued.packet, leaving.now);
        let flows = if self.spec.ingress { self.tins[tin].bulk_flows() } else { 0 };
        let (cobalt, params, is_last) = self.tins[tin].aqm(slot);
        let params = params.with_flows(flows);
        let verdict = cobalt.decide(&params, (sojourn, now), (can_mark, is_last), &mut self.rng);
        if self.spec.ingress && verdict == Verdict::Drop {
            let bytes = self.advance(tin, &packet, now);
            self.tins[tin].charge(slot, bytes as i64);
            self.again = Some((tin, now));
        }
        verdict
    }

    fn pop(&mut self) -> Option<Queued> {
        // Discarded packets are popped without a call of `settle`.
        let waits = |&(tin, slot): &(usize, usize)| self.tins[tin].head(slot).is_some();
        let any = || self.tins.iter().enumerate().find_map(|(n, tin)| Some((n, tin.any()?)));
        let (tin, slot) = self.current.filter(waits).or_else(any)?;
        self.popped = Some((tin, slot));
        self.tins[tin].pop(slot)
    }

    fn on_sent(&mut self, packet: &Packet, _: &Transmitter, now: Instant) {
        let Some((tin, slot)) = self.popped.take() else { return };
        self.again = None;
        let bytes = self.advance(tin, packet, now);
        self.tins[tin].on_sent(slot, bytes as i64);
    }

    fn push_out(&mut self, packet: &Packet, now: Instant) -> Option<Queued> {
        let joining = (self.spec.diffserv.tin(packet.dscp()), self.hash(packet), packet.bytes);
        self.overflow(Some(joining), now)
    }

    fn push_out_more(&mut self) -> Option<Queued> {
        self.out.pop_front()
    }

    fn count(&self, _: Instant, tally: &mut Tally) {
        tally.acks_filtered += self.acks_filtered;
    }

    fn iter(&self) -> Box<dyn Iterator<Item = &Queued> + '_> {
        Box::new(self.tins.iter().flat_map(Tin::iter))
    }

    fn is_consistent(&self) -> bool {
        self.tins.iter().all(Tin::is_consistent)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

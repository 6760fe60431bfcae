//! The transmitter of a link, common to switches and NICs: it tracks when the wire is free, sends
//! frames, and obeys the pauses that the other end requests.

mod pause;

use floodway_model::graph::on_wire;
use floodway_model::id::CLASSES;
use floodway_model::line::Counting;
use floodway_model::units::ByteTime;
use floodway_model::{Body, Class, Duration, FlowId, Instant, NodeId, Packet, PortIx, Rate};

use crate::allowance::Allowance;
use crate::context::Context;
use crate::errors::Counts;
use crate::failure::Outages;
use crate::metric::Metrics;
use crate::observe::{At, Fact, Kinds, Observers, OnWire};
use crate::pace::Pacing;
use crate::retry::Retry;

pub use pause::{Pause, pause_time};

/// Properties of a link, as seen from one end. The fields that every frame needs come first.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Link {
    /// The node at the other end.
    pub peer: NodeId,
    /// The port there.
    pub peer_port: PortIx,
    /// Where the engine delivers frames: the other end, or, if that is a port of a host with several, the first port
    /// of the host, and the number of the port.
    pub to: (NodeId, PortIx),
    /// Preamble and interframe gap, in bytes.
    pub wire_overhead: u16,
    /// What it adds to frames; `None` on Ethernet.
    pub line: Option<Counting>,
    /// Propagation delay.
    pub delay: Duration,
    /// Latency at the other end: from the arrival of a frame's last bit until it is handled there,
    /// for frames that are forwarded or delivered.
    pub latency: Duration,
    /// Rate at which this end sends.
    pub rate: Rate,
    /// Rate at which the other end sends.
    pub rate_back: Rate,
    /// Latency of pause frames: the response time of the port.
    pub response: Duration,
    /// Longest frame that crosses the link, in bytes, without preamble and interframe gap.
    pub largest_frame: u16,
    /// The node at this end.
    pub node: NodeId,
    /// The port here.
    pub port: PortIx,
}

impl Link {
    /// Bytes on the wire of a frame.
    pub fn on_wire(&self, frame: u16) -> u64 {
        on_wire(self.line, frame, self.wire_overhead.into())
    }
}

#[cfg(test)]
impl Link {
    /// 100 Gb/s, without any delay.
    pub const PLAIN: Self = Self {
        peer: NodeId(0),
        peer_port: PortIx(0),
        to: (NodeId(0), PortIx(0)),
        rate: Rate::from_gbps(100),
        rate_back: Rate::from_gbps(100),
        line: None,
        delay: Duration::ZERO,
        latency: Duration::ZERO,
        response: Duration::ZERO,
        wire_overhead: 20,
        largest_frame: 1_522,
        node: NodeId(0),
        port: PortIx(0),
    };
}

/// The sending end of a link. The fields that every frame needs come first, in one cache line.
#[derive(Debug)]
#[repr(C)]
pub struct Transmitter {
    /// When the next frame may begin: when the one on the wire ends, or later if the port is held to a
    /// pace.
    pub busy_until: Instant,
    /// When the last of all current pauses ends; afterwards no pause needs to be checked. Never with a retry.
    last_pause_ends: Instant,
    byte_time: ByteTime,
    /// Delay of the link plus latency of the other end.
    flight: Duration,
    /// See [`Link::to`].
    to: NodeId,
    to_port: PortIx,
    wire_overhead: u16,
    /// Frames sent.
    pub frames: u64,
    /// Their bytes, without preamble and interframe gap.
    pub bytes: u64,
    /// Their time on the wire, including the rest of the frame that is being sent, and the time for which the pace held
    /// back others.
    pub busy: Duration,
    /// Whether the link has another framing than Ethernet, and whether that, a pace or a retry decides when frames end.
    is_framed: bool,
    is_special: bool,
    /// Whether the link may fail, the other end limits what is sent, or an observer wants to know of frames.
    examined: bool,
    /// Whether it is more than that of some flows, or that the link is occupied.
    examined_in_full: bool,
    seldom: Box<Seldom>,
}

/// Fields that most frames do not need.
#[derive(Debug)]
struct Seldom {
    link: Link,
    /// Whether a pause lasts until a frame ends it, instead of expiring.
    endless: bool,
    /// Pauses by class.
    pauses: [Pause; CLASSES],
    /// What the other end has room for; `None` if it does not say.
    allowance: Option<Allowance>,
    /// What holds back the port; `None` if it sends at the rate of the link.
    pacing: Option<Pacing>,
    /// Sends frames with errors again; `None` if they are lost.
    retry: Option<Box<Retry>>,
    /// About the latest MAC control frames sent without another frame in between: the end of the
    /// frame before them, and their own end.
    control: (Instant, Instant),
    /// Failures of the link; `None` if it never fails.
    outages: Option<Box<Outages>>,
    /// Class and flow of the last frame, if the link is examined. Frames that end at the other end have no flow.
    last: (Class, Option<FlowId>),
}

impl Transmitter {
    /// An idle transmitter.
    pub fn new(link: Link) -> Self {
        Self {
            busy_until: Instant::ZERO,
            last_pause_ends: Instant::ZERO,
            byte_time: ByteTime::at(link.rate),
            flight: link.delay + link.latency,
            wire_overhead: link.wire_overhead,
            is_framed: link.line.is_some(),
            is_special: link.line.is_some(),
            to_port: link.to.1,
            to: link.to.0,
            frames: 0,
            bytes: 0,
            busy: Duration::ZERO,
            examined: false,
            examined_in_full: false,
            seldom: Box::new(Seldom {
                link,
                endless: false,
                pauses: [Pause::default(); CLASSES],
                allowance: None,
                pacing: None,
                retry: None,
                control: (Instant::ZERO, Instant::ZERO),
                outages: None,
                last: (Class(0), None),
            }),
        }
    }

    /// A pause lasts until a frame ends it.
    pub fn pause_endlessly(&mut self) {
        self.seldom.endless = true;
    }

    /// From now on the port is held to a pace.
    pub fn hold(&mut self, pacing: Option<Pacing>) {
        self.is_special = self.is_framed || pacing.is_some() || self.seldom.retry.is_some();
        self.seldom.pacing = pacing;
    }

    /// From now on frames with errors are sent again.
    pub fn retry(&mut self, retry: Option<Box<Retry>>) {
        if retry.is_some() {
            (self.is_special, self.last_pause_ends) = (true, Instant::NEVER);
        }
        self.seldom.retry = retry;
    }

    /// From now on classes only send what the other end has room for.
    pub fn limit(&mut self, allowance: Option<Allowance>) {
        self.examined |= allowance.is_some();
        self.examined_in_full |= allowance.is_some();
        self.seldom.allowance = allowance;
    }

    /// The other end has room for more bytes of a class, up to this number since the start.
    pub fn raise_limit(&mut self, class: u8, limit: u64, now: Instant, context: &mut Context) {
        let allowance = self.seldom.allowance.as_mut();
        if allowance.is_some_and(|allowance| allowance.raise(class.into(), limit)) {
            self.pause_until(1 << class, now, now, context);
        }
    }

    /// How long a pause of this many quanta lasts for an end that sends at this rate.
    fn lasts_at(&self, quanta: u16, rate: Rate) -> Duration {
        match self.seldom.endless && quanta > 0 {
            true => Duration(u64::MAX),
            false => pause_time(quanta, rate),
        }
    }

    /// How long the other end pauses if it is asked to for this many quanta.
    pub fn lasts(&self, quanta: u16) -> Duration {
        self.lasts_at(quanta, self.seldom.link.rate_back)
    }

    /// Properties of the link.
    pub fn link(&self) -> &Link {
        &self.seldom.link
    }

    /// Preamble and interframe gap, in bytes.
    #[inline]
    pub fn wire_overhead(&self) -> u16 {
        self.wire_overhead
    }

    /// Pauses by class.
    #[inline]
    pub fn pauses(&self) -> &[Pause; CLASSES] {
        &self.seldom.pauses
    }

    /// Time on the wire of a byte.
    pub fn byte_time(&self) -> ByteTime {
        self.byte_time
    }

    /// Time on the wire of a frame of `bytes`, with what the link adds to it.
    #[inline]
    pub fn wire_time(&self, bytes: u16) -> Duration {
        if self.is_framed {
            return self.framed_time(bytes);
        }
        self.byte_time.of(u64::from(bytes) + u64::from(self.wire_overhead))
    }

    #[cold]
    fn framed_time(&self, bytes: u16) -> Duration {
        self.byte_time.of(self.seldom.link.on_wire(bytes))
    }

    /// Sends a frame on the free wire. Its last bit arrives after its wire time and the delay.
    #[inline(always)]
    pub fn transmit(&mut self, packet: &Packet, class: Class, now: Instant, context: &mut Context) {
        if self.is_special {
            return self.transmit_specially(packet, class, now, context);
        }
        let bytes = u64::from(packet.bytes) + u64::from(self.wire_overhead);
        let wire_time = self.byte_time.of(bytes);
        self.put(packet, class, now, (now + wire_time, wire_time, wire_time), context);
    }

    /// Sends a frame on a link with another framing, or from a port that is held to a pace.
    #[cold]
    #[inline(never)]
    fn transmit_specially(
        &mut self,
        packet: &Packet,
        class: Class,
        now: Instant,
        context: &mut Context,
    ) {
        let wire_time = self.wire_time(packet.bytes);
        let ends = now + wire_time;
        let seldom = &mut *self.seldom;
        if let Some(retry) = &mut seldom.retry {
            let on_wire = seldom.link.on_wire(packet.bytes);
            let fate = retry.send(packet.bytes, on_wire, is_link_control(&packet.body), now);
            let times = (fate.ends, fate.free.since(now), fate.busy);
            return self.put(packet, class, now, times, context);
        }
        let (ends, free) = match &mut seldom.pacing {
            None => (ends, ends),
            Some(pacing) => {
                let on_wire = seldom.link.on_wire(packet.bytes);
                pacing.send(packet.bytes, on_wire, now, ends)
            }
        };
        let occupied = free.since(now);
        self.put(packet, class, now, (ends, occupied, occupied.max(wire_time)), context);
    }

    /// Puts a frame on the wire, which it has left at `ends`. The next one may follow after `occupied`, and the wire counts as
    /// busy for `busy`.
    #[inline(always)]
    fn put(
        &mut self,
        packet: &Packet,
        class: Class,
        now: Instant,
        (ends, occupied, busy): (Instant, Duration, Duration),
        context: &mut Context,
    ) {
        debug_assert!(self.busy_until <= now, "the wire is busy");
        let before = self.busy_until;
        self.busy_until = now + occupied;
        self.busy += busy;
        self.frames += 1;
        self.bytes += u64::from(packet.bytes);
        let flight = match packet.is_one_hop() {
            true => self.flight_of(&packet.body, before),
            false => self.flight,
        };
        context.metrics.count_hop();
        let at = ends + flight;
        if self.examined && self.is_lost(packet, class, now, (ends, at), context) {
            return;
        }
        context.send((self.to, self.to_port), at, packet, class);
    }

    /// Reports that the frame is sent: when it has left, and when it is due to be handled. Returns whether it is lost.
    #[cold]
    fn is_lost(
        &mut self,
        packet: &Packet,
        class: Class,
        now: Instant,
        times: (Instant, Instant),
        context: &mut Context,
    ) -> bool {
        let Link { peer, peer_port: port, .. } = self.seldom.link;
        let until = self.busy_until;
        let flow = (!packet.is_one_hop()).then_some(packet.flow);
        self.seldom.last = (class, flow);
        context.state_here(Kinds::OCCUPIED, peer, now, || Fact::Occupied {
            port,
            flow,
            class,
            until,
        });
        (self.examined_in_full || context.wants_of(Kinds::SENT, packet.flow))
            && self.examined(packet, class, now, times, context)
    }

    /// Reports that the frame is sent. Stops its class if the other end has no room for another one. Returns whether it
    /// is lost.
    #[cold]
    #[inline(never)]
    fn examined(
        &mut self,
        packet: &Packet,
        class: Class,
        now: Instant,
        (until, handled_at): (Instant, Instant),
        context: &mut Context,
    ) -> bool {
        let delay = self.seldom.link.delay;
        let telemetry = match context.wants(Kinds::SENT) {
            true => context.telemetry_of(packet),
            false => None,
        };
        let (begins, is_given_up) = match &self.seldom.retry {
            Some(retry) => (retry.last.begins, retry.last.is_lost),
            None => (now, false),
        };
        let lost = self.seldom.outages.as_mut().and_then(|outages| {
            outages.takes(packet, (now, until + delay), is_given_up, begins > now)
        });
        if lost.is_some() {
            context.free_telemetry(packet);
        }
        let link = &self.seldom.link;
        let (port, to) = (link.port.index(), (link.peer, link.peer_port));
        context.state_here(Kinds::SENT, self.seldom.link.node, now, || Fact::Sent {
            port,
            to,
            packet,
            class,
            begins,
            until,
            handled_at,
            lost,
            telemetry: telemetry.as_ref(),
        });
        if let Some(allowance) = &mut self.seldom.allowance
            && allowance.spend(class.index(), packet.bytes)
        {
            self.pause_until(1 << class.index(), Instant::NEVER, now, context);
        }
        lost.is_some()
    }

    /// Sets the failures of the link.
    pub fn fail(&mut self, outages: Option<Box<Outages>>) {
        self.examined |= outages.is_some();
        self.examined_in_full |= outages.is_some();
        self.seldom.outages = outages;
    }

    /// Sets what observers want to know of frames: that every one is sent, and that they occupy the link.
    pub fn examine(&mut self, every_one: bool, some: bool) {
        self.examined_in_full =
            every_one || self.seldom.outages.is_some() || self.seldom.allowance.is_some();
        self.examined = self.examined_in_full || some;
    }

    /// Failures of the link; `None` if it never fails.
    pub fn outages(&self) -> Option<&Outages> {
        self.seldom.outages.as_deref()
    }

    /// The frame that is on the wire, or the last one.
    pub fn on_wire(&self) -> OnWire {
        let (class, flow) = self.seldom.last;
        OnWire { flow, class, until: self.busy_until }
    }

    /// For a frame that ends at the neighbor, the time from the end of its transmission until the
    /// neighbor handles it. It is on the wire now; the frame before it ended at `before`.
    #[cold]
    fn flight_of(&mut self, body: &Body, before: Instant) -> Duration {
        // A CIM is queued like other frames.
        if !matches!(body, Body::Cim) {
            let first = self.seldom.control.1 != before;
            let begun = if first { before } else { self.seldom.control.0 };
            self.seldom.control = (begun, self.busy_until);
        }
        let link = &self.seldom.link;
        match body {
            Body::Pfc { .. } | Body::Pause { .. } => link.delay + link.response,
            _ => link.delay,
        }
    }

    /// When the last frame from a queue ends. MAC control frames do not come from a queue, so they
    /// do not make a queue busy.
    pub fn queues_idle_from(&self) -> Instant {
        let (before, end) = self.seldom.control;
        if end == self.busy_until { before } else { self.busy_until }
    }

    /// Whether the transmitter is closed because the link is known to be down.
    #[inline]
    pub fn is_closed(&self) -> bool {
        self.busy_until == Instant::NEVER
    }

    /// When the known state of the link changes next.
    #[inline]
    pub fn next_update(&self) -> Instant {
        // Failures are examined, so the rest of the state is not read without them.
        if !self.examined {
            return Instant::NEVER;
        }
        let outages = self.seldom.outages.as_ref();
        outages.map_or(Instant::NEVER, |outages| outages.next_update())
    }

    /// Processes the updates of the link's failures that are due. Returns whether the link is
    /// closed from now on, if that changes. If it is, pauses from the other end no longer apply.
    pub fn update(&mut self, now: Instant, context: &mut Context) -> Option<bool> {
        if !self.examined {
            return None;
        }
        let closes = self.seldom.outages.as_mut()?.update(now)?;
        if closes {
            self.pause(u8::MAX, 0, now, context);
            if let Some(retry) = &mut self.seldom.retry {
                retry.reset();
            }
        }
        self.busy_until = if closes { Instant::NEVER } else { now };
        Some(closes)
    }

    /// Number of frames lost on the link by failures and at random, not by bit errors.
    pub fn lost(&self) -> u64 {
        self.seldom
            .outages
            .as_ref()
            .map_or(0, |outages| outages.lost.iter().map(|lost| lost.0).sum())
    }

    /// What bit errors did.
    pub fn errors(&self) -> Counts {
        let Some(outages) = &self.seldom.outages else { return Counts::default() };
        let lost = outages.corrupted.iter().map(|lost| lost.0).sum();
        match &self.seldom.retry {
            Some(retry) => Counts { lost, ..retry.counts },
            None => Counts { corrupted: lost, replayed: 0, lost },
        }
    }

    /// The part of `busy` after `now`.
    pub fn unfinished(&self, now: Instant) -> Duration {
        if self.is_closed() {
            return Duration::ZERO;
        }
        let first = self.busy_until.since(now);
        match &self.seldom.retry {
            Some(retry) => (first + retry.unfinished(now)).min(self.busy),
            None => first,
        }
    }

    /// Ends all pauses at the end of a run, for the counters.
    pub fn finish(&mut self, now: Instant, metrics: &mut Metrics, observers: &mut Observers) {
        let is_measured = metrics.sampling().measures_at(now);
        let at = At { node: self.seldom.link.node, now, is_measured };
        for class in 0..CLASSES {
            let Some(ended) = self.seldom.pauses[class].set(now, now) else { continue };
            metrics.count_pause(class, ended);
            if observers.want(Kinds::PAUSE_ENDED) {
                observers.on(&self.pause_ended(class, ended), &at);
            }
        }
    }
}

/// Whether a frame is a MAC control frame, which no queue holds, and which a retry numbers apart.
pub fn is_link_control(body: &Body) -> bool {
    use Body::{Bfc, Drc, LinkCredit, Pause, Pfc};
    matches!(body, Pfc { .. } | Pause { .. } | Bfc { .. } | Drc { .. } | LinkCredit { .. })
}

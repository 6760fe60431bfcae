//! The receiving half of credit-based flow control: it counts what arrives, and sends credit frames for what is freed.

use std::collections::VecDeque;

use floodway_model::id::CLASSES;
use floodway_model::{Body, Instant};

use super::Spec;
use crate::allowance::Allowance;
use crate::link::Link;
use crate::metric::Tally;
use crate::switch::buffer::Buffer;
use crate::switch::flow_control::pausing::{Held, Source, source_of};
use crate::switch::mechanism::{
    Action, Actions, Arrived, Dropped, Events, Left, Mechanism, Site, View,
};

/// The accounts of one switch.
#[derive(Debug)]
pub struct Cbfc {
    spec: Spec,
    /// The longest frame of each ingress port.
    frames: Vec<u64>,
    /// Number of data classes.
    queues: usize,
    /// By ingress port and class.
    accounts: Vec<Account>,
    /// Accounts whose period ends, and when. Entries whose time is not that of the account are out of date.
    due: VecDeque<(Instant, Source)>,
    /// Credit frames sent.
    pub frames_sent: u64,
}

#[derive(Clone, Debug)]
struct Account {
    /// Bytes that have arrived since the start.
    arrived: u64,
    /// The last limit that was sent; in the beginning, the buffer.
    limit: u64,
    /// The limit before it. Until the last one has arrived, the sender knows only this.
    before: u64,
    /// When credit is sent even if little is freed.
    due: Instant,
}

impl Cbfc {
    /// Bytes of a source may have been freed, and it holds this many now. Returns the limit to send, if one is due.
    pub(super) fn settle(&mut self, source: Source, held: u64, now: Instant) -> Option<u64> {
        let account = &mut self.accounts[source.index()];
        let limit = account.arrived.saturating_add(self.spec.buffer.0 - held);
        let freed = limit - account.limit;
        if freed >= self.spec.threshold.0 {
            return Some(self.grant(source, held));
        }
        if let Some(period) = self.spec.period
            && freed > 0
            && account.due == Instant::NEVER
        {
            account.due = now + period;
            self.due.push_back((account.due, source));
        }
        None
    }

    /// The limit of a source that holds this many bytes: what has arrived, and the free part of its buffer. It is sent
    /// now.
    fn grant(&mut self, source: Source, held: u64) -> u64 {
        let account = &mut self.accounts[source.index()];
        account.before = account.limit;
        account.limit = account.arrived.saturating_add(self.spec.buffer.0 - held);
        account.due = Instant::NEVER;
        self.frames_sent += 1;
        account.limit
    }

    /// A source whose period is over.
    pub(super) fn next_due(&mut self, now: Instant) -> Option<Source> {
        while let Some(&(due, source)) = self.due.front().filter(|(due, _)| *due <= now) {
            self.due.pop_front();
            if self.accounts[source.index()].due == due {
                return Some(source);
            }
        }
        None
    }

    /// Bytes of a source have arrived.
    pub(super) fn arrive(&mut self, source: Source, bytes: u16) {
        self.accounts[source.index()].arrived += u64::from(bytes);
    }

    fn frame(&self, source: Source, limit: u64) -> Action {
        let body = Body::LinkCredit { class: source.class() as u8, limit };
        Action::SendLinkControl { port: source.port(), body, bytes: self.spec.frame.0 as u16 }
    }

    /// A packet is no longer here.
    fn on_gone(&mut self, source: Source, view: &View<'_>, actions: &mut Actions) {
        if source.class() >= self.queues {
            return;
        }
        let waiting = self.due.len();
        match self.settle(source, view.buffer.held(source), view.now) {
            Some(limit) => actions.push(self.frame(source, limit)),
            None if self.due.len() > waiting => actions.push(Action::Arm),
            None => {}
        }
    }
}

impl Mechanism for Cbfc {
    type Spec = Spec;

    fn allowance(spec: &Spec, link: &Link, queues: u8) -> Option<Allowance> {
        Some(Allowance::new(queues, spec.buffer.0, link.largest_frame))
    }

    fn build(spec: &Spec, site: &Site<'_>) -> Option<Self> {
        let account = Account {
            arrived: 0,
            limit: spec.buffer.0,
            before: spec.buffer.0,
            due: Instant::NEVER,
        };
        Some(Self {
            frames: site.ports.iter().map(|port| port.link.largest_frame.into()).collect(),
            queues: site.queues,
            accounts: vec![account; site.ports.len() * CLASSES],
            due: VecDeque::new(),
            frames_sent: 0,
            spec: spec.clone(),
        })
    }

    // Packets that find the port idle use credit too, which is returned when they leave.
    fn wants(&self) -> Events {
        Events::ARRIVED.and(Events::LEFT).and(Events::LONE).and(Events::DROPPED).and(Events::TIMER)
    }

    fn on_arrived(&mut self, arrived: &Arrived<'_>, _: &View<'_>, _: &mut Actions) {
        self.arrive(source_of(arrived.packet), arrived.packet.bytes);
    }

    fn on_left(&mut self, left: &Left<'_>, view: &View<'_>, actions: &mut Actions) {
        self.on_gone(source_of(left.packet), view, actions);
    }

    fn on_dropped(&mut self, dropped: &Dropped<'_>, view: &View<'_>, actions: &mut Actions) {
        self.on_gone(source_of(dropped.packet), view, actions);
    }

    fn next_wake(&self) -> Instant {
        self.due.front().map_or(Instant::NEVER, |&(due, _)| due)
    }

    fn on_timer(&mut self, view: &View<'_>, actions: &mut Actions) {
        while let Some(source) = self.next_due(view.now) {
            let limit = self.grant(source, view.buffer.held(source));
            actions.push(self.frame(source, limit));
        }
        actions.push(Action::Arm);
    }

    /// The neighbor goes on when there is room for a frame and it knows that.
    fn held(&self, source: Source, buffer: &Buffer) -> Option<Held> {
        let account = &self.accounts[source.index()];
        let room = self.spec.buffer.0.saturating_sub(self.frames[source.port()]);
        let free = account.arrived.saturating_add(self.spec.buffer.0);
        let known = free.saturating_sub(account.limit.saturating_add(self.spec.threshold.0));
        let at = if self.spec.period.is_some() { room } else { room.min(known) };
        (buffer.held(source) > at).then_some(Held::ByItsBytes(at))
    }

    fn has_no_credit(&self, source: Source) -> bool {
        let account = &self.accounts[source.index()];
        account.before.saturating_sub(account.arrived) < self.frames[source.port()]
    }

    fn count(&self, tally: &mut Tally) {
        tally.link_credits_sent += self.frames_sent;
    }
}

//! PFC and PAUSE, as the checks see them: both stop a neighbor between two thresholds.

use std::collections::BTreeMap;

use floodway_model::check::count_of;
use floodway_model::graph::NodeKind;
use floodway_model::packet::length;
use floodway_model::units::ByteTime;
use floodway_model::{Bytes, Duration, Graph, NodeId, Rate};
use floodway_sim::link::pause_time;
use floodway_sim::switch::buffer::{Holder, Limit};
use floodway_sim::switch::flow_control::{pause, pausing, pfc};

use super::buffer::{check_pausing as check_shared, no_pool};
use super::{Problems, links_to_switches};
use crate::document::Document;

/// PFC or PAUSE.
pub struct Pausing {
    /// What people call it.
    pub name: &'static str,
    /// The table of its parameters.
    pub table: &'static str,
    /// Occupancy above which a neighbor is paused.
    pub xoff: Bytes,
    /// Occupancy at or below which it goes on.
    pub xon: Bytes,
    /// Length of a pause.
    pub quanta: u16,
    /// Whether a pause lasts until a frame ends it, and not for its quanta.
    pub endless: bool,
    /// Time to obey a pause frame.
    pub response: Option<Duration>,
    /// Where it is measured.
    pub measured: Measured,
    /// Whether it is PFC, which knows classes.
    pub by_class: bool,
    /// Whether losses are faults, and so is too little headroom.
    pub lossless: bool,
    /// How many of the data classes are lossless.
    pub lossless_classes: u8,
    /// How many of them have pause frames of their own.
    pub told_classes: u8,
}

/// Where occupancy is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measured {
    /// By ingress port, and by class with PFC.
    Ingress,
    /// By ingress port and class, against the dynamic threshold of a shared memory.
    IngressPool,
    /// By egress queue.
    EgressQueue,
    /// By egress port.
    EgressPort,
    /// In the whole switch.
    Memory,
}

impl Measured {
    /// Whether it is what came in that counts, not what waits to go out.
    pub fn is_ingress(self) -> bool {
        matches!(self, Self::Ingress | Self::IngressPool)
    }

    /// For messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ingress => "ingress",
            Self::IngressPool => "ingress pool",
            Self::EgressQueue => "egress queue",
            Self::EgressPort => "egress port",
            Self::Memory => "buffer",
        }
    }
}

impl Pausing {
    /// The one that is on.
    pub fn of(settings: &Document) -> Option<Self> {
        let flow_control = &settings.switch.flow_control;
        let pfc = flow_control.pfc.as_ref().map(|spec| Self::by_class(settings, spec));
        pfc.or_else(|| flow_control.pause.as_ref().map(|spec| Self::by_port(settings, spec)))
    }

    fn by_class(settings: &Document, spec: &pfc::Spec) -> Self {
        let count = settings.switch.queue.count;
        let classes = (0..count).filter(|&class| spec.covers(class)).count() as u8;
        Self {
            name: "PFC",
            table: "switch.flow_control.pfc",
            xoff: spec.xoff,
            xon: spec.xon,
            quanta: spec.quanta,
            endless: !spec.refresh,
            response: spec.response,
            measured: match spec.measured_on {
                pfc::MeasuredOn::Ingress => Measured::Ingress,
                pfc::MeasuredOn::IngressPool => Measured::IngressPool,
                pfc::MeasuredOn::EgressQueue => Measured::EgressQueue,
            },
            by_class: true,
            lossless: spec.lossless,
            lossless_classes: classes,
            told_classes: classes,
        }
    }

    fn by_port(settings: &Document, spec: &pause::Spec) -> Self {
        Self {
            name: "PAUSE",
            table: "switch.flow_control.pause",
            xoff: spec.xoff,
            xon: spec.xon,
            quanta: spec.quanta,
            endless: false,
            response: Some(spec.response),
            measured: match spec.measured_on {
                pause::MeasuredOn::Ingress => Measured::Ingress,
                pause::MeasuredOn::EgressPort => Measured::EgressPort,
                pause::MeasuredOn::Memory => Measured::Memory,
            },
            by_class: false,
            lossless: spec.lossless,
            lossless_classes: settings.switch.queue.count,
            told_classes: 1,
        }
    }

    /// The full name of one of its parameters.
    pub fn path(&self, field: &str) -> String {
        format!("{}.{field}", self.table)
    }

    /// What one source can still deliver on a link of this kind after the decision to pause it.
    pub fn headroom(&self, settings: &Document, rate: Rate, delay: Duration) -> Bytes {
        let link = pausing::Link {
            rate,
            delay,
            lossless_classes: self.told_classes,
            smallest_frame: length::SHORTEST_FRAME,
            largest_frame: super::largest_frame(settings),
            wire_overhead: settings.wire_overhead.0 as u16,
            latency: settings.switch.latency,
            cell: settings.switch.cell,
        };
        let response = self.response.unwrap_or_else(|| pausing::standard_response(rate));
        link.headroom(response + beyond_propagation(settings, rate))
    }

    /// XOFF and XON; none if a pool's threshold takes their place.
    pub fn thresholds(&self) -> Option<(Bytes, Bytes)> {
        (self.measured != Measured::IngressPool).then_some((self.xoff, self.xon))
    }

    /// What the neediest link to a switch takes.
    pub fn largest_headroom(&self, settings: &Document, graph: &Graph) -> Bytes {
        let links = links_to_switches(graph).into_keys();
        let needs = links.map(|(rate, delay)| self.headroom(settings, rate, delay));
        needs.max().unwrap_or(Bytes(0))
    }

    /// The highest XOFF above which there is room for what neighbors send until they obey. Fails with the reason and
    /// the remedy.
    pub fn highest_xoff(
        &self,
        settings: &Document,
        graph: &Graph,
    ) -> Result<Bytes, (String, String)> {
        let xoff = self.path("xoff");
        let buffer = &settings.switch.buffer;
        let Limit { bytes, field, .. } = buffer.limit(&settings.switch.queue);
        let Some(size) = bytes.filter(|_| buffer.pools().is_none()) else {
            return Err((
                format!("`{xoff}` is \"auto\", and a shared memory has no size of its own above it"),
                "measure on `ingress_pool`, and write headroom = \"auto\" in [switch.buffer.shared]"
                    .to_owned(),
            ));
        };
        let needed = match self.measured.is_ingress() {
            true => self.largest_headroom(settings, graph),
            false => self.headroom_of_all_ports(settings, graph, graph.switches()).0,
        };
        match size.0.checked_sub(needed.0).filter(|xoff| *xoff > 0) {
            Some(xoff) => Ok(Bytes(xoff)),
            None => Err((
                format!(
                    "`{xoff}` is \"auto\", and the headroom above it would take {needed}, more than {size}"
                ),
                format!("raise `{field}`"),
            )),
        }
    }

    /// Another way to measure, for remedies: the one that sees a shared ingress.
    pub fn on_ingress(&self) -> &'static str {
        if self.by_class { "`ingress_pool`" } else { "`ingress`" }
    }
}

/// How much longer than propagation the loop of a retry may be: frames that were sent in it arrive after a pause if one of
/// them has an error.
fn beyond_propagation(settings: &Document, rate: Rate) -> Duration {
    let retries = settings.errors.iter().filter(|entry| entry.may_happen());
    let retries = retries.filter_map(|entry| entry.retry.as_ref());
    let waits = retries.map(|retry| retry.processing + ByteTime::at(rate).of(retry.spacing.0));
    waits.max().unwrap_or_default()
}

/// The checks.
impl Pausing {
    /// Its numbers against each other, the memory and the links.
    pub(super) fn check(
        &self,
        settings: &Document,
        graph: &Graph,
        largest_frame: u16,
        findings: &mut Problems<'_>,
    ) {
        if !self.endless {
            self.check_refresh(settings, graph, largest_frame, findings);
        }
        if self.measured == Measured::Memory {
            self.check_circle(graph, findings);
        }
        let buffer = &settings.switch.buffer;
        let limit = buffer.limit(&settings.switch.queue);
        if let Some(memory) = buffer.pools() {
            // Each lossless class by its own shares; most have the same.
            let classes = settings.switch.flow_control.lossless();
            let lossless =
                (0..settings.switch.queue.count).filter(|class| classes >> class & 1 != 0);
            let mut seen = Vec::new();
            for memory in lossless.map(|class| memory.for_queue(class)) {
                if !seen.contains(&memory) {
                    check_shared(settings, self, &memory, graph, largest_frame, findings);
                    seen.push(memory);
                }
            }
        } else if self.measured == Measured::IngressPool {
            no_pool(findings);
        } else if let Some(size) = limit.bytes {
            self.check_static(settings, (limit, size), graph, largest_frame, findings);
        }
    }

    /// Whether two switches can stop each other.
    fn check_circle(&self, graph: &Graph, findings: &mut Problems<'_>) {
        let is_switch = |node| graph.node(node).kind != NodeKind::Host;
        let mut between = graph.links().map(|(from, _, end)| (from, end.peer));
        let Some((a, b)) = between.find(|&(a, b)| is_switch(a) && is_switch(b)) else { return };
        findings.warn(
            &[&self.path("measured_on")],
            format!(
                "when {} and {} are both above XOFF, each can wait for ever for the other to let \
                 it go on",
                graph.node(a).name,
                graph.node(b).name
            ),
            "a buffer full of packets to a stopped port does not drain: measure on `ingress` or \
             `egress_port`, or take a network of one switch",
        );
    }

    /// Whether there is room above XOFF where each queue, port, or port and class, has its own.
    fn check_static(
        &self,
        settings: &Document,
        (Limit { of, field: path, .. }, size): (Limit, Bytes),
        graph: &Graph,
        largest_frame: u16,
        findings: &mut Problems<'_>,
    ) {
        let xoff = self.path("xoff");
        let (whose, what) = match of {
            Holder::Queue => ("the queue's size", "queue"),
            Holder::Port | Holder::Switch => ("the port's buffer", "buffer"),
        };
        if self.xoff > size {
            findings.error(
                &[&xoff, path],
                format!("XOFF ({}) is above {whose} ({size})", self.xoff),
                format!(
                    "the {what} would be full before the pause is sent: lower XOFF or raise \
                     `{path}`"
                ),
            );
            return;
        }
        if !self.lossless {
            return;
        }
        if of == Holder::Port {
            self.check_classes(settings, (path, size), graph, findings);
        }
        let available = size - self.xoff;
        let lower = |needed: Bytes| {
            let most = Bytes(size.0.saturating_sub(needed.0));
            (most > self.xon).then(|| format!("lower XOFF to at most {most}"))
        };
        for ((rate, delay), between) in links_to_switches(graph) {
            let needed = self.headroom(settings, rate, delay);
            if available < needed {
                findings.error(
                    &[&xoff, path],
                    format!(
                        "the headroom above XOFF is {available}, but a link of {rate} and {delay} \
                         ({between}) needs {needed}"
                    ),
                    match lower(needed) {
                        Some(lower) => format!(
                            "{lower} or raise `{path}` to at least {} (frames have up to \
                             {largest_frame} bytes)",
                            sum(self.xoff, needed)
                        ),
                        None => format!(
                            "no XOFF above XON ({}) leaves as much: raise `{path}` to at least {} \
                             (frames have up to {largest_frame} bytes){}",
                            self.xon,
                            sum(self.xoff, needed),
                            self.shorter(settings, (rate, delay), available)
                        ),
                    },
                );
                return;
            }
        }
        if self.measured.is_ingress() {
            return;
        }
        let (needed, ports, name) = self.headroom_of_all_ports(settings, graph, graph.switches());
        if available < needed {
            findings.warn(
                &[&xoff, path],
                format!(
                    "the headroom above XOFF is {available}, but if all {ports} other ports of \
                     {name} send to one egress queue it takes {needed}"
                ),
                format!(
                    "frames may be lost: {}raise `{path}` to at least {}, or measure on the ingress",
                    lower(needed).map_or(String::new(), |lower| lower + ", "),
                    sum(self.xoff, needed)
                ),
            );
        }
    }

    /// What can be shortened instead, so that the headroom of a link fits.
    fn shorter(
        &self,
        settings: &Document,
        (rate, delay): (Rate, Duration),
        available: Bytes,
    ) -> String {
        let at_once = Self { response: Some(Duration::ZERO), ..*self };
        let response = at_once.headroom(settings, rate, delay) <= available;
        let delay = self.headroom(settings, rate, Duration::ZERO) <= available;
        let response = response.then(|| format!("`{}`", self.path("response")));
        let delay = delay.then(|| "the delay of the link".to_owned());
        let parts: Vec<String> = response.into_iter().chain(delay).collect();
        if parts.is_empty() {
            String::new()
        } else {
            format!(", or shorten {}", parts.join(" or "))
        }
    }

    /// Whether all that shares the memory of a port leaves a class what it needs.
    fn check_classes(
        &self,
        settings: &Document,
        (path, size): (&str, Bytes),
        graph: &Graph,
        findings: &mut Problems<'_>,
    ) {
        let all = settings.switch.queue.count;
        let lossy = all - self.lossless_classes;
        let xoff = self.path("xoff");
        if lossy > 0 {
            findings.warn(
                &[path, &xoff],
                format!(
                    "the buffer of a port is shared by {} and {lossy} that {} does not stop",
                    count_of(self.lossless_classes, "lossless class"),
                    self.name
                ),
                "these may fill it, and then lossless frames are lost: make all classes lossless, or \
                 choose [switch.buffer.per_queue]",
            );
        }
        if self.told_classes < 2 || !self.measured.is_ingress() {
            return;
        }
        let needs = links_to_switches(graph)
            .into_iter()
            .map(|((rate, delay), between)| (self.headroom(settings, rate, delay), between));
        let Some((headroom, between)) = needs.max_by_key(|(headroom, _)| *headroom) else { return };
        let needed = Bytes(sum(self.xoff, headroom).0.saturating_mul(self.told_classes.into()));
        if needed > size {
            findings.warn(
                &[path, &xoff],
                format!(
                    "the buffer of a port is {size}, but {} classes that are paused by themselves \
                     may each take XOFF ({}) and a headroom of {headroom} ({between}): {needed}",
                    self.told_classes, self.xoff
                ),
                format!(
                    "frames may be lost when several classes are congested: lower XOFF, or raise \
                     `{path}` to at least {needed}"
                ),
            );
        }
    }

    /// A pause must last until its refresh arrives, which is sent when half of it has passed and may
    /// find a frame in its way.
    fn check_refresh(
        &self,
        settings: &Document,
        graph: &Graph,
        largest_frame: u16,
        findings: &mut Problems<'_>,
    ) {
        let overhead = settings.wire_overhead.0;
        let in_the_way = Bytes(u64::from(largest_frame) + overhead);
        let refresh = Bytes(u64::from(length::SHORTEST_FRAME) + overhead);
        for ((rate, _), between) in links_to_switches(graph) {
            let lasts = pause_time(self.quanta, rate);
            let needed = rate.time_for(in_the_way) + rate.time_for(refresh);
            if Duration(lasts.0 / 2) < needed {
                let least = needed.0.saturating_mul(2).div_ceil(pause_time(1, rate).0);
                findings.error(
                    &[&self.path("quanta")],
                    format!(
                        "a pause of {} quanta lasts {lasts} at {rate} ({between}), too short to be \
                         refreshed in time",
                        self.quanta
                    ),
                    format!(
                        "the refresh is sent after half of it and may wait for a frame: write at \
                         least {least}; 65535 is what switches send"
                    ),
                );
                return;
            }
        }
    }

    /// The headroom if all other ports of a switch send to the same egress queue: of that of `switches`
    /// where it is most, with the number of these ports and the switch's name.
    pub fn headroom_of_all_ports<'a>(
        &self,
        settings: &Document,
        graph: &'a Graph,
        switches: impl Iterator<Item = NodeId>,
    ) -> (Bytes, usize, &'a str) {
        let mut kinds = BTreeMap::new();
        let mut most = (Bytes(0), 0, "");
        for switch in switches {
            let node = graph.node(switch);
            let mut needs: Vec<Bytes> = Vec::with_capacity(node.ports.len());
            for end in &node.ports {
                let need = kinds
                    .entry((end.rate, end.delay))
                    .or_insert_with(|| self.headroom(settings, end.rate, end.delay));
                needs.push(*need);
            }
            let total: Bytes = needs.iter().copied().sum();
            let least = needs.iter().copied().min().unwrap_or(Bytes(0));
            if total - least > most.0 {
                most = (total - least, node.ports.len() - 1, &node.name);
            }
        }
        most
    }
}

/// A sum for a message, which need not be possible.
pub fn sum(a: Bytes, b: Bytes) -> Bytes {
    Bytes(a.0.saturating_add(b.0))
}

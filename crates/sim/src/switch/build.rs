//! Builds a switch from the parameters of the simulation.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use floodway_model::graph::NodeKind;
use floodway_model::random::Stream;
use floodway_model::{Instant, NodeId};

use super::buffer::Buffer;
use super::congestion_indication::Indication;
use super::fabric::Crossbar;
use super::fabric::egress::Egress;
use super::flow_control::Mechanisms;
use super::knowledge::Knowledge;
use super::mechanism::{Actions, Events, Site, SitePort};
use super::occupancy::Occupancy;
use super::overflow::Trimming;
use super::port::Port;
use super::queue::Queue;
use super::{Spec, Switch, aqm, path, scheduler};
use crate::Spec as Whole;
use crate::host::Profile;
use crate::link::{Link, Transmitter};
use crate::routing::Routes;
use crate::telemetry;
use floodway_engine::Timers;

impl Switch {
    /// Builds switch `id` of the graph, with one port per link. All switches share `spec`, the
    /// switch parameters of `whole`.
    pub fn new(
        id: NodeId,
        (whole, spec): (&Whole, &Arc<Spec>),
        routes: Routes,
        links: &[Link],
        knowledge: &Knowledge,
    ) -> Self {
        let graph = &whole.graph;
        let node = graph.node(id);
        let NodeKind::Switch { tier } = node.kind else { panic!("{} is no switch", node.name) };
        let site_ports: Vec<SitePort> = links
            .iter()
            .map(|link| SitePort { link: *link, peer: graph.node(link.peer).kind })
            .collect();
        let site = Site {
            name: &node.name,
            seed: whole.seed,
            tier,
            ports: &site_ports,
            queues: spec.queue.count.into(),
            queue_size: spec.queue.size,
            latency: spec.latency,
            peers: &knowledge.peers,
            sizes: knowledge.sizes.as_ref(),
        };
        let mut mechanisms = Mechanisms::new(&spec.flow_control, &site);
        let trimming = Trimming::new(spec, knowledge);
        if trimming.as_ref().is_some_and(|trimming| trimming.has_threshold()) {
            mechanisms.want(Events::ADMITTED);
        }
        let kept_behind = mechanisms.keeps_behind();
        let decides_on_arrival = spec.aqm.decides_on_arrival();
        let has_aqm = spec.queue.discipline.has_aqm();
        let decides_on_departure = spec.aqm.decides_on_departure() || has_aqm;
        let shared_aqm = (spec.aqm.measured_on() == aqm::MeasuredOn::Memory)
            .then(|| Box::new(aqm::State::new(&spec.aqm, usize::from(spec.queue.count))));
        let tags = |profile: &Profile| {
            matches!(profile.transport.telemetry(), Some(telemetry::Kind::Tag(_)))
        };
        let timed = whole.departures
            || spec.aqm.needs_times()
            || spec.scheduler.needs_times()
            || whole.profiles.iter().any(tags);
        let strict = matches!(spec.scheduler, scheduler::Spec::Strict(_));
        let crossbar = Crossbar::new(&spec.fabric, links, spec.queue.count.into(), strict);
        let crossed = |number: u8| {
            let ordered = kept_behind == Some(number);
            let egress = Egress::new(links.len(), ordered);
            Queue::behind_crossbar(egress, timed)
        };
        // The last queue is the control queue. It has neither a discipline nor arrival times.
        let queue = |port: usize, number: u8| {
            if number == spec.queue.count {
                return Queue::default().in_cells(spec.cell);
            }
            let discipline = mechanisms
                .discipline(&site, port, number.into())
                .or_else(|| spec.queue.discipline.build(&site, port, number.into()));
            let queue = match discipline {
                Some(discipline) => Queue::ordered_by(discipline),
                None if crossbar.is_some() => crossed(number),
                None if timed => Queue::timed(),
                None => Queue::default(),
            };
            queue.in_cells(spec.cell)
        };
        let make = |(number, link): (usize, &Link)| {
            let mut port = Port::new(
                Transmitter::new(*link),
                (0..=spec.queue.count).map(|queue_number| queue(number, queue_number)),
                aqm::State::new(&spec.aqm.for_rate(link.rate), usize::from(spec.queue.count)),
                scheduler::State::new(&spec.scheduler, link),
            );
            port.to_host = graph.node(link.peer).kind == NodeKind::Host;
            if !port.to_host {
                port.tx.limit(spec.flow_control.allowance(link, spec.queue.count));
            }
            if spec.flow_control.pauses_are_endless() {
                port.tx.pause_endlessly();
            }
            port
        };
        let bypass_disabled = spec.aqm.decides_on_lone_packets()
            || has_aqm
            || whole.departures
            || shared_aqm.is_some()
            || mechanisms.wants().has(Events::LONE)
            || crossbar.is_some();
        let ports: Box<[Port]> = links.iter().enumerate().map(make).collect();
        let mut all = ports.iter().flat_map(|port| &port.queues);
        let only_fifos = all.all(|queue| queue.is_fifo());
        let mut timers = Timers::new(links.len() + 1 + usize::from(crossbar.is_some()));
        timers.set(links.len(), Instant::ZERO);
        Self {
            id,
            tier,
            spec: Arc::clone(spec),
            routes,
            epochs: VecDeque::new(),
            ports,
            buffer: Buffer::new(
                &spec.with_buffer_of(&node.name),
                &links.iter().map(|link| link.rate).collect::<Vec<_>>(),
            ),
            occupancy: Occupancy::default(),
            crossbar: crossbar.map(Box::new),
            indication: spec
                .congestion_indication
                .as_ref()
                .map(|_| Box::new(Indication::new(&spec.with_buffer_of(&node.name), links.len()))),
            trimming,
            timers,
            next_sample: 0,
            sampled: 0,
            next_sample_at: Instant::ZERO,
            rng: Stream::named(whole.seed, &node.name),
            path: path::State::new(&spec.path, tier, || {
                Stream::named(whole.seed, &format!("path at {}", node.name))
            }),
            decides_on_arrival,
            decides_on_departure,
            in_cells: !spec.cell.is_byte(),
            only_fifos,
            bypass_disabled,
            feedback_among_data: !spec.feedback.is_default(),
            shared_aqm,
            kept_behind: kept_behind.unwrap_or(0),
            unmarked: mechanisms.unmarked(),
            mechanisms,
            actions: Actions::new(),
            paused_until_resumed: vec![0; links.len()].into(),
            received: 0,
            emitted: 0,
            pfc_frames: 0,
            dropped: 0,
            lost: BTreeMap::new(),
            lossless_dropped: 0,
            consumed: 0,
        }
    }
}

//! A run: distributes switches and hosts over the threads of the engine, and connects them with the
//! wire, the metrics and the observers.

mod live;

use std::collections::BTreeSet;
use std::ops::Range;

#[cfg(test)]
use floodway_engine::Reading;
use floodway_engine::{
    self as engine, Done, Layout, Limits, Node, Over, Parcel, Part, Stop, Window, Wire,
};
use floodway_model::{FlowId, Instant, NodeId, Packet, PortIx};

use crate::context::Context;
use crate::deadlock::Deadlocks;
use crate::host::{Host, KernelHost, MultiportHost};
use crate::metric::{Metrics, Tally};
use crate::observe::Observers;
use crate::switch::Switch;
use crate::telemetry::Record;

pub(crate) use live::Live;

/// Everything that is simulated, before it is shared out, and then the nodes of a block.
pub(crate) struct Nodes {
    /// In order of their identifiers.
    pub switches: Vec<Switch>,
    /// In order of their identifiers.
    pub hosts: Vec<Host>,
    /// Hosts that are kernels, which `hosts` does not have, in order of their identifiers.
    pub kernels: Vec<KernelHost>,
    /// Hosts with several ports, which `hosts` does not have, in order of their identifiers.
    pub multiport: Vec<MultiportHost>,
}

impl Nodes {
    /// None.
    fn none() -> Self {
        let (switches, hosts, kernels) = (Vec::new(), Vec::new(), Vec::new());
        Self { switches, hosts, kernels, multiport: Vec::new() }
    }

    /// The nodes of the engine, in order of place.
    fn engine_ids(&self) -> impl Iterator<Item = NodeId> + '_ {
        let hosts = self.hosts.iter().map(Host::id).chain(self.kernels.iter().map(KernelHost::id));
        let switches = self.switches.iter().map(Switch::id);
        switches.chain(hosts).chain(self.multiport.iter().map(MultiportHost::id))
    }

    /// Hosts with one port, those that are kernels after the others.
    fn hosts_mut(&mut self) -> impl Iterator<Item = &mut Host> {
        self.hosts.iter_mut().chain(self.kernels.iter_mut().map(KernelHost::host_mut))
    }

    /// Times of the first own events of the nodes of the engine, in order of place.
    fn next_wakes(&self) -> impl Iterator<Item = Instant> + '_ {
        let Self { switches, hosts, kernels, multiport } = self;
        let hosts = hosts.iter().map(Node::next_wake);
        let kernels = kernels.iter().map(Node::next_wake);
        let multiport = multiport.iter().map(Node::next_wake);
        switches.iter().map(Node::next_wake).chain(hosts).chain(kernels).chain(multiport)
    }

    /// The nodes of the graph: those of the engine, and the further ports of hosts with several.
    fn graph_ids(&self) -> impl Iterator<Item = NodeId> + '_ {
        let further = self.multiport.iter().flat_map(|host| &host.ports()[1..]).map(Host::id);
        self.engine_ids().chain(further)
    }

    /// Adds the counters of all nodes at this time.
    fn tally(&self, now: Instant, tally: &mut Tally) {
        let Self { switches, hosts, kernels, multiport } = self;
        switches.iter().for_each(|switch| switch.tally(now, tally));
        hosts.iter().for_each(|host| host.tally(now, tally));
        kernels.iter().for_each(|kernel| kernel.host().tally(now, tally));
        let ports = multiport.iter().flat_map(MultiportHost::ports);
        ports.for_each(|port| port.tally(now, tally));
    }
}

/// What is measured, and when.
pub(crate) struct Measurement<'a> {
    /// Start and earliest end of the measured interval. A tally is taken before the first window
    /// that includes a later time.
    pub interval: [Instant; 2],
    /// Number of flows whose completion extends the interval: it ends with the window in which the
    /// last of them completes.
    pub awaited: u64,
    /// Whether the run ends with the last of these flows, whatever others do.
    pub ends_with_awaited: bool,
    /// Initial metrics of each thread.
    pub metrics: &'a Metrics,
    /// Whether switches write telemetry into packets.
    pub telemetry: bool,
    /// Builds the observers of a thread with these nodes.
    pub observers: &'a dyn Fn(&[NodeId]) -> Observers,
}

/// The state after a run, with nodes ordered by identifier.
pub(crate) struct Finished {
    pub switches: Vec<Switch>,
    pub hosts: Vec<Host>,
    /// Flows of kernels that have begun, and when.
    pub begun: Vec<(FlowId, Instant)>,
    /// Number of frames of kernels whose octets are kept.
    pub octets: u64,
    /// A host that is a kernel and was not connected to one.
    pub unconnected: Option<NodeId>,
    pub in_flight: Vec<Packet>,
    pub metrics: Metrics,
    /// Number of telemetry records in use; `None` if no flow uses telemetry.
    pub records: Option<u64>,
    pub deadlocks: Deadlocks,
    /// Their `finish` has not been called yet.
    pub observers: Observers,
    pub stop: Stop,
    pub now: Instant,
}

/// Runs all nodes to the end, on as many threads of the layout as are fastest.
// Not inlined, because the instruction counter (bench/guard.py) finds it by name.
#[inline(never)]
pub(crate) fn run(
    nodes: Nodes,
    layout: &Layout,
    limits: &Limits<'_>,
    measurement: &Measurement<'_>,
) -> Finished {
    let shares = share_out(nodes, layout, 0..layout.parts(), measurement);
    finish(engine::run(shares, layout, limits), measurement.metrics)
}

/// The same for the nodes of one process in a run over several, with `threads` parts each. What is
/// returned is about these nodes alone.
#[inline(never)]
pub(crate) fn run_over(
    nodes: Nodes,
    layout: &Layout,
    limits: &Limits<'_>,
    measurement: &Measurement<'_>,
    (over, threads): (&Over<'_>, usize),
) -> Finished {
    let first = over.ranks.rank() * threads;
    let shares = share_out(nodes, layout, first..first + threads, measurement);
    finish(engine::run_over(shares, layout, limits, over), measurement.metrics)
}

/// The same, but `look`, called between windows, sets the number of active threads whenever it
/// returns one.
#[cfg(test)]
pub(crate) fn run_governed(
    nodes: Nodes,
    layout: &Layout,
    limits: &Limits<'_>,
    measurement: &Measurement<'_>,
    look: impl FnMut(Reading) -> Option<usize>,
) -> Finished {
    let shares = share_out(nodes, layout, 0..layout.parts(), measurement);
    finish(engine::run_governed(shares, layout, limits, look), measurement.metrics)
}

/// The nodes of one thread, and what they can access.
struct Share {
    /// By block.
    blocks: Vec<Nodes>,
    context: Context,
    interval: [Instant; 2],
    awaited: u64,
    ends_with_awaited: bool,
    /// Until when nothing is added from outside. Later events may not be known yet.
    horizon: Instant,
}

/// Distributes nodes over these parts of the layout, to which all of them belong.
fn share_out(
    nodes: Nodes,
    layout: &Layout,
    parts: Range<usize>,
    measurement: &Measurement<'_>,
) -> Vec<Share> {
    let blocks = |part| (0..layout.blocks(part)).map(|_| Nodes::none()).collect();
    let mut shares: Vec<Vec<Nodes>> = parts.clone().map(blocks).collect();
    let place = |node| (layout.part(node) - parts.start, layout.block(node));
    let Nodes { switches, hosts, kernels, multiport } = nodes;
    for one in switches {
        let (share, block) = place(one.id());
        shares[share][block].switches.push(one);
    }
    for one in hosts {
        let (share, block) = place(one.id());
        shares[share][block].hosts.push(one);
    }
    for one in kernels {
        let (share, block) = place(one.id());
        shares[share][block].kernels.push(one);
    }
    for one in multiport {
        let (share, block) = place(one.id());
        shares[share][block].multiport.push(one);
    }
    let share = |(number, blocks): (usize, Vec<Nodes>)| {
        let ids: Vec<NodeId> = blocks.iter().flat_map(Nodes::graph_ids).collect();
        let (metrics, observers) = (measurement.metrics.clone(), (measurement.observers)(&ids));
        let telemetry = measurement.telemetry.then(Box::default);
        let context = Context::new(layout.wire(number), metrics, telemetry, observers);
        let (interval, awaited) = (measurement.interval, measurement.awaited);
        let ends_with_awaited = measurement.ends_with_awaited;
        Share { blocks, context, interval, awaited, ends_with_awaited, horizon: Instant::NEVER }
    };
    parts.zip(shares).map(share).collect()
}

/// Combines the results of all shares; `metrics` are the initial metrics.
fn finish((shares, stop, now): engine::Finished<Share>, metrics: &Metrics) -> Finished {
    let mut finished = Finished {
        switches: Vec::new(),
        hosts: Vec::new(),
        begun: Vec::new(),
        octets: 0,
        unconnected: None,
        in_flight: Vec::new(),
        metrics: metrics.clone(),
        records: None,
        deadlocks: Deadlocks::default(),
        observers: Observers::default(),
        stop,
        now,
    };
    for mut share in shares {
        share.take_tallies([now; 2], Instant::NEVER);
        let mut several: BTreeSet<NodeId> = BTreeSet::new();
        for nodes in share.blocks {
            finished.switches.extend(nodes.switches);
            finished.hosts.extend(nodes.hosts);
            for port in nodes.multiport.into_iter().flat_map(MultiportHost::into_ports) {
                several.insert(port.id());
                finished.hosts.push(port);
            }
            for kernel in nodes.kernels {
                let (host, begun) = kernel.finish();
                finished.hosts.push(host);
                finished.begun.extend(begun);
            }
        }
        let (wire, metrics, records, observers) = share.context.into_parts();
        finished.in_flight.extend(wire.in_flight().map(|frame| {
            let mut frame = *frame;
            // As in the graph, where each port of a host is a node of its own.
            if frame.is_one_hop() && several.contains(&frame.dst) {
                frame.ingress = PortIx(0);
            }
            frame
        }));
        finished.metrics.merge(&metrics);
        if let Some(records) = records {
            *finished.records.get_or_insert(0) += records.taken();
        }
        finished.observers.merge(observers);
    }
    finished.switches.sort_by_key(Switch::id);
    finished.hosts.sort_by_key(Host::id);
    finished
}

impl Share {
    /// Takes the tallies that are due at these times, have not been taken, and are not after `now`.
    fn take_tallies(&mut self, times: [Instant; 2], now: Instant) {
        for (number, at) in times.into_iter().enumerate() {
            if at <= now && self.context.metrics.tallies[number].is_none() {
                self.context.metrics.tallies[number] = Some(self.tally(at));
            }
        }
    }

    /// The sum of the counters of all nodes of this share.
    fn tally(&self, now: Instant) -> Tally {
        let mut tally = Tally::default();
        self.blocks.iter().for_each(|nodes| nodes.tally(now, &mut tally));
        tally
    }
}

impl Part for Share {
    type Frame = Packet;
    type Attached = Vec<Record>;

    fn nodes(&self) -> Vec<NodeId> {
        self.blocks.iter().flat_map(Nodes::engine_ids).collect()
    }

    fn wakes(&self) -> Vec<Vec<Instant>> {
        self.blocks.iter().map(|nodes| nodes.next_wakes().collect()).collect()
    }

    fn wire(&mut self) -> &mut Wire<Packet> {
        self.context.wire()
    }

    fn run(&mut self, block: usize, window: &mut Window<'_, Packet>) {
        let Nodes { switches, hosts, kernels, multiport } = &mut self.blocks[block];
        window.run(switches, &mut self.context);
        window.run(hosts, &mut self.context);
        window.run(kernels, &mut self.context);
        if !multiport.is_empty() {
            window.run(multiport, &mut self.context);
        }
    }

    fn detach(&mut self, frames: &mut Parcel<Packet>) -> Vec<Record> {
        match &mut self.context.telemetry {
            Some(records) => records.detach(frames.frames()),
            None => Vec::new(),
        }
    }

    fn attach(&mut self, frames: &mut Parcel<Packet>, attached: Vec<Record>) {
        if let Some(records) = &mut self.context.telemetry {
            records.attach(frames.frames(), attached);
        }
    }

    fn done(&self) -> Done {
        let metrics = &self.context.metrics;
        let awaited = metrics.awaited_done();
        let flows = if self.ends_with_awaited { awaited } else { metrics.flows_done() };
        Done { hops: metrics.hops(), flows, awaited }
    }

    fn unacknowledged(&self) -> u64 {
        let open = |nodes: &Nodes| {
            let ports = nodes.multiport.iter().flat_map(MultiportHost::ports);
            nodes.hosts.iter().chain(ports).map(Host::open_senders).sum::<u64>()
        };
        self.blocks.iter().map(open).sum()
    }

    fn observe(&mut self, start: Instant, simulated: Instant, awaited: u64) {
        let metrics = &mut self.context.metrics;
        if metrics.sampling().measured_until == Instant::NEVER && awaited >= self.awaited {
            metrics.end_measurement(simulated.max(self.interval[1]));
        }
        let until = metrics.sampling().measured_until;
        self.take_tallies([self.interval[0], until], start.min(self.horizon));
    }

    fn next_observation(&self, awaited: u64) -> Instant {
        let metrics = &self.context.metrics;
        let until = metrics.sampling().measured_until;
        if until == Instant::NEVER && awaited >= self.awaited {
            return Instant::ZERO;
        }
        let due = [self.interval[0], until].into_iter().zip(&metrics.tallies);
        due.filter(|(_, tally)| tally.is_none()).map(|(at, _)| at).min().unwrap_or(Instant::NEVER)
    }

    /// Ends the measured interval; later events are not measured. In the warm-up nothing is
    /// measured at all.
    fn drain(&mut self, start: Instant) {
        let until = self.context.metrics.sampling().measured_until;
        self.context.metrics.end_measurement(until.min(start.max(self.interval[0])));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    use floodway_model::Graph;
    use floodway_model::graph::NodeKind;

    use super::*;
    use crate::outcome::Outcome;
    use crate::simulation::{Run, Simulation};
    use crate::{Spec, small};
    use floodway_engine::Arrival;

    /// A vector or a ring buffer doubles when it is full, so it takes at most twice its size. A queue of a switch has
    /// blocks that are full, but for the first and the last.
    #[test]
    fn a_packet_in_flight_takes_at_most_100_bytes() {
        const MOST: usize = 100;
        assert!(2 * size_of::<Arrival<Packet>>() <= MOST, "on a wire");
        assert!(2 * size_of::<Packet>() <= MOST, "in a NIC, and less in a queue");
    }

    /// Eight hosts on four switches in a row; each host sends to the following ones.
    fn row() -> Spec {
        let mut graph = Graph::default();
        (0..8).for_each(|host| _ = graph.add(format!("host {host}"), NodeKind::Host));
        let (rate, delay) = (small::GBPS_100, small::NS_200);
        for number in 0..4 {
            let switch = graph.add(format!("switch {number}"), NodeKind::Switch { tier: 0 });
            (0..2).for_each(|host| graph.link(NodeId(2 * number + host), switch, rate, delay));
            if number > 0 {
                graph.link(NodeId(switch.0 - 1), switch, rate, delay);
            }
        }
        let flow = |src: u32, hop: u32| {
            let (bytes, start_ns) = (50_000 * u64::from(hop), u64::from(src + 8 * hop) * 1_000);
            small::flow(src, (src + hop) % 8, bytes, start_ns)
        };
        let flows = (0..8).flat_map(|src| (1..8).map(move |hop| flow(src, hop))).collect();
        let spec = small::spec(graph, flows, floodway_model::Duration::from_ms(20));
        Spec { awaited: vec![true], ..spec }
    }

    fn fingerprint(look: impl FnMut(Reading) -> Option<usize>, threads: usize) -> u64 {
        let stop = AtomicBool::new(false);
        let run = Run { threads, stop: &stop, watch: &|_| {} };
        let (spec, finished) =
            Simulation::new(row()).finish_by(&run, |nodes, layout, limits, measurement| {
                run_governed(nodes, layout, limits, measurement, look)
            });
        assert_eq!(finished.stop, Stop::FlowsDone);
        Outcome::new(&spec, finished, Vec::new(), Duration::ZERO).fingerprint
    }

    #[test]
    fn results_do_not_depend_on_how_many_threads_work_when() {
        let expected = fingerprint(|_| None, 1);
        for threads in 2..=4 {
            let mut looks = 0;
            let others = |_| {
                looks += 1;
                Some(1 + looks * 7 / 3 % threads)
            };
            assert_eq!(fingerprint(others, threads), expected, "{threads} threads");
            assert!(looks > 20, "{looks}");
        }
    }

    #[test]
    #[should_panic(expected = "on purpose")]
    fn threads_that_sleep_are_not_left_behind_by_one_that_panics() {
        let mut looks = 0;
        fingerprint(
            |_| {
                looks += 1;
                assert!(looks < 10, "on purpose");
                Some(1 + looks % 2)
            },
            4,
        );
    }
}

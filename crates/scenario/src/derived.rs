//! Numbers that follow from a scenario, for `floodway check`: what its author should know before
//! waiting for a run.

mod table;

use std::collections::BTreeMap;

use floodway_model::graph::NodeKind;
use floodway_model::packet::length;
use floodway_model::{Bytes, Duration, Graph, NodeId, Rate};
use floodway_sim::distances;
use floodway_sim::host::congestion::Needs;
use floodway_sim::host::{Profile, transport};
use floodway_sim::switch::aqm;
use floodway_sim::switch::buffer::Holder;
use serde::Serialize;

use crate::check;
use crate::device::Basis;
use crate::document::Document;
use crate::errors;
use crate::loads::{self, Framed};
use crate::measured::Measured;
use crate::ports;
use crate::scenario::{Scenario, Variant};
use crate::topology;
use crate::workload::training::Numbers;
use crate::workload::{self, Demand};

/// The numbers of all variants.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Derived {
    /// The scenario's name.
    pub scenario: String,
    /// Runs of every variant.
    pub replications: u32,
    /// One entry per variant, in their order.
    pub variants: Vec<DerivedVariant>,
}

/// The numbers of one variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DerivedVariant {
    /// Its name.
    pub name: String,
    /// Hosts.
    pub hosts: u64,
    /// Switches.
    pub switches: u64,
    /// Links.
    pub links: u64,
    /// The rates of the slowest and of the fastest link.
    pub link_rates: (Rate, Rate),
    /// Capacity of a leaf or edge switch's hosts over that of its links upward, where there are
    /// tiers.
    pub oversubscription: Option<f64>,
    /// The same of an aggregation switch, in a network of three tiers.
    pub aggregation_oversubscription: Option<f64>,
    /// The measured interval, in which counters are taken.
    pub measured: Measured,
    /// Round-trip time of a full packet and its acknowledgement between the hosts farthest from
    /// each other in an empty network, store and forward.
    pub unloaded_rtt: Duration,
    /// What the slowest link on that way carries in that time.
    pub bdp: Bytes,
    /// The longest data frame.
    pub frame: Bytes,
    /// What follows from the line of `tc`, where RED has one.
    pub red: Option<Red>,
    /// What a flow that begins may have in flight by its congestion control, or by TCP's initial
    /// window, if it has a window; the most of all workloads.
    pub congestion_window: Option<Bytes>,
    /// XOFF and XON of PFC or PAUSE, where these are its thresholds.
    pub thresholds: Option<(Bytes, Bytes)>,
    /// Headroom, if there is PFC or PAUSE, or else if there is Directional Rate Control.
    pub headroom: Option<Headroom>,
    /// The pool of headroom that ports share, of the switch where it is oversubscribed most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headroom_pool: Option<HeadroomPool>,
    /// Bit errors of links and what a retry makes of them; empty if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FrameErrors>,
    /// Payload offered by the busiest host, as a part of its link's rate.
    pub host_load: f64,
    /// The same with headers, preamble and gap, if all packets are full.
    pub host_wire_load: f64,
    /// Wire load of the links between switches, one way, expected over time with equal splitting,
    /// for the placement of the first replication; single incasts and flows of a list, which take
    /// what they get, left out.
    /// `None` if there are no such links or the network is too large for the sum.
    pub fabric_wire_load: Option<Spread>,
    /// Flows with a size, expected.
    pub expected_flows: f64,
    /// Those of them that start after the warm-up, expected where arrivals are steady. Flows of pings, calls and pages are none.
    pub expected_measured_flows: f64,
    /// Flows without a size, which never complete.
    pub persistent_flows: u64,
    /// A rough estimate of the memory for one run.
    pub memory: Bytes,
    /// What follows from the shapes of models, of each workload `training`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub training: Vec<Numbers>,
    /// Where the settings of switches and hosts come from, if it names device profiles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub basis: Option<Basis>,
}

/// Memory above XOFF, or above the threshold from which directions are stopped.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Headroom {
    /// Between XOFF and the end of the queue, or of what a shared memory gives if nobody else wants
    /// any; with PFC on the ingress pool, the headroom itself, for the link that has least beyond its
    /// need. `None` if nothing limits it.
    pub available: Option<Bytes>,
    /// What one link needs: the one that has least beyond its need.
    pub one_link: Bytes,
    /// What is needed if all other ports of a switch send to one egress queue.
    pub all_ports: Bytes,
}

/// A pool of headroom that the ports and lossless classes of a switch share.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HeadroomPool {
    /// Its size.
    pub pool: Bytes,
    /// What its ports need if all are paused at once, in all lossless classes; of each at most its headroom.
    pub at_once: Bytes,
    /// What they may use at most: the headroom of all.
    pub of_all: Bytes,
    /// N of an oversubscription of 1:N: `of_all`, divided by the pool.
    pub oversubscription: f64,
}

/// What bit errors do to full frames on some links.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FrameErrors {
    /// The names of the ends of the link; `None` for all links that no other entry names.
    pub link: Option<[String; 2]>,
    /// Probability that a full data frame has an error each time it is sent.
    pub error_rate: f64,
    /// Probability that it is lost, which is the same without a retry.
    pub loss: f64,
    /// The replay buffer at the link that needs most, or as it is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay_buffer: Option<Bytes>,
}

/// RED's parameters as Linux works them out of a line of `tc`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Red {
    /// One over the weight of the average queue.
    pub inverse_weight: u64,
    /// The largest probability.
    pub max_probability: f64,
}

/// Mean and largest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// Mean.
    pub mean: f64,
    /// Largest.
    pub max: f64,
}

impl Scenario {
    /// The numbers that follow from it.
    pub fn derived(&self) -> Derived {
        let seed = self.replication_seed(0);
        Derived {
            scenario: self.name.clone(),
            replications: self.replications,
            variants: self.variants().iter().map(|variant| variant.derived(seed)).collect(),
        }
    }
}

impl Variant {
    /// The numbers that follow from it, under a seed for the placement.
    pub fn derived(&self, seed: u64) -> DerivedVariant {
        let Self { settings, graph, .. } = self;
        let size = settings.topology.size();
        let (unloaded_rtt, slowest) = longest_way(settings, graph, check::largest_frame(settings));
        let rate = host_rate(graph);
        let order = workload::order(settings, graph, seed);
        let shares = || workload::surroundings(self.workloads(), settings, graph, &order, seed);
        let profiles = settings.profiles();
        let spread = |demands: Vec<Demand>, number: u16| {
            ports::spread(graph, demands, ports::rule(settings, number))
        };
        let demands =
            shares().flat_map(|(workload, around)| spread(workload.demands(around), around.number));
        let demands: Vec<Demand> = demands.collect();
        // The same with headers, preamble and gap.
        let on_wire = shares().zip(&profiles).flat_map(|((workload, around), profile)| {
            let factor = check::wire_factor(settings, profile);
            let demands = workload.demands(around).into_iter();
            spread(demands.map(|demand| demand.times(factor)).collect(), around.number)
        });
        let wire_demands: Vec<Demand> = on_wire.collect();
        let (memory_of_flows, expected_flows) = check::traffic::flows(
            shares().map(|(workload, around)| (&**workload, around)),
            settings,
        );
        let timed: f64 = shares()
            .filter(|(workload, _)| workload.times_flows())
            .map(|(workload, around)| ports::flows((&**workload, around), settings))
            .sum();
        let steady = 1.0 - settings.warmup.as_secs() / settings.arrivals.as_secs();
        DerivedVariant {
            name: self.name.clone(),
            hosts: size.hosts,
            switches: size.switches,
            links: size.links,
            link_rates: {
                let rates = || graph.ends().map(|end| end.rate);
                rates().min().zip(rates().max()).unwrap_or_default()
            },
            oversubscription: match &settings.topology {
                topology::Spec::Clos(spec) => Some(spec.oversubscription()),
                topology::Spec::FatTree(spec) => Some(spec.edge_oversubscription()),
                _ => None,
            },
            aggregation_oversubscription: match &settings.topology {
                topology::Spec::FatTree(spec) => Some(spec.aggregation_oversubscription()),
                _ => None,
            },
            measured: self.measured(),
            unloaded_rtt,
            bdp: slowest.bytes_in(unloaded_rtt),
            frame: Bytes(check::largest_frame(settings).into()),
            red: red(&settings.switch.aqm),
            congestion_window: profiles
                .iter()
                .filter_map(|profile| window(profile, rate, unloaded_rtt))
                .max(),
            thresholds: check::Pausing::of(settings).and_then(|pausing| pausing.thresholds()),
            headroom: self.headroom(),
            headroom_pool: check::Pausing::of(settings)
                .and_then(|pausing| check::headroom_pool(settings, &pausing, graph)),
            errors: errors::of_full_frames(&settings.errors, graph, check::largest_frame(settings)),
            host_load: loads::busiest_host(graph, &demands),
            host_wire_load: loads::busiest_host(graph, &wire_demands),
            fabric_wire_load: loads::of_fabric(graph, &wire_demands, Framed::of(settings)),
            expected_flows,
            expected_measured_flows: timed * steady,
            persistent_flows: self.workloads().iter().map(|w| w.persistent_flows()).sum(),
            memory: self.memory(expected_flows, memory_of_flows, unloaded_rtt),
            training: self.training(),
            basis: self.basis.clone(),
        }
    }

    /// What one run takes, estimated: memory in bytes, that of its results included, and flows. The
    /// seed is that of the placement.
    pub fn footprint_of_run(&self, seed: u64) -> (Bytes, f64) {
        let Self { settings, graph, .. } = self;
        let rtt = longest_way(settings, graph, check::largest_frame(settings)).0;
        let order = workload::order(settings, graph, seed);
        let shares = workload::surroundings(self.workloads(), settings, graph, &order, seed);
        let shares = shares.map(|(workload, around)| (&**workload, around));
        let (bytes, flows) = check::traffic::flows(shares, settings);
        (self.memory(flows, bytes, rtt), flows)
    }

    fn training(&self) -> Vec<Numbers> {
        let entries = (0..).zip(&self.settings.workload).zip(self.workloads());
        let numbers = entries.filter_map(|((number, entry), workload): ((usize, _), _)| {
            let number = format!("workload {number}");
            workload.training(entry.name.as_ref().map_or(number, |name| format!("workload {name}")))
        });
        numbers.collect()
    }

    fn headroom(&self) -> Option<Headroom> {
        let Self { settings, graph, .. } = self;
        let drc = settings.switch.flow_control.drc.as_ref();
        if let (None, Some(drc)) = (check::Pausing::of(settings), drc) {
            let (available, one_link, all_ports) = check::headroom_above_stop(settings, drc, graph);
            return Some(Headroom { available, one_link, all_ports });
        }
        let pausing = check::Pausing::of(settings)?;
        // Of the links that have least beyond their need, or if nothing limits it of the neediest.
        let spare = |&(available, needed): &(Option<Bytes>, Bytes)| {
            available.map_or(i128::MAX, |bytes| i128::from(bytes.0)) - i128::from(needed.0)
        };
        let links = check::above_xoff(settings, &pausing, graph).into_iter();
        let (available, one_link) = links.min_by_key(spare)?;
        let all_ports = pausing.headroom_of_all_ports(settings, graph, graph.switches()).0;
        Some(Headroom { available, one_link, all_ports })
    }

    /// Flows with the state of both ends, which take `of_flows` bytes, ports with their queues, packets on their way: one
    /// round trip's worth for every host, and queues of which one in twenty is full, or shared
    /// memories that are full to a twentieth.
    fn memory(&self, flows: f64, of_flows: f64, rtt: Duration) -> Bytes {
        const QUEUE: f64 = 200.0;
        const PORT: f64 = 500.0;
        const PACKET: f64 = 64.0;
        const ENTRY: f64 = 16.0;
        const FULL_QUEUES: f64 = 0.05;
        let Self { settings, graph, .. } = self;
        let frame = f64::from(check::largest_frame(settings));
        let ports: usize = graph.nodes.iter().map(|node| node.ports.len()).sum();
        let queues = ports as f64 * (f64::from(settings.switch.queue.count) + 1.0);
        let in_flight = host_rate(graph).bytes_in(rtt).0 as f64 / frame + 1.0;
        let (buffer, queue) = (&settings.switch.buffer, &settings.switch.queue);
        let limit = buffer.limit(queue);
        let pools = buffer.pools();
        let room = match pools.and_then(|of| of.ingress.as_ref().or(of.egress.as_ref()).zip(pools))
        {
            Some((pool, pools)) => {
                check::shared_bytes(pools, graph) + queues * pool.guaranteed.0 as f64
            }
            None => {
                // Of the data queues: that of control has little in it.
                let of_port = if limit.of == Holder::Port { 1 } else { queue.count };
                ports as f64 * f64::from(of_port) * limit.bytes.unwrap_or(queue.size).0 as f64
            }
        };
        let queued = FULL_QUEUES * room / frame;
        let packets = in_flight * graph.hosts().count() as f64 + queued;
        // Backpressure Flow Control: a flow table in every data queue of a switch.
        let entries = settings.switch.flow_control.bfc.as_ref().map_or(0, |bfc| bfc.entries());
        let switch_ports: usize = graph.switches().map(|id| graph.node(id).ports.len()).sum();
        let entries = f64::from(entries) * switch_ports as f64;
        // Virtual output queues, empty or not.
        const VOQ: f64 = 32.0;
        let of_inputs = |ports: u64| ports * settings.switch.fabric.queues_per_input(ports);
        let voqs = graph.switches().map(|id| of_inputs(graph.node(id).ports.len() as u64));
        let voqs = voqs.sum::<u64>() as f64 * f64::from(settings.switch.queue.count);
        // Recorded departures: two histograms in every data queue of a switch that is used.
        const HISTOGRAMS: f64 = 50_000.0;
        let recorded = if settings.departures { switch_ports as f64 } else { 0.0 };
        // Latencies: a histogram of each workload in every host, the larger the longer they are.
        let recording = if settings.latencies { graph.hosts().count() } else { 0 };
        let recording = recording as f64 * settings.workload.len() as f64;
        // A sample of a queue: its rows in the tables and in the report (measured).
        const SAMPLE: f64 = 200.0;
        let samples = settings.limit.0 / settings.sample_interval().0;
        // A sample of the record, of a port: counters, backlogs, and its rows in the tables.
        const ROW: f64 = 200.0;
        let recorded_samples = u64::from(settings.record).min(samples);
        // An explained flow: the gaps between its packets until it has completed, mostly of large flows
        // (measured).
        const EXPLAINED: f64 = 400_000.0;
        let explained = f64::from(settings.explained_flows).min(flows);
        let persistent: u64 = self.workloads().iter().map(|w| w.persistent_flows()).sum();
        let flow_samples =
            settings.flow_samples.map_or(0, |interval| settings.limit.0 / interval.0);
        let bytes = of_flows
            + persistent as f64 * check::traffic::BYTES_PER_FLOW
            + ports as f64 * PORT
            + queues * QUEUE
            + packets * PACKET
            + entries * f64::from(settings.switch.queue.count) * ENTRY
            + voqs * VOQ
            + recorded * f64::from(settings.switch.queue.count) * HISTOGRAMS
            + recording * HISTOGRAMS
            + samples as f64 * f64::from(settings.switch.queue.count) * SAMPLE
            + recorded_samples as f64 * ports as f64 * ROW
            + explained * EXPLAINED
            + flow_samples as f64 * persistent as f64 * 32.0;
        Bytes(bytes as u64)
    }
}

/// RED's parameters as they follow from its line of `tc`.
fn red(of: &aqm::Spec) -> Option<Red> {
    let aqm::Spec::Red(red) = of else { return None };
    let tc = red.tc().ok()?;
    let max_probability = f64::from(tc.max_p) / 4_294_967_296.0;
    Some(Red { inverse_weight: 1 << tc.wlog, max_probability })
}

/// What a flow that begins may have in flight at a NIC of this rate, if anything limits it.
fn window(profile: &Profile, rate: Rate, round_trip: Duration) -> Option<Bytes> {
    let control = &profile.congestion;
    if let Some(time) = control.initial_window(round_trip) {
        return Some(rate.bytes_in(time));
    }
    let transport::Spec::Tcp(tcp) = &profile.transport else { return None };
    let initial = match control.needs() {
        Needs::Nothing => u32::MAX,
        _ => tcp.initial_window,
    };
    let segments = initial.min(tcp.receive_limit());
    (segments < u32::MAX).then(|| Bytes(u64::from(segments).saturating_mul(tcp.mss.0)))
}

/// The rate of the fastest host's link.
fn host_rate(graph: &Graph) -> Rate {
    graph.hosts().map(|host| graph.node(host).ports[0].rate).max().unwrap_or(Rate(0))
}

/// The time of a full packet to the farthest host and of its acknowledgement back, when nothing
/// else is sent.
pub fn round_trip(settings: &Document, graph: &Graph, largest_frame: u16) -> Duration {
    longest_way(settings, graph, largest_frame).0
}

/// The round trip as the HPCC authors' simulator computes it for its windows: of a payload without
/// headers on the way there, and of an answer that takes no time on the way back; each link in whole
/// nanoseconds.
pub fn round_trip_of_payload(settings: &Document, graph: &Graph, payload: Bytes) -> Duration {
    let of_port = |id, port: u16| {
        let link = &graph.node(id).ports[usize::from(port)];
        let ns = u128::from(payload.0) * 8_000_000_000 / u128::from(link.rate.0.max(1));
        let sent = Duration::from_ns(u64::try_from(ns).unwrap_or(u64::MAX / 1_000));
        let switch = if is_host(graph, id) { Duration::ZERO } else { settings.switch.latency };
        sent + link.delay + link.delay + switch + switch
    };
    longest(settings, graph, &of_port).0
}

/// That time, and the rate of the slowest link on the way.
fn longest_way(settings: &Document, graph: &Graph, largest_frame: u16) -> (Duration, Rate) {
    let profiles = settings.profiles();
    let answers = profiles.iter().map(|profile| profile.transport.answer_frame());
    let answer = answers.max().unwrap_or(length::SHORTEST_FRAME);
    // The time of a frame through a port and of the transport's answer back.
    let of_port = |id, port: u16| {
        let link = &graph.node(id).ports[usize::from(port)];
        let mut time = Duration::ZERO;
        for (frame, rate) in [(largest_frame, link.rate), (answer, graph.rate_to(link))] {
            let wire = Bytes(link.on_wire(frame, settings.wire_overhead.0));
            time += rate.time_for(wire) + link.delay;
            if !is_host(graph, id) {
                time += settings.switch.latency;
            }
        }
        time
    };
    longest(settings, graph, &of_port)
}

fn is_host(graph: &Graph, id: NodeId) -> bool {
    graph.node(id).kind == NodeKind::Host
}

/// The longest way between hosts by the times of ports, and the rate of the slowest link on it. Hosts
/// may be far from each other by the number of links, and by the delays of their own: tried is the first
/// host of each kind of link.
fn longest(
    settings: &Document,
    graph: &Graph,
    of_port: &dyn Fn(NodeId, u16) -> Duration,
) -> (Duration, Rate) {
    let uneven = matches!(settings.topology, topology::Spec::Custom(_) | topology::Spec::File(_));
    if uneven || !graph.is_symmetric() {
        let ports = |id: NodeId| 0..graph.node(id).ports.len() as u16;
        let of_node = |id| ports(id).map(|port| of_port(id, port)).collect();
        let times: Vec<Vec<Duration>> = graph.ids().map(of_node).collect();
        return distances::longest_way(graph, &times);
    }
    let link = |host: NodeId| graph.node(host).ports[0];
    let mut kinds = BTreeMap::new();
    for host in graph.hosts() {
        kinds.entry((link(host).rate, link(host).delay)).or_insert(host);
    }
    let ways = kinds.into_values().filter_map(|from| {
        let distances = graph.distances(from);
        let farthest =
            graph.hosts().max_by_key(|host| (distances[host.index()], link(*host).delay));
        let path = graph.path(from, farthest?)?;
        let ends = path.iter().map(|(node, port)| graph.node(*node).ports[port.index()].rate);
        let time = path.iter().map(|(node, port)| of_port(*node, port.0)).sum();
        Some((time, ends.min()?))
    });
    ways.max_by_key(|(time, _)| *time).unwrap_or_default()
}

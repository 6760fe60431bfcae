//! The flows of a run as the simulator would write them.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use floodway_model::{Graph, NodeId, Table, tables};
use floodway_sim::Spec;
use floodway_sim::host::transport;

use super::{Completion, DESTINATION_PORT, FIRST_SOURCE_PORT, LARGEST_NODE};
use crate::files::{Files, flows};
use crate::scenario::{Scenario, Variant};
use crate::workload;

/// What ends a completion time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completed {
    /// The last acknowledgement is back at the sender, as in `fct.txt`.
    Acked,
    /// The last byte is at the receiver.
    Received,
}

/// A flow of a run that has a size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flow {
    /// Its number in the table `flows`.
    pub number: u64,
    /// The number of the sending node.
    pub src: u32,
    /// The number of the receiving node.
    pub dst: u32,
    /// The sender's port.
    pub src_port: u64,
    /// The receiver's port.
    pub dst_port: u64,
    /// Payload of the message.
    pub bytes: u64,
    /// When it started, by the clock of the file that it is from, in picoseconds.
    pub start_ps: u64,
    /// How long it took, in nanoseconds; `None` if it did not complete.
    pub fct_ns: Option<f64>,
    /// What it would take alone.
    pub standalone_ns: u64,
}

impl Flow {
    /// The line of a flow that has completed. The clock of the simulator counts whole nanoseconds.
    pub fn completion(&self) -> Option<Completion> {
        let Self { src, dst, src_port, dst_port, bytes, standalone_ns, .. } = *self;
        let start_ns = self.start_ps / 1_000;
        let fct_ns = self.fct_ns? as u64;
        Some(Completion { src, dst, src_port, dst_port, bytes, start_ns, fct_ns, standalone_ns })
    }
}

/// Why there is no file of a run: cause and remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit(pub String);

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The flows with a size of a run, given its table `flows`, in order of their numbers.
pub fn of_run(
    (scenario, variant): (&Scenario, &Variant),
    spec: &Spec,
    table: &Table,
    completed: Completed,
) -> Result<Vec<Flow>, Unfit> {
    let table = tables::flows::View::of_table(table).ok_or_else(|| {
        Unfit("the table of flows lacks columns that this version has".to_owned())
    })?;
    check(spec, &table)?;
    let numbers = numbers(&spec.graph)?;
    let transports = variant.settings.profiles().into_iter().map(|profile| profile.transport);
    let transports: Vec<transport::Spec> = transports.collect();
    let mut ports = Ports::of(scenario, variant);
    let mut source_ports: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    let mut distances: BTreeMap<NodeId, Vec<Option<u32>>> = BTreeMap::new();
    let times = match completed {
        Completed::Acked => table.acked_fct_ns,
        Completed::Received => table.fct_ns,
    };
    let mut flows = Vec::new();
    for (row, number) in table.flow.iter().enumerate() {
        let flow = &spec.flows[number as usize];
        let [src, dst] = [flow.src, flow.dst].map(|node| numbers[node.index()]);
        // Those without a size have none there.
        if flow.is_persistent() {
            continue;
        }
        let src_port = source_ports.entry((src, dst)).or_insert(FIRST_SOURCE_PORT);
        let transport = &transports[usize::from(flow.workload)];
        let to = distances.entry(flow.dst).or_insert_with(|| spec.graph.distances(flow.dst));
        let start = (table.start_ns.at(row) * 1e3).round() as u64;
        flows.push(Flow {
            number,
            src,
            dst,
            src_port: *src_port,
            dst_port: ports.next(flow.workload, (src, dst, flow.bytes)),
            bytes: flow.bytes,
            start_ps: start.saturating_add(origin(variant, flow.workload)),
            fct_ns: Some(times.at(row)).filter(|time| time.is_finite()),
            standalone_ns: standalone(&spec.graph, to, (flow.src, flow.dst), flow.bytes, transport),
        });
        *src_port += 1;
    }
    Ok(flows)
}

/// Whether the table is of this simulation.
fn check(spec: &Spec, table: &tables::flows::View<'_>) -> Result<(), Unfit> {
    let columns = [table.flow, table.workload, table.src, table.dst, table.bytes];
    for row in 0..table.rows() {
        let [number, workload, src, dst, bytes] = columns.map(|column| column.at(row));
        let same = spec.flows.get(number as usize).is_some_and(|flow| {
            let size = if flow.is_persistent() { 0 } else { flow.bytes };
            (u64::from(flow.workload), u64::from(flow.src.0), u64::from(flow.dst.0), size)
                == (workload, src, dst, bytes)
        });
        if !same {
            return Err(Unfit(format!(
                "flow {number} of the results is no flow of the scenario as it is now; run it \
                 again, or name the scenario that was run with --scenario"
            )));
        }
    }
    Ok(())
}

/// By node, the number by which the simulator knows it: N of `host N`, as in networks from its files,
/// or the place in the network if hosts have other names.
fn numbers(graph: &Graph) -> Result<Vec<u32>, Unfit> {
    let of_name = |id: NodeId| graph.node(id).name.strip_prefix("host ")?.parse::<u32>().ok();
    let named = graph.hosts().all(|id| of_name(id).is_some());
    let number = |id: NodeId| of_name(id).filter(|_| named).unwrap_or(id.0);
    if let Some(host) = graph.hosts().find(|&id| number(id) > LARGEST_NODE) {
        return Err(Unfit(format!(
            "{} has the number {}, and addresses in fct.txt end at node {LARGEST_NODE}; use a \
             network with fewer nodes",
            graph.node(host).name,
            number(host)
        )));
    }
    Ok(graph.ids().map(number).collect())
}

/// The time of a workload's file at which the run begins, in picoseconds.
fn origin(variant: &Variant, workload: u16) -> u64 {
    match &variant.settings.workload[usize::from(workload)].traffic {
        workload::Spec::File(file) => file.origin.0,
        _ => 0,
    }
}

/// What a flow takes alone by the simulator's formula: the delays of the links both ways, a payload
/// sent over each, and all packets without telemetry sent over the slowest, in whole nanoseconds each.
fn standalone(
    graph: &Graph,
    distance: &[Option<u32>],
    (src, dst): (NodeId, NodeId),
    bytes: u64,
    transport: &transport::Spec,
) -> u64 {
    let payload = transport.payload();
    let headers = u64::from(transport.largest_frame() - transport.telemetry_bytes()) - payload;
    let ns = |bytes: u64, rate: u64| u128::from(bytes) * 8_000_000_000 / u128::from(rate.max(1));
    let total = bytes + bytes.div_ceil(payload) * headers;
    let (mut time, mut slowest) = (0, u64::MAX);
    for (node, port) in graph.path_by(distance, src, dst).unwrap_or_default() {
        let link = &graph.node(node).ports[port.index()];
        time += u128::from(2 * (link.delay.0 / 1_000)) + ns(payload, link.rate.0);
        slowest = slowest.min(link.rate.0);
    }
    (time + ns(total, slowest)).try_into().unwrap_or(u64::MAX)
}

/// Which flow of a workload: source, destination and bytes.
type Which = (u32, u32, u64);

/// The ports that files of flows name, by workload and flow, in order of start.
struct Ports(BTreeMap<(u16, Which), VecDeque<u64>>);

impl Ports {
    fn of(scenario: &Scenario, variant: &Variant) -> Self {
        let files = Files::default();
        let mut ports: BTreeMap<_, VecDeque<u64>> = BTreeMap::new();
        for (number, entry) in (0..).zip(&variant.settings.workload) {
            let workload::Spec::File(file) = &entry.traffic else { continue };
            if file.format() != Some(flows::Format::Hpcc) {
                continue;
            }
            // One that cannot be read any more was read when the scenario was.
            let Ok(source) = files.text(&file.path, &scenario.file_name) else { continue };
            for (src, dst, bytes, port) in flows::hpcc::ports(&source) {
                ports.entry((number, (src, dst, bytes))).or_default().push_back(port);
            }
        }
        Self(ports)
    }

    fn next(&mut self, workload: u16, which: Which) -> u64 {
        let left = self.0.get_mut(&(workload, which));
        left.and_then(VecDeque::pop_front).unwrap_or(DESTINATION_PORT)
    }
}

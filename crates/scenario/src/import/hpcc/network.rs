//! What the simulator computes from a topology before it runs: round-trip time, headroom and shares
//! of the memory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use floodway_model::{Bytes, Duration, Graph, Rate};
use floodway_sim::distances;
use floodway_sim::switch::cell::Cell;
use floodway_sim::switch::flow_control::pausing;

use super::config::Config;
use crate::files::networks;
use crate::text::{Problem, Source};
use crate::topology;

/// What each port keeps for itself of a switch's memory (`SwitchMmu::reserve`).
pub const RESERVE: u64 = 4 * 1_024;

/// A topology as the simulator sees it.
pub struct Network {
    /// For reading flows.
    pub topology: topology::Spec,
    graph: Graph,
    /// That of the first host: `get_nic_rate`.
    pub nic_rate: Rate,
    /// The longest round-trip time, with a payload on the way there and nothing on the way back:
    /// `maxRtt`; and the slowest link on that way.
    pub longest_round_trip: (Duration, Rate),
    /// By rate of switch ports: delays.
    pub ports: BTreeMap<Rate, BTreeSet<Duration>>,
}

impl Network {
    /// Reads it.
    pub fn read(source: &Arc<Source>, config: &Config<'_>) -> Result<Self, Problem> {
        let read = networks::Format::Hpcc.read(source, &networks::Rates::new())?;
        const PAYLOAD: &str = "PACKET_PAYLOAD_SIZE";
        let payload = config.whole(PAYLOAD, 1_000)?;
        if payload > u16::MAX.into() {
            let message =
                format!("`{PAYLOAD}` is {payload}, and a frame has at most {} bytes", u16::MAX);
            return Err(config.problem(PAYLOAD, message, "write the payload in bytes, like 1000"));
        }
        let graph = read.graph.clone();
        let mut ports = BTreeMap::new();
        for switch in graph.switches() {
            for end in &graph.node(switch).ports {
                ports.entry(end.rate).or_insert_with(BTreeSet::new).insert(end.delay);
            }
        }
        // Of each link in whole nanoseconds, without headers.
        let time = |rate: Rate, delay: Duration| {
            let ns = u128::from(payload) * 8_000_000_000 / u128::from(rate.0.max(1));
            delay * 2 + Duration::from_ns(ns as u64)
        };
        let times: Vec<Vec<Duration>> = graph
            .nodes
            .iter()
            .map(|node| node.ports.iter().map(|end| time(end.rate, end.delay)).collect())
            .collect();
        let longest_round_trip = distances::longest_way(&graph, &times);
        let first = graph.hosts().next().map(|host| graph.node(host).ports[0].rate);
        let topology = topology::Spec::File(topology::file::Spec {
            path: String::new(),
            format: Some(networks::Format::Hpcc),
            rates: networks::Rates::new(),
            network: Some(Arc::new(read)),
        });
        let nic_rate = first.unwrap_or_default();
        Ok(Self { topology, graph, nic_rate, longest_round_trip, ports })
    }

    /// Rates of the hosts' links.
    pub fn host_rates(&self) -> BTreeSet<Rate> {
        self.graph.hosts().map(|host| self.graph.node(host).ports[0].rate).collect()
    }

    /// How many times the free memory a port may hold: an eighth at the rate of hosts, and twice as
    /// much for every time that its rate is twice that (`pfc_a_shift`).
    pub fn alpha(&self, rate: Rate) -> f64 {
        let (mut rate, mut shift) = (rate.0, 3);
        while rate > self.nic_rate.0 && shift > 0 {
            shift -= 1;
            rate /= 2;
        }
        1.0 / f64::from(1u32 << shift)
    }

    /// The headroom of a port: three times what is on its link, without a frame.
    pub fn headroom(rate: Rate, delay: Duration) -> Bytes {
        let bytes = u128::from(rate.0) * u128::from(delay.0 / 1_000) / 8 / 1_000_000_000 * 3;
        Bytes(bytes as u64)
    }

    /// The same for the slowest of all links of that rate.
    pub fn headroom_at(&self, rate: Rate) -> Bytes {
        let delays = self.ports.get(&rate).into_iter().flatten();
        delays.map(|&delay| Self::headroom(rate, delay)).max().unwrap_or_default()
    }

    /// Whether the headroom is enough for what arrives after a pause on every link.
    pub fn is_lossless(&self, largest_frame: u16) -> bool {
        self.ports.iter().all(|(&rate, delays)| {
            delays.iter().all(|&delay| {
                let link = pausing::Link {
                    rate,
                    delay,
                    lossless_classes: 1,
                    smallest_frame: 64,
                    largest_frame,
                    wire_overhead: 0,
                    latency: Duration::ZERO,
                    cell: Cell::default(),
                };
                link.headroom(Duration::ZERO) <= self.headroom_at(rate)
            })
        })
    }

    /// What ports share of a memory of this many bytes, and the switches where it is so much; `None` if
    /// there is a switch whose headrooms and reserves take all of it, or none at all.
    pub fn pools(&self, memory: u64) -> Option<BTreeMap<Bytes, Vec<&str>>> {
        let pool = |switch| {
            let ports = &self.graph.node(switch).ports;
            let own = ports.iter().map(|end| Self::headroom(end.rate, end.delay).0 + RESERVE);
            memory.checked_sub(own.sum()).filter(|&pool| pool > 0)
        };
        let mut pools: BTreeMap<Bytes, Vec<&str>> = BTreeMap::new();
        for switch in self.graph.switches() {
            pools.entry(Bytes(pool(switch)?)).or_default().push(&self.graph.node(switch).name);
        }
        (!pools.is_empty()).then_some(pools)
    }

    /// The name that a node of the file has here, by its number.
    pub fn name(&self, number: u64) -> Option<&str> {
        let names = [format!("host {number}"), format!("switch {number}")];
        let mut nodes = self.graph.nodes.iter();
        nodes.find(|node| names.contains(&node.name)).map(|node| node.name.as_str())
    }
}

//! Requirements of congestion controls on transport, switches and network, for their
//! [checks](super::Control::check_on).

use std::collections::BTreeSet;

use floodway_model::check::{Findings, count_of};
use floodway_model::{Duration, Graph, NodeId, Rate};

use crate::host::transport;
use crate::switch;
use crate::telemetry::HOPS;

/// Reason why the minimum rate must be above zero.
pub const LOWEST: &str =
    "a flow at rate zero would never learn that it may go on; usual is 100Mbps";

/// Reason why an increase must be above zero.
pub const INCREASE: &str = "with zero the rate would never rise after a decrease; usual is 100Mbps";

/// Configuration around a congestion control.
pub struct Around<'a> {
    /// The transport.
    pub transport: &'a transport::Spec,
    /// Path of the transport's table: `host.transport.rocev2`.
    pub transport_table: String,
    /// Table in which another transport or congestion control would be selected: `host`, or `workload` if one
    /// of the two is set by the workload.
    pub place: &'static str,
    /// Parameters of all switches.
    pub switch: &'a switch::Spec,
}

impl Around<'_> {
    /// Path of a field of the transport, for findings.
    pub fn of_transport(&self, field: &str) -> String {
        format!("/{}.{field}", self.transport_table)
    }

    /// Header of the transport's table.
    pub fn transport_header(&self) -> String {
        let place = if self.transport_table.starts_with("workload") { "workload" } else { "host" };
        // The number of a workload is not part of a header.
        format!("[{place}.transport.{}]", self.transport.name())
    }

    /// Header that selects another congestion control.
    pub fn other(&self, name: &str) -> String {
        format!("[{}.congestion.{name}]", self.place)
    }

    /// Header that selects another transport.
    pub fn other_transport(&self, name: &str) -> String {
        format!("[{}.transport.{name}]", self.place)
    }

    /// Reports that nothing marks packets, according to this field of the switches, and suggests an
    /// AQM that does.
    pub fn nothing_marks(&self, place: &str, aqm: &str, findings: &mut Findings<'_>) {
        findings.warn(
            [&format!("/{place}"), ""],
            format!("`{}` relies on ECN marks, but nothing marks packets", findings.name()),
            match self.switch.queue.discipline.has_aqm() {
                true => "let its AQM mark, with ecn = true".to_owned(),
                false => format!(
                    "choose [switch.aqm.{aqm}], or {} if that is meant",
                    self.other("line_rate")
                ),
            },
        );
    }

    /// Checks that the telemetry of a packet can be compared with that of the previous one.
    pub fn check_telemetry(&self, findings: &mut Findings<'_>) {
        if self.switch.path.sprays() {
            findings.warn(
                [&format!("/switch.path.{}", self.switch.path.name()), "/switch.path"],
                format!(
                    "`{}` compares what successive packets have collected from the switches on their path, but \
                     each may take another path",
                    findings.name()
                ),
                "what cannot be compared is left out, so rates hardly change: choose [switch.path.ecmp]",
            );
        }
    }
}

/// The network around a congestion control.
pub struct Network<'a> {
    /// Configuration of hosts and switches.
    pub around: &'a Around<'a>,
    /// Topology.
    pub graph: &'a Graph,
    /// Time of a full packet to the farthest host and of its acknowledgement back, on an idle network.
    pub round_trip: Duration,
    /// The same round trip as the authors of HPCC compute it for windows, without headers and
    /// acknowledgements.
    pub round_trip_of_payload: Duration,
}

impl Network<'_> {
    /// Rate of the fastest host link.
    pub fn fastest_host(&self) -> Rate {
        let rates = self.graph.hosts().map(|host| self.graph.node(host).ports[0].rate);
        rates.max().unwrap_or_default()
    }

    /// Rate of the slowest host link.
    pub fn slowest_host(&self) -> Rate {
        let rates = self.graph.hosts().map(|host| self.graph.node(host).ports[0].rate);
        rates.min().unwrap_or_default()
    }

    /// Checks that a flow may send as slowly as the slowest host, given the default of the minimum rate
    /// `min_rate`.
    pub fn check_lowest(&self, min_rate: Rate, default: &str, findings: &mut Findings<'_>) {
        let slowest = self.slowest_host();
        if min_rate > slowest {
            findings.error(
                ["min_rate", "/topology"],
                format!(
                    "the lowest rate of a flow ({min_rate}) is above that of a host's link ({slowest})"
                ),
                format!("lower `{}`: the default is \"{default}\"", findings.path("min_rate")),
            );
        }
    }

    /// The round-trip time without queueing that a window is based on: `base_rtt` if given, which must
    /// not be too short, otherwise that of the network.
    pub fn check_base_rtt(
        &self,
        base_rtt: Option<Duration>,
        findings: &mut Findings<'_>,
    ) -> Duration {
        let Some(base_rtt) = base_rtt else { return self.round_trip };
        self.check_length(("base_rtt", base_rtt), findings);
        base_rtt
    }

    /// Checks that the window in this field is at least as long as a round trip without queueing.
    pub fn check_length(&self, (field, length): (&str, Duration), findings: &mut Findings<'_>) {
        let round_trip = self.round_trip;
        if length > Duration::ZERO && length < self.round_trip_of_payload.min(round_trip) {
            findings.warn(
                field,
                format!(
                    "`{field}` is {length}, and the round trip of an empty network takes {round_trip}"
                ),
                "the window is too short to fill the path between the hosts farthest apart: raise it, or \
                 remove it",
            );
        }
    }

    /// Checks that enough packets are in flight at the minimum rate to trigger an acknowledgement;
    /// returns the number of packets per acknowledgement if so.
    pub fn check_window(
        &self,
        min_rate: Rate,
        length: Duration,
        findings: &mut Findings<'_>,
    ) -> Option<u32> {
        let transport::Spec::Rocev2(transport) = self.around.transport else { return None };
        let every = transport.ack_every;
        let packets = min_rate.bytes_in(length).0.div_ceil(transport.mtu.0.max(1)).max(1);
        if packets >= u64::from(every) {
            return Some(every);
        }
        findings.error(
            &self.around.of_transport("ack_every"),
            format!(
                "the window of `{}` is {} at the lowest rate, {min_rate}, and an acknowledgement \
                 comes after {every}",
                findings.name(),
                count_of(packets, "packet")
            ),
            "the sender would wait for its timer: write ack_every = 1, or raise `min_rate`",
        );
        None
    }

    /// Like [`Self::check_window`], and also checks that every packet is acknowledged individually.
    /// Algorithms that change the window with every acknowledgement or count marks rely on this.
    pub fn check_every_packet(
        &self,
        min_rate: Rate,
        length: Duration,
        findings: &mut Findings<'_>,
    ) {
        let every = self.check_window(min_rate, length, findings);
        if let Some(every) = every.filter(|&every| every > 1) {
            findings.warn(
                &self.around.of_transport("ack_every"),
                format!("`{}` gets feedback about one packet in {every}", findings.name()),
                "it reacts later and by fewer observations: write ack_every = 1, as published",
            );
        }
    }

    /// Checks that all switches of a path can write telemetry into its packets.
    pub fn check_hops(&self, findings: &mut Findings<'_>) {
        // With more switches that have hosts than this, only the first ones are checked.
        const MOST: usize = 1_000;
        let graph = self.graph;
        let edges: BTreeSet<NodeId> =
            graph.hosts().map(|host| graph.node(host).ports[0].peer).collect();
        let farthest = |&edge: &NodeId| {
            let distances = graph.distances(edge);
            edges.iter().filter_map(|to| distances[to.index()]).max()
        };
        let links = edges.iter().take(MOST).filter_map(farthest).max().unwrap_or(0);
        let switches = links as usize + 1;
        if switches > HOPS {
            findings.warn(
                ["", "/topology"],
                format!(
                    "the longest path has {switches} switches, and telemetry has room for those of {HOPS}"
                ),
                "flows that go further get no telemetry of the last ones and take more than their share \
                 there: make the network shorter",
            );
        }
    }
}

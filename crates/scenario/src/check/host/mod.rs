//! Whether transports, congestion controls and applications fit each other and the network.

mod application;
mod fit;
mod marks;
mod numbers;

use floodway_model::check::Check;
use floodway_model::{Bytes, Graph};
use floodway_sim::host::congestion::Spec as Congestion;
use floodway_sim::host::congestion::check::{Around, Network};
use floodway_sim::host::transport::{self, Spec as Transport};

use super::Problems;
use crate::derived;
use crate::document::Document;
use crate::workload::{self, Ready};

/// How some flows are sent, and where that was written: for all hosts, or for a workload.
struct Placed {
    transport: Transport,
    transport_path: String,
    congestion: Congestion,
    congestion_path: String,
}

impl Placed {
    /// The path of the congestion control's table.
    fn congestion_table(&self) -> String {
        format!("{}.{}", self.congestion_path, self.congestion.name())
    }

    /// What is beside the congestion control.
    fn around<'a>(&'a self, settings: &'a Document) -> Around<'a> {
        let own = |path: &str| path.starts_with("workload");
        let any = own(&self.transport_path) || own(&self.congestion_path);
        Around {
            transport: &self.transport,
            transport_table: format!("{}.{}", self.transport_path, self.transport.name()),
            place: if any { "workload" } else { "host" },
            switch: &settings.switch,
        }
    }

    /// The path of a field of the transport.
    fn of_transport(&self, field: &str) -> String {
        format!("{}.{}.{field}", self.transport_path, self.transport.name())
    }
}

/// Every combination of transport and congestion control that the workloads use.
fn all(settings: &Document) -> Vec<Placed> {
    let mut all: Vec<Placed> = Vec::new();
    for (number, (entry, profile)) in settings.workload.iter().zip(settings.profiles()).enumerate()
    {
        let own = match &entry.traffic {
            workload::Spec::Linux(_) => Some(format!("workload.{number}.linux")),
            _ => None,
        };
        let placed = Placed {
            transport: profile.transport,
            transport_path: own
                .clone()
                .unwrap_or_else(|| path(number, "transport", entry.transport.is_some())),
            congestion: profile.congestion,
            congestion_path: own
                .unwrap_or_else(|| path(number, "congestion", entry.congestion.is_some())),
        };
        let same = |other: &Placed| {
            other.transport_path == placed.transport_path
                && other.congestion_path == placed.congestion_path
        };
        if !all.iter().any(same) {
            all.push(placed);
        }
    }
    all
}

/// Where a family of hosts was written that a workload has for its own, or has of all hosts.
pub fn path(workload: usize, family: &str, own: bool) -> String {
    if own { format!("workload.{workload}.{family}") } else { format!("host.{family}") }
}

/// The longest frame, if packets can be made.
pub fn check(settings: &Document, findings: &mut Problems<'_>) -> Option<u16> {
    let mut longest = Some(0);
    let all = all(settings);
    check_credit(&all, findings);
    for placed in &all {
        placed.transport.check(&mut findings.within(&placed.transport_path));
        placed.congestion.check(&mut findings.within(&placed.congestion_path));
        let around = placed.around(settings);
        let of_congestion = &mut findings.within(placed.congestion_table());
        if fit::check(placed, &around, of_congestion) {
            placed.congestion.check_signals(&around, of_congestion);
            check_tag(placed, &around, findings);
        }
        let of_transport = &mut findings.within(around.transport_table);
        let frame = placed.transport.check_frame(settings.wire_overhead, of_transport);
        longest = longest.zip(frame).map(|(longest, frame)| frame.max(longest));
    }
    application::check(settings, findings);
    longest
}

/// Tags of CSIG have the delay of a packet in its queue, which queues of some flow controls do not know.
fn check_tag(placed: &Placed, around: &Around<'_>, findings: &mut Problems<'_>) {
    let has_tag = match &placed.transport {
        Transport::Rocev2(rocev2) => rocev2.csig.is_some() || placed.congestion.needs_tag(),
        _ => false,
    };
    let flow_control = &around.switch.flow_control;
    let without_times = [
        (flow_control.bfc.is_some(), "bfc", "physical queues of Backpressure Flow Control"),
        (flow_control.drc.is_some(), "drc", "queues by direction of Directional Rate Control"),
    ];
    for (_, field, queues) in without_times.into_iter().filter(|(uses, ..)| has_tag && *uses) {
        let (field, tag) = (format!("switch.flow_control.{field}"), around.of_transport("csig"));
        let tag = tag.trim_start_matches('/');
        findings.error(
            &[&field, tag, &placed.congestion_path],
            format!("tags of CSIG have the delay of each packet, and the {queues} keep no times"),
            format!(
                "remove [{field}], or choose a congestion control without a tag and remove `csig`"
            ),
        );
    }
}

/// Credit of receivers is for all of their links, whatever else goes there.
fn check_credit(all: &[Placed], findings: &mut Problems<'_>) {
    let with = all.iter().find_map(|placed| match &placed.congestion {
        Congestion::Rccc(rccc) => Some((placed, rccc.pace)),
        _ => None,
    });
    let without = all.iter().find(|placed| !matches!(placed.congestion, Congestion::Rccc(_)));
    if let (Some((placed, pace)), Some(other)) = (with, without) {
        let table = placed.congestion_table();
        findings.warn(
            &[&format!("{table}.pace"), &table],
            format!(
                "receivers give credit for {pace} of their links, and flows with `{}` need none",
                other.congestion.name()
            ),
            "where both go to the same host, more is sent than its link carries: lower `pace` to what the others leave",
        );
    }
}

/// Checks what needs the network, with parameters that are possible.
pub fn check_on(
    settings: &Document,
    graph: &Graph,
    largest_frame: u16,
    workloads: &[Ready],
    findings: &mut Problems<'_>,
) {
    let round_trip = derived::round_trip(settings, graph, largest_frame);
    for placed in &all(settings) {
        let payload = Bytes(placed.transport.payload());
        let around = &placed.around(settings);
        let round_trip_of_payload = derived::round_trip_of_payload(settings, graph, payload);
        let network = Network { around, graph, round_trip, round_trip_of_payload };
        let of_transport = &mut findings.within(&around.transport_table);
        let (slowest, wire_overhead) = (network.slowest_host(), settings.wire_overhead);
        let facts = transport::Network { round_trip, slowest, wire_overhead };
        placed.transport.check_on(&facts, of_transport);
        numbers::check(placed, settings, graph, workloads, findings);
        if let Transport::Tcp(spec) = &placed.transport {
            marks::of_segments(placed, spec, settings, findings);
        }
        placed.congestion.check_on(&network, &mut findings.within(placed.congestion_table()));
    }
}

//! Whether transport and congestion control fit the network.

mod bbr;
mod congestion;
mod dcqcn;
mod frame;
mod rocev2;
mod tcp;
mod udp;

use floodway_model::Graph;
use floodway_sim::host::congestion::Spec as Congestion;
use floodway_sim::host::transport::Spec as Transport;

use super::Findings;
use crate::document::Document;
use crate::workload::Ready;

/// How some flows are sent, and where that was written: for all hosts, or for a workload.
struct Placed<'a> {
    transport: &'a Transport,
    transport_path: String,
    congestion: &'a Congestion,
    congestion_path: String,
}

/// Every combination of transport and congestion control that the workloads use.
fn all(settings: &Document) -> Vec<Placed<'_>> {
    let (transport, congestion) = (&settings.host.transport, &settings.host.congestion);
    let mut all: Vec<Placed<'_>> = Vec::new();
    for (number, entry) in settings.workload.iter().enumerate() {
        let placed = Placed {
            transport: entry.transport.as_ref().unwrap_or(transport),
            transport_path: path(number, "transport", entry.transport.is_some()),
            congestion: entry.congestion.as_ref().unwrap_or(congestion),
            congestion_path: path(number, "congestion", entry.congestion.is_some()),
        };
        let same = |other: &Placed<'_>| {
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
fn path(workload: usize, family: &str, own: bool) -> String {
    if own { format!("workload.{workload}.{family}") } else { format!("host.{family}") }
}

/// The longest frame, if packets can be made.
pub fn check(settings: &Document, findings: &mut Findings<'_>) -> Option<u16> {
    let all = all(settings);
    let mut longest = Some(0);
    let mut seen: Vec<&str> = Vec::new();
    for Placed { transport, transport_path, congestion, congestion_path, .. } in &all {
        if !seen.contains(&congestion_path.as_str()) {
            seen.push(congestion_path);
            congestion::check(congestion_path, congestion, findings);
            if let Congestion::Dcqcn(spec) = congestion {
                dcqcn::check(congestion_path, settings, spec, findings);
            }
        }
        if !seen.contains(&transport_path.as_str()) {
            seen.push(transport_path);
            let frame = match transport {
                Transport::Rocev2(spec) => rocev2::check(transport_path, settings, spec, findings),
                Transport::Tcp(spec) => tcp::check(transport_path, settings, spec, findings),
                Transport::Udp(spec) => udp::check(transport_path, settings, spec, findings),
            };
            longest = longest.zip(frame).map(|(longest, frame)| frame.max(longest));
        }
    }
    longest
}

/// Checks what needs the network.
pub fn check_on(
    settings: &Document,
    graph: &Graph,
    largest_frame: u16,
    workloads: &[Ready],
    findings: &mut Findings<'_>,
) {
    let all = all(settings);
    let mut seen: Vec<&str> = Vec::new();
    for placed in &all {
        if !seen.contains(&placed.transport_path.as_str()) {
            seen.push(&placed.transport_path);
            rocev2::check_on(placed, settings, graph, largest_frame, workloads, findings);
        }
        if let Congestion::Dcqcn(spec) = placed.congestion {
            let is_new = !seen.contains(&placed.congestion_path.as_str());
            dcqcn::check_on(placed, spec, graph, is_new, findings);
            seen.push(&placed.congestion_path);
        }
    }
}

//! Whether transports, congestion controls and applications fit each other and the network.

mod application;
mod congestion;
mod datagram;
mod fit;
mod frame;
mod marks;
mod memory;
mod numbers;
mod rocev2;
mod tcp;

use floodway_model::Graph;
use floodway_sim::host::congestion::Spec as Congestion;
use floodway_sim::host::transport::Spec as Transport;

use super::Findings;
use crate::document::Document;
use crate::workload::Ready;

pub use marks::{no_congestion, no_marks};

/// How some flows are sent, and where that was written: for all hosts, or for a workload.
struct Placed {
    transport: Transport,
    transport_path: String,
    congestion: Congestion,
    congestion_path: String,
}

impl Placed {
    /// The path of a field of the transport.
    fn of_transport(&self, field: &str) -> String {
        format!("{}.{}.{field}", self.transport_path, self.transport.name())
    }

    /// The path of a field of the congestion control.
    fn of_congestion(&self, field: &str) -> String {
        format!("{}.{field}", self.congestion_table())
    }

    /// The path of its table.
    fn congestion_table(&self) -> String {
        format!("{}.{}", self.congestion_path, self.congestion.name())
    }

    /// The header of another transport to choose, for the workload alone if something is its own.
    fn other_transport(&self, name: &str) -> String {
        format!("[{}.transport.{name}]", self.place())
    }

    /// The header of another congestion control to choose, likewise.
    fn other_congestion(&self, name: &str) -> String {
        format!("[{}.congestion.{name}]", self.place())
    }

    /// The header of its transport.
    fn transport_header(&self) -> String {
        let place = if self.transport_path.starts_with("workload") { "workload" } else { "host" };
        // The number of a workload is not part of a header.
        format!("[{place}.transport.{}]", self.transport.name())
    }

    fn place(&self) -> &'static str {
        let own = |path: &str| path.starts_with("workload");
        let any = own(&self.transport_path) || own(&self.congestion_path);
        if any { "workload" } else { "host" }
    }
}

/// Every combination of transport and congestion control that the workloads use.
fn all(settings: &Document) -> Vec<Placed> {
    let mut all: Vec<Placed> = Vec::new();
    for (number, (entry, profile)) in settings.workload.iter().zip(settings.profiles()).enumerate()
    {
        let placed = Placed {
            transport: profile.transport,
            transport_path: path(number, "transport", entry.transport.is_some()),
            congestion: profile.congestion,
            congestion_path: path(number, "congestion", entry.congestion.is_some()),
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
fn path(workload: usize, family: &str, own: bool) -> String {
    if own { format!("workload.{workload}.{family}") } else { format!("host.{family}") }
}

/// The longest frame, if packets can be made.
pub fn check(settings: &Document, findings: &mut Findings<'_>) -> Option<u16> {
    let all = all(settings);
    let mut longest = Some(0);
    let mut seen: Vec<&str> = Vec::new();
    for placed in &all {
        let Placed { transport, transport_path, congestion_path, .. } = placed;
        let fits = fit::check(placed, findings);
        if !seen.contains(&congestion_path.as_str()) {
            seen.push(congestion_path);
            congestion::check(placed, fits, settings, findings);
        }
        if !seen.contains(&transport_path.as_str()) {
            seen.push(transport_path);
            let frame = match transport {
                Transport::Rocev2(spec) => rocev2::check(transport_path, settings, spec, findings),
                Transport::Tcp(spec) => tcp::check(transport_path, settings, spec, findings),
                Transport::Udp(spec) => datagram::udp(transport_path, settings, spec, findings),
                Transport::Ethernet(spec) => {
                    datagram::ethernet(transport_path, settings, spec, findings)
                }
            };
            longest = longest.zip(frame).map(|(longest, frame)| frame.max(longest));
        }
    }
    application::check(settings, findings);
    longest
}

/// Checks what needs the network, with parameters that are possible.
pub fn check_on(
    settings: &Document,
    graph: &Graph,
    largest_frame: u16,
    workloads: &[Ready],
    findings: &mut Findings<'_>,
) {
    memory::check(settings, largest_frame, findings);
    let network = congestion::Network { settings, graph, largest_frame };
    let all = all(settings);
    let mut seen: Vec<&str> = Vec::new();
    for placed in &all {
        if !seen.contains(&placed.transport_path.as_str()) {
            seen.push(&placed.transport_path);
            match &placed.transport {
                Transport::Rocev2(spec) => {
                    rocev2::check_on(placed, spec, settings, graph, largest_frame, findings);
                }
                Transport::Tcp(spec) => {
                    tcp::check_on(placed, spec, settings, graph, largest_frame, findings);
                }
                Transport::Udp(_) | Transport::Ethernet(_) => {}
            }
            numbers::check(placed, settings, graph, workloads, findings);
        }
        if let Transport::Tcp(spec) = &placed.transport {
            marks::of_segments(placed, spec, settings, findings);
        }
        let is_new = !seen.contains(&placed.congestion_path.as_str());
        congestion::check_on(placed, &network, is_new, findings);
        seen.push(&placed.congestion_path);
    }
}

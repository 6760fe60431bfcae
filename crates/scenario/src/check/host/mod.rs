//! Whether transports, congestion controls and applications fit each other and the network.

mod answers;
mod application;
mod bbr;
mod congestion;
mod datagram;
mod dcqcn;
mod fit;
mod frame;
mod indicated_rate;
mod marks;
mod memory;
mod numbers;
mod qcn;
mod rates;
mod rocev2;
mod swift;
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
        let Placed { transport, transport_path, congestion, congestion_path } = placed;
        let fits = fit::check(placed, findings);
        if !seen.contains(&congestion_path.as_str()) {
            seen.push(congestion_path);
            congestion::check(congestion_path, congestion, findings);
            if let Congestion::Dcqcn(spec) = congestion {
                dcqcn::check(congestion_path, spec, findings);
                if fits {
                    marks::of_notifications(placed, settings, findings);
                }
            }
            answers::check(congestion_path, congestion, findings);
            if fits {
                answers::listens(placed, settings, findings);
            }
            if let Congestion::Swift(spec) = congestion {
                swift::check(congestion_path, spec, findings);
            }
            if let Congestion::Qcn(spec) = congestion {
                qcn::check(congestion_path, spec, findings);
                if fits {
                    qcn::listens(placed, settings, findings);
                }
            }
            if let Congestion::IndicatedRate(spec) = congestion {
                indicated_rate::check(congestion_path, spec, findings);
                if fits {
                    indicated_rate::listens(placed, settings, findings);
                }
            }
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
        match &placed.congestion {
            Congestion::Dcqcn(spec) => dcqcn::check_on(placed, spec, graph, is_new, findings),
            Congestion::Swift(spec) if is_new => {
                swift::check_on(placed, spec, settings, graph, largest_frame, findings);
            }
            Congestion::Qcn(spec) if is_new => {
                rates::least(placed, spec.min_rate, "5Mbps", graph, findings);
            }
            Congestion::IndicatedRate(spec) if is_new => {
                rates::least(placed, spec.min_rate, "10Mbps", graph, findings);
            }
            Congestion::Hpcc(_) | Congestion::Timely(_) | Congestion::RdmaDctcp(_) if is_new => {
                answers::check_on(placed, settings, graph, largest_frame, findings);
            }
            _ => {}
        }
        seen.push(&placed.congestion_path);
    }
}

//! Whether a congestion control hears from its transport what it needs.

use floodway_sim::host::congestion::{Needs, Spec as Congestion};
use floodway_sim::host::transport::Spec as Transport;

use super::super::Findings;
use super::Placed;
use crate::document;

/// Whether it does.
pub fn check(placed: &Placed, findings: &mut Findings<'_>) -> bool {
    let (transport, control) = (&placed.transport, &placed.congestion);
    let (needs, from) = match (control.needs(), transport) {
        (Needs::Notifications, Transport::Tcp(_) | Transport::Udp(_) | Transport::Ethernet(_)) => {
            ("congestion notification packets, which only RoCEv2 has", "rocev2")
        }
        (Needs::Answers, Transport::Tcp(_) | Transport::Udp(_) | Transport::Ethernet(_)) => {
            ("to hear of every packet by its acknowledgement, which only RoCEv2 tells", "rocev2")
        }
        (Needs::Indications, Transport::Tcp(_)) => {
            ("to hear how severe congestion is, which TCP takes for a mark", "udp")
        }
        (Needs::Messages, Transport::Tcp(_)) => {
            ("a transport that leaves the rate to it", "rocev2")
        }
        (
            Needs::Acknowledgements,
            Transport::Rocev2(_) | Transport::Udp(_) | Transport::Ethernet(_),
        ) => ("acknowledgements, losses and round-trip times, which only TCP tells", "tcp"),
        (Needs::Nothing, Transport::Tcp(tcp)) => {
            unlimited(placed, tcp.receive_window.is_some(), findings);
            return true;
        }
        _ => return true,
    };
    findings.error(
        &[
            &format!("{}.{}", placed.congestion_path, control.name()),
            &placed.congestion_path,
            &placed.transport_path,
        ],
        format!("`{}` needs {needs}, and the transport is `{}`", control.name(), transport.name()),
        format!(
            "choose {}, or {}",
            placed.other_transport(from),
            placed.other_congestion(document::usual(transport).name())
        ),
    );
    false
}

/// TCP without a window of its own; with a `receive_window` it has one that stays the same.
fn unlimited(placed: &Placed, receive_window: bool, findings: &mut Findings<'_>) {
    let table = format!("{}.{}", placed.congestion_path, placed.congestion.name());
    let paths = [table.as_str(), placed.congestion_path.as_str()];
    match placed.congestion {
        Congestion::ConstantRate(_) => findings.warn(
            &paths,
            "`constant_rate` does not slow down when segments are lost, and TCP sends them again",
            format!(
                "for traffic that does not respond choose {}, for TCP {}",
                placed.other_transport("udp"),
                placed.other_congestion("cubic")
            ),
        ),
        _ if !receive_window => findings.warn(
            &paths,
            "nothing limits how much TCP has in flight: `line_rate` has no window",
            format!(
                "choose {}, or write `receive_window` in {} for a window that stays the same",
                placed.other_congestion("cubic"),
                placed.transport_header()
            ),
        ),
        _ => {}
    }
}

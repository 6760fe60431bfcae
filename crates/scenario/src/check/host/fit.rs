//! Whether a congestion control hears from its transport what it needs.

use floodway_model::check::Findings;
use floodway_sim::host::congestion::Needs;
use floodway_sim::host::congestion::check::Around;
use floodway_sim::host::transport::Spec as Transport;

use super::Placed;
use crate::document;

/// Whether it does.
pub fn check(placed: &Placed, around: &Around<'_>, findings: &mut Findings<'_>) -> bool {
    let (transport, control) = (&placed.transport, &placed.congestion);
    let (needs, from) = match (control.needs(), transport) {
        (Needs::Notifications, Transport::Tcp(_) | Transport::Udp(_) | Transport::Ethernet(_)) => {
            ("congestion notification packets, which only RoCEv2 has", "rocev2")
        }
        (Needs::Answers, Transport::Tcp(_) | Transport::Udp(_) | Transport::Ethernet(_)) => {
            ("an acknowledgement for every packet, which only RoCEv2 has", "rocev2")
        }
        (Needs::Indications, Transport::Tcp(_)) => {
            ("the severity of congestion, which TCP takes for a mark", "udp")
        }
        (Needs::Messages, Transport::Tcp(_)) => {
            ("a transport that leaves the rate to it", "rocev2")
        }
        (
            Needs::Acknowledgements,
            Transport::Rocev2(_) | Transport::Udp(_) | Transport::Ethernet(_),
        ) => ("acknowledgements, losses and round-trip times, which only TCP reports", "tcp"),
        (Needs::Nothing, Transport::Tcp(tcp)) => {
            control.check_unlimited(around, tcp, findings);
            return true;
        }
        _ => return true,
    };
    findings.error(
        ["", &format!("/{}", placed.transport_path)],
        format!("`{}` needs {needs}, and the transport is `{}`", control.name(), transport.name()),
        format!(
            "choose {}, or {}",
            around.other_transport(from),
            around.other(document::usual(transport).name())
        ),
    );
    false
}

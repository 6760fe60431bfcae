//! Whether a congestion control hears from its transport what it needs.

use floodway_model::check::Findings;
use floodway_sim::host::congestion::Needs;
use floodway_sim::host::congestion::check::Around;
use floodway_sim::host::transport::Spec as Transport;

use super::Placed;

/// Whether it does.
pub fn check(placed: &Placed, around: &Around<'_>, findings: &mut Findings<'_>) -> bool {
    let (transport, control) = (&placed.transport, &placed.congestion);
    if transport.reports(control.needs()) {
        if let (Needs::Nothing, Transport::Tcp(tcp)) = (control.needs(), transport) {
            control.check_unlimited(around, tcp, findings);
        }
        return true;
    }
    let (needs, from) = match control.needs() {
        Needs::Notifications => {
            ("congestion notification packets, which only RoCEv2 has", "rocev2")
        }
        Needs::Answers => ("an acknowledgement for every packet, which only RoCEv2 has", "rocev2"),
        Needs::Arrivals => (
            "counts of arrived packets and where packets were trimmed, which only Ultra Ethernet reports",
            "uet",
        ),
        Needs::Indications => ("the severity of congestion, which TCP takes for a mark", "udp"),
        Needs::Messages => ("a transport that leaves the rate to it", "rocev2"),
        Needs::Acknowledgements => {
            ("acknowledgements, losses and round-trip times, which only TCP reports", "tcp")
        }
        Needs::Nothing => return true,
    };
    findings.error(
        ["", &format!("/{}", placed.transport_path)],
        format!("`{}` needs {needs}, and the transport is `{}`", control.name(), transport.name()),
        format!(
            "choose {}, or {}",
            around.other_transport(from),
            around.other(transport.usual_control().name())
        ),
    );
    false
}

//! Whether a congestion control hears from its transport what it needs.

use floodway_model::check::Findings;
use floodway_sim::host::congestion::Needs;
use floodway_sim::host::congestion::check::Around;
use floodway_sim::host::transport::Spec as Transport;

use super::Placed;

/// Whether it does.
pub fn check(placed: &Placed, around: &Around<'_>, findings: &mut Findings<'_>) -> bool {
    let (transport, control) = (&placed.transport, &placed.congestion);
    let Some((needs, from)) = transport.lacks(control.needs()) else {
        if let (Needs::Nothing, Transport::Tcp(tcp)) = (control.needs(), transport) {
            control.check_unlimited(around, tcp, findings);
        }
        return true;
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

//! Whether the parameters of TCP can work, and fit the network.

use floodway_model::packet::length;
use floodway_sim::host::transport::tcp;

use super::super::Findings;
use super::frame;
use crate::document::Document;

/// The longest frame, if packets can be made.
pub fn check(
    path: &str,
    settings: &Document,
    spec: &tcp::Spec,
    findings: &mut Findings<'_>,
) -> Option<u16> {
    let field = format!("{path}.tcp.mss");
    if spec.mss.0 == 0 {
        let help = "write the payload of a full segment, for example \"1448B\"";
        findings.error(&[&field], "segments would carry 0 bytes", help);
        return None;
    }
    let limits = "an Ethernet packet of 1500 bytes has room for 1448";
    frame::check((&field, spec.mss), length::TCP_OVERHEAD, limits, settings, findings)
}

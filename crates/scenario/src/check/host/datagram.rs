//! Whether datagrams and Ethernet frames can be made.

use floodway_model::packet::length;
use floodway_sim::host::transport::{ethernet, udp};

use super::super::Findings;
use super::frame;
use crate::document::Document;

/// The longest frame of `udp`, if packets can be made.
pub fn udp(
    path: &str,
    settings: &Document,
    spec: &udp::Spec,
    findings: &mut Findings<'_>,
) -> Option<u16> {
    let field = format!("{path}.udp.payload");
    if spec.payload.0 == 0 {
        let help = "write the payload of a full datagram, for example \"1472B\"";
        findings.error(&[&field], "datagrams would carry 0 bytes", help);
        return None;
    }
    let limits = "an Ethernet packet of 1500 bytes has room for 1472";
    frame::check((&field, spec.payload), length::UDP_OVERHEAD, limits, settings, findings)
}

/// The longest frame of `ethernet`, likewise.
pub fn ethernet(
    path: &str,
    settings: &Document,
    spec: &ethernet::Spec,
    findings: &mut Findings<'_>,
) -> Option<u16> {
    let field = format!("{path}.ethernet.payload");
    if spec.payload.0 == 0 {
        let help = "write the payload of a full frame, for example \"1500B\"";
        findings.error(&[&field], "frames would carry 0 bytes", help);
        return None;
    }
    let limits = "IEEE 802.3 has room for 1500, jumbo frames usually for 9000";
    frame::check((&field, spec.payload), length::ETHERNET_OVERHEAD, limits, settings, findings)
}

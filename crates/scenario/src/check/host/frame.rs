//! Whether packets fit a frame.

use floodway_model::Bytes;

use super::super::Findings;
use crate::document::Document;

/// The frame of a full packet, written at this place, if it can be made.
pub fn check(
    (path, payload): (&str, Bytes),
    overhead: u16,
    limits: &str,
    settings: &Document,
    findings: &mut Findings<'_>,
) -> Option<u16> {
    let most = u64::from(u16::MAX);
    let frame = payload.0.saturating_add(overhead.into());
    let on_wire = frame.saturating_add(settings.wire_overhead.0);
    if frame > most {
        let what = if path.ends_with("mtu") { "an MTU" } else { "a payload" };
        findings.error(
            &[path],
            format!("{what} of {payload} makes frames of {frame} bytes"),
            format!("frames have at most {most} bytes: {limits}"),
        );
        return None;
    }
    if on_wire > most {
        findings.error(
            &["wire_overhead"],
            format!("a frame of {frame} bytes takes {on_wire} bytes on the wire"),
            format!("at most {most} are possible; preamble and gap are 20 bytes"),
        );
        return None;
    }
    Some(frame as u16)
}

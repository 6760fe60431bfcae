//! Whether the parameters of TCP can work, and fit the network.

use floodway_model::packet::length;
use floodway_model::{Bytes, Duration, Graph};
use floodway_sim::host::transport::tcp::Spec;

use super::super::{Findings, LONGEST_RUN, rough_time};
use super::{Placed, frame};
use crate::derived;
use crate::document::Document;

/// The least that Linux sends (`TCP_MIN_SND_MSS`). With less a SYN would be the longest frame.
const SMALLEST_MSS: Bytes = Bytes(48);

/// RFC 5681, section 4.2.
const LONGEST_DELAY: Duration = Duration::from_ms(500);

/// The longest frame, if packets can be made.
pub fn check(
    path: &str,
    settings: &Document,
    spec: &Spec,
    findings: &mut Findings<'_>,
) -> Option<u16> {
    let field = |name: &str| format!("{path}.tcp.{name}");
    for (name, value, help) in [
        (
            "initial_window",
            spec.initial_window,
            "a connection could never begin: write 10, as RFC 6928 has it",
        ),
        (
            "ack_every",
            spec.ack_every,
            "write 1 to acknowledge every segment, 2 for every second one",
        ),
    ] {
        if value == 0 {
            let path = field(name);
            findings.error(&[&path], format!("`{path}` is 0"), help);
        }
    }
    timeouts(path, spec, findings);
    let mss = field("mss");
    if spec.mss.0 == 0 {
        let help = "write the payload of a full segment, for example \"1448B\"";
        findings.error(&[&mss], "segments would carry 0 bytes", help);
        return None;
    }
    if spec.mss < SMALLEST_MSS {
        findings.error(
            &[&mss],
            format!("segments would carry {}, less than a header", spec.mss),
            format!("write at least \"{SMALLEST_MSS}\", the least that Linux sends"),
        );
        return None;
    }
    receive_window(path, spec, findings);
    let limits = "an Ethernet packet of 1500 bytes has room for 1448";
    frame::check((&mss, spec.mss), length::TCP_OVERHEAD, limits, settings, findings)
}

fn timeouts(path: &str, spec: &Spec, findings: &mut Findings<'_>) {
    let field = |name: &str| format!("{path}.tcp.{name}");
    for (name, timeout) in
        [("min_rto", spec.min_rto), ("max_rto", spec.max_rto), ("initial_rto", spec.initial_rto)]
    {
        if timeout > LONGEST_RUN {
            findings.error(
                &[&field(name)],
                format!("`{name}` is {}", rough_time(timeout)),
                format!("at most {LONGEST_RUN} are possible, which is longer than any run"),
            );
        }
    }
    findings.positive(&field("initial_rto"), spec.initial_rto);
    findings.positive(&field("max_rto"), spec.max_rto);
    if spec.min_rto > spec.max_rto {
        findings.error(
            &[&field("min_rto"), &field("max_rto")],
            format!(
                "the least retransmission timeout ({}) is above the longest ({})",
                spec.min_rto, spec.max_rto
            ),
            "lower `min_rto`, or raise `max_rto`",
        );
    }
    if spec.delayed_ack > LONGEST_DELAY {
        findings.error(
            &[&field("delayed_ack")],
            format!("acknowledgements would wait for {}", rough_time(spec.delayed_ack)),
            format!("RFC 5681 allows at most {LONGEST_DELAY}; Linux waits 40ms"),
        );
    } else if spec.ack_every > 1 && spec.delayed_ack >= spec.min_rto {
        findings.warn(
            &[&field("min_rto"), &field("delayed_ack")],
            format!(
                "an acknowledgement may wait for {}, and the retransmission timeout for only {} \
                 more than a round trip",
                spec.delayed_ack, spec.min_rto
            ),
            "segments that were not lost are sent again: lower `delayed_ack`, or raise `min_rto`",
        );
    }
}

fn receive_window(path: &str, spec: &Spec, findings: &mut Findings<'_>) {
    let Some(window) = spec.receive_window else { return };
    let field = |name: &str| format!("{path}.tcp.{name}");
    let segments = window.0 / spec.mss.0;
    if segments == 0 {
        findings.error(
            &[&field("receive_window"), &field("mss")],
            format!("a receive window of {window} holds no segment of {}", spec.mss),
            "write at least the payload of one segment, or remove it",
        );
    } else if segments < u64::from(spec.ack_every) {
        findings.warn(
            &[&field("receive_window"), &field("ack_every")],
            format!(
                "a receive window of {window} is {}, and an acknowledgement comes after {}",
                if segments == 1 { "1 segment".to_owned() } else { format!("{segments} segments") },
                spec.ack_every
            ),
            "every acknowledgement waits for `delayed_ack`: raise `receive_window`, or lower \
             `ack_every`",
        );
    }
}

/// Checks what needs the network.
pub fn check_on(
    placed: &Placed,
    spec: &Spec,
    settings: &Document,
    graph: &Graph,
    largest_frame: u16,
    findings: &mut Findings<'_>,
) {
    let round_trip = derived::round_trip(settings, graph, largest_frame);
    if spec.initial_rto <= round_trip {
        findings.error(
            &[&placed.of_transport("initial_rto")],
            format!(
                "the first retransmission timeout ({}) is not above the round-trip time of an \
                 empty network ({round_trip})",
                spec.initial_rto
            ),
            "every SYN would be sent again: raise it well above the round-trip time",
        );
    }
}

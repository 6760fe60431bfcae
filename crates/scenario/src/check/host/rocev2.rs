//! Whether the parameters of RoCEv2 can work, and fit the network.

use floodway_model::packet::length;
use floodway_model::{Bytes, Duration, Graph};
use floodway_sim::host::transport::rocev2::{self, recovery};

use super::super::Findings;
use super::{Placed, frame};
use crate::derived;
use crate::document::Document;

/// No transport needs more beside the payload.
const LONGEST_HEADERS: Bytes = Bytes(256);
/// Addresses and numbers take as much.
const SHORTEST_ANSWER: Bytes = Bytes(20);

/// The longest frame, if packets can be made.
pub fn check(
    path: &str,
    settings: &Document,
    spec: &rocev2::Spec,
    findings: &mut Findings<'_>,
) -> Option<u16> {
    let field = |name: &str| format!("{path}.rocev2.{name}");
    if spec.ack_every == 0 {
        let message = format!("`{}` is 0", field("ack_every"));
        let help = "write 1 to acknowledge every packet, n for every n-th";
        findings.error(&[&field("ack_every")], message, help);
    }
    for (path, timeout) in timeouts(path, spec) {
        findings.positive(&path, timeout);
    }
    if let recovery::Spec::SelectiveRepeat(recovery) = &spec.recovery
        && recovery.retransmit_timeout_low > recovery.retransmit_timeout
    {
        findings.error(
            &[
                &field("recovery.selective_repeat.retransmit_timeout_low"),
                &field("recovery.selective_repeat.retransmit_timeout"),
            ],
            format!(
                "the timeout with few packets in flight ({}) is above the one with many ({})",
                recovery.retransmit_timeout_low, recovery.retransmit_timeout
            ),
            "set `retransmit_timeout_low` to at most `retransmit_timeout`",
        );
    }
    if let recovery::Spec::SelectiveRepeat(recovery) = &spec.recovery
        && recovery.reordering > Duration::ZERO
        && recovery.reordering >= recovery.retransmit_timeout
    {
        findings.error(
            &[
                &field("recovery.selective_repeat.reordering"),
                &field("recovery.selective_repeat.retransmit_timeout"),
            ],
            format!(
                "missing packets are waited for ({}) until the timeout ({})",
                recovery.reordering, recovery.retransmit_timeout
            ),
            "set `reordering` to less than `retransmit_timeout`: by how much the delays of paths can differ",
        );
    }
    if spec.mtu.0 == 0 {
        let help = "write the payload of a full packet, for example \"1024B\"";
        findings.error(&[&field("mtu")], "packets would carry 0 bytes", help);
        return None;
    }
    if let Some(bytes) = spec.in_flight.filter(|_| spec.window() < spec.ack_every.max(1)) {
        findings.error(
            &[&field("in_flight"), &field("ack_every")],
            format!(
                "{bytes} in flight are {} packets, and an acknowledgement comes after {}",
                spec.window(),
                spec.ack_every
            ),
            "the sender would wait for its timer: raise `in_flight`, or lower `ack_every`",
        );
    }
    let lengths = [
        ("overhead", spec.overhead, Bytes(0), LONGEST_HEADERS),
        ("answer", spec.answer, SHORTEST_ANSWER, LONGEST_HEADERS),
        ("shortest", spec.shortest, Bytes(0), Bytes(length::SHORTEST_FRAME.into())),
    ];
    for (name, bytes, least, most) in lengths {
        if !(least..=most).contains(&bytes) {
            findings.error(
                &[&field(name)],
                format!("`{name}` is {bytes}"),
                format!("write \"{least}\" to \"{most}\", or leave it out for that of RoCEv2"),
            );
            return None;
        }
    }
    let limits = "RoCEv2 has MTUs from 256 to 4096 bytes";
    frame::check((&field("mtu"), spec.mtu), spec.overhead.0 as u16, limits, settings, findings)
}

/// The timeouts of a transport, with their paths.
fn timeouts(path: &str, spec: &rocev2::Spec) -> Vec<(String, Duration)> {
    let path = |name: &str| format!("{path}.rocev2.recovery.{name}");
    match &spec.recovery {
        recovery::Spec::GoBackN(spec) => {
            vec![(path("go_back_n.retransmit_timeout"), spec.retransmit_timeout)]
        }
        recovery::Spec::SelectiveRepeat(spec) => vec![
            (path("selective_repeat.retransmit_timeout"), spec.retransmit_timeout),
            (path("selective_repeat.retransmit_timeout_low"), spec.retransmit_timeout_low),
        ],
    }
}

/// Checks what needs the network.
pub fn check_on(
    placed: &Placed,
    spec: &rocev2::Spec,
    settings: &Document,
    graph: &Graph,
    largest_frame: u16,
    findings: &mut Findings<'_>,
) {
    let path = &placed.transport_path;
    let round_trip = derived::round_trip(settings, graph, largest_frame);
    for (path, timeout) in timeouts(path, spec) {
        if timeout > Duration::ZERO && timeout <= round_trip {
            findings.error(
                &[&path],
                format!(
                    "the retransmission timeout ({timeout}) is not above the round-trip time of \
                     an empty network ({round_trip})"
                ),
                "every packet would be sent again: raise it well above the round-trip time",
            );
        }
    }
    let wire = Bytes(u64::from(spec.frame(spec.mtu.0)) + settings.wire_overhead.0);
    let slowest = graph.hosts().map(|host| graph.node(host).ports[0].rate).min();
    if let Some(slowest) = slowest {
        let packets = u64::from(spec.ack_every);
        let waits = Duration(slowest.time_for(wire).0.saturating_mul(packets));
        let shortest = timeouts(path, spec).into_iter().min_by_key(|(_, timeout)| *timeout);
        if let Some((path, timeout)) = shortest.filter(|(_, timeout)| *timeout > Duration::ZERO)
            && waits >= timeout
        {
            findings.error(
                &[&placed.of_transport("ack_every"), &path],
                format!(
                    "{packets} packets, after which an acknowledgement comes, take {waits} at \
                     {slowest}, and the retransmission timeout is {timeout}"
                ),
                "every packet would be sent again: lower `ack_every`, 1 acknowledges each packet",
            );
        }
    }
}

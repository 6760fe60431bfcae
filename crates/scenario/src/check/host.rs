//! Whether transport and congestion control fit the network.

use floodway_model::packet::length;
use floodway_model::{Bytes, Duration, Graph, Rate};
use floodway_sim::host::transport::rocev2::{self, recovery};
use floodway_sim::host::{congestion, transport};
use floodway_sim::switch::aqm;

use super::Findings;
use crate::derived;
use crate::document::Document;
use crate::workload::Ready;

/// The longest frame, if packets can be made.
pub fn check(settings: &Document, findings: &mut Findings<'_>) -> Option<u16> {
    match &settings.host.congestion {
        congestion::Spec::LineRate(_) => {}
        congestion::Spec::Dcqcn(spec) => check_dcqcn(settings, spec, findings),
        congestion::Spec::Bbr(spec) => super::bbr::version_1(spec, findings),
        congestion::Spec::Bbr3(spec) => super::bbr::version_3(spec, findings),
    }
    let transport::Spec::Rocev2(spec) = &settings.host.transport;
    if spec.ack_every == 0 {
        let message = "`host.transport.rocev2.ack_every` is 0";
        let help = "write 1 to acknowledge every packet, n for every n-th";
        findings.error(&["host.transport.rocev2.ack_every"], message, help);
    }
    for (path, timeout) in timeouts(spec) {
        findings.positive(path, timeout);
    }
    if let recovery::Spec::SelectiveRepeat(recovery) = &spec.recovery
        && recovery.retransmit_timeout_low > recovery.retransmit_timeout
    {
        findings.error(
            &[LOW_TIMEOUT, SELECTIVE_TIMEOUT],
            format!(
                "the timeout with few packets in flight ({}) is above the one with many ({})",
                recovery.retransmit_timeout_low, recovery.retransmit_timeout
            ),
            "set `retransmit_timeout_low` to at most `retransmit_timeout`",
        );
    }
    if spec.mtu.0 == 0 {
        let help = "write the payload of a full packet, for example \"1024B\"";
        findings.error(&["host.transport.rocev2.mtu"], "packets would carry 0 bytes", help);
        return None;
    }
    if let Some(bytes) = spec.in_flight.filter(|_| spec.window() < spec.ack_every.max(1)) {
        findings.error(
            &["host.transport.rocev2.in_flight", "host.transport.rocev2.ack_every"],
            format!(
                "{bytes} in flight are {} packets, and an acknowledgement comes after {}",
                spec.window(),
                spec.ack_every
            ),
            "the sender would wait for its timer: raise `in_flight`, or lower `ack_every`",
        );
    }
    let overhead = u64::from(length::ROCE_OVERHEAD);
    let most = u64::from(u16::MAX);
    let frame = spec.mtu.0.saturating_add(overhead);
    let on_wire = frame.saturating_add(settings.wire_overhead.0);
    if frame > most {
        findings.error(
            &["host.transport.rocev2.mtu"],
            format!("an MTU of {} makes frames of {frame} bytes", spec.mtu),
            format!("frames have at most {most} bytes: RoCEv2 has MTUs from 256 to 4096 bytes"),
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

fn check_dcqcn(settings: &Document, spec: &congestion::dcqcn::Spec, findings: &mut Findings<'_>) {
    let path = |field: &str| format!("host.congestion.dcqcn.{field}");
    if !(spec.g > 0.0 && spec.g <= 1.0) {
        findings.error(
            &[&path("g")],
            format!("the weight `g` is {}", spec.g),
            "write a number above 0 and at most 1; the paper has 0.00390625 (1/256)",
        );
    }
    for (field, timer) in
        [("alpha_timer", spec.alpha_timer), ("increase_timer", spec.increase_timer)]
    {
        if timer < SHORTEST_TIMER {
            findings.error(
                &[&path(field)],
                format!("`{field}` is {timer}, shorter than any packet"),
                format!("write at least \"{SHORTEST_TIMER}\"; NICs have 1us and more"),
            );
        }
    }
    if spec.min_rate == Rate(0) {
        let help = "a flow at rate zero would never learn that it may go on: write \"100Mbps\"";
        findings.error(&[&path("min_rate")], "the lowest rate is zero", help);
    }
    if spec.window.is_none() && spec.window_follows_rate {
        findings.error(
            &[&path("window_follows_rate")],
            "there is no window that could follow the rate",
            "add one, for example window = \"15us\", or remove `window_follows_rate`",
        );
    }
    if spec.window == Some(Duration::ZERO) {
        let help = "write how long a flow may send before it hears of its receiver, for example \
                    \"15us\", or remove it";
        findings.error(&[&path("window")], "the window is zero", help);
    }
    let isolates = settings.switch.flow_control.congestion_isolation.is_some();
    if matches!(settings.switch.aqm, aqm::Spec::DropTail(_)) && !isolates {
        findings.warn(
            &["switch.aqm", "host.congestion.dcqcn", "host.congestion"],
            "DCQCN listens to marks, and nothing marks",
            "choose [switch.aqm.ramp], or [host.congestion.line_rate] if that is meant",
        );
    }
}

const SELECTIVE_TIMEOUT: &str =
    "host.transport.rocev2.recovery.selective_repeat.retransmit_timeout";
const LOW_TIMEOUT: &str = "host.transport.rocev2.recovery.selective_repeat.retransmit_timeout_low";

/// The timeouts of a transport, with their paths.
fn timeouts(spec: &rocev2::Spec) -> Vec<(&'static str, Duration)> {
    match &spec.recovery {
        recovery::Spec::GoBackN(spec) => vec![(
            "host.transport.rocev2.recovery.go_back_n.retransmit_timeout",
            spec.retransmit_timeout,
        )],
        recovery::Spec::SelectiveRepeat(spec) => vec![
            (SELECTIVE_TIMEOUT, spec.retransmit_timeout),
            (LOW_TIMEOUT, spec.retransmit_timeout_low),
        ],
    }
}

/// Rates are caught up with step by step when a packet is sent: shorter steps only cost time.
const SHORTEST_TIMER: Duration = Duration::from_ns(10);

/// Checks what needs the network.
pub fn check_on(
    settings: &Document,
    graph: &Graph,
    largest_frame: u16,
    workloads: &[Ready],
    findings: &mut Findings<'_>,
) {
    let transport::Spec::Rocev2(spec) = &settings.host.transport;
    let round_trip = derived::round_trip(settings, graph, largest_frame);
    for (path, timeout) in timeouts(spec) {
        if timeout > Duration::ZERO && timeout <= round_trip {
            findings.error(
                &[path],
                format!(
                    "the retransmission timeout ({timeout}) is not above the round-trip time of \
                     an empty network ({round_trip})"
                ),
                "every packet would be sent again: raise it well above the round-trip time",
            );
        }
    }
    let rates = || graph.hosts().map(|host| graph.node(host).ports[0].rate);
    let wire = Bytes(u64::from(largest_frame) + settings.wire_overhead.0);
    if let Some(slowest) = rates().min() {
        let packets = u64::from(spec.ack_every);
        let waits = Duration(slowest.time_for(wire).0.saturating_mul(packets));
        let shortest = timeouts(spec).into_iter().min_by_key(|(_, timeout)| *timeout);
        if let Some((path, timeout)) = shortest.filter(|(_, timeout)| *timeout > Duration::ZERO)
            && waits >= timeout
        {
            findings.error(
                &["host.transport.rocev2.ack_every", path],
                format!(
                    "{packets} packets, after which an acknowledgement comes, take {waits} at \
                     {slowest}, and the retransmission timeout is {timeout}"
                ),
                "every packet would be sent again: lower `ack_every`, 1 acknowledges each packet",
            );
        }
    }
    let endless = workloads.iter().any(|workload| workload.persistent_flows() > 0);
    if let Some(fastest) = rates().max().filter(|_| endless) {
        let packets = settings.limit.0 / fastest.time_for(wire).0.max(1);
        if packets >= u64::from(u32::MAX) {
            findings.error(
                &["limit", "host.transport.rocev2.mtu"],
                format!(
                    "a flow without a size could send {packets} packets at {fastest} until the \
                     limit, and packet numbers end at {}",
                    u32::MAX
                ),
                "lower `limit`, or raise `host.transport.rocev2.mtu`",
            );
        }
    }
    if let congestion::Spec::Dcqcn(spec) = &settings.host.congestion {
        let slowest = graph.hosts().map(|host| graph.node(host).ports[0].rate).min();
        if let Some(slowest) = slowest.filter(|&slowest| spec.min_rate > slowest) {
            findings.error(
                &["host.congestion.dcqcn.min_rate", "topology"],
                format!(
                    "the lowest rate of a flow ({}) is above that of a host's link ({slowest})",
                    spec.min_rate
                ),
                "lower `host.congestion.dcqcn.min_rate`: the default is \"100Mbps\"",
            );
        }
        if let (Some(slowest), Some(window)) = (slowest, spec.window) {
            check_window(settings, spec, window, slowest, findings);
        }
    }
}

/// Whether a window at the slowest host holds a packet, and lets acknowledgements come.
fn check_window(
    settings: &Document,
    spec: &congestion::dcqcn::Spec,
    window: Duration,
    slowest: Rate,
    findings: &mut Findings<'_>,
) {
    const WINDOW: &str = "host.congestion.dcqcn.window";
    let transport::Spec::Rocev2(transport) = &settings.host.transport;
    let bytes = slowest.bytes_in(window);
    if window > Duration::ZERO && bytes < transport.mtu {
        findings.error(
            &[WINDOW, "host.transport.rocev2.mtu"],
            format!(
                "a window of {window} is {bytes} at {slowest}, and a packet carries {}",
                transport.mtu
            ),
            format!("write at least \"{}\"", slowest.time_for(transport.mtu)),
        );
        return;
    }
    // The smallest the window can become.
    let (rate, bytes) = match spec.window_follows_rate {
        true => (format!("the lowest rate, {}", spec.min_rate), spec.min_rate.bytes_in(window)),
        false => (slowest.to_string(), bytes),
    };
    let packets = transport.whole_packets(bytes.0).max(1);
    if window > Duration::ZERO && packets < transport.ack_every {
        findings.error(
            &[WINDOW, "host.transport.rocev2.ack_every"],
            format!(
                "a window of {window} is {} at {rate}, and an acknowledgement comes after {}",
                if packets == 1 { "1 packet".to_owned() } else { format!("{packets} packets") },
                transport.ack_every
            ),
            "the sender would wait for its timer: raise `window`, or lower `ack_every`",
        );
    }
}

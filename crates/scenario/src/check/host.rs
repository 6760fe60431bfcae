//! Whether transport and congestion control fit the network.

use floodway_model::packet::length;
use floodway_model::{Bytes, Duration, Graph, Rate};
use floodway_sim::host::transport::rocev2::{self, recovery};
use floodway_sim::host::transport::{tcp, udp};
use floodway_sim::host::{congestion, transport};
use floodway_sim::switch::aqm;

use super::Findings;
use crate::derived;
use crate::document::Document;
use crate::workload::Ready;

/// How some flows are sent, and where that was written: for all hosts, or for a workload.
struct Placed<'a> {
    transport: &'a transport::Spec,
    transport_path: String,
    congestion: &'a congestion::Spec,
    congestion_path: String,
}

/// Every combination of transport and congestion control that the workloads use.
fn all(settings: &Document) -> Vec<Placed<'_>> {
    let (transport, congestion) = (&settings.host.transport, &settings.host.congestion);
    let mut all: Vec<Placed<'_>> = Vec::new();
    for (number, entry) in settings.workload.iter().enumerate() {
        let placed = Placed {
            transport: entry.transport.as_ref().unwrap_or(transport),
            transport_path: path(number, "transport", entry.transport.is_some()),
            congestion: entry.congestion.as_ref().unwrap_or(congestion),
            congestion_path: path(number, "congestion", entry.congestion.is_some()),
        };
        let same = |other: &Placed<'_>| {
            other.transport_path == placed.transport_path
                && other.congestion_path == placed.congestion_path
        };
        if !all.iter().any(same) {
            all.push(placed);
        }
    }
    all
}

/// Where a family of hosts was written that a workload has for its own, or has of all hosts.
fn path(workload: usize, family: &str, own: bool) -> String {
    if own { format!("workload.{workload}.{family}") } else { format!("host.{family}") }
}

/// The longest frame, if packets can be made.
pub fn check(settings: &Document, findings: &mut Findings<'_>) -> Option<u16> {
    let all = all(settings);
    let mut longest = Some(0);
    let mut seen: Vec<&str> = Vec::new();
    for Placed { transport, transport_path, congestion, congestion_path, .. } in &all {
        if !seen.contains(&congestion_path.as_str()) {
            seen.push(congestion_path);
            super::congestion::check(congestion_path, congestion, findings);
            if let congestion::Spec::Dcqcn(spec) = congestion {
                check_dcqcn(congestion_path, settings, spec, findings);
            }
        }
        if !seen.contains(&transport_path.as_str()) {
            seen.push(transport_path);
            let frame = match transport {
                transport::Spec::Rocev2(spec) => {
                    check_rocev2(transport_path, settings, spec, findings)
                }
                transport::Spec::Tcp(spec) => check_tcp(transport_path, settings, spec, findings),
                transport::Spec::Udp(spec) => check_udp(transport_path, settings, spec, findings),
            };
            longest = longest.zip(frame).map(|(longest, frame)| frame.max(longest));
        }
    }
    longest
}

/// The longest frame, if packets can be made.
fn check_rocev2(
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
    let limits = "RoCEv2 has MTUs from 256 to 4096 bytes";
    check_frame((&field("mtu"), spec.mtu), length::ROCE_OVERHEAD, limits, settings, findings)
}

/// The longest frame, if packets can be made.
fn check_tcp(
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
    for (name, timeout) in [("initial_rto", spec.initial_rto), ("max_rto", spec.max_rto)] {
        if timeout == Duration::ZERO {
            findings.error(
                &[&format!("{path}.tcp.{name}")],
                "the retransmission timer would ring at once, again and again",
                "write a time, for example \"1s\", or leave it out",
            );
        }
    }
    let limits = "an Ethernet packet of 1500 bytes has room for 1448";
    check_frame((&field, spec.mss), length::TCP_OVERHEAD, limits, settings, findings)
}

/// The longest frame, if packets can be made.
fn check_udp(
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
    check_frame((&field, spec.payload), length::UDP_OVERHEAD, limits, settings, findings)
}

/// The frame of a full packet, written at this place, if it can be made.
fn check_frame(
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

fn check_dcqcn(
    family: &str,
    settings: &Document,
    spec: &congestion::dcqcn::Spec,
    findings: &mut Findings<'_>,
) {
    let path = |field: &str| format!("{family}.dcqcn.{field}");
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
    // The number of a workload is not part of a header.
    let table = if family.starts_with("host") { family } else { "workload.congestion" };
    let isolates = settings.switch.flow_control.congestion_isolation.is_some();
    if matches!(settings.switch.aqm, aqm::Spec::DropTail(_)) && !isolates {
        findings.warn(
            &["switch.aqm", &format!("{family}.dcqcn"), family],
            "DCQCN listens to marks, and nothing marks",
            format!("choose [switch.aqm.ramp], or [{table}.line_rate] if that is meant"),
        );
    }
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
    let all = all(settings);
    let mut seen: Vec<&str> = Vec::new();
    for placed in &all {
        if !seen.contains(&placed.transport_path.as_str()) {
            seen.push(&placed.transport_path);
            check_rocev2_on(placed, settings, graph, largest_frame, workloads, findings);
        }
        let congestion::Spec::Dcqcn(spec) = placed.congestion else { continue };
        let slowest = graph.hosts().map(|host| graph.node(host).ports[0].rate).min();
        let path = format!("{}.dcqcn.min_rate", placed.congestion_path);
        if let Some(slowest) = slowest.filter(|&slowest| spec.min_rate > slowest)
            && !seen.contains(&placed.congestion_path.as_str())
        {
            findings.error(
                &[&path, "topology"],
                format!(
                    "the lowest rate of a flow ({}) is above that of a host's link ({slowest})",
                    spec.min_rate
                ),
                format!("lower `{path}`: the default is \"100Mbps\""),
            );
        }
        seen.push(&placed.congestion_path);
        if let (Some(slowest), Some(window)) = (slowest, spec.window) {
            check_window(placed, spec, window, slowest, findings);
        }
    }
}

fn check_rocev2_on(
    placed: &Placed<'_>,
    settings: &Document,
    graph: &Graph,
    largest_frame: u16,
    workloads: &[Ready],
    findings: &mut Findings<'_>,
) {
    let path = &placed.transport_path;
    let field = |name: &str| format!("{path}.rocev2.{name}");
    let transport::Spec::Rocev2(spec) = placed.transport else { return };
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
    let rates = || graph.hosts().map(|host| graph.node(host).ports[0].rate);
    let wire = Bytes(u64::from(rocev2::Spec::frame(spec.mtu.0)) + settings.wire_overhead.0);
    if let Some(slowest) = rates().min() {
        let packets = u64::from(spec.ack_every);
        let waits = Duration(slowest.time_for(wire).0.saturating_mul(packets));
        let shortest = timeouts(path, spec).into_iter().min_by_key(|(_, timeout)| *timeout);
        if let Some((path, timeout)) = shortest.filter(|(_, timeout)| *timeout > Duration::ZERO)
            && waits >= timeout
        {
            findings.error(
                &[&field("ack_every"), &path],
                format!(
                    "{packets} packets, after which an acknowledgement comes, take {waits} at \
                     {slowest}, and the retransmission timeout is {timeout}"
                ),
                "every packet would be sent again: lower `ack_every`, 1 acknowledges each packet",
            );
        }
    }
    let numbered = workloads.iter().zip(&settings.workload).enumerate();
    let mut of_this = numbered.filter(|(number, (_, entry))| {
        self::path(*number, "transport", entry.transport.is_some()) == *path
    });
    let endless = of_this.any(|(_, (workload, _))| workload.persistent_flows() > 0);
    if let Some(fastest) = rates().max().filter(|_| endless) {
        let packets = settings.limit.0 / fastest.time_for(wire).0.max(1);
        if packets >= u64::from(u32::MAX) {
            findings.error(
                &["limit", &field("mtu")],
                format!(
                    "a flow without a size could send {packets} packets at {fastest} until the \
                     limit, and packet numbers end at {}",
                    u32::MAX
                ),
                format!("lower `limit`, or raise `{}`", field("mtu")),
            );
        }
    }
}

/// Whether a window at the slowest host holds a packet, and lets acknowledgements come.
fn check_window(
    placed: &Placed<'_>,
    spec: &congestion::dcqcn::Spec,
    window: Duration,
    slowest: Rate,
    findings: &mut Findings<'_>,
) {
    let path = format!("{}.dcqcn.window", placed.congestion_path);
    let of_transport = |name: &str| format!("{}.rocev2.{name}", placed.transport_path);
    let transport::Spec::Rocev2(transport) = placed.transport else { return };
    let bytes = slowest.bytes_in(window);
    if window > Duration::ZERO && bytes < transport.mtu {
        findings.error(
            &[&path, &of_transport("mtu")],
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
            &[&path, &of_transport("ack_every")],
            format!(
                "a window of {window} is {} at {rate}, and an acknowledgement comes after {}",
                if packets == 1 { "1 packet".to_owned() } else { format!("{packets} packets") },
                transport.ack_every
            ),
            "the sender would wait for its timer: raise `window`, or lower `ack_every`",
        );
    }
}

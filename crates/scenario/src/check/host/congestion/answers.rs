//! What congestion controls have in common that react to the acknowledgements of RoCEv2: telemetry, and a
//! window that is the time of a round trip.

use std::collections::BTreeSet;

use floodway_model::{Bytes, Duration, NodeId, Rate};
use floodway_sim::host::transport;
use floodway_sim::switch::path;
use floodway_sim::telemetry::HOPS;

use super::{Network, Placed};
use crate::check::Findings;
use crate::derived;
use crate::document::Document;

/// Whether the telemetry of one packet can be compared with that of the packet before.
pub fn check_telemetry(placed: &Placed, settings: &Document, findings: &mut Findings<'_>) {
    let paths = &settings.switch.path;
    if matches!(paths, path::Spec::Spray(_) | path::Spec::LeastLoaded(_)) {
        findings.warn(
            &[&format!("switch.path.{}", paths.name()), "switch.path"],
            format!(
                "`{}` compares what successive packets have collected from the switches on their path, but \
                 each may take another path",
                placed.congestion.name()
            ),
            "what cannot be compared is left out, so rates hardly change: choose [switch.path.ecmp]",
        );
    }
}

/// The round-trip time without queues for which a window is: `base_rtt` if written, which must not be
/// too short, else that of the network.
pub fn check_base_rtt(
    placed: &Placed,
    base_rtt: Option<Duration>,
    network: &Network<'_>,
    findings: &mut Findings<'_>,
) -> Duration {
    let Some(base_rtt) = base_rtt else { return network.round_trip() };
    check_length(placed, ("base_rtt", base_rtt), network, findings);
    base_rtt
}

/// Whether a window, by the field that has it, is as long as a round trip without queues.
pub fn check_length(
    placed: &Placed,
    (field, length): (&str, Duration),
    network: &Network<'_>,
    findings: &mut Findings<'_>,
) {
    let round_trip = network.round_trip();
    // Windows that are computed as the authors of HPCC do leave headers and answers out.
    let payload = Bytes(placed.transport.payload());
    let of_payload = derived::round_trip_of_payload(network.settings, network.graph, payload);
    if length > Duration::ZERO && length < of_payload.min(round_trip) {
        findings.warn(
            &[&placed.of_congestion(field)],
            format!(
                "`{field}` is {length}, and the round trip of an empty network takes {round_trip}"
            ),
            "the window is too short to fill the path between the hosts farthest apart: raise it, or \
             remove it",
        );
    }
}

/// Whether enough packets are in flight at the lowest rate for an acknowledgement; returns how many
/// packets one acknowledges, if there are.
pub fn check_window(
    placed: &Placed,
    min_rate: Rate,
    length: Duration,
    findings: &mut Findings<'_>,
) -> Option<u32> {
    let transport::Spec::Rocev2(transport) = &placed.transport else { return None };
    let (name, every) = (placed.congestion.name(), transport.ack_every);
    let packets = min_rate.bytes_in(length).0.div_ceil(transport.mtu.0.max(1)).max(1);
    if packets >= u64::from(every) {
        return Some(every);
    }
    let packets = match packets {
        1 => "1 packet".to_owned(),
        packets => format!("{packets} packets"),
    };
    findings.error(
        &[&placed.of_transport("ack_every")],
        format!(
            "the window of `{name}` is {packets} at the lowest rate, {min_rate}, and an \
             acknowledgement comes after {every}"
        ),
        "the sender would wait for its timer: write ack_every = 1, or raise `min_rate`",
    );
    None
}

/// The same, and whether every packet is acknowledged by itself, as one expects that changes its window
/// with every acknowledgement or counts marks.
pub fn check_every_packet(
    placed: &Placed,
    min_rate: Rate,
    length: Duration,
    findings: &mut Findings<'_>,
) {
    let every = check_window(placed, min_rate, length, findings);
    if let Some(every) = every.filter(|&every| every > 1) {
        findings.warn(
            &[&placed.of_transport("ack_every")],
            format!("`{}` gets feedback about one packet in {every}", placed.congestion.name()),
            "it reacts later and by fewer observations: write ack_every = 1, as published",
        );
    }
}

/// Whether all switches of a way can write into its packets.
pub fn check_hops(placed: &Placed, network: &Network<'_>, findings: &mut Findings<'_>) {
    // Beyond so many switches with hosts, the first ones have to do.
    const MOST: usize = 1_000;
    let graph = network.graph;
    let edges: BTreeSet<NodeId> =
        graph.hosts().map(|host| graph.node(host).ports[0].peer).collect();
    let farthest = |&edge: &NodeId| {
        let distances = graph.distances(edge);
        edges.iter().filter_map(|to| distances[to.index()]).max()
    };
    let links = edges.iter().take(MOST).filter_map(farthest).max().unwrap_or(0);
    let switches = links as usize + 1;
    if switches > HOPS {
        findings.warn(
            &[&placed.congestion_table(), &placed.congestion_path, "topology"],
            format!(
                "the longest path has {switches} switches, and telemetry has room for those of {HOPS}"
            ),
            "flows that go further get no telemetry of the last ones and take more than their share there: \
             make the network shorter",
        );
    }
}

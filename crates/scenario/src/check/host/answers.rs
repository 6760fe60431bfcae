//! Whether the congestion controls that live on the acknowledgements of RoCEv2 (HPCC, TIMELY and
//! DCTCP for RDMA; Swift has its own file) can work, and fit transport and network.

use std::collections::BTreeSet;

use floodway_model::{Bytes, Duration, Graph, NodeId, Rate};
use floodway_sim::host::congestion::{Spec, hpcc, rdma_dctcp, timely};
use floodway_sim::host::transport;
use floodway_sim::switch::path;
use floodway_sim::telemetry::HOPS;

use super::super::{Findings, number};
use super::marks::no_marks;
use super::{Placed, rates};
use crate::derived;
use crate::document::Document;

/// Checks what needs no network; `family` is where it was written, such as `host.congestion`.
pub fn check(family: &str, spec: &Spec, findings: &mut Findings<'_>) {
    let path = |field: &str| format!("{family}.{}.{field}", spec.name());
    match spec {
        Spec::Hpcc(spec) => of_hpcc(&path, spec, findings),
        Spec::Timely(spec) => of_timely(&path, spec, findings),
        Spec::RdmaDctcp(spec) => of_rdma_dctcp(&path, spec, findings),
        _ => {}
    }
    if min_rate(spec) == Some(Rate(0)) {
        let help = "a flow at rate zero would never learn that it may go on: write \"100Mbps\"";
        findings.error(&[&path("min_rate")], "the lowest rate is zero", help);
    }
}

fn of_hpcc(path: &dyn Fn(&str) -> String, spec: &hpcc::Spec, findings: &mut Findings<'_>) {
    if !(spec.eta > 0.0 && spec.eta <= 1.0) {
        findings.error(
            &[&path("eta")],
            format!("flows would aim to use {} of a link", spec.eta),
            "write a number above 0 and at most 1; the paper has 0.95",
        );
    }
    if spec.additive_increase == Rate(0) {
        findings.warn(
            &[&path("additive_increase")],
            "without additive increase all rates change by the same factor",
            "flows of unequal rates would never come to equal shares: write for example \"40Mbps\"",
        );
    }
    if let Some(base_rtt) = spec.base_rtt {
        findings.positive(&path("base_rtt"), base_rtt);
    }
}

fn of_timely(path: &dyn Fn(&str) -> String, spec: &timely::Spec, findings: &mut Findings<'_>) {
    findings.positive(&path("min_rtt"), spec.min_rtt);
    if spec.t_low >= spec.t_high {
        findings.error(
            &[&path("t_low"), &path("t_high")],
            format!("`t_low` ({}) is not below `t_high` ({})", spec.t_low, spec.t_high),
            "between them the gradient decides; the paper has 50us and 500us",
        );
    }
    if spec.patched {
        // The error is a part of it.
        findings.positive(&path("t_low"), spec.t_low);
    }
    let beta = spec.beta.map(|beta| ("beta", beta));
    for (field, value) in [("alpha", spec.alpha)].into_iter().chain(beta) {
        if !(value > 0.0 && value <= 1.0) {
            findings.error(
                &[&path(field)],
                format!("`{field}` is {}", number(value)),
                "write a number above 0 and at most 1; usual are alpha = 0.875 and beta = 0.8",
            );
        }
    }
    increases(path, Some(spec.additive_increase), findings);
    if spec.hyper_increase < spec.additive_increase {
        findings.error(
            &[&path("hyper_increase"), &path("additive_increase")],
            format!(
                "hyperactive increase ({}) is slower than additive increase ({})",
                spec.hyper_increase, spec.additive_increase
            ),
            "set `hyper_increase` to five times `additive_increase`, as the paper has it",
        );
    }
    if spec.segment == Some(Bytes(0)) {
        let help = "write for example \"16KB\", or remove it for one update per round trip";
        findings.error(&[&path("segment")], "a segment has 0 bytes", help);
    }
    if spec.window == Some(Duration::ZERO) {
        let help = "write the round-trip time without queues, or remove it";
        findings.error(&[&path("window")], "the window is zero", help);
    }
}

fn of_rdma_dctcp(
    path: &dyn Fn(&str) -> String,
    spec: &rdma_dctcp::Spec,
    findings: &mut Findings<'_>,
) {
    if !(spec.g > 0.0 && spec.g <= 1.0) {
        findings.error(
            &[&path("g")],
            format!("the weight `g` is {}", number(spec.g)),
            "write a number above 0 and at most 1; RFC 8257 has 0.0625 (1/16)",
        );
    }
    increases(path, spec.additive_increase, findings);
    if let Some(base_rtt) = spec.base_rtt {
        findings.positive(&path("base_rtt"), base_rtt);
    }
}

fn increases(path: &dyn Fn(&str) -> String, rate: Option<Rate>, findings: &mut Findings<'_>) {
    if rate == Some(Rate(0)) {
        let help = "write a rate above 0, for example \"100Mbps\"";
        findings.error(
            &[&path("additive_increase")],
            "the rate would never rise after a decrease",
            help,
        );
    }
}

/// Whether marks come that DCTCP counts, and telemetry that HPCC can compare.
pub fn listens(placed: &Placed, settings: &Document, findings: &mut Findings<'_>) {
    let ways = &settings.switch.path;
    if matches!(placed.congestion, Spec::Hpcc(_))
        && matches!(ways, path::Spec::Spray(_) | path::Spec::LeastLoaded(_))
    {
        findings.warn(
            &[&format!("switch.path.{}", ways.name()), "switch.path"],
            "`hpcc` compares what the switches on a way told last, and every packet may take another",
            "what cannot be compared is left out, so rates hardly change: choose [switch.path.ecmp]",
        );
    }
    if !matches!(placed.congestion, Spec::RdmaDctcp(_)) {
        return;
    }
    let Some(place) = no_marks(&settings.switch) else { return };
    let family = &placed.congestion_path;
    findings.warn(
        &[place, &format!("{family}.rdma_dctcp"), family],
        "`rdma_dctcp` listens to marks, and nothing marks",
        format!(
            "choose [switch.aqm.step], or {} if that is meant",
            placed.other_congestion("line_rate")
        ),
    );
}

/// Checks what needs the network.
pub fn check_on(
    placed: &Placed,
    settings: &Document,
    graph: &Graph,
    largest_frame: u16,
    findings: &mut Findings<'_>,
) {
    let (family, name) = (&placed.congestion_path, placed.congestion.name());
    let path = |field: &str| format!("{family}.{name}.{field}");
    let Some(min_rate) = min_rate(&placed.congestion) else { return };
    rates::least(placed, min_rate, "100Mbps", graph, findings);
    let round_trip = derived::round_trip(settings, graph, largest_frame);
    let (field, written, default) = match &placed.congestion {
        Spec::Timely(spec) => {
            check_thresholds(placed, spec, round_trip, findings);
            ("window", spec.window, None)
        }
        Spec::Hpcc(spec) => {
            check_hops(placed, graph, findings);
            ("base_rtt", spec.base_rtt, Some(round_trip))
        }
        Spec::RdmaDctcp(spec) => ("base_rtt", spec.base_rtt, Some(round_trip)),
        _ => return,
    };
    // Windows that are computed as the authors of HPCC do leave headers and answers out.
    let payload = Bytes(placed.transport.payload());
    let least = derived::round_trip_of_payload(settings, graph, payload).min(round_trip);
    if let Some(time) = written.filter(|&time| time > Duration::ZERO && time < least) {
        findings.warn(
            &[&path(field)],
            format!(
                "`{field}` is {time}, and the round trip of an empty network takes {round_trip}"
            ),
            "the window is too short to fill the way between the hosts farthest apart: raise it, or \
             remove it",
        );
    }
    if let Some(length) = written.or(default) {
        check_acknowledgements(placed, min_rate, length, findings);
    }
}

/// Whether enough packets are in flight at the lowest rate for an acknowledgement, and how often it
/// comes.
fn check_acknowledgements(
    placed: &Placed,
    min_rate: Rate,
    length: Duration,
    findings: &mut Findings<'_>,
) {
    let transport::Spec::Rocev2(transport) = &placed.transport else { return };
    let (name, every) = (placed.congestion.name(), transport.ack_every);
    let packets = min_rate.bytes_in(length).0.div_ceil(transport.mtu.0.max(1)).max(1);
    if packets < u64::from(every) {
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
    } else if every > 1 && !matches!(placed.congestion, Spec::Timely(_)) {
        findings.warn(
            &[&placed.of_transport("ack_every")],
            format!("`{name}` hears of one packet in {every}"),
            "it reacts later and by fewer observations: write ack_every = 1, as published",
        );
    }
}

/// Whether all switches of a way can write into its packets.
fn check_hops(placed: &Placed, graph: &Graph, findings: &mut Findings<'_>) {
    // Beyond so many switches with hosts, the first ones have to do.
    const MOST: usize = 1_000;
    let edges: BTreeSet<NodeId> =
        graph.hosts().map(|host| graph.node(host).ports[0].peer).collect();
    let farthest = |&edge: &NodeId| {
        let distances = graph.distances(edge);
        edges.iter().filter_map(|to| distances[to.index()]).max()
    };
    let links = edges.iter().take(MOST).filter_map(farthest).max().unwrap_or(0);
    let switches = links as usize + 1;
    if switches > HOPS {
        let family = &placed.congestion_path;
        findings.warn(
            &[&format!("{family}.hpcc"), family, "topology"],
            format!(
                "the longest way has {switches} switches, and telemetry has room for those of {HOPS}"
            ),
            "flows that go further do not hear of the last ones and take more than their share there: \
             make the network shorter",
        );
    }
}

/// Whether round-trip times are on both sides of the thresholds.
fn check_thresholds(
    placed: &Placed,
    spec: &timely::Spec,
    round_trip: Duration,
    findings: &mut Findings<'_>,
) {
    let path = |field: &str| format!("{}.timely.{field}", placed.congestion_path);
    let family = &placed.congestion_path;
    let (field, threshold) = match round_trip {
        time if time >= spec.t_high => ("t_high", spec.t_high),
        time if time >= spec.t_low => ("t_low", spec.t_low),
        _ => return,
    };
    let places = [path(field), path("t_low"), format!("{family}.timely"), family.clone()];
    let places: Vec<&str> = places.iter().map(String::as_str).collect();
    let cause = format!(
        "the round trip of an empty network takes {round_trip}, and `{field}` is {threshold}"
    );
    if field == "t_high" {
        findings.error(&places, cause, "flows would only become slower: raise it well above that");
    } else {
        let help = "an empty network looks congested: raise it above that";
        findings.warn(&places, cause, help);
    }
}

/// The least rate of one that lives on answers.
fn min_rate(spec: &Spec) -> Option<Rate> {
    match spec {
        Spec::Hpcc(spec) => Some(spec.min_rate),
        Spec::Timely(spec) => Some(spec.min_rate),
        Spec::RdmaDctcp(spec) => Some(spec.min_rate),
        _ => None,
    }
}

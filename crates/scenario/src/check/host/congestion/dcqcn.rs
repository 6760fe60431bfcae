//! Whether the parameters of DCQCN can work, and fit transport and network.

use floodway_model::{Bytes, Duration, Rate};
use floodway_sim::host::congestion::dcqcn::{Notification, Spec, Variant};
use floodway_sim::host::transport;

use super::super::marks;
use super::{Checks, Network, Placed, rates};
use crate::check::inert::inert;
use crate::check::{FASTEST, Findings, number};
use crate::document::Document;

/// Rates are caught up with step by step when a packet is sent: shorter steps only cost time.
const SHORTEST_TIMER: Duration = Duration::from_ns(10);

impl Checks for Spec {
    fn check(&self, path: &dyn Fn(&str) -> String, findings: &mut Findings<'_>) {
        if !(self.g > 0.0 && self.g <= 1.0) {
            findings.error(
                &[&path("g")],
                format!("the weight `g` is {}", number(self.g)),
                "write a number above 0 and at most 1; the paper has 0.00390625 (1/256)",
            );
        }
        for (field, value, usual) in [
            ("initial_alpha", self.initial_alpha, "1.0"),
            ("min_decrease_factor", self.min_decrease_factor, "0.5"),
        ] {
            if !(0.0..=1.0).contains(&value) {
                let help = format!("write a number from 0 to 1; the paper has {usual}");
                findings.error(&[&path(field)], format!("`{field}` is {}", number(value)), help);
            }
        }
        if self.reference_rate == Some(Rate(0)) {
            let help = "write the link rate for which the increases are, for example \"25Gbps\", or remove it";
            findings.error(&[&path("reference_rate")], "the reference rate is zero", help);
        }
        check_reference(path, self, findings);
        check_idle(path, self, findings);
        for (field, timer) in
            [("alpha_timer", self.alpha_timer), ("increase_timer", self.increase_timer)]
        {
            if timer < SHORTEST_TIMER {
                findings.error(
                    &[&path(field)],
                    format!("`{field}` is {timer}, shorter than any packet"),
                    format!("write at least \"{SHORTEST_TIMER}\"; NICs have 1us and more"),
                );
            }
        }
        if self.variant == Variant::Periodic && self.cut_interval < SHORTEST_TIMER {
            findings.error(
                &[&path("cut_interval"), &path("variant")],
                format!("it would be asked every {} whether to cut", self.cut_interval),
                format!("write at least \"{SHORTEST_TIMER}\"; the HPCC authors' simulator has 4us"),
            );
        }
        rates::lowest(path, self.min_rate, findings);
        if self.window.is_none() && self.window_follows_rate {
            findings.error(
                &[&path("window_follows_rate")],
                "there is no window that could follow the rate",
                "add one, for example window = \"15us\", or remove `window_follows_rate`",
            );
        }
        if self.window == Some(Duration::ZERO) {
            let help = "write how long a flow may send before its receiver has answered, for example \
                        \"15us\", or remove it";
            findings.error(&[&path("window")], "the window is zero", help);
        }
    }

    fn check_signals(&self, placed: &Placed, settings: &Document, findings: &mut Findings<'_>) {
        marks::of_notifications(placed, settings, findings);
    }

    fn check_on(&self, placed: &Placed, network: &Network<'_>, findings: &mut Findings<'_>) {
        rates::least(placed, self.min_rate, "100Mbps", network.graph, findings);
    }

    fn check_with(&self, placed: &Placed, network: &Network<'_>, findings: &mut Findings<'_>) {
        if let (Some(slowest), Some(window)) = (rates::slowest_link(network.graph), self.window) {
            check_window(placed, self, window, slowest, findings);
        }
    }
}

/// Whether the increases are sensible at the rate for which they are written.
fn check_reference(path: &dyn Fn(&str) -> String, spec: &Spec, findings: &mut Findings<'_>) {
    let Some(reference) = spec.reference_rate.filter(|&rate| rate > Rate(0)) else { return };
    let place = path("reference_rate");
    if reference > FASTEST {
        findings.link_rate(&place, reference);
        return;
    }
    let increases = [
        ("additive_increase", spec.additive_increase, true),
        ("hyper_increase", spec.hyper_increase, has_hyper_increase(spec)),
    ];
    for (field, increase, _) in increases.into_iter().filter(|(_, _, is_used)| *is_used) {
        if increase >= reference {
            findings.warn(
                &[&place, &path(field)],
                format!(
                    "`{field}` ({increase}) is not below the reference rate ({reference}): one \
                     increase raises the target to the line rate, whatever that is"
                ),
                "write the link rate for which the increases are, for example \"25Gbps\", or remove \
                 `reference_rate`",
            );
            return;
        }
    }
}

/// Whether it can come to the third phase of increases.
fn has_hyper_increase(spec: &Spec) -> bool {
    spec.variant != Variant::Paper || spec.byte_counter > Bytes(0)
}

/// Settings that this reaction point, or the way in which it is notified, does not use.
fn check_idle(path: &dyn Fn(&str) -> String, spec: &Spec, findings: &mut Findings<'_>) {
    if spec.variant == Variant::Paper {
        let why = "with `variant = \"paper\"` every CNP cuts at once";
        inert(&path("cut_interval"), why, findings);
        let why = "with `variant = \"paper\"` every cut sets the target";
        inert(&path("clamp_target"), why, findings);
    }
    if !has_hyper_increase(spec) {
        let why =
            "with `variant = \"paper\"` and `byte_counter = \"0B\"` there is no hyper increase";
        inert(&path("hyper_increase"), why, findings);
    }
    if spec.notification == Notification::Ack {
        let why = "with `notification = \"ack\"` there are no CNPs";
        inert(&path("cnp_interval"), why, findings);
    }
    let factor = path("min_decrease_factor");
    if (0.0..0.5).contains(&spec.min_decrease_factor) {
        let why = "a cut by half of alpha, which is at most 1, leaves at least half of the rate";
        inert(&factor, why, findings);
    } else if spec.min_decrease_factor == 1.0 {
        findings.warn(
            &[&factor],
            "`min_decrease_factor` is 1, so no cut lowers the rate of a flow",
            "write 0.5, which the paper has, or choose `line_rate` if that is meant",
        );
    }
}

/// Whether a window at the slowest host holds a packet, and lets acknowledgements come.
fn check_window(
    placed: &Placed,
    spec: &Spec,
    window: Duration,
    slowest: Rate,
    findings: &mut Findings<'_>,
) {
    let path = placed.of_congestion("window");
    let of_transport = |name: &str| placed.of_transport(name);
    let transport::Spec::Rocev2(transport) = &placed.transport else { return };
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

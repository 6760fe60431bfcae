//! Whether the parameters of both versions of BBR can work.

use floodway_sim::host::congestion::{bbr, bbr3};

use super::super::{Findings, number};

/// A number, and what it may be.
type Number = (&'static str, f64, fn(f64) -> bool, &'static str);

const GAIN: (fn(f64) -> bool, &str) = (|gain| gain >= 1.0, "1 or more");
const FASTER: (fn(f64) -> bool, &str) = (|gain| gain > 1.0, "above 1");
const SLOWER: (fn(f64) -> bool, &str) = (|gain| gain > 0.0 && gain < 1.0, "above 0 and below 1");
const SHARE: (fn(f64) -> bool, &str) =
    (|share| (0.0..1.0).contains(&share), "0 or more and below 1");
const FACTOR: (fn(f64) -> bool, &str) = (|factor| factor >= 0.0, "0 or more");
const WEIGHT: (fn(f64) -> bool, &str) =
    (|weight| weight > 0.0 && weight <= 1.0, "above 0 and at most 1");

/// The parameters of version 1, written below `family`: `host.congestion.bbr`.
pub fn version_1(family: &str, spec: &bbr::Spec, findings: &mut Findings<'_>) {
    let numbers = [
        ("startup_gain", spec.startup_gain, FASTER.0, FASTER.1),
        ("cwnd_gain", spec.cwnd_gain, GAIN.0, GAIN.1),
        ("pacing_margin", spec.pacing_margin, SHARE.0, SHARE.1),
        ("extra_acked_gain", spec.extra_acked_gain, FACTOR.0, FACTOR.1),
    ];
    check(family, &numbers, spec.min_window, findings);
    findings.positive(&format!("{family}.min_rtt_window"), spec.min_rtt_window);
}

/// The parameters of version 3, likewise.
pub fn version_3(family: &str, spec: &bbr3::Spec, findings: &mut Findings<'_>) {
    let numbers = [
        ("startup_pacing_gain", spec.startup_pacing_gain, FASTER.0, FASTER.1),
        ("startup_cwnd_gain", spec.startup_cwnd_gain, GAIN.0, GAIN.1),
        ("drain_gain", spec.drain_gain, SLOWER.0, SLOWER.1),
        ("down_gain", spec.down_gain, SLOWER.0, SLOWER.1),
        ("up_gain", spec.up_gain, FASTER.0, FASTER.1),
        ("cwnd_gain", spec.cwnd_gain, GAIN.0, GAIN.1),
        ("pacing_margin", spec.pacing_margin, SHARE.0, SHARE.1),
        ("loss_threshold", spec.loss_threshold, SHARE.0, SHARE.1),
        ("beta", spec.beta, WEIGHT.0, WEIGHT.1),
        ("headroom", spec.headroom, SHARE.0, SHARE.1),
        ("probe_rtt_cwnd_gain", spec.probe_rtt_cwnd_gain, FACTOR.0, FACTOR.1),
        ("extra_acked_gain", spec.extra_acked_gain, FACTOR.0, FACTOR.1),
        ("ecn_alpha_gain", spec.ecn_alpha_gain, WEIGHT.0, WEIGHT.1),
        ("ecn_factor", spec.ecn_factor, SHARE.0, SHARE.1),
        ("ecn_threshold", spec.ecn_threshold, WEIGHT.0, WEIGHT.1),
    ];
    check(family, &numbers, spec.min_window, findings);
    let (interval, window) = (spec.probe_rtt_interval, spec.min_rtt_window);
    findings.positive(&format!("{family}.probe_rtt_interval"), interval);
    if window < interval {
        findings.error(
            &[&format!("{family}.min_rtt_window"), &format!("{family}.probe_rtt_interval")],
            format!(
                "the shortest round-trip time is forgotten after {window} and measured every \
                 {interval}"
            ),
            "raise `min_rtt_window` to at least `probe_rtt_interval`",
        );
    }
}

fn check(family: &str, numbers: &[Number], min_window: u32, findings: &mut Findings<'_>) {
    for &(field, value, allowed, range) in numbers {
        if !(value.is_finite() && allowed(value)) {
            findings.error(
                &[&format!("{family}.{field}")],
                format!("`{field}` is {}", number(value)),
                format!("write a number that is {range}, or remove it for the published one"),
            );
        }
    }
    if min_window == 0 {
        let help = "a window without packets would never open again: write 4, as published";
        findings.error(&[&format!("{family}.min_window")], "the least window is 0", help);
    }
}

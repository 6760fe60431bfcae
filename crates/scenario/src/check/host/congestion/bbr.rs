//! Whether the parameters of both versions of BBR can work.

use floodway_sim::host::congestion::{bbr, bbr3};

use super::Checks;
use crate::check::{Findings, number};

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

impl Checks for bbr::Spec {
    fn check(&self, path: &dyn Fn(&str) -> String, findings: &mut Findings<'_>) {
        let numbers = [
            ("startup_gain", self.startup_gain, FASTER.0, FASTER.1),
            ("cwnd_gain", self.cwnd_gain, GAIN.0, GAIN.1),
            ("pacing_margin", self.pacing_margin, SHARE.0, SHARE.1),
            ("extra_acked_gain", self.extra_acked_gain, FACTOR.0, FACTOR.1),
        ];
        check_numbers(path, &numbers, self.min_window, findings);
        findings.positive(&path("min_rtt_window"), self.min_rtt_window);
    }
}

impl Checks for bbr3::Spec {
    fn check(&self, path: &dyn Fn(&str) -> String, findings: &mut Findings<'_>) {
        let numbers = [
            ("startup_pacing_gain", self.startup_pacing_gain, FASTER.0, FASTER.1),
            ("startup_cwnd_gain", self.startup_cwnd_gain, GAIN.0, GAIN.1),
            ("drain_gain", self.drain_gain, SLOWER.0, SLOWER.1),
            ("down_gain", self.down_gain, SLOWER.0, SLOWER.1),
            ("up_gain", self.up_gain, FASTER.0, FASTER.1),
            ("cwnd_gain", self.cwnd_gain, GAIN.0, GAIN.1),
            ("pacing_margin", self.pacing_margin, SHARE.0, SHARE.1),
            ("loss_threshold", self.loss_threshold, SHARE.0, SHARE.1),
            ("beta", self.beta, WEIGHT.0, WEIGHT.1),
            ("headroom", self.headroom, SHARE.0, SHARE.1),
            ("probe_rtt_cwnd_gain", self.probe_rtt_cwnd_gain, FACTOR.0, FACTOR.1),
            ("extra_acked_gain", self.extra_acked_gain, FACTOR.0, FACTOR.1),
            ("ecn_alpha_gain", self.ecn_alpha_gain, WEIGHT.0, WEIGHT.1),
            ("ecn_factor", self.ecn_factor, SHARE.0, SHARE.1),
            ("ecn_threshold", self.ecn_threshold, WEIGHT.0, WEIGHT.1),
        ];
        check_numbers(path, &numbers, self.min_window, findings);
        let (interval, window) = (self.probe_rtt_interval, self.min_rtt_window);
        findings.positive(&path("probe_rtt_interval"), interval);
        if window < interval {
            findings.error(
                &[&path("min_rtt_window"), &path("probe_rtt_interval")],
                format!(
                    "the shortest round-trip time is forgotten after {window} and measured every \
                     {interval}"
                ),
                "raise `min_rtt_window` to at least `probe_rtt_interval`",
            );
        }
    }
}

fn check_numbers(
    path: &dyn Fn(&str) -> String,
    numbers: &[Number],
    min_window: u32,
    findings: &mut Findings<'_>,
) {
    for &(field, value, allowed, range) in numbers {
        if !(value.is_finite() && allowed(value)) {
            findings.error(
                &[&path(field)],
                format!("`{field}` is {}", number(value)),
                format!("write a number that is {range}, or remove it for the published one"),
            );
        }
    }
    if min_window == 0 {
        let help = "a window without packets would never open again: write 4, as published";
        findings.error(&[&path("min_window")], "the least window is 0", help);
    }
}

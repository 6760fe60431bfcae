//! Whether TIMELY can work, and fits transport and network.

use floodway_model::{Bytes, Duration};
use floodway_sim::host::congestion::timely::Spec;

use super::{Checks, Network, Placed, answers, rates};
use crate::check::{Findings, number};

impl Checks for Spec {
    fn check(&self, path: &dyn Fn(&str) -> String, findings: &mut Findings<'_>) {
        findings.positive(&path("min_rtt"), self.min_rtt);
        if self.t_low >= self.t_high {
            findings.error(
                &[&path("t_low"), &path("t_high")],
                format!("`t_low` ({}) is not below `t_high` ({})", self.t_low, self.t_high),
                "between them the gradient decides; the paper has 50us and 500us",
            );
        }
        if self.patched {
            // The error is a part of it.
            findings.positive(&path("t_low"), self.t_low);
        }
        let beta = self.beta.map(|beta| ("beta", beta));
        for (field, value) in [("alpha", self.alpha)].into_iter().chain(beta) {
            if !(value > 0.0 && value <= 1.0) {
                findings.error(
                    &[&path(field)],
                    format!("`{field}` is {}", number(value)),
                    "write a number above 0 and at most 1; usual are alpha = 0.875 and beta = 0.8",
                );
            }
        }
        rates::increases(path, Some(self.additive_increase), findings);
        if self.hyper_increase < self.additive_increase {
            findings.error(
                &[&path("hyper_increase"), &path("additive_increase")],
                format!(
                    "hyperactive increase ({}) is slower than additive increase ({})",
                    self.hyper_increase, self.additive_increase
                ),
                "set `hyper_increase` to five times `additive_increase`, as the paper has it",
            );
        }
        if self.segment == Some(Bytes(0)) {
            let help = "write for example \"16KB\", or remove it for one update per round trip";
            findings.error(&[&path("segment")], "a segment has 0 bytes", help);
        }
        if self.window == Some(Duration::ZERO) {
            let help = "write the round-trip time without queues, or remove it";
            findings.error(&[&path("window")], "the window is zero", help);
        }
        rates::lowest(path, self.min_rate, findings);
    }

    fn check_on(&self, placed: &Placed, network: &Network<'_>, findings: &mut Findings<'_>) {
        rates::least(placed, self.min_rate, "100Mbps", network.graph, findings);
        check_thresholds(placed, self, network.round_trip(), findings);
        if let Some(window) = self.window {
            answers::check_length(placed, ("window", window), network, findings);
            answers::check_window(placed, self.min_rate, window, findings);
        }
    }
}

/// Whether round-trip times are on both sides of the thresholds.
fn check_thresholds(
    placed: &Placed,
    spec: &Spec,
    round_trip: Duration,
    findings: &mut Findings<'_>,
) {
    let path = |field: &str| placed.of_congestion(field);
    let (field, threshold) = match round_trip {
        time if time >= spec.t_high => ("t_high", spec.t_high),
        time if time >= spec.t_low => ("t_low", spec.t_low),
        _ => return,
    };
    let table = placed.congestion_table();
    let places = [path(field), path("t_low"), table, placed.congestion_path.clone()];
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

//! Whether a constant rate lets packets be sent, and is meant for TCP.

use floodway_sim::host::congestion::constant_rate::Spec;
use floodway_sim::host::transport::tcp;

use super::{Checks, Placed, rates};
use crate::check::Findings;

impl Checks for Spec {
    fn check(&self, path: &dyn Fn(&str) -> String, findings: &mut Findings<'_>) {
        rates::sends(&path("rate"), self.rate, findings);
    }

    fn check_unlimited(&self, placed: &Placed, _: &tcp::Spec, findings: &mut Findings<'_>) {
        findings.warn(
            &[&placed.congestion_table(), &placed.congestion_path],
            "`constant_rate` does not slow down when segments are lost, and TCP sends them again",
            format!(
                "for traffic that does not respond choose {}, for TCP {}",
                placed.other_transport("udp"),
                placed.other_congestion("cubic")
            ),
        );
    }
}

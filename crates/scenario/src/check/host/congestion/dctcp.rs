//! Whether the parameters of DCTCP can work.

use floodway_sim::host::congestion::dctcp::Spec;

use super::{Checks, minimum_window, weight};
use crate::check::{Findings, number};

impl Checks for Spec {
    fn check(&self, path: &dyn Fn(&str) -> String, findings: &mut Findings<'_>) {
        weight(&path("g"), self.g, findings);
        if !(0.0..=1.0).contains(&self.initial_alpha) {
            findings.error(
                &[&path("initial_alpha")],
                format!("alpha begins as {}, and it is a share", number(self.initial_alpha)),
                "write a number from 0 to 1; RFC 8257 has 1",
            );
        }
        minimum_window(&path("minimum_window"), self.minimum_window, findings);
    }
}

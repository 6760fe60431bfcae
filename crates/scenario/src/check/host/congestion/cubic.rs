//! Whether the parameters of Cubic can work.

use floodway_sim::host::congestion::cubic::Spec;

use super::{Checks, minimum_window};
use crate::check::{Findings, number};

impl Checks for Spec {
    fn check(&self, path: &dyn Fn(&str) -> String, findings: &mut Findings<'_>) {
        if !(self.c > 0.0 && self.c.is_finite()) {
            findings.error(
                &[&path("c")],
                format!("`c` is {}, and the cubic function has no slope", number(self.c)),
                "write a number above 0; RFC 9438 has 0.4 packets per cubic second",
            );
        }
        if !(self.beta > 0.0 && self.beta < 1.0) {
            findings.error(
                &[&path("beta")],
                format!("congestion leaves {} of the window", number(self.beta)),
                "write a number between 0 and 1; RFC 9438 has 0.7",
            );
        }
        minimum_window(&path("minimum_window"), self.minimum_window, findings);
    }
}

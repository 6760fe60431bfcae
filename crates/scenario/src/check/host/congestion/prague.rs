//! Whether the parameters of Prague can work.

use floodway_sim::host::congestion::prague::Spec;

use super::{Checks, minimum_window, rates, weight};
use crate::check::Findings;

impl Checks for Spec {
    fn check(&self, path: &dyn Fn(&str) -> String, findings: &mut Findings<'_>) {
        weight(&path("g"), self.g, findings);
        rates::sends(&path("minimum_rate"), self.minimum_rate, findings);
        minimum_window(&path("minimum_window"), self.minimum_window, findings);
    }
}

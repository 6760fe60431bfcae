//! Whether the parameters of Reno can work.

use floodway_sim::host::congestion::reno::Spec;

use super::{Checks, minimum_window};
use crate::check::Findings;

impl Checks for Spec {
    fn check(&self, path: &dyn Fn(&str) -> String, findings: &mut Findings<'_>) {
        minimum_window(&path("minimum_window"), self.minimum_window, findings);
    }
}

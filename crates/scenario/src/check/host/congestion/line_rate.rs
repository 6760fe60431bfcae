//! Without congestion control there are no parameters to check.

use floodway_sim::host::congestion::line_rate::Spec;

use super::Checks;

impl Checks for Spec {}

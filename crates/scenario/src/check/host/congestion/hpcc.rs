//! Whether HPCC can work, and fits transport and network.

use floodway_model::Rate;
use floodway_sim::host::congestion::hpcc::Spec;

use super::{Checks, Network, Placed, answers, rates};
use crate::check::Findings;
use crate::document::Document;

impl Checks for Spec {
    fn check(&self, path: &dyn Fn(&str) -> String, findings: &mut Findings<'_>) {
        if !(self.eta > 0.0 && self.eta <= 1.0) {
            findings.error(
                &[&path("eta")],
                format!("flows would aim to use {} of a link", self.eta),
                "write a number above 0 and at most 1; the paper has 0.95",
            );
        }
        if self.additive_increase == Rate(0) {
            findings.warn(
                &[&path("additive_increase")],
                "without additive increase all rates change by the same factor",
                "flows of unequal rates would never come to equal shares: write for example \
                 \"40Mbps\"",
            );
        }
        if let Some(base_rtt) = self.base_rtt {
            findings.positive(&path("base_rtt"), base_rtt);
        }
        rates::lowest(path, self.min_rate, findings);
    }

    fn check_signals(&self, placed: &Placed, settings: &Document, findings: &mut Findings<'_>) {
        answers::check_telemetry(placed, settings, findings);
    }

    fn check_on(&self, placed: &Placed, network: &Network<'_>, findings: &mut Findings<'_>) {
        rates::least(placed, self.min_rate, "100Mbps", network.graph, findings);
        answers::check_hops(placed, network, findings);
        let base_rtt = answers::check_base_rtt(placed, self.base_rtt, network, findings);
        answers::check_every_packet(placed, self.min_rate, base_rtt, findings);
    }
}

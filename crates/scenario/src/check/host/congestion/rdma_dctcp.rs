//! Whether DCTCP for RDMA can work, and fits transport and network.

use floodway_sim::host::congestion::rdma_dctcp::Spec;

use super::super::marks::no_marks;
use super::{Checks, Network, Placed, answers, rates, weight};
use crate::check::Findings;
use crate::document::Document;

impl Checks for Spec {
    fn check(&self, path: &dyn Fn(&str) -> String, findings: &mut Findings<'_>) {
        weight(&path("g"), self.g, findings);
        rates::increases(path, self.additive_increase, findings);
        if let Some(base_rtt) = self.base_rtt {
            findings.positive(&path("base_rtt"), base_rtt);
        }
        rates::lowest(path, self.min_rate, findings);
    }

    fn check_signals(&self, placed: &Placed, settings: &Document, findings: &mut Findings<'_>) {
        let Some(place) = no_marks(&settings.switch) else { return };
        findings.warn(
            &[place, &placed.congestion_table(), &placed.congestion_path],
            "`rdma_dctcp` relies on ECN marks, but nothing marks packets",
            format!(
                "choose [switch.aqm.step], or {} if that is meant",
                placed.other_congestion("line_rate")
            ),
        );
    }

    fn check_on(&self, placed: &Placed, network: &Network<'_>, findings: &mut Findings<'_>) {
        rates::least(placed, self.min_rate, "100Mbps", network.graph, findings);
        let base_rtt = answers::check_base_rtt(placed, self.base_rtt, network, findings);
        answers::check_every_packet(placed, self.min_rate, base_rtt, findings);
    }
}

//! Whether PowerTCP can work, and fits transport and network.

use floodway_model::Rate;
use floodway_sim::host::congestion::powertcp::{Spec, Variant};

use super::{Checks, Network, Placed, answers, rates};
use crate::check::{Findings, number};
use crate::document::Document;

impl Checks for Spec {
    fn check(&self, path: &dyn Fn(&str) -> String, findings: &mut Findings<'_>) {
        if !(self.gamma > 0.0 && self.gamma <= 1.0) {
            findings.error(
                &[&path("gamma")],
                format!("the weight `gamma` is {}", number(self.gamma)),
                "write a number above 0 and at most 1; the paper has 0.9",
            );
        }
        if self.flows == 0 {
            findings.error(
                &[&path("flows")],
                "the additive increase is the line rate divided by `flows`, which is 0",
                "write how many flows are expected to share the link of a host, at least 1",
            );
        }
        if let Some(base_rtt) = self.base_rtt {
            findings.positive(&path("base_rtt"), base_rtt);
        }
        rates::lowest(path, self.min_rate, findings);
    }

    fn check_signals(&self, placed: &Placed, settings: &Document, findings: &mut Findings<'_>) {
        if self.variant == Variant::Telemetry {
            answers::check_telemetry(placed, settings, findings);
        }
    }

    fn check_on(&self, placed: &Placed, network: &Network<'_>, findings: &mut Findings<'_>) {
        rates::least(placed, self.min_rate, "100Mbps", network.graph, findings);
        if self.variant == Variant::Telemetry {
            answers::check_hops(placed, network, findings);
        }
        let base_rtt = answers::check_base_rtt(placed, self.base_rtt, network, findings);
        // The additive increase keeps the rate above a share of the link.
        let share = rates::slowest_link(network.graph)
            .map_or(Rate(0), |link| Rate(link.0 / u64::from(self.flows.max(1))));
        answers::check_every_packet(placed, self.min_rate.max(share), base_rtt, findings);
    }
}

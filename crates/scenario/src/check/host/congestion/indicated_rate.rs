//! Whether the parameters of a rate that switches lower make sense, and whether any switch does.

use floodway_sim::host::congestion::indicated_rate::Spec;
use floodway_sim::host::transport::Spec as Transport;

use super::super::marks::no_marks;
use super::{Checks, Network, Placed, rates};
use crate::check::Findings;
use crate::document::Document;

impl Checks for Spec {
    fn check(&self, path: &dyn Fn(&str) -> String, findings: &mut Findings<'_>) {
        if !(self.max_decrease > 0.0 && self.max_decrease <= 1.0) {
            findings.error(
                &[&path("max_decrease")],
                format!("an indication takes {} of the rate", self.max_decrease),
                "write a number above 0 and at most 1; half is 0.5",
            );
        }
        findings.positive(&path("period"), self.period);
        let rates = [
            ("increase", self.increase, "the rate would never rise again"),
            ("min_rate", self.min_rate, "a flow at rate zero would never send again"),
        ];
        rates::above_zero(path, &rates, "10Mbps", findings);
    }

    fn check_signals(&self, placed: &Placed, settings: &Document, findings: &mut Findings<'_>) {
        let indication = settings.switch.congestion_indication.as_ref();
        if indication.is_some_and(|spec| spec.backward) {
            return;
        }
        // RoCEv2 has notifications of marks too.
        if matches!(placed.transport, Transport::Rocev2(_)) && no_marks(&settings.switch).is_none()
        {
            return;
        }
        findings.warn(
            &["switch.congestion_indication", &placed.congestion_table(), &placed.congestion_path],
            "`indicated_rate` relies on backward indications, but no switch sends any",
            format!(
                "write backward = true in [switch.congestion_indication], or choose {}",
                placed.other_congestion("line_rate")
            ),
        );
    }

    fn check_on(&self, placed: &Placed, network: &Network<'_>, findings: &mut Findings<'_>) {
        rates::least(placed, self.min_rate, "10Mbps", network.graph, findings);
    }
}

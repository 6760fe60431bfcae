//! Whether the parameters of a reaction point make sense, and whether any switch is a congestion point.

use floodway_sim::host::congestion::qcn::Spec;

use super::{Checks, Network, Placed, rates};
use crate::check::{Findings, number, qcn};
use crate::document::Document;

impl Checks for Spec {
    fn check(&self, path: &dyn Fn(&str) -> String, findings: &mut Findings<'_>) {
        if !(self.gd > 0.0 && self.gd <= 1.0) {
            findings.error(
                &[&path("gd")],
                format!("the gain `gd` is {}", number(self.gd)),
                "write a number above 0 and at most 1; the standard has 0.0078125 (1/128)",
            );
        }
        if !(0.0..1.0).contains(&self.min_dec_fac) {
            findings.error(
                &[&path("min_dec_fac")],
                format!("a message leaves {} of the rate at least", self.min_dec_fac),
                "write 0 or more and less than 1; the standard has 0.5",
            );
        }
        if self.byte_reset.0 == 0 {
            findings.error(
                &[&path("byte_reset")],
                "`byte_reset` is zero: the rate would rise with every packet",
                "write the bytes of a stage; the standard has 150000B",
            );
        }
        findings.positive(&path("time_reset"), self.time_reset);
        qcn::jitter(&path("jitter"), self.jitter, findings);
        let rates = [
            ("ai_rate", self.ai_rate, "the rate would never rise beyond the target"),
            ("hai_rate", self.hai_rate, "the rate would stop rising after some time"),
            ("min_rate", self.min_rate, "a flow at rate zero would never send again"),
        ];
        rates::above_zero(path, &rates, "5Mbps", findings);
    }

    fn check_signals(&self, placed: &Placed, settings: &Document, findings: &mut Findings<'_>) {
        if settings.switch.flow_control.qcn.is_some() {
            return;
        }
        findings.warn(
            &[&placed.congestion_table(), &placed.congestion_path],
            "`qcn` obeys congestion points, and no switch has any",
            format!(
                "add [switch.flow_control.qcn], or choose {}",
                placed.other_congestion("line_rate")
            ),
        );
    }

    fn check_on(&self, placed: &Placed, network: &Network<'_>, findings: &mut Findings<'_>) {
        rates::least(placed, self.min_rate, "5Mbps", network.graph, findings);
    }
}

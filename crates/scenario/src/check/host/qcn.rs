//! Whether the parameters of a reaction point make sense, and whether any switch is a congestion point.

use floodway_sim::host::congestion::qcn::Spec;

use super::super::{Findings, number, qcn};
use super::Placed;
use super::rates::above_zero;
use crate::document::Document;

/// Checks what needs no network; `family` is where it was written, such as `host.congestion`.
pub fn check(family: &str, spec: &Spec, findings: &mut Findings<'_>) {
    let path = |field: &str| format!("{family}.qcn.{field}");
    if !(spec.gd > 0.0 && spec.gd <= 1.0) {
        findings.error(
            &[&path("gd")],
            format!("the gain `gd` is {}", number(spec.gd)),
            "write a number above 0 and at most 1; the standard has 0.0078125 (1/128)",
        );
    }
    if !(0.0..1.0).contains(&spec.min_dec_fac) {
        findings.error(
            &[&path("min_dec_fac")],
            format!("a message leaves {} of the rate at least", spec.min_dec_fac),
            "write 0 or more and less than 1; the standard has 0.5",
        );
    }
    if spec.byte_reset.0 == 0 {
        findings.error(
            &[&path("byte_reset")],
            "`byte_reset` is zero: the rate would rise with every packet",
            "write the bytes of a stage; the standard has 150000B",
        );
    }
    findings.positive(&path("time_reset"), spec.time_reset);
    qcn::jitter(&path("jitter"), spec.jitter, findings);
    let rates = [
        ("ai_rate", spec.ai_rate, "the rate would never rise beyond the target"),
        ("hai_rate", spec.hai_rate, "the rate would stop rising after some time"),
        ("min_rate", spec.min_rate, "a flow at rate zero would never send again"),
    ];
    above_zero(&path, &rates, "5Mbps", findings);
}

/// Whether it hears of anything.
pub fn listens(placed: &Placed, settings: &Document, findings: &mut Findings<'_>) {
    if settings.switch.flow_control.qcn.is_some() {
        return;
    }
    let family = &placed.congestion_path;
    findings.warn(
        &[&format!("{family}.qcn"), family],
        "`qcn` obeys congestion points, and no switch has any",
        format!(
            "add [switch.flow_control.qcn], or choose {}",
            placed.other_congestion("line_rate")
        ),
    );
}

//! Whether the parameters of a rate that switches lower make sense, and whether any switch does.

use floodway_sim::host::congestion::indicated_rate::Spec;
use floodway_sim::host::transport::Spec as Transport;

use super::super::Findings;
use super::Placed;
use super::marks::no_marks;
use super::rates::above_zero;
use crate::document::Document;

/// Checks what needs no network; `family` is where it was written, such as `host.congestion`.
pub fn check(family: &str, spec: &Spec, findings: &mut Findings<'_>) {
    let path = |field: &str| format!("{family}.indicated_rate.{field}");
    if !(spec.max_decrease > 0.0 && spec.max_decrease <= 1.0) {
        findings.error(
            &[&path("max_decrease")],
            format!("an indication takes {} of the rate", spec.max_decrease),
            "write a number above 0 and at most 1; half is 0.5",
        );
    }
    findings.positive(&path("period"), spec.period);
    let rates = [
        ("increase", spec.increase, "the rate would never rise again"),
        ("min_rate", spec.min_rate, "a flow at rate zero would never send again"),
    ];
    above_zero(&path, &rates, "10Mbps", findings);
}

/// Whether it hears of anything.
pub fn listens(placed: &Placed, settings: &Document, findings: &mut Findings<'_>) {
    let indication = settings.switch.congestion_indication.as_ref();
    if indication.is_some_and(|spec| spec.backward) {
        return;
    }
    let family = &placed.congestion_path;
    let own = format!("{family}.indicated_rate");
    // RoCEv2 has notifications of marks too.
    if matches!(placed.transport, Transport::Rocev2(_)) && no_marks(&settings.switch).is_none() {
        return;
    }
    findings.warn(
        &["switch.congestion_indication", &own, family],
        "`indicated_rate` listens to backward indications, and no switch sends any",
        format!(
            "write backward = true in [switch.congestion_indication], or choose {}",
            placed.other_congestion("line_rate")
        ),
    );
}

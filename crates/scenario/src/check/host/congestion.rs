//! Whether the parameters of a congestion control make sense by themselves.

use floodway_model::Rate;
use floodway_sim::host::congestion::Spec;

use super::super::{Findings, number};
use super::bbr;

/// Checks the parameters that are written below `family`, for example `host.congestion`.
pub fn check(family: &str, spec: &Spec, findings: &mut Findings<'_>) {
    let path = |field: &str| format!("{family}.{}.{field}", spec.name());
    match spec {
        // They have files of their own.
        Spec::Hpcc(_) | Spec::Timely(_) | Spec::Swift(_) | Spec::RdmaDctcp(_) => {}
        Spec::LineRate(_) | Spec::Dcqcn(_) | Spec::IndicatedRate(_) | Spec::Qcn(_) => {}
        Spec::Bbr(spec) => bbr::version_1(&format!("{family}.bbr"), spec, findings),
        Spec::Bbr3(spec) => bbr::version_3(&format!("{family}.bbr3"), spec, findings),
        Spec::ConstantRate(spec) => rate(&path("rate"), spec.rate, findings),
        Spec::Reno(spec) => minimum_window(&path("minimum_window"), spec.minimum_window, findings),
        Spec::Cubic(spec) => {
            if !(spec.c > 0.0 && spec.c.is_finite()) {
                findings.error(
                    &[&path("c")],
                    format!("`c` is {}, and the cubic function has no slope", number(spec.c)),
                    "write a number above 0; RFC 9438 has 0.4 packets per cubic second",
                );
            }
            if !(spec.beta > 0.0 && spec.beta < 1.0) {
                findings.error(
                    &[&path("beta")],
                    format!("congestion leaves {} of the window", number(spec.beta)),
                    "write a number between 0 and 1; RFC 9438 has 0.7",
                );
            }
            minimum_window(&path("minimum_window"), spec.minimum_window, findings);
        }
        Spec::Dctcp(spec) => {
            weight(&path("g"), spec.g, findings);
            if !(0.0..=1.0).contains(&spec.initial_alpha) {
                findings.error(
                    &[&path("initial_alpha")],
                    format!("alpha begins as {}, and it is a share", number(spec.initial_alpha)),
                    "write a number from 0 to 1; RFC 8257 has 1",
                );
            }
            minimum_window(&path("minimum_window"), spec.minimum_window, findings);
        }
        Spec::Prague(spec) => {
            weight(&path("g"), spec.g, findings);
            rate(&path("minimum_rate"), spec.minimum_rate, findings);
            minimum_window(&path("minimum_window"), spec.minimum_window, findings);
        }
    }
}

fn weight(path: &str, g: f64, findings: &mut Findings<'_>) {
    if !(g > 0.0 && g <= 1.0) {
        findings.error(
            &[path],
            format!("the weight `g` is {}", number(g)),
            "write a number above 0 and at most 1; RFC 8257 has 0.0625 (1/16)",
        );
    }
}

fn rate(path: &str, rate: Rate, findings: &mut Findings<'_>) {
    if rate == Rate(0) {
        let help = "write a rate above 0, for example \"1Mbps\"";
        findings.error(&[path], "a flow at rate zero would never send", help);
    }
}

fn minimum_window(path: &str, packets: u32, findings: &mut Findings<'_>) {
    if packets == 0 {
        let help = "write at least 1; RFC 5681 and Linux have 2";
        findings.error(&[path], "a window of 0 packets would never let one be sent", help);
    }
}

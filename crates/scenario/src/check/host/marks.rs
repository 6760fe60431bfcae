//! Whether a congestion control that relies on marks can get them, and is distinguished from others where
//! scalable and classic traffic are treated differently.

use floodway_model::{Ecn, EcnFeedback};
use floodway_sim::host::transport::tcp;
use floodway_sim::switch::classify::{self, ecn::Scalable};
use floodway_sim::switch::flow_control::congestion_isolation::Mark;
use floodway_sim::switch::{self, aqm};

use super::super::Findings;
use super::Placed;
use crate::document::Document;

const FORWARD: &str = "switch.congestion_indication.forward";

/// Those of RoCEv2, that DCQCN listens to.
pub fn of_notifications(placed: &Placed, settings: &Document, findings: &mut Findings<'_>) {
    // Backward indications count as much.
    let indication = settings.switch.congestion_indication.as_ref();
    if indication.is_some_and(|spec| spec.backward) {
        return;
    }
    // So do the marks of trimmed packets.
    let trims = settings.switch.overflow.trims().is_some_and(|spec| spec.mark);
    if trims && placed.transport.understands_trimming() {
        return;
    }
    let Some(place) = no_marks(&settings.switch) else { return };
    findings.warn(
        &[place, &placed.congestion_table(), &placed.congestion_path],
        "DCQCN relies on ECN marks, but nothing marks packets",
        format!(
            "choose [switch.aqm.ramp], or {} if that is meant",
            placed.other_congestion("line_rate")
        ),
    );
}

/// Those of TCP.
pub fn of_segments(
    placed: &Placed,
    tcp: &tcp::Spec,
    settings: &Document,
    findings: &mut Findings<'_>,
) {
    let name = placed.congestion.name();
    let wanted = placed.congestion.feedback();
    let feedback = tcp.feedback(wanted);
    let scalable = wanted != EcnFeedback::None;
    let (family, ecn) = (&placed.congestion_path, placed.of_transport("ecn"));
    let other = || placed.other_congestion("cubic");
    if scalable && feedback == EcnFeedback::None {
        findings.warn(
            &[&ecn, family],
            format!("`{name}` relies on ECN marks, but with ecn = \"off\" no packet can be marked"),
            format!("remove `ecn`, or choose {}", other()),
        );
    } else if scalable && feedback == EcnFeedback::Classic {
        findings.warn(
            &[&ecn, family],
            format!(
                "`{name}` counts marked segments, and classic feedback reports only that there are \
                 some"
            ),
            "remove `ecn`: the congestion control asks for the feedback that it needs",
        );
    } else if scalable && let Some(place) = no_marks(&settings.switch) {
        findings.warn(
            &[place, &format!("{family}.{name}"), family],
            format!("`{name}` relies on ECN marks, but nothing marks packets"),
            format!("{} {}", remedy(place), other()),
        );
    }
    let field = tcp.ecn_field(wanted);
    if !field.is_capable() {
        return;
    }
    for (path, taken) in told_apart(settings) {
        if taken.includes(field) != scalable {
            mistaken(placed, (path, taken), field, findings);
        }
    }
}

/// What is to be done where [`no_marks`] points.
fn remedy(place: &str) -> &'static str {
    match place {
        FORWARD => "write forward = true, or choose",
        _ => "choose an AQM that marks, for example [switch.aqm.step], or",
    }
}

/// Where a switch says that no packet arrives with CE; `None` if some may.
pub fn no_marks(switch: &switch::Spec) -> Option<&'static str> {
    if switch.congestion_indication.as_ref().is_some_and(|spec| !spec.forward) {
        return Some(FORWARD);
    }
    match switch.flow_control.congestion_isolation.as_ref().map(|isolation| isolation.mark) {
        Some(Mark::Detected | Mark::All) => None,
        Some(Mark::Aqm | Mark::None) | None => no_congestion(&switch.aqm),
    }
}

/// Where the AQM, or a part of it, says that it does not mark; `None` if it marks.
pub fn no_congestion(aqm: &aqm::Spec) -> Option<&'static str> {
    match aqm {
        aqm::Spec::DropTail(_) => Some("switch.aqm"),
        aqm::Spec::Red(spec) if spec.tc().is_ok_and(|tc| !tc.ecn) => Some("switch.aqm.red"),
        aqm::Spec::Codel(spec) if !spec.ecn && spec.ce_threshold.is_none() => {
            Some("switch.aqm.codel.ecn")
        }
        aqm::Spec::Pie(spec) if !spec.ecn => Some("switch.aqm.pie.ecn"),
        _ => None,
    }
}

/// Where switches tell scalable from classic packets by the ECN field, and how.
fn told_apart(settings: &Document) -> Vec<(&'static str, Scalable)> {
    let mut places = Vec::new();
    if let classify::Spec::Ecn(spec) = &settings.switch.classify {
        places.push(("switch.classify.ecn.low_latency", spec.low_latency));
    }
    match &settings.switch.aqm {
        aqm::Spec::Coupled(spec) => places.push(("switch.aqm.coupled.scalable", spec.scalable)),
        aqm::Spec::Pi2(spec) => places.push(("switch.aqm.pi2.scalable", spec.scalable)),
        _ => {}
    }
    places
}

/// A packet is taken for what it is not.
fn mistaken(
    placed: &Placed,
    (path, taken): (&str, Scalable),
    field: Ecn,
    findings: &mut Findings<'_>,
) {
    let (family, name) = (&placed.congestion_path, placed.congestion.name());
    let (table, key) = path.rsplit_once('.').expect("it has a table");
    let codepoint = placed.of_transport("codepoint");
    let sends = if field == Ecn::Ect1 { "ECT(1)" } else { "ECT(0)" };
    let tcp = placed.transport_header();
    if !taken.includes(field) {
        findings.warn(
            &[&codepoint, &format!("{family}.{name}"), family],
            format!("`{name}` sends {sends}, which `{table}` takes for classic"),
            format!("write codepoint = \"ect1\" in {tcp}, or {key} = \"ecn_capable\" in [{table}]"),
        );
    } else {
        findings.warn(
            &[&codepoint, &placed.of_transport("ecn"), family],
            format!(
                "`{name}` sends {sends}, which `{table}` takes for scalable, and answers a mark \
                 like a loss"
            ),
            match (taken, field) {
                (Scalable::Ect1, _) => {
                    format!("remove `ecn` from {tcp}, or write codepoint = \"ect0\" there")
                }
                (Scalable::EcnCapable, Ecn::Ect1) => format!("remove `ecn` from {tcp}"),
                (Scalable::EcnCapable, _) => {
                    format!("remove `ecn` from {tcp}, or write {key} = \"ect1\" in [{table}]")
                }
            },
        );
    }
}

//! Whether a congestion control that relies on marks can get them, and is distinguished from others where
//! scalable and classic traffic are treated differently.

use floodway_model::{Ecn, EcnFeedback};
use floodway_sim::host::congestion::check::Around;
use floodway_sim::host::transport::tcp;
use floodway_sim::switch::classify::{self, ecn::Scalable};

use super::super::Problems;
use super::Placed;
use crate::document::Document;

const FORWARD: &str = "switch.congestion_indication.forward";

/// Where a queue discipline with an AQM of its own is asked not to mark.
const DISCIPLINE: &str = "switch.queue.discipline.";

/// Those of TCP.
pub fn of_segments(
    placed: &Placed,
    tcp: &tcp::Spec,
    settings: &Document,
    findings: &mut Problems<'_>,
) {
    let name = placed.congestion.name();
    let wanted = placed.congestion.feedback();
    let feedback = tcp.feedback(wanted);
    let scalable = wanted != EcnFeedback::None;
    let (family, ecn) = (&placed.congestion_path, placed.of_transport("ecn"));
    let around = placed.around(settings);
    let other = || around.other("cubic");
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
            "remove `ecn`: the congestion control requests the feedback that it needs",
        );
    } else if scalable && let Some(place) = settings.switch.no_marks() {
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
            mistaken(placed, &around, (&path, taken), field, findings);
        }
    }
}

/// What is to be done where [`no_marks`](floodway_sim::switch::Spec::no_marks) points.
fn remedy(place: &str) -> &'static str {
    match place {
        FORWARD => "write forward = true, or choose",
        _ if place.starts_with(DISCIPLINE) => "write ecn = true, or choose",
        _ => "choose an AQM that marks, for example [switch.aqm.step], or",
    }
}

/// Where switches distinguish scalable from classic packets by the ECN field, and how.
fn told_apart(settings: &Document) -> Vec<(String, Scalable)> {
    let mut places = Vec::new();
    if let classify::Spec::Ecn(spec) = &settings.switch.classify {
        places.push(("switch.classify.ecn.low_latency".to_owned(), spec.low_latency));
    }
    if let Some(taken) = settings.switch.aqm.scalable() {
        places.push((format!("switch.aqm.{}.scalable", settings.switch.aqm.name()), taken));
    }
    places
}

/// A packet is taken for what it is not.
fn mistaken(
    placed: &Placed,
    around: &Around<'_>,
    (path, taken): (&str, Scalable),
    field: Ecn,
    findings: &mut Problems<'_>,
) {
    let (family, name) = (&placed.congestion_path, placed.congestion.name());
    let (table, key) = path.rsplit_once('.').expect("it has a table");
    let codepoint = placed.of_transport("codepoint");
    let sends = if field == Ecn::Ect1 { "ECT(1)" } else { "ECT(0)" };
    let tcp = around.transport_header();
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

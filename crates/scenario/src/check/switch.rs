//! Switches: what their parts say of themselves, of each other and of the network, and whether queues
//! become as deep as the thresholds of what observes them.

use floodway_model::check::Check;
use floodway_model::{Bytes, Graph};
use floodway_sim::switch::aqm::{self, red};
use floodway_sim::switch::buffer::Holder;
use floodway_sim::switch::check::Facts;

use super::Problems;
use super::pools::{Largest, largest_queues, places};
use crate::document::Document;

/// Checks what needs no topology.
pub fn check(settings: &Document, facts: &Facts<'_>, findings: &mut Problems<'_>) {
    let of_switch = &mut findings.within("switch");
    settings.switch.check(of_switch);
    settings.switch.check_beside(facts, of_switch);
    if let aqm::Spec::Red(red::Spec { command: Some(_), .. }) = &settings.switch.aqm {
        check_red(findings);
    }
}

/// Whether a field is written beside the command for RED. It could have its default value there.
fn check_red(findings: &mut Problems<'_>) {
    let paths = red::FIELDS.map(|field| (field, format!("switch.aqm.red.{field}")));
    for (field, path) in paths.iter().filter(|(_, path)| findings.document.written(path).is_some())
    {
        findings.error(
            &[path],
            format!("`{field}` is written beside the command, which says everything"),
            "say it in `command`, or remove `switch.aqm.red.command`",
        );
    }
}

/// Checks what needs the network.
pub fn check_on(
    settings: &Document,
    facts: &Facts<'_>,
    graph: &Graph,
    findings: &mut Problems<'_>,
) {
    settings.switch.check_on(facts, graph, &mut findings.within("switch"));
    let switch = &settings.switch;
    let of_aqm = switch.aqm.threshold().map(|(field, at)| {
        let follows = "the full queue drops first";
        (format!("switch.aqm.{}", switch.aqm.name()), (field, at, follows))
    });
    let trims = switch.overflow.trims().and_then(|spec| spec.threshold).map(|at| {
        let follows = "packets are trimmed when the queue is full, before they reach it";
        ("switch.overflow.trim".to_owned(), ("threshold", at, follows))
    });
    let of_control = switch.flow_control.thresholds().into_iter();
    let of_control = of_control.map(|(name, of)| (format!("switch.flow_control.{name}"), of));
    let all = of_aqm.into_iter().chain(trims).chain(of_control);
    for (table, (field, threshold, follows)) in all {
        above_queue(settings, graph, (&table, field), threshold, follows, findings);
    }
}

/// Whether a queue can become as deep as a threshold, that is the field of a table; and if not,
/// what follows. Of switches with different pools, it is the one with the least that counts.
fn above_queue(
    settings: &Document,
    graph: &Graph,
    (table, field): (&str, &str),
    threshold: Bytes,
    follows: &str,
    findings: &mut Problems<'_>,
) {
    let all = largest_queues(settings, graph).into_iter();
    let least = all.min_by_key(|largest| largest.bytes);
    let Some(Largest { bytes: largest, of, own, .. }) = least.filter(|at| threshold > at.bytes)
    else {
        return;
    };
    let limit = settings.switch.buffer.limit(&settings.switch.queue);
    let size = match limit.of {
        Holder::Queue => "the queue's size",
        Holder::Port => "the port's buffer",
        Holder::Switch => "what the egress pool gives a queue",
    };
    let raised = own.as_deref().unwrap_or(limit.field);
    findings.warn(
        &places(&own, &[&format!("{table}.{field}"), table]),
        format!("`{field}` ({threshold}) is above {size}{of} ({largest})"),
        format!("{follows}: lower `{field}` or raise `{raised}`"),
    );
}

//! Whether links with bit errors or a retry are there, have room for a loop, and go together with the rest of the
//! scenario.

use std::collections::BTreeSet;

use floodway_model::check::Check;
use floodway_model::{Duration, Graph};

use super::{Problems, failure};
use crate::document::Document;
use crate::errors::{self, Direction, LinkErrors, Retry};
use crate::failure::ports_of;

/// All entries, in the order of the scenario.
pub fn check(settings: &Document, graph: &Graph, largest_frame: u16, findings: &mut Problems<'_>) {
    let mut known = BTreeSet::new();
    let mut has_default = false;
    for (number, entry) in settings.errors.iter().enumerate() {
        let path = format!("errors.{number}");
        entry.check(&mut findings.within(&path));
        // A rate of 0 may be one of several in a sweep. One that is not possible is reported as such.
        if entry.bit_error_rate == 0.0 && entry.frames.is_empty() && entry.retry.is_none() {
            findings
                .within("")
                .idle(&path, "it has no errors (`bit_error_rate`) and no [errors.retry]");
        }
        let loss = entry.loss(largest_frame.into());
        if (MOST_USUAL..=1.0).contains(&loss) && entry.bit_error_rate < 1.0 {
            findings.warn(
                &[&format!("{path}.bit_error_rate"), &path],
                format!("{:.3} % of all full frames are lost to bit errors", 100.0 * loss),
                "a bit error rate is a number like 1e-9: a frame has up to 72,000 bits",
            );
        }
        let Some(link) = &entry.link else {
            without_link(&path, entry, has_default, findings);
            has_default = true;
            continue;
        };
        failure::check_link(&path, (link, entry.number), graph, findings);
        let mut twice = false;
        for (node, port) in ports_of(link, entry.number, graph) {
            let end = &graph.node(node).ports[port.index()];
            twice |= !known.insert((node, port).min((end.peer, end.peer_port)));
        }
        if twice {
            let [a, b] = link;
            findings.error(
                &[&format!("{path}.link"), &path],
                format!("the errors of the link of `{a}` and `{b}` are described twice"),
                "write everything about it in one [[errors]]",
            );
        }
    }
    retries(settings, graph, largest_frame, findings);
    lines(settings, graph, findings);
    goes_together(settings, largest_frame, findings);
}

/// An entry for all links that no other names.
fn without_link(path: &str, entry: &LinkErrors, has_default: bool, findings: &mut Problems<'_>) {
    if has_default {
        findings.error(
            &[path],
            "two [[errors]] are for all links that no other names",
            "write a `link` in one of them, or leave it out",
        );
    }
    if !entry.frames.is_empty() {
        findings.error(
            &[&format!("{path}.frames"), path],
            "`frames` are numbers of what one node sends on a link, and there is no `link`",
            "write `link`, the sending node first, or a `bit_error_rate` in place of `frames`",
        );
    }
    if entry.number.is_some() {
        findings.error(
            &[&format!("{path}.number"), path],
            "`number` is that of one of several links between two nodes, and there is no `link`",
            "write `link`, or leave `number` out",
        );
    }
}

/// Whether replay buffers hold a frame and a loop, and whether timers wait for answers: for each entry, at its
/// neediest link.
fn retries(settings: &Document, graph: &Graph, largest_frame: u16, findings: &mut Problems<'_>) {
    let ends = errors::by_end(&settings.errors, graph);
    for (number, entry) in settings.errors.iter().enumerate() {
        let Some(retry) = &entry.retry else { continue };
        let of_entry = ends.iter().filter(|(_, place)| **place == number);
        let directions = || of_entry.clone().map(|(end, _)| errors::direction(graph, *end));
        let needs = |direction: Direction| (retry.needed(direction, largest_frame), direction);
        let longest = directions().map(|direction| retry.longest_loop(direction)).max();
        let neediest = directions().map(needs).max_by_key(|(needed, _)| *needed);
        let (Some((needed, direction)), Some(longest)) = (neediest, longest) else { continue };
        let path = |field: &str| format!("errors.{number}.retry.{field}");
        let frame = u64::from(largest_frame);
        match retry.buffer {
            Some(buffer) if buffer.0 < frame => findings.error(
                &[&path("buffer")],
                format!("the replay buffer ({buffer}) has no room for a frame of {frame}B"),
                format!(
                    "leave it out for {needed}, with which nothing waits for it, or raise it to at least one frame"
                ),
            ),
            Some(buffer) if buffer < needed => {
                let most = buffer.0 as f64 / (needed.0 - frame) as f64;
                findings.warn(
                    &[&path("buffer")],
                    format!(
                        "the replay buffer ({buffer}) is below {needed}, and a link of {} may carry as little as {:.0} % \
                         of its rate",
                        direction.rate,
                        100.0 * most.min(1.0)
                    ),
                    format!("raise it to {needed}, or leave it out for that"),
                );
            }
            _ => {}
        }
        check_timer(&path("timer"), retry, longest, findings);
    }
}

fn check_timer(path: &str, retry: &Retry, longest: Duration, findings: &mut Problems<'_>) {
    if let Some(timer) = retry.timer.filter(|timer| *timer < longest) {
        findings.error(
            &[path],
            format!("the replay timer ({timer}) expires before an answer can arrive ({longest})"),
            "raise it above that time, or leave it out for twice as long",
        );
    }
}

/// A retry is part of the line code of Ethernet. Lines of access networks have others, and some hold back frames.
fn lines(settings: &Document, graph: &Graph, findings: &mut Problems<'_>) {
    let ends = errors::by_end(&settings.errors, graph);
    for (number, line) in settings.line.iter().enumerate() {
        let of_line = ports_of(&line.link, line.number, graph);
        let place = of_line.iter().find_map(|end| ends.get(end));
        let Some(place) = place.filter(|place| settings.errors[**place].retry.is_some()) else {
            continue;
        };
        let [a, b] = &line.link;
        let what = if line.holds() {
            "a trace, a shaper or grants, which decide when frames leave"
        } else {
            "another framing or losses of its own"
        };
        findings.error(
            &[&format!("errors.{place}.retry"), &format!("line.{number}")],
            format!("the link of `{a}` and `{b}` has a retry, and is a [[line]] with {what}"),
            "leave out the [[line]], or write [[errors]] without [errors.retry] for this link",
        );
    }
}

/// Mechanisms whose state would be wrong for ever after a frame is lost.
fn goes_together(settings: &Document, largest_frame: u16, findings: &mut Problems<'_>) {
    let flow_control = &settings.switch.flow_control;
    let by_frame = [
        (flow_control.bfc.is_some(), "bfc", "Backpressure Flow Control", "what is paused"),
        (flow_control.cbfc.is_some(), "cbfc", "credit-based flow control", "the credit of a link"),
        (flow_control.drc.is_some(), "drc", "Directional Rate Control", "the rates of directions"),
    ];
    let Some((_, name, title, what)) = by_frame.into_iter().find(|(is_on, ..)| *is_on) else {
        return;
    };
    let field = format!("switch.flow_control.{name}");
    for (number, entry) in settings.errors.iter().enumerate() {
        let loss = entry.loss(largest_frame.into());
        if entry.frames.is_empty() && loss <= MOST_LOSS {
            continue;
        }
        let path = format!("errors.{number}");
        let help = match (entry.frames.is_empty(), enough(entry, largest_frame)) {
            (true, Some(count)) if count > 0 => {
                format!("write [errors.retry] with count = {count}, or switch `{field}` off")
            }
            _ => format!("leave out [[errors]], or switch `{field}` off"),
        };
        findings.error(
            &[&format!("{path}.retry.count"), &format!("{path}.bit_error_rate"), &path, &field],
            format!(
                "frames may be lost to bit errors, and with {title} {what} is wrong for ever after a loss"
            ),
            help,
        );
    }
}

/// Probability of a loss above which hardly anything arrives.
const MOST_USUAL: f64 = 0.5;

/// Probability of a loss that no run of a simulator meets.
const MOST_LOSS: f64 = 1e-12;

/// The least count of a retry with which losses are rarer than that.
fn enough(entry: &LinkErrors, largest_frame: u16) -> Option<u32> {
    (0..=20).find(|&count| {
        let retry = Some(Retry { count, ..Retry::default() });
        LinkErrors { retry, ..entry.clone() }.loss(largest_frame.into()) <= MOST_LOSS
    })
}

//! Tables on the page.

use std::fmt::Write;

use super::Page;
use super::r#type::set;
use crate::chart::{LOOKS, escape};
use crate::entries;
use crate::latency;
use crate::operations;
use crate::statistics::NoInterval;
use crate::summary::{Counter, Measure};
use crate::throughput::{self, Shown};
use crate::words;

/// A variant's name with its colour.
pub(super) fn key(series: usize, name: &str) -> String {
    format!("<span class=\"key c{}\"></span>{}", series % LOOKS, escape(name))
}

/// A mean with its interval below, or with why it has none.
pub(super) fn cell(measure: &Measure, unit: &str, bound: &str) -> String {
    let Some(mean) = measure.estimate.mean else {
        return "<td class=\"muted\">–</td>".to_string();
    };
    let why = |why: NoInterval| format!(" title=\"no interval: {}\"", escape(&why.to_string()));
    let title = measure.estimate.no_interval.map_or_else(String::new, why);
    let range = match range(measure, unit) {
        range if range.is_empty() => range,
        range => format!("<span class=\"range\"{title}>{range}</span>"),
    };
    format!("<td>{bound}{}{range}</td>", set(&words::quantity(mean, unit)))
}

/// The interval of a measure, `[41.6, 43.4]`, or in brief why it has none; empty of one replication, which
/// the page says once.
pub(super) fn range(measure: &Measure, unit: &str) -> String {
    let estimate = &measure.estimate;
    match (estimate.mean.zip(estimate.interval()), estimate.no_interval) {
        (Some((mean, ends)), _) => set(&words::range(mean, ends, unit)),
        (None, Some(NoInterval::OneReplication) | None) => String::new(),
        (None, Some(why)) => set(&why.brief()),
    }
}

/// A mean with its change below.
fn cell_with_change(counter: &Counter) -> String {
    let Some(mean) = counter.measure.estimate.mean else {
        return "<td class=\"muted\">–</td>".to_string();
    };
    let nothing = counter.measure.change.is_none_or(|change| words::beside(&change) == "none");
    let below = match counter.measure.change {
        Some(change) if !nothing => {
            format!("<span class=\"range\">{}</span>", set(&words::beside(&change)))
        }
        _ => String::new(),
    };
    let tooltip = escape(&words::estimate(&counter.measure, &counter.unit));
    format!("<td title=\"{tooltip}\">{}{below}</td>", set(&words::quantity(mean, &counter.unit)))
}

impl Page<'_> {
    /// What the network delivers and how long packets take, what flows without a size get and how
    /// long packets wait, where that is known.
    pub(super) fn throughputs(&self, text: &mut String) {
        self.groups(
            "How much is delivered, and how long do packets take?",
            [
                ("delivered", latency::delivered(self.summary)),
                ("time from memory to memory", latency::all(self.summary)),
            ],
            "Latencies are from leaving the memory of the source with the first byte to the last \
             byte in that of the destination; percentiles are up to 1.6&nbsp;% high.",
            text,
        );
        self.groups(
            "How long do calls and collectives take?",
            [
                ("time", operations::times_of(self.summary)),
                ("completed", operations::rates_of(self.summary)),
            ],
            "A call is complete when its response has arrived, a collective when all of its messages \
             have; times are of those that began after the warm-up.",
            text,
        );
        self.groups(
            "What do flows without a size get, and how long do packets wait?",
            [
                ("mean goodput per flow", throughput::goodputs_of(self.summary)),
                ("response time of database entries", entries::responses_of(self.summary)),
                ("throughput of database entries", entries::throughputs_of(self.summary)),
                ("time in queues", throughput::waits_of(self.summary)),
            ],
            "Times in queues are those of the port at which packets wait most in all.",
            text,
        );
    }

    /// A table of such numbers in groups, if there are any.
    fn groups<const N: usize>(
        &self,
        heading: &str,
        groups: [(&str, Vec<Shown>); N],
        note: &str,
        text: &mut String,
    ) {
        if groups.iter().all(|(_, shown)| shown.is_empty()) {
            return;
        }
        let _ =
            write!(text, "<h2>{heading}</h2>\n<div class=\"scroll\"><table>\n<thead><tr><th></th>");
        for (series, name) in self.summary.order.iter().enumerate() {
            let _ = write!(text, "<th>{}</th>", key(series, name));
        }
        *text += "</tr></thead>\n<tbody>\n";
        for (label, shown) in groups.into_iter().filter(|(_, shown)| !shown.is_empty()) {
            let span = self.summary.order.len() + 1;
            let _ = writeln!(text, "<tr class=\"group\"><td colspan=\"{span}\">{label}</td></tr>");
            for shown in shown {
                let _ = write!(text, "<tr><td>{}</td>", set(&shown.label));
                for variant in &self.summary.order {
                    *text += &self.counter_cell(variant, &shown.key);
                }
                *text += "</tr>\n";
            }
        }
        let _ = writeln!(
            text,
            "</tbody></table></div>\n<p class=\"muted small\">Means over replications, {}; below \
             them the change from the baseline. {note}</p>",
            self.within()
        );
    }

    /// Over which interval counters are taken, in words.
    pub(super) fn within(&self) -> String {
        match self.summary.interval() {
            Some(interval) => format!("measured interval {}", set(&interval)),
            None => {
                let of = |name: &String| {
                    let interval = self.summary.variants.get(name)?.interval?;
                    Some(format!("{} of {}", set(&words::interval(&interval)), escape(name)))
                };
                let all: Vec<String> = self.summary.order.iter().filter_map(of).collect();
                format!("measured intervals {}", all.join(", "))
            }
        }
    }

    fn counter_cell(&self, variant: &str, name: &str) -> String {
        self.summary
            .counter(variant, name)
            .map_or_else(|| "<td class=\"muted\">–</td>".to_string(), cell_with_change)
    }

    /// Every number about whole runs; of those that are 0 everywhere the names.
    pub(super) fn counters(&self, text: &mut String) {
        let mut names: Vec<(&String, &Counter)> =
            self.summary.variants.values().flat_map(|variant| &variant.counters).collect();
        names.sort_by_key(|(name, _)| *name);
        names.dedup_by_key(|(name, _)| *name);
        if names.is_empty() {
            return;
        }
        let nothing = |(name, _): &(&String, &Counter)| {
            let mean = |of: &String| self.summary.counter(of, name)?.measure.estimate.mean;
            self.summary.order.iter().filter_map(mean).all(|mean| mean == 0.0)
        };
        let (nothing, names): (Vec<_>, Vec<_>) = names.into_iter().partition(nothing);
        *text +=
            "<h2>What else was counted?</h2>\n<p class=\"muted small\">Means over replications, ";
        *text += &self.within();
        *text += "; below them the change from the baseline with its 95&nbsp;% confidence \
                  interval.</p>\n<div class=\"scroll\"><table>\n<thead><tr><th>per run</th>";
        for (series, name) in self.summary.order.iter().enumerate() {
            let _ = write!(text, "<th>{}</th>", key(series, name));
        }
        *text += "</tr></thead>\n<tbody>\n";
        for (name, counter) in names {
            let _ = write!(
                text,
                "<tr><td class=\"wrap\"><code>{}</code><span class=\"range\" \
                 style=\"white-space:normal\">{}</span></td>",
                escape(name),
                set(&counter.meaning)
            );
            for variant in &self.summary.order {
                *text += &self.counter_cell(variant, name);
            }
            *text += "</tr>\n";
        }
        *text += "</tbody></table></div>\n";
        if !nothing.is_empty() {
            let names: Vec<String> =
                nothing.iter().map(|(name, _)| format!("<code>{}</code>", escape(name))).collect();
            let _ = writeln!(
                text,
                "<details class=\"small\"><summary>{} more that are 0 in every variant</summary>\
                 <p>{}</p></details>",
                names.len(),
                names.join(", ")
            );
        }
    }
}

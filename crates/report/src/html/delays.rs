//! The section about what flows spend their time on.

use super::r#type::set;
use super::{Figure, Legend, Page, tables};
use crate::chart::spans::{Span, Spans};
use crate::chart::{Axis, escape};
use crate::why::{Digest, Flow, chart, kind};
use crate::words;

fn time(ps: u64) -> String {
    words::time(ps as f64 / 1e3)
}

impl Page<'_> {
    fn digests(&self) -> Vec<(usize, &String, &Digest)> {
        let variants = self.summary.order.iter().enumerate();
        variants
            .filter_map(|(series, name)| Some((series, name, self.experiment.why(series)?)))
            .collect()
    }

    /// What flows spend their time on, if it was explained.
    pub(super) fn delays(&self, text: &mut String) {
        let digests = self.digests();
        if digests.is_empty() {
            return;
        }
        *text += "<h2 id=\"delays\">Where does the time go?</h2>\n";
        let about: Vec<String> = digests
            .iter()
            .map(|(_, name, digest)| match digest.flows {
                (some, all) if some >= all => format!("{name}: all {all} measured flows"),
                (some, all) => format!("{name}: {some} of {all} measured flows"),
            })
            .collect();
        let caption = "What do flows spend their time on, by flow size?";
        let note = format!(
            "Mean completion time in the first replication, partitioned without gap or overlap. {}. Bars of one \
             size have one scale.",
            about.join("; ")
        );
        let figure =
            Figure::new("delays", caption).legend(Legend::swatches(&chart::names())).note(&note);
        let labels: Vec<&str> = self.summary.classes.iter().map(|class| &*class.label).collect();
        let of: Vec<(&str, &Digest)> =
            digests.iter().map(|(_, name, digest)| (name.as_str(), *digest)).collect();
        *text += &figure.stacks(&chart::stacks(caption, &of, &labels));
        self.roots(text, &digests);
        let charts: Vec<Spans> =
            digests.iter().filter_map(|(_, name, digest)| slowest(name, digest)).collect();
        if !charts.is_empty() {
            let caption = "When and where did the slowest flow lose its time?";
            let note = "Of the explained flows, the one with the largest slowdown. Each row is an egress port on \
                        its path, from the source at the top; what happens while a window is full is shown where it \
                        happens, acknowledgements included.";
            let legend = Legend::swatches(&chart::names());
            *text += &Figure::new("slowest-flow", caption).legend(legend).note(note).spans(&charts);
        }
    }

    /// The queues because of which others are paused.
    fn roots(&self, text: &mut String, digests: &[(usize, &String, &Digest)]) {
        if digests.iter().all(|(_, _, digest)| digest.roots.is_empty()) {
            return;
        }
        *text += "<h3>Which queues cause the pauses?</h3>\n<p>A queue that is paused itself passes the blame on to \
                  the queue that paused it. The root of a pause is the queue at the end of this chain.</p>\n\
                  <div class=\"scroll\"><table>\n<thead><tr><th>root</th><th>pauses</th><th>paused<br>for</th>\
                  <th>longest<br>chain</th><th>flows<br>delayed</th><th>their time<br>lost</th><th>most bytes in \
                  the queue</th><th>first</th></tr></thead>\n<tbody>\n";
        for (series, name, digest) in digests {
            let key = tables::key(*series, name);
            *text += &format!("<tr class=\"group\"><td colspan=\"8\">{key}</td></tr>\n");
            for (root, flow) in &digest.roots {
                let first = root.first as f64 / 1e3;
                let first = match self.plays() {
                    true => format!(
                        "<a href=\"#playback\" data-play-ns=\"{first:.0}\">{}</a>",
                        set(&words::time(first))
                    ),
                    false => set(&words::time(first)),
                };
                *text += &format!(
                    "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{first}</td></tr>\n",
                    escape(&root.port.to_string()),
                    words::count(root.pauses as f64),
                    set(&time(root.total)),
                    root.depth,
                    root.victims.len(),
                    set(&time(root.lost)),
                    escape(flow),
                );
            }
            let more = digest.all_roots - digest.roots.len();
            if more > 0 {
                *text +=
                    &format!("<tr><td colspan=\"8\" class=\"muted\">and {more} more</td></tr>\n");
            }
            if digest.roots.is_empty() {
                *text += "<tr><td colspan=\"8\" class=\"muted\">nothing was paused</td></tr>\n";
            }
        }
        *text += "</tbody>\n</table></div>\n";
    }
}

/// The slowest flow of a variant over time.
fn slowest(variant: &str, digest: &Digest) -> Option<Spans> {
    let (flow, name) = digest.slowest.as_ref()?;
    let ports = path(flow);
    let span = |part: &crate::why::Part| {
        let row = ports.iter().position(|port| *port == part.port.to_string())?;
        let ends = [part.from, part.to].map(|at| at.saturating_sub(flow.start) as f64 / 1e3);
        let length = words::time(part.time() as f64 / 1e3);
        let cause = match (&part.root, part.cause) {
            (Some(root), _) => format!(" because of {root}"),
            (None, Some(cause)) => format!(", flow {cause}"),
            (None, None) => String::new(),
        };
        let tooltip = super::plain(&format!("{}{cause}: {length}", part.delay.words()));
        Some(Span { row, ends: (ends[0], ends[1]), kind: kind(part.delay), tooltip })
    };
    Some(Spans {
        title: format!("The slowest explained flow of {variant} over time, by port"),
        heading: super::plain(&format!(
            "{variant}: {name}, {} to {}, {}, {:.1} times the ideal",
            flow.ends.0,
            flow.ends.1,
            words::bytes(flow.bytes as f64),
            flow.slowdown
        )),
        spans: flow.parts.iter().filter_map(span).collect(),
        rows: ports,
        names: chart::names(),
        axis: Axis::linear("time since its start", "ns").within(0.0, flow.fct as f64 / 1e3),
    })
}

/// The ports of a flow in the order in which they first occur, those that lead back to its source last.
fn path(flow: &Flow) -> Vec<String> {
    let mut ports: Vec<String> = Vec::new();
    for part in &flow.parts {
        let port = part.port.to_string();
        if !ports.contains(&port) {
            ports.push(port);
        }
    }
    ports
}

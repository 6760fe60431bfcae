//! The section that plays the record of a run back: a picture of one sample, and for the script all
//! samples of every variant.

pub(super) mod stage;
mod still;

use floodway_machine::printable;
use maud::{Markup, PreEscaped, html};
use serde_json::{Value, json};

use super::Page;
use super::figure::{packed, packed_bytes};
use super::section::Section;
use super::r#type::{raw, set};
use crate::evidence::WIDE;
use crate::recording::fabric::MOST_ENDS;
use crate::recording::{
    Cell, Fabric, LEVELS_PER_DOUBLING, MOST_SAMPLES, Recording, SMALLEST, Total,
};
use crate::words;
use stage::{BAR, Stage};
use still::{FLOOR, PAUSES, STEPS};

/// The scripts: what reads the record from the page, and what plays it.
pub const SCRIPTS: [&str; 5] = [
    include_str!("recording.js"),
    include_str!("marks.js"),
    include_str!("network.js"),
    include_str!("matrix.js"),
    include_str!("playback.js"),
];
/// How it looks.
pub const STYLE: &str = include_str!("playback.css");

/// More variants are not played back: the page would be too large.
const MOST_VARIANTS: usize = 8;

impl Page<'_> {
    /// The recordings that are shown, with the places of their variants.
    fn recordings(&self) -> Vec<(usize, &Recording)> {
        let variants = 0..self.summary.order.len();
        let all = variants.filter_map(|at| Some((at, self.experiment.recording(at)?)));
        all.take(MOST_VARIANTS).collect()
    }

    /// Whether there is something to play back.
    pub(super) fn plays(&self) -> bool {
        !self.recordings().is_empty()
    }

    /// The fabric over time; nothing without a record.
    pub(super) fn playback(&self) -> Option<Section> {
        let mut section = Section::new("congestion", "Congestion over time");
        let all = self.recordings();
        if all.is_empty() {
            if self.experiment.too_large_to_draw() {
                section.text(html! {
                    p {
                        "The runs were recorded, but a network with more than " (words::count(MOST_ENDS as f64))
                        " ports is not drawn: the tables " code { "samples" } ", " code { "backlogs" } " and "
                        code { "pause_intervals" } " have what happened."
                    }
                });
            }
            return Some(section);
        }
        let deepest = all.iter().flat_map(|(_, recording)| &recording.cells);
        let deepest = deepest.map(|cell| cell.depth).max().unwrap_or(0);
        section.text(html! {
            div.playback #playback {
                (self.reading(&all))
                (legend(&all, deepest))
                (self.picture(&all, deepest))
                template.scene { (packed(&self.scene(&all, deepest).to_string())) }
                @for (_, recording) in &all { template.cells { (packed_bytes(&recording.bytes())) } }
            }
        });
        Some(section)
    }

    /// What is shown, and what is not.
    fn reading(&self, all: &[(usize, &Recording)]) -> Markup {
        let (_, first) = all[0];
        let mut notes = Vec::new();
        if all.iter().any(|(_, recording)| recording.fabric.bundles()) {
            notes.push(
                "There are too many hosts to draw each: those of a switch are one bundle, whose links \
                 are shown as one, with the mean of how busy they are, the deepest of their queues and \
                 the longest of their pauses."
                    .to_string(),
            );
        }
        if first.every > 1 {
            notes.push(format!(
                "Every {} sample of the record is shown, {} of at most {MOST_SAMPLES}; what links did \
                 between them is in the sums. The table samples has all of them.",
                ordinal(first.every),
                first.samples
            ));
        }
        let recorded = (0..self.summary.order.len())
            .filter(|&at| self.experiment.recording(at).is_some())
            .count();
        if recorded > all.len() {
            notes.push(format!(
                "Shown are the first {} of {recorded} variants that were recorded.",
                all.len()
            ));
        }
        html! {
            p {
                "The fabric over time, in the first replication: hosts at the bottom, switches above them by tier. The \
                 half of a link that is next to a node shows what that node sends. Utilization and pause time cover the \
                 interval since the previous sample; queue depth is the value at the sample."
            }
            @for (at, recording) in all {
                @if let Some(ns) = recording.deadlock_ns {
                    p {
                        (raw(&self.summary.order[*at])) ": ports have waited for each other in a cycle since "
                        a href="#playback" data-play-ns=(format!("{ns:.0}")) { (set(&words::time(ns))) }
                        ". The playback ends soon after the last frame that moves."
                    }
                }
            }
            @if !notes.is_empty() { p.small.muted { (set(&notes.join(" "))) } }
        }
    }

    /// The sample that shows most, of all variants.
    fn picture(&self, all: &[(usize, &Recording)], deepest: u8) -> Markup {
        let worst = |(at, recording): &(usize, &Recording)| {
            let (sample, much) = recording.worst();
            (*at, sample, much)
        };
        let most = all.iter().map(worst).max_by(|(a, _, (paused, waits)), (b, _, other)| {
            // Of variants alike the first.
            paused.total_cmp(&other.0).then(waits.cmp(&other.1)).then(b.cmp(a))
        });
        let (at, sample, (paused, _)) = most.expect("there is one");
        let recording = self.experiment.recording(at).expect("it is among them");
        let (name, total) = (&self.summary.order[at], &recording.totals[sample]);
        let time = words::time(recording.time_ns(sample));
        let why = if paused > 0.0 { "most is paused" } else { "most waits" };
        let caption = format!("{name} at {time}, the sample at which {why}");
        let note = format!("{}.", told(total));
        let title = format!("The fabric of {caption}: {}", told(total));
        let drawn = still::svg(recording, sample, deepest, WIDE, &title);
        html! {
            figure.still {
                figcaption { (set(&caption)) }
                div.sideways tabindex="0" { (PreEscaped(drawn)) }
                p { (set(&note)) }
            }
        }
    }

    /// What the script needs to know besides the samples.
    fn scene(&self, all: &[(usize, &Recording)], deepest: u8) -> Value {
        let mut fabrics: Vec<&Fabric> = Vec::new();
        let mut variants = Vec::new();
        for (at, recording) in all {
            let known = fabrics.iter().position(|fabric| **fabric == recording.fabric);
            if known.is_none() {
                fabrics.push(&recording.fabric);
            }
            let column =
                |of: fn(&Total) -> u64| -> Vec<u64> { recording.totals.iter().map(of).collect() };
            variants.push(json!({
                "name": printable::line(&self.summary.order[*at]),
                "fabric": known.unwrap_or(fabrics.len() - 1),
                "first": recording.first_ns,
                "interval": recording.interval_ns,
                "samples": recording.samples,
                "worst": recording.worst().0,
                "paused": column(|total| total.paused.into()),
                "roots": column(|total| total.roots.into()),
                "backlog": column(|total| total.backlog),
            }));
        }
        let (worst, _) =
            all.iter().enumerate().fold((0, (-1.0, 0)), |most, (at, (_, recording))| {
                let (_, much) = recording.worst();
                if much.0 > most.1.0 || much.0 == most.1.0 && much.1 > most.1.1 {
                    (at, much)
                } else {
                    most
                }
            });
        json!({
            "fabrics": fabrics.iter().map(|fabric| geometry(fabric)).collect::<Vec<_>>(),
            "variants": variants,
            "worst": worst,
            "deepest": deepest,
            "floor": FLOOR,
            "bar": BAR,
            "smallest": SMALLEST,
            "perDoubling": LEVELS_PER_DOUBLING,
            "steps": STEPS,
            "pauses": PAUSES,
        })
    }
}

/// Where things lie: across as shares of the width, up and down in pixels.
fn geometry(fabric: &Fabric) -> Value {
    let stage = Stage::of(fabric);
    let place = |x: f64| libm::round(x * 1e5) / 1e5;
    let rows: Vec<Value> = fabric
        .rows
        .iter()
        .zip(&stage.rows)
        .map(|(name, (y, height))| json!([printable::line(name), y, height]))
        .collect();
    let nodes: Vec<Value> = fabric
        .nodes
        .iter()
        .map(|node| {
            let (x, width) = (place(node.x), place(node.width));
            let (name, label) = (printable::line(&node.name), printable::line(&node.label));
            json!([name, label, node.row, x, width, node.hosts])
        })
        .collect();
    let ends: Vec<Value> = fabric
        .ends
        .iter()
        .map(|end| {
            let (x, top) = (place(end.x), u8::from(end.top));
            json!([end.node, end.port, end.peer, end.back, x, top, end.links])
        })
        .collect();
    json!({ "height": stage.height, "rows": rows, "nodes": nodes, "ends": ends })
}

/// What a whole fabric does at a sample.
fn told(total: &Total) -> String {
    let many = |many: u32, one: &str, more: &str| match many {
        0 => format!("no {one}"),
        1 => format!("1 {one}"),
        many => format!("{} {more}", words::count(f64::from(many))),
    };
    let roots = match total.paused {
        0 => String::new(),
        _ => format!(", {}", many(total.roots, "root of pauses", "roots of pauses")),
    };
    format!(
        "{}{roots}, {} waiting",
        many(total.paused, "port paused", "ports paused"),
        words::bytes(total.backlog as f64)
    )
}

fn ordinal(number: usize) -> String {
    match number {
        2 => "second".to_string(),
        3 => "third".to_string(),
        many => format!("{many}th"),
    }
}

/// What lines, bars and marks mean.
fn legend(all: &[(usize, &Recording)], deepest: u8) -> Markup {
    let paused = all.iter().any(|(_, of)| of.totals.iter().any(|total| total.paused > 0));
    let deepest = Cell { depth: deepest, ..Default::default() }.backlog();
    let sample = |width: usize, drawn: Markup| {
        html! { svg width=(width) height="14" aria-hidden="true" { (drawn) } }
    };
    let path = |class: &str, d: &str| html! { path class=(class) d=(d) {} };
    html! {
        ul.legend {
            li {
                (sample(14 * (STEPS + 1), html! {
                    @for step in 0..=STEPS { (path(&format!("busy b{step}"), &format!("M{} 6h14", 14 * step))) }
                }))
                "link, idle to 100 % busy"
            }
            @if deepest > 0.0 {
                li {
                    (sample(17, path("queue", "M3 13v-3M8 13v-6M13 13v-12")))
                    "queue at the port that sends, up to " (set(&words::bytes(deepest))) " (logarithmic from 1 KB)"
                }
            }
            @if paused {
                li {
                    (sample(45, html! {
                        @for step in 1..=PAUSES {
                            (path(&format!("paused p{step}"), &format!("M{} 7h15", 15 * (step - 1))))
                        }
                    }))
                    "paused: may not send; the bolder the longer"
                }
                li {
                    (sample(26, html! { rect.node.pauses x="1" y="2" width="24" height="10" rx="3" {} }))
                    "switch that pauses a neighbor"
                }
                li {
                    (sample(14, path("root", "M7 2l5 5l-5 5l-5-5z")))
                    "root: deepest queue of such a switch, at a port that may send; pauses spread from there"
                }
            }
            @if all.iter().any(|(_, recording)| recording.holds()) {
                li {
                    (sample(12, path("held", "M2.5 7a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0")))
                    "held: some of its queues, directions or destinations may not be sent"
                }
            }
        }
    }
}

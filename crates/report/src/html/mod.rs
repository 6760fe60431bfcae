//! The page that explains the results: one file that opens offline, without a request to anywhere.
//! Charts are still pictures with their numbers beside them, from which a script draws line charts
//! again, to be explored. Without scripts the page is whole, and so it is on paper.
//!
//! - `top`: what was simulated, the answer, and how sure it is
//! - `section`: sections, their anchors, and the list of contents
//! - `figure`: charts with their caption, legend and numbers
//! - `embedded`: the results alone, for a page of others that runs the scenario
//! - the other modules: a section or two each

mod completion;
mod deadlocks;
mod delays;
mod embedded;
mod figure;
mod host_ports;
mod jobs;
mod links;
mod load;
mod memory;
mod network;
mod overlay;
mod pages;
mod playback;
mod profiles;
mod provenance;
mod rates;
mod responses;
mod section;
mod sketch;
mod slowdown;
mod study;
mod sweep;
mod tables;
mod top;
mod r#type;
mod video;
mod waits;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use floodway_machine::printable;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use crate::chart;
use crate::{Ending, Experiment, Manifest, Run, Status, Summary};
pub use embedded::embedded;
pub use figure::Drawn;
pub use overlay::{Overlay, lay_over, read_points};
pub use study::{drawn, study};
pub use sweep::sweep;

use figure::{Figure, Legend};
pub(crate) use provenance::{shell, typed};
use section::{Section, contents};
pub(crate) use r#type::plain;
use r#type::with_code;

/// How wide a chart is on a narrow screen.
const NARROW: f64 = 360.0;

/// What the sections are made from.
pub(crate) struct Page<'a> {
    manifest: &'a Manifest,
    summary: &'a Summary,
    experiment: &'a Experiment,
}

/// What kind of question a run answers, by what it measured: which sections matter, in which order.
/// All others follow, folded.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// Jobs: how long they take, and for how long their ranks wait.
    Job,
    /// Flows with a size: how long they take.
    Completion,
    /// Flows without: what they get, and how long their packets wait.
    Access,
    /// Hosts that send as fast as they can: what the network delivers.
    Capacity,
}

impl Kind {
    const fn sections(self) -> &'static [&'static str] {
        match self {
            Self::Job => &[
                "deadlocks",
                "operations",
                "ranks",
                "host-ports",
                "latency-under-load",
                "slowdown",
                "fct",
                "fct-distribution",
                "delays",
                "throughput",
                "goodput",
                "latency",
                "rates",
                "responses",
                "congestion",
                "pauses",
                "losses",
                "utilization",
                "queues",
                "occupancy",
            ],
            Self::Completion => &[
                "deadlocks",
                "latency-under-load",
                "slowdown",
                "fct",
                "fct-distribution",
                "delays",
                "operations",
                "ranks",
                "throughput",
                "goodput",
                "latency",
                "rates",
                "responses",
                "congestion",
                "pauses",
                "losses",
                "host-ports",
                "utilization",
                "queues",
                "occupancy",
            ],
            Self::Access => &[
                "deadlocks",
                "latency-under-load",
                "web-pages",
                "adaptive-video",
                "latency",
                "goodput",
                "rates",
                "responses",
                "throughput",
                "operations",
                "ranks",
                "delays",
                "losses",
                "pauses",
                "congestion",
            ],
            Self::Capacity => &[
                "deadlocks",
                "throughput",
                "responses",
                "operations",
                "ranks",
                "delays",
                "pauses",
                "losses",
                "queues",
                "occupancy",
                "congestion",
                "host-ports",
                "utilization",
            ],
        }
    }
}

/// The page. Of the manifest it shows what was run; of the summary the numbers; of the experiment
/// the shapes.
pub fn page(manifest: &Manifest, summary: &Summary, experiment: &Experiment) -> String {
    page_with(manifest, summary, experiment, &[]).expect("there are no points")
}

/// The page with points of others laid over its charts. Fails with what is wrong if they cannot be.
pub fn page_with(
    manifest: &Manifest,
    summary: &Summary,
    experiment: &Experiment,
    points: &[Overlay],
) -> Result<String, String> {
    let page = Page { manifest, summary, experiment };
    let scripts: &[&str] = if page.plays() { &playback::SCRIPTS } else { &[] };
    let claimed = (!summary.claims.is_empty()).then_some(study::STYLE);
    let style: Vec<&str> =
        page.plays().then_some(playback::STYLE).into_iter().chain(claimed).collect();
    let mut sections = page.sections();
    let mut figures: Vec<&mut Drawn> = sections.iter_mut().flat_map(Section::figures_mut).collect();
    points.iter().try_for_each(|of| lay_over(&mut figures, of))?;
    let name = &manifest.scenario.name;
    let body = html! {
        (page.head())
        (contents(sections.iter().map(Section::entry)))
        main { @for section in &sections { (section.html()) } }
        footer {
            "Made by floodway. This page is one file and needs nothing else; the tables behind it are in the \
             same folder, and " code { "dictionary.md" } " says what their columns mean."
        }
    };
    Ok(document((name, name), &summary.order, (&style, scripts), body))
}

/// The figures of that page, in its order.
pub fn figures(manifest: &Manifest, summary: &Summary, experiment: &Experiment) -> Vec<Drawn> {
    let sections = Page { manifest, summary, experiment }.sections();
    sections.into_iter().flat_map(Section::into_figures).collect()
}

/// The figures of a page about one run alone. The manifest has its variant.
pub fn figures_of_run(manifest: &Manifest, run: &Run) -> Vec<Drawn> {
    let variants = manifest.variants.iter().filter(|variant| variant.name == run.variant);
    let manifest = Manifest {
        variants: variants.cloned().collect(),
        runs: Vec::new(),
        replications: 1,
        ..manifest.clone()
    };
    let mut experiment = Experiment::new(&manifest);
    experiment.add_run(run);
    let ending = Ending { status: Status::Complete, wall_s: run.wall_s, peak_rss_bytes: None };
    figures(experiment.manifest(), &experiment.summary(&ending), &experiment)
}

/// What pages do beyond what they show, and `more` that one does: each source is a script of its own,
/// and no other script may run on the page.
fn scripts<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&[LIBRARY, include_str!("live.js"), include_str!("save.js")], more].concat()
}

/// uPlot 1.6.32 (MIT license, beside the file), with which `live.js` draws.
pub const LIBRARY: &str = include_str!("uplot/uPlot.iife.min.js");

/// The style of uPlot.
pub const LIBRARY_STYLE: &str = include_str!("uplot/uPlot.min.css");

/// The hash by which a page's policy knows a script (CSP Level 3, section 2.3.1).
fn hash(script: &str) -> String {
    format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(script)))
}

/// A whole page, with more style and more scripts than all pages have. Names of files that it saves
/// begin with `name`; its variants can be hidden.
fn document(
    (title, name): (&str, &str),
    variants: &[String],
    (style, more): (&[&str], &[&str]),
    body: Markup,
) -> String {
    let scripts = scripts(more);
    let hashes: Vec<String> = scripts.iter().map(|script| hash(script)).collect();
    let policy =
        format!("default-src 'none'; style-src 'unsafe-inline'; script-src {}", hashes.join(" "));
    let styles = [chart::STYLE, LIBRARY_STYLE, include_str!("style.css"), &style.concat()];
    let variants: Vec<_> = variants.iter().map(|name| plain(name)).collect();
    let some = (!variants.is_empty()).then(|| serde_json::json!(variants).to_string());
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                // Its quotes are what a browser compares, so they are not escaped.
                (PreEscaped(format!(
                    "<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">"
                )))
                title { (r#type::raw(title)) " · floodway" }
                style { (PreEscaped(styles.concat())) }
            }
            body data-name=(slug(name)) data-variants=[some] {
                (body)
                template #chart-style { (chart::style()) }
                @for script in scripts { script { (PreEscaped(script)) } }
            }
        }
    };
    // Whatever a template passed on as it was: no control characters.
    printable::text(&page.into_string()).into_owned()
}

/// A text as a part of a file's name: other characters than letters, digits, points and underscores
/// become hyphens.
fn slug(text: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "._".contains(letter);
    let letters = text.chars().map(|letter| if plain(letter) { letter } else { '-' });
    let hyphens: String = letters.collect();
    hyphens.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}

/// A box with a list in it, for what a reader must know first; nothing if there is nothing.
fn notice(urgent: bool, words: &str, list: &[String]) -> Markup {
    html! {
        @if !list.is_empty() {
            div.alarm[urgent].note[!urgent] role=[urgent.then_some("alert")] {
                (words)
                ul { @for item in list { li { (with_code(item)) } } }
            }
        }
    }
}

impl Page<'_> {
    /// All sections that have something to show: those that matter first, then the others, folded.
    fn sections(&self) -> Vec<Section> {
        let mut all = self.results();
        let order = self.kind().sections();
        let place = |section: &Section| order.iter().position(|id| *id == section.id());
        all.sort_by_key(|section| place(section).unwrap_or(usize::MAX));
        let folded = |section: Section| match place(&section) {
            Some(_) => section,
            None => section.folded(),
        };
        let last = [self.guide(), self.scenario(), self.device_profiles(), self.provenance()];
        let last = last.into_iter().filter(|section| !section.is_empty());
        let all = all.into_iter().chain(last).map(folded);
        self.claims().into_iter().chain(all).collect()
    }

    /// The sections of results that have something to show.
    fn results(&self) -> Vec<Section> {
        let flows = |section: fn(&Self) -> Option<Section>| {
            self.summary.has_flows().then(|| section(self)).flatten()
        };
        [
            flows(Self::slowdown),
            flows(Self::times),
            flows(Self::distributions),
            self.deadlocks(),
            self.latency_under_load(),
            self.voice(),
            self.web_pages(),
            self.videos(),
            self.delays(),
            self.operations(),
            self.ranks(),
            self.throughput(),
            self.goodput(),
            self.waits(),
            self.rates(),
            self.responses(),
            self.playback(),
            self.pauses(),
            self.drops(),
            self.host_ports(),
            self.busy_links(),
            self.queues(),
            self.occupancy(),
            self.counters(),
        ]
        .into_iter()
        .flatten()
        .filter(|section| !section.is_empty())
        .collect()
    }

    /// What the scenario claims, right after the answer.
    fn claims(&self) -> Option<Section> {
        let claims = &self.summary.claims;
        let mut section = Section::new("claims", "Claims");
        section.text(study::claims::of_run(claims));
        (!claims.is_empty()).then_some(section)
    }

    fn kind(&self) -> Kind {
        let has = |part: &str| {
            let of = |name: &String| name.ends_with(part);
            self.summary.variants.values().any(|variant| variant.counters.keys().any(of))
        };
        match () {
            () if has("_mean_exposed_ns") => Kind::Job,
            () if self.summary.has_flows() => Kind::Completion,
            () if has("_goodput_bps")
                || has("_rtt_ns")
                || has("_page_load_ns")
                || has("_video_bitrate_bps")
                || has("_mean_sojourn_ns") =>
            {
                Kind::Access
            }
            () => Kind::Capacity,
        }
    }

    /// Every variant's name with its look, for charts that do not label each mark.
    fn legend(&self) -> Legend {
        Legend::variants(self.summary.order.iter().cloned().enumerate().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_known_by_its_hash() {
        // The example of CSP Level 3, section 8.3, and what FIPS 180-4 has for `abc`.
        assert_eq!(
            hash("alert('Hello, world.');"),
            "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='"
        );
        assert_eq!(hash("abc"), "'sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0='");
    }

    #[test]
    fn scripts_cannot_be_ended_by_their_own_text() {
        for script in scripts(&playback::SCRIPTS) {
            assert!(!script.contains("</script") && !script.contains("<!--"));
        }
    }

    #[test]
    fn names_of_files_are_plain() {
        assert_eq!(slug("ci-lossless"), "ci-lossless");
        assert_eq!(slug("a/b: <c> v1.2_x"), "a-b-c-v1.2_x");
    }
}

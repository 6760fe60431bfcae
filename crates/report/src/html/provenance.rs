//! Where the numbers come from: the scenario and the circumstances.

use maud::{Markup, html};

use super::Page;
use super::section::Section;
use super::r#type::{raw, set};
use crate::words;

impl Page<'_> {
    /// The scenario as its file states it.
    pub(super) fn scenario(&self) -> Section {
        let scenario = &self.manifest.scenario;
        let file = if scenario.file.is_empty() { "the scenario" } else { &scenario.file };
        let mut section = Section::new("scenario", "Scenario").folded();
        if scenario.text.is_empty() && scenario.files.is_empty() && scenario.overrides.is_empty() {
            return section;
        }
        section.text(html! {
            @if !scenario.text.is_empty() {
                p { code { (raw(file)) } }
                pre { (raw(&scenario.text)) }
            }
            @for file in &scenario.files {
                p { "It names " code { (raw(&file.path)) } ": " (file.bytes) " bytes, hash " code { (raw(&file.hash)) } "." }
            }
            @if !scenario.overrides.is_empty() {
                p { "Changed on the command line:" }
                pre { (raw(&scenario.overrides.join("\n"))) }
            }
        });
        section
    }

    /// By what, how and when.
    pub(super) fn provenance(&self) -> Section {
        let manifest = self.manifest;
        let threads = if manifest.threads == 1 { "thread" } else { "threads" };
        let mut section = Section::new("provenance", "Provenance").folded();
        let took =
            format!("{} on {} {threads}", words::time(manifest.wall_s * 1e9), manifest.threads);
        let hops = words::large(manifest.hops as f64);
        let work =
            format!("{hops} packet-hops, {} a second", words::large(manifest.hops_per_second));
        let peak = manifest.peak_rss_bytes.map(|peak| words::bytes(peak as f64));
        section.text(html! {
            dl.terms {
                (program(&manifest.floodway, &manifest.command))
                dt { "started" } dd { (raw(&manifest.started)) }
                dt { "took" } dd { (set(&took)) }
                dt { "work" } dd { (set(&work)) }
                @if let Some(peak) = peak { dt { "memory" } dd { (set(&peak)) } }
                dt { "replications" } dd { (manifest.replications) ", from seed " (manifest.seed) }
                (fingerprint(&self.summary.fingerprint))
                dt { "ended" } dd { (set(&manifest.note)) }
            }
            details {
                summary { "Every run" }
                div.scroll {
                    table {
                        thead {
                            tr {
                                th { "variant" } th { "replication" } th { "seed" } th { "simulated" } th { "packet-hops" }
                                th { "took" } th.text { "ended by" } th.text { "fingerprint" }
                            }
                        }
                        tbody {
                            @for run in &manifest.runs {
                                tr {
                                    td { (raw(&run.variant)) }
                                    td { (run.replication) }
                                    td { (run.seed) }
                                    td { (set(&words::time(run.simulated_ns))) }
                                    td { (set(&words::large(run.hops as f64))) }
                                    td { (set(&words::time(run.wall_s * 1e9))) }
                                    td.text { (raw(&run.stop)) }
                                    td.text { code { (raw(&run.fingerprint)) } }
                                }
                            }
                        }
                    }
                }
            }
        });
        section
    }
}

/// The program and how it was called.
pub(super) fn program(version: &str, command: &[String]) -> Markup {
    html! {
        dt { "program" } dd { "floodway " (raw(version)) }
        @if !command.is_empty() { dt { "command" } dd { code { (raw(&shell(command))) } } }
    }
}

pub(super) fn fingerprint(fingerprint: &str) -> Markup {
    html! {
        dt { "fingerprint" }
        dd { code { (raw(fingerprint)) } ", the same on every machine and with any number of threads" }
    }
}

/// The command as a user would type it: the program by its name, without what only changes what it
/// prints while it runs.
pub(crate) fn typed(command: &[String]) -> Vec<String> {
    let Some((program, rest)) = command.split_first() else { return Vec::new() };
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    if name != "floodway" {
        return command.to_vec();
    }
    let speaks = |word: &&String| !["--verbose", "-v", "--quiet", "-q"].contains(&word.as_str());
    [name.to_owned()].into_iter().chain(rest.iter().filter(speaks).cloned()).collect()
}

/// Words as a shell would read them back.
pub(crate) fn shell(words: &[String]) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "-_./=:,+@%".contains(letter);
    let quoted = |word: &String| match word.is_empty() || !word.chars().all(plain) {
        true => format!("'{}'", word.replace('\'', "'\\''")),
        false => word.clone(),
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    #[test]
    fn commands_are_as_a_user_types_them() {
        let typed = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| word.to_string()).collect();
            super::typed(&words).join(" ")
        };
        assert_eq!(
            typed(&["./target/release/floodway", "study", "ci", "--verbose"]),
            "floodway study ci"
        );
        assert_eq!(typed(&["python", "-q", "a.py"]), "python -q a.py");
        assert_eq!(typed(&[]), "");
    }

    #[test]
    fn commands_can_be_pasted() {
        let words = ["floodway", "--set", "a=\"b c\"", "it's", ""].map(String::from);
        assert_eq!(super::shell(&words), "floodway --set 'a=\"b c\"' 'it'\\''s' ''");
    }
}

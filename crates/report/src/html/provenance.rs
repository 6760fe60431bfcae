//! Where the numbers come from: the scenario and the circumstances.

use std::fmt::Write;

use super::Page;
use super::r#type::set;
use crate::chart::escape;
use crate::words;

impl Page<'_> {
    /// The scenario as its file states it.
    pub(super) fn scenario(&self, text: &mut String) {
        let scenario = &self.manifest.scenario;
        if scenario.text.is_empty() {
            return;
        }
        let file = if scenario.file.is_empty() { "the scenario" } else { &scenario.file };
        let _ = write!(
            text,
            "<h2>What exactly was simulated?</h2>\n<details><summary><code>{}</code></summary>\n\
             <pre>{}</pre></details>\n",
            escape(file),
            escape(&scenario.text)
        );
        for file in &scenario.files {
            let _ = writeln!(
                text,
                "<p>It names <code>{}</code>: {} bytes, hash <code>{}</code>.</p>",
                escape(&file.path),
                file.bytes,
                file.hash
            );
        }
        if !scenario.overrides.is_empty() {
            let _ = write!(
                text,
                "<p>Changed on the command line:</p>\n<pre>{}</pre>\n",
                escape(&scenario.overrides.join("\n"))
            );
        }
    }

    /// By what, how and when.
    pub(super) fn provenance(&self, text: &mut String) {
        let manifest = self.manifest;
        *text += "<h2>Where do these numbers come from?</h2>\n<dl class=\"terms\">\n";
        let mut term = |name: &str, value: String| {
            let _ = writeln!(text, "<dt>{name}</dt><dd>{value}</dd>");
        };
        term("program", format!("floodway {}", escape(&manifest.floodway)));
        if !manifest.command.is_empty() {
            term("command", format!("<code>{}</code>", escape(&shell(&manifest.command))));
        }
        term("started", escape(&manifest.started));
        term(
            "took",
            set(&format!(
                "{} on {} {}",
                words::time(manifest.wall_s * 1e9),
                manifest.threads,
                if manifest.threads == 1 { "thread" } else { "threads" }
            )),
        );
        term(
            "work",
            set(&format!(
                "{} packet-hops, {} a second",
                words::large(manifest.hops as f64),
                words::large(manifest.hops_per_second)
            )),
        );
        if let Some(peak) = manifest.peak_rss_bytes {
            term("memory", set(&words::bytes(peak as f64)));
        }
        term("replications", format!("{}, from seed {}", manifest.replications, manifest.seed));
        term(
            "fingerprint",
            format!(
                "<code>{}</code>, the same on every machine and with any number of threads",
                escape(&self.summary.fingerprint)
            ),
        );
        term("ended", set(&manifest.note));
        *text += "</dl>\n<details><summary>Every run</summary>\n<div class=\"scroll\"><table>\n\
                  <thead><tr><th>variant</th><th>replication</th><th>seed</th><th>simulated</th>\
                  <th>packet-hops</th><th>took</th><th class=\"text\">ended by</th>\
                  <th class=\"text\">fingerprint</th></tr></thead>\n<tbody>\n";
        for run in &manifest.runs {
            let _ = writeln!(
                text,
                "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>\
                 <td class=\"text\">{}</td><td class=\"text\"><code>{}</code></td></tr>",
                escape(&run.variant),
                run.replication,
                run.seed,
                set(&words::time(run.simulated_ns)),
                set(&words::large(run.hops as f64)),
                set(&words::time(run.wall_s * 1e9)),
                escape(&run.stop),
                escape(&run.fingerprint)
            );
        }
        *text += "</tbody></table></div></details>\n";
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

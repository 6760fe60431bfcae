//! Runs a valid scenario in every way that must give the same, and looks for what must never be.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use floodway_lab::{Done, Existing, How, Watcher, What, execute};
use floodway_model::table::{Table, Values};
use floodway_report::terminal::{self, Style};
use floodway_report::{Directory, INTERRUPTED, Run as Kept};
use floodway_scenario::{Scenario, Variant};
use floodway_sim::simulation::Run;
use floodway_sim::{Outcome, Simulation, Spec};

use crate::finding::{Finding, Kind};
use crate::generate::parse;

/// How large a run may be.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Packet-hops of one run: what has more is not compared. They depend on no machine.
    pub hops: u64,
    /// Time of the first run: what takes longer is slow and not compared.
    pub time: Duration,
}

impl Default for Budget {
    fn default() -> Self {
        Self { hops: 400_000, time: Duration::from_secs(5) }
    }
}

/// What came of comparing, if nothing was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Packet-hops of all runs.
    pub hops: u64,
    /// Runs of which there was only the first, because it was too large or too slow.
    pub cut: u64,
    /// Of these the ones that were too slow for their size.
    pub slow: u64,
}

/// The numbers of threads that have to give the same.
const THREADS: [usize; 3] = [2, 3, 8];

/// Compares all runs of a scenario; `scratch` is a folder that may be filled.
pub fn scenario(scenario: &Scenario, scratch: &Path, budget: Budget) -> Result<Compared, Finding> {
    let mut compared = Compared::default();
    if scenario.derived().to_string().is_empty() {
        return Err(Finding::new(Kind::Failure, "the derived numbers are empty"));
    }
    for variant in scenario.variants() {
        run(scenario, variant, budget, &mut compared)?;
        written_and_read(scenario, variant)?;
    }
    if compared.cut == 0 {
        results(scenario, scratch)?;
    }
    Ok(compared)
}

/// One variant on several numbers of threads, and interrupted.
fn run(
    scenario: &Scenario,
    variant: &Variant,
    budget: Budget,
    compared: &mut Compared,
) -> Result<(), Finding> {
    let spec = scenario.build(variant, 0);
    let begun = Instant::now();
    let first = simulate(&spec, 1, budget.hops, budget.time);
    compared.hops += first.hops;
    let sound = |how: &str, outcome: &Outcome| sound(scenario, variant, how, outcome);
    sound("1 thread", &first)?;
    if first.stop.name() == INTERRUPTED {
        compared.cut += 1;
        compared.slow += u64::from(begun.elapsed() > budget.time);
        return Ok(());
    }
    for threads in THREADS {
        let other = simulate(&spec, threads, u64::MAX, Duration::MAX);
        compared.hops += other.hops;
        sound(&format!("{threads} threads"), &other)?;
        same(variant, &first, &other, &format!("{threads} threads"))?;
    }
    let half = simulate(&spec, 1, first.hops / 2, Duration::MAX);
    compared.hops += half.hops;
    sound("an interruption", &half)
}

/// Runs until so many hops or so much time have passed.
fn simulate(spec: &Spec, threads: usize, hops: u64, time: Duration) -> Outcome {
    let stop = AtomicBool::new(false);
    let begun = Instant::now();
    let watch = |progress: floodway_sim::Progress| {
        if progress.hops > hops || begun.elapsed() > time {
            stop.store(true, Ordering::Relaxed);
        }
    };
    Simulation::new(spec.clone()).run_with(&Run { threads, stop: &stop, watch: &watch })
}

/// Whether a run broke no rule and has only numbers that can be written. Where `check` warns that
/// frames may be lost, lossless classes may lose some.
fn sound(
    scenario: &Scenario,
    variant: &Variant,
    how: &str,
    outcome: &Outcome,
) -> Result<(), Finding> {
    let warned = scenario.warnings().iter().any(|warning| warning.help.contains("lost"));
    let expected =
        |text: &str| warned && text.ends_with("packets of lossless classes were dropped");
    if let Some(violation) = outcome.violations.iter().find(|text| !expected(text)) {
        let text = format!("{violation}\nvariant {}, with {how}", variant.name);
        return Err(Finding::new(Kind::Violation, text));
    }
    for table in &outcome.tables {
        for column in &table.columns {
            if let Values::F64(values) = &column.values
                && values.iter().any(|value| value.is_infinite())
            {
                let text = format!("column {} of table {} is infinite", column.name, table.name);
                return Err(Finding::new(Kind::Failure, text));
            }
        }
    }
    Ok(())
}

fn same(variant: &Variant, first: &Outcome, other: &Outcome, how: &str) -> Result<(), Finding> {
    let ends =
        |outcome: &Outcome| (outcome.hops, outcome.simulated, outcome.stop, outcome.fingerprint);
    let wrong = match differing(&first.tables, &other.tables) {
        Some(table) => format!("table {table} differs"),
        None if ends(first) != ends(other) => "the ends of two runs differ".to_owned(),
        None => return Ok(()),
    };
    let text = format!("{wrong} between runs\nvariant {}, 1 thread and {how}", variant.name);
    Err(Finding::new(Kind::Difference, text))
}

/// The first table that is not the same to the bit.
fn differing(one: &[Table], other: &[Table]) -> Option<String> {
    if one.len() != other.len() {
        return Some("list".to_owned());
    }
    let pair = one.iter().zip(other).find(|(one, other)| !is_same(one, other))?;
    Some(pair.0.name.to_string())
}

fn is_same(one: &Table, other: &Table) -> bool {
    one.name == other.name
        && one.columns.len() == other.columns.len()
        && one.columns.iter().zip(&other.columns).all(|(one, other)| {
            one.name == other.name
                && match (&one.values, &other.values) {
                    // Absent numbers are equal.
                    (Values::F64(one), Values::F64(other)) => one
                        .iter()
                        .map(|value| value.to_bits())
                        .eq(other.iter().map(|v| v.to_bits())),
                    (one, other) => one == other,
                }
        })
}

/// A variant as it is decoded, written as TOML and read again, is the same simulation.
fn written_and_read(scenario: &Scenario, variant: &Variant) -> Result<(), Finding> {
    let text = toml::to_string(&variant.settings)
        .map_err(|error| Finding::new(Kind::Failure, format!("cannot be written: {error}")))?;
    let again = parse(&text, &scenario.file_name).map_err(|error| {
        Finding::new(Kind::Failure, format!("what was written is not valid: {}", error.plain()))
    })?;
    let key = |scenario: &Scenario, variant| scenario.build(variant, 0).key();
    if key(scenario, variant) != key(&again, &again.variants()[0]) {
        let text = "a scenario that was written and read again is another simulation";
        return Err(Finding::new(Kind::Difference, text));
    }
    Ok(())
}

/// Stops after the first run if it may.
struct StopAfterOne<'a>(Option<&'a AtomicBool>);

impl Watcher for StopAfterOne<'_> {
    fn ended(&mut self, _run: &Kept, _there_already: bool) {
        if let Some(stop) = self.0 {
            stop.store(true, Ordering::Relaxed);
        }
    }
}

/// The results directory: written, read back, resumed, and interrupted and resumed.
fn results(scenario: &Scenario, scratch: &Path) -> Result<(), Finding> {
    let _ = std::fs::remove_dir_all(scratch);
    let whole = scratch.join("whole");
    let done = experiment(scenario, &whole, Existing::Refuse, false)?;
    let text = terminal::table(&done.summary, Style { color: true, width: 100 });
    no_nonsense("the summary in the terminal", &text)?;
    let page = std::fs::read_to_string(whole.join("report.html")).unwrap_or_default();
    no_nonsense("the page", &without_scripts(&page))?;

    let open = |path: &Path| {
        Directory::open(path)
            .map_err(|error| Finding::new(Kind::Failure, format!("cannot be opened: {error}")))
    };
    let kept = open(&whole)?;
    if kept.summary.as_ref().map(|summary| summary.json()) != Some(done.summary.json()) {
        return Err(Finding::new(Kind::Difference, "the summary that is read back differs"));
    }
    for run in &kept.manifest.runs {
        for table in &run.tables {
            kept.table(run, &table.name).map_err(|error| {
                Finding::new(Kind::Failure, format!("table {}: {error}", table.name))
            })?;
        }
    }
    let resumed = experiment(scenario, &whole, Existing::Resume, false)?;
    if resumed.reused != resumed.runs {
        return Err(Finding::new(Kind::Difference, "results that are whole are run again"));
    }
    equal(&done, &resumed, "resumed results differ")?;
    if done.runs > 1 {
        let parts = scratch.join("parts");
        experiment(scenario, &parts, Existing::Refuse, true)?;
        let resumed = experiment(scenario, &parts, Existing::Resume, false)?;
        equal(&done, &resumed, "results that were interrupted and resumed differ")?;
    }
    Ok(())
}

/// Runs an experiment into a directory.
fn experiment(
    scenario: &Scenario,
    path: &Path,
    existing: Existing,
    interrupt: bool,
) -> Result<Done, Finding> {
    let stop = AtomicBool::new(false);
    let formats = ["parquet".to_owned(), "csv".to_owned()];
    let trace = scenario.variants()[0].settings.record.gt(&0).then_some("perfetto");
    let how = How {
        threads: 1,
        stop: &stop,
        existing,
        formats: &formats,
        trace,
        capture: None,
        kernels: None,
        ranks: None,
        command: &[],
        audit: true,
    };
    let variants: Vec<_> = scenario.variants().iter().collect();
    let mut watcher = StopAfterOne(interrupt.then_some(&stop));
    execute(&What::new(scenario), &variants, path, &how, &mut watcher, |_| {})
        .map_err(|error| Finding::new(Kind::Failure, format!("results cannot be kept: {error}")))
}

/// Whether two experiments have the same numbers, whatever time they took.
fn equal(one: &Done, other: &Done, wrong: &str) -> Result<(), Finding> {
    let numbers = |done: &Done| {
        let mut json = done.summary.json();
        for key in ["wall_s", "hops_per_second", "peak_rss_bytes"] {
            json[key] = serde_json::Value::Null;
        }
        json
    };
    if numbers(one) == numbers(other) {
        return Ok(());
    }
    Err(Finding::new(Kind::Difference, wrong))
}

/// Bytes without a space that people may still read.
const LONGEST_WORD: usize = 1_000;

/// Whether a text for people shows no number that is none.
fn no_nonsense(what: &str, text: &str) -> Result<(), Finding> {
    // Pictures and tables that a page carries with it are one long word.
    let short = text.split_whitespace().filter(|word| word.len() <= LONGEST_WORD);
    let mut words =
        short.flat_map(|word| word.split(|letter: char| !letter.is_ascii_alphanumeric()));
    match words.find(|word| ["NaN", "inf", "Infinity"].contains(word)) {
        Some(word) => {
            let at = text.find(word).unwrap_or(0);
            let start = (0..=at.saturating_sub(80)).rev().find(|&at| text.is_char_boundary(at));
            let around: String = text[start.unwrap_or(0)..].chars().take(200).collect();
            Err(Finding::new(Kind::Failure, format!("{what} shows {word}\n{around}")))
        }
        None => Ok(()),
    }
}

/// A page without the scripts on it, which may name what is no number.
fn without_scripts(page: &str) -> String {
    let mut parts = page.split("<script");
    let first = parts.next().unwrap_or("").to_owned();
    parts.fold(first, |text, part| {
        text + part.split_once("</script>").map_or("", |(_, after)| after)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_compared_to_the_bit() {
        let table = |value: f64| [Table::new("t", "").f64("x", "", vec![1.0, value])];
        assert_eq!(differing(&table(f64::NAN), &table(f64::NAN)), None);
        assert_eq!(differing(&table(0.0), &table(-0.0)), Some("t".to_owned()));
        assert_eq!(differing(&table(0.0), &[]), Some("list".to_owned()));
    }

    #[test]
    fn numbers_that_are_none_are_seen_outside_of_scripts() {
        let page = "<p>information</p><script>NaN</script><p>3</p>";
        assert!(no_nonsense("the page", &without_scripts(page)).is_ok());
        let data = format!("<a href=\"data:{}/inf/\">", "a".repeat(LONGEST_WORD));
        assert!(no_nonsense("the page", &data).is_ok());
        let page = page.replace('3', "NaN");
        assert!(no_nonsense("the page", &without_scripts(&page)).is_err());
    }
}

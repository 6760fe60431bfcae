//! A scenario: read, expanded into variants, checked, and ready to be built.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use floodway_model::Graph;
use floodway_model::random::Stream;
use floodway_sim::Spec;
use floodway_sim::delays::Sample;
use miette::Severity;

use crate::check;
use crate::claims::Claims;
use crate::derive;
use crate::device::{self, Basis};
use crate::document::Document;
use crate::errors;
use crate::files::{Files, InputFile};
use crate::footprint;
use crate::measured::Measured;
use crate::ports;
use crate::presets;
use crate::read::{self, Documents, Reader, Written};
use crate::sweep;
use crate::text::{Error, Item, Place, Problem, Source, decode, suggest};
use crate::workload::{self, Ready};

/// What the command line changes in a scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// Apply the overlay `[quick]`.
    pub quick: bool,
    /// Arguments of `--set`, `path=value`, applied in order after everything else.
    pub set: Vec<String>,
}

/// A valid scenario with all its variants.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// A short name for directories and headings.
    pub name: String,
    /// What the scenario is to answer; may be empty.
    pub question: String,
    /// Decides every random choice.
    pub seed: u64,
    /// Runs of every variant.
    pub replications: u32,
    /// The name of the file that it was read from.
    pub file_name: String,
    /// The file's text, followed by that of the file that it extends.
    pub text: String,
    /// What was changed from outside.
    pub overrides: Overrides,
    /// The files that it names, apart from the one that it extends.
    pub files: Vec<InputFile>,
    /// What it says of its sweep.
    pub sweep: Option<sweep::Spec>,
    /// What it claims of its results. Nothing in a run depends on it.
    pub claims: Option<Claims>,
    variants: Vec<Variant>,
    warnings: Vec<Problem>,
}

/// One variant: a complete set of parameters.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Its name, unique in the scenario and fit for a directory.
    pub name: String,
    /// All its parameters, defaults filled in.
    pub settings: Document,
    /// Where the settings of its switches and hosts come from, if it names device profiles.
    pub basis: Option<Basis>,
    pub(crate) graph: Graph,
    pub(crate) workloads: Vec<Ready>,
}

/// The one variant of a scenario without `[variants]`.
pub(crate) const ONLY_VARIANT: &str = "base";

impl Scenario {
    /// Reads and checks a scenario file.
    pub fn load(path: &Path, overrides: &Overrides) -> Result<Self, Error> {
        Self::load_with(path, overrides, &read::scenario_file, Files::default())
    }

    /// Checks a scenario that was read before. Files that it names are sought beside
    /// `file_name`.
    pub fn parse(text: &str, file_name: &str, overrides: &Overrides) -> Result<Self, Error> {
        Self::check(text, file_name, overrides, &read::scenario_file, Files::default())
    }

    /// Checks a scenario of a library that is part of the program: pairs of file name and text, in
    /// which the files that it extends or names are sought too. Panics if `file_name` is not among them.
    pub fn of_library(
        library: &[(&str, &str)],
        file_name: &str,
        overrides: &Overrides,
    ) -> Result<Self, Error> {
        let reader = |path: &Path| {
            let shown = path.display().to_string();
            let file = library.iter().find(|(name, _)| *name == shown);
            let (_, text) = file.unwrap_or_else(|| panic!("there is no {shown} in the library"));
            Ok((*text).to_owned())
        };
        Self::load_with(Path::new(file_name), overrides, &reader, Files::of_library(library))
    }

    fn load_with(
        path: &Path,
        overrides: &Overrides,
        reader: Reader,
        files: Files,
    ) -> Result<Self, Error> {
        let text = reader(path)?;
        Self::check(&text, &path.display().to_string(), overrides, reader, files)
    }

    fn check(
        text: &str,
        file_name: &str,
        overrides: &Overrides,
        reader: Reader,
        files: Files,
    ) -> Result<Self, Error> {
        let source = Arc::new(Source::new(file_name, text.to_owned()));
        footprint::refuse_text(&Place::whole(&source), text)?;
        let written = Written::read(&source, reader)?;
        let sweep = written.sweep()?;
        let claims = written.claims()?;
        let mut findings = Findings::default();
        let variants = prepare(&written, overrides, &files, &mut findings)?;
        let read = files.list();
        // A mistake in `[quick]` should not wait for the first `--quick`. Settings stay out: they
        // are meant for this form.
        if !overrides.quick && written.has_quick() {
            let quick = Overrides { quick: true, set: Vec::new() };
            let mut quick_findings = Findings::default();
            prepare(&written, &quick, &files, &mut quick_findings)?;
            findings.errors.extend(quick_findings.errors);
        }
        let Findings { errors, warnings } = findings;
        if !errors.is_empty() {
            return Err(Error::new(tidy(errors)));
        }
        let first = &variants[0].settings;
        Ok(Self {
            name: first.name.clone(),
            question: first.question.clone(),
            seed: first.seed,
            replications: first.replications,
            file_name: file_name.to_owned(),
            text: full_text(&written.sources),
            overrides: overrides.clone(),
            files: read,
            sweep,
            claims,
            variants,
            warnings: tidy(warnings),
        })
    }

    /// The variants in order of appearance; the first is the baseline.
    pub fn variants(&self) -> &[Variant] {
        &self.variants
    }

    /// The variant of this name.
    pub fn variant(&self, name: &str) -> Result<&Variant, Error> {
        let found = self.variants.iter().find(|variant| variant.name == name);
        found.ok_or_else(|| {
            let names: Vec<_> = self.variants.iter().map(|variant| &*variant.name).collect();
            let source = Arc::new(Source::new("--variant", name.to_owned()));
            let message = format!("the scenario `{}` has no variant `{name}`", self.name);
            let help = suggest::remedy(name, "variants", &names);
            Problem::error(Place::at(&source, 0..name.len()), message, help).into()
        })
    }

    /// What should be known before a run.
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// The seed of a replication, counted from 0: the same for all variants.
    pub fn replication_seed(&self, replication: u32) -> u64 {
        Stream::named(self.seed, &format!("replication {replication}")).bits()
    }

    /// The simulation of one variant in one replication, counted from 0.
    pub fn build(&self, variant: &Variant, replication: u32) -> Spec {
        variant.build_replication(replication, self.replication_seed(replication))
    }
}

impl Variant {
    /// The simulation of a replication, counted from 0, under its seed: the first one is recorded and
    /// explained, if the scenario says so.
    pub fn build_replication(&self, replication: u32, seed: u64) -> Spec {
        let first = |number: u32| Some(number).filter(|&number| number > 0 && replication == 0);
        let Document { record, explained_flows, explained_share, .. } = self.settings;
        let record = first(record);
        let explained =
            first(explained_flows).map(|flows| Sample { flows, share: explained_share });
        Spec { record, explained, ..self.build(seed) }
    }

    /// The most samples that a record of it can have.
    pub fn most_samples(&self) -> u32 {
        u32::try_from(check::most_samples(&self.graph)).unwrap_or(u32::MAX)
    }

    /// The simulation under a seed, without a record.
    pub fn build(&self, seed: u64) -> Spec {
        let Self { settings, graph, workloads, .. } = self;
        let measured = self.measured();
        let sampled = settings.sampled();
        let workload::Traffic { flows, triggers, reuses, programs, operations, .. } =
            workload::traffic(workloads, settings, graph, seed);
        Spec {
            graph: graph.clone(),
            switch: settings.switch.clone(),
            host: settings.host.spec(),
            profiles: settings.profiles(),
            flows: flows.into_iter().collect(),
            triggers: triggers.into_iter().collect(),
            reuses: reuses.into(),
            programs: programs.into(),
            operations: operations.into(),
            // Checked: a frame with it is at most 65535 bytes long.
            wire_overhead: settings.wire_overhead.0 as u16,
            end: settings.limit,
            warmup: settings.warmup,
            measured_until: measured.until,
            awaited: measured.awaited,
            sampled,
            sample_interval: settings.sample_interval(),
            flow_samples: settings.flow_samples,
            departures: settings.departures,
            latencies: settings.latencies,
            record: None,
            explained: None,
            failures: settings.failure.iter().flat_map(|entry| entry.build(graph)).collect(),
            losses: settings.line.iter().flat_map(|entry| entry.losses(graph)).collect(),
            errors: errors::build(&settings.errors, graph, check::largest_frame(settings)),
            paces: settings
                .line
                .iter()
                .flat_map(|entry| entry.paces(graph))
                .map(|(_, pace)| pace)
                .collect(),
            changes: Vec::new(),
            kernels: workload::linux::kernels(settings, graph),
            seed,
        }
    }

    /// What ends the measured interval, and which workloads it waits for.
    pub fn measured(&self) -> Measured {
        Measured::of(&self.settings, &self.workloads)
    }

    /// Whether some of its hosts are Linux kernels, which only `floodway emulate` runs.
    pub fn has_kernels(&self) -> bool {
        workload::linux::specs(&self.settings).next().is_some()
    }

    /// The network.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The workloads in order.
    pub fn workloads(&self) -> &[Ready] {
        &self.workloads
    }

    /// The names of the workloads, empty for one that has none.
    pub fn workload_names(&self) -> Vec<String> {
        let name = |entry: &workload::Entry| entry.name.clone().unwrap_or_default();
        self.settings.workload.iter().map(name).collect()
    }

    /// Whether it sends the same flows as `other`, so that their results can be compared flow by
    /// flow.
    pub fn shares_traffic_with(&self, other: &Self) -> bool {
        let (ours, theirs) = (&self.settings.workload, &other.settings.workload);
        self.settings.placement == other.settings.placement
            && self.settings.share_hosts == other.settings.share_hosts
            && self.settings.arrivals == other.settings.arrivals
            && ours.iter().map(|entry| &entry.traffic).eq(theirs.iter().map(|entry| &entry.traffic))
            && self.settings.topology == other.settings.topology
            && ports::divisions(&self.settings) == ports::divisions(&other.settings)
            && (!self.workloads.iter().any(|workload| workload.fills_memory())
                || workload::memory(&self.settings) == workload::memory(&other.settings))
    }
}

impl Scenario {
    /// What decides which flows a variant sends and which of them are measured: two that have the same
    /// can be compared, whatever else differs.
    pub(crate) fn traffic(&self, variant: &Variant) -> String {
        let Document {
            placement,
            share_hosts,
            arrivals,
            warmup,
            limit,
            measure_until,
            topology,
            ..
        } = &variant.settings;
        let sent: Vec<_> = variant.settings.workload.iter().map(|entry| &entry.traffic).collect();
        let fills = variant.workloads.iter().any(|workload| workload.fills_memory());
        let memory = fills.then(|| workload::memory(&variant.settings));
        let measured = (arrivals, warmup, limit, measure_until);
        let mut text =
            format!("{:?}", (self.seed, placement, share_hosts, measured, topology, sent, memory));
        let divisions = ports::divisions(&variant.settings);
        if divisions.iter().any(Option::is_some) {
            text += &format!("{divisions:?}");
        }
        text
    }
}

/// The texts of all files, the scenario's own first.
fn full_text(sources: &[Arc<Source>]) -> String {
    let mut text = sources[0].inner().clone();
    for source in &sources[1..] {
        text += &format!("\n\n# ---- {} ----\n\n{}", source.name(), source.inner());
    }
    text
}

#[derive(Default)]
struct Findings {
    errors: Vec<Problem>,
    warnings: Vec<Problem>,
}

impl Findings {
    fn add(&mut self, problem: Problem) {
        match problem.severity {
            Severity::Error => self.errors.push(problem),
            _ => self.warnings.push(problem),
        }
    }
}

/// Expands the document into variants and checks each. Empty only if there are errors.
fn prepare(
    written: &Written,
    overrides: &Overrides,
    files: &Files,
    findings: &mut Findings,
) -> Result<Vec<Variant>, Error> {
    let documents = Documents::new(written, overrides)?;
    let count = documents.count();
    let mut found: Vec<(Problem, Vec<String>)> = Vec::new();
    let mut variants = Vec::new();
    for at in 0..count {
        let (name, document) = documents.get(at)?;
        let name = name.unwrap_or(ONLY_VARIANT);
        let (variant, problems) = prepare_one(name, document, files);
        for problem in problems {
            match found.iter_mut().find(|(other, _)| *other == problem) {
                // Two workloads of a variant may have the same.
                Some((_, names)) if names.last().is_some_and(|last| last == name) => {}
                Some((_, names)) => names.push(name.to_owned()),
                None => found.push((problem, vec![name.to_owned()])),
            }
        }
        if let (0, Some(first)) = (at, &variant) {
            footprint::refuse_variants(&Place::whole(&written.sources[0]), first, count)?;
        }
        variants.extend(variant);
    }
    keep_idle_everywhere(&mut found, &documents)?;
    findings.warnings.extend(documents.warnings.iter().cloned());
    for (problem, names) in found {
        // What all variants have is the base's.
        let variants = if names.len() == count { Vec::new() } else { names };
        findings.add(Problem { variants, ..problem });
    }
    if variants.len() == count {
        check::between(&documents.get(0)?.1, &variants).into_iter().for_each(|p| findings.add(p));
    }
    Ok(variants)
}

/// Removes what is wrong in some variants only, of settings that cannot act there: the same line acts in
/// another variant.
fn keep_idle_everywhere(
    found: &mut Vec<(Problem, Vec<String>)>,
    documents: &Documents,
) -> Result<(), Error> {
    let count = documents.count();
    let of_some =
        |(problem, names): &&(Problem, Vec<String>)| problem.idle.is_some() && names.len() < count;
    let paths: BTreeSet<Arc<String>> =
        found.iter().filter(of_some).filter_map(|(problem, _)| problem.idle.clone()).collect();
    if paths.is_empty() {
        return Ok(());
    }
    fn at<'a>(path: &'a str, place: &Place) -> (&'a str, String, Option<(usize, usize)>) {
        let range = place.range.as_ref().map(|range| (range.start, range.end));
        (path, place.source.name().to_owned(), range)
    }
    let mut written = BTreeMap::new();
    for number in 0..count {
        let (_, document) = documents.get(number)?;
        for path in &paths {
            if let Some(place) = document.written_itself(path) {
                *written.entry(at(path, &place)).or_insert(0) += 1;
            }
        }
    }
    // In how many variants it cannot act, for whatever reason: that may be another one in each.
    let mut idle: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
    for (problem, names) in &*found {
        if let Some(path) = problem.idle.as_ref().and_then(|path| paths.get(path)) {
            idle.entry(at(path, &problem.place)).or_default().extend(names.iter().cloned());
        }
    }
    found.retain(|(problem, _)| {
        let Some(path) = &problem.idle else { return true };
        let place = at(path, &problem.place);
        let idle = idle.get(&place).map_or(0, BTreeSet::len);
        written.get(&place).is_none_or(|&variants| variants <= idle)
    });
    Ok(())
}

/// One variant, if nothing is wrong with it, and all that is found.
pub(crate) fn prepare_one(
    name: &str,
    mut document: Item,
    files: &Files,
) -> (Option<Variant>, Vec<Problem>) {
    let presets = match presets::apply(&mut document) {
        Ok(presets) => presets,
        Err(problem) => return (None, vec![problem]),
    };
    // Below presets too: these are named by the scenario.
    let profiles = match device::named(&mut document, files) {
        Ok(profiles) => profiles,
        Err(problems) => return (None, problems),
    };
    if let Err(problem) = device::lay_under(&mut document, &profiles) {
        return (None, vec![problem]);
    }
    let mut basis = device::basis::used(&document, &profiles);
    if let Err(problems) = derive::derive(&mut document, files) {
        return (None, problems);
    }
    let mut settings: Document = match decode(&document) {
        Ok(settings) => settings,
        Err(problems) => return (None, problems),
    };
    settings.write_out(&presets);
    if let Some(basis) = &mut basis {
        basis.count(&document, &profiles, &settings);
    }
    let (checked, mut problems) = check::check(&document, &mut settings, files);
    if let Some(checked) = &checked {
        problems.extend(device::check_rates(&profiles, &checked.graph));
    }
    let variant = checked.map(|check::Checked { graph, workloads }| Variant {
        name: name.to_owned(),
        settings,
        basis,
        graph,
        workloads,
    });
    (variant, problems)
}

/// In the order of their places, the file's before those of `--set`, each once.
fn tidy(mut problems: Vec<Problem>) -> Vec<Problem> {
    let key = |problem: &Problem| {
        let outside = problem.place.source.name().starts_with("--");
        (outside, problem.place.range.as_ref().map_or(0, |range| range.start))
    };
    problems.sort_by_key(key);
    let mut once: Vec<Problem> = Vec::new();
    for problem in problems {
        let same =
            |other: &Problem| other.place == problem.place && other.message == problem.message;
        if !once.iter().any(same) {
            once.push(problem);
        }
    }
    once
}

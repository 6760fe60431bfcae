//! Files of other tools that a scenario names: what is wrong with them, and with what they say.

use std::collections::BTreeSet;
use std::sync::Arc;

use floodway_model::Duration;

use super::Problems;
use crate::document::Document;
use crate::files::chakra::{self, Named};
use crate::files::flows::{self, Failure, Hosts};
use crate::files::goal::{self, Job};
use crate::files::{Files, Unreadable, networks, traces};
use crate::text::{Item, Place, Problem};
use crate::topology;
use crate::workload::{file, list as flow_list};

/// Reads the file of a network, if it is from one.
pub fn read_network(document: &Item, settings: &mut Document, files: &Files) -> Option<Problem> {
    const PATH: &str = "topology.file.path";
    let topology::Spec::File(spec) = &mut settings.topology else { return None };
    let place = || document.written(PATH).unwrap_or_else(|| document.locate(PATH));
    let Some(format) = spec.format() else {
        let message = format!("nothing says what format `{}` has", spec.path);
        let help = "add `format`: hpcc, htsim or infragraph";
        return Some(Problem::error(place(), message, help));
    };
    match files.text(&spec.path, document.place.source.name()) {
        Ok(source) => match format.read(&source, &spec.rates) {
            Ok(network) => {
                spec.network = Some(Arc::new(network));
                None
            }
            Err(problem) => Some(problem),
        },
        Err(Unreadable { message, help }) => Some(Problem::error(place(), message, help)),
    }
}

/// Reads the traces of lines.
pub fn read_traces(document: &Item, settings: &mut Document, files: &Files) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (number, line) in settings.line.iter_mut().enumerate() {
        let written = line.files().map(|(field, file)| (field, file.cloned()));
        for (direction, (field, file)) in written.into_iter().enumerate() {
            let Some(file) = file else { continue };
            let read = match files.text(&file, document.place.source.name()) {
                Ok(source) => traces::read(&source),
                Err(Unreadable { message, help }) => {
                    let path = format!("line.{number}.{field}");
                    let place = document.written(&path).unwrap_or_else(|| document.locate(&path));
                    Err(Problem::error(place, message, help))
                }
            };
            match read {
                Ok(trace) => line.traces[direction] = Some(Arc::new(trace)),
                Err(problem) => problems.push(problem),
            }
        }
    }
    problems
}

/// Checks what a network from a file says besides its links.
pub fn check_network(
    settings: &Document,
    network: &networks::Network,
    findings: &mut Problems<'_>,
) {
    let latency = settings.switch.latency;
    if let Some(said) = network.switch_latency.filter(|&said| said != latency) {
        findings.error(
            &["switch.latency", "topology.file.path"],
            format!("the file says that switches take {said}, and `switch.latency` is {latency}"),
            format!("write latency = \"{said}\" below [switch], or change the file"),
        );
    }
}

/// The flows of a file, if they can be read.
pub fn check_flows(
    path: &str,
    spec: &file::Spec,
    settings: &Document,
    findings: &mut Problems<'_>,
) -> Option<file::Read> {
    let field = |name: &str| format!("{path}.{name}");
    let Some(format) = spec.format() else {
        let message = format!("nothing says what format `{}` has", spec.path);
        let help = "add `format`: csv, parquet, hpcc or htsim";
        findings.error(&[&field("path")], message, help);
        return None;
    };
    let hosts = Hosts::of(&settings.topology);
    // Said of the network itself, which cannot be made.
    if hosts.count() == 0 {
        return None;
    }
    let scenario = findings.source_name();
    let place = (spec.path.as_str(), scenario.as_str());
    let (read, source) = match flows::read(findings.files, place, format, &hosts, spec.origin) {
        Ok(read) => read,
        Err(Failure::Unreadable(Unreadable { message, help })) => {
            findings.error(&[&field("path")], message, help);
            return None;
        }
        Err(Failure::Content(problem)) => {
            findings.problems.push(*problem);
            return None;
        }
    };
    let Document { arrivals, warmup, .. } = *settings;
    let late = read.flows.iter().zip(&read.starts).find(|(flow, _)| flow.start >= arrivals);
    if let Some((flow, word)) = late {
        let origin = match spec.origin {
            Duration::ZERO => String::new(),
            origin => format!(" after `origin`, {origin}"),
        };
        findings.problems.push(Problem::error(
            Place::at(&source, word.clone()),
            format!(
                "the flow starts ({}{origin}) when the arrivals are over ({arrivals})",
                flow.start
            ),
            "raise `arrivals` in the scenario, or `origin` if the file's clock begins later",
        ));
    }
    // When those begin that wait is not known.
    let waiting: BTreeSet<u32> = read.waits.iter().map(|wait| wait.begins).collect();
    let unmeasured = |(place, flow): &(u32, &flow_list::Flow)| {
        flow.bytes.is_some() && flow.start < warmup && !waiting.contains(place)
    };
    let unmeasured = (0..).zip(&read.flows).filter(unmeasured).count();
    if unmeasured > 0 {
        findings.warn(
            &["warmup", &field("path")],
            format!(
                "{unmeasured} of {} flows start during the warm-up ({warmup}) and are not measured",
                read.flows.len()
            ),
            "shorten `warmup` if their completion times matter",
        );
    }
    let list = flow_list::Spec { jitter: spec.jitter, flow: read.flows };
    list.check_jitter(settings, &mut findings.within(path));
    findings.problems.extend(read.warnings);
    Some(file::Read { list, waits: read.waits, keep_order: spec.keep_order })
}

/// The job of a file that the workload at `path` names, if it can be read.
pub fn read_job(path: &str, file: &str, findings: &mut Problems<'_>) -> Option<Job> {
    let scenario = findings.source_name();
    match goal::read(findings.files, (file, &scenario)) {
        Ok(job) => Some(job),
        Err(goal::Failure::File(Unreadable { message, help })) => {
            findings.error(&[&format!("{path}.path")], message, help);
            None
        }
        Err(goal::Failure::Text(problem)) => {
            findings.problems.push(*problem);
            None
        }
    }
}

/// The job of the traces that the workload with `field` names, if they can be read.
pub fn read_chakra(
    field: &str,
    named: Named<'_>,
    findings: &mut Problems<'_>,
) -> Option<chakra::Job> {
    let scenario = findings.source_name();
    match chakra::read(findings.files, named, &scenario) {
        Ok(job) => Some(job),
        Err(Unreadable { message, help }) => {
            findings.error(&[field], message, help);
            None
        }
    }
}

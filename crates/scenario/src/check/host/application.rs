//! Whether applications have a connection to write into, and something to write.

use floodway_model::Bytes;
use floodway_model::check::Check;
use floodway_sim::host::transport::Spec as Transport;

use super::super::Problems;
use crate::document::Document;

/// Checks the applications of all workloads.
pub fn check(settings: &Document, findings: &mut Problems<'_>) {
    let profiles = settings.profiles();
    for (number, (entry, profile)) in settings.workload.iter().zip(profiles).enumerate() {
        let Some(spec) = &profile.application else { continue };
        let findings = &mut findings.within(format!("workload.{number}.application"));
        if !matches!(profile.transport, Transport::Tcp(_)) {
            findings.error(
                "",
                format!(
                    "an application writes bit by bit, and `{}` takes messages as a whole",
                    profile.transport.name()
                ),
                "choose [workload.transport.tcp], or remove [workload.application]",
            );
        }
        if entry.traffic.member().all_have_sizes() {
            findings.error(
                "",
                "every flow of the workload has a size, so the application would write nothing",
                "leave out `bytes`, choose [workload.long_flows], or remove [workload.application]",
            );
        }
        spec.check(findings);
        let full = Bytes(profile.transport.payload());
        if let Some(answer) = spec.answer().map(Bytes).filter(|&answer| answer > full) {
            let (field, what) = spec.answer_name();
            findings.error(
                &format!("{}.{field}", spec.name()),
                format!("{what} of {answer} does not fit into a segment of {full}"),
                "write at most the payload of a full segment",
            );
        }
    }
}

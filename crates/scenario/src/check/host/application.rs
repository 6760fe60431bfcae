//! Whether applications have a connection to write into, and frames to write.

use floodway_model::{Bytes, Duration, Rate};
use floodway_sim::host::application::Spec;
use floodway_sim::host::transport::Spec as Transport;

use super::super::{Findings, LONGEST_RUN, rough_bytes, rough_time};
use crate::document::Document;
use crate::workload::{Entry, Spec as Traffic};

/// More than any encoder makes of one picture; segments are numbered in 32 bits.
const LARGEST_FRAME: Bytes = Bytes(1_000_000_000);

/// Checks the applications of all workloads.
pub fn check(settings: &Document, findings: &mut Findings<'_>) {
    let profiles = settings.profiles();
    for (number, (entry, profile)) in settings.workload.iter().zip(profiles).enumerate() {
        let Some(spec) = &profile.application else { continue };
        let path = format!("workload.{number}.application");
        if !matches!(profile.transport, Transport::Tcp(_)) {
            findings.error(
                &[&path],
                format!(
                    "an application writes frame by frame, and `{}` takes messages as a whole",
                    profile.transport.name()
                ),
                "choose [workload.transport.tcp], or remove [workload.application]",
            );
        }
        if all_have_sizes(entry) {
            findings.error(
                &[&path],
                "every flow of the workload has a size, so the application would write nothing",
                "leave out `bytes`, choose [workload.long_flows], or remove [workload.application]",
            );
        }
        parameters(&path, spec, findings);
    }
}

/// Whether none of a workload's flows is without a size.
fn all_have_sizes(entry: &Entry) -> bool {
    match &entry.traffic {
        Traffic::ManyToMany(_)
        | Traffic::IncastSeries(_)
        | Traffic::Poisson(_)
        | Traffic::Saturated(_) => true,
        Traffic::Incast(spec) => spec.bytes.is_some(),
        Traffic::List(spec) => spec.flow.iter().all(|flow| flow.bytes.is_some()),
        Traffic::LongFlows(_) => false,
    }
}

fn parameters(path: &str, spec: &Spec, findings: &mut Findings<'_>) {
    let field = |name: &str| format!("{path}.{name}");
    let interval = spec.frame_interval;
    findings.positive(&field("frame_interval"), interval);
    if interval > LONGEST_RUN {
        findings.error(
            &[&field("frame_interval")],
            format!("a frame every {} is too seldom", rough_time(interval)),
            format!("at most {LONGEST_RUN} are possible; 20ms are 50 frames per second"),
        );
    }
    if spec.min_rate == Rate(0) {
        findings.error(
            &[&field("min_rate")],
            "the encoder's lowest rate is zero, and from zero it could not grow",
            "write a rate above 0, for example \"500kbps\"",
        );
    }
    if !(spec.min_rate <= spec.start_rate && spec.start_rate <= spec.max_rate) {
        findings.error(
            &[&field("start_rate"), &field("max_rate"), &field("min_rate")],
            format!(
                "the encoder would begin at {}, and its rates are {} to {}",
                spec.start_rate, spec.min_rate, spec.max_rate
            ),
            "set `start_rate` from `min_rate` to `max_rate`",
        );
    }
    largest(&field("max_rate"), spec.max_rate, interval, findings);
    if !(spec.utilisation > 0.0 && spec.utilisation <= 1.0) {
        findings.error(
            &[&field("utilisation")],
            format!("the encoder would fill {} of the transport's rate", spec.utilisation),
            "write a number above 0 and at most 1, for example 0.8",
        );
    }
    if !(spec.growth >= 0.0 && spec.growth.is_finite()) {
        findings.error(
            &[&field("growth")],
            format!("the encoder's rate would grow by {} from frame to frame", spec.growth),
            "write 0 or more; 0.02 doubles it in 35 frames",
        );
    }
}

/// Whether the largest frame can be numbered.
fn largest(path: &str, rate: Rate, interval: Duration, findings: &mut Findings<'_>) {
    let bits = u128::from(rate.0) * u128::from(interval.0) / 1_000_000_000_000;
    let bytes = Bytes(u64::try_from(bits / 8).unwrap_or(u64::MAX));
    if interval <= LONGEST_RUN && bytes > LARGEST_FRAME {
        findings.error(
            &[path],
            format!("at {rate} a frame every {interval} has {}", rough_bytes(bytes)),
            format!("frames have at most {}: lower `max_rate`", rough_bytes(LARGEST_FRAME)),
        );
    }
}

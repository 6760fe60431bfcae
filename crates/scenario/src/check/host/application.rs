//! Whether applications have a connection to write into, and something to write.

use floodway_model::{Bytes, Duration, Rate};
use floodway_sim::host::application::{Spec, entries, interactive};
use floodway_sim::host::transport::Spec as Transport;

use super::super::{Findings, LONGEST_RUN, rough_bytes, rough_time};
use crate::document::Document;

/// More than any encoder makes of one picture; segments are numbered in 32 bits.
const LARGEST_FRAME: Bytes = Bytes(1_000_000_000);

/// Checks the applications of all workloads.
pub fn check(settings: &Document, findings: &mut Findings<'_>) {
    let profiles = settings.profiles();
    for (number, (entry, profile)) in settings.workload.iter().zip(profiles).enumerate() {
        let Some(spec) = &profile.application else { continue };
        let path = format!("workload.{number}.application");
        let own = format!("{path}.{}", spec.name());
        if !matches!(profile.transport, Transport::Tcp(_)) {
            findings.error(
                &[&path],
                format!(
                    "an application writes bit by bit, and `{}` takes messages as a whole",
                    profile.transport.name()
                ),
                "choose [workload.transport.tcp], or remove [workload.application]",
            );
        }
        if entry.traffic.member().all_have_sizes() {
            findings.error(
                &[&path],
                "every flow of the workload has a size, so the application would write nothing",
                "leave out `bytes`, choose [workload.long_flows], or remove [workload.application]",
            );
        }
        match spec {
            Spec::Interactive(spec) => interactive(&own, spec, findings),
            Spec::Entries(spec) => entries(&own, spec, &profile.transport, findings),
        }
    }
}

fn interactive(path: &str, spec: &interactive::Spec, findings: &mut Findings<'_>) {
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

/// More than any request; segments are numbered in 32 bits.
const LARGEST_ENTRY: Bytes = LARGEST_FRAME;

/// More than any connection has under way.
const MOST_OUTSTANDING: u32 = 1_000_000;

fn entries(path: &str, spec: &entries::Spec, transport: &Transport, findings: &mut Findings<'_>) {
    let field = |name: &str| format!("{path}.{name}");
    if spec.mean == Bytes(0) {
        let help = "write the mean of the exponential distribution, for example \"8000B\"";
        findings.error(&[&field("mean")], "entries would have 0 bytes in the mean", help);
    }
    if spec.least == Bytes(0) {
        let help = "write at least \"1B\"";
        findings.error(&[&field("least")], "an entry of 0 bytes would never arrive", help);
    }
    if spec.least > spec.most {
        findings.error(
            &[&field("least"), &field("most")],
            format!("the smallest entry ({}) is above the largest ({})", spec.least, spec.most),
            "lower `least`, or raise `most`",
        );
    }
    if spec.most > LARGEST_ENTRY {
        findings.error(
            &[&field("most")],
            format!("an entry could have {}", rough_bytes(spec.most)),
            format!("entries have at most {}", rough_bytes(LARGEST_ENTRY)),
        );
    }
    let full = Bytes(transport.payload());
    if spec.answer > full {
        findings.error(
            &[&field("answer")],
            format!("an answer of {} does not fit into a segment of {full}", spec.answer),
            "write at most the payload of a full segment",
        );
    }
    for (name, time) in [("think", spec.think), ("interval", spec.interval)] {
        if let Some(time) = time.filter(|&time| time > LONGEST_RUN) {
            let message = format!("`{name}` is {}", rough_time(time));
            let help = format!("at most {LONGEST_RUN} are possible, which is longer than any run");
            findings.error(&[&field(name)], message, help);
        }
    }
    loops(path, spec, findings);
}

/// Whether entries come in a closed loop or in an open one, and not in both.
fn loops(path: &str, spec: &entries::Spec, findings: &mut Findings<'_>) {
    let field = |name: &str| format!("{path}.{name}");
    if let Some(interval) = spec.interval {
        findings.positive(&field("interval"), interval);
        let closed = [("outstanding", spec.outstanding.is_some()), ("think", spec.think.is_some())];
        for (name, _) in closed.into_iter().filter(|(_, written)| *written) {
            findings.error(
                &[&field(name), &field("interval")],
                format!(
                    "entries come every `interval`, whatever is under way, and `{name}` would wait"
                ),
                format!("keep `interval` for an open loop, or `{name}` for a closed one"),
            );
        }
    }
    match spec.outstanding {
        Some(0) => findings.error(
            &[&field("outstanding")],
            "0 requests would be outstanding",
            "write at least 1, or `interval` for entries that come by the clock",
        ),
        Some(count) if count > MOST_OUTSTANDING => findings.error(
            &[&field("outstanding")],
            format!("{count} requests would be outstanding at once"),
            format!("at most {MOST_OUTSTANDING} are possible"),
        ),
        _ => {}
    }
}

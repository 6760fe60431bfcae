//! Checks of Directional Rate Control: severities can rise and fall, rates can recover, and queues
//! by direction are possible.

use floodway_model::check::{Check, Findings};
use floodway_model::packet::length;
use floodway_model::{Bytes, Duration, Graph, Rate};

use super::{DIRECTIONS, Spec};
use crate::switch::buffer::Holder;
use crate::switch::check::{CheckBeside, Facts};

/// Smallest reasonable rate factor: a full frame in 12 ms at 1 Gb/s.
const LEAST_FACTOR: f64 = 0.001;

/// Share of a link that repeated feedback may take at most, and the share above which there is a
/// warning.
const MOST_FEEDBACK: f64 = 0.5;
const MUCH_FEEDBACK: f64 = 0.1;

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        let [first, second, third] = self.thresholds;
        if !(0.0 < first && first < second && second < third && third <= 1.0) {
            findings.error(
                "thresholds",
                format!(
                    "the thresholds {first}, {second} and {third} do not rise from above 0 to 1"
                ),
                "they are fractions of a port's buffer, for example [0.25, 0.5, 0.75]",
            );
        }
        if !(0.0..first).contains(&self.hysteresis) {
            findings.error(
                ["hysteresis", "thresholds"],
                format!("a hysteresis of {} is not below the first threshold, {first}", self.hysteresis),
                "severity 1 would never end: write a fraction of the buffer from 0, for example 0.05",
            );
        }
        let why = "the thresholds are parts of it; remove it for that of the queues";
        findings.positive("buffer", self.buffer, why);
        findings.positive("interval", self.interval, "usual is 10us");
        findings.latency("interval", self.interval);
        findings.latency("min_gap", self.min_gap);
        findings.latency("cut_interval", self.cut_interval);
        let why = "0.5 halves the rate factor";
        findings.weight("decrease", self.decrease, why);
        let why = "1.25 raises the rate factor by a quarter";
        findings.range("increase", self.increase, 1.0.., why);
        let why = "0.01 adds a hundredth of the whole rate";
        findings.range("increment", self.increment, 0.0..=1.0, why);
        if self.increase == 1.0 && self.increment == 0.0 && self.decrease < 1.0 {
            findings.error(
                ["increment", "increase"],
                "an increase changes nothing, so rates never recover from a decrease",
                "raise `increase` above 1 or `increment` above 0",
            );
        }
        let why = "0.01 is a hundredth of the whole rate";
        findings.range("min_factor", self.min_factor, LEAST_FACTOR..=1.0, why);
    }
}

impl CheckBeside for Spec {
    fn check_beside(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        self.check_memory(facts, findings);
        facts.check_queues("classes", &self.classes, findings);
        let switch = facts.switch;
        if facts.host.buffer.is_none() && switch.flow_control.bfc.is_none() {
            findings.error(
                "",
                "NICs have no buffer, so there is nothing that they could hold back by direction",
                "write how much they have, for example `host.buffer` = \"64KB\"",
            );
        }
        if switch.flow_control.bfc.is_some() {
            findings.error(
                "",
                "Directional Rate Control and Backpressure Flow Control are both on",
                "each divides the queues of a port differently: remove one of the two, for example \
                 with `switch.flow_control.bfc = false`",
            );
        }
        if switch.flow_control.congestion_isolation.is_some() {
            findings.error(
                "",
                "Directional Rate Control and Congestion Isolation are both on",
                "packets leave by direction, and Congestion Isolation counts on those in the queue to \
                 leave in their order: remove one of the two, for example with \
                 `switch.flow_control.congestion_isolation = false`",
            );
        }
        let no_times =
            "with Directional Rate Control packets leave by direction and no times are kept";
        let aqm = &switch.aqm;
        if aqm.decides_on_departure() || aqm.needs_times() {
            let path = format!("switch.aqm.{}", aqm.name());
            let otherwise = "choose an AQM that decides at enqueue by the backlog, for example [switch.aqm.red]";
            findings.error(
                ["", &format!("/{path}")],
                format!("`{path}` needs departing packets or waiting times, and {no_times}"),
                aqm.on_arrival_instead().unwrap_or(otherwise),
            );
        }
        if switch.scheduler.needs_times() {
            let path = format!("switch.scheduler.{}", switch.scheduler.name());
            findings.error(
                ["", &format!("/{path}")],
                format!("`{path}` needs the waiting times of head packets, and {no_times}"),
                "choose another scheduler, for example [switch.scheduler.drr]",
            );
        }
        if facts.departures {
            findings.error(
                ["/departures", ""],
                format!("departures are recorded with times, and {no_times}"),
                "remove `departures` or [switch.flow_control.drc]",
            );
        }
    }

    /// Checks that links have capacity left beside feedback, which has priority over everything
    /// else.
    fn check_on(&self, facts: &Facts<'_>, graph: &Graph, findings: &mut Findings<'_>) {
        let bytes = Bytes(u64::from(length::SHORTEST_FRAME) + facts.wire_overhead.0);
        let ends = graph.switches().flat_map(|switch| {
            let node = graph.node(switch);
            let groups = node.ports.len().div_ceil(DIRECTIONS) as u64;
            node.ports.iter().map(move |end| (end.rate, groups, &node.name, end.peer))
        });
        let share = |rate: Rate, groups: u64| {
            let one = rate.time_for(bytes);
            let apart = (self.interval.0 as f64 / groups as f64).max(self.min_gap.0 as f64);
            (one, one.0 as f64 / apart)
        };
        let most = ends.max_by(|a, b| share(a.0, a.1).1.total_cmp(&share(b.0, b.1).1));
        let Some((rate, groups, switch, peer)) = most.filter(|_| self.interval.0 > 0) else {
            return;
        };
        let (one, share) = share(rate, groups);
        if share <= MUCH_FEEDBACK {
            return;
        }
        let frames = match groups {
            1 => format!("one frame of {one}"),
            _ => format!("{groups} frames of {one} each"),
        };
        let taken =
            if share < 1.0 { format!("takes {share:.2}") } else { "leaves nothing".to_owned() };
        let message = format!(
            "feedback of {frames} every {} {taken} of the link of {rate} from {switch} to {}",
            self.interval,
            graph.node(peer).name
        );
        // Up to one tenth of the link.
        let remedy = format!("raise `interval` to {} or more", Duration(one.0 * groups * 10));
        if share > MOST_FEEDBACK {
            findings.error(["interval", ""], message, remedy);
        } else {
            findings.warn(["interval", ""], message, remedy);
        }
    }
}

impl Spec {
    /// Checks that the buffer size to which the thresholds refer is known, and that a single frame
    /// does not reach them.
    fn check_memory(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        let switch = facts.switch;
        let remedy =
            "write of how many bytes the thresholds are parts, as `switch.flow_control.drc.buffer`";
        let why = match switch.buffer.limit(&switch.queue).of {
            _ if self.buffer.is_some() => None,
            Holder::Queue => None,
            Holder::Port => {
                Some("queues share the buffer of a port, so that it is not the sum of theirs")
            }
            Holder::Switch => {
                Some("the buffer of the switch is shared, so no part of it belongs to a port")
            }
        };
        if let Some(why) = why {
            return findings.error(["buffer", ""], why, remedy);
        }
        let buffer = self.buffer(switch.queue.count, switch.queue.size);
        let frame = Bytes(facts.largest_frame.unwrap_or(0).into());
        let [_, slows, _] = self.rises(buffer).map(Bytes);
        if buffer > Bytes(0) && self.thresholds[1] > 0.0 && slows <= frame {
            findings.warn(
                ["thresholds", "buffer", ""],
                format!("one frame that waits ({frame}) reaches the second threshold ({slows})"),
                format!(
                    "each one slows its direction down, to {} of the rate in the end: raise the \
                     thresholds, or `switch.flow_control.drc.buffer`",
                    self.min_factor
                ),
            );
        }
    }
}

//! Cross-checks of switch parameters: what mechanisms require of each other and of the network.

use floodway_model::check::{Check, Findings};
use floodway_model::id::CLASSES;
use floodway_model::packet::length;
use floodway_model::{Bytes, Duration, Graph};

use super::Spec;
use super::buffer::Limit;
use crate::host::{self, Profile};

/// The most data queues of a port. One class is reserved for feedback and notifications.
pub const MOST_QUEUES: u8 = CLASSES as u8 - 1;

/// Context of a check: what a mechanism may look at besides its own parameters.
pub struct Facts<'a> {
    /// Parameters of all switches.
    pub switch: &'a Spec,
    /// Parameters of all hosts.
    pub host: &'a host::Spec,
    /// Transport profiles of the flows.
    pub profiles: &'a [Profile],
    /// The longest frame, in bytes; `None` if it cannot be computed because something else is
    /// invalid.
    pub largest_frame: Option<u16>,
    /// Preamble and interframe gap of a frame.
    pub wire_overhead: Bytes,
    /// Time limit of the run.
    pub limit: Duration,
    /// Whether packet departures are recorded.
    pub departures: bool,
    /// Whether any flow has a finite size.
    pub has_sizes: bool,
}

impl Facts<'_> {
    /// The buffer space that the longest frame occupies, in whole cells.
    pub fn largest_occupied(&self) -> Option<u16> {
        self.largest_frame.map(|frame| self.switch.cell.occupied(frame))
    }

    /// Checks that the data queue named by a field exists.
    pub fn check_queue(&self, field: &str, queue: u8, findings: &mut Findings<'_>) {
        let count = self.switch.queue.count;
        if queue >= count {
            findings.error(
                [field, "/switch.queue.count"],
                format!("`{}` names queue {queue}, but {}", findings.path(field), there_are(count)),
                if queue < MOST_QUEUES {
                    format!("name another queue, or raise `switch.queue.count` to {}", queue + 1)
                } else {
                    format!("name another queue: at most {MOST_QUEUES} are possible")
                },
            );
        }
    }

    /// Checks that the data queues named by a list exist, if the list names any.
    pub fn check_queues(&self, field: &str, queues: &[u8], findings: &mut Findings<'_>) {
        let count = self.switch.queue.count;
        if let Some(index) = queues.iter().position(|&queue| queue >= count) {
            findings.error(
                &format!("{field}.{index}"),
                format!(
                    "`{}` names queue {}, but {}",
                    findings.path(field),
                    queues[index],
                    there_are(count)
                ),
                "name queues that there are, or none for all",
            );
        }
    }

    /// Checks that there are exactly the two data queues that the scheduler needs.
    pub fn check_two_queues(&self, findings: &mut Findings<'_>) {
        let count = self.switch.queue.count;
        if count != 2 {
            findings.error(
                ["", "/switch.queue.count"],
                format!("`{}` is for two queues, but {}", findings.path(""), there_are(count)),
                "write `switch.queue.count` = 2, or choose [switch.scheduler.drr]",
            );
        }
    }
}

/// The number of data queues, in words for messages.
pub fn there_are(count: u8) -> String {
    match count {
        0 => "there is no data queue".to_owned(),
        1 => "there is one data queue (0)".to_owned(),
        _ => format!("there are {count} data queues (0 to {})", count - 1),
    }
}

/// Parameters of an optional mechanism, which is enabled by the presence of its table.
pub trait CheckBeside: Check {
    /// Checks that the mechanism is compatible with the other mechanisms of the scenario.
    fn check_beside(&self, _facts: &Facts<'_>, _findings: &mut Findings<'_>) {}

    /// A field with a queue depth that queues must be able to reach, its value, and the consequence
    /// if they cannot.
    fn threshold(&self) -> Option<(&'static str, Bytes, &'static str)> {
        None
    }

    /// Checks that the mechanism fits the network.
    fn check_on(&self, _facts: &Facts<'_>, _graph: &Graph, _findings: &mut Findings<'_>) {}
}

impl Spec {
    /// Checks that the mechanisms are compatible with each other and with the hosts. `findings` are
    /// about `switch`.
    pub fn check_beside(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        self.check_sizes(facts, findings);
        if (1..=MOST_QUEUES).contains(&self.queue.count) {
            let classify = format!("classify.{}", self.classify.name());
            self.classify.check_beside(facts, &mut findings.within(classify));
            self.aqm.check_beside(facts, &mut findings.within(format!("aqm.{}", self.aqm.name())));
            let scheduler = format!("scheduler.{}", self.scheduler.name());
            self.scheduler.check_beside(facts, &mut findings.within(scheduler));
        }
        self.queue.discipline.check_beside(facts, &mut findings.within("queue.discipline"));
        let overflow = format!("overflow.{}", self.overflow.name());
        self.overflow.member().check_beside(facts, &mut findings.within(overflow));
        self.fabric
            .check_beside(facts, &mut findings.within(format!("fabric.{}", self.fabric.name())));
        self.path.check_beside(facts, &mut findings.within(format!("path.{}", self.path.name())));
        let buffer = format!("buffer.{}", self.buffer.name());
        self.buffer.check_beside(facts, &mut findings.within(buffer));
        if let Some(spec) = &self.congestion_indication {
            spec.check_beside(facts, &mut findings.within("congestion_indication"));
        }
        self.flow_control.check_beside(facts, &mut findings.within("flow_control"));
        let bfc = self.flow_control.bfc.is_some();
        if facts.departures && bfc {
            findings.error(
                ["/departures", "flow_control.bfc"],
                "departures are recorded by queue, and with Backpressure Flow Control packets leave by \
                 physical queue",
                "remove `departures` or [switch.flow_control.bfc]",
            );
        }
    }

    /// Checks that the mechanisms fit the network. `findings` are about `switch`.
    pub fn check_on(&self, facts: &Facts<'_>, graph: &Graph, findings: &mut Findings<'_>) {
        self.queue.discipline.check_on(graph, &mut findings.within("queue.discipline"));
        self.path.check_on(facts, graph, &mut findings.within("path"));
        self.flow_control.check_on(facts, graph, &mut findings.within("flow_control"));
    }

    /// Checks that queues and ports can hold a frame of the largest size.
    fn check_sizes(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        let frame = facts.largest_occupied().unwrap_or(0);
        if let Some(longest) = facts.largest_frame.filter(|frame| !self.cell.holds(*frame)) {
            findings.error(
                "cell",
                format!("the longest frame has {longest} bytes, in whole cells more than 64 KB"),
                "lower the MTU, or remove `switch.cell`",
            );
        }
        let queue = &self.queue;
        let mut holds = |field: &str, size: Bytes, what: &str, bytes: u16| {
            if size.0 < u64::from(bytes) {
                let path = findings.path(field);
                findings.error(
                    field,
                    format!("`{path}` is {size}, which cannot hold {what} of {bytes} bytes"),
                    format!("raise `{path}`, for example to \"1MB\""),
                );
            }
        };
        if let Limit { bytes: Some(size), field, .. } = self.buffer.limit(queue) {
            holds(&format!("/{field}"), size, "one frame", frame);
        }
        let qcn = self.flow_control.qcn.as_ref();
        let largest = qcn.map_or(0, |qcn| qcn.message_bytes(u16::MAX)).max(length::CIM);
        holds("queue.control_size", queue.control_size, "one message", largest);
        if !(1..=MOST_QUEUES).contains(&queue.count) {
            findings.error(
                "queue.count",
                format!("`switch.queue.count` is {}", queue.count),
                format!(
                    "write 1 to {MOST_QUEUES}: a link has {CLASSES} classes, one is for control"
                ),
            );
        }
    }
}

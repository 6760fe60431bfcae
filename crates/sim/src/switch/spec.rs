use std::borrow::Cow;

use floodway_model::check::{Check, Findings};
use floodway_model::{Bytes, Duration, Packet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cell::Cell;
use super::flow_control::congestion_isolation::Mark;
use super::{
    aqm, buffer, classify, congestion_indication, discipline, fabric, feedback, flow_control,
    overflow, path, scheduler,
};

/// Parameters of a switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Static latency, from the arrival of a frame's last bit until the frame is in its egress
    /// queue. Default 0ns.
    pub latency: Duration,
    /// The egress queues of each port.
    pub queue: QueueSpec,
    /// The switch fabric between input and output ports. Default `output_queued`: no crossbar.
    /// Ideal completion times always assume an output-queued network, so that all fabrics are
    /// compared with the same reference: with a crossbar, a flow alone in the network has a
    /// slowdown slightly above 1.
    pub fabric: fabric::Spec,
    /// The memory is allocated in cells of this size: in queues, and for all thresholds, a frame
    /// counts as whole cells. Default 1B: frames count as they are.
    #[serde(skip_serializing_if = "Cell::is_byte")]
    #[schemars(with = "Bytes")]
    pub cell: Cell,
    /// Buffer limits of queues.
    pub buffer: buffer::Spec,
    /// Classifier: the data queue of each packet.
    pub classify: classify::Spec,
    /// The class of feedback and notifications. Default: the control class for all kinds.
    #[serde(skip_serializing_if = "feedback::Spec::is_default")]
    pub feedback: feedback::Spec,
    /// What happens to data that finds no room in the buffer. Default `drop`.
    #[serde(skip_serializing_if = "overflow::Spec::is_drop")]
    pub overflow: overflow::Spec,
    /// Active queue management: how queues signal congestion to senders.
    pub aqm: aqm::Spec,
    /// Whether AQMs may signal congestion at ports to hosts. Default true. With false, packets that an
    /// AQM would mark there, or would drop because they are not ECN-capable, pass. Ultra Ethernet
    /// (section 3.6.14) does not mark at the last hop if receivers give credit (`host.congestion.rccc`).
    #[serde(skip_serializing_if = "is_true")]
    pub marks_to_hosts: bool,
    /// Layer 2 congestion indication instead of marks. Enabled by the presence of its table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion_indication: Option<congestion_indication::Spec>,
    /// Scheduler: which queue of a port sends next.
    pub scheduler: scheduler::Spec,
    /// Path selection: which of several equal-cost paths a packet takes.
    pub path: path::Spec,
    /// Flow control between neighbors, and congestion messages of switches.
    pub flow_control: flow_control::Spec,
}

fn is_true(value: &bool) -> bool {
    *value
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            latency: Duration::ZERO,
            queue: QueueSpec::default(),
            fabric: fabric::Spec::default(),
            cell: Cell::default(),
            buffer: buffer::Spec::default(),
            classify: classify::Spec::default(),
            feedback: feedback::Spec::default(),
            overflow: overflow::Spec::default(),
            aqm: aqm::Spec::default(),
            marks_to_hosts: true,
            congestion_indication: None,
            scheduler: scheduler::Spec::default(),
            path: path::Spec::default(),
            flow_control: flow_control::Spec::default(),
        }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.latency("latency", self.latency);
        self.queue.discipline.check(&mut findings.within("queue.discipline"));
        self.fabric.check(&mut findings.within("fabric"));
        self.cell.check(&mut findings.within("cell"));
        if !self.cell.is_byte() && self.fabric.lines().is_some() {
            findings.error(
                ["cell", "fabric"],
                "cells are counted in egress queues, and with a crossbar data waits at the inputs",
                "remove `switch.cell`, or choose [switch.fabric.output_queued]",
            );
        }
        self.buffer.check(&mut findings.within("buffer"));
        self.classify.check(&mut findings.within("classify"));
        self.overflow.check(&mut findings.within("overflow"));
        self.aqm.check(&mut findings.within("aqm"));
        if let Some(spec) = &self.congestion_indication {
            spec.check(&mut findings.within("congestion_indication"));
        }
        self.scheduler.check(&mut findings.within("scheduler"));
        self.path.check(&mut findings.within("path"));
        self.flow_control.check(&mut findings.within("flow_control"));
    }
}

impl Spec {
    /// The home queue: the data queue that the packet joins if its flow is not isolated.
    #[inline]
    pub fn data_queue(&self, packet: &Packet) -> usize {
        let queue = self.classify.queue(packet.dscp(), packet.ecn(), packet.dst, self.queue.count);
        usize::from(queue)
    }

    /// The path of the field because of which no packet leaves with CE; `None` if some may.
    pub fn no_marks(&self) -> Option<&'static str> {
        if self.congestion_indication.as_ref().is_some_and(|spec| !spec.forward) {
            return Some("switch.congestion_indication.forward");
        }
        match self.flow_control.congestion_isolation.as_ref().map(|isolation| isolation.mark) {
            Some(Mark::Detected | Mark::All) => None,
            Some(Mark::Aqm | Mark::None) | None => self.aqm_never_marks(),
        }
    }

    /// The path of the field because of which the AQM, or that of the queue discipline, never marks;
    /// `None` if it may mark.
    pub fn aqm_never_marks(&self) -> Option<&'static str> {
        match self.queue.discipline.has_aqm() {
            true => self.queue.discipline.no_marks(),
            false => self.aqm.no_marks(),
        }
    }

    /// Where the AQM is chosen: its table, or that of a queue discipline with an AQM of its own.
    pub fn aqm_table(&self) -> String {
        let family = if self.queue.discipline.has_aqm() { "queue.discipline" } else { "aqm" };
        format!("switch.{family}.{}", self.aqm_name())
    }

    /// The name of the AQM, or of a queue discipline with an AQM of its own.
    pub fn aqm_name(&self) -> &'static str {
        match self.queue.discipline.has_aqm() {
            true => self.queue.discipline.name(),
            false => self.aqm.name(),
        }
    }

    /// The fields of that table that, with these values, affect only ECN-capable packets.
    pub fn aqm_needs_ecn(&self) -> &'static [&'static str] {
        match self.queue.discipline.has_aqm() {
            true => self.queue.discipline.needs_ecn(),
            false => self.aqm.needs_ecn(),
        }
    }

    /// Whether an AQM may drop or mark packets.
    pub const fn has_aqm(&self) -> bool {
        !matches!(self.aqm, aqm::Spec::DropTail(_)) || self.queue.discipline.has_aqm()
    }

    /// These parameters with the buffer of the switch of this name, if buffers differ between
    /// switches.
    pub fn with_buffer_of(&self, name: &str) -> Cow<'_, Self> {
        match self.buffer.at(name) {
            Some(buffer) => Cow::Owned(Self { buffer, ..self.clone() }),
            None => Cow::Borrowed(self),
        }
    }
}

/// The egress queues of a port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct QueueSpec {
    /// Data queues per port, 1 to 7. One more queue, with priority over them, carries feedback and
    /// notifications. Default 1.
    pub count: u8,
    /// Maximum bytes in one data queue. With PFC measured on the ingress, the maximum of one
    /// (ingress port, class), and with credit-based flow control too; with PAUSE measured on the ingress, of one ingress
    /// port. Has no effect if `switch.buffer` is `shared`. Default 1MB (Congestion Isolation decks).
    pub size: Bytes,
    /// Maximum bytes in the control queue of a port. Default 1MB (assumed).
    pub control_size: Bytes,
    /// The order in which the packets of each data queue leave. Default `fifo`.
    #[serde(skip_serializing_if = "discipline::Spec::is_fifo")]
    pub discipline: discipline::Spec,
}

impl Default for QueueSpec {
    fn default() -> Self {
        let size = Bytes(1_000_000);
        Self { count: 1, size, control_size: size, discipline: discipline::Spec::default() }
    }
}

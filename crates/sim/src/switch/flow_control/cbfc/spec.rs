use floodway_model::check::{Check, Findings};
use floodway_model::graph::Attachment;
use floodway_model::packet::length;
use floodway_model::{Bytes, Duration, Graph, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::switch::buffer::Holder;
use crate::switch::check::{CheckBeside, Facts};
use crate::switch::flow_control::source_flow_control::Mode;

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Buffer of each ingress port and data class, for which credit is given: at least one frame. A link is only used fully if
    /// this is what it carries in one credit loop: the time of a frame, twice the delay, and the time of a credit frame.
    /// Default 100KB (assumed).
    pub buffer: Bytes,
    /// Freed bytes of an ingress port and class for which a credit frame is sent. Default 4KB (assumed; the
    /// specifications leave it open).
    pub threshold: Bytes,
    /// Maximum time from the release of bytes until a credit frame for them is sent. Default 10us (assumed; InfiniBand
    /// requires a frame every 65,536 symbol times). `false` for no frames below `threshold`.
    pub period: Option<Duration>,
    /// Length of a credit frame, without preamble and interframe gap, 1 to 1518 bytes. Default 64B (the shortest Ethernet
    /// frame).
    pub frame: Bytes,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            buffer: Bytes(100_000),
            threshold: Bytes(4_000),
            period: Some(Duration::from_us(10)),
            frame: Bytes(length::SHORTEST_FRAME.into()),
        }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.positive("buffer", self.buffer, "usual is 100KB");
        findings.positive(
            "threshold",
            self.threshold,
            "with \"1B\" credit is sent whenever bytes are freed",
        );
        findings.positive("period", self.period, "usual is 10us");
        findings.latency("period", self.period);
        findings.range("frame", self.frame, Bytes(1)..=Bytes(1_518), "usual is 64B");
    }
}

impl CheckBeside for Spec {
    fn check_beside(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        self.check_sizes(facts, findings);
        let switch = facts.switch;
        if !switch.cell.is_byte() {
            findings.error(
                ["", "/switch.cell"],
                "credit is counted in bytes, and a frame takes whole cells of memory",
                "remove `switch.cell`",
            );
        }
        let others = &switch.flow_control;
        let proxies =
            others.source_flow_control.as_ref().is_some_and(|sfc| sfc.mode == Mode::Proxy);
        for (is_on, field, what) in [
            (others.pfc.is_some(), "pfc", "PFC"),
            (others.pause.is_some(), "pause", "PAUSE"),
            (proxies, "source_flow_control", "proxies of source flow control"),
        ] {
            if is_on {
                findings.error(
                    ["", &format!("/switch.flow_control.{field}")],
                    format!("neighbors are stopped both by missing credit and by {what}"),
                    format!("remove one of the two, for example with `switch.flow_control.{field} = false`"),
                );
            }
        }
        if !switch.feedback.is_default() {
            findings.error(
                ["/switch.feedback", ""],
                "feedback in data queues uses the buffer of a class, and credit is counted for data only",
                "remove [switch.feedback], so that feedback is in the control class",
            );
        }
    }

    fn check_on(&self, facts: &Facts<'_>, graph: &Graph, findings: &mut Findings<'_>) {
        let needed = graph.ends().map(|end| (self.needed(facts, end, graph.rate_to(end)), end));
        let Some((needed, end)) = needed.max_by_key(|(needed, _)| *needed) else { return };
        if self.buffer < needed {
            findings.warn(
                ["buffer", ""],
                format!(
                    "a link of {} with a delay of {} needs credit for {needed} to be used fully, and `{}` is {}",
                    end.rate,
                    end.delay,
                    findings.path("buffer"),
                    self.buffer
                ),
                "the sender waits for credit even without congestion: raise `buffer`, unless that is meant",
            );
        }
    }
}

impl Spec {
    /// What a link carries in one credit loop, in whole frames of the greatest length: the time of the frame, the delay there and
    /// back, the time of a credit frame, and the time until enough is freed for one.
    fn needed(&self, facts: &Facts<'_>, end: &Attachment, back: Rate) -> Bytes {
        let frame = u64::from(facts.largest_frame.unwrap_or(0)).max(1);
        let on_wire = |bytes: u64| end.rate.time_for(Bytes(bytes + facts.wire_overhead.0));
        let each = on_wire(frame);
        let more = self.threshold.0.div_ceil(frame).saturating_sub(1);
        let gathers =
            Duration(each.0.saturating_mul(more)).min(self.period.unwrap_or(Duration(u64::MAX)));
        let latency = facts.switch.latency;
        let looped = each
            + end.delay * 2
            + latency
            + back.time_for(Bytes(self.frame.0 + facts.wire_overhead.0))
            + gathers;
        Bytes(looped.0.div_ceil(each.0.max(1)).saturating_mul(frame))
    }

    /// Checks that frames fit into the buffer, and the buffer into the memory of a switch.
    fn check_sizes(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        let frame = facts.largest_frame.map_or(1, u64::from);
        let path = findings.path("buffer");
        if (1..frame).contains(&self.buffer.0) {
            findings.error(
                "buffer",
                format!(
                    "`{path}` is {}, which cannot hold one frame of {frame} bytes",
                    self.buffer
                ),
                format!("raise `{path}`: with less nothing is ever sent"),
            );
        } else if self.period.is_none()
            && self.threshold.0.saturating_add(frame - 1) > self.buffer.0
        {
            findings.error(
                ["threshold", "period", ""],
                format!(
                    "no credit is sent for less than {} of freed buffer, and without it `{path}` ({}) may have no room \
                     for a frame of {frame} bytes",
                    self.threshold, self.buffer
                ),
                "the neighbor would wait for ever: lower `threshold`, raise `buffer`, or write a `period`",
            );
        }
        let switch = facts.switch;
        let limit = switch.buffer.limit(&switch.queue);
        let queues = u64::from(switch.queue.count);
        let (needed, what) = match limit.of {
            Holder::Queue => (self.buffer.0, "for one class"),
            Holder::Port => (self.buffer.0.saturating_mul(queues), "for all classes of a port"),
            Holder::Switch => {
                return findings.error(
                    ["", "/switch.buffer"],
                    "credit promises a buffer of its own to each ingress port and class, and the memory is shared",
                    "choose [switch.buffer.per_queue] or [switch.buffer.per_port]",
                );
            }
        };
        if let Some(size) = limit.bytes.filter(|size| size.0 < needed) {
            findings.error(
                ["buffer", &format!("/{}", limit.field), ""],
                format!("`{path}` needs {} {what}, and `{}` is {size}", Bytes(needed), limit.field),
                format!("lower `{path}`, or raise `{}`", limit.field),
            );
        }
    }
}

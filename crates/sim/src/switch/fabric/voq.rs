//! Virtual output queues: at every ingress port one queue for each egress port and data queue, so
//! that no frame blocks one for another output. Which inputs send to which outputs is found by
//! iSLIP (McKeown, "The iSLIP Scheduling Algorithm for Input-Queued Switches", IEEE/ACM ToN 7(2),
//! 1999), which carries 100 % of uniform traffic.

use std::collections::VecDeque;

use floodway_model::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::CongestionAt;
use super::crossbar::Waiting;
use super::requests::Requests;

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// How many times requests, grants and accepts go round in a slot, at least 1. Default 4 (McKeown
    /// 1999: about log2 N for N ports, and his examples have 16).
    pub iterations: u32,
    /// How many times as fast as the fastest port of the switch each line of the crossbar is, at
    /// least 1. Default 1 (same paper).
    pub speedup: f64,
    /// What crosses in a slot: a frame takes as many slots as it has cells of this size, the last one
    /// padded. Default 64B (Cisco 12000, same paper).
    pub cell: Bytes,
    /// The most bytes in an egress queue, those included that are crossing: as long as the longest
    /// frame would not fit, nothing begins to cross to it. Default: two of the longest frames times the
    /// speedup rounded up, so that one waits for the wire while the next crosses.
    pub egress_queue: Option<Bytes>,
    /// Where queue management, Congestion Isolation, QCN, source flow control, in-band telemetry and the
    /// `least_loaded` choice of a path look for congestion. Default `virtual_output`.
    pub congestion_at: CongestionAt,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            iterations: 4,
            speedup: 1.0,
            cell: Bytes(64),
            egress_queue: None,
            congestion_at: CongestionAt::VirtualOutput,
        }
    }
}

/// What waits at the inputs of a switch.
#[derive(Debug)]
pub(super) struct Inputs {
    /// By input, output and data queue.
    voqs: Vec<VecDeque<Waiting>>,
    ports: usize,
    queues: usize,
}

impl Inputs {
    pub fn new(ports: usize, queues: usize) -> Self {
        Self { voqs: vec![VecDeque::new(); ports * ports * queues], ports, queues }
    }

    fn place(&self, input: usize, output: usize, queue: usize) -> usize {
        (input * self.ports + output) * self.queues + queue
    }

    /// Appends a frame. Whether it is a head now, which the requests know then.
    pub fn push(&mut self, input: usize, frame: Waiting, requests: &mut Requests) -> bool {
        let (output, queue) = (frame.egress.into(), frame.queue.into());
        let place = self.place(input, output, queue);
        let head = self.voqs[place].is_empty();
        if head {
            requests.set(input, output, queue);
        }
        self.voqs[place].push_back(frame);
        head
    }

    /// Takes the head of a queue, which requests for as long as it has another.
    pub fn take(
        &mut self,
        input: usize,
        output: usize,
        queue: usize,
        requests: &mut Requests,
    ) -> Waiting {
        let place = self.place(input, output, queue);
        let frame = self.voqs[place].pop_front().expect("a queue that requests has a frame");
        if self.voqs[place].is_empty() {
            requests.clear(input, output, queue);
        }
        frame
    }

    /// Appends to `taken` all frames that are bound for a queue of an output.
    pub fn take_bound(
        &mut self,
        input: usize,
        output: usize,
        queue: usize,
        requests: &mut Requests,
        taken: &mut Vec<Waiting>,
    ) {
        let place = self.place(input, output, queue);
        requests.clear(input, output, queue);
        taken.extend(self.voqs[place].drain(..));
    }

    /// All queues.
    pub fn rows(&self) -> impl Iterator<Item = &VecDeque<Waiting>> {
        self.voqs.iter()
    }
}

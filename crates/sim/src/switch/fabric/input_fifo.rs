//! One queue per ingress port and data queue, first in, first out: only its head may cross, so that
//! a head whose output is taken blocks all frames behind it, also those for free outputs. With
//! many ports, saturated inputs and uniform destinations 2 - sqrt(2) = 58.6 % of the capacity is left
//! (Karol, Hluchyj and Morgan, IEEE Transactions on Communications 35(12), 1987).
//!
//! Outputs choose among the heads for them in turn. The paper chooses at random; of a uniform
//! destination, whose turn it is says nothing about the next one, and so the throughput is the same.

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
    /// How many times as fast as the fastest port of the switch each line of the crossbar is, at
    /// least 1. Default 1 (Karol, Hluchyj and Morgan 1987: pure input queueing).
    pub speedup: f64,
    /// What crosses in a slot: a frame takes as many slots as it has cells of this size, the last one
    /// padded. Default 64B (Cisco 12000, McKeown 1999).
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
    /// By input and data queue.
    fifos: Vec<VecDeque<Waiting>>,
    queues: usize,
}

impl Inputs {
    pub fn new(ports: usize, queues: usize) -> Self {
        Self { fifos: vec![VecDeque::new(); ports * queues], queues }
    }

    /// Appends a frame. Whether it is a head now, which the requests know then.
    pub fn push(&mut self, input: usize, frame: Waiting, requests: &mut Requests) -> bool {
        let fifo = &mut self.fifos[input * self.queues + usize::from(frame.queue)];
        let head = fifo.is_empty();
        if head {
            requests.set(input, frame.egress.into(), frame.queue.into());
        }
        fifo.push_back(frame);
        head
    }

    /// Takes the head of a queue, and puts the next one in its place among the requests.
    pub fn take(&mut self, input: usize, queue: usize, requests: &mut Requests) -> Waiting {
        let fifo = &mut self.fifos[input * self.queues + queue];
        let frame = fifo.pop_front().expect("a queue that requests has a frame");
        requests.clear(input, frame.egress.into(), queue);
        if let Some(next) = fifo.front() {
            requests.set(input, next.egress.into(), queue);
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
        let fifo = &mut self.fifos[input * self.queues + queue];
        if let Some(head) = fifo.front() {
            requests.clear(input, head.egress.into(), queue);
        }
        let bound = |frame: &&Waiting| usize::from(frame.egress) == output;
        taken.extend(fifo.iter().filter(bound));
        fifo.retain(|frame| !bound(&frame));
        if let Some(head) = fifo.front() {
            requests.set(input, head.egress.into(), queue);
        }
    }

    /// All queues.
    pub fn rows(&self) -> impl Iterator<Item = &VecDeque<Waiting>> {
        self.fifos.iter()
    }
}

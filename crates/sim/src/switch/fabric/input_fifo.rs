//! One queue per ingress port and data queue, first in, first out: only its head may cross, so that
//! a head whose output is taken blocks all frames behind it, also those for free outputs. With
//! many ports, saturated inputs and uniform destinations 2 - sqrt(2) = 58.6 % of the capacity is left
//! (Karol, Hluchyj and Morgan, IEEE Transactions on Communications 35(12), 1987).
//!
//! Outputs choose among the heads for them in turn. The paper chooses at random; of a uniform
//! destination, whose turn it is says nothing about the next one, and so the throughput is the same.

use std::collections::VecDeque;

use floodway_model::check::{Check, Findings};

use super::crossbar::Waiting;
use super::lines::with_lines;
use super::requests::Requests;

with_lines! {
    /// Parameters.
    pub struct Spec {}
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        self.lines().check(findings);
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

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
use super::{Fabric, Lines};

with_lines! {
    /// Parameters.
    pub struct Spec {}
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        self.common().check(findings);
    }
}

// An input requests one output for each data queue: one round is enough unless there are several of these, and
// what is left to be matched is found out by asking again.
impl Fabric for Spec {
    fn lines(&self) -> Option<Lines> {
        Some(self.common())
    }

    fn inputs(&self, ports: usize, queues: usize) -> Option<Box<dyn super::Inputs>> {
        let fifos = vec![VecDeque::new(); ports * queues];
        Some(Box::new(Inputs { fifos, queues }))
    }
}

/// What waits at the inputs of a switch.
#[derive(Debug)]
struct Inputs {
    /// By input and data queue.
    fifos: Vec<VecDeque<Waiting>>,
    queues: usize,
}

impl super::Inputs for Inputs {
    fn push(&mut self, input: usize, frame: Waiting, requests: &mut Requests) -> bool {
        let fifo = &mut self.fifos[input * self.queues + usize::from(frame.queue)];
        let head = fifo.is_empty();
        if head {
            requests.set(input, frame.egress.into(), frame.queue.into());
        }
        fifo.push_back(frame);
        head
    }

    /// The next one takes the place of the head among the requests.
    fn take(
        &mut self,
        (input, _): (usize, usize),
        queue: usize,
        requests: &mut Requests,
    ) -> Waiting {
        let fifo = &mut self.fifos[input * self.queues + queue];
        let frame = fifo.pop_front().expect("a queue that requests has a frame");
        requests.clear(input, frame.egress.into(), queue);
        if let Some(next) = fifo.front() {
            requests.set(input, next.egress.into(), queue);
        }
        frame
    }

    fn take_bound(
        &mut self,
        (input, output): (usize, usize),
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

    fn rows(&self) -> &[VecDeque<Waiting>] {
        &self.fifos
    }
}

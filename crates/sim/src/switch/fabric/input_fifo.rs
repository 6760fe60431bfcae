//! One FIFO queue per ingress port and data queue. Only its head may cross, so a head whose output is
//! busy blocks all frames behind it, even those for free outputs (head-of-line blocking). With many
//! ports, saturated inputs and uniform destinations, throughput is limited to 2 - sqrt(2) = 58.6 %
//! of the capacity (Karol, Hluchyj and Morgan, IEEE Transactions on Communications 35(12), 1987).
//!
//! Outputs serve the heads round robin, where the paper chooses at random. With uniform destinations
//! the next destination is independent of this choice, so the throughput is the same.

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

// An input requests one output per data queue. With one data queue, a single iteration is enough; with
// several, iterations continue until nothing is left to match.
impl Fabric for Spec {
    fn lines(&self) -> Option<Lines> {
        Some(self.common())
    }

    fn inputs(&self, ports: usize, queues: usize) -> Option<Box<dyn super::Inputs>> {
        let fifos = vec![VecDeque::new(); ports * queues];
        Some(Box::new(Inputs { fifos, queues }))
    }
}

/// The input queues of a switch.
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

    /// The next frame of the queue replaces the head in the requests.
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

//! Virtual output queues: at every ingress port one queue for each egress port and data queue, so
//! that no frame blocks one for another output. Inputs are matched to outputs by iSLIP (McKeown,
//! "The iSLIP Scheduling Algorithm for Input-Queued Switches", IEEE/ACM ToN 7(2),
//! 1999), which carries 100 % of uniform traffic.

use std::collections::VecDeque;

use floodway_model::check::{Check, Findings};

use super::crossbar::Waiting;
use super::lines::with_lines;
use super::requests::Requests;
use super::{Fabric, Lines};

with_lines! {
    /// Parameters.
    pub struct Spec {
        /// How many times requests, grants and accepts go round in a slot, at least 1. Default 4
        /// (McKeown 1999: about log2 N for N ports, and his examples have 16).
        pub iterations: u32 = 4,
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        self.common().check(findings);
        let why = "about log2 of the ports are enough";
        findings.range("iterations", self.iterations, 1.., why);
    }
}

impl Fabric for Spec {
    fn lines(&self) -> Option<Lines> {
        Some(self.common())
    }

    fn inputs(&self, ports: usize, queues: usize) -> Option<Box<dyn super::Inputs>> {
        let voqs = vec![VecDeque::new(); ports * ports * queues];
        Some(Box::new(Inputs { voqs, ports, queues }))
    }

    fn iterations(&self) -> u32 {
        self.iterations
    }

    fn queues_per_input(&self, ports: u64) -> u64 {
        ports
    }
}

/// The input queues of a switch.
#[derive(Debug)]
struct Inputs {
    /// By input, output and data queue.
    voqs: Vec<VecDeque<Waiting>>,
    ports: usize,
    queues: usize,
}

impl Inputs {
    fn place(&self, input: usize, output: usize, queue: usize) -> usize {
        (input * self.ports + output) * self.queues + queue
    }
}

impl super::Inputs for Inputs {
    fn push(&mut self, input: usize, frame: Waiting, requests: &mut Requests) -> bool {
        let (output, queue) = (frame.egress.into(), frame.queue.into());
        let place = self.place(input, output, queue);
        let head = self.voqs[place].is_empty();
        if head {
            requests.set(input, output, queue);
        }
        self.voqs[place].push_back(frame);
        head
    }

    fn take(
        &mut self,
        (input, output): (usize, usize),
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

    fn take_bound(
        &mut self,
        (input, output): (usize, usize),
        queue: usize,
        requests: &mut Requests,
        taken: &mut Vec<Waiting>,
    ) {
        let place = self.place(input, output, queue);
        requests.clear(input, output, queue);
        taken.extend(self.voqs[place].drain(..));
    }

    fn rows(&self) -> &[VecDeque<Waiting>] {
        &self.voqs
    }
}

//! Scheduling decisions: strict priority, and the fairness bounds of DRR and WRR.
//!
//! Two queues that could both send at every decision share the link by weight. DRR: queue i sends k
//! times its quantum in k rounds, apart from a deficit below one frame, and the rounds of two queues
//! differ by at most one. With weights w, quantum Q and largest frame M, the bytes of two queues
//! divided by weight differ by at most Q + M/wi + M/wj (Shreedhar and Varghese, SIGCOMM 1995, theorem
//! 4.7). WRR: the credit stays within one frame by weight. `time_shifted` is not checked.

use floodway_model::id::CLASSES;

use super::Log;
use super::network::Network;
use crate::switch::classify::ecn::{CLASSIC, LOW_LATENCY};
use crate::switch::scheduler::{Spec, drr};

/// Bytes sent by the queues of a port, pair by pair.
#[derive(Debug, Default)]
pub struct Fairness {
    /// By pair, the lower queue first: bytes sent since both could send.
    pairs: [[Option<Pair>; CLASSES]; CLASSES],
}

/// Bytes of the first queue times the weight of the second, minus bytes of the second times the
/// weight of the first.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    now: i128,
    least: i128,
    most: i128,
}

impl Fairness {
    /// A queue has become empty.
    pub fn emptied(&mut self, queue: usize) {
        self.pairs[queue] = Default::default();
        self.pairs.iter_mut().for_each(|pairs| pairs[queue] = None);
    }

    /// `queue` sends a frame with `length` bytes on the wire; it and the other queues whose bits are set
    /// in `able` could have sent.
    pub fn sends(
        &mut self,
        (network, spec): (&Network, &Spec),
        (port, queue): (usize, usize),
        able: u8,
        length: u64,
        log: &mut Log,
    ) {
        let count = usize::from(network.spec.switch.queue.count);
        let strict = match spec {
            Spec::Strict(_) => count,
            Spec::Drr(drr) => usize::from(drr.strict),
            Spec::Wrr(_) | Spec::TimeShifted(_) => 0,
        };
        if let Some(above) = (0..strict.min(queue)).find(|above| able >> above & 1 != 0) {
            log.queue(port, queue, format!("sends while queue {above}, which is above it, could"));
        }
        for first in strict..count {
            for second in first + 1..count {
                let pair = &mut self.pairs[first][second];
                if able >> first & able >> second & 1 == 0 {
                    *pair = None;
                    continue;
                }
                let Some(((a, b), bound)) = bound(spec, network, (first, second)) else { continue };
                let pair = pair.get_or_insert_default();
                let sent = i128::from(length);
                pair.now += if queue == first { sent * b } else { 0 };
                pair.now -= if queue == second { sent * a } else { 0 };
                pair.least = pair.least.min(pair.now);
                pair.most = pair.most.max(pair.now);
                let found = pair.most - pair.least;
                if found > bound {
                    *pair = Pair::default();
                    let text = format!(
                        "shares the link unfairly with queue {second}: bytes by weight (times {}) \
                         differ by {found}, and by {bound} at most while both wait",
                        a * b
                    );
                    log.queue(port, first, text);
                }
            }
        }
    }
}

/// The weights of two queues, and the maximum difference between their bytes, each multiplied by the
/// weight of the other.
fn bound(
    spec: &Spec,
    network: &Network,
    (first, second): (usize, usize),
) -> Option<((i128, i128), i128)> {
    let frames = network.spec.profiles.iter().map(|profile| profile.transport.largest_frame());
    let largest = u64::from(frames.max()?) + u64::from(network.spec.wire_overhead);
    let largest = i128::from(largest);
    match spec {
        Spec::Drr(drr) => {
            let (a, b) = (weight(drr, first), weight(drr, second));
            Some(((a, b), i128::from(drr.quantum.0) * a * b + largest * (a + b)))
        }
        Spec::Wrr(wrr) if (first, second) == (LOW_LATENCY, CLASSIC) => {
            let classic = i128::from(wrr.classic_weight);
            Some(((100 - classic, classic), largest * 100))
        }
        Spec::Strict(_) | Spec::Wrr(_) | Spec::TimeShifted(_) => None,
    }
}

fn weight(spec: &drr::Spec, queue: usize) -> i128 {
    spec.weights.get(queue).copied().unwrap_or(1).into()
}

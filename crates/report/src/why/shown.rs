//! What a page shows of the delays of a run: eight kinds of parts are as many as colors can distinguish.

use floodway_model::Delay;

use super::{Explanation, Flow, Group, Root};

/// What parts are called in charts, and which delays they consist of.
pub const KINDS: [(&str, &[Delay]); 8] = [
    ("ideal: serialization and propagation", &[Delay::Serialization, Delay::Propagation]),
    ("paused", &[Delay::Paused]),
    ("behind other flows", &[Delay::OtherFlows]),
    ("behind other classes", &[Delay::OtherClasses, Delay::MacControl]),
    ("limited rate", &[Delay::Rate]),
    ("full window, handshake", &[Delay::Window, Delay::Handshake]),
    ("loss recovery", &[Delay::Recovery]),
    ("own packets, mechanism, receiver", &[Delay::OwnFlow, Delay::Held, Delay::Answer]),
];

/// The place of a delay among them.
pub fn kind(delay: Delay) -> usize {
    let place = KINDS.iter().position(|(_, delays)| delays.contains(&delay));
    place.expect("every delay is in one kind")
}

/// Roots that are kept.
const ROOTS: usize = 5;
/// Parts of a flow that a chart shows.
const PARTS: usize = 50_000;

/// What a page shows of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Digest {
    /// Number of flows that it is about, and of all measured flows.
    pub flows: (usize, usize),
    /// By size class; the last one is all of them.
    pub by_class: Vec<Group>,
    /// The queues at the roots of pauses, those that cost most time first, each with the flows that
    /// filled it, in words.
    pub roots: Vec<(Root, String)>,
    /// Number of roots.
    pub all_roots: usize,
    /// The flow with the largest slowdown, and its name.
    pub slowest: Option<(Flow, String)>,
}

impl Digest {
    /// Of an explanation.
    pub fn of(explanation: &Explanation) -> Self {
        let roots = explanation.roots();
        let slowest = explanation.slowest().into_iter().find_map(|flow| {
            let flow = explanation.flow(flow).filter(|flow| flow.parts.len() <= PARTS)?;
            Some((flow.clone(), explanation.name_of(flow.number)))
        });
        Self {
            flows: (explanation.sample.len(), explanation.measured),
            by_class: explanation.by_class(),
            all_roots: roots.len(),
            roots: roots
                .into_iter()
                .take(ROOTS)
                .map(|root| {
                    let flows = explanation.filled_by(&root.port);
                    (root, flows)
                })
                .collect(),
            slowest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::stack::COLORS;

    #[test]
    fn every_delay_has_one_color() {
        assert_eq!(KINDS.len(), COLORS);
        for delay in Delay::ALL {
            let of = KINDS.iter().filter(|(_, delays)| delays.contains(&delay));
            assert_eq!(of.count(), 1, "{delay:?}");
        }
    }
}

//! Priority-based flow control (IEEE 802.1Q clause 36): which ports and classes are paused.

use std::collections::{BTreeMap, BTreeSet};

use floodway_model::Instant;
use floodway_sim::switch::flow_control::pfc::{MeasuredOn, Spec};

/// A port and the class in which its neighbor sends.
pub type Source = (usize, usize);
/// An egress port and a queue there.
pub type Place = (usize, usize);

/// The PFC of one switch.
#[derive(Debug, Default)]
pub struct Pfc {
    /// Measured on the ingress: the sources above XOFF and not yet down to XON.
    above: BTreeSet<Source>,
    /// Measured on egress queues: those above XOFF and not yet down to XON, with the sources of the
    /// frames that they have held since.
    holds: BTreeMap<Place, BTreeSet<Source>>,
    /// When the running pause must be refreshed.
    pub refresh_at: BTreeMap<Source, Instant>,
}

/// What a frame that has come or gone changed.
pub struct Change {
    /// By whom it was sent.
    pub source: Source,
    /// Bytes of that source that wait anywhere in the switch.
    pub held: u64,
    /// Where it waits or has waited.
    pub place: Place,
    /// Bytes that wait there.
    pub backlog: u64,
    /// The sources of the frames that wait there.
    pub waiting: BTreeSet<Source>,
}

impl Pfc {
    /// All that are paused.
    pub fn paused(&self) -> BTreeSet<Source> {
        self.above.iter().chain(self.holds.values().flatten()).copied().collect()
    }

    pub fn on_arrival(&mut self, spec: &Spec, change: &Change) {
        let covered =
            |source: &Source| spec.queues.is_empty() || spec.queues.contains(&(source.1 as u8));
        match spec.measured_on {
            MeasuredOn::Ingress => {
                if change.held > spec.xoff.0 && covered(&change.source) {
                    self.above.insert(change.source);
                }
            }
            MeasuredOn::EgressQueue => {
                if change.backlog > spec.xoff.0 {
                    self.holds.entry(change.place).or_default();
                }
                if let Some(held) = self.holds.get_mut(&change.place) {
                    held.extend(change.waiting.iter().filter(|source| covered(source)));
                }
            }
            MeasuredOn::IngressPool => unreachable!("`known::check` refuses it"),
        }
    }

    pub fn on_departure(&mut self, spec: &Spec, change: &Change) {
        if change.held <= spec.xon.0 {
            self.above.remove(&change.source);
        }
        if change.backlog <= spec.xon.0 {
            self.holds.remove(&change.place);
        }
    }
}

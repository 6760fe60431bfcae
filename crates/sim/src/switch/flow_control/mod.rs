//! Flow control: mechanisms by which a switch stops its neighbours or the sources far away. A scenario may run
//! several together; they are asked in the order of the fields of [`Spec`].

pub mod bfc;
pub mod congestion_isolation;
pub mod drc;
pub mod pause;
pub mod pausing;
pub mod pfc;
pub mod source_flow_control;

use floodway_model::family::Entry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which mechanisms run. Each is on if its table is there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Pauses physical queues of the neighbour, nearly flow by flow.
    pub bfc: Option<bfc::Spec>,
    /// Isolates congesting flows in a queue of their own.
    pub congestion_isolation: Option<congestion_isolation::Spec>,
    /// Tells the neighbours how congested each output port is, so that they hold back what goes there.
    pub drc: Option<drc::Spec>,
    /// Tells the sources of what waits in a deep queue how long to be quiet.
    pub source_flow_control: Option<source_flow_control::Spec>,
    /// Pauses the neighbour, class by class, before memory runs out.
    pub pfc: Option<pfc::Spec>,
    /// Pauses all that the neighbour sends, before memory runs out.
    pub pause: Option<pause::Spec>,
}

impl Spec {
    /// Bit c: class c is lossless, because neighbours are paused before there is no room for it.
    pub fn lossless(&self) -> u8 {
        match (&self.pause, &self.pfc) {
            (Some(_), _) => u8::MAX,
            (None, Some(pfc)) => pfc.classes(),
            (None, None) => 0,
        }
    }

    /// The same of the classes whose losses are faults.
    pub fn must_not_lose(&self) -> u8 {
        let pause = self.pause.as_ref().is_none_or(|pause| pause.lossless);
        let pfc = self.pfc.as_ref().is_none_or(|pfc| pfc.lossless);
        let paused = if pause && pfc { self.lossless() } else { 0 };
        let drc = self.drc.as_ref().filter(|drc| drc.lossless).map_or(0, |drc| drc.mask());
        paused | drc
    }
}

/// The members of the family.
pub const CATALOGUE: &[Entry] = &[
    Entry {
        family: "switch.flow_control",
        name: "bfc",
        summary: "Backpressure Flow Control: pauses physical queues of the neighbour, nearly per flow.",
    },
    Entry {
        family: "switch.flow_control",
        name: "congestion_isolation",
        summary: "Moves congesting flows to a queue of their own, here and upstream (802.1Qcz).",
    },
    Entry {
        family: "switch.flow_control",
        name: "drc",
        summary: "Directional Rate Control: the neighbour slows or stops what goes to a congested port.",
    },
    Entry {
        family: "switch.flow_control",
        name: "source_flow_control",
        summary: "Tells sources directly how long to pause; NIC or edge switch obeys (P802.1Qdw).",
    },
    Entry {
        family: "switch.flow_control",
        name: "pfc",
        summary: "Priority-based flow control: pauses a class of the neighbour (802.1Qbb).",
    },
    Entry {
        family: "switch.flow_control",
        name: "pause",
        summary: "PAUSE: stops all that the neighbour sends (802.3x).",
    },
];

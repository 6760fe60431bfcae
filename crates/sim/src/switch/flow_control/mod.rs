//! Flow control: mechanisms by which a switch stops its neighbours or the sources far away. A scenario may run
//! several together; they are asked in the order of the fields of [`Spec`].

pub mod bfc;
pub mod congestion_isolation;
pub mod drc;
pub mod pause;
pub mod pausing;
pub mod pfc;
pub mod qcn;
pub mod source_flow_control;

use floodway_model::family::Entry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Makes [`Spec`] and [`CATALOGUE`] from one row per mechanism: the name of its table in scenarios,
/// which is that of its module, and what it does.
macro_rules! mechanisms {
    ($($module:ident: $summary:literal,)+) => {
        /// Which mechanisms run. Each is on if its table is there.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct Spec {
            $(
                #[doc = $summary]
                pub $module: Option<$module::Spec>,
            )+
        }

        /// The members of the family.
        pub const CATALOGUE: &[Entry] = &[
            $(Entry {
                family: "switch.flow_control",
                name: stringify!($module),
                summary: $summary,
            },)+
        ];
    };
}

mechanisms! {
    bfc:
        "Backpressure Flow Control: pauses physical queues of the neighbour, nearly per flow.",
    congestion_isolation:
        "Moves congesting flows to a queue of their own, here and upstream (802.1Qcz).",
    drc:
        "Directional Rate Control: the neighbour slows or stops what goes to a congested port.",
    qcn:
        "Quantized congestion notification: samples queues and tells sources of frames (802.1Qau).",
    source_flow_control:
        "Tells sources directly how long to pause; NIC or edge switch obeys (P802.1Qdw).",
    pfc: "Priority-based flow control: pauses a class of the neighbour (802.1Qbb).",
    pause: "PAUSE: stops all that the neighbour sends (802.3x).",
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

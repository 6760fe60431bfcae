use floodway_model::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::switch::aqm::ramp;

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// The data queue whose depth is watched and in which flows begin. Default 0.
    pub monitored: u8,
    /// The data queue to which congesting flows are moved. Default 1.
    pub congesting: u8,
    /// The curve, on the depth of the monitored queue, by which a packet makes its flow a
    /// congesting one. Default 10KB, 300KB, 0.01 (decks), `step` above: without it the monitored
    /// queue passes XOFF, which the decks exclude.
    pub curve: ramp::Spec,
    /// Which packets in the congesting queue are marked with CE. Default `detected`.
    pub mark: Mark,
    /// When the upstream neighbour is told of a congesting flow by a CIM. Default `both`.
    pub signal: Signal,
    /// Depth of the congesting queue above which `congesting_queue` signals. Default 300KB
    /// (assumed: "when congested queue fills" gives no number).
    pub signal_depth: Bytes,
    /// The most CIMs for one entry of the stream table. Default 3 (`max-cim-tx` in the 802.1Qcz
    /// YANG module).
    pub max_cims: u8,
    /// The least time between two CIMs for one entry. Default 10us (assumed).
    pub cim_interval: Duration,
    /// How long an entry that a CIM made stays after the congesting queue has become empty; in a
    /// NIC, how long after the CIM the flow stays in the congesting class. Default 1s (`ci-max-flow-life` in the YANG module, 100 centiseconds).
    pub cim_entry_life: Duration,
    /// How long an entry made here stays after the congesting queue has become empty. Default
    /// 0ns (inferred: released when congestion ends).
    pub local_entry_life: Duration,
    /// The most entries of one port's stream table; when it is full no further flow is isolated.
    /// Default 4096 (assumed).
    pub max_entries: u32,
    /// Whether NICs take part: they accept CIMs and send congesting flows in the congesting
    /// class. Default true (802.1Qcz clause 5.32 provides for end stations).
    pub hosts: bool,
}

/// Which isolated packets are marked. The decks: "ECN is marked once a packet is isolated".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// Those whose flow this switch found congesting by its own curve: congestion is told where it
    /// is, and a flow that is isolated here because of a CIM is marked downstream if at all.
    #[default]
    Detected,
    /// All.
    All,
}

/// When a CIM is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    /// Never: isolation stays local.
    Off,
    /// When a flow is isolated (the YANG module counts CIMs per flow).
    Isolation,
    /// When a packet joins a congesting queue deeper than `signal_depth` (deck: "signal to
    /// neighbor when congested queue fills").
    CongestingQueue,
    /// On either occasion.
    #[default]
    Both,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            monitored: 0,
            congesting: 1,
            curve: ramp::Spec::default(),
            mark: Mark::Detected,
            signal: Signal::Both,
            signal_depth: Bytes(300_000),
            max_cims: 3,
            cim_interval: Duration::from_us(10),
            cim_entry_life: Duration::from_ms(1_000),
            local_entry_life: Duration::ZERO,
            max_entries: 4_096,
            hosts: true,
        }
    }
}

use floodway_model::{Bytes, Duration, FlowId, Instant};
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
    /// Who marks packets in the congesting queue with CE. Default `detected`.
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
    /// How often the stream table is looked through for entries whose time is over, at multiples of
    /// this time. Default 0ns: they are released at once, so that isolating a flow again costs nothing
    /// (a switch goes through its table step by step).
    pub release_interval: Duration,
    /// The most entries of one port's stream table. Default 4096 (assumed; `max-ci-stream-entries` of
    /// the YANG module has no default).
    pub max_entries: u32,
    /// What happens to a flow that is to be isolated when the table is full. Default `refuse`.
    pub when_full: WhenFull,
    /// Bits of the hash by which the table knows flows, 1 to 32: flows with the same are isolated and
    /// released together. Default 32, by which no two flows are the same.
    pub key_bits: u8,
    /// Tiers of the switches that take part, leaves 0. The others neither isolate nor accept CIMs, and
    /// nobody sends them any: they do not announce it by LLDP (802.1Qcz annex D.2.15). Default none
    /// listed: all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<u8>,
    /// Whether NICs take part: they accept CIMs and send congesting flows in the congesting
    /// class. Default true (802.1Qcz clause 5.32 provides for end stations).
    pub hosts: bool,
}

/// Who marks packets in the congesting queue. In the monitored queue the AQM of the port does. It
/// judges by the depth of the queue that a packet joins, and may drop in both. Isolation itself marks
/// what is ECN-capable, and drops nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// Nobody: neither isolation nor the AQM. What is told of congestion comes from elsewhere.
    None,
    /// The AQM, as in any other queue. Isolation changes the queue and nothing else.
    Aqm,
    /// The AQM, and isolation those packets whose flow this switch found congesting by its own curve:
    /// congestion is told where it is, and a flow that is isolated here because of a CIM is marked
    /// downstream if at all. The decks: "ECN is marked once a packet is isolated".
    #[default]
    Detected,
    /// Isolation, every packet: the same sentence by its word.
    All,
}

/// What happens to a flow that is to be isolated when the stream table is full. 802.1Qcz leaves it
/// open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WhenFull {
    /// It is left in the monitored queue.
    #[default]
    Refuse,
    /// The oldest entry of a flow without packets in the congesting queue makes room, if there is one.
    Oldest,
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
            release_interval: Duration::ZERO,
            max_entries: 4_096,
            when_full: WhenFull::Refuse,
            key_bits: 32,
            tiers: Vec::new(),
            hosts: true,
        }
    }
}

impl Spec {
    /// What stream tables know a flow by: a hash, of which they have `key_bits`. The finalizer of
    /// MurmurHash3 maps 32 bits to 32 one to one, so that with all of them no two flows share a key.
    #[inline]
    pub fn key_of(&self, flow: FlowId) -> u32 {
        if self.key_bits >= 32 {
            return flow.0;
        }
        let mut hash = flow.0;
        hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
        hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
        hash ^= hash >> 16;
        hash & ((1 << self.key_bits) - 1)
    }

    /// Whether switches of this tier take part.
    pub fn is_at(&self, tier: u8) -> bool {
        self.tiers.is_empty() || self.tiers.contains(&tier)
    }

    /// When the stream table is looked through, not before this moment.
    #[inline]
    pub(super) fn looked_through(&self, moment: Instant) -> Instant {
        match self.release_interval {
            Duration::ZERO => moment,
            Duration(interval) => Instant(moment.0.next_multiple_of(interval)),
        }
    }
}

use floodway_model::{Bytes, Duration, FlowId, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::switch::aqm::ramp;

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// The data queue in which flows begin and whose depth is monitored. Default 0.
    pub monitored: u8,
    /// The data queue to which congesting flows are moved. Default 1.
    pub congesting: u8,
    /// Probability curve on the depth of the monitored queue; a packet that it selects makes its
    /// flow a congesting flow. Default 10KB, 300KB, 0.01 (decks), and `step` above: otherwise the
    /// monitored queue would exceed XOFF, which the decks exclude.
    pub curve: ramp::Spec,
    /// Which packets in the congesting queue are marked with CE. Default `detected`.
    pub mark: Mark,
    /// When a CIM notifies the upstream neighbor of a congesting flow. Default `both`.
    pub signal: Signal,
    /// Depth of the congesting queue above which `congesting_queue` sends CIMs. Default 300KB
    /// (assumed: "when congested queue fills" gives no number).
    pub signal_depth: Bytes,
    /// Maximum number of CIMs per entry of the stream table. Default 3 (`max-cim-tx` in the
    /// 802.1Qcz YANG module).
    pub max_cims: u8,
    /// Minimum interval between two CIMs for one entry. Default 10us (assumed).
    pub cim_interval: Duration,
    /// How long an entry created by a CIM stays after the congesting queue has become empty. In a
    /// NIC: how long after the CIM the flow stays in the congesting class. Default 1s
    /// (`ci-max-flow-life` in the YANG module, 100 centiseconds).
    pub cim_entry_life: Duration,
    /// How long an entry created by the local curve stays after the congesting queue has become
    /// empty. Default 0ns (inferred: released when congestion ends).
    pub local_entry_life: Duration,
    /// Interval at which the stream table is scanned for expired entries, at its multiples. Default
    /// 0ns: entries are released as soon as they expire, so that isolating a flow again costs
    /// nothing (a real switch scans its table step by step).
    pub release_interval: Duration,
    /// Maximum number of entries in the stream table of one port. Default 4096 (assumed;
    /// `max-ci-stream-entries` of the YANG module has no default).
    pub max_entries: u32,
    /// What happens to a flow that is to be isolated while the table is full. Default `refuse`.
    pub when_full: WhenFull,
    /// Length of the hash that identifies flows in the table, in bits, 1 to 32. Flows with the same
    /// hash are isolated and released together. Default 32, with which hashes are unique.
    pub key_bits: u8,
    /// Tiers of the participating switches; leaves are tier 0. The other switches neither isolate
    /// flows nor accept CIMs, and no CIMs are sent to them, because they do not announce the
    /// capability by LLDP (802.1Qcz annex D.2.15). Default: an empty list, which means all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<u8>,
    /// Whether NICs participate: they accept CIMs and send congesting flows in the congesting
    /// class. Default true (802.1Qcz clause 5.32 provides for end stations).
    pub hosts: bool,
}

/// Which packets in the congesting queue are marked. In the monitored queue, marking is up to the
/// AQM of the port. The AQM decides by the depth of the queue that a packet joins, and may drop in
/// both queues. Isolation itself only marks ECN-capable packets, and drops nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// No packets: neither isolation nor the AQM marks. Congestion must be signaled elsewhere.
    None,
    /// Packets that the AQM marks, as in any other queue. Isolation only changes the queue.
    Aqm,
    /// Packets that the AQM marks, and packets whose flow this switch itself detected as congesting
    /// by its curve. Congestion is signaled where it occurs: a flow isolated here because of a CIM
    /// is marked downstream, if at all. The decks: "ECN is marked once a packet is isolated".
    #[default]
    Detected,
    /// All packets: the literal meaning of the same sentence.
    All,
}

/// What happens to a flow that is to be isolated while the stream table is full. 802.1Qcz leaves
/// this open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WhenFull {
    /// The flow stays in the monitored queue.
    #[default]
    Refuse,
    /// The oldest entry of a flow without packets in the congesting queue is evicted, if there is
    /// one.
    Oldest,
}

/// When CIMs are sent.
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
    /// In both cases.
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
    /// The key of a flow in stream tables: a hash, of which `key_bits` bits are used. The finalizer
    /// of MurmurHash3 is a bijection on 32 bits, so that with all 32 no two flows share a key.
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

    /// Whether switches of this tier participate.
    pub fn is_at(&self, tier: u8) -> bool {
        self.tiers.is_empty() || self.tiers.contains(&tier)
    }

    /// When the stream table is next scanned, at this time or later.
    #[inline]
    pub(super) fn looked_through(&self, at: Instant) -> Instant {
        match self.release_interval {
            Duration::ZERO => at,
            Duration(interval) => Instant(at.0.next_multiple_of(interval)),
        }
    }
}

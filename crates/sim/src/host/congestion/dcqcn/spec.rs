use floodway_model::{Bytes, Duration, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters. The defaults are those of the NIC (ConnectX-4 class) where the paper and the NIC
/// differ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Which reaction point. Default `nic`.
    pub variant: Variant,
    /// What tells the sender of marks. Default `cnp`.
    pub notification: Notification,
    /// Notification point: the least time between two CNPs of a flow. Default 4us (NIC; the paper
    /// has 50us).
    pub cnp_interval: Duration,
    /// Weight of a new observation in alpha, 0 to 1. Default 1/256 (paper, section 5).
    pub g: f64,
    /// Time without a CNP after which alpha decays by one step; for `nic` and `periodic` the period of
    /// every update of alpha. Default 1us (NIC, `dce_tcp_rtt`; the paper has 55us).
    pub alpha_timer: Duration,
    /// `nic`: the least time between two rate cuts; `periodic`: the period in which it is asked
    /// whether to cut. Default 4us (`rate_reduce_monitor_period`).
    pub cut_interval: Duration,
    /// Time between two increases. Default 55us (paper; `rpg_time_reset` of NICs is 300us).
    pub increase_timer: Duration,
    /// Bytes sent between two increases; 0B counts no bytes. Default 0B: the authors' simulator
    /// ships with a value so large that it never acts; the paper's text has 10MB.
    pub byte_counter: Bytes,
    /// F, increases by halving the distance to the target before the target itself grows.
    /// Default 5 (paper).
    pub fast_recovery: u32,
    /// Growth of the target per increase after fast recovery. Default 40Mbps (paper).
    pub additive_increase: Rate,
    /// Growth of the target per increase when both the timer and the byte counter are past fast
    /// recovery; without a byte counter only `nic` and `periodic` get there, from the second increase
    /// past fast recovery on. Default 200Mbps (authors' simulator).
    pub hyper_increase: Rate,
    /// The lowest rate of a flow. Default 100Mbps (authors' simulator).
    pub min_rate: Rate,
    /// Not for `paper`: whether every cut sets the target to the rate before it; else only the first cut
    /// after an increase does, so that several cuts in a row are recovered from together. The paper
    /// always does (equation 1). Default false (`CLAMP_TARGET_RATE 0` in the configurations of the
    /// HPCC authors' simulator and of its descendants).
    pub clamp_target: bool,
    /// The most payload of a flow that is sent and not acknowledged, as a time at line rate, in
    /// whole packets and at least one: 15us are 187.5 KB at 100 Gb/s. A flow that begins sends no
    /// more than this before it hears of its receiver. Default none (paper; with it the algorithm
    /// is the DCQCN+win of HPCC, SIGCOMM 2019, section 5.1, whose window is bandwidth times
    /// round-trip time).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Duration>,
    /// Whether the window shrinks and grows with the rate of the flow, so that it stays `window`
    /// long at that rate. Default false: the window of HPCC's text is a constant. The HPCC authors'
    /// simulator has both (`VAR_WIN`); its own configuration of DCQCN with a window follows the
    /// rate.
    pub window_follows_rate: bool,
}

/// Which published reaction point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Variant {
    /// Zhu et al., SIGCOMM 2015, section 3.2: every CNP cuts at once.
    Paper,
    /// As NICs do it: alpha is updated periodically by whether a CNP came, and cuts happen at most
    /// once per `cut_interval`, the first one with the first CNP.
    #[default]
    Nic,
    /// The same as the HPCC authors' simulator models it: from the first CNP on it is asked every
    /// `cut_interval` whether one has come since, so that even the first cut is one interval late.
    Periodic,
}

/// What tells the sender that packets arrive with marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Notification {
    /// Congestion notification packets, at most one per `cnp_interval`.
    #[default]
    Cnp,
    /// A bit in every acknowledgement and NAK of a packet that came with a mark, each of which counts
    /// as a CNP; there are no others (the HPCC authors' simulator).
    Ack,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            variant: Variant::Nic,
            notification: Notification::Cnp,
            cnp_interval: Duration::from_us(4),
            g: 1.0 / 256.0,
            alpha_timer: Duration::from_us(1),
            cut_interval: Duration::from_us(4),
            increase_timer: Duration::from_us(55),
            byte_counter: Bytes(0),
            fast_recovery: 5,
            additive_increase: Rate::from_mbps(40),
            hyper_increase: Rate::from_mbps(200),
            min_rate: Rate::from_mbps(100),
            clamp_target: false,
            window: None,
            window_follows_rate: false,
        }
    }
}

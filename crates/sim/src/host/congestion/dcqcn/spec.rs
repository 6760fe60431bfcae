use floodway_model::check::{Check, Findings, count_of};
use floodway_model::{Bytes, Duration, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::check::{self, Around, Network};
use crate::host::transport;

/// Parameters of DCQCN. The defaults are the preset `paper`; other presets are `nvidia`,
/// `hpcc_simulator` and `hpcc_simulator_paper`, see [presets](#presets).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Variant of the reaction point. Default `paper`.
    pub variant: Variant,
    /// How the receiver notifies the sender of marks. Default `cnp`.
    pub notification: Notification,
    /// Notification point: minimum time between two CNPs of a flow. Default 50us (paper).
    pub cnp_interval: Duration,
    /// Weight of a new observation in alpha, 0 to 1. Default 1/256 (paper, section 5).
    pub g: f64,
    /// Time without a CNP after which alpha decays by one step; for `nic` and `periodic`, the period
    /// of all updates of alpha. Default 55us (paper; `dce_tcp_rtt` of NICs is 1us).
    pub alpha_timer: Duration,
    /// `nic`: minimum time between two rate cuts; `periodic`: period of the check whether to cut.
    /// Default 4us (`rate_reduce_monitor_period`).
    pub cut_interval: Duration,
    /// Period of the rate increase timer. Default 55us (paper; `rpg_time_reset` of NICs is 300us).
    pub increase_timer: Duration,
    /// Bytes sent between two increases; 0B disables the byte counter, as in the HPCC authors'
    /// simulator. Default 10MB (paper).
    pub byte_counter: Bytes,
    /// F, the number of fast recovery increases, which halve the distance to the target, before the
    /// target itself grows. Default 5 (paper).
    pub fast_recovery: u32,
    /// Growth of the target per increase after fast recovery. Default 40Mbps (paper).
    pub additive_increase: Rate,
    /// Growth of the target per increase when both the timer and the byte counter are past fast
    /// recovery. Without a byte counter only `nic` and `periodic` reach this phase, from the second
    /// increase after fast recovery on. Default 200Mbps (configuration of the authors' simulator,
    /// `RATE_HAI`; the paper gives no number).
    pub hyper_increase: Rate,
    /// Host link rate for which `additive_increase` and `hyper_increase` are specified; at another
    /// rate both are scaled in proportion. Default none: they are the same at every rate. The HPCC
    /// authors' script specifies 5 and 50 Mb/s for every 25 Gb/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference_rate: Option<Rate>,
    /// Minimum rate of a flow. Default 100Mbps (authors' simulator; the paper gives no number).
    pub min_rate: Rate,
    /// Alpha of a flow before its first CNP, 0 to 1. Default 1 (paper).
    pub initial_alpha: f64,
    /// Minimum factor by which one cut multiplies the rate, 0 to 1 (`rpg_min_dec_fac` of NICs, there in
    /// percent). Default 0.5, which has no effect: a cut by half of alpha leaves at least that much
    /// (paper, equation 1).
    pub min_decrease_factor: f64,
    /// Not for `paper`: whether every cut sets the target to the rate before it. If false, only the
    /// first cut after an increase does, so the flow recovers from several consecutive cuts together.
    /// The paper always does (equation 1). Default false (`CLAMP_TARGET_RATE 0` in the configurations of
    /// the HPCC authors' simulator and of its descendants).
    pub clamp_target: bool,
    /// Window: maximum payload of a flow that is sent and not acknowledged, as a time at line rate,
    /// in whole packets and at least one; 15us are 187.5 KB at 100 Gb/s. A new flow sends no more
    /// than this before its receiver has replied. Default none (paper; with a window the algorithm
    /// is DCQCN+win of HPCC, SIGCOMM 2019, section 5.1, whose window is bandwidth times round-trip
    /// time).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Duration>,
    /// Whether the window scales with the rate of the flow, so that it is `window` long at that
    /// rate. Default false: the window in HPCC's text is a constant. The HPCC authors' simulator
    /// supports both (`VAR_WIN`); its own configuration of DCQCN with a window follows the rate.
    pub window_follows_rate: bool,
}

/// Published variants of the reaction point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Variant {
    /// Zhu et al., SIGCOMM 2015, section 3.2: every CNP cuts at once.
    #[default]
    Paper,
    /// A common interpretation of the timers of NICs: alpha is updated periodically, depending on whether a CNP
    /// arrived, and cuts happen at most once per `cut_interval`, the first one with the first CNP.
    Nic,
    /// The NIC model of the HPCC authors' simulator, which matches the NIC documentation of
    /// `rate_reduce_monitor_period`: from the first CNP on, every `cut_interval` checks whether a
    /// CNP has arrived since, so even the first cut is one interval late.
    Periodic,
}

/// How the receiver notifies the sender of marked packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Notification {
    /// Congestion notification packets, at most one per `cnp_interval`.
    #[default]
    Cnp,
    /// A bit in every acknowledgement and NAK of a marked packet; each of them counts as a CNP, and
    /// no CNPs are sent (the HPCC authors' simulator).
    Ack,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            variant: Variant::Paper,
            notification: Notification::Cnp,
            cnp_interval: Duration::from_us(50),
            g: 1.0 / 256.0,
            alpha_timer: Duration::from_us(55),
            cut_interval: Duration::from_us(4),
            increase_timer: Duration::from_us(55),
            byte_counter: Bytes(10_000_000),
            fast_recovery: 5,
            additive_increase: Rate::from_mbps(40),
            hyper_increase: Rate::from_mbps(200),
            reference_rate: None,
            min_rate: Rate::from_mbps(100),
            initial_alpha: 1.0,
            min_decrease_factor: 0.5,
            clamp_target: false,
            window: None,
            window_follows_rate: false,
        }
    }
}

/// Timers are processed step by step when a packet is sent; shorter steps would only cost time.
const SHORTEST_TIMER: Duration = Duration::from_ns(10);

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.weight("g", self.g, "the paper has 0.00390625 (1/256)");
        findings.range("initial_alpha", self.initial_alpha, 0.0..=1.0, "the paper has 1");
        let why = "the paper has 0.5";
        findings.range("min_decrease_factor", self.min_decrease_factor, 0.0..=1.0, why);
        let why = "the link rate for which the increases are, for example \"25Gbps\"; or remove it";
        findings.positive("reference_rate", self.reference_rate, why);
        findings.link_rate("reference_rate", self.reference_rate);
        self.check_reference(findings);
        self.check_idle(findings);
        findings.range("alpha_timer", self.alpha_timer, SHORTEST_TIMER.., "NICs have 1us and more");
        let why = "NICs have 1us and more";
        findings.range("increase_timer", self.increase_timer, SHORTEST_TIMER.., why);
        let interval = (self.variant == Variant::Periodic).then_some(self.cut_interval);
        let why = "the HPCC authors' simulator has 4us";
        findings.range("cut_interval", interval, SHORTEST_TIMER.., why);
        findings.positive("min_rate", self.min_rate, check::LOWEST);
        if self.window.is_none() && self.window_follows_rate {
            findings.error(
                "window_follows_rate",
                "there is no window that could follow the rate",
                "add one, for example window = \"15us\", or remove `window_follows_rate`",
            );
        }
        let why = "how long a flow may send before an answer, for example \"15us\"; or remove it";
        findings.positive("window", self.window, why);
    }
}

impl Spec {
    /// Checks that the increases are sensible at the rate for which they are specified.
    fn check_reference(&self, findings: &mut Findings<'_>) {
        let Some(reference) = self.reference_rate.filter(|&rate| rate > Rate(0)) else { return };
        let increases = [
            ("additive_increase", self.additive_increase, true),
            ("hyper_increase", self.hyper_increase, self.has_hyper_increase()),
        ];
        let too_fast =
            |&(_, increase, is_used): &(&str, Rate, bool)| is_used && increase >= reference;
        if let Some((field, increase, _)) = increases.into_iter().find(too_fast) {
            findings.warn(
                ["reference_rate", field],
                format!(
                    "`{field}` ({increase}) is not below the reference rate ({reference}): one \
                     increase raises the target to the line rate, whatever that is"
                ),
                "write the link rate for which the increases are, for example \"25Gbps\", or remove \
                 `reference_rate`",
            );
        }
    }

    /// Whether the hyper increase phase can be reached.
    fn has_hyper_increase(&self) -> bool {
        self.variant != Variant::Paper || self.byte_counter > Bytes(0)
    }

    /// Reports settings that this reaction point or its form of notification does not use.
    fn check_idle(&self, findings: &mut Findings<'_>) {
        if self.variant == Variant::Paper {
            findings.idle("cut_interval", "with `variant = \"paper\"` every CNP cuts at once");
            findings.idle("clamp_target", "with `variant = \"paper\"` every cut sets the target");
        }
        if !self.has_hyper_increase() {
            let why =
                "with `variant = \"paper\"` and `byte_counter = \"0B\"` there is no hyper increase";
            findings.idle("hyper_increase", why);
        }
        if self.notification == Notification::Ack {
            findings.idle("cnp_interval", "with `notification = \"ack\"` there are no CNPs");
        }
        if (0.0..0.5).contains(&self.min_decrease_factor) {
            let why =
                "a cut by half of alpha, which is at most 1, leaves at least half of the rate";
            findings.idle("min_decrease_factor", why);
        } else if self.min_decrease_factor == 1.0 {
            findings.warn(
                "min_decrease_factor",
                "`min_decrease_factor` is 1, so no cut lowers the rate of a flow",
                "write 0.5, which the paper has, or choose `line_rate` if that is meant",
            );
        }
    }

    /// Checks that the window holds a packet at the slowest host, and allows acknowledgements.
    pub(super) fn check_window(&self, network: &Network<'_>, findings: &mut Findings<'_>) {
        let Around { transport: transport::Spec::Rocev2(transport), .. } = network.around else {
            return;
        };
        let Some(window) = self.window.filter(|&window| window > Duration::ZERO) else { return };
        let slowest = network.slowest_host();
        let bytes = slowest.bytes_in(window);
        if bytes < transport.mtu {
            findings.error(
                ["window", &network.around.of_transport("mtu")],
                format!(
                    "a window of {window} is {bytes} at {slowest}, and a packet carries {}",
                    transport.mtu
                ),
                format!("write at least \"{}\"", slowest.time_for(transport.mtu)),
            );
            return;
        }
        // The smallest window that can occur.
        let (rate, bytes) = match self.window_follows_rate {
            true => (format!("the lowest rate, {}", self.min_rate), self.min_rate.bytes_in(window)),
            false => (slowest.to_string(), bytes),
        };
        let packets = transport.whole_packets(bytes.0).max(1);
        if packets < transport.ack_every {
            findings.error(
                ["window", &network.around.of_transport("ack_every")],
                format!(
                    "a window of {window} is {} at {rate}, and an acknowledgement comes after {}",
                    count_of(packets, "packet"),
                    transport.ack_every
                ),
                "the sender would wait for its timer: raise `window`, or lower `ack_every`",
            );
        }
    }
}

//! DCQCN as it is published or shipped: every value of a preset is from one source, and where that has
//! none, it is said.

use floodway_model::family;

use super::Preset;

const FAMILY: &str = "host.congestion.dcqcn.preset";

/// Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015. These are the
/// defaults of the table.
pub const PAPER: Preset = Preset {
    entry: family::Entry {
        family: FAMILY,
        name: "paper",
        summary: "DCQCN as published in 2015; where the paper has no number, its authors' simulator.",
    },
    values: &[
        ("variant", "\"paper\"", "equation 1: every CNP cuts"),
        ("notification", "\"cnp\"", "notification point"),
        ("cnp_interval", "\"50us\"", "N of the notification point"),
        ("g", "0.00390625", "1/256"),
        ("alpha_timer", "\"55us\"", "K of the reaction point"),
        ("increase_timer", "\"55us\"", "T, the timer of the increases"),
        ("byte_counter", "\"10MB\"", "B, the byte counter of the increases"),
        ("fast_recovery", "5", "F"),
        ("additive_increase", "\"40Mbps\"", "R_AI"),
        (
            "hyper_increase",
            "\"200Mbps\"",
            "`RATE_HAI` in the configuration of the authors' simulator; the paper has no number",
        ),
        ("reference_rate", "false", "the same at every link rate"),
        ("min_rate", "\"100Mbps\"", "the authors' simulator; the paper has no number"),
        ("initial_alpha", "1.0", "alpha at the first CNP"),
        ("min_decrease_factor", "0.5", "equation 1 with alpha 1: no other limit"),
        ("clamp_target", "false", "without effect: every cut sets the target (equation 1)"),
        ("window", "false", "no window"),
        ("window_follows_rate", "false", "no window"),
    ],
    congestion: None,
};

/// "DCQCN CC Parameters" in the documentation of ConnectX adapters.
pub const NVIDIA: Preset = Preset {
    entry: family::Entry {
        family: FAMILY,
        name: "nvidia",
        summary: "The documented defaults of ConnectX adapters (\"DCQCN CC Parameters\").",
    },
    values: &[
        (
            "variant",
            "\"periodic\"",
            "`rate_reduce_monitor_period`: after a CNP the rate is reduced at the beginning of the next \
             period. Not documented: whether the first CNP counts (assumed: yes, as in the HPCC authors' \
             model of the adapter; `rate_to_set_on_first_cnp` 0 sets the rate of the port)",
        ),
        ("notification", "\"cnp\"", "RoCEv2"),
        ("cnp_interval", "\"4us\"", "`min_time_between_cnps` 4, there for all flows of a port"),
        ("g", "0.0048828125", "`dce_tcp_g` 1019: 1019/1024 of alpha stay"),
        ("alpha_timer", "\"1us\"", "`dce_tcp_rtt` 1"),
        ("cut_interval", "\"4us\"", "`rate_reduce_monitor_period` 4"),
        ("increase_timer", "\"300us\"", "`rpg_time_reset` 300"),
        (
            "byte_counter",
            "\"2097088B\"",
            "`rpg_byte_reset` 32767 in units of 64 bytes (assumed: so Google's simulator Isekai reads it; \
             the vendor's configuration tool says bytes)",
        ),
        ("fast_recovery", "1", "`rpg_threshold` 1"),
        ("additive_increase", "\"5Mbps\"", "`rpg_ai_rate` 5"),
        ("hyper_increase", "\"50Mbps\"", "`rpg_hai_rate` 50"),
        ("reference_rate", "false", "the same at every link rate"),
        ("min_rate", "\"1Mbps\"", "`rpg_min_rate` 1"),
        ("initial_alpha", "0.9990234375", "`initial_alpha_value` 1023 of 1024"),
        ("min_decrease_factor", "0.5", "`rpg_min_dec_fac` 50 per cent"),
        (
            "clamp_target",
            "false",
            "`clamp_tgt_rate` 0; `clamp_tgt_rate_after_time_inc` 1 is what floodway does without it: the \
             first cut after an increase, by timer or bytes, sets the target",
        ),
        ("window", "false", "no window"),
        ("window_follows_rate", "false", "no window"),
    ],
    congestion: None,
};

/// `simulation/run.py --cc dcqcn` of alibaba-edu/High-Precision-Congestion-Control.
pub const HPCC: Preset = Preset {
    entry: family::Entry {
        family: FAMILY,
        name: "hpcc_simulator",
        summary: "`run.py --cc dcqcn` of the HPCC authors' simulator.",
    },
    values: &HPCC_VALUES,
    congestion: None,
};

/// `simulation/run.py --cc dcqcn_paper` of the same.
pub const HPCC_PAPER: Preset = Preset {
    entry: family::Entry {
        family: FAMILY,
        name: "hpcc_simulator_paper",
        summary: "`run.py --cc dcqcn_paper` of the HPCC authors' simulator.",
    },
    values: &HPCC_PAPER_VALUES,
    congestion: None,
};

type Row = (&'static str, &'static str, &'static str);

const HPCC_VALUES: [Row; 18] = of_script(
    ("alpha_timer", "\"1us\"", "`t_alpha` 1"),
    ("cut_interval", "\"4us\"", "`t_dec` 4"),
    ("increase_timer", "\"300us\"", "`t_inc` 300"),
);

const HPCC_PAPER_VALUES: [Row; 18] = of_script(
    ("alpha_timer", "\"50us\"", "`t_alpha` 50"),
    ("cut_interval", "\"50us\"", "`t_dec` 50"),
    ("increase_timer", "\"55us\"", "`t_inc` 55"),
);

/// What the script writes for both, beside the three timers.
const fn of_script(alpha: Row, cut: Row, increase: Row) -> [Row; 18] {
    [
        ("variant", "\"periodic\"", "`CC_MODE 1`"),
        ("notification", "\"ack\"", "a bit in acknowledgements, no CNPs"),
        ("cnp_interval", "\"0us\"", "without effect: there are no CNPs"),
        ("g", "0.00390625", "`g` 0.00390625"),
        alpha,
        cut,
        increase,
        ("byte_counter", "\"0B\"", "the simulator counts no bytes"),
        ("fast_recovery", "1", "`FAST_RECOVERY_TIMES 1`"),
        ("additive_increase", "\"5Mbps\"", "`ai = 5 * bw / 25` at 25 Gb/s"),
        ("hyper_increase", "\"50Mbps\"", "`hai = 50 * bw / 25` at 25 Gb/s"),
        ("reference_rate", "\"25Gbps\"", "`bw / 25`, where `bw` is the rate of the hosts in Gb/s"),
        ("min_rate", "\"1Gbps\"", "`MIN_RATE 1000Mb/s`"),
        ("initial_alpha", "1.0", "the simulator begins with 1"),
        ("min_decrease_factor", "0.5", "the simulator has no other limit"),
        ("clamp_target", "false", "`CLAMP_TARGET_RATE 0`"),
        ("window", "false", "`HAS_WIN 0`; `dcqcn_vwin` and `dcqcn_paper_vwin` add one"),
        ("window_follows_rate", "false", "`VAR_WIN 0`"),
    ]
}

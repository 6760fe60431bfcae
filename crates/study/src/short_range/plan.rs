//! The experiments, by level.

use crate::plan::{Experiment, Level, name};

use super::{
    BACKPLANE, DRC, DRC_L2CI, ENTRIES, ENTRIES_FILE, L2CI, MIXED, MULTISTAGE, NO_CONTROL, PAUSE,
    PAUSE_EGRESS, PEAK_BACKPLANE, PEAK_MIXED, PEAK_MULTISTAGE, RED,
};

/// Traffic that no rule or expectation was made from.
const FRESH: &str = "seed=2";

/// The buffers of a port in the sweeps, in kilobytes.
pub const SIZES: [u32; 7] = [8, 16, 32, 64, 128, 256, 512];
/// Of these, those with which what the deck leaves open is varied.
pub const SOME_SIZES: [u32; 3] = [16, 64, 256];
/// The buffers of a port of slides 17 and 18, in kilobytes.
pub const PORTS: [u32; 2] = [64, 32];

/// The variants of the sweeps.
pub const SWEPT: [&str; 4] = [NO_CONTROL, PAUSE, PAUSE_EGRESS, DRC];
/// The variants of mixed.toml.
pub const MIXED_VARIANTS: [&str; 4] = [RED, PAUSE, L2CI, DRC_L2CI];
/// The variants of entries.toml.
pub const ENTRIES_VARIANTS: [&str; 4] = [NO_CONTROL, PAUSE, RED, L2CI];

/// The backplane with so many kilobytes per port.
pub fn backplane(kb: u32) -> &'static str {
    name(&format!("backplane-{kb}"))
}

/// The network of several stages, likewise.
pub fn multistage(kb: u32) -> &'static str {
    name(&format!("multistage-{kb}"))
}

/// The network of mixed speeds, likewise.
pub fn mixed(kb: u32) -> &'static str {
    name(&format!("mixed-{kb}"))
}

/// A reading with so many kilobytes per port.
pub fn sized(reading: &str, kb: u32) -> &'static str {
    name(&format!("{reading}-{kb}"))
}

/// Something that the deck leaves open: a name, what it is, the variants that it can matter for, and
/// the settings.
pub type Reading = (&'static str, &'static str, &'static [&'static str], &'static [&'static str]);

/// Of the sweeps, with the sizes `SOME_SIZES`.
pub const SWEEP_READINGS: &[Reading] = &[
    (
        "drc-rates",
        "DRC that never stops a direction",
        &[DRC],
        &["variants.drc.switch.flow_control.drc.stop=false"],
    ),
    (
        "drc-stop",
        "DRC that only stops and lets go",
        &[DRC],
        &["variants.drc.switch.flow_control.drc.decrease=1.0"],
    ),
    (
        "drc-early",
        "DRC from 1/8, 1/4 and 1/2 of a port",
        &[DRC],
        &["variants.drc.switch.flow_control.drc.thresholds=[0.125, 0.25, 0.5]"],
    ),
    (
        "drc-late",
        "DRC from 0.5, 0.7 and 0.9 of a port",
        &[DRC],
        &["variants.drc.switch.flow_control.drc.thresholds=[0.5, 0.7, 0.9]"],
    ),
    (
        "drc-often",
        "DRC feedback every 2 us",
        &[DRC],
        &["variants.drc.switch.flow_control.drc.interval=2us"],
    ),
    (
        "drc-seldom",
        "DRC feedback every 50 us",
        &[DRC],
        &["variants.drc.switch.flow_control.drc.interval=50us"],
    ),
    (
        "drc-fast",
        "DRC rates that double",
        &[DRC],
        &["variants.drc.switch.flow_control.drc.increase=2.0"],
    ),
    (
        "pause-low",
        "PAUSE until half of what starts it has left",
        &[PAUSE, PAUSE_EGRESS],
        &["variants.pause.switch.flow_control.pause.xon=XON"],
    ),
    ("nic-small", "nodes with 8 KB", &SWEPT, &["host.memory=8KB"]),
    ("nic-large", "nodes with 512 KB", &SWEPT, &["host.memory=512KB"]),
    ("slow-switch", "switches of 2 us", &SWEPT, &["switch.latency=2us"]),
    ("one-size", "messages of 8000 bytes", &SWEPT, &["workload.0.saturated.sizes=8000B"]),
];

//! The scenarios to begin with.

/// A scenario to begin with: small, whole and commented.
pub struct Template {
    /// How it is chosen, and what it is called inside.
    pub name: &'static str,
    /// What it is about, in one line.
    pub summary: &'static str,
    /// The scenario file.
    pub text: &'static str,
}

macro_rules! template {
    ($name:literal: $summary:literal) => {
        Template {
            name: $name,
            summary: $summary,
            text: include_str!(concat!("templates/", $name, ".toml")),
        }
    };
}

/// All of them; the first one is the default.
pub const TEMPLATES: &[Template] = &[
    template!("clos": "RoCEv2 in a leaf-spine fabric: an incast, PFC, and Congestion Isolation."),
    template!("fat-tree": "Every host to one other in a fat-tree: ECMP and packet spraying."),
    template!("training": "A model in parts on GPUs with rails and NVLink, beside storage: DCQCN and HPCC."),
    template!("dumbbell": "Downloads over TCP that share a bottleneck: queue management."),
    template!("rrul": "Latency under load as flent measures it: a line of 50/10 Mb/s, four flows up and down, pings."),
    template!("dsl": "A DSL line of 50/10 Mb/s with an upload beside downloads: CAKE."),
    template!("cable": "A cable modem of 50/10 Mb/s with an upload beside downloads: DOCSIS-PIE and CAKE."),
    template!("l4s": "Prague beside Cubic on a line of 50/10 Mb/s: DualPI2."),
    template!("backplane": "Ethernet cards around a switch: PAUSE and Directional Rate Control."),
    template!("custom": "A network that is written out by names of hosts, switches and links."),
];

//! A network that is read from a file of another tool.

use std::sync::Arc;

use floodway_model::Graph;
use floodway_model::check::{Check, Findings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Size;
use crate::files::networks::{Format, Network, Rates};

/// Parameters. Hosts are called `host N` with the number N of the file, or as the file calls
/// them, and stand in its order. The
/// tier of a switch is the number of links between it and the nearest switch that has hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The file, its path relative to the scenario file.
    pub path: String,
    /// Whose format it has. Default by the end of its name: `hpcc` for .txt, `htsim` for .topo,
    /// `infragraph` for .yaml, .yml and .json.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// Of InfraGraph: rates of links by the name of the link, for those without a bandwidth in the file or in place of it:
    /// `rates.nvlink = "3600Gbps"`. Default none.
    #[serde(default, skip_serializing_if = "Rates::is_empty")]
    pub rates: Rates,
    /// What was read; none if the file is not sound.
    #[serde(skip)]
    pub(crate) network: Option<Arc<Network>>,
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        for (name, rate) in &self.rates {
            findings.link_rate(&format!("rates.{name}"), *rate);
        }
    }
}

impl Spec {
    /// The format that is written, or that the name of the file tells.
    pub fn format(&self) -> Option<Format> {
        self.format.or_else(|| Format::of(&self.path))
    }

    /// What was read; none if the file is not sound.
    pub fn network(&self) -> Option<&Network> {
        self.network.as_deref()
    }

    /// Nothing of what was not read.
    pub(super) fn size(&self) -> Size {
        let nothing = Size { hosts: 0, switches: 0, links: 0, most_ports: 0 };
        self.network().map_or(nothing, Network::size)
    }

    pub(super) fn build(&self) -> Graph {
        self.network().map(|network| network.graph.clone()).unwrap_or_default()
    }
}

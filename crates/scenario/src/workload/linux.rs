//! Hosts that are Linux kernels: their traffic is that of a command that runs there, and `floodway emulate` runs them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use floodway_model::check::{Check, Findings};
use floodway_model::{Bytes, Duration, FlowSpec, Graph, Instant, NodeId};
use floodway_sim::host::{Profile, congestion, transport};
use floodway_sim::kernel::Kernel;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Hosts, Parameters, Ready, Surroundings, Workload, check};
use crate::check::Problems;
use crate::document::Document;

/// The most hosts that are kernels.
pub const MOST_KERNELS: usize = 32;
/// The most flows from one kernel to another.
const MOST_FLOWS: u32 = 1_000;
/// The longest IP packet with which IPv4 works everywhere (RFC 791).
const LEAST_MTU: u64 = 576;
/// Of usual jumbo frames.
const LARGEST_MTU: u64 = 9_000;

/// Hosts that are kernels, all with the same command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Which hosts: numbers (`"0-3"`), names, or all on one side of a dumbbell. Others are simulated.
    pub hosts: Hosts,
    /// What each of them runs, a command of the shell with the files of this machine, read-only. Host n of the network
    /// is called `host-n` and has the address 10.0.0.0 + n + 1. Default nothing: a kernel that answers.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub run: String,
    /// When the command starts. Default 100ms.
    #[serde(default = "start")]
    pub start: Duration,
    /// The longest IP packet; a frame has 18 bytes more. Default 1500B.
    #[serde(default = "mtu")]
    pub mtu: Bytes,
    /// TCP congestion control, as Linux calls it: `reno`, `cubic`, `dctcp`, `bbr`. Default that of the kernel, `cubic`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion: Option<String>,
    /// What TCP does about ECN. Default `accept`, as kernels do.
    #[serde(default)]
    pub ecn: EcnOfTcp,
    /// Other settings by name: `sysctl = { "net.ipv4.tcp_sack" = "0" }`. Default none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sysctl: BTreeMap<String, String>,
    /// How many flows the tables have for each pair of kernels and direction; connections beyond that share them.
    /// Default 8.
    #[serde(default = "flows")]
    pub flows: u32,
}

/// What TCP of a kernel does about ECN (`net.ipv4.tcp_ecn`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EcnOfTcp {
    /// It asks for ECN when it connects, and accepts it.
    Ask,
    /// It accepts ECN and does not ask for it.
    #[default]
    Accept,
    /// It neither asks for ECN nor accepts it.
    Refuse,
}

fn start() -> Duration {
    Duration::from_ms(100)
}

fn mtu() -> Bytes {
    Bytes(1_500)
}

fn flows() -> u32 {
    8
}

/// Sets the congestion control of TCP.
const CONGESTION: &str = "net.ipv4.tcp_congestion_control";
/// Sets whether TCP uses ECN.
const ECN: &str = "net.ipv4.tcp_ecn";

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        let why = "a frame of Ethernet has 1500B, a jumbo frame 9000B";
        findings.range("mtu", self.mtu, Bytes(LEAST_MTU)..=Bytes(LARGEST_MTU), why);
        let why = "there is a row in the tables for each that is used";
        findings.range("flows", self.flows, 1..=MOST_FLOWS, why);
        if let Some(control) = self.congestion.as_ref().filter(|name| !is_word(name)) {
            findings.error(
                "congestion",
                format!("`{control}` is no name of a congestion control"),
                "Linux has reno, cubic, dctcp and bbr",
            );
        }
        for (name, value) in &self.sysctl {
            if !name.split(['.', '/']).all(is_word) {
                findings.error(
                    "sysctl",
                    format!("`{name}` is no name of a setting"),
                    "write it as sysctl has it, like net.ipv4.tcp_sack",
                );
            } else if value.chars().any(char::is_control) {
                findings.error(
                    "sysctl",
                    format!("the value of `{name}` has control characters"),
                    "write it on one line",
                );
            }
        }
        if self.run.contains('\0') {
            findings.error("run", "the command has a NUL", "remove it: the shell cannot read it");
        }
    }
}

fn is_word(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

impl Spec {
    /// How its frames are sent, as far as the simulation is concerned.
    pub fn profile(&self) -> Profile {
        Profile {
            transport: transport::Spec::Ethernet(transport::ethernet::Spec { payload: self.mtu }),
            congestion: congestion::Spec::LineRate(Default::default()),
            application: None,
            dscp: None,
        }
    }

    fn settings(&self) -> BTreeMap<String, String> {
        let mut settings = self.sysctl.clone();
        if let Some(control) = &self.congestion {
            settings.insert(CONGESTION.to_owned(), control.clone());
        }
        let ecn = match self.ecn {
            EcnOfTcp::Ask => Some("1"),
            EcnOfTcp::Accept => None,
            EcnOfTcp::Refuse => Some("0"),
        };
        if let Some(ecn) = ecn {
            settings.insert(ECN.to_owned(), ecn.to_owned());
        }
        settings
    }
}

impl Parameters for Spec {
    fn ready(&self, path: &str, settings: &Document, findings: &mut Problems<'_>) -> Option<Ready> {
        let findings = &mut findings.within(path);
        let hosts = check::numbers("hosts", &self.hosts, settings, findings)?;
        let remedy = "the run has ended then: start earlier, or raise `limit`";
        findings.below(("start", self.start), ("/limit", settings.limit), remedy);
        let all = all(settings).into_keys().collect();
        Some(Arc::new(Placed { flows: self.flows, hosts, all }))
    }

    fn all_have_sizes(&self) -> bool {
        false
    }
}

/// With its hosts found, and those of other workloads that are kernels too.
#[derive(Debug)]
struct Placed {
    flows: u32,
    hosts: Vec<u32>,
    all: BTreeSet<u32>,
}

impl Placed {
    fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let others = |&src: &u32| {
            self.all.iter().filter(move |dst| **dst != src).map(move |dst| (src, *dst))
        };
        self.hosts.iter().flat_map(others)
    }
}

impl Workload for Placed {
    /// Flows that begin when there is a connection.
    fn flows(&self, around: Surroundings<'_>) -> Vec<FlowSpec> {
        let hosts: Vec<NodeId> = around.graph.first_ports().collect();
        let flow = |(src, dst): (u32, u32)| FlowSpec {
            src: hosts[src as usize],
            dst: hosts[dst as usize],
            bytes: FlowSpec::PERSISTENT,
            start: Instant::NEVER,
            stop: Instant::NEVER,
            workload: around.number,
            in_turn: false,
        };
        self.pairs().flat_map(|pair| std::iter::repeat_n(flow(pair), self.flows as usize)).collect()
    }

    fn expected_flows(&self, _around: Surroundings<'_>) -> f64 {
        0.0
    }

    fn persistent_flows(&self) -> u64 {
        self.pairs().count() as u64 * u64::from(self.flows)
    }

    fn largest_flow(&self) -> u64 {
        0
    }

    fn size_fields(&self) -> Vec<String> {
        vec!["flows".to_owned()]
    }
}

/// The hosts that are kernels, with the workload that makes them so, in order of their numbers; of one that is named
/// twice the first.
pub fn all(settings: &Document) -> BTreeMap<u32, usize> {
    let mut all = BTreeMap::new();
    for (workload, spec) in specs(settings) {
        for host in spec.hosts.numbers(&settings.topology).unwrap_or_default() {
            all.entry(host).or_insert(workload);
        }
    }
    all
}

/// The workloads that make hosts kernels, with their numbers.
pub fn specs(settings: &Document) -> impl Iterator<Item = (usize, &Spec)> {
    settings.workload.iter().enumerate().filter_map(|(number, entry)| match &entry.traffic {
        super::Spec::Linux(spec) => Some((number, spec)),
        _ => None,
    })
}

/// The kernels of a network.
pub(crate) fn kernels(settings: &Document, graph: &Graph) -> Vec<Kernel> {
    let hosts: Vec<NodeId> = graph.first_ports().collect();
    let specs: BTreeMap<usize, &Spec> = specs(settings).collect();
    let kernel = |(number, workload): (u32, usize)| {
        let spec = specs[&workload];
        Kernel {
            host: hosts[number as usize],
            workload: workload as u16,
            command: spec.run.clone(),
            start: spec.start,
            mtu: spec.mtu.0 as u16,
            sysctl: spec.settings(),
        }
    };
    let mut kernels: Vec<Kernel> = all(settings).into_iter().map(kernel).collect();
    kernels.sort_by_key(|kernel| kernel.host);
    kernels
}

//! Hosts that are Linux kernels: their traffic is that of a command that runs there, and `floodway emulate` runs them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use floodway_model::check::{Check, Findings};
use floodway_model::{Bytes, Duration, FlowSpec, Graph, Instant, NodeId};
use floodway_sim::host::{Profile, congestion, transport};
use floodway_sim::kernel::{CONGESTION, Kernel, LongFlow, Port};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::long_flows::{MOST_PAIRS, least_common_multiple};
use super::{Hosts, Parameters, Ready, Surroundings, Workload, check};
use crate::check::Problems;
use crate::document::Document;

/// The most hosts that are kernels.
pub const MOST_KERNELS: usize = 32;
/// The most flows from one kernel to another.
const MOST_FLOWS: u32 = 1_000;
/// The most long-lived flows of a workload at the beginning.
const MOST_LONG_FLOWS: u32 = 200;
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
    /// Long-lived flows of TCP that these hosts send from `start` on, beside what `run` does. `floodway live` starts and stops
    /// them. Default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long_flows: Option<LongFlows>,
}

/// Long-lived flows of kernels: flow n goes from the n-th of `hosts` to the n-th of `to`, from the beginning again where a
/// list ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LongFlows {
    /// Receivers, which are kernels too: there is nothing to run there. They have the congestion control of the senders for
    /// these connections.
    pub to: Hosts,
    /// Number of flows at the beginning; 0 where `floodway live` starts them. Default 1.
    #[serde(default = "one")]
    pub count: u32,
}

fn one() -> u32 {
    1
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

/// Sets whether TCP uses ECN.
const ECN: &str = "net.ipv4.tcp_ecn";

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        let why = "a frame of Ethernet has 1500B, a jumbo frame 9000B";
        findings.range("mtu", self.mtu, Bytes(LEAST_MTU)..=Bytes(LARGEST_MTU), why);
        let why = "there is a row in the tables for each that is used";
        findings.range("flows", self.flows, 1..=MOST_FLOWS, why);
        if let Some(long) = &self.long_flows {
            let why = "each is a connection with a buffer of its own in its kernel";
            findings.range("long_flows.count", long.count, 0..=MOST_LONG_FLOWS, why);
        }
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
        let (mut to, mut count) = (Vec::new(), 0);
        if let Some(long) = &self.long_flows {
            to = check::numbers("long_flows.to", &long.to, settings, findings)?;
            count = long.count;
            check_receivers((&hosts, &to), &all, findings)?;
        }
        Some(Arc::new(Placed { flows: self.flows, hosts, all, to, count }))
    }

    fn all_have_sizes(&self) -> bool {
        false
    }
}

/// Checks that long-lived flows go to other kernels.
fn check_receivers(
    (hosts, to): (&[u32], &[u32]),
    kernels: &BTreeSet<u32>,
    findings: &mut Findings<'_>,
) -> Option<()> {
    if let Some(host) = to.iter().find(|host| !kernels.contains(*host)) {
        findings.error(
            ["long_flows.to", "long_flows", ""],
            format!("host {host} is not a Linux kernel"),
            "long-lived flows of kernels go to kernels: name it in `hosts` of a [workload.linux]",
        );
        return None;
    }
    if let Some((host, _)) = one_round(hosts, to).into_iter().find(|(src, dst)| src == dst) {
        findings.error(
            ["long_flows.to", "hosts", ""],
            format!("a long-lived flow would go from host {host} to itself"),
            "flow n goes from the n-th of `hosts` to the n-th of `to`: change their order",
        );
        return None;
    }
    Some(())
}

/// Senders and receivers, until they come again.
fn one_round(hosts: &[u32], to: &[u32]) -> Vec<(u32, u32)> {
    let count = if to.is_empty() { 0 } else { least_common_multiple(hosts.len(), to.len()) };
    pairs(hosts, to).take(count.min(MOST_PAIRS)).collect()
}

/// Senders and receivers of long-lived flows, without end.
fn pairs<'a>(hosts: &'a [u32], to: &'a [u32]) -> impl Iterator<Item = (u32, u32)> + 'a {
    hosts.iter().copied().cycle().zip(to.iter().copied().cycle())
}

/// With its hosts found, and those of other workloads that are kernels too.
#[derive(Debug)]
struct Placed {
    flows: u32,
    hosts: Vec<u32>,
    all: BTreeSet<u32>,
    /// Receivers of long-lived flows, and how many there are at the beginning.
    to: Vec<u32>,
    count: u32,
}

impl Placed {
    fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let others = |&src: &u32| {
            self.all.iter().filter(move |dst| **dst != src).map(move |dst| (src, *dst))
        };
        self.hosts.iter().flat_map(others)
    }

    /// Senders and receivers of the long-lived flows at the beginning.
    fn long(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        pairs(&self.hosts, &self.to).take(self.count as usize)
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
        let others = self.pairs().flat_map(|pair| std::iter::repeat_n(pair, self.flows as usize));
        others.chain(self.long()).map(flow).collect()
    }

    fn expected_flows(&self, _around: Surroundings<'_>) -> f64 {
        0.0
    }

    fn persistent_flows(&self) -> u64 {
        self.pairs().count() as u64 * u64::from(self.flows) + self.long().count() as u64
    }

    fn long_pairs(&self) -> Vec<(u32, u32)> {
        one_round(&self.hosts, &self.to)
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
    let numbers = |hosts: &Hosts| hosts.numbers(&settings.topology).unwrap_or_default();
    // By sender, and by receiver.
    let mut long_flows: BTreeMap<u32, Vec<LongFlow>> = BTreeMap::new();
    let mut takes: BTreeMap<u32, Vec<Port>> = BTreeMap::new();
    for (&workload, spec) in &specs {
        let Some(long) = &spec.long_flows else { continue };
        let (from, to, port) =
            (numbers(&spec.hosts), numbers(&long.to), LongFlow::port(workload as u16));
        for (src, dst) in pairs(&from, &to).take(long.count as usize) {
            let own = long_flows.entry(src).or_default();
            let source = LongFlow::source(own.len()).expect("there are fewer than ports");
            own.push(LongFlow { to: hosts[dst as usize], source, port });
        }
        for host in to {
            let port = Port { number: port, congestion: spec.settings().remove(CONGESTION) };
            takes.entry(host).or_default().push(port);
        }
    }
    let kernel = |(number, workload): (u32, usize)| {
        let spec = specs[&workload];
        Kernel {
            host: hosts[number as usize],
            workload: workload as u16,
            command: spec.run.clone(),
            start: spec.start,
            mtu: spec.mtu.0 as u16,
            sysctl: spec.settings(),
            long_flows: spec
                .long_flows
                .as_ref()
                .map(|_| long_flows.get(&number).cloned().unwrap_or_default()),
            takes: takes.get(&number).cloned().unwrap_or_default(),
        }
    };
    let mut kernels: Vec<Kernel> = all(settings).into_iter().map(kernel).collect();
    kernels.sort_by_key(|kernel| kernel.host);
    kernels
}

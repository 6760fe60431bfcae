//! The scenario file as it is written, with every field's meaning, unit and default.

use std::collections::BTreeMap;

use floodway_model::{Bytes, Duration, Marking};
use floodway_sim::host::{self, PauseScope, Profile, congestion, transport};
use floodway_sim::switch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::claims;
use crate::errors;
use crate::failure;
use crate::line;
use crate::measured::MeasureUntil;
use crate::ports::Ports;
use crate::presets;
use crate::sampling;
use crate::sweep;
use crate::topology;

use crate::workload::{self, Placement};

/// One variant of a scenario, with all overlays applied and all defaults filled in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// A scenario file beside this one: everything here is an overlay on it. Its variants are
    /// taken over, changed by those of the same names, and removed by `variants.NAME = false`.
    /// Default none.
    #[serde(default, skip_serializing)]
    pub extends: Option<String>,
    /// Device profiles: a model of a switch, a model of a NIC, or both. Their values are below all that is
    /// written here. Each is the name of one that is part of the program (`floodway profile` lists them), or a
    /// file of the same form beside the scenario, which ends in .toml. Default none.
    #[serde(default, skip_serializing)]
    pub profile: Vec<String>,
    /// A short name for directories and headings: letters, digits, `-`, `_` and `.`.
    pub name: String,
    /// What the scenario is to answer, in one sentence. Default none.
    #[serde(default)]
    pub question: String,
    /// Time during which flows start.
    pub arrivals: Duration,
    /// Flows that start before this are simulated but not measured. Default 0ns.
    #[serde(default)]
    pub warmup: Duration,
    /// When to stop at the latest; a run ends when all flows that end are done.
    pub limit: Duration,
    /// When the measured interval ends, in which counters, queue depths, waiting times and rates are
    /// taken; it begins after the warm-up: `arrivals`, when the arrivals end; `completion`, when all
    /// flows that have a size have completed; or a time. Default by workload: arrivals of traffic that
    /// goes on by a rate or without end; completion of work that is given in bytes (incasts with
    /// `bytes`, lists, files, permutations, collectives); of both together the later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measure_until: Option<MeasureUntil>,
    /// Decides every random choice. Variants share it, so they send the same flows. Default 1.
    #[serde(default = "one_u64")]
    pub seed: u64,
    /// Runs of every variant, each with a seed of its own derived from `seed`. Default 1.
    #[serde(default = "one_u32")]
    pub replications: u32,
    /// Time between two samples of all queue depths. Default 1/2000 of `limit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample_interval: Option<Duration>,
    /// Time between two samples of what every flow that has no size has delivered (table
    /// `deliveries`), because it never ends or is stopped. Default none: no such samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow_samples: Option<Duration>,
    /// Whether every data queue of a switch records how long it is and how long packets have
    /// waited when they leave (tables `departures` and
    /// `sojourns`). Takes up to about 50 KB per queue. Default
    /// false.
    #[serde(default)]
    pub departures: bool,
    /// Whether hosts record how long every data packet took from the memory of its source to
    /// theirs (table `latencies`). Takes up to about 50 KB per host and workload. Default false.
    #[serde(default)]
    pub latencies: bool,
    /// The most samples (`sample_interval`) that are recorded of what every port has sent, how long
    /// it was paused and what waits in it (tables `record`, `samples`, `backlogs` and
    /// `pause_intervals`), of the first replication: every second one is dropped when there are too
    /// many. The report plays it back. Default 0: no record.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub record: u32,
    /// The most measured flows whose completion times are explained, of the first replication, which
    /// then runs on one thread (tables `explained`, `delays`, `delay_parts`, `delay_losses`,
    /// `delay_marks` and `pause_causes`). Of more flows a sample is explained, stratified by workload
    /// and size. The report shows where their time goes. Default 0: none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub explained_flows: u32,
    /// Maximum share of the bytes of all measured flows that explained flows have, above 0, beyond 20 MB. It bounds
    /// the cost, which rises with the number of packets; large flows are therefore a smaller fraction
    /// of the sample, and means take that into account. Default 0.05; 1 for no bound.
    #[serde(default = "explained_share", skip_serializing_if = "is_explained_share")]
    pub explained_share: f64,
    /// Preamble and inter-frame gap that every frame costs on the wire. Default 20B (IEEE 802.3:
    /// 8 and 12).
    #[serde(default = "wire_overhead")]
    pub wire_overhead: Bytes,
    /// In which order hosts are given to the workloads. Default random.
    #[serde(default)]
    pub placement: Placement,
    /// Whether every workload takes its hosts from the beginning of that order again, so that
    /// they send from and to the same hosts. Default false: each has hosts of its own.
    #[serde(default)]
    pub share_hosts: bool,
    /// The network.
    pub topology: topology::Spec,
    /// All switches.
    #[serde(default)]
    pub switch: switch::Spec,
    /// All hosts.
    #[serde(default)]
    pub host: Host,
    /// Links that fail during the run. Default none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failure: Vec<failure::LinkFailure>,
    /// Links with a framing or with random loss. Default none: Ethernet that loses nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub line: Vec<line::AccessLine>,
    /// Links with bit errors, and with a retry that sends frames with errors again. Default none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<errors::LinkErrors>,
    /// Simulates only the first rounds of a job. Default none: all rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampling: Option<sampling::Sampling>,
    /// What is sent: by each workload on hosts of its own, unless `share_hosts` is true.
    pub workload: Vec<workload::Entry>,
    /// What is compared: by name, overlays on everything else; the first one is the baseline.
    /// Default one variant, `base`, that changes nothing.
    #[serde(default, skip_serializing)]
    pub variants: BTreeMap<String, Value>,
    /// Overlay that makes a scaled-down version, for `--quick`.
    #[serde(default, skip_serializing)]
    pub quick: Option<Value>,
    /// The grid of settings that `floodway sweep` runs the scenario on. Default none: what `--vary`
    /// says.
    #[serde(default, skip_serializing)]
    pub sweep: Option<sweep::Spec>,
    /// What is claimed of the results: `floodway run` judges it after the runs. Cases are variants. Default none.
    #[serde(default, skip_serializing)]
    pub claim: Vec<claims::Claim>,
    /// Groups of flows by name, for claims about completion times. Default none.
    #[serde(default, skip_serializing)]
    pub flows: BTreeMap<String, claims::Flows>,
}

/// What a host is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Host {
    /// What a pause stops. Default `class`.
    pub pause_scope: PauseScope,
    /// Transmit buffer of the NIC, in bytes for each class of data: frames leave the host for it as soon as
    /// it has room for one of the largest size, and wait there for the wire, first in, first out.
    /// Default none: a frame leaves the host when the wire is free.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<Bytes>,
    /// Whether a pause of a class of data stops feedback that `switch.feedback` has in that class too.
    /// Receivers' answers go before all data in a NIC, whatever their class. With false only PAUSE
    /// stops them, so that they may come to a switch that has paused their class. Default true
    /// (IEEE 802.1Q: a pause holds for all frames of a priority).
    #[serde(skip_serializing_if = "Clone::clone")]
    pub pause_feedback: bool,
    /// Which port of a host with several a flow takes, unless its workload says otherwise, of those from which the
    /// way to the other host leads through the fewest switches: `hash` (at random, flow by flow), `round_robin`,
    /// `by_destination` (all flows to a host the same), or the number of a port, from 0, which is taken whatever the
    /// way. At the other end it is the port of the same number, if the way there is as short. `stripe` cuts each
    /// message into a flow for each of these ports, and `pxn` sends it to another rail by NVLink and the GPU of the
    /// own server there; both for collectives, jobs and lists of messages. Default `hash`.
    #[serde(skip_serializing_if = "is_hash")]
    pub ports: Ports,
    /// With `ports = "pxn"`, the chunks in which a message is handed on; each is a flow. Default 128KiB (NCCL:
    /// `NCCL_P2P_NET_CHUNKSIZE`).
    #[serde(skip_serializing_if = "is_chunk_of_nccl")]
    pub pxn_chunk: Bytes,
    /// Whether another port of a host stands in for one whose link is down, as with bonded NICs: as soon as that is
    /// known (`failure.detection`), frames from and to that port take the link of the next port of the host in the
    /// same part of the network. Transports repeat what was lost before. Default false: flows of the port wait.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub failover: bool,
    /// How messages become packets and arrive complete, unless their workload says otherwise.
    pub transport: transport::Spec,
    /// How fast a flow may send, unless its workload says otherwise. Default what suits the
    /// transport: `dcqcn` for `rocev2`, `cubic` for `tcp`, `constant_rate` for `udp`, `line_rate`
    /// for `ethernet`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion: Option<congestion::Spec>,
}

impl Default for Host {
    fn default() -> Self {
        Self {
            pause_scope: PauseScope::default(),
            buffer: None,
            pause_feedback: true,
            ports: Ports::default(),
            pxn_chunk: PXN_CHUNK,
            failover: false,
            transport: transport::Spec::default(),
            congestion: None,
        }
    }
}

impl Host {
    /// What all flows share.
    pub(crate) fn spec(&self) -> host::Spec {
        let Self { pause_scope, buffer, pause_feedback, failover, .. } = *self;
        host::Spec { pause_scope, buffer, pause_feedback, failover }
    }
}

fn explained_share() -> f64 {
    Document::EXPLAINED_SHARE
}

fn is_explained_share(share: &f64) -> bool {
    *share == Document::EXPLAINED_SHARE
}

/// NCCL's size of chunks between servers (`NCCL_P2P_NET_CHUNKSIZE` in `init.cc` of NCCL 2.27).
const PXN_CHUNK: Bytes = Bytes(128 << 10);

fn is_chunk_of_nccl(chunk: &Bytes) -> bool {
    *chunk == PXN_CHUNK
}

fn is_hash(ports: &Ports) -> bool {
    *ports == Ports::Hash
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

fn one_u64() -> u64 {
    1
}

fn one_u32() -> u32 {
    1
}

fn wire_overhead() -> Bytes {
    Bytes(floodway_model::packet::length::PREAMBLE_AND_GAP.into())
}

impl Document {
    /// `explained_share`, if it is not written.
    pub const EXPLAINED_SHARE: f64 = 0.05;

    /// Time between two samples, as written or by the default.
    pub fn sample_interval(&self) -> Duration {
        self.sample_interval.unwrap_or(Duration((self.limit.0 / 2000).max(1)))
    }

    /// How the flows of each workload are sent, by its number.
    pub fn profiles(&self) -> Vec<Profile> {
        let profile = |entry: &workload::Entry| {
            if let workload::Spec::Linux(linux) = &entry.traffic {
                return linux.profile();
            }
            let transport = entry.transport.as_ref().unwrap_or(&self.host.transport);
            let congestion = entry.congestion.as_ref().or(self.host.congestion.as_ref());
            let congestion = congestion.cloned().unwrap_or_else(|| transport.usual_control());
            let mut transport = transport.clone();
            if let transport::Spec::Rocev2(rocev2) = &mut transport {
                rocev2.telemetry |= congestion.needs_telemetry();
                if congestion.needs_tag() {
                    rocev2.csig.get_or_insert_default();
                }
            }
            let dscp = entry.dscp.map(Marking::dscp);
            Profile { transport, congestion, application: entry.application.clone(), dscp }
        };
        self.workload.iter().map(profile).collect()
    }

    /// Writes out the congestion controls that follow from presets and transports, so that it says
    /// what is used: without presets [`Document::profiles`] are the same before and after.
    pub(crate) fn write_out(&mut self, presets: &presets::Applied) {
        for entry in &mut self.workload {
            // A ping over TCP would measure handshakes, and hosts usually have TCP.
            if let (workload::Spec::Ping(_), None) = (&entry.traffic, &entry.transport) {
                let transport = transport::Spec::Udp(Default::default());
                entry.congestion.get_or_insert_with(|| transport.usual_control());
                entry.transport = Some(transport);
            }
            let host_has_tcp = matches!(self.host.transport, transport::Spec::Tcp(_));
            if let (workload::Spec::Web(_), None, false) =
                (&entry.traffic, &entry.transport, host_has_tcp)
            {
                let transport = transport::Spec::Tcp(Default::default());
                entry.congestion.get_or_insert_with(|| transport.usual_control());
                entry.transport = Some(transport);
            }
            if let workload::Spec::Voice(voice) = &entry.traffic {
                let workload::Entry { transport, congestion, .. } = entry;
                voice.write_out(transport, congestion, self.wire_overhead);
            }
        }
        if self.host.congestion.is_some() {
            return;
        }
        for (number, entry) in self.workload.iter_mut().enumerate() {
            if let (Some(transport), None) = (&entry.transport, &entry.congestion) {
                let preset = presets.of_workload(number);
                entry.congestion = Some(preset.unwrap_or_else(|| transport.usual_control()));
            }
        }
        let preset = presets.of_host();
        self.host.congestion = Some(preset.unwrap_or_else(|| self.host.transport.usual_control()));
    }
}

//! Calls: packets at the interval of a codec in both directions, whose delay and loss say what is heard.
//!
//! A direction of a call is one flow of UDP at a constant rate, as a socket has it: with hashed queues, all of its
//! packets share one. Silence is not left out, so the load does not depend on who talks.

use std::sync::Arc;

use floodway_model::check::{Check, Findings};
use floodway_model::packet::length;
use floodway_model::{Bytes, Duration, FlowSpec, NodeId, Rate, Voice};
use floodway_sim::host::{congestion, transport};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Ends, Entry, Hosts, Parameters, Ready, Surroundings, Traffic, Workload, check};
use crate::check::Problems;
use crate::document::Document;

/// Parameters. The n-th of `clients` calls the n-th of `servers`, from the beginning again where that list ends.
/// Hosts are named: none is taken from the order of placement, and calls may run on hosts of other workloads. They are
/// sent over UDP at the rate of the codec, whatever transport the hosts have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Hosts that call, by number, like "0-9" or "0, 2, 5-7", by name, like "host 0-9", "all", or "left" or "right" for
    /// all on that side of a dumbbell. Default right: the homes.
    #[serde(default = "Hosts::right")]
    pub clients: Hosts,
    /// Hosts that are called likewise. Default left.
    #[serde(default = "Hosts::left")]
    pub servers: Hosts,
    /// Calls of each client at the same time. Default 1.
    #[serde(default = "one")]
    pub count: u32,
    /// The codec, which is a set of values for the fields below that are not written. Default `g711`.
    #[serde(default)]
    pub codec: Codec,
    /// Speech in a packet. The header of RTP adds 12 bytes (RFC 3550, section 5.1). Default that of the codec.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Bytes>,
    /// Time between two packets of a direction. Default that of the codec.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Duration>,
    /// Time from the first sample of a packet until it is sent. Default that of the codec.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub codec_delay: Option<Duration>,
    /// Equipment impairment factor of the codec without loss (Ie of ITU-T G.113), 0 to 95. Default that of the codec.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impairment: Option<f64>,
    /// Packet-loss robustness factor of the codec (Bpl of ITU-T G.113), above 0. Default that of the codec.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub robustness: Option<f64>,
    /// How much longer than the fastest packet of the last second a packet may take at least, to be played in time. It
    /// may always take as long as the slowest one did. Default 60ms (assumed).
    #[serde(default = "jitter_buffer")]
    pub jitter_buffer: Duration,
    /// When calls begin, before the arrivals end. Default 0ns.
    #[serde(default)]
    pub start: Duration,
    /// When they end. Default the end of the arrivals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
    /// Each direction of a call starts later by a time between zero and this, drawn anew in every replication, so that
    /// calls are not in step. Default 20ms.
    #[serde(default = "jitter")]
    pub jitter: Duration,
}

/// How speech becomes packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Codec {
    /// G.711 with packet loss concealment: 64 kb/s, 160 bytes every 20 ms, Ie = 0 and Bpl = 25.1 (ITU-T G.113, Appendix
    /// I).
    #[default]
    G711,
    /// Opus (RFC 6716) at 32 kb/s: 80 bytes every 20 ms, 6.5 ms of look-ahead. ITU-T gives no factors for it on the scale
    /// of G.107, so they are those of G.711 (assumed).
    Opus,
}

/// The header of RTP without contributing sources (RFC 3550, section 5.1).
const RTP: Bytes = Bytes(12);

/// More calls than a host has lines.
const MOST_CALLS: u32 = 10_000;

/// Each is a row of a table.
const MOST_PACKETS: f64 = 1e7;

fn one() -> u32 {
    1
}

fn jitter_buffer() -> Duration {
    Duration::from_ms(60)
}

fn jitter() -> Duration {
    Duration::from_ms(20)
}

impl Spec {
    /// Speech in a packet.
    fn payload(&self) -> Bytes {
        self.payload.unwrap_or(match self.codec {
            Codec::G711 => Bytes(160),
            Codec::Opus => Bytes(80),
        })
    }

    /// Time between two packets.
    fn interval(&self) -> Duration {
        self.interval.unwrap_or(Duration::from_ms(20))
    }

    /// How its calls are heard.
    fn voice(&self) -> Voice {
        let interval = self.interval();
        let look_ahead = match self.codec {
            Codec::G711 => Duration::ZERO,
            Codec::Opus => Duration::from_us(6_500),
        };
        Voice {
            interval,
            codec_delay: self.codec_delay.unwrap_or(interval + look_ahead),
            jitter_buffer: self.jitter_buffer,
            impairment: self.impairment.unwrap_or(0.0),
            robustness: self.robustness.unwrap_or(25.1),
        }
    }

    /// Payload of a datagram.
    fn datagram(&self) -> Bytes {
        self.payload() + RTP
    }

    /// The rate at which datagrams follow each other at the interval, with everything that is on the wire.
    fn rate(&self, wire_overhead: Bytes) -> Rate {
        let frame = self.datagram().0 + u64::from(length::UDP_OVERHEAD);
        let bytes = frame.max(length::SHORTEST_FRAME.into()) + wire_overhead.0;
        let bits = u128::from(bytes) * 8 * u128::from(Duration::from_ms(1_000).0);
        let interval = u128::from(self.interval().0.max(1));
        Rate(u64::try_from((bits + interval / 2) / interval).unwrap_or(u64::MAX))
    }

    /// Writes how its flows are sent into the entry that has it, as far as nothing else is there.
    pub(crate) fn write_out(
        &self,
        transport: &mut Option<transport::Spec>,
        congestion: &mut Option<congestion::Spec>,
        wire_overhead: Bytes,
    ) {
        let usual = || transport::Spec::Udp(transport::udp::Spec::default());
        if let transport::Spec::Udp(udp) = transport.get_or_insert_with(usual) {
            udp.payload = self.datagram();
        }
        let rate = self.rate(wire_overhead);
        let constant = congestion::constant_rate::Spec { rate };
        congestion.get_or_insert(congestion::Spec::ConstantRate(constant));
    }

    /// Whether the flows of an entry are sent as calls are.
    pub(crate) fn check_sending(entry: &Entry, findings: &mut Findings<'_>) {
        if let Some(transport) = &entry.transport
            && !matches!(transport, transport::Spec::Udp(_))
        {
            findings.error(
                ["transport", ""],
                format!("calls would be sent over `{}`", transport.name()),
                "packets of calls are not sent again: remove the transport of this workload, or make it `udp`",
            );
        }
        if let Some(congestion) = &entry.congestion
            && !matches!(congestion, congestion::Spec::ConstantRate(_))
        {
            findings.error(
                ["congestion", ""],
                format!("calls would be sent with `{}`", congestion.name()),
                "their rate is that of the codec: remove the congestion control of this workload",
            );
        }
    }
}

/// The largest payload of an unfragmented UDP datagram on Ethernet, without the header of RTP.
const LARGEST: Bytes = Bytes(1_472 - RTP.0);

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.range("count", self.count, 1..=MOST_CALLS, "or remove the workload");
        findings.positive("payload", self.payload(), "G.711 has 160B in 20ms");
        if self.payload() > LARGEST {
            findings.error(
                ["payload", ""],
                format!("`payload` is {}, and a packet has room for {LARGEST}", self.payload()),
                "G.711 has 160B in 20ms",
            );
        }
        findings.positive("interval", self.interval(), "usual is \"20ms\"");
        findings.within_a_run("interval", self.interval());
        findings.within_a_run("codec_delay", self.voice().codec_delay);
        findings.within_a_run("jitter_buffer", self.jitter_buffer);
        let why = "G.113 lists those of codecs; G.711 has 0";
        findings.range("impairment", self.voice().impairment, 0.0..=95.0, why);
        let robustness = self.voice().robustness;
        if !(robustness > 0.0 && robustness.is_finite()) {
            findings.error(
                ["robustness", ""],
                format!("`robustness` is {robustness}, and must be above 0"),
                "G.113 lists those of codecs; G.711 with packet loss concealment has 25.1",
            );
        }
    }
}

impl Parameters for Spec {
    fn ready(&self, path: &str, settings: &Document, findings: &mut Problems<'_>) -> Option<Ready> {
        let findings = &mut findings.within(path);
        let fields = ["clients", "servers"];
        let ends = check::ends(fields, [&self.clients, &self.servers], settings, findings);
        if let Some(ends) = &ends {
            check::others(ends, "call", findings);
        }
        let (start, arrivals) = (self.start, settings.arrivals);
        if check::starts(start, false, settings, findings)
            && check::stops(self.stop, start, false, findings)
        {
            let end = self.stop.map_or(arrivals, |stop| stop.min(arrivals));
            check::jitter(self.jitter, end - start, findings);
            let warmup = settings.warmup;
            if end <= warmup && warmup < arrivals {
                findings.warn(
                    "stop",
                    format!("calls end ({end}) during the warm-up ({warmup}) and are not rated"),
                    "packets of the measured interval are rated: raise `stop`, or shorten `warmup`",
                );
            }
            let each = (end - start).0 as f64 / self.interval().0.max(1) as f64;
            let calls =
                f64::from(self.count) * ends.as_ref().map_or(0.0, |ends| ends.from.len() as f64);
            let packets = 2.0 * calls * each;
            if packets > MOST_PACKETS {
                findings.error(
                    ["interval", "count", ""],
                    format!("about {packets:.1e} packets of calls would be sent in {}", end - start),
                    format!(
                        "at most {MOST_PACKETS:.0e} are kept: usual is an interval of 20ms; or have fewer calls, or \
                         shorter ones"
                    ),
                );
            }
        }
        Some(Arc::new(Placed { spec: self.clone(), ends: ends? }))
    }
}

/// With its hosts found.
#[derive(Debug)]
struct Placed {
    spec: Spec,
    ends: Ends,
}

impl Placed {
    /// Packets of a direction that begins at a time.
    fn packets(&self, start: Duration, arrivals: Duration) -> u64 {
        let end = self.spec.stop.map_or(arrivals, |stop| stop.min(arrivals));
        end.0.saturating_sub(start.0).div_ceil(self.spec.interval().0.max(1)).max(1)
    }
}

impl Workload for Placed {
    fn flows(&self, around: Surroundings<'_>) -> Vec<FlowSpec> {
        self.traffic(around).flows
    }

    fn traffic(&self, around: Surroundings<'_>) -> Traffic {
        let spec = &self.spec;
        let hosts: Vec<NodeId> = around.graph.first_ports().collect();
        let mut rng = around.stream();
        let mut traffic = Traffic::default();
        for (client, server) in self.ends.cycled() {
            let [client, server] = [client, server].map(|number| hosts[number as usize]);
            for _ in 0..spec.count {
                let [up, down] = [(client, server), (server, client)].map(|(src, dst)| {
                    let start = spec.start + Duration(rng.below(spec.jitter.0 + 1));
                    let bytes = self.packets(start, around.arrivals) * spec.datagram().0;
                    around.message(src, dst, bytes, start)
                });
                traffic.call(up, down, spec.voice());
            }
        }
        traffic
    }

    fn expected_flows(&self, _: Surroundings<'_>) -> f64 {
        2.0 * f64::from(self.spec.count) * self.ends.from.len() as f64
    }

    fn times_flows(&self) -> bool {
        false
    }

    fn largest_flow(&self) -> u64 {
        self.spec.datagram().0
    }

    fn size_fields(&self) -> Vec<String> {
        vec!["payload".to_owned()]
    }
}

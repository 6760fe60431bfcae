//! Web pages: a client loads one after the other from a server, over connections of TCP with TLS, and reads each
//! for a while.
//!
//! A message of a connection is a flow: the messages of TLS, the requests, and the objects. The first one of a
//! connection has the handshake of TCP; the others go on with its windows ([`Reuse`]). A page is a list of levels.
//! The objects of a level are requested when all of the level before have arrived and have been parsed. How many
//! pages there will be is not known before, so there are as many as there could be if each took as long as on an
//! idle network at least; those for which there is no time never begin.

use std::sync::Arc;

use floodway_model::check::{Check, Findings};
use floodway_model::random::Stream;
use floodway_model::{Bytes, Duration, FlowId, FlowSpec, Instant, NodeId, Page, Reuse};
use floodway_sim::host::transport;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rpc::Ways;
use super::{Ends, Entry, Hosts, Parameters, Ready, Surroundings, Traffic, Workload, check};
use crate::check::Problems;
use crate::document::Document;

mod model;

/// Parameters. The n-th of `clients` loads pages from the n-th of `servers`, from the beginning again where that
/// list ends. Hosts are named: none is taken from the order of placement, and pages may be loaded on hosts of other
/// workloads. They are sent over TCP, with its default parameters where the hosts have another transport.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Hosts that load pages, by number, like "0-9" or "0, 2, 5-7", by name, like "host 0-9", "all", or "left" or
    /// "right" for all on that side of a dumbbell. Default right: the homes.
    #[serde(default = "Hosts::right")]
    pub clients: Hosts,
    /// Hosts that have them likewise. Default left.
    #[serde(default = "Hosts::left")]
    pub servers: Hosts,
    /// The objects of every page by level, as sizes: `[["20KB"], ["30KB", "5KB"]]` is a document that refers to two
    /// objects. Default none: pages are drawn from the HTTP traffic model of 3GPP (R1-070674) and IEEE 802.16m
    /// (evaluation methodology document), a document and the objects that it refers to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<Vec<Vec<Bytes>>>,
    /// How objects are requested. Default `http2`.
    #[serde(default)]
    pub protocol: Protocol,
    /// Connections for a page with `http1`, at most; `http2` has one. A connection has one request at a time, and the
    /// n-th object of a level goes over the n-th connection, from the first again. Default 6 (as browsers have it for
    /// a server).
    #[serde(default = "connections")]
    pub connections: u32,
    /// Round trips of TLS before the first request of a connection: 1 for TLS 1.3 (RFC 8446, section 2), 2 for TLS
    /// 1.2, 0 for none. Default 1.
    #[serde(default = "one")]
    pub tls_round_trips: u32,
    /// Message of the client in such a round trip. Default 517B (assumed).
    #[serde(default = "client_hello")]
    pub client_hello: Bytes,
    /// Message of the server in such a round trip. Default 4000B: with a chain of certificates (assumed).
    #[serde(default = "server_hello")]
    pub server_hello: Bytes,
    /// Size of a request. Default 350B (assumed; the model of ns-3 has 328B).
    #[serde(default = "request")]
    pub request: Bytes,
    /// Time from the arrival of a request to when its object is sent. Default 0ns.
    #[serde(default)]
    pub service: Duration,
    /// Time from the arrival of all objects of a level to when those of the next one are requested. Default 130ms
    /// (the model of 3GPP).
    #[serde(default = "parsing")]
    pub parsing: Duration,
    /// Reading time: from the arrival of the last object to the next navigation. Default 30s (the model of 3GPP).
    #[serde(default = "think")]
    pub think: Duration,
    /// Whether `parsing` and `think` are means of exponential distributions; if not, all times are the same. Default
    /// true (the model of 3GPP).
    #[serde(default = "yes")]
    pub exponential: bool,
    /// Pages of each client, at most. Default as many as there is time for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<u32>,
    /// When first navigations begin, before the arrivals end. Default 0ns.
    #[serde(default)]
    pub start: Duration,
    /// From when on no page is begun. Default the end of the arrivals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
    /// Each client begins later by a time between zero and this, drawn anew in every replication, so that clients are
    /// not in step. Default 0ns.
    #[serde(default)]
    pub jitter: Duration,
}

/// How the objects of a level are requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// HTTP/1.1 (RFC 9112): one request at a time on each connection, without pipelining.
    Http1,
    /// HTTP/2 (RFC 9113): all of a level at once on one connection.
    #[default]
    Http2,
}

/// More than any browser has.
const MOST_CONNECTIONS: u32 = 1_000;

/// TLS 1.2 has two.
const MOST_ROUND_TRIPS: u32 = 10;

/// More than any page has.
const MOST_OBJECTS: usize = 10_000;

/// Larger than all objects of any page; segments are numbered in 32 bits.
const LARGEST: Bytes = Bytes(1_000_000_000);

/// Larger than any request or message of TLS.
const LARGEST_MESSAGE: Bytes = Bytes(1_000_000);

fn connections() -> u32 {
    6
}

fn one() -> u32 {
    1
}

fn yes() -> bool {
    true
}

fn client_hello() -> Bytes {
    Bytes(517)
}

fn server_hello() -> Bytes {
    Bytes(4_000)
}

fn request() -> Bytes {
    Bytes(350)
}

fn parsing() -> Duration {
    Duration::from_ms(130)
}

fn think() -> Duration {
    Duration::from_ms(30_000)
}

impl Spec {
    /// Whether its numbers are within their ranges.
    fn is_sound(&self) -> bool {
        let Self { client_hello, server_hello, request, .. } = self;
        let levels = self.levels.iter().flatten();
        let sizes = || levels.clone().flatten();
        let sum = sizes().fold(0u64, |sum, size| sum.saturating_add(size.0));
        levels.clone().all(|level| !level.is_empty())
            && self.levels.as_ref().is_none_or(|levels| !levels.is_empty())
            && sizes().count() <= MOST_OBJECTS
            && sizes().all(|size| size.0 > 0)
            && sum <= LARGEST.0
            && [client_hello, server_hello, request].iter().all(|size| **size <= LARGEST_MESSAGE)
            && self.connections > 0
            && self.tls_round_trips <= MOST_ROUND_TRIPS
    }

    /// Whether the flows of an entry are sent over TCP.
    pub(crate) fn check_sending(entry: &Entry, findings: &mut Findings<'_>) {
        if let Some(transport) = &entry.transport
            && !matches!(transport, transport::Spec::Tcp(_))
        {
            findings.error(
                ["transport", ""],
                format!("pages would be loaded over `{}`", transport.name()),
                "HTTP needs TCP: remove the transport of this workload, or make it `tcp`",
            );
        }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        let why = "browsers have 6 for a server";
        findings.range("connections", self.connections, 1..=MOST_CONNECTIONS, why);
        let why = "TLS 1.3 has 1, and TLS 1.2 has 2";
        findings.range("tls_round_trips", self.tls_round_trips, 0..=MOST_ROUND_TRIPS, why);
        for (field, size) in [
            ("client_hello", self.client_hello),
            ("server_hello", self.server_hello),
            ("request", self.request),
        ] {
            let why = "requests have hundreds of bytes, messages of TLS thousands";
            findings.range(field, size, Bytes(1)..=LARGEST_MESSAGE, why);
        }
        for (field, time) in
            [("service", self.service), ("parsing", self.parsing), ("think", self.think)]
        {
            findings.within_a_run(field, time);
        }
        findings.range("pages", self.pages, 1.., "or remove the workload");
        if let Some(levels) = &self.levels {
            check_levels(levels, findings);
        }
    }
}

fn check_levels(levels: &[Vec<Bytes>], findings: &mut Findings<'_>) {
    let mut error = |message: String, remedy: &str| findings.error(["levels", ""], message, remedy);
    let empty = levels.iter().position(Vec::is_empty);
    if levels.is_empty() || empty.is_some() {
        let which = empty.map_or("`levels` is empty".to_owned(), |number| {
            format!("level {number} of `levels`, counted from 0, has no objects")
        });
        error(which, "a page has at least a document: [[\"20KB\"]]");
    }
    let objects = levels.iter().map(Vec::len).sum::<usize>();
    if objects > MOST_OBJECTS {
        error(
            format!("a page has {objects} objects"),
            "at most 10000 are possible: make it smaller, or have several clients",
        );
    }
    let sizes = || levels.iter().flatten().copied();
    if let Some(size) = sizes().find(|&size| size == Bytes(0) || size > LARGEST) {
        error(
            format!("an object of a page has {size}"),
            "objects have at least 1 byte, and at most 1GB",
        );
    } else if sizes().map(|size| size.0).sum::<u64>() > LARGEST.0 {
        error(
            "a page has more than 1GB".to_owned(),
            "segments of a connection are numbered in 32 bits: make the objects smaller",
        );
    }
}

impl Parameters for Spec {
    fn ready(&self, path: &str, settings: &Document, findings: &mut Problems<'_>) -> Option<Ready> {
        let findings = &mut findings.within(path);
        let fields = ["clients", "servers"];
        let ends = check::ends(fields, [&self.clients, &self.servers], settings, findings);
        if let Some((host, _)) =
            ends.as_ref().and_then(|ends| ends.cycled().find(|(client, server)| client == server))
        {
            findings.error(
                ["servers", "clients", ""],
                format!("host {host} would load pages from itself"),
                "the n-th of `clients` loads from the n-th of `servers`: change their order",
            );
        }
        let (start, arrivals) = (self.start, settings.arrivals);
        if check::starts(start, false, settings, findings)
            && check::stops(self.stop, start, false, findings)
        {
            let end = self.stop.map_or(arrivals, |stop| stop.min(arrivals));
            check::jitter(self.jitter, end - start, findings);
        }
        // What was found is too large to count with.
        if !self.is_sound() {
            return None;
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

/// A page to load: the sizes of its objects by level, the time to parse each level but the last, and the time to read
/// it.
struct Load {
    levels: Vec<Vec<u64>>,
    parsing: Vec<Duration>,
    think: Duration,
}

/// The last flows of an open connection, up and down.
type Open = Option<[FlowId; 2]>;

impl Placed {
    fn end(&self, arrivals: Duration) -> Duration {
        self.spec.stop.map_or(arrivals, |stop| stop.min(arrivals))
    }

    /// The next page of a client.
    fn draw(&self, rng: &mut Stream) -> Load {
        let levels: Vec<Vec<u64>> = match &self.spec.levels {
            Some(levels) => {
                levels.iter().map(|level| level.iter().map(|size| size.0).collect()).collect()
            }
            None => model::page(rng),
        };
        let mut time = |mean: Duration| match self.spec.exponential {
            true => Duration(rng.exponential(mean.0 as f64) as u64),
            false => mean,
        };
        let parsing = levels[1..].iter().map(|_| time(self.spec.parsing)).collect();
        Load { levels, parsing, think: time(self.spec.think) }
    }

    /// What each connection loads of a level: with HTTP/2 everything over one, with a request for each object.
    fn shares(&self, level: &[u64]) -> Vec<Vec<[u64; 2]>> {
        let request = self.spec.request.0;
        match self.spec.protocol {
            Protocol::Http2 => vec![vec![[request * level.len() as u64, level.iter().sum()]]],
            Protocol::Http1 => {
                let connections = level.len().min(self.spec.connections as usize);
                let of = |first| level.iter().skip(first).step_by(connections);
                (0..connections)
                    .map(|first| of(first).map(|&size| [request, size]).collect())
                    .collect()
            }
        }
    }

    /// No page takes less time, whatever the network does; in seconds.
    fn least(&self, load: &Load, ways: &Ways) -> f64 {
        let Spec { tls_round_trips, client_hello, server_hello, service, .. } = self.spec;
        let trip =
            |[up, down]: [u64; 2]| ways.there.least(up).as_secs() + ways.back.least(down).as_secs();
        let tls = trip([client_hello.0, server_hello.0]) * f64::from(tls_round_trips);
        let longest = |level: &Vec<u64>| {
            let exchanges = |of: &Vec<[u64; 2]>| -> f64 {
                of.iter().map(|&sizes| trip(sizes) + service.as_secs()).sum()
            };
            self.shares(level).iter().map(exchanges).fold(0.0, f64::max)
        };
        let levels: f64 = load.levels.iter().map(longest).sum();
        let parsing: f64 = load.parsing.iter().map(|time| time.as_secs()).sum();
        trip([1, 1]) + tls + levels + parsing
    }

    /// Adds the flows of a page; its first one begins `thought` after the flows `before`. Returns the last objects of
    /// its connections.
    fn load(
        &self,
        page: &Load,
        sends: [&dyn Fn(u64) -> FlowSpec; 2],
        (mut before, thought, stop): (Vec<FlowId>, Duration, Instant),
        traffic: &mut Traffic,
    ) -> Vec<FlowId> {
        let first = traffic.flows.len() as u32;
        let mut open: Vec<Open> = Vec::new();
        let hello = [self.spec.client_hello.0, self.spec.server_hello.0];
        for (number, level) in page.levels.iter().enumerate() {
            let delay = number.checked_sub(1).map_or(thought, |last| page.parsing[last]);
            let shares = self.shares(level);
            open.resize(open.len().max(shares.len()), None);
            let mut last = Vec::new();
            for (connection, share) in open.iter_mut().zip(&shares) {
                let tls = if connection.is_none() { self.spec.tls_round_trips } else { 0 };
                let hellos = (0..tls).map(|_| (hello, Duration::ZERO));
                let objects = share.iter().map(|&sizes| (sizes, self.spec.service));
                let (mut after, mut delay) = (before.clone(), delay);
                for (sizes, service) in hellos.chain(objects) {
                    let down =
                        exchange(traffic, connection, (sends, sizes), (&after, delay, service));
                    (after, delay) = (vec![down], Duration::ZERO);
                }
                last.extend(after);
            }
            before = last;
        }
        traffic.flows[first as usize].stop = stop;
        let page = Page {
            objects: page.levels.iter().map(Vec::len).sum::<usize>() as u32,
            bytes: page.levels.iter().flatten().sum(),
            connections: open.len() as u32,
        };
        traffic.page(first, page);
        before
    }
}

/// Adds a message of the client on a connection, after these flows and a delay, and that of the server, which it
/// sends so long after it has arrived. Returns the latter.
fn exchange(
    traffic: &mut Traffic,
    connection: &mut Open,
    (sends, sizes): ([&dyn Fn(u64) -> FlowSpec; 2], [u64; 2]),
    (after, delay, service): (&[FlowId], Duration, Duration),
) -> FlowId {
    let up = traffic.then(sends[0](sizes[0]), after, delay);
    let down = traffic.then(sends[1](sizes[1]), &[up], service);
    if let Some([of, _]) = connection {
        traffic.reuses.push(Reuse { flow: up, of: *of });
    }
    let of = connection.map_or(up, |[_, of]| of);
    traffic.reuses.push(Reuse { flow: down, of });
    *connection = Some([up, down]);
    down
}

impl Workload for Placed {
    fn flows(&self, around: Surroundings<'_>) -> Vec<FlowSpec> {
        self.traffic(around).flows
    }

    fn traffic(&self, around: Surroundings<'_>) -> Traffic {
        let hosts: Vec<NodeId> = around.graph.first_ports().collect();
        let stop = Instant::ZERO + self.end(around.arrivals);
        let mut traffic = Traffic::default();
        for (client, server) in self.ends.cycled() {
            let [client, server] = [client, server].map(|number| hosts[number as usize]);
            let mut rng = around.stream_of(client);
            let ways = Ways::between(&around, client, server);
            let begin = self.spec.start + Duration(rng.below(self.spec.jitter.0 + 1));
            let up = |bytes| around.message(client, server, bytes, begin);
            let down = |bytes| around.message(server, client, bytes, begin);
            let (mut earliest, mut before) = (begin.as_secs(), Vec::new());
            let end = self.end(around.arrivals).as_secs();
            let mut thought = Duration::ZERO;
            for _ in 0..self.spec.pages.unwrap_or(u32::MAX) {
                if earliest >= end {
                    break;
                }
                let page = self.draw(&mut rng);
                before = self.load(&page, [&up, &down], (before, thought, stop), &mut traffic);
                earliest += self.least(&page, &ways) + page.think.as_secs();
                thought = page.think;
            }
        }
        traffic
    }

    fn expected_flows(&self, around: Surroundings<'_>) -> f64 {
        let left = self.end(around.arrivals).0.saturating_sub(self.spec.start.0);
        let left = Duration(left).as_secs();
        let levels: Vec<usize> = match &self.spec.levels {
            Some(levels) => levels.iter().map(Vec::len).collect(),
            None => model::MEAN_OBJECTS.to_vec(),
        };
        let connections = match self.spec.protocol {
            Protocol::Http2 => 1,
            Protocol::Http1 => self.spec.connections as usize,
        };
        let opened = levels.iter().copied().max().unwrap_or(1).min(connections);
        let exchanges = match self.spec.protocol {
            Protocol::Http2 => levels.len(),
            Protocol::Http1 => levels.iter().sum(),
        };
        let flows = 2.0 * (exchanges as f64 + opened as f64 * f64::from(self.spec.tls_round_trips));
        let hosts: Vec<NodeId> = around.graph.first_ports().collect();
        let pages = |(client, server): (u32, u32)| {
            let [client, server] = [client, server].map(|number| hosts[number as usize]);
            let load = Load {
                levels: levels.iter().map(|&objects| vec![1; objects]).collect(),
                parsing: vec![self.spec.parsing; levels.len() - 1],
                think: self.spec.think,
            };
            let ways = Ways::between(&around, client, server);
            let least = self.least(&load, &ways) + load.think.as_secs();
            let most = f64::from(self.spec.pages.unwrap_or(u32::MAX));
            (left / least + 1.0).min(most)
        };
        self.ends.cycled().map(pages).sum::<f64>() * flows
    }

    fn waits_for_arrivals(&self) -> bool {
        true
    }

    fn times_flows(&self) -> bool {
        false
    }

    fn largest_flow(&self) -> u64 {
        let Spec { request, client_hello, server_hello, levels, .. } = &self.spec;
        let objects = match (levels, self.spec.protocol) {
            // Of those that are drawn: as many on one connection never all have the largest size.
            (None, _) => model::LARGEST,
            (Some(levels), Protocol::Http1) => {
                levels.iter().flatten().map(|size| size.0).max().unwrap_or(0)
            }
            (Some(levels), Protocol::Http2) => {
                let sum = |level: &Vec<Bytes>| level.iter().map(|size| size.0).sum();
                levels.iter().map(sum).max().unwrap_or(0)
            }
        };
        objects.max(request.0).max(client_hello.0).max(server_hello.0)
    }

    fn size_fields(&self) -> Vec<String> {
        vec!["levels".to_owned(), "request".to_owned()]
    }
}

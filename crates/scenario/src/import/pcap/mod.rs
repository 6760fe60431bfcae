//! Captures of a network as workloads: who sent how much to whom, and when.
//!
//! A flow is what one end of a connection sent to the other: octets of payload in TCP, UDP or RoCEv2, from the first
//! frame on, until it sent nothing for a while. What a capture says of the network, of reactions to congestion and of
//! losses is not taken over: the simulation has its own.

mod flows;
mod packets;
mod scenario;

use std::fs::File;
use std::io::Read;
use std::net::IpAddr;
use std::path::Path;

use floodway_model::Duration;
use floodway_wire::capture::{self, Fault};

use crate::scenario::{Overrides, Scenario};
use flows::Table;

/// The transport of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Transport {
    /// TCP.
    Tcp,
    /// RoCEv2.
    Rocev2,
    /// UDP of any other kind.
    Udp,
}

impl Transport {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Tcp, Self::Rocev2, Self::Udp];

    /// Its name in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Rocev2 => "rocev2",
            Self::Udp => "udp",
        }
    }
}

/// A flow of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The sender.
    pub source: IpAddr,
    /// The receiver.
    pub destination: IpAddr,
    /// Its transport.
    pub transport: Transport,
    /// Octets of payload, without those that were sent again.
    pub bytes: u64,
    /// Its first frame, in nanoseconds since 1970.
    pub start_ns: u64,
    /// Its last frame.
    pub end_ns: u64,
}

/// What became of the frames of a capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// All frames.
    pub frames: u64,
    /// Frames with payload of a flow.
    pub of_flows: u64,
    /// Frames seen before at another interface.
    pub seen_before: u64,
    /// Frames of TCP and RoCEv2 that carry no payload, such as acknowledgements.
    pub without_payload: u64,
    /// Frames whose payload was sent before.
    pub repeated: u64,
    /// Frames from a host to itself.
    pub to_itself: u64,
    /// Frames to several receivers.
    pub multicast: u64,
    /// Fragments of datagrams but their first one.
    pub fragments: u64,
    /// IP datagrams of other protocols.
    pub other_protocols: u64,
    /// Frames without IP.
    pub without_ip: u64,
    /// Frames that end within their headers, or have malformed ones.
    pub malformed: u64,
}

impl Account {
    /// What is not taken over, in a line: ` (2 go to several receivers)`.
    fn in_words(&self) -> String {
        let some = self.left_out().into_iter().filter(|(frames, _)| *frames > 0);
        let some: Vec<_> = some.map(|(frames, words)| format!("{frames} {words}")).collect();
        if some.is_empty() { String::new() } else { format!(" ({})", some.join("; ")) }
    }

    /// What is not taken over, with how many frames of it there are.
    pub fn left_out(&self) -> [(u64, &'static str); 9] {
        [
            (self.seen_before, "were seen before at another interface"),
            (self.without_payload, "have no payload, such as acknowledgements"),
            (self.repeated, "repeat payload that was sent before"),
            (self.to_itself, "go from a host to itself"),
            (self.multicast, "go to several receivers"),
            (
                self.fragments,
                "are later fragments; the length of a UDP datagram stands in its first one",
            ),
            (self.other_protocols, "are of another protocol than TCP, UDP and RoCEv2"),
            (self.without_ip, "have no IP, such as pauses, ARP and LLDP"),
            (self.malformed, "end within their headers, or have malformed ones"),
        ]
    }
}

/// A scenario, and what it was made of.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The scenario file.
    pub scenario: String,
    /// The files that it names, which have to be beside it: name and text.
    pub files: Vec<(String, String)>,
    /// The flows, in order of start.
    pub flows: Vec<Flow>,
    /// The hosts, in order of their numbers.
    pub hosts: Vec<IpAddr>,
    /// What became of the frames.
    pub account: Account,
}

/// Why a capture is not imported: cause and remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit(pub String);

/// The name of the scenario's file.
pub const SCENARIO: &str = "scenario.toml";

/// Reads a capture from a file; `name` is that of the scenario. A flow that sends nothing for `idle` has ended, and what
/// comes later is another one.
pub fn import(path: &Path, name: &str, idle: Duration) -> Result<Imported, Unfit> {
    let unfit = |problem: String| Unfit(format!("{}: {problem}", path.display()));
    if path.is_dir() {
        return Err(unfit("it is a directory; name a capture, pcap or pcapng".to_owned()));
    }
    let file = File::open(path).map_err(|error| unfit(format!("it cannot be read: {error}")))?;
    import_from(file, name, idle).map_err(|Unfit(problem)| unfit(problem))
}

/// Nanoseconds in a second.
const SECOND_NS: u64 = 1_000_000_000;
/// The longest time between the first flow and the last one: a scenario is simulated for ten times as long, until all flows
/// are complete, which must be a duration.
const LONGEST_NS: u64 = u64::MAX / 1_000 / 10 - SECOND_NS;

/// Reads a capture.
pub fn import_from(from: impl Read + Send, name: &str, idle: Duration) -> Result<Imported, Unfit> {
    let mut table = Table::new(idle.0 / 1_000);
    let mut unknown = None;
    let read = capture::read(from, |frame| match packets::seen(&frame) {
        Ok(seen) => table.add(&frame, seen),
        Err(link) => unknown = unknown.or(Some((frame.number, link))),
    });
    read.map_err(|fault| Unfit(words(&fault)))?;
    if let Some((frame, link)) = unknown {
        return Err(Unfit(format!(
            "frame {frame} has link type {link}, and these are known: Ethernet (1), IP (12, 14, 101, 228, 229), Linux \
             cooked (113, 276) and loopback (0, 108); capture at an interface that has one of them"
        )));
    }
    let (flows, account) = table.finish();
    if flows.is_empty() {
        return Err(Unfit(format!(
            "none of its {} frames has payload of TCP, UDP or RoCEv2 from one host to another, so there are no flows{}",
            account.frames,
            account.in_words()
        )));
    }
    let starts = || flows.iter().map(|flow| flow.start_ns);
    let span_ns = starts().max().unwrap_or(0) - starts().min().unwrap_or(0);
    if span_ns > LONGEST_NS {
        return Err(Unfit(format!(
            "its flows begin within {} s of each other, and a scenario has at most {} s for that; if the clock was set while \
             frames were captured, take those before or after it with: editcap -A START -B END CAPTURE PART",
            span_ns / SECOND_NS,
            LONGEST_NS / SECOND_NS,
        )));
    }
    let imported = scenario::of(name, flows, account);
    check(&imported)?;
    Ok(imported)
}

/// A fault with its remedy.
fn words(fault: &Fault) -> String {
    let remedy = match fault {
        Fault::Format => "name a file that Wireshark or tcpdump has written",
        Fault::Cut(0) => "there is nothing to take from it",
        Fault::Cut(_) => "take the frames before that with: editcap CAPTURE WHOLE",
        Fault::Time(_) => "shift its times with: editcap -t SECONDS",
        Fault::Malformed(_) | Fault::Long(_) | Fault::Interface { .. } | Fault::Unit(_) => {
            "the file is damaged; write it again with: editcap CAPTURE WHOLE"
        }
        Fault::Read => "check the disk",
    };
    format!("{fault}; {remedy}")
}

/// What is imported is a valid scenario.
fn check(imported: &Imported) -> Result<(), Unfit> {
    let files = imported.files.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    let library: Vec<_> = std::iter::once((SCENARIO, &*imported.scenario)).chain(files).collect();
    match Scenario::of_library(&library, SCENARIO, &Overrides::default()) {
        Ok(_) => Ok(()),
        Err(error) => {
            let problems = error.problems().iter().map(|problem| problem.message.as_str());
            let problems: Vec<&str> = problems.collect();
            Err(Unfit(format!("it makes no scenario: {}", problems.join("; "))))
        }
    }
}

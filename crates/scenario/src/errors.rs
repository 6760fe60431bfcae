//! Bit errors of links, and the retry that sends frames with errors again, as a scenario writes them.

use std::collections::{BTreeMap, BTreeSet};

use floodway_model::check::{Check, Findings, frame_error_rate, number};
use floodway_model::units::ByteTime;
use floodway_model::{Bytes, Duration, Graph, NodeId, PortIx, Rate};
use floodway_sim::errors::Errors;
use floodway_sim::retry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::derived::FrameErrors;
use crate::failure::ports_of;

/// Links on which frames have bit errors, in both directions. A frame with an error is lost, unless the link has a
/// retry.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkErrors {
    /// The names of the nodes at both ends, for example ["leaf 0", "spine 1"]. Default all links that no other
    /// `[[errors]]` names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<[String; 2]>,
    /// Which of several links between the two, from 0 in the order of their ports. Default all of
    /// them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u32>,
    /// Probability that a bit is wrong, after forward error correction, independently of others: a frame of n bytes
    /// has an error with probability 1 - (1 - e)^(8 n). Default 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bit_error_rate: f64,
    /// Frames that have an error whatever the rate: numbers from 0 of those that the first node of `link` sends to
    /// the second, without MAC control frames. With a retry, frames that are sent again have numbers too, except
    /// what the receiver discards. Default none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<u64>,
    /// Link-level retry of Ultra Ethernet: both ends send frames with errors again. Default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
}

/// A link-level retry: numbered frames, which the receiver accepts in order, and a sender that goes back to the
/// frame that a NACK asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Retry {
    /// Size of the replay buffer of each port, in bytes of frames. Queues wait while it has no room for the longest
    /// frame. Default what the link carries in the longest loop, and two of the longest frames: no queue waits
    /// without errors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<Bytes>,
    /// How often a frame is sent again before it is given up, and lost. Default 1 (Ultra Ethernet: `replay count max`).
    pub count: u32,
    /// Time in both ends together between the last bit of a frame and the first bit of a replay, beyond
    /// propagation: PHY, error correction and MAC. Default 100ns (assumed).
    pub processing: Duration,
    /// How long after a frame the sender sends it again without an answer, which is lost if it has a bit error itself.
    /// Default twice the longest loop (Ultra Ethernet leaves it to the implementation).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timer: Option<Duration>,
    /// Distance of ordered sets in the line code, in bytes: acknowledgements and NACKs wait for the next one.
    /// Default 2048B (Ultra Ethernet); 0B for answers that leave at once.
    pub spacing: Bytes,
    /// Bytes that each ordered set takes from frames, at every distance of `spacing`. Default 8B, a block of the
    /// line code; 0B if they replace idle blocks only.
    pub overhead: Bytes,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            buffer: None,
            count: 1,
            processing: Duration::from_ns(100),
            timer: None,
            spacing: Bytes(2_048),
            overhead: Bytes(8),
        }
    }
}

/// A direction of a link, as far as a retry depends on it.
#[derive(Clone, Copy, Debug)]
pub struct Direction {
    /// Its rate.
    pub rate: Rate,
    /// The rate of the other one, which carries the answers.
    pub back: Rate,
    /// Propagation delay.
    pub delay: Duration,
}

impl Retry {
    /// The longest time from the last bit of a frame to its answer.
    pub fn longest_loop(&self, direction: Direction) -> Duration {
        let wait = ByteTime::at(direction.back).of(self.spacing.0);
        direction.delay + direction.delay + self.processing + wait
    }

    /// The replay buffer without which queues wait although nothing has an error.
    pub fn needed(&self, direction: Direction, largest_frame: u16) -> Bytes {
        let bits = u128::from(direction.rate.0) * u128::from(self.longest_loop(direction).0);
        let bytes = u64::try_from(bits.div_ceil(8_000_000_000_000)).unwrap_or(u64::MAX);
        Bytes(bytes.saturating_add(2 * u64::from(largest_frame)))
    }

    fn build(&self, direction: Direction, largest_frame: u16) -> retry::Spec {
        let longest = self.longest_loop(direction);
        retry::Spec {
            buffer: self.buffer.unwrap_or_else(|| self.needed(direction, largest_frame)),
            count: self.count,
            processing: self.processing,
            timer: self.timer.unwrap_or(longest + longest),
            spacing: self.spacing,
            overhead: self.overhead,
        }
    }
}

fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

impl Check for LinkErrors {
    fn check(&self, findings: &mut Findings<'_>) {
        const RARE: &str = "IEEE 802.3 asks for at most 1e-12 of most PHYs";
        findings.range("bit_error_rate", self.bit_error_rate, 0.0..1.0, RARE);
        if let Some(retry) = &self.retry {
            let findings = &mut findings.within("retry");
            findings.range("count", retry.count, 0..=100, "Ultra Ethernet has 1");
            let long = Duration::ZERO..=Duration::from_ms(1);
            findings.range("processing", retry.processing, long, "100ns is usual");
            findings.range("spacing", retry.spacing, Bytes(0)..=Bytes(65_536), "usual is 2048B");
            if retry.overhead > retry.spacing {
                findings.error(
                    ["overhead", "spacing"],
                    format!(
                        "ordered sets of {} do not fit at a distance of {}",
                        retry.overhead, retry.spacing
                    ),
                    "write an `overhead` below `spacing`: a block of the line code is 8B; 0B is for none",
                );
            }
        }
    }
}

impl LinkErrors {
    /// Whether any frame may have an error.
    pub fn may_happen(&self) -> bool {
        self.bit_error_rate > 0.0 || !self.frames.is_empty()
    }

    /// The sending ends of the first direction of its links, if it names some.
    fn named(&self, graph: &Graph) -> Vec<(NodeId, PortIx)> {
        let ports = |link: &[String; 2]| ports_of(link, self.number, graph);
        self.link.as_ref().map_or(Vec::new(), ports)
    }

    /// Probability that a frame of so many bytes is lost: it has an error, or with a retry one error after the other.
    pub fn loss(&self, bytes: u64) -> f64 {
        let times = self.retry.as_ref().map_or(1.0, |retry| f64::from(retry.count) + 1.0);
        frame_error_rate(self.bit_error_rate, bytes).powf(times)
    }

    /// What it is, for readers: its links, and the probability of an error in a frame of so many bytes.
    pub fn phrase(&self, bytes: u64) -> String {
        let link = match &self.link {
            Some([from, to]) => format!("{from} to {to}"),
            None => "all other links".to_owned(),
        };
        let mut parts = Vec::new();
        if self.bit_error_rate > 0.0 {
            let rate = frame_error_rate(self.bit_error_rate, bytes);
            let rates = [number(self.bit_error_rate), rounded(rate)];
            parts.push(format!("bit error rate {}, {} of full frames", rates[0], rates[1]));
        }
        if !self.frames.is_empty() {
            let listed: Vec<String> = self.frames.iter().take(5).map(u64::to_string).collect();
            let more = if self.frames.len() > listed.len() { ", …" } else { "" };
            parts.push(format!("errors in frames {}{more}", listed.join(", ")));
        }
        if let Some(retry) = &self.retry {
            let times = if retry.count == 1 { "once" } else { &format!("{} times", retry.count) };
            parts.push(match self.bit_error_rate > 0.0 {
                true => {
                    format!("sent again up to {times}, {} are lost", rounded(self.loss(bytes)))
                }
                false => format!("sent again up to {times}"),
            });
        }
        format!("{link}: {}", parts.join(", "))
    }
}

/// A probability with three digits.
fn rounded(value: f64) -> String {
    if value >= 1e-3 { format!("{value:.3}") } else { format!("{value:.2e}") }
}

/// Which entry each end of a link has, by its place in the list.
pub fn by_end(entries: &[LinkErrors], graph: &Graph) -> BTreeMap<(NodeId, PortIx), usize> {
    let mut of = BTreeMap::new();
    if let Some(place) = entries.iter().position(|entry| entry.link.is_none()) {
        for (node, port) in all_ends(graph) {
            of.insert((node, port), place);
        }
    }
    for (place, entry) in entries.iter().enumerate() {
        for (node, port) in entry.named(graph) {
            of.insert((node, port), place);
            of.insert(other_end(graph, (node, port)), place);
        }
    }
    of
}

fn all_ends(graph: &Graph) -> impl Iterator<Item = (NodeId, PortIx)> {
    graph.ids().flat_map(|node| {
        (0..graph.node(node).ports.len()).map(move |port| (node, PortIx(port as u16)))
    })
}

fn other_end(graph: &Graph, (node, port): (NodeId, PortIx)) -> (NodeId, PortIx) {
    let end = &graph.node(node).ports[port.index()];
    (end.peer, end.peer_port)
}

/// The direction that a port sends.
pub fn direction(graph: &Graph, (node, port): (NodeId, PortIx)) -> Direction {
    let end = &graph.node(node).ports[port.index()];
    Direction { rate: end.rate, back: graph.rate_to(end), delay: end.delay }
}

/// What the errors do to full frames, for each entry.
pub fn of_full_frames(
    entries: &[LinkErrors],
    graph: &Graph,
    largest_frame: u16,
) -> Vec<FrameErrors> {
    let ends = by_end(entries, graph);
    let of = |(number, entry): (usize, &LinkErrors)| {
        let of_entry = ends.iter().filter(|(_, place)| **place == number);
        let replay_buffer = entry.retry.as_ref().and_then(|retry| {
            let needs =
                |end: &(NodeId, PortIx)| retry.needed(direction(graph, *end), largest_frame);
            retry.buffer.or_else(|| of_entry.map(|(end, _)| needs(end)).max())
        });
        FrameErrors {
            link: entry.link.clone(),
            error_rate: frame_error_rate(entry.bit_error_rate, largest_frame.into()),
            loss: entry.loss(largest_frame.into()),
            replay_buffer,
        }
    };
    entries.iter().enumerate().map(of).collect()
}

/// The errors of both directions of all links, in order of node and port.
pub fn build(entries: &[LinkErrors], graph: &Graph, largest_frame: u16) -> Vec<Errors> {
    let firsts: BTreeSet<(NodeId, PortIx)> =
        entries.iter().flat_map(|entry| entry.named(graph)).collect();
    let errors = |(end, place): ((NodeId, PortIx), usize)| {
        let entry: &LinkErrors = &entries[place];
        let mut frames = match firsts.contains(&end) {
            true => entry.frames.clone(),
            false => Vec::new(),
        };
        frames.sort_unstable();
        frames.dedup();
        let retry = entry.retry.as_ref();
        Errors {
            node: end.0,
            port: end.1,
            rate: entry.bit_error_rate,
            frames,
            retry: retry.map(|retry| retry.build(direction(graph, end), largest_frame)),
        }
    };
    by_end(entries, graph).into_iter().map(errors).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 100 Gb/s carry 12.5 bytes in a nanosecond. A loop of twice 500 ns, 100 ns and 163.84 ns for 2048
    /// bytes is
    /// 1263.84 ns, 15,798 bytes; two frames of 4178 bytes more are 24,154.
    #[test]
    fn a_replay_buffer_holds_a_loop_and_two_frames() {
        let rate = Rate::from_gbps(100);
        let direction = Direction { rate, back: rate, delay: Duration::from_ns(500) };
        let retry = Retry::default();
        assert_eq!(retry.longest_loop(direction), Duration(1_263_840));
        assert_eq!(retry.needed(direction, 4_178), Bytes(24_154));
        assert_eq!(retry.build(direction, 4_178).timer, Duration(2 * 1_263_840));
        // Answers come at a tenth of the rate: 1638.4 ns for 2048 bytes.
        let slow = Direction { back: Rate::from_gbps(10), ..direction };
        assert_eq!(retry.longest_loop(slow), Duration(2_738_400));
    }

    /// By hand: 1000 bytes are 8000 bits, so with 10^-9 8 in a million frames have an error, and 64 in 10^12 two in
    /// a row.
    #[test]
    fn a_frame_is_lost_after_as_many_errors_as_transmissions() {
        let mut errors = LinkErrors { bit_error_rate: 1e-9, ..Default::default() };
        assert!((errors.loss(1_000) / 8e-6 - 1.0).abs() < 1e-5);
        errors.retry = Some(Retry::default());
        assert!((errors.loss(1_000) / 6.4e-11 - 1.0).abs() < 1e-5);
        // Where (1 - e)^n is 1 to all digits of a double, too.
        let rare = LinkErrors { bit_error_rate: 1e-20, ..Default::default() };
        assert!((rare.loss(1_000) / 8e-17 - 1.0).abs() < 1e-5);
    }
}

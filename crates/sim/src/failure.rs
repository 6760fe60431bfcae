//! Link failures during a run, and the frames that they lose.
//!
//! When a link fails, the frames on it are lost, in both directions, and so is everything that its
//! ends send until they detect the failure. From then on they send nothing, and all switches
//! forward as if the link did not exist, until the repair is detected. These times follow from the
//! scenario, so every end and every switch has a list of times of its own and no signaling is
//! simulated. Whether a frame will be lost is known when it is sent; a lost frame never arrives.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use floodway_model::graph::NodeKind;
use floodway_model::id::CLASSES;
use floodway_model::{Body, Duration, FlowId, Graph, Instant, NodeId, Packet, PortIx};
use serde::Serialize;

use crate::Spec;
use crate::errors::{BitErrors, Errors};
use crate::link::is_link_control;
use crate::loss::Random;
use crate::routing::Routes;
use crate::switch::port::DropReason;

/// A link failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// One end of the link.
    pub node: NodeId,
    /// The port at that end.
    pub port: PortIx,
    /// Time of the failure, from which all frames are lost.
    pub at: Instant,
    /// Time of the repair; [`Instant::NEVER`] if there is none.
    pub until: Instant,
    /// Detection time, for the failure and for the repair: how long until both ends and all
    /// switches know.
    pub detection: Duration,
}

impl Failure {
    /// The interval in which the failure is known; `None` if it is repaired before it is detected.
    fn known(&self) -> Option<(Instant, Instant)> {
        let (from, until) = (self.at + self.detection, self.until + self.detection);
        (from < self.until).then_some((from, until))
    }

    /// Both ends of the link.
    fn ends(&self, graph: &Graph) -> [(NodeId, PortIx); 2] {
        let end = &graph.node(self.node).ports[self.port.index()];
        [(self.node, self.port), (end.peer, end.peer_port)]
    }
}

/// The failures of a link, as state of one of its ends.
#[derive(Debug, Default)]
pub struct Outages {
    /// Intervals in which all frames are lost.
    dead: Vec<(Instant, Instant)>,
    /// When what the end knows changes, ascending, and whether it does not send from then on.
    updates: VecDeque<(Instant, bool)>,
    /// What it loses at random; `None` if it loses nothing so.
    random: Option<Random>,
    /// Which frames are lost because of bit errors; `None` if none is, or if a retry decides.
    errors: Option<BitErrors>,
    /// Lost frames and their bytes, by the queue from which they were sent, without those that had bit errors.
    pub lost: [(u64, u64); CLASSES],
    /// The same of frames that had bit errors.
    pub corrupted: [(u64, u64); CLASSES],
    /// Of both, data packets, by flow.
    pub lost_of: BTreeMap<FlowId, u64>,
    /// Of these, frames of PFC and PAUSE, and those that arrived late because of bit errors.
    pub lost_pauses: u64,
    /// Of these, headers of trimmed packets.
    pub lost_headers: u64,
}

impl Outages {
    /// What the link at this port loses, by failures, at random and because of bit errors; `None` if it never loses
    /// anything.
    pub fn at(spec: &Spec, end: (NodeId, PortIx)) -> Option<Box<Self>> {
        let failures = Self::of(&spec.failures, &spec.graph, end);
        let loss = spec.losses.iter().find(|loss| (loss.node, loss.port) == end);
        let errors = Errors::at(spec, end);
        if loss.is_none() && errors.is_none() {
            return failures;
        }
        let mut outages = failures.unwrap_or_default();
        let name = transmitter_name(&spec.graph, end);
        outages.random = loss.map(|loss| Random::new(loss, spec.seed, &name));
        let errors = errors.filter(|errors| errors.retry.is_none());
        outages.errors =
            errors.map(|errors| BitErrors::new(errors.rate, &errors.frames, spec.seed, &name));
        Some(outages)
    }

    /// The failures of the link at this port; `None` if it never fails.
    pub fn of(
        failures: &[Failure],
        graph: &Graph,
        (node, port): (NodeId, PortIx),
    ) -> Option<Box<Self>> {
        let here = |failure: &&Failure| failure.ends(graph).contains(&(node, port));
        let failures: Vec<&Failure> = failures.iter().filter(here).collect();
        if failures.is_empty() {
            return None;
        }
        let dead = failures.iter().map(|failure| (failure.at, failure.until)).collect();
        let mut known: Vec<_> = failures.iter().filter_map(|failure| failure.known()).collect();
        known.sort_unstable();
        let mut updates: VecDeque<(Instant, bool)> = VecDeque::new();
        for (from, until) in known {
            // One that is known before the end of another is: the port stays closed between them.
            let last = updates.back().map_or(Instant::ZERO, |&(end, _)| end);
            if !updates.is_empty() && from <= last {
                updates.pop_back();
                updates.push_back((until.max(last), false));
            } else {
                updates.extend([(from, true), (until, false)]);
            }
        }
        Some(Box::new(Self { dead, updates, ..Self::default() }))
    }

    /// Whether a frame is lost whose first bit is sent at `from` and whose last bit arrives at
    /// `until`.
    pub fn hit(&self, from: Instant, until: Instant) -> bool {
        self.dead.iter().any(|&(down, up)| down < until && from < up)
    }

    /// Why the frame is lost that is sent at `from`, and whose last bit arrives at `until`, if it is: `is_given_up` by a
    /// retry, because of bit errors, at random or by a failure. Counts it if it is, and a pause that `is_late` because a
    /// retry sends it again.
    pub fn takes(
        &mut self,
        packet: &Packet,
        (from, until): (Instant, Instant),
        is_given_up: bool,
        is_late: bool,
    ) -> Option<DropReason> {
        let at_random = self.random.as_mut().is_some_and(Random::takes);
        let has_error = is_given_up
            || self.errors.as_mut().is_some_and(|errors| match is_link_control(&packet.body) {
                true => errors.hit(packet.bytes.into()),
                false => errors.hit_next(packet.bytes.into()),
            });
        let reason = match (at_random || self.hit(from, until), has_error) {
            (true, _) => Some(DropReason::LostOnLink),
            (false, true) => Some(DropReason::Corrupted),
            (false, false) => None,
        };
        if reason.is_some() || is_late {
            let is_pause = matches!(packet.body, Body::Pfc { .. } | Body::Pause { .. });
            self.lost_pauses += u64::from(is_pause);
        }
        if let Some(reason) = reason {
            self.lose(packet, reason);
        }
        reason
    }

    /// Counts a lost frame.
    fn lose(&mut self, packet: &Packet, reason: DropReason) {
        let lost = match reason {
            DropReason::Corrupted => &mut self.corrupted,
            _ => &mut self.lost,
        };
        let (frames, bytes) = &mut lost[packet.class.index()];
        *frames += 1;
        *bytes += u64::from(packet.bytes);
        if packet.is_of_message() {
            *self.lost_of.entry(packet.flow).or_default() += 1;
        }
        self.lost_headers += u64::from(matches!(packet.body, Body::Trimmed { .. }));
    }

    /// When what the end knows changes next.
    pub fn next_update(&self) -> Instant {
        self.updates.front().map_or(Instant::NEVER, |&(at, _)| at)
    }

    /// Whether the end does not send from now on, if that changes now.
    pub fn update(&mut self, now: Instant) -> Option<bool> {
        let mut closes = None;
        while let Some(&(_, now_closes)) = self.updates.front().filter(|(at, _)| *at <= now) {
            self.updates.pop_front();
            closes = Some(now_closes);
        }
        closes
    }
}

/// The name of a transmitter, from which its streams of random numbers are derived.
pub fn transmitter_name(graph: &Graph, (node, port): (NodeId, PortIx)) -> String {
    format!("{}, port {}", graph.node(node).name, port.0)
}

/// Ports of nodes, at both ends of links.
type Ends = BTreeSet<(NodeId, PortIx)>;

/// The times at which what is known of links changes, ascending, with the ends of all links that are known to be down from then
/// on.
fn known(failures: &[Failure], graph: &Graph) -> Vec<(Instant, Ends)> {
    let known: Vec<_> = failures.iter().filter_map(|f| Some((f, f.known()?))).collect();
    let mut times: BTreeSet<Instant> =
        known.iter().flat_map(|&(_, (from, until))| [from, until]).collect();
    times.remove(&Instant::NEVER);
    let down = |now: Instant| {
        let down = known.iter().filter(|(_, (from, until))| *from <= now && now < *until);
        down.flat_map(|(failure, _)| failure.ends(graph)).collect()
    };
    times.into_iter().map(|now| (now, down(now))).collect()
}

/// The times at which routes change, ascending, and the tables of all switches from then on,
/// ordered by switch identifier. With `failover`, ports of hosts stand in for others.
pub fn epochs(failures: &[Failure], graph: &Graph, failover: bool) -> Vec<(Instant, Vec<Routes>)> {
    let tables = |(now, down): (Instant, Ends)| {
        let mut tables = Routes::without(graph, &down);
        if failover {
            Routes::redirect(&mut tables, &stand_ins(graph, &down));
        }
        (now, tables)
    };
    known(failures, graph).into_iter().map(tables).collect()
}

/// For ports of hosts whose links are `down`, the ports that stand in for them: the next one of the host that works and
/// that is in the same part of the network, so that it leads to the same ports of others.
pub fn stand_ins(graph: &Graph, down: &Ends) -> BTreeMap<NodeId, NodeId> {
    let mut stand_ins = BTreeMap::new();
    if !graph.has_several_ports() {
        return stand_ins;
    }
    let parts = graph.parts_of_switches();
    let part = |port: NodeId| parts[graph.node(port).ports[0].peer.index()];
    let is_down = |port: NodeId| down.contains(&(port, PortIx(0)));
    for &(port, _) in down.iter().filter(|(node, _)| graph.node(*node).kind == NodeKind::Host) {
        let ports = graph.ports_of(graph.host_of(port));
        let (before, after): (Vec<NodeId>, Vec<NodeId>) = ports.partition(|other| *other < port);
        let mut others = after.into_iter().chain(before);
        let stands_in = others.find(|&other| !is_down(other) && part(other) == part(port));
        stand_ins.extend(stands_in.map(|other| (port, other)));
    }
    stand_ins
}

/// The times at which other ports of this host stand in for some, ascending: by port, the one that does, by its place
/// among them.
pub fn failovers(spec: &Spec, host: NodeId) -> VecDeque<(Instant, Vec<Option<usize>>)> {
    let ports: BTreeSet<NodeId> = spec.graph.ports_of(host).collect();
    let here = |failure: &&Failure| {
        failure.ends(&spec.graph).into_iter().any(|(node, _)| ports.contains(&node))
    };
    let failures: Vec<Failure> = spec.failures.iter().filter(here).copied().collect();
    let places = |down: &Ends| {
        let stand_ins = stand_ins(&spec.graph, down);
        let place = |port: &NodeId| (port.0 - host.0) as usize;
        ports.iter().map(|port| stand_ins.get(port).map(place)).collect()
    };
    known(&failures, &spec.graph).iter().map(|(at, down)| (*at, places(down))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::Rate;
    use floodway_model::graph::NodeKind;

    fn us(us: u64) -> Instant {
        Instant(us * 1_000_000)
    }

    fn failure(at: u64, until: u64, detection: u64) -> Failure {
        Failure {
            node: NodeId(0),
            port: PortIx(0),
            at: us(at),
            until: us(until),
            detection: Duration::from_us(detection),
        }
    }

    fn graph() -> Graph {
        let mut graph = Graph::default();
        let ids = ["a", "b"].map(|name| graph.add(name, NodeKind::Switch { tier: 0 }));
        graph.link(ids[0], ids[1], Rate::from_gbps(10), Duration::ZERO);
        graph.link(ids[0], ids[1], Rate::from_gbps(10), Duration::ZERO);
        graph
    }

    fn updates(failures: &[Failure]) -> Vec<(Instant, bool)> {
        let outages = Outages::of(failures, &graph(), (NodeId(1), PortIx(0))).unwrap();
        outages.updates.into_iter().collect()
    }

    #[test]
    fn what_is_known_begins_and_ends_after_the_detection() {
        assert_eq!(updates(&[failure(10, 50, 3)]), [(us(13), true), (us(53), false)]);
        // It ends before it is detected.
        assert_eq!(updates(&[failure(10, 13, 3)]), []);
        // The second is known before the end of the first is.
        let two = [failure(10, 20, 5), failure(22, 30, 1)];
        assert_eq!(updates(&two), [(us(15), true), (us(31), false)]);
        let apart = [failure(10, 20, 5), failure(26, 30, 1)];
        let expected = [(us(15), true), (us(25), false), (us(27), true), (us(31), false)];
        assert_eq!(updates(&apart), expected);
        let forever = Failure { until: Instant::NEVER, ..failure(10, 0, 3) };
        assert_eq!(updates(&[forever]), [(us(13), true), (Instant::NEVER, false)]);
        assert!(Outages::of(&two, &graph(), (NodeId(1), PortIx(1))).is_none());
    }

    #[test]
    fn a_frame_is_lost_if_the_link_is_down_while_any_bit_is_on_it() {
        let outages = Outages::of(&[failure(10, 20, 1)], &graph(), (NodeId(0), PortIx(0))).unwrap();
        let hit = |from, until| outages.hit(us(from), us(until));
        assert_eq!([hit(5, 10), hit(5, 11), hit(12, 14)], [false, true, true]);
        assert_eq!([hit(19, 22), hit(20, 22), hit(9, 21)], [true, false, true]);
    }

    #[test]
    fn routes_change_when_it_is_known() {
        let times: Vec<Instant> =
            epochs(&[failure(10, 20, 5), failure(30, 31, 9)], &graph(), false)
                .into_iter()
                .map(|(at, _)| at)
                .collect();
        assert_eq!(times, [us(15), us(25)]);
    }
}

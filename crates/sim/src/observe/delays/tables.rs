//! Explained delays as tables.

use std::collections::BTreeMap;

use floodway_model::table::Table;
use floodway_model::tables::{
    delay_cuts, delay_losses, delay_marks, delay_parts, delays, explained, packet_parts,
    pause_causes, root_flows,
};
use floodway_model::{FlowId, NodeId};

use super::port::Place;
use super::totals::{cause, root, shares};
use super::{Cut, Explained, Part, Pause, Reason, Story, Total};
use crate::Spec;
use crate::outcome::name_of;

/// Pauses that are kept.
const MOST_PAUSES: usize = 100_000;

/// The tables: those of every explanation and, if packets were explained, theirs.
pub fn tables(spec: &Spec, explained: &Explained) -> Vec<Table> {
    let mut tables = of_flows(spec, explained);
    if explained.stories.iter().any(|story| !story.packets.is_empty()) {
        tables.push(of_packets(spec, explained));
    }
    tables
}

fn of_packets(spec: &Spec, explained: &Explained) -> Table {
    let names = Names(spec);
    let packets = explained.stories.iter().flat_map(|story| {
        story.packets.iter().map(move |(packet, parts)| (story.flow, *packet, parts))
    });
    let row = |flow: FlowId, packet: u32, part: &Part| {
        let part = names.part(flow.0.into(), part, &explained.pauses);
        packet_parts::Row {
            flow: part.flow,
            packet: packet.into(),
            from_ps: part.from_ps,
            to_ps: part.to_ps,
            part: part.part,
            node: part.node,
            port: part.port,
            peer: part.peer,
            has_cause: part.has_cause,
            cause: part.cause,
            root: part.root,
            root_port: part.root_port,
            root_peer: part.root_peer,
        }
    };
    packets
        .flat_map(|(flow, packet, parts)| parts.iter().map(move |part| row(flow, packet, part)))
        .collect()
}

fn of_flows(spec: &Spec, explained: &Explained) -> Vec<Table> {
    let names = Names(spec);
    let stories = || explained.stories.iter();
    let parts = |story: &'_ Story| {
        let flow = u64::from(story.flow.0);
        let row = |part: &Part| names.part(flow, part, &explained.pauses);
        story.parts.iter().map(row).collect::<Vec<_>>()
    };
    vec![
        stories().map(|story| names.flow(story)).collect(),
        stories()
            .flat_map(|story| {
                story.totals.iter().map(|total| names.total(u64::from(story.flow.0), total))
            })
            .collect(),
        stories().filter(|story| story.is_detailed).flat_map(parts).collect(),
        stories()
            .flat_map(|story| {
                story.losses.iter().map(|&(packet, node, reason)| delay_losses::Row {
                    flow: u64::from(story.flow.0),
                    packet: packet.into(),
                    node: names.node(node),
                    reason: reason.name().to_owned(),
                })
            })
            .collect(),
        stories()
            .flat_map(|story| {
                story.marks.iter().map(|&(place, packets)| {
                    let (node, port, peer) = names.port(place);
                    delay_marks::Row { flow: u64::from(story.flow.0), node, port, peer, packets }
                })
            })
            .collect(),
        stories()
            .flat_map(|story| {
                let flow = u64::from(story.flow.0);
                story.cuts.iter().map(move |cut| (flow, cut))
            })
            .map(|(flow, cut)| names.cut(flow, cut))
            .collect(),
        names.root_flows(explained),
        explained.pauses.iter().take(MOST_PAUSES).map(|pause| names.pause(pause)).collect(),
    ]
}

fn number(flow: Option<FlowId>) -> u64 {
    flow.map_or(0, |flow| flow.0.into())
}

/// Names of nodes.
struct Names<'a>(&'a Spec);

impl Names<'_> {
    fn node(&self, node: NodeId) -> String {
        name_of(self.0, node)
    }

    /// Node, port, and the node at the other end.
    fn port(&self, (node, port): Place) -> (String, u64, String) {
        let peer = self.0.graph.node(node).ports[port].peer;
        (self.node(node), port as u64, self.node(peer))
    }

    /// The same of a root, or empty names.
    fn root(&self, root: Option<Place>) -> (String, u64, String) {
        root.map_or_else(Default::default, |root| self.port(root))
    }

    fn flow(&self, story: &Story) -> explained::Row {
        explained::Row {
            flow: story.flow.0.into(),
            src: self.node(story.src),
            dst: self.node(story.dst),
            start_ps: story.began.0,
            fct_ps: story.completed.since(story.began).0,
            ideal_ps: story.ideal().0,
            depends: story.after.is_some().into(),
            after: number(story.after),
            detailed: story.is_detailed.into(),
            stands_for: story.stands_for,
        }
    }

    fn total(&self, flow: u64, total: &Total) -> delays::Row {
        let (node, port, peer) = self.port(total.place);
        let (root, root_port, root_peer) = self.root(total.root);
        delays::Row {
            flow,
            part: total.delay.name().to_owned(),
            node,
            port,
            peer,
            in_window: total.in_window.into(),
            root,
            root_port,
            root_peer,
            time_ps: total.time.0,
            causes: total.causes.into(),
            cause: number(total.most.map(|most| most.0)),
            cause_ps: total.most.map_or(0, |most| most.1.0),
        }
    }

    fn part(&self, flow: u64, part: &Part, pauses: &[Pause]) -> delay_parts::Row {
        let (node, port, peer) = self.port((part.node, part.port));
        let (root, root_port, root_peer) = self.root(root(part, pauses));
        let cause = cause(part, pauses);
        delay_parts::Row {
            flow,
            from_ps: part.from.0,
            to_ps: part.to.0,
            part: part.kind.delay().name().to_owned(),
            node,
            port,
            peer,
            in_window: part.in_window.into(),
            has_cause: cause.is_some().into(),
            cause: number(cause),
            root,
            root_port,
            root_peer,
        }
    }

    fn cut(&self, flow: u64, cut: &Cut) -> delay_cuts::Row {
        let (node, port, peer) = match cut.reason {
            Reason::Marked(place) => self.port(place),
            Reason::Notified(node) => (self.node(node), 0, String::new()),
            Reason::Lost | Reason::Measured => Default::default(),
        };
        delay_cuts::Row {
            flow,
            time_ps: cut.at.0,
            limit: cut.limit.name().to_owned(),
            before: cut.before,
            after: cut.after,
            reason: cut.reason.name().to_owned(),
            node,
            port,
            peer,
        }
    }

    fn root_flows(&self, explained: &Explained) -> Table {
        let mut all: BTreeMap<(Place, usize, FlowId), (u64, u64)> = BTreeMap::new();
        for pause in &explained.pauses {
            let Some(root) = pause.root else { continue };
            for (flow, time) in shares(pause.to.since(pause.from), explained.filled_by(root)) {
                let place = ((root.node, root.port), root.class, flow);
                let (pauses, paused) = all.entry(place).or_default();
                (*pauses, *paused) = (*pauses + 1, *paused + time.0);
            }
        }
        let row = |((place, class, flow), (pauses, paused_ps)): ((Place, usize, FlowId), _)| {
            let (root, root_port, root_peer) = self.port(place);
            let (class, flow) = (class as u64, u64::from(flow.0));
            root_flows::Row { root, root_port, root_peer, class, flow, pauses, paused_ps }
        };
        all.into_iter().map(row).collect()
    }

    fn pause(&self, pause: &Pause) -> pause_causes::Row {
        let (node, port, peer) = self.port((pause.node, pause.port));
        let root = pause.root;
        let (root_node, root_port, root_peer) = self.root(root.map(|root| (root.node, root.port)));
        pause_causes::Row {
            node,
            port,
            peer,
            class: pause.class as u64,
            from_ps: pause.from.0,
            until_ps: pause.to.0,
            cause_port: pause.cause.map_or(0, |cause| cause.port as u64),
            root: root_node,
            root_port,
            root_peer,
            root_class: root.map_or(0, |root| root.class as u64),
            root_flow: number(root.map(|root| root.flow)),
            depth: pause.depth as u64,
        }
    }
}

//! Checks that Congestion Isolation, and each of its settings, can have an effect.

use floodway_model::Graph;
use floodway_model::check::{Check, Findings};
use floodway_model::graph::NodeKind;

use super::{Signal, Spec, WhenFull};
use crate::switch::check::{CheckBeside, Facts};
use crate::switch::classify;

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        if self.monitored == self.congesting {
            findings.error(
                ["congesting", "monitored"],
                format!("queue {} is both the monitored and the congesting queue", self.monitored),
                "congesting flows are moved to another queue: name two different ones",
            );
        }
        self.curve.check(&mut findings.within("curve"));
        findings.idle("curve.at", "isolation selects flows by packets that arrive");
        for field in ["curve.queues", "curve.by_queue"] {
            findings.idle(field, "isolation selects flows of the monitored queue");
        }
        let why = "a port can isolate so many flows, for example 4096";
        findings.range("max_entries", self.max_entries, 1.., why);
        if self.max_cims == 0 && self.signal != Signal::Off {
            findings.error(
                "max_cims",
                "signalling is on and `max_cims` is 0, so no CIM is ever sent",
                "write at least 1, or signal = \"off\"",
            );
        }
        let why = "with 32 no two flows have the same hash";
        findings.range("key_bits", self.key_bits, 1..=32, why);
        let keys = 1_u64.checked_shl(self.key_bits.into()).unwrap_or(u64::MAX);
        if keys <= self.max_entries.into() {
            findings.idle("when_full", "the table has an entry for every key (`key_bits`)");
        }
    }
}

impl CheckBeside for Spec {
    fn check_beside(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        facts.check_queue("monitored", self.monitored, findings);
        facts.check_queue("congesting", self.congesting, findings);
        self.check_fabric(facts, findings);
        self.check_beginnings(&facts.switch.classify, findings);
    }

    fn check_on(&self, _: &Facts<'_>, graph: &Graph, findings: &mut Findings<'_>) {
        if let Some(highest) = graph.switches().filter_map(|node| tier(graph, node)).max() {
            for (index, tier) in self.tiers.iter().enumerate().filter(|(_, tier)| **tier > highest)
            {
                findings.error(
                    [&format!("tiers.{index}"), "tiers"],
                    format!("no switch is at tier {tier}: the highest is {highest}"),
                    "tiers are counted from the hosts, and leaves are 0",
                );
            }
        }
        self.check_messages(graph, findings);
    }
}

fn tier(graph: &Graph, node: floodway_model::NodeId) -> Option<u8> {
    match graph.node(node).kind {
        NodeKind::Switch { tier } => Some(tier),
        NodeKind::Host => None,
    }
}

impl Spec {
    /// Checks that flows begin in the monitored queue.
    fn check_beginnings(&self, classify: &classify::Spec, findings: &mut Findings<'_>) {
        const MICE: &str = "/switch.classify.mice_elephants.mice";
        const ELEPHANTS: &str = "/switch.classify.mice_elephants.elephants";
        match classify {
            classify::Spec::Single(single) if single.queue != self.monitored => findings.error(
                ["/switch.classify.single.queue", "monitored"],
                format!(
                    "all data goes to queue {}, but the monitored queue is {}",
                    single.queue, self.monitored
                ),
                "flows begin in the monitored queue: name the same queue in both",
            ),
            classify::Spec::Single(_) => {}
            classify::Spec::DestinationHash(_) => findings.warn(
                "/switch.classify",
                "flows are spread over all queues, so some begin in the congesting queue",
                "choose [switch.classify.single] to let all begin in the monitored queue",
            ),
            classify::Spec::Ecn(_) => findings.error(
                ["/switch.classify.ecn", ""],
                "packets go to queues by their ECN field, and isolated flows by their congestion",
                "remove one of the two, or choose [switch.classify.single]",
            ),
            classify::Spec::Dscp(map) => self.check_map(map, findings),
            classify::Spec::MiceElephants(classify) => {
                let kinds = [
                    ("mice", MICE, Some(classify.mice)),
                    ("elephants", ELEPHANTS, classify.elephants),
                ];
                for (kind, field, _) in kinds.into_iter().filter(|of| of.2 == Some(self.congesting))
                {
                    findings.error(
                        [field, "congesting"],
                        format!(
                            "the {kind} begin in queue {}, the congesting queue",
                            self.congesting
                        ),
                        "only flows that were found congesting belong there: name another queue",
                    );
                }
                match classify.elephants {
                    None => findings.warn(
                        [ELEPHANTS, "/switch.classify"],
                        "elephants are spread over all queues but that of the mice, so some begin in \
                         the congesting queue",
                        format!("write elephants = {}, the monitored queue", self.monitored),
                    ),
                    Some(queue) if ![queue, classify.mice].contains(&self.monitored) => findings.error(
                        [ELEPHANTS, "monitored"],
                        format!(
                            "mice begin in queue {} and elephants in queue {queue}, but the monitored \
                             queue is {}",
                            classify.mice, self.monitored
                        ),
                        "no flow would ever be isolated: monitor the queue of the elephants",
                    ),
                    Some(_) => {}
                }
            }
        }
    }

    /// Checks that some DSCP begins in the monitored queue, and none in the congesting queue.
    fn check_map(&self, map: &classify::dscp::Spec, findings: &mut Findings<'_>) {
        const TABLE: &str = "/switch.classify.dscp";
        let default = [(format!("{TABLE}.default"), map.default)];
        let entries = map.queues.entries().iter().enumerate();
        let entries =
            entries.map(|(number, of)| (format!("{TABLE}.queues.{number}.queue"), of.queue));
        let queues: Vec<(String, u8)> = default.into_iter().chain(entries).collect();
        if let Some((field, _)) = queues.iter().find(|(_, queue)| *queue == self.congesting) {
            findings.error(
                [field.as_str(), "congesting"],
                format!("flows begin in queue {}, the congesting queue", self.congesting),
                "only flows that were found congesting belong there: name another queue",
            );
        }
        if queues.iter().all(|(_, queue)| *queue != self.monitored) {
            findings.error(
                [TABLE, "monitored"],
                format!("no DSCP begins in queue {}, the monitored queue", self.monitored),
                "no flow would ever be isolated: monitor the queue of a DSCP",
            );
        }
    }

    /// Checks that the stream table can track flows behind a crossbar.
    fn check_fabric(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        let fabric = &facts.switch.fabric;
        let shared = "flows that share an entry may come from several ports";
        let oldest = "a flow that makes room may have packets at the inputs";
        for (field, is_set, why) in [
            ("key_bits", self.key_bits < 32, shared),
            ("when_full", self.when_full == WhenFull::Oldest, oldest),
        ] {
            if is_set && fabric.lines().is_some() {
                findings.error(
                    [field, &format!("/switch.fabric.{}", fabric.name())],
                    format!("{why} of a crossbar, and would be reordered"),
                    format!("remove `{field}`, or choose [switch.fabric.output_queued]"),
                );
            }
        }
    }

    /// Reports settings of messages that are never sent.
    fn check_messages(&self, graph: &Graph, findings: &mut Findings<'_>) {
        const SENT: [&str; 5] =
            ["max_cims", "cim_interval", "cim_entry_life", "signal_depth", "/switch.feedback.cim"];
        let (among_switches, to_hosts) = self.neighbors(graph);
        if self.signal == Signal::Off {
            let why = "with `signal = \"off\"` no CIM is sent";
            return SENT.into_iter().chain(["hosts"]).for_each(|field| findings.idle(field, why));
        }
        if !(among_switches || to_hosts && self.hosts) {
            let why = "no neighbor of a switch that isolates takes part, so no CIM is sent";
            SENT.into_iter().chain(["signal"]).for_each(|field| findings.idle(field, why));
        } else if self.signal == Signal::Isolation {
            let why =
                "with `signal = \"isolation\"` the depth of the congesting queue sends no CIM";
            findings.idle("signal_depth", why);
        }
        if !to_hosts {
            findings.idle("hosts", "no switch that isolates is connected to a host");
        }
    }

    /// Whether a switch that isolates flows has a neighbor that does so too, and whether it has a
    /// host.
    fn neighbors(&self, graph: &Graph) -> (bool, bool) {
        let isolates = |node| tier(graph, node).is_some_and(|tier| self.is_at(tier));
        // A link is listed once, from the node with the lower number, which may be a host.
        let ends = graph.links().flat_map(|(from, _, end)| [(from, end.peer), (end.peer, from)]);
        let peers = ends.filter(|(node, _)| isolates(*node)).map(|(_, peer)| peer);
        peers.fold((false, false), |(switch, host), peer| {
            (switch || isolates(peer), host || tier(graph, peer).is_none())
        })
    }
}

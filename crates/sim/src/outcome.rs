//! The results of a run, as tables.

mod deadlocks;
mod flow_facts;
mod frames;
mod headroom;
mod host_ports;
mod inputs;
mod jobs;
mod nodes;
mod occupancy;
mod operations;
mod rounds;
mod voice;

use floodway_engine::Stop;
use std::collections::BTreeSet;

use floodway_model::graph::NodeKind;
use floodway_model::id::CLASSES;
use floodway_model::table::{Table, fingerprint};
use floodway_model::tables::{counters, depths, drops, flows, links, pauses, queues, timeline};
use floodway_model::{Duration, FlowSpec, Instant, NodeId};

use crate::Spec;
use crate::failure::Outages;
use crate::ideal::Ideal;
use crate::link::{Link, Transmitter};
use crate::metric::{Sample, bin_edge};
use crate::observe::{deliveries, departures, latencies, record, trims};
use crate::run::Finished;
use crate::switch::flow_control::pausing::Paused;
use crate::switch::port::{DropReason, Drops};
use flow_facts::FlowFacts;
pub(crate) use nodes::OfNodes;

/// The result of one run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// `flows`, `queues`, `depths`, `departures`, `sojourns`, `latencies`, `switches`, `occupancy`,
    /// `headroom`, `headroom_episodes`, `inputs`, `timeline`, `deliveries`, `frames`, `entries`, `operations`, `pings`, `collectives`,
    /// `voice_packets`, `voice`, `pauses`, `links`, `drops`,
    /// `trims`, `deadlocks`, `watchdog_events` and `counters`; of hosts with several ports `host_ports`; of jobs with programs `ranks`, `steps` and `waits`; of sampled rounds `rounds`, `round_flows` and `round_loads`; of a run that is recorded also `record`, `samples`,
    /// `backlogs` and `pause_intervals`.
    pub tables: Vec<Table>,
    /// Why the run ended.
    pub stop: Stop,
    /// Simulated time at the end of the run.
    pub simulated: Instant,
    /// Number of frames sent on links.
    pub hops: u64,
    /// Wall-clock time of the run.
    pub wall: std::time::Duration,
    /// Hash of all tables except `collectives`, `voice` and those of the record: the same for the same scenario and seed, on
    /// any number of threads.
    pub fingerprint: u64,
    /// Detected errors, one sentence each; empty in a correct run.
    pub violations: Vec<String>,
}

impl Outcome {
    pub(crate) fn new(
        spec: &Spec,
        mut finished: Finished,
        violations: Vec<String>,
        wall: std::time::Duration,
    ) -> Self {
        let of_nodes = OfNodes::new(spec, &mut finished);
        // Their memory is for the tables.
        finished.switches = Vec::new();
        finished.hosts = Vec::new();
        Self::of(spec, &finished, of_nodes, violations, wall)
    }

    /// From what all nodes have to say. The switches and hosts in `finished` are not asked: they may be
    /// those of one process of several.
    pub(crate) fn of(
        spec: &Spec,
        finished: &Finished,
        of_nodes: OfNodes,
        mut violations: Vec<String>,
        wall: std::time::Duration,
    ) -> Self {
        let OfNodes { tables: of, flows, requests, programs } = of_nodes;
        let job_times = jobs::times(spec, &programs);
        let observers = &finished.observers;
        let flow_table = flow_table(spec, &flows, &mut violations);
        let measured = Instant::ZERO + spec.warmup..finished.metrics.sampling().measured_until;
        let ports = host_ports::table(spec, &flows, &of.links);
        let heard = observers.voice.as_ref();
        let (voice_packets, voice) = voice::tables(spec, &flows, heard, &measured);
        let mut tables = vec![
            flow_table,
            of.queues,
            depth_table(finished),
            departures::table(spec, observers.departures.as_ref()),
            departures::sojourns(spec, observers.departures.as_ref()),
            departures::series(spec, observers.departures.as_ref()),
            latencies::table(observers.latencies.as_ref()),
            of.switches,
            occupancy::occupancy(finished),
            of.headroom,
            of.headroom_episodes,
            of.inputs,
            timeline_table(spec, finished),
            deliveries::table(spec, observers.deliveries.as_ref()),
            frames::table(&requests, &flows),
            frames::entries(spec, finished, &requests, &flows),
            frames::video_segments(spec, finished, &requests, &flows, &measured),
            operations::table(spec, &flows, &job_times),
            operations::pings(spec, &flows),
            operations::pages(spec, &flows, &measured),
            operations::collectives(spec, &flows),
            voice_packets,
            voice,
            of.pauses,
            of.links,
            of.drops,
            trims::table(spec, observers.trims.as_ref()),
            deadlocks::table(spec, finished),
            of.storms,
            counter_table(spec, finished, &flows),
        ];
        if !finished.deadlocks.cycles.is_empty() {
            tables.push(deadlocks::flows(finished));
        }
        tables.extend(ports);
        tables.extend(jobs::tables(spec, &flows, &programs, finished.now));
        tables.extend(rounds::tables(spec, &flows, &programs, finished.now));
        tables.extend(record::tables(spec, finished));
        Self {
            fingerprint: fingerprint(&tables),
            tables,
            stop: finished.stop,
            simulated: finished.now,
            hops: finished.metrics.hops(),
            wall,
            violations,
        }
    }

    /// The table of this name. Panics if there is none, because the names are fixed in the code.
    pub fn table(&self, name: &str) -> &Table {
        let table = self.tables.iter().find(|table| table.name == name);
        table.unwrap_or_else(|| panic!("there is no table {name}"))
    }

    /// The counter of this name. Panics like [`Outcome::table`].
    pub fn counter(&self, name: &str) -> u64 {
        let counters = counters::View::of(&self.tables).expect("every run has counters");
        let row = counters.name.iter().position(|other| other == name);
        counters.value[row.unwrap_or_else(|| panic!("there is no counter {name}"))]
    }
}

fn flow_table(spec: &Spec, facts: &FlowFacts, violations: &mut Vec<String>) -> Table {
    let ideal = Ideal::new(spec);
    let apart = operations::apart(spec);
    let connected: BTreeSet<usize> = spec.reuses.iter().map(|reuse| reuse.flow.index()).collect();
    let mut impossible = 0;
    let row = |(place, start, flow): (usize, Instant, FlowSpec)| {
        let (sent, receiver) = (facts.sent(place), facts.received(place));
        let after_start = |at: Option<Instant>| at.map_or(f64::NAN, |at| (at - start).as_ns());
        let fct_ns = after_start(receiver.finished);
        let finished = receiver.finished.unwrap_or(Instant::NEVER);
        let ideal = ideal.completion_time(&flow, connected.contains(&place), finished);
        let ideal_fct_ns = ideal.map_or(f64::NAN, |time| time.as_ns());
        impossible += u64::from(fct_ns < ideal_fct_ns);
        let ends = !flow.is_persistent();
        flows::Row {
            flow: place as u64,
            workload: flow.workload.into(),
            src: flow.src.0.into(),
            dst: flow.dst.0.into(),
            bytes: if ends { flow.bytes } else { 0 },
            start_ns: nanoseconds(start),
            stop_ns: match flow.sends_until() {
                Instant::NEVER => f64::NAN,
                stop => nanoseconds(stop),
            },
            fct_ns,
            // By the last acknowledgement: only for flows with a size whose transport has
            // acknowledgements.
            acked_fct_ns: after_start(sent.acknowledged.filter(|_| ends)),
            ideal_fct_ns,
            slowdown: fct_ns / ideal_fct_ns,
            delivered_bytes: receiver.delivered,
            packets_sent: sent.packets,
            retransmitted_packets: sent.retransmitted,
            lost_packets: facts.lost(place),
            mean_rtt_ns: sent.mean_rtt().map_or(f64::NAN, Duration::as_ns),
            marked_packets: receiver.marked,
            measured: u64::from(
                start.0 >= spec.warmup.0 && ends && !apart.get(place).is_some_and(|&is| is),
            ),
        }
    };
    let table = facts.begun(spec).map(row).collect();
    if impossible > 0 {
        violations.push(format!("{impossible} flows completed faster than an idle network allows"));
    }
    table
}

pub(crate) fn nanoseconds(at: Instant) -> f64 {
    at.0 as f64 / 1e3
}

/// The name of a node, as in table rows.
pub(crate) fn name_of(spec: &Spec, node: NodeId) -> String {
    spec.graph.node(node).name.clone()
}

/// The tier of a node, as in table rows.
pub(crate) fn tier_of(spec: &Spec, node: NodeId) -> u64 {
    match spec.graph.node(node).kind {
        NodeKind::Host => HOST_TIER,
        NodeKind::Switch { tier } => tier.into(),
    }
}

fn queue_table(spec: &Spec, finished: &Finished) -> Table {
    let samples = finished.metrics.sampling().measured(finished.now);
    let mut rows = Vec::new();
    for switch in &finished.switches {
        for (port, books) in switch.ports.iter().enumerate() {
            rows.extend(books.queues.iter().enumerate().map(|(queue, books)| queues::Row {
                node: name_of(spec, switch.id()),
                tier: switch.tier().into(),
                port: port as u64,
                queue: queue as u64,
                samples,
                mean_backlog_bytes: books.sampled() as f64 / samples as f64,
                max_backlog_bytes: books.max_backlog,
                packets: books.packets_in(),
                bytes: books.bytes_in,
                marked_packets: books.marked(),
            }));
        }
    }
    rows.into_iter().collect()
}

fn depth_table(finished: &Finished) -> Table {
    let row = |(tier, queue, bin, samples)| depths::Row {
        tier: tier as u64,
        queue: queue as u64,
        up_to_bytes: bin_edge(bin),
        samples,
    };
    finished.metrics.depths().map(row).collect()
}

fn timeline_table(spec: &Spec, finished: &Finished) -> Table {
    let ports: usize = spec.graph.switches().map(|id| spec.graph.node(id).ports.len()).sum();
    let row = |(at, queue, sample, paused_ports): (Instant, usize, Sample, u64)| timeline::Row {
        time_ns: nanoseconds(at),
        queue: queue as u64,
        mean_backlog_bytes: sample.sum as f64 / ports as f64,
        max_backlog_bytes: sample.max,
        paused_ports,
    };
    finished.metrics.timeline(finished.now).map(row).collect()
}

/// A transmitter, with its node and the names needed for rows.
struct End<'a> {
    node: NodeId,
    tier: u64,
    port: usize,
    tx: &'a Transmitter,
    sent_pauses: [Option<&'a Paused>; CLASSES],
}

impl<'a> End<'a> {
    /// The failures of the link, if it ever fails.
    fn outages(&self) -> Option<&'a Outages> {
        self.tx.outages()
    }
}

/// The tier number of hosts in tables.
const HOST_TIER: u64 = 255;

fn ends(finished: &Finished) -> Vec<End<'_>> {
    let mut ends = Vec::new();
    for host in &finished.hosts {
        let (node, tx) = (host.id(), &host.nic.tx);
        let sent_pauses = [None; CLASSES];
        ends.push(End { node, tier: HOST_TIER, port: 0, tx, sent_pauses });
    }
    for switch in &finished.switches {
        for (port, books) in switch.ports.iter().enumerate() {
            let sent_pauses = std::array::from_fn(|class| switch.sent_pauses(port, class));
            let (node, tier) = (switch.id(), switch.tier().into());
            ends.push(End { node, tier, port, tx: &books.tx, sent_pauses });
        }
    }
    ends
}

fn pause_table(spec: &Spec, finished: &Finished) -> Table {
    let row = |end: &End, class: usize| {
        let sent_pauses = |of: fn(&Paused) -> u64| end.sent_pauses[class].map_or(0, of);
        let pause = end.tx.pauses()[class];
        pauses::Row {
            node: name_of(spec, end.node),
            tier: end.tier,
            port: end.port as u64,
            class: class as u64,
            xoff_frames: sent_pauses(|sent_pauses| sent_pauses.xoffs),
            refresh_frames: sent_pauses(|sent_pauses| sent_pauses.refreshes),
            xon_frames: sent_pauses(|sent_pauses| sent_pauses.xons),
            paused_ns: pause.total.as_ns(),
            longest_pause_ns: pause.longest.as_ns(),
        }
    };
    let classes = usize::from(spec.switch.queue.count);
    ends(finished).iter().flat_map(|end| (0..classes).map(move |class| row(end, class))).collect()
}

fn link_table(spec: &Spec, finished: &Finished) -> Table {
    let row = |end: End| {
        let (tx, link): (_, &Link) = (end.tx, end.tx.link());
        let span = finished.now.since(Instant::ZERO);
        let sent = tx.busy.0 - tx.unfinished(finished.now).0;
        let used = if span == Duration::ZERO { 0.0 } else { sent as f64 / span.0 as f64 };
        links::Row {
            node: name_of(spec, end.node),
            port: end.port as u64,
            peer: name_of(spec, link.peer),
            rate_gbps: link.rate.as_gbps(),
            frames: tx.frames,
            bytes: tx.bytes,
            utilization: used,
        }
    };
    ends(finished).into_iter().map(row).collect()
}

fn drop_table(spec: &Spec, finished: &Finished) -> Table {
    let mut rows = Vec::new();
    for end in ends(finished) {
        let Some(outages) = end.outages() else { continue };
        let of =
            [(DropReason::LostOnLink, &outages.lost), (DropReason::Corrupted, &outages.corrupted)];
        for (reason, lost) in of {
            let lost = lost.iter().enumerate().filter(|(_, (packets, _))| *packets > 0);
            rows.extend(lost.map(|(queue, &(packets, bytes))| {
                let drops = Drops { queue: queue as u8, reason, packets, bytes };
                (end.node, end.port as u64, drops)
            }));
        }
    }
    for switch in &finished.switches {
        for (number, port) in switch.ports.iter().enumerate() {
            let mut drops = port.drops.clone();
            drops.sort_by_key(|drops| (drops.queue, drops.reason));
            rows.extend(drops.into_iter().map(|drops| (switch.id(), number as u64, drops)));
        }
    }
    let row = |(node, port, of): (NodeId, u64, Drops)| drops::Row {
        node: name_of(spec, node),
        port,
        queue: of.queue.into(),
        reason: of.reason.name().to_owned(),
        packets: of.packets,
        bytes: of.bytes,
    };
    rows.into_iter().map(row).collect()
}

fn counter_table(spec: &Spec, finished: &Finished, flows: &FlowFacts) -> Table {
    let [before, after] = &finished.metrics.tallies;
    let (before, after) = (before.clone().unwrap_or_default(), after.clone().unwrap_or_default());
    let measured = after.since(&before);
    let mut rows = measured.rows(usize::from(spec.switch.queue.count));
    if spec.switch.flow_control.pfc.as_ref().is_some_and(|pfc| pfc.combine_classes) {
        let meaning = "PFC frames that switches made, each about one class or several; pause_frames and \
                       others count each class. There with combine_classes only.";
        rows.push(("pfc_frames".to_owned(), measured.pfc_frames, meaning.to_owned()));
    }
    if spec.switch.overflow.trims().is_some() {
        rows.extend(measured.rows_of_trimming());
    }
    if spec.profiles.iter().any(|profile| profile.congestion.has_receiver_half()) {
        rows.extend(measured.rows_of_credit());
    }
    if spec.switch.flow_control.cbfc.is_some() {
        rows.extend(measured.rows_of_link_credit());
    }
    if spec.switch.queue.discipline.filters_acks() {
        rows.extend(measured.rows_of_cake());
    }
    if spec.profiles.iter().any(|profile| profile.transport.infers_losses()) {
        rows.extend(measured.rows_of_sleek());
    }
    if !spec.errors.is_empty() {
        rows.extend(measured.rows_of_errors());
    }
    let end = finished.now.min(finished.metrics.sampling().measured_until).0;
    let (mut begun, mut unfinished, mut persistent) = (0, 0, 0);
    for (place, _, flow) in flows.begun(spec) {
        begun += 1;
        if flow.is_persistent() {
            persistent += 1;
        } else if flows.received(place).finished.is_none() {
            unfinished += 1;
        }
    }
    let mut of_run: Vec<(&str, u64, &str)> = vec![
        (
            "measured_ns",
            end.saturating_sub(spec.warmup.0) / 1_000,
            "Length of the measured interval, in which everything above was counted.",
        ),
        ("warmup_ns", spec.warmup.0 / 1_000, "Length of the warm-up, at whose end it begins."),
        ("flows", begun, "Flows of the run, those that never end included."),
        ("flows_persistent", persistent, "Flows that never end."),
        ("flows_unfinished", unfinished, "Flows that end but had not when the run did."),
        ("hops", finished.metrics.hops(), "Packet-hops of the run: frames put on a link."),
    ];
    let sequential = || spec.flows.each().any(|flow| flow.in_turn);
    if !spec.triggers.is_empty() || !spec.programs.is_empty() || sequential() {
        let never = spec.flows.len() as u64 - begun;
        let meaning = "Flows whose turn did not come in time; they are in no other number.";
        of_run.push(("flows_not_begun", never, meaning));
    }
    deadlocks::counters(finished, &mut of_run);
    let of_run = of_run.into_iter();
    rows.extend(of_run.map(|(name, value, meaning)| (name.to_owned(), value, meaning.to_owned())));
    let row = |(name, value, meaning)| counters::Row { name, value, meaning };
    rows.into_iter().map(row).collect()
}

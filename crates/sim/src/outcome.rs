//! What came out of a run, as tables.

mod deadlocks;
mod deliveries;
mod departures;
mod frames;
mod inputs;
mod latencies;
mod occupancy;
mod operations;
mod record;
mod trims;

use floodway_model::flow::numbered;
use floodway_model::id::CLASSES;
use floodway_model::table::{Table, fingerprint};
use floodway_model::{Duration, FlowSpec, Instant, NodeId};

use crate::Spec;
use crate::engine::{Finished, Stop};
use crate::failure::Outages;
use crate::host::Receiver;
use crate::host::transport::Sent;
use crate::ideal::Ideal;
use crate::link::{Link, Transmitter};
use crate::metric::{History, bin_edge};
use crate::switch::Switch;
use crate::switch::flow_control::pausing::Paused;
use crate::switch::port::{DropReason, Drops};

/// The result of one run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// `flows`, `queues`, `depths`, `departures`, `sojourns`, `latencies`, `switches`, `occupancy`,
    /// `inputs`, `timeline`, `deliveries`, `frames`, `entries`, `operations`, `pauses`, `links`, `drops`,
    /// `trims`, `deadlocks`, `watchdog_events` and `counters`; of a run that is recorded also `record`, `moments`,
    /// `backlogs` and `stretches`.
    pub tables: Vec<Table>,
    /// Why it ended.
    pub stop: Stop,
    /// Simulated time at its end.
    pub simulated: Instant,
    /// Frames put on links.
    pub hops: u64,
    /// Time that it took.
    pub wall: std::time::Duration,
    /// Of all tables but those of the record: the same for the same scenario and seed, on any number
    /// of threads.
    pub fingerprint: u64,
    /// What should not have happened, in a sentence each; empty in a sound run.
    pub violations: Vec<String>,
}

impl Outcome {
    pub(crate) fn new(
        spec: &Spec,
        finished: &Finished,
        mut violations: Vec<String>,
        wall: std::time::Duration,
    ) -> Self {
        let flows = FlowFacts::gather(spec, finished);
        let flow_table = flow_table(spec, &flows, &mut violations);
        let mut tables = vec![
            flow_table,
            queue_table(spec, finished),
            depth_table(finished),
            departures::departures(spec, finished),
            departures::sojourns(spec, finished),
            latencies::table(finished),
            occupancy::switches(spec, finished),
            occupancy::occupancy(finished),
            inputs::table(spec, finished),
            timeline_table(finished),
            deliveries::table(spec, &flows),
            frames::table(finished, &flows),
            frames::entries(spec, finished, &flows),
            operations::table(spec, &flows),
            pause_table(spec, finished),
            link_table(spec, finished),
            drop_table(spec, finished),
            trims::table(spec, finished),
            deadlocks::table(spec, finished),
            deadlocks::storms(spec, finished),
            counter_table(spec, finished, &flows),
        ];
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

    /// The table of this name; panics if there is none, because names are fixed by the code.
    pub fn table(&self, name: &str) -> &Table {
        let table = self.tables.iter().find(|table| table.name == name);
        table.unwrap_or_else(|| panic!("there is no table {name}"))
    }

    /// The counter of this name; panics like [`Outcome::table`].
    pub fn counter(&self, name: &str) -> u64 {
        let table = self.table("counters");
        let row = table.texts("name").iter().position(|other| other == name);
        table.u64s("value")[row.unwrap_or_else(|| panic!("there is no counter {name}"))]
    }
}

/// What both ends know of the flows, by flow.
struct FlowFacts<'a> {
    /// When it began; [`Instant::NEVER`] of one whose turn never came.
    starts: Vec<Instant>,
    sent: Vec<Sent>,
    /// Data packets that switches dropped or links lost.
    lost: Vec<u64>,
    receivers: Vec<&'a Receiver>,
}

impl<'a> FlowFacts<'a> {
    fn gather(spec: &Spec, finished: &'a Finished) -> Self {
        let mut sent = vec![Sent::default(); spec.flows.len()];
        for host in &finished.hosts {
            for (flow, counts) in host.ended.iter().copied().chain(host.sending()) {
                sent[flow.index()] = counts;
            }
        }
        let mut lost = vec![0; spec.flows.len()];
        for (flow, packets) in finished.switches.iter().flat_map(|switch| &switch.lost) {
            lost[flow.index()] += packets;
        }
        for (flow, packets) in ends(finished).iter().flat_map(End::outages).flat_map(|o| &o.lost_of)
        {
            lost[flow.index()] += packets;
        }
        let mut host_at = vec![usize::MAX; spec.graph.nodes.len()];
        for (place, host) in finished.hosts.iter().enumerate() {
            host_at[host.id().index()] = place;
        }
        let receiver = |(id, flow): (floodway_model::FlowId, &FlowSpec)| {
            let host = &finished.hosts[host_at[flow.dst.index()]];
            &host.receivers[host.shared().places[id.index()].1 as usize]
        };
        let receivers = numbered(&spec.flows).map(receiver).collect();
        let start = |(id, flow): (floodway_model::FlowId, &FlowSpec)| {
            let began = finished.hosts[host_at[flow.src.index()]].began(id);
            began.unwrap_or(flow.start)
        };
        let starts = numbered(&spec.flows).map(start).collect();
        Self { starts, sent, lost, receivers }
    }

    /// Of every flow that has begun: its place in the list of all, when it began and what it was to
    /// be.
    fn begun<'b>(
        &'b self,
        spec: &'b Spec,
    ) -> impl Iterator<Item = (usize, Instant, &'b FlowSpec)> + 'b {
        let all = self.starts.iter().zip(&spec.flows).enumerate();
        all.map(|(place, (start, flow))| (place, *start, flow))
            .filter(|(_, start, _)| *start < Instant::NEVER)
    }
}

fn flow_table(spec: &Spec, facts: &FlowFacts, violations: &mut Vec<String>) -> Table {
    let flows: Vec<(usize, Instant, &FlowSpec)> = facts.begun(spec).collect();
    let ideal = Ideal::new(spec);
    let ideal: Vec<f64> = flows
        .iter()
        .map(|&(place, _, flow)| {
            let finished = facts.receivers[place].finished.unwrap_or(Instant::NEVER);
            ideal.completion_time(flow, finished).map_or(f64::NAN, |time| time.as_ns())
        })
        .collect();
    let fct: Vec<f64> = flows
        .iter()
        .map(|&(place, start, _)| {
            facts.receivers[place].finished.map_or(f64::NAN, |at| (at - start).as_ns())
        })
        .collect();
    let impossible = fct.iter().zip(&ideal).filter(|(fct, ideal)| fct < ideal).count();
    if impossible > 0 {
        violations.push(format!("{impossible} flows completed faster than an idle network allows"));
    }
    let slowdown = fct.iter().zip(&ideal).map(|(fct, ideal)| fct / ideal).collect();
    let column = |of: fn(&FlowSpec) -> u64| flows.iter().map(|(.., flow)| of(flow)).collect();
    let sent = |of: fn(&Sent) -> u64| flows.iter().map(|flow| of(&facts.sent[flow.0])).collect();
    let received =
        |of: fn(&Receiver) -> u64| flows.iter().map(|flow| of(facts.receivers[flow.0])).collect();
    let measured = |(_, start, flow): &(usize, Instant, &FlowSpec)| {
        u64::from(start.0 >= spec.warmup.0 && !flow.is_persistent())
    };
    // By the last acknowledgement: of flows that end, whose transport has any.
    let acknowledged = |&(place, start, flow): &(usize, Instant, &FlowSpec)| {
        let at = facts.sent[place].acknowledged.filter(|_| !flow.is_persistent());
        at.map_or(f64::NAN, |at| (at - start).as_ns())
    };
    let stop = |(.., flow): &(usize, Instant, &FlowSpec)| match flow.sends_until() {
        Instant::NEVER => f64::NAN,
        stop => stop.0 as f64 / 1e3,
    };
    let rtt = |(place, ..): &(usize, Instant, &FlowSpec)| {
        facts.sent[*place].mean_rtt().map_or(f64::NAN, Duration::as_ns)
    };
    Table::new("flows", "One row per flow that began, in order of their numbers: that of start, except that flows in turn start one after the other, and others when those have come that they wait for.")
        .u64("flow", "Number of the flow.", flows.iter().map(|flow| flow.0 as u64).collect())
        .u64("workload", "Which workload of the scenario made it, counted from 0.", column(|flow| flow.workload.into()))
        .u64("src", "Node number of the sending host.", column(|flow| flow.src.0.into()))
        .u64("dst", "Node number of the receiving host.", column(|flow| flow.dst.0.into()))
        .u64("bytes", "Payload of the message; 0 for a flow that never ends.", column(|flow| {
            if flow.is_persistent() { 0 } else { flow.bytes }
        }))
        .f64("start_ns", "When the sender was given the message; of one in turn, when its turn came; of one that waits for others, when the last of them had arrived or been handed over.", flows.iter().map(|flow| flow.1.0 as f64 / 1e3).collect())
        .f64("stop_ns", "When a flow without a size was to send nothing new; empty for one without such an end.", flows.iter().map(stop).collect())
        .f64("fct_ns", "Flow completion time: from the start to the arrival of the last byte at the receiver; empty if that did not happen before the run ended.", fct)
        .f64("acked_fct_ns", "Flow completion time at the sender: from the start to the arrival of the last acknowledgement, with which the whole message is acknowledged; empty if that did not happen before the run ended (a run that is measured until a time or the end of the arrivals ends as soon as all messages have arrived, with acknowledgements under way), for flows without a size, and where nothing is acknowledged (UDP, Ethernet). It is what the simulator of HPCC's authors writes to fct.txt.", flows.iter().map(acknowledged).collect())
        .f64("ideal_fct_ns", "The completion time on an idle network, by closed form; empty for a flow that never ends.", ideal)
        .f64("slowdown", "fct_ns over ideal_fct_ns; empty if the flow did not complete.", slowdown)
        .u64("delivered_bytes", "Payload that arrived before the run ended, each byte once; what a receiver holds behind a missing packet is in it.", received(Receiver::delivered))
        .u64("packets_sent", "Data packets that the sender put on the wire, repetitions included.", sent(|sent| sent.packets))
        .u64("retransmitted_packets", "Of these, repetitions.", sent(|sent| sent.retransmitted))
        .u64("lost_packets", "Data packets of the flow that switches dropped or that were lost on links that failed, headers of trimmed ones among them.", flows.iter().map(|flow| facts.lost[flow.0]).collect())
        .f64("mean_rtt_ns", "Mean of the round-trip times that the sender measured, one for each acknowledgement that told one: TCP always, RoCEv2 for the congestion controls that need its acknowledgements, such as HPCC and Swift; empty for all others, and if there was none.", flows.iter().map(rtt).collect())
        .u64("marked_packets", "Data packets that arrived with CE.", received(|receiver| receiver.marked))
        .u64("measured", "1 if the flow started after the warm-up and ends; statistics are over these flows.", flows.iter().map(measured).collect())
}

/// A table with the columns that say which switch each row is of.
fn of_switches<'a>(
    table: Table,
    spec: &Spec,
    rows: impl Iterator<Item = &'a Switch> + Clone,
) -> Table {
    let name = |switch: &Switch| spec.graph.node(switch.id()).name.clone();
    table.text("node", "Name of the switch.", rows.clone().map(name).collect()).u64(
        "tier",
        "Tier of the switch: 0 is next to the hosts.",
        rows.map(|switch| switch.tier().into()).collect(),
    )
}

fn queue_table(spec: &Spec, finished: &Finished) -> Table {
    let mut rows = Vec::new();
    let samples = finished.metrics.sampling().measured(finished.now);
    for switch in &finished.switches {
        for (number, port) in switch.ports.iter().enumerate() {
            for (queue, books) in port.queues.iter().enumerate() {
                rows.push((switch, number as u64, queue as u64, books));
            }
        }
    }
    let table = Table::new(
        "queues",
        "One row per egress queue of a switch, with all that waits for it at the inputs of a crossbar; samples are of the measurement, the rest of the whole run.",
    );
    of_switches(table, spec, rows.iter().map(|row| row.0))
        .u64("port", "Port of the switch.", rows.iter().map(|row| row.1).collect())
        .u64(
            "queue",
            "Queue of the port; the last is the control queue.",
            rows.iter().map(|row| row.2).collect(),
        )
        .u64("samples", "Samples taken during the measurement.", vec![samples; rows.len()])
        .f64(
            "mean_backlog_bytes",
            "Mean of the sampled backlogs; empty if no sample was taken.",
            rows.iter().map(|row| row.3.sampled as f64 / samples as f64).collect(),
        )
        .u64(
            "max_backlog_bytes",
            "Largest backlog of the whole run, not only of the samples.",
            rows.iter().map(|row| row.3.max_backlog).collect(),
        )
        .u64(
            "packets",
            "Packets that joined the queue.",
            rows.iter().map(|row| row.3.packets_in).collect(),
        )
        .u64("bytes", "Their frame bytes.", rows.iter().map(|row| row.3.bytes_in).collect())
        .u64(
            "marked_packets",
            "Packets that were marked with CE, or with a layer 2 indication, on joining or leaving.",
            rows.iter().map(|row| row.3.marked).collect(),
        )
}

fn depth_table(finished: &Finished) -> Table {
    let rows: Vec<_> = finished.metrics.depths().collect();
    Table::new("depths", "How often the queues of a tier had which backlog when they were sampled during the measurement.")
        .u64("tier", "Tier of the switches.", rows.iter().map(|row| row.0 as u64).collect())
        .u64(
            "queue",
            "Number of the queue within its port.",
            rows.iter().map(|row| row.1 as u64).collect(),
        )
        .u64(
            "up_to_bytes",
            "Upper edge of the bin, inclusive; 0 is an empty queue.",
            rows.iter().map(|row| bin_edge(row.2)).collect(),
        )
        .u64(
            "samples",
            "Samples in the bin, over all ports of the tier.",
            rows.iter().map(|row| row.3).collect(),
        )
}

fn timeline_table(finished: &Finished) -> Table {
    let ports: usize = finished.switches.iter().map(|switch| switch.ports.len()).sum();
    let rows: Vec<_> = finished.metrics.timeline(finished.now).collect();
    Table::new("timeline", "The queues of one number, over all switches, at each sample.")
        .f64(
            "time_ns",
            "When the sample was taken.",
            rows.iter().map(|row| row.0.0 as f64 / 1e3).collect(),
        )
        .u64(
            "queue",
            "Number of the queue within its port.",
            rows.iter().map(|row| row.1 as u64).collect(),
        )
        .f64(
            "mean_backlog_bytes",
            "Mean backlog over all switch ports.",
            rows.iter().map(|row| row.2.sum as f64 / ports as f64).collect(),
        )
        .u64(
            "max_backlog_bytes",
            "Largest backlog of any switch port.",
            rows.iter().map(|row| row.2.max).collect(),
        )
        .u64(
            "paused_ports",
            "Ports, of switches and hosts, that may not send this class.",
            rows.iter().map(|row| row.3).collect(),
        )
}

/// A sending end and the names around it.
struct End<'a> {
    node: NodeId,
    tier: u64,
    port: usize,
    tx: &'a Transmitter,
    history: Option<&'a History>,
    told: [Option<&'a Paused>; CLASSES],
}

impl<'a> End<'a> {
    /// What was lost on the link, if it ever fails.
    fn outages(&self) -> Option<&'a Outages> {
        self.tx.outages()
    }
}

/// The tier that stands for hosts in tables.
const HOST_TIER: u64 = 255;

fn ends(finished: &Finished) -> Vec<End<'_>> {
    let mut ends = Vec::new();
    for host in &finished.hosts {
        let (node, tx) = (host.id(), &host.nic.tx);
        let history = host.record.as_ref().map(|record| &record.history);
        let told = [None; CLASSES];
        ends.push(End { node, tier: HOST_TIER, port: 0, tx, history, told });
    }
    for switch in &finished.switches {
        for (port, books) in switch.ports.iter().enumerate() {
            let told = std::array::from_fn(|class| switch.told(port, class));
            let (node, tier) = (switch.id(), switch.tier().into());
            let (tx, history) = (&books.tx, switch.history.as_deref());
            ends.push(End { node, tier, port, tx, history, told });
        }
    }
    ends
}

fn pause_table(spec: &Spec, finished: &Finished) -> Table {
    let classes = usize::from(spec.switch.queue.count);
    let ends = ends(finished);
    let rows: Vec<(&End, usize)> =
        ends.iter().flat_map(|end| (0..classes).map(move |class| (end, class))).collect();
    let told = |of: fn(&Paused) -> u64| {
        rows.iter().map(|(end, class)| end.told[*class].map_or(0, of)).collect()
    };
    let pause = |row: &(&End, usize)| row.0.tx.pauses()[row.1];
    Table::new(
        "pauses",
        "One row per port, of switches and hosts, and data class, over the whole run. PAUSE, which stops all classes, has its frames in the row of class 0.",
    )
    .text(
        "node",
        "Name of the node.",
        rows.iter().map(|row| spec.graph.node(row.0.node).name.clone()).collect(),
    )
    .u64(
        "tier",
        "Tier of the node: 0 is next to the hosts, 255 a host.",
        rows.iter().map(|row| row.0.tier).collect(),
    )
    .u64("port", "Port of the node.", rows.iter().map(|row| row.0.port as u64).collect())
    .u64("class", "Traffic class.", rows.iter().map(|row| row.1 as u64).collect())
    .u64(
        "xoff_frames",
        "Pause frames that the port sent to stop its neighbour, without refreshes.",
        told(|told| told.xoffs),
    )
    .u64("refresh_frames", "Pause frames that prolonged a pause.", told(|told| told.refreshes))
    .u64("xon_frames", "Pause frames that let the neighbour go on.", told(|told| told.xons))
    .f64(
        "paused_ns",
        "Time during which the port itself was not allowed to send the class.",
        rows.iter().map(|row| pause(row).total.as_ns()).collect(),
    )
    .f64(
        "longest_pause_ns",
        "The longest such time at a stretch.",
        rows.iter().map(|row| pause(row).longest.as_ns()).collect(),
    )
}

fn link_table(spec: &Spec, finished: &Finished) -> Table {
    let ends = ends(finished);
    let name = |node: NodeId| spec.graph.node(node).name.clone();
    let link = |end: &End| -> Link { *end.tx.link() };
    let utilisation = |end: &End| {
        let span = finished.now.since(Instant::ZERO);
        let sent = end.tx.busy.0 - end.tx.unfinished(finished.now).0;
        if span == Duration::ZERO { 0.0 } else { sent as f64 / span.0 as f64 }
    };
    Table::new("links", "One row per direction of a link, by its sending end, over the whole run.")
        .text("node", "Name of the sending node.", ends.iter().map(|end| name(end.node)).collect())
        .u64("port", "Port of the sending node.", ends.iter().map(|end| end.port as u64).collect())
        .text(
            "peer",
            "Name of the receiving node.",
            ends.iter().map(|end| name(link(end).peer)).collect(),
        )
        .f64(
            "rate_gbps",
            "Rate of the link.",
            ends.iter().map(|end| link(end).rate.as_gbps()).collect(),
        )
        .u64(
            "frames",
            "Frames sent, of every kind.",
            ends.iter().map(|end| end.tx.frames).collect(),
        )
        .u64(
            "bytes",
            "Their bytes, without preamble and gap.",
            ends.iter().map(|end| end.tx.bytes).collect(),
        )
        .f64(
            "utilisation",
            "Fraction of the simulated time in which the wire was busy, preamble and gap included.",
            ends.iter().map(utilisation).collect(),
        )
}

fn drop_table(spec: &Spec, finished: &Finished) -> Table {
    let mut rows = Vec::new();
    for end in ends(finished) {
        let lost = end.outages().map_or(&[][..], |outages| &outages.lost);
        let lost = lost.iter().enumerate().filter(|(_, (packets, _))| *packets > 0);
        rows.extend(lost.map(|(queue, &(packets, bytes))| {
            let reason = DropReason::LostOnLink;
            (end.node, end.port as u64, Drops { queue: queue as u8, reason, packets, bytes })
        }));
    }
    for switch in &finished.switches {
        for (number, port) in switch.ports.iter().enumerate() {
            let mut drops = port.drops.clone();
            drops.sort_by_key(|drops| (drops.queue, drops.reason));
            rows.extend(drops.into_iter().map(|drops| (switch.id(), number as u64, drops)));
        }
    }
    Table::new("drops", "One row per port, queue and reason for which packets were dropped, over the whole run.")
        .text("node", "Name of the switch; of what was lost on links also that of a host.", rows.iter().map(|row| spec.graph.node(row.0).name.clone()).collect())
        .u64("port", "Egress port; of what had no route the port by which it came.", rows.iter().map(|row| row.1).collect())
        .u64("queue", "Egress queue for which the packets were bound.", rows.iter().map(|row| row.2.queue.into()).collect())
        .text("reason", "queue_full: no room in the egress queue; headroom_exceeded: no room for the ingress port and class, headroom included; egress_threshold: above what the egress pool lets the queue have; ingress_threshold: above what the ingress pool lets the port and class have; aqm: chosen by the queue management and not ECN-capable, or more than a mark was needed; link_down: the link was known to be down; no_route: no way was left; lost_on_link: it was on the link when that failed, or was sent before that was known; watchdog: bound for a queue in a storm of pauses; pushed_out: dropped by the queue discipline to make room for another.", rows.iter().map(|row| row.2.reason.name().to_owned()).collect())
        .u64("packets", "Packets dropped.", rows.iter().map(|row| row.2.packets).collect())
        .u64("bytes", "Their frame bytes.", rows.iter().map(|row| row.2.bytes).collect())
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
    let end = finished.now.min(finished.metrics.sampling().measured_until).0;
    let begun: Vec<(usize, Instant, &FlowSpec)> = flows.begun(spec).collect();
    let ending = begun.iter().filter(|(.., flow)| !flow.is_persistent());
    let unfinished =
        ending.filter(|flow| flows.receivers[flow.0].finished.is_none()).count() as u64;
    let persistent = begun.iter().filter(|(.., flow)| flow.is_persistent()).count() as u64;
    let mut of_run: Vec<(&str, u64, &str)> = vec![
        (
            "measured_ns",
            end.saturating_sub(spec.warmup.0) / 1_000,
            "Length of the measured interval, in which everything above was counted.",
        ),
        ("warmup_ns", spec.warmup.0 / 1_000, "Length of the warm-up, at whose end it begins."),
        ("flows", begun.len() as u64, "Flows of the run, those that never end included."),
        ("flows_persistent", persistent, "Flows that never end."),
        ("flows_unfinished", unfinished, "Flows that end but had not when the run did."),
        ("hops", finished.metrics.hops(), "Packet-hops of the run: frames put on a link."),
    ];
    if !spec.triggers.is_empty() || spec.flows.iter().any(|flow| flow.in_turn) {
        let never = (spec.flows.len() - begun.len()) as u64;
        let meaning = "Flows whose turn did not come in time; they are in no other number.";
        of_run.push(("flows_not_begun", never, meaning));
    }
    deadlocks::counters(finished, &mut of_run);
    let of_run = of_run.into_iter();
    rows.extend(of_run.map(|(name, value, meaning)| (name.to_owned(), value, meaning.to_owned())));
    let (mut names, mut values, mut meanings) = (Vec::new(), Vec::new(), Vec::new());
    for (name, value, meaning) in rows {
        names.push(name);
        values.push(value);
        meanings.push(meaning);
    }
    Table::new(
        "counters",
        "What the mechanisms did during the measured interval, from `warmup_ns` on for `measured_ns`. What they did before and after it is in the tables of ports and queues only, which cover the whole run.",
    )
    .text("name", "Name of the counter.", names)
    .u64("value", "Its value.", values)
    .text("meaning", "What it counts.", meanings)
}

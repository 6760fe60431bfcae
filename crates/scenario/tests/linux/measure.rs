//! The same situation in floodway.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use floodway_model::{Body, Duration, Instant};
use floodway_scenario::{Overrides, Scenario};
use floodway_sim::simulation::Run;
use floodway_sim::{Outcome, Sent, Simulation};

use super::describe::{self, TOTALS, WINDOWS};
use super::traces::{self, OF_QUEUES, QUANTITIES, Quantities, Situation};

/// The mean over replications.
pub fn measure(situation: &Situation, replications: u32) -> Quantities {
    let text = describe::scenario(situation, &traces::arguments(situation), TOTALS);
    let warmup = situation.warmup;
    let start = [
        format!("arrivals={warmup}s"),
        format!("limit={warmup}.001s"),
        format!("warmup={}s", warmup - 1),
    ];
    let runs: Vec<Quantities> = (0..replications)
        .map(|replication| {
            // Counters are of whole runs, so the beginning is run by itself and taken off.
            let [whole, start] = [&[][..], &start].map(|set| run(&text, set, replication));
            quantities(situation, &whole, &start)
        })
        .collect();
    traces::mean(&runs)
}

fn simulation(text: &str, set: &[String], replication: u32) -> Simulation {
    let overrides = Overrides { quick: false, set: set.to_vec() };
    let scenario = Scenario::parse(text, "linux.toml", &overrides);
    let scenario = scenario.unwrap_or_else(|error| panic!("{}\n{text}", error.plain()));
    Simulation::new(scenario.build(&scenario.variants()[0], replication))
}

fn run(text: &str, set: &[String], replication: u32) -> Outcome {
    let outcome = simulation(text, set, replication).run();
    assert_eq!(outcome.violations, Vec::<String>::new());
    outcome
}

/// Packets that the only flow has sent and that were not acknowledged, every 100 ms.
pub fn in_flight(situation: &Situation) -> Vec<f64> {
    let text = describe::scenario(situation, &traces::arguments(situation), WINDOWS);
    let run = Run { threads: 1, stop: &AtomicBool::new(false), watch: &|_| {} };
    let (outcome, trace) = simulation(&text, &[], 0).run_traced(&run);
    assert_eq!(outcome.violations, Vec::<String>::new());
    // When the number of the next segment, or of the next one that is expected, gets higher at the sender.
    let is_data = |sent: &&Sent| matches!(sent.packet.body, Body::Segment { .. });
    let sender = trace.iter().find(is_data).unwrap().packet.src;
    let [mut sent, mut acknowledged] = [Vec::new(), Vec::new()];
    for frame in &trace {
        match frame.packet.body {
            Body::Segment { psn, .. } if frame.packet.src == sender => {
                sent.push((frame.at, psn + 1));
            }
            Body::TcpAck { ack, .. } if frame.to.0 == sender => {
                acknowledged.push((frame.handled_at, ack));
            }
            _ => {}
        }
    }
    let highest = |of: &mut Vec<(Instant, u32)>| {
        of.sort();
        let mut next = of.iter().peekable();
        let mut highest = 0;
        let samples = (1..=10 * situation.seconds).map(|sample| {
            let now = Instant::ZERO + Duration::from_ms(100 * sample);
            while let Some((_, number)) = next.next_if(|(at, _)| *at < now) {
                highest = highest.max(*number);
            }
            highest
        });
        samples.collect::<Vec<u32>>()
    };
    let [sent, acknowledged] = [highest(&mut sent), highest(&mut acknowledged)];
    sent.iter()
        .zip(acknowledged)
        .map(|(sent, acknowledged)| f64::from(sent - acknowledged))
        .collect()
}

/// Payload that each flow had got at a time.
fn delivered(outcome: &Outcome, seconds: u64) -> BTreeMap<u64, u64> {
    let table = outcome.table("deliveries");
    let columns = table.u64s("flow").iter().zip(table.u64s("delivered_bytes"));
    let rows = table.f64s("time_ns").iter().zip(columns);
    rows.filter(|(time, _)| **time == seconds as f64 * 1e9)
        .map(|(_, (&flow, &bytes))| (flow, bytes))
        .collect()
}

fn quantities(situation: &Situation, whole: &Outcome, start: &Outcome) -> Quantities {
    let time = (situation.seconds - situation.warmup) as f64;
    let [before, after] = [situation.warmup, situation.seconds].map(|at| delivered(whole, at));
    assert_eq!(before, delivered(start, situation.warmup), "the run has another beginning");
    let workloads = whole.table("flows").u64s("workload");
    let mut rates = vec![0.0; situation.bulk.len()];
    for (flow, bytes) in &after {
        rates[workloads[*flow as usize] as usize] += (bytes - before[flow]) as f64 * 8.0 / time;
    }
    let total = |outcome: &Outcome, column| outcome.table("flows").u64s(column).iter().sum::<u64>();
    let per_second = |column| (total(whole, column) - total(start, column)) as f64 / time;
    let bins = waits(whole, None);
    let values = [
        rates.iter().sum(),
        rates[0] / rates.iter().sum::<f64>(),
        per_second("marked_packets"),
        per_second("lost_packets"),
        per_second("retransmitted_packets"),
        bins.iter().map(|(ns, n)| *ns as f64 * *n as f64).sum::<f64>()
            / bins.values().sum::<u64>() as f64,
        quantile(&bins, 0.1),
        quantile(&bins, 0.5),
        quantile(&bins, 0.9),
        quantile(&bins, 0.99),
    ];
    let mut found: Quantities = QUANTITIES.into_iter().zip(values).collect();
    if situation.qdisc == "dualpi2" {
        let each = [(0.5, 1), (0.5, 0), (0.99, 1), (0.99, 0)];
        let each = each.map(|(share, queue)| quantile(&waits(whole, Some(queue)), share));
        found.extend(OF_QUEUES.into_iter().zip(each));
    }
    found
}

/// How many packets waited how long before the bottleneck, in one queue or in all.
fn waits(outcome: &Outcome, only: Option<u64>) -> BTreeMap<u64, u64> {
    let table = outcome.table("departures");
    let places = table.texts("node").iter().zip(table.texts("kind")).zip(table.u64s("queue"));
    let bins = table.u64s("up_to").iter().zip(table.u64s("departures"));
    let mut found = BTreeMap::new();
    for (((node, kind), queue), (&up_to, &count)) in places.zip(bins) {
        let wanted = only.is_none_or(|only| only == *queue);
        if node == "left switch" && kind == "sojourn_ns" && wanted {
            *found.entry(up_to).or_default() += count;
        }
    }
    found
}

/// The upper edge of the bin that has the packet of this rank.
fn quantile(bins: &BTreeMap<u64, u64>, share: f64) -> f64 {
    let rank = share * bins.values().sum::<u64>() as f64;
    let mut seen = 0;
    let bin = bins.iter().find(|(_, count)| {
        seen += **count;
        seen as f64 >= rank
    });
    bin.map_or(0.0, |(&edge, _)| edge as f64)
}

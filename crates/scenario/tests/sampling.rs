//! Sampled rounds: the run is the beginning of that of all rounds, and what its tables say can be computed by hand.

use floodway_model::Table;
use floodway_scenario::{Overrides, Scenario};
use floodway_sim::simulation::Run;
use floodway_sim::{Outcome, Simulation, Stop};

use crate::patterns::ps;

/// A job on a star, or on another topology if one is among what is set, and other traffic.
fn scenario(job: &str, others: &str, set: &[&str]) -> Scenario {
    let other = set.iter().find(|of| of.starts_with("[topology"));
    let star = other.unwrap_or(&"[topology.star]\nhosts = 6");
    let set = set.iter().filter(|of| !of.starts_with("[topology"));
    let text = format!(
        "name = \"sample\"\narrivals = \"4ms\"\nlimit = \"20ms\"\n{star}\n[switch.queue]\nsize = \
         \"1MB\"\n[switch.aqm.step]\n[switch.flow_control.pfc]\nxoff = \"200KB\"\nxon = \"150KB\"\n[[workload]]\n{job}\n{others}\n"
    );
    let set = set.map(|&of| of.to_owned()).collect();
    parse(&text, set)
}

fn parse(text: &str, set: Vec<String>) -> Scenario {
    Scenario::parse(text, "sample.toml", &Overrides { quick: false, set })
        .unwrap_or_else(|error| panic!("{}", error.plain()))
}

/// Two leaves with three hosts each, and two paths between them.
const CLOS: &str = "[topology.clos]\nleaves = 2\nspines = 2\nhosts_per_leaf = 3";

const RING: &str = "[workload.collective]\noperation = \"all_reduce\"\nranks = \"0-3\"\nbytes = \"60KB\"\nrounds = 12\n\
                    compute = \"20us\"\n";

const TRAINING: &str = "[workload.training]\nlayers = 2\nhidden = 100\nsequence = 100\nmicro_batches = 3\nefficiency = 1.0\n\
                        peak_tflops = 28.0\nranks = \"0-3\"\niterations = 9\n";

const OTHERS: &str = "[[workload]]\n[workload.poisson]\nload = 0.3\nfrom = \"all\"\nto = \"all\"\nsizes = \"20KB\"\n";

fn run(scenario: &Scenario) -> Outcome {
    let outcome = Simulation::new(scenario.build(&scenario.variants()[0], 0)).run();
    assert_eq!(outcome.violations, [""; 0]);
    outcome
}

fn sampled(job: &str, others: &str, rounds: u32) -> Outcome {
    let rounds = format!("sampling.rounds={rounds}");
    let outcome = run(&scenario(job, others, &[&rounds]));
    assert_eq!(outcome.stop, Stop::FlowsDone);
    outcome
}

/// The first values of a column.
fn first(table: &Table, column: &str, count: usize) -> Vec<f64> {
    table.f64s(column)[..count].to_vec()
}

#[test]
fn sampled_rounds_are_the_first_of_the_whole_run() {
    let whole = run(&scenario(RING, OTHERS, &[]));
    let few = sampled(RING, OTHERS, 4);
    let operations = whole.table("operations");
    assert_eq!((operations.rows(), few.table("operations").rows()), (12, 4));
    for column in ["start_ns", "finish_ns"] {
        assert_eq!(few.table("operations").f64s(column), first(operations, column, 4), "{column}");
    }
    let rounds = few.table("rounds");
    assert_eq!((rounds.u64s("of"), rounds.u64s("warmup")), (&[12; 4][..], &[1, 0, 0, 0][..]));
    assert_eq!(rounds.f64s("finish_ns"), first(operations, "finish_ns", 4));
    let buses = first(whole.table("collectives"), "bus_bandwidth_bps", 4);
    for (bus, expected) in rounds.f64s("bus_bandwidth_bps").iter().zip(buses) {
        assert!((bus / expected - 1.0).abs() < 1e-12);
    }
    // Each round begins when the one before has ended, and the first with the job.
    let ends = ps(&few, "rounds", "finish_ns");
    assert_eq!(ps(&few, "rounds", "begin_ns"), [0, ends[0], ends[1], ends[2]]);
    // The run ends within a window of the last of them.
    let after = few.simulated.0 - ends[3];
    assert!(after < 2_000_000, "{after} ps after the last round");
    // Beside random traffic nothing is at rest, and nothing repeats.
    assert_eq!((rounds.u64s("at_rest"), rounds.u64s("repeats")), (&[0; 4][..], &[0; 4][..]));
}

#[test]
fn other_flows_are_counted_by_round() {
    let few = sampled(RING, OTHERS, 4);
    let (rounds, flows) = (few.table("rounds"), few.table("round_flows"));
    let all = few.table("flows");
    for round in 0..4 {
        let span = rounds.f64s("begin_ns")[round]..rounds.f64s("finish_ns")[round];
        let (mut begun, mut active) = (0, 0.0);
        for row in 0..all.rows() {
            if all.u64s("workload")[row] == 1 {
                let start = all.f64s("start_ns")[row];
                let fct = all.f64s("fct_ns")[row];
                let finish = if fct.is_nan() { f64::INFINITY } else { start + fct };
                begun += u64::from(span.contains(&start));
                active += (finish.min(span.end) - start.max(span.start)).max(0.0);
            }
        }
        assert!(begun > 0);
        assert_eq!(flows.u64s("begun")[round], begun);
        let measured = flows.f64s("active_ns")[round];
        assert!((measured - active).abs() < 1e-3, "round {round}: {measured}, not {active}");
    }
    // What is offered in all rounds is all that is offered until they end.
    let loads = few.table("round_loads");
    assert_eq!(loads.rows(), 12);
    let length = rounds.f64s("finish_ns")[3] - rounds.f64s("finish_ns")[0];
    let begin = loads.f64s("begin_ns")[11];
    assert!((begin - (rounds.f64s("finish_ns")[3] + 7.0 * length / 3.0)).abs() < 0.01);
    let offered: f64 = loads.f64s("bytes").iter().sum();
    // 0.3 of 100 Gb/s are 3.75 bytes a nanosecond.
    let expected = 3.75 * (begin + length / 3.0);
    assert!((offered / expected - 1.0).abs() < 0.2, "{offered} of {expected}");
}

#[test]
fn threads_do_not_change_sampled_rounds() {
    let scenario = scenario(TRAINING, OTHERS, &["sampling.rounds=3"]);
    let fingerprint = |threads| {
        let stop = std::sync::atomic::AtomicBool::new(false);
        let run = Run { threads, stop: &stop, watch: &|_| {} };
        let outcome = Simulation::new(scenario.build(&scenario.variants()[0], 0)).run_with(&run);
        (outcome.fingerprint, outcome.hops)
    };
    let one = fingerprint(1);
    assert_eq!((fingerprint(2), fingerprint(3)), (one, one));
}

#[test]
fn iterations_of_a_training_are_rounds() {
    let whole = run(&scenario(TRAINING, OTHERS, &[]));
    // All rounds: their exposed communication is that of the ranks, and they end with the job.
    let all = sampled(TRAINING, OTHERS, 9);
    let rounds = all.table("rounds");
    let sum = |column: &str| rounds.f64s(column).iter().sum::<f64>();
    let mean = |column: &str| {
        let values = whole.table("ranks").f64s(column);
        values.iter().sum::<f64>() / values.len() as f64
    };
    assert!((sum("exposed_ns") - mean("exposed_ns")).abs() < 0.01);
    assert!((sum("compute_ns") - mean("compute_ns")).abs() < 0.01);
    assert_eq!(ps(&all, "rounds", "finish_ns")[8], ps(&whole, "operations", "finish_ns")[0]);
    // Three micro-batches of two layers of 1 us forward and 2 us backward.
    assert!(rounds.f64s("compute_ns").iter().all(|&time| (time - 18_000.0).abs() < 1e-6));
    // The first ones are the same if only they are simulated.
    let few = sampled(TRAINING, OTHERS, 3);
    for column in ["finish_ns", "time_ns", "exposed_ns", "compute_ns"] {
        assert_eq!(few.table("rounds").f64s(column), first(rounds, column, 3), "{column}");
    }
    // No operation of the job, which has not finished.
    assert_eq!((few.table("operations").rows(), all.table("operations").rows()), (0, 1));
}

#[test]
fn rounds_end_where_messages_are_several_flows() {
    let rails = "[topology.rails]\nservers = 2\ngpus = 2\nspines = 1\nnvlink = {}";
    for ports in ["pxn", "stripe"] {
        let ports = format!("host.ports=\"{ports}\"");
        let rounds = |rounds: &str| run(&scenario(TRAINING, "", &[rails, &ports, rounds]));
        let (few, all) = (rounds("sampling.rounds=3"), rounds("sampling.rounds=9"));
        let ends = ps(&all, "rounds", "finish_ns");
        assert_eq!(ps(&few, "rounds", "finish_ns"), ends[..3], "{ports}");
        assert!(few.simulated.0 < ends[3], "{ports}");
        assert_eq!(ends[8], ps(&all, "operations", "finish_ns")[0], "{ports}");
    }
}

/// Whether sampled rounds begin at rest and are the same, and with that all later ones of the whole run.
fn repeats(job: &str, set: &[&str]) -> bool {
    let mut few = set.to_vec();
    few.push("sampling.rounds=4");
    let few = run(&scenario(job, "", &few));
    let rounds = few.table("rounds");
    let (rest, same) = (rounds.u64s("at_rest"), rounds.u64s("repeats"));
    // The acknowledgments of the last round come after the end of the run.
    let claimed = rest[1..] == [1, 1, 1] && same[2] == 1;
    // All rounds, with their times.
    let mut all = set.to_vec();
    all.push("sampling.rounds=1000");
    let all = run(&scenario(job, "", &all));
    let (times, last) = (ps(&all, "rounds", "time_ns"), ps(&few, "rounds", "time_ns")[3]);
    let (exposed, compute) =
        (all.table("rounds").f64s("exposed_ns"), all.table("rounds").f64s("compute_ns"));
    let same = times[3..].iter().all(|&time| time == last)
        && exposed[3..].iter().all(|of| of.to_bits() == exposed[3].to_bits())
        && compute[3..].iter().all(|of| of.to_bits() == compute[3].to_bits())
        && all.table("rounds").u64s("repeats")[2..times.len() - 1].iter().all(|&same| same == 1);
    assert!(!claimed || same, "rounds were called exact, and are not: {times:?}");
    claimed
}

#[test]
fn rounds_that_begin_at_rest_repeat_exactly() {
    let collective = |compute: &str, parameters: &str| {
        format!("[workload.collective]\nrounds = 20\ncompute = \"{compute}\"\n{parameters}")
    };
    for job in [
        collective("20us", "operation = \"all_reduce\"\nranks = \"0-3\"\nbytes = \"60KB\""),
        collective(
            "20us",
            "operation = \"all_reduce\"\nranks = \"0-3\"\nbytes = \"500KB\"\nalgorithm = \"halving_doubling\"",
        ),
        collective("20us", "operation = \"all_to_all\"\nbytes = \"300KB\""),
        // Two children send to a rank at the same time: marks and notifications. Ranks finish at different times.
        collective(
            "300us",
            "operation = \"all_reduce\"\nbytes = \"600KB\"\nalgorithm = \"tree\"\nchunks = 4",
        ),
        TRAINING.to_owned(),
    ] {
        assert!(repeats(&job, &[]), "{job}");
        for other in [
            "host.transport=\"ethernet\"",
            "host.congestion=\"swift\"",
            "switch.queue.size=\"100KB\"",
        ] {
            let set: &[&str] = match other {
                // PFC needs room above its thresholds.
                "switch.queue.size=\"100KB\"" => &[
                    other,
                    "switch.flow_control.pfc.xoff=\"30KB\"",
                    "switch.flow_control.pfc.xon=\"20KB\"",
                ],
                _ => &[other],
            };
            // Not all of these come to rest, and then nothing is claimed.
            repeats(&job, set);
        }
    }
}

#[test]
fn what_may_remember_is_not_called_exact() {
    let ring = RING.to_owned();
    assert!(repeats(&ring, &[]));
    // A random mark, two data queues, paths by a hash of the flow, and no time between rounds.
    assert!(!repeats(&ring, &["switch.aqm=\"ramp\""]));
    assert!(!repeats(&ring, &["switch.queue.count=2"]));
    assert!(!repeats(&ring, &[CLOS]));
    assert!(!repeats(&ring, &["workload.0.collective.compute=\"0ns\""]));
}

#[test]
fn rounds_on_an_idle_network_have_the_time_of_the_formula() {
    // Direct reduce-scatter without acknowledgments: a rank sends 3 messages of 15 KB, 30 frames of 1500 bytes.
    let job = "[workload.collective]\noperation = \"reduce_scatter\"\nalgorithm = \"direct\"\nranks = \"0-3\"\nbytes = \
               \"60KB\"\nrounds = 9\ncompute = \"20us\"\n";
    let few = run(&scenario(job, "", &["sampling.rounds=4", "host.transport=\"ethernet\""]));
    let wire = crate::patterns::wire(1_500);
    let round = 31 * wire + 400_000;
    let times = ps(&few, "rounds", "time_ns");
    assert_eq!(times, [round, round + 20_000_000, round + 20_000_000, round + 20_000_000]);
    assert_eq!(ps(&few, "rounds", "operation_ns"), [round; 4]);
}

#[test]
fn a_limit_before_the_last_round_leaves_fewer() {
    let outcome =
        run(&scenario(RING, "", &["sampling.rounds=4", "limit=\"60us\"", "arrivals=\"50us\""]));
    assert_eq!(outcome.stop, Stop::TimeLimit);
    assert_eq!(outcome.table("rounds").rows(), 2);
}

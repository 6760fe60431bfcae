//! Runs in, summary out.

use crate::synthetic::{Case, VARIANTS, ending, experiment, manifest, run, tables};
use floodway_report::statistics::{Change, Kind, Scale};
use floodway_report::{Experiment, Run};

const CASE: Case = Case { replications: 3, flows: 1_000, unfinished: true, drops: true };

#[test]
fn the_order_of_runs_does_not_matter() {
    let expected = experiment(CASE, |_| {});
    let mut other = Experiment::new(&manifest(CASE));
    for replication in [2, 0, 1] {
        for variant in [1, 0, 2] {
            let tables = tables(CASE, variant, replication);
            other.add_run(&run(&tables, variant, replication));
        }
    }
    assert_eq!(other.summary(&ending()), expected.summary(&ending()));
    for variant in 0..VARIANTS.len() {
        assert_eq!(other.fct(variant, 0), expected.fct(variant, 0));
        assert_eq!(other.timeline(variant), expected.timeline(variant));
        assert_eq!(other.depths(variant), expected.depths(variant));
        assert_eq!(other.occupancy(variant), expected.occupancy(variant));
        assert_eq!(other.rates(variant), expected.rates(variant));
        assert_eq!(other.rates(variant).keys().copied().collect::<Vec<_>>(), [0, 500]);
    }
}

#[test]
fn unfinished_flows_are_counted_and_paired() {
    let summary = experiment(CASE, |_| {}).summary(&ending());
    let all = |name: &str| summary.class(name, "all").unwrap();
    let (baseline, ci) = (all("without-ci"), all("ci"));
    assert!(baseline.unfinished > 0 && baseline.p999_ns.bound && !ci.p999_ns.bound);
    let paired = ci.paired.unwrap();
    assert_eq!(paired.flows, paired.of);
    assert_eq!(paired.of, baseline.finished + baseline.unfinished);
    assert_eq!(baseline.paired, None);
    assert_eq!(baseline.mean_ns.change, None);
}

#[test]
fn a_change_is_that_of_the_pairs() {
    // With all flows finished, pairing flows changes nothing: the change is that of the means.
    let sound = Case { unfinished: false, ..CASE };
    let mut means = vec![Vec::new(); VARIANTS.len()];
    let experiment = experiment(sound, |run: &Run| {
        let flows = run.tables.iter().find(|table| table.name == "flows").unwrap();
        let measured = flows.u64s("measured").iter().zip(flows.f64s("fct_ns"));
        let times: Vec<f64> =
            measured.filter(|(measured, _)| **measured == 1).map(|(_, time)| *time).collect();
        let variant = VARIANTS.iter().position(|name| *name == run.variant).unwrap();
        means[variant].push(times.iter().sum::<f64>() / times.len() as f64);
    });
    let summary = experiment.summary(&ending());
    let change = summary.class("ci", "all").unwrap().mean_ns.change.unwrap();
    let expected =
        Change::of(means[0].iter().copied().zip(means[2].iter().copied()), Scale::NON_NEGATIVE)
            .unwrap();
    assert_eq!((change.kind, change.n), (Kind::Ratio, 3));
    let [a, b] = [change, expected].map(|change| change.percent.unwrap());
    assert!((a - b).abs() < 1e-9, "{a} is not {b}");
}

#[test]
fn a_reason_for_drops_that_a_variant_lacks_is_zero_there() {
    let summary = experiment(CASE, |_| {}).summary(&ending());
    let full = summary.counter("ci", "dropped_packets_queue_full").unwrap();
    assert_eq!(full.measure.estimate.mean, Some(0.0));
    let change = full.measure.change.unwrap();
    assert_eq!((change.to, change.percent, change.interval()), (0.0, Some(-100.0), None));
}

#[test]
fn scalars_come_from_every_table() {
    let summary = experiment(CASE, |_| {}).summary(&ending());
    let mean = |name: &str| summary.counter("without-ci", name).unwrap().measure.estimate.mean;
    assert!(mean("tier_0_xoff_frames") > mean("tier_1_xoff_frames"));
    assert!(mean("hosts_paused_ns") > Some(0.0));
    assert!(mean("queue_0_max_backlog_bytes") > mean("queue_0_mean_backlog_bytes"));
    // 4 MB in the fullest of 24 switches with 16 ports each, a twelfth of that on average.
    assert_eq!(mean("switch_max_occupancy_bytes"), Some(4e6));
    assert_eq!(mean("port_max_occupancy_bytes"), Some(1_333_333.0));
    assert!((mean("switch_mean_occupancy_bytes").unwrap() - 4e6 / 12.0).abs() < 1e-6);
    assert!((mean("port_mean_occupancy_bytes").unwrap() - 4e6 / 12.0 / 16.0).abs() < 1e-6);
    for scope in ["port", "switch"] {
        let of = |what: &str| mean(&format!("{scope}_{what}_occupancy_bytes")).unwrap();
        assert!(of("p50") < of("p99") && of("p99") < of("p999"), "{scope}");
        assert!(of("p999") <= of("max"), "{scope}");
    }
    // 12 MB of four flows in 5 ms, give or take 15 %: 4.8 Gb/s each.
    assert!((4.0..5.6).contains(&mean("persistent_goodput_gbps").unwrap()));
}

use super::*;
use floodway_scenario::{Overrides, Scenario};

/// Incasts of four senders at random times, whose pauses need more than a sixth of the headroom of all.
const TEXT: &str = r#"
name = "pool"
arrivals = "300us"
limit = "3ms"
seed = 7
[topology.star]
hosts = 8
delay = "300ns"
[switch.buffer.shared]
headroom = "auto"
headroom_pool = "POOL"
[switch.buffer.shared.ingress]
pool = "200KB"
guaranteed = "4KB"
alpha = 0.125
[switch.flow_control.pfc]
measured_on = "ingress_pool"
lossless = false
[host.congestion.line_rate]
[[workload]]
[workload.many_to_many]
sizes = "30KB"
clusters = 1
cluster_size = 8
load = 0.7
"#;

fn scenario(pool: &str) -> Scenario {
    let text = TEXT.replace("POOL", pool);
    Scenario::parse(&text, "pool.toml", &Overrides::default()).unwrap()
}

fn seeds(scenario: &Scenario, count: u32) -> Vec<u64> {
    (0..count).map(|number| scenario.replication_seed(number)).collect()
}

/// Whether packets are lost for want of headroom in a run with this pool.
fn loses(seed: u64, pool: u64) -> bool {
    let scenario = scenario(&format!("{pool}B"));
    let outcome = Simulation::new(scenario.variants()[0].build(seed)).run();
    assert_eq!(outcome.violations, Vec::<String>::new());
    of(&outcome, seed, &|_| None).lost > 0
}

/// The largest use of a pool that does not limit says of every smaller one whether it loses something:
/// with a pool of just that size nothing is lost, and with one byte less something is.
#[test]
fn a_run_without_a_limit_says_it_for_all_sizes() {
    let scenario = scenario("100KB");
    let seeds = seeds(&scenario, 6);
    let all = replications(&scenario.variants()[0], &seeds, 2).unwrap();
    assert_eq!(all.iter().map(|one| one.seed).collect::<Vec<_>>(), seeds);
    for one in &all {
        let max = one.switches[0].max_bytes;
        assert!(max > 10_000, "somebody is paused: {max}");
        assert!(!loses(one.seed, max));
        assert!(loses(one.seed, max - 1));
        assert!(loses(one.seed, max / 2));
        assert_eq!((one.lost, one.switches[0].pool_bytes), (0, Some(100_000)));
    }
    // The results do not depend on the threads.
    assert_eq!(all, replications(&scenario.variants()[0], &seeds, 1).unwrap());
}

/// A replication of a switch whose ports may use 4000 bytes together.
fn made(max: u64, episodes: &[(u64, u64)], pauses: u64) -> Replication {
    let of = Use {
        switch: "switch".to_owned(),
        pool_bytes: None,
        of_all_bytes: 4_000,
        max_bytes: max,
        episodes: episodes.to_vec(),
    };
    Replication { seed: 1, simulated_ns: 1e6, pauses, lost: 0, switches: vec![of] }
}

#[test]
fn risks_by_hand() {
    let all = [
        made(100, &[(100, 5)], 10),
        made(1_000, &[(100, 3), (1_007, 1)], 10),
        made(2_000, &[(100, 2), (1_007, 1), (2_015, 2)], 20),
    ];
    // 1:4 is 1000 bytes, which the second reaches and does not exceed. In the third the largest use of
    // three episodes may be above it, in 3 ms and 40 pauses.
    let found = risk(&all, Size::Oversubscribed(4.0));
    assert_eq!((found.smallest_bytes, found.largest_bytes), (1_000, 1_000));
    assert_eq!((found.replications.count, found.replications.of), (1, 3));
    assert_eq!(found.per_second.value.map(f64::round), Some(1_000.0));
    assert_eq!(found.per_pause.value, Some(3.0 / 40.0));
    assert_eq!(risk(&all, Size::Bytes(999)).replications.count, 2);
    assert_eq!(risk(&all, Size::Bytes(2_000)).replications.count, 0);
    // Without a size of its own nothing limits.
    assert_eq!(risk(&all, Size::Own).replications.count, 0);
    assert_eq!(safe_oversubscription(&all), Some(2.0));
    let peaks = peaks(&all);
    assert_eq!((peaks.median_bytes, peaks.p90_bytes, peaks.max_bytes), (1_000.0, 1_800.0, 2_000.0));
    assert_eq!(safe_oversubscription(&[made(0, &[], 0)]), None);
}

#[test]
fn what_has_no_headroom_is_refused() {
    let refused = |change: &[(&str, &str)]| {
        let mut text = TEXT.replace("POOL", "100KB");
        change.iter().for_each(|(from, to)| text = text.replace(from, to));
        let scenario = Scenario::parse(&text, "pool.toml", &Overrides::default()).unwrap();
        replications(&scenario.variants()[0], &[1], 1).unwrap_err().to_string()
    };
    assert_eq!(
        refused(&[("headroom = \"auto\"", "headroom = \"0B\"")]),
        "its switches have no headroom that ports could share: write `headroom` in \
         [switch.buffer.shared], and a [switch.buffer.shared.ingress]"
    );
    let pfc = "[switch.flow_control.pfc]\nmeasured_on = \"ingress_pool\"\nlossless = false\n";
    assert_eq!(
        refused(&[(pfc, ""), ("\"auto\"", "\"20KB\"")]),
        "no class is lossless, so no headroom is used: write [switch.flow_control.pfc]"
    );
}

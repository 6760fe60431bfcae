//! Against queueing and control theory.

use crate::common::*;
use floodway_model::random::Stream;
use floodway_model::{Duration, FlowSpec, Instant, NodeId};
use floodway_sim::host::congestion;
use floodway_sim::switch::aqm;

#[test]
fn waiting_time_of_an_m_d_1_queue() {
    // Single-packet flows from 400 hosts to one, Poisson, 70 % load: the mean wait at the switch
    // is rho S / (2 (1 - rho)) (Pollaczek and Khinchine, deterministic service).
    let (hosts, rho, packets) = (400, 0.7, 100_000);
    let service = (1024 + 62 + 20) * 80;
    let mut rng = Stream::named(11, "poisson");
    let mut at = 0.0;
    let arrival = |_| {
        at += rng.exponential(service as f64 / rho);
        let src = NodeId(1 + rng.below(hosts) as u32);
        FlowSpec {
            src,
            dst: NodeId(0),
            bytes: 1024,
            start: Instant(at as u64),
            stop: Instant::NEVER,
            workload: 0,
            in_turn: false,
        }
    };
    let flows = (0..packets).map(arrival).collect();
    let outcome = run(plain(star(hosts as u32 + 1), flows));
    let flows = outcome.table("flows");
    let waits: Vec<f64> = flows
        .f64s("fct_ns")
        .iter()
        .zip(flows.f64s("ideal_fct_ns"))
        .map(|(fct, ideal)| fct - ideal)
        .collect();
    // Batch means: 50 batches of 2000 packets, the first left out.
    let batches: Vec<f64> =
        waits.chunks(2_000).skip(1).map(|batch| batch.iter().sum::<f64>() / 2_000.0).collect();
    let n = batches.len() as f64;
    let mean = batches.iter().sum::<f64>() / n;
    let variance = batches.iter().map(|batch| (batch - mean).powi(2)).sum::<f64>() / (n - 1.0);
    // 95 % for 48 degrees of freedom.
    let half_width = 2.011 * (variance / n).sqrt();
    // Packets of one host also wait for each other at its NIC: M/D/1 at 1/400 of the load, 0.1 %.
    let theory = rho * service as f64 / 1e3 / (2.0 * (1.0 - rho));
    assert!(half_width < 0.04 * theory, "{half_width}");
    assert!((mean - theory).abs() < half_width, "{mean} ± {half_width} against {theory}");
}

#[test]
fn two_dcqcn_flows_share_a_link() {
    let flows = [0, 1].map(|src| flow(src, 2, FlowSpec::PERSISTENT, u64::from(src) * 500_000));
    let mut spec = plain(star(3), flows.to_vec());
    spec.switch.aqm = aqm::Spec::Ramp(Default::default());
    control(&mut spec, congestion::Spec::Dcqcn(quick_dcqcn()));
    let delivered = |end: Duration| {
        let mut spec = spec.clone();
        spec.end = end;
        run(spec).table("flows").u64s("delivered_bytes").to_vec()
    };
    // Between 10 and 40 ms.
    let (early, late) = (delivered(Duration::from_ms(10)), delivered(Duration::from_ms(40)));
    let share: Vec<f64> = (0..2).map(|flow| (late[flow] - early[flow]) as f64).collect();
    let ratio = share[0] / share[1];
    assert!((0.8..1.25).contains(&ratio), "{ratio}");
    // The link carries 1024 of every 1106 bytes as payload.
    let capacity = 100e9 / 8.0 * 0.030 * 1024.0 / 1106.0;
    let used = (share[0] + share[1]) / capacity;
    assert!(used > 0.85 && used <= 1.0, "{used}");
}

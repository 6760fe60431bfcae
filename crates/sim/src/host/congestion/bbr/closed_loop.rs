//! BBRv1 on a path with a queue: 20 Mb/s and 40 ms, a bandwidth-delay product (BDP) of 66 packets.

use floodway_model::{Duration, Instant};

use super::super::{Spec as Family, State as AnyState};
use super::path::{Path, ms};
use super::{Mode, Spec};

const RATE: f64 = 20e6;
const DELAY: Duration = Duration::from_ms(40);

#[test]
fn one_flow_fills_the_pipe_and_leaves_the_queue_empty() {
    let spec = Family::Bbr(Spec::default());
    let mut path = Path::new(RATE, DELAY, 700, &[spec]);
    path.run(ms(5_000));
    let (used, lost) = path.run(ms(25_000));
    let (queued, _) = path.queue(ms(5_000), ms(25_000));
    // It paces at 0.99 of the rate. A probe queues a quarter of the BDP in one of eight round trips
    // and drains it in the next. ProbeRTT may take 0.2 s of 10.
    assert!(used > 0.95 && used <= 1.0, "{used}");
    assert_eq!(lost, 0.0);
    assert!(queued < 0.25 * path.bdp(), "{queued}");
}

#[test]
fn two_flows_queue_a_product_and_drain_it_every_ten_seconds() {
    let spec = Family::Bbr(Spec::default());
    let mut path = Path::new(RATE, DELAY, 700, &[spec.clone(), spec]);
    for flow in &mut path.flows {
        flow.on_ack = Some(|state, now, seen| {
            let AnyState::Bbr(state) = state else { unreachable!() };
            if state.0.mode == Mode::ProbeRtt {
                seen.push(now);
            }
        });
    }
    path.run(ms(12_000));
    let (used, _) = path.run(ms(62_000));
    assert!(used > 0.95, "{used}");
    // Each flow uses the highest bandwidth that it ever got, so their sum exceeds the link rate and
    // the window is the limit: twice the BDP in flight, one BDP of it queued (Hock, Bless and
    // Zitterbart, ICNP 2017). ProbeRTT empties the queue.
    let bdp = path.bdp();
    for second in (12..52).step_by(10) {
        let (mean, min) = path.queue(ms(1_000 * second), ms(1_000 * (second + 10) + 500));
        assert!((0.4 * bdp..1.5 * bdp).contains(&mean), "{mean} of {bdp}");
        assert!(min <= 8, "{min}");
    }
    for flow in &path.flows {
        let starts: Vec<Instant> = std::iter::once(flow.seen[0])
            .chain(
                flow.seen.windows(2).filter(|two| two[1] - two[0] > DELAY * 10).map(|two| two[1]),
            )
            .collect();
        for two in starts.windows(2) {
            let apart = (two[1] - two[0]).as_secs();
            assert!((10.0..11.0).contains(&apart), "{apart}");
        }
        assert!(starts.len() >= 5);
    }
}

#[test]
fn twice_the_bandwidth_is_found_in_four_cycles() {
    let spec = Family::Bbr(Spec::default());
    let mut path = Path::new(RATE, DELAY, 700, &[spec]);
    path.run(ms(5_000));
    path.rate *= 2.0;
    // Every cycle of eight round trips finds a quarter more bandwidth: 1.25^4 is 2.4. A probe may
    // take two round trips: 4 times 9 times 40 ms.
    path.run(ms(6_440));
    let (used, _) = path.run(ms(9_000));
    assert!(used > 0.95, "{used}");
    path.rate /= 4.0;
    // An estimate that is too high expires after ten rounds, which the queue prolongs.
    path.run(ms(16_000));
    let (used, _) = path.run(ms(20_000));
    assert!(used > 0.9, "{used}");
}

#[test]
fn a_longer_path_is_believed_after_ten_seconds() {
    let spec = Family::Bbr(Spec::default());
    let mut path = Path::new(RATE, DELAY, 700, &[spec]);
    path.run(ms(3_000));
    path.delay = Duration::from_ms(60);
    let min = |path: &Path| match &path.flows[0].state {
        AnyState::Bbr(state) => state.0.min_rtt,
        _ => unreachable!(),
    };
    // It was observed before that. The drain gain ends with a few packets still queued, which drain
    // at 0.99 of the rate, so not every cycle observes the minimum again.
    let seen = min(&path).at;
    path.run(seen + Duration::from_ms(10_000));
    assert_eq!((min(&path).at, min(&path).value.unwrap().0 / 1_000_000_000), (seen, 40));
    // The next acknowledgement begins ProbeRTT: 60 ms and the time of a packet.
    path.run(seen + Duration::from_ms(10_300));
    assert_eq!(min(&path).value.unwrap().0 / 1_000_000_000, 60);
}

//! The accounts by hand, and their properties under any order of packets.

use floodway_model::{Bytes, Rate};
use proptest::prelude::*;

use super::*;
use crate::switch;
use crate::switch::flow_control::{self, pfc};

fn pool(pool: u64, guaranteed: u64, alpha: impl Into<Option<f64>>) -> Option<Pool> {
    Some(Pool { pool: Bytes(pool), guaranteed: Bytes(guaranteed), alpha: alpha.into() })
}

/// With class 1 lossless and class 0 lossy.
fn memory(ingress: Option<Pool>, egress: Option<Pool>, headroom: u64) -> State {
    memory_with_pool(ingress, egress, headroom, None)
}

/// The same with a pool of headroom.
fn memory_with_pool(
    ingress: Option<Pool>,
    egress: Option<Pool>,
    headroom: u64,
    headroom_pool: Option<u64>,
) -> State {
    let (headroom, headroom_pool) = (Bytes(headroom), headroom_pool.map(Bytes));
    state(&Spec { ingress, egress, headroom, headroom_pool, ..Default::default() })
}

fn state(spec: &Spec) -> State {
    let pfc = pfc::Spec { queues: vec![1], ..Default::default() };
    let flow_control = flow_control::Spec { pfc: Some(pfc), ..Default::default() };
    let queue = switch::QueueSpec { count: 2, ..Default::default() };
    let switch = switch::Spec { flow_control, queue, ..Default::default() };
    State::new(spec, &switch, &[Rate::from_gbps(100); 4])
}

const LOSSY: usize = 0;
const LOSSLESS: usize = 1;

/// A memory with what sources and queues hold, as a switch keeps it.
struct Bench {
    memory: State,
    held: Vec<u64>,
    backlogs: Vec<u64>,
}

impl Bench {
    fn new(memory: State) -> Self {
        let held = vec![0; memory.headroom.len()];
        Self { memory, held, backlogs: vec![0; 4] }
    }

    fn join(&mut self, source: Source, queue: usize, bytes: u64) -> Result<(), DropReason> {
        let (held, backlog) = (&mut self.held[source.index()], &mut self.backlogs[queue]);
        self.memory.accepts(source, *held, (queue % 2, *backlog), bytes)?;
        self.memory.join(source, *held, (queue % 2, *backlog), bytes);
        *held += bytes;
        *backlog += bytes;
        Ok(())
    }

    fn leave(&mut self, source: Source, queue: usize, bytes: u64) {
        let (held, backlog) = (&mut self.held[source.index()], &mut self.backlogs[queue]);
        self.memory.leave(source, *held, (queue % 2, *backlog), bytes);
        *held -= bytes;
        *backlog -= bytes;
    }

    /// How many frames of `bytes` a source may send to a queue, and what the last one met.
    fn fill(&mut self, source: Source, queue: usize, bytes: u64) -> (u64, DropReason) {
        let mut taken = 0;
        loop {
            match self.join(source, queue, bytes) {
                Ok(()) => taken += 1,
                Err(reason) => return (taken, reason),
            }
        }
    }

    fn wrong(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        self.memory.audit(&self.held, self.backlogs.iter().copied(), &mut wrong);
        wrong
    }
}

#[test]
fn one_queue_by_hand() {
    // Frames of 100 bytes, a pool of 1000 and 250 of its own. Two frames fit the guarantee. The
    // third finds 200 held, none of it above: 100 <= 1000, and takes 50 of the pool. Then
    // 50 + 100 <= 950, 150 + 100 <= 850, 250 + 100 <= 750, 350 + 100 <= 650, 450 + 100 <= 550, and
    // 550 + 100 is above 450: eight frames.
    let mut bench = Bench::new(memory(None, pool(1_000, 250, 1.0), 0));
    let source = Source::new(0, LOSSY);
    assert_eq!(bench.fill(source, 2, 100), (8, DropReason::EgressThreshold));
    assert_eq!(bench.memory.egress.as_ref().unwrap().used(), 550);
    // Another queue has its guarantee all the same, then 0 + 100 <= 450, 50 + 100 <= 400 and
    // 150 + 100 <= 300; but 250 + 100 is above 200.
    assert_eq!(bench.fill(source, 3, 100), (5, DropReason::EgressThreshold));
    // One frame of the first leaves, and 300 are free: less than 450 + 100 and than 250 + 100.
    bench.leave(source, 2, 100);
    assert_eq!(bench.memory.egress.as_ref().unwrap().used(), 700);
    assert_eq!(bench.join(source, 2, 100), Err(DropReason::EgressThreshold));
    assert_eq!(bench.join(source, 3, 100), Err(DropReason::EgressThreshold));
    assert_eq!(bench.wrong(), Vec::<String>::new());
}

/// Queue 1 has 1/2 of what is free, and 300 of its own; queue 0 all that is free (alpha 1) and nothing of its own.
fn by_queue(egress_pool: Option<u64>) -> Spec {
    let own = OfQueues {
        queues: vec![1],
        egress_alpha: Some(0.5),
        egress_guaranteed: Some(Bytes(300)),
        egress_pool: egress_pool.map(Bytes),
        ..Default::default()
    };
    Spec { egress: pool(1_000, 0, 1.0), by_queue: vec![own], ..Default::default() }
}

#[test]
fn queues_have_their_own_shares_of_one_pool() {
    // Frames of 100 bytes. Queue 1: three frames in its guarantee, then 0 + 100 <= 500, 100 + 100 <= 450,
    // 200 + 100 <= 400, and 300 + 100 is above 350: six frames, 300 bytes of the pool. Queue 0: 0 + 100 <= 700,
    // 100 + 100 <= 600, 200 + 100 <= 500, 300 + 100 <= 400, and 400 + 100 is above 300: four frames.
    let mut bench = Bench::new(state(&by_queue(None)));
    let source = Source::new(0, LOSSY);
    assert_eq!(bench.fill(source, 1, 100), (6, DropReason::EgressThreshold));
    assert_eq!(bench.fill(source, 0, 100), (4, DropReason::EgressThreshold));
    assert_eq!(bench.memory.egress.as_ref().unwrap().used(), 700);
    bench.leave(source, 1, 100);
    assert_eq!(bench.memory.egress.as_ref().unwrap().used(), 600);
    assert_eq!(bench.wrong(), Vec::<String>::new());
}

#[test]
fn queues_have_a_pool_of_their_own() {
    // Of 400 bytes: three frames in the guarantee, then 0 + 100 <= 200, and 100 + 100 is above 150: four. Another
    // queue 1, of another port, has its guarantee, and then 0 + 100 <= 150: four as well; now 200 are free, and a
    // third has 0 + 100 <= 100. Queue 0 has the other pool alone: five frames of 1000 with alpha 1.
    let mut bench = Bench::new(state(&by_queue(Some(400))));
    let source = Source::new(0, LOSSY);
    assert_eq!(bench.fill(source, 1, 100), (4, DropReason::EgressThreshold));
    assert_eq!(bench.fill(source, 3, 100), (4, DropReason::EgressThreshold));
    assert_eq!(bench.fill(source, 0, 100), (5, DropReason::EgressThreshold));
    assert_eq!(bench.memory.own_egress[0].used(), 200);
    assert_eq!(bench.memory.egress.as_ref().unwrap().used(), 500);
    assert_eq!(bench.wrong(), Vec::<String>::new());
}

#[test]
fn classes_have_their_own_shares_of_the_ingress() {
    // At the ingress class 0 has 1/4 of what is free: 0 + 100 <= 250, 100 + 100 <= 225, and 200 + 100 is above 200.
    // Class 1, at a rate with alpha 2: 0 + 100 <= 1600 and so on, up to the 800 that are left. It is lossless, without
    // headroom.
    let own = OfQueues { queues: vec![0], ingress_alpha: Some(0.25), ..Default::default() };
    let rate = Rate::from_gbps(100);
    let spec = Spec {
        ingress: pool(1_000, 0, 1.0),
        by_rate: vec![OfRate { rate, alpha: 1e6, headroom: Bytes(0) }],
        by_queue: vec![own],
        ..Default::default()
    };
    let mut bench = Bench::new(state(&spec));
    let [lossy, lossless] = [LOSSY, LOSSLESS].map(|class| Source::new(0, class));
    assert_eq!(bench.fill(lossy, 0, 100), (2, DropReason::IngressThreshold));
    // The threshold that pauses a class is its own: a quarter of the 800 that are free.
    assert_eq!(bench.memory.share(lossy, 200).threshold, 200.0);
    assert_eq!(bench.fill(lossless, 1, 100), (8, DropReason::HeadroomExceeded));
    assert_eq!(bench.wrong(), Vec::<String>::new());
}

#[test]
fn alpha_above_one_does_not_give_away_more_than_there_is() {
    // With alpha 8 one queue settles at 8/9 of 1000, within a frame: the ninth finds
    // 800 + 100 <= 8 * 200, a tenth 900 + 100 above 8 * 100. A second may take the last 100
    // (0 + 100 <= 8 * 100), and then there is nothing left, not even for one that holds nothing.
    let mut bench = Bench::new(memory(None, pool(1_000, 0, 8.0), 0));
    let source = Source::new(0, LOSSY);
    assert_eq!(bench.fill(source, 0, 100).0, 9);
    assert_eq!(bench.fill(source, 1, 100).0, 1);
    assert_eq!(bench.fill(source, 2, 100).0, 0);
    // Half a frame's room is no room, though 8 * 50 would let it in.
    bench.leave(source, 0, 50);
    assert_eq!(bench.join(source, 2, 100), Err(DropReason::EgressThreshold));
    assert_eq!(bench.wrong(), Vec::<String>::new());
}

#[test]
fn with_complete_sharing_one_queue_can_take_all_and_all_together_no_more() {
    // 150 KB are 100 frames of 1500 bytes, to the byte, wherever they wait.
    let mut bench = Bench::new(memory(None, pool(150_000, 0, None), 0));
    let source = Source::new(0, LOSSY);
    assert_eq!(bench.fill(source, 0, 1_500), (100, DropReason::EgressThreshold));
    assert_eq!(bench.fill(source, 1, 64), (0, DropReason::EgressThreshold));
    for _ in 0..60 {
        bench.leave(source, 0, 1_500);
    }
    // What one gave back another may take, and the first again what that leaves.
    assert_eq!(bench.fill(source, 1, 1_500).0, 60);
    bench.leave(source, 1, 1_500);
    assert_eq!(bench.fill(source, 0, 1_501).0, 0);
    assert_eq!(bench.fill(source, 0, 1_499).0, 1);
    assert_eq!(bench.join(source, 2, 2), Err(DropReason::EgressThreshold));
    bench.join(source, 2, 1).unwrap();
    assert_eq!(bench.memory.egress.as_ref().unwrap().used(), 150_000);
    assert_eq!(bench.backlogs, [40 * 1_500 + 1_499, 59 * 1_500, 1, 0]);
    assert_eq!(bench.wrong(), Vec::<String>::new());
}

#[test]
fn both_books_must_accept() {
    let mut bench = Bench::new(memory(pool(1_000, 100, 1.0), pool(1_000, 300, 1.0), 0));
    let source = Source::new(0, LOSSY);
    // Ingress: one frame in the guarantee, then 0 + 100 <= 1000, ..., 400 + 100 <= 600, and
    // 500 + 100 is above 500: six. Egress would let eight in.
    assert_eq!(bench.fill(source, 0, 100), (6, DropReason::IngressThreshold));
    // A second source to the same queue: its own guarantee, and 0 + 100 <= 500; then the queue is
    // at 800, and 500 + 100 is above 500.
    assert_eq!(bench.fill(Source::new(1, LOSSY), 0, 100), (2, DropReason::EgressThreshold));
    assert_eq!(bench.wrong(), Vec::<String>::new());
}

#[test]
fn headroom_by_hand() {
    // alpha 1/2: one frame of the guarantee, then 0 + 100 <= 500, 100 + 100 <= 450,
    // 200 + 100 <= 400, and 300 + 100 is above 350: four frames. Two more have headroom.
    let mut bench = Bench::new(memory(pool(1_000, 100, 0.5), None, 250));
    let (lossless, lossy) = (Source::new(0, LOSSLESS), Source::new(1, LOSSY));
    assert_eq!(bench.fill(lossless, 0, 100), (6, DropReason::HeadroomExceeded));
    let share = bench.memory.share(lossless, bench.held[lossless.index()]);
    assert_eq!(share, Share { held: 600, in_headroom: 200, threshold: 100.0 + 0.5 * 700.0 });
    // A lossy class has none: the guarantee, and 0 + 100 <= 350, 100 + 100 <= 300.
    assert_eq!(bench.fill(lossy, 0, 100), (3, DropReason::IngressThreshold));
    // What leaves is taken from the headroom first.
    bench.leave(lossless, 0, 150);
    assert_eq!(bench.memory.share(lossless, 450).in_headroom, 50);
    assert_eq!(bench.memory.ingress.as_ref().unwrap().used(), 500);
    bench.leave(lossless, 0, 150);
    assert_eq!(bench.memory.share(lossless, 300).in_headroom, 0);
    assert_eq!(bench.memory.ingress.as_ref().unwrap().used(), 400);
    assert_eq!(bench.wrong(), Vec::<String>::new());
}

#[test]
fn a_pool_of_headroom_by_hand() {
    // As above each has four frames of the ingress pool if it is alone, and two of headroom; the pool
    // of headroom has three for all.
    let ingress = || pool(1_000, 100, 0.5);
    let mut bench = Bench::new(memory_with_pool(ingress(), None, 250, Some(300)));
    let [first, second] = [0, 1].map(|port| Source::new(port, LOSSLESS));
    assert_eq!(bench.fill(first, 0, 100), (6, DropReason::HeadroomExceeded));
    // 700 are free: one frame of the guarantee, 0 + 100 <= 350, 100 + 100 <= 300, and 200 + 100 is
    // above 250: three, and one that is left of the headroom.
    assert_eq!(bench.fill(second, 1, 100), (4, DropReason::HeadroomExceeded));
    let most = |bench: &Bench| bench.memory.headroom_pool().map(HeadroomPool::max);
    assert_eq!(most(&bench), Some(300));
    // What the first gives back is for the second, up to its own headroom.
    bench.leave(first, 0, 200);
    assert_eq!(bench.fill(second, 1, 100), (1, DropReason::HeadroomExceeded));
    assert_eq!(most(&bench), Some(300));
    // Four ports of 250 bytes in one lossless class.
    assert_eq!(bench.memory.headroom_pool().map(HeadroomPool::of_all), Some(1_000));
    assert_eq!(bench.wrong(), Vec::<String>::new());
}

#[test]
fn the_egress_limits_lossless_classes_too() {
    let mut bench = Bench::new(memory(pool(1_000, 0, 1.0), pool(200, 0, 1.0), 1_000));
    assert_eq!(
        bench.fill(Source::new(0, LOSSLESS), 0, 100),
        (1, DropReason::EgressThreshold),
        "0 + 100 <= 200, and 100 + 100 is above 100"
    );
}

#[test]
fn what_is_wrong_is_found() {
    let mut bench = Bench::new(memory(pool(1_000, 0, 1.0), pool(1_000, 0, 1.0), 0));
    bench.join(Source::new(0, LOSSY), 0, 100).unwrap();
    bench.backlogs[0] = 90;
    let wrong = "the egress pool of 1000 bytes accounts for 100 and 90 are in the buffer";
    assert_eq!(bench.wrong(), [wrong]);
}

fn pools() -> impl Strategy<Value = Option<Pool>> {
    let alphas = prop::sample::select(vec![
        Some(0.01),
        Some(0.5),
        Some(1.0),
        Some(2.0),
        Some(7.3),
        Some(100.0),
        None,
    ]);
    prop::option::of((1..20_000_u64, 0..3_000_u64, alphas))
        .prop_map(|some| some.and_then(|(size, guaranteed, alpha)| pool(size, guaranteed, alpha)))
}

proptest! {
    /// Frames of any length come and go in any order: no account goes below nothing (overflow checks
    /// are on in tests), pools and headroom never hold more than they have, what is used is the sum
    /// of what is held above the guarantees, guarantees are always kept, and at the end all is free.
    #[test]
    fn accounts_always_agree(
        ingress in pools(),
        egress in pools(),
        headroom in 0..5_000_u64,
        of_all in prop::option::of(0..9_000_u64),
        steps in prop::collection::vec((any::<bool>(), 0..4_usize, 0..2_usize, 0..4_usize, 64..1_500_u64), 1..300),
    ) {
        let memory = memory_with_pool(ingress.clone(), egress.clone(), headroom, of_all);
        let mut bench = Bench::new(memory);
        let mut waiting = Vec::new();
        for (comes, port, class, queue, bytes) in steps {
            if !comes && !waiting.is_empty() {
                let (source, queue, bytes) = waiting.swap_remove(bytes as usize % waiting.len());
                bench.leave(source, queue, bytes);
            } else {
                let source = Source::new(port, class);
                let beside = bench.held[source.index()] - bench.memory.headroom[source.index()];
                let fits = |pool: &Option<Pool>, held: u64| {
                    pool.as_ref().is_none_or(|pool| held + bytes <= pool.guaranteed.0)
                };
                let sure = fits(&ingress, beside) && fits(&egress, bench.backlogs[queue]);
                match bench.join(source, queue, bytes) {
                    Ok(()) => waiting.push((source, queue, bytes)),
                    Err(reason) => prop_assert!(!sure, "{reason:?}"),
                }
            }
            prop_assert_eq!(bench.wrong(), Vec::<String>::new());
            let headrooms = bench.memory.headroom.iter().enumerate();
            for (index, &bytes) in headrooms {
                let most = if index % CLASSES == LOSSLESS { headroom } else { 0 };
                prop_assert!(bytes <= most);
            }
            let together: u64 = bench.memory.headroom.iter().sum();
            prop_assert!(of_all.is_none_or(|most| together <= most));
        }
        for (source, queue, bytes) in waiting {
            bench.leave(source, queue, bytes);
        }
        prop_assert_eq!(bench.wrong(), Vec::<String>::new());
        for book in [&bench.memory.ingress, &bench.memory.egress].into_iter().flatten() {
            prop_assert_eq!(book.used(), 0);
        }
        prop_assert!(bench.memory.headroom.iter().all(|&bytes| bytes == 0));
    }
}

#[test]
fn a_faster_port_may_hold_more() {
    // As the HPCC authors' simulator sets it: an eighth of what is free at the rate of hosts, twice as
    // much at twice the rate, and headroom by rate.
    let pfc = pfc::Spec { queues: vec![LOSSLESS as u8], ..Default::default() };
    let flow_control = flow_control::Spec { pfc: Some(pfc), ..Default::default() };
    let queue = switch::QueueSpec { count: 2, ..Default::default() };
    let switch = switch::Spec { flow_control, queue, ..Default::default() };
    let [slow, fast] = [100, 200].map(Rate::from_gbps);
    let by_rate = vec![OfRate { rate: fast, alpha: 0.25, headroom: Bytes(600) }];
    let headroom = Bytes(300);
    let spec = Spec {
        ingress: pool(8_000, 0, 0.125),
        egress: None,
        headroom,
        by_rate,
        ..Default::default()
    };
    for (port, frames) in [(0, 9 + 3), (1, 16 + 6)] {
        // Alone, one holds alpha / (1 + alpha) of the pool, 888 and 1600 bytes, to the frame that is
        // judged by what was free before it; and its headroom.
        let mut bench = Bench::new(State::new(&spec, &switch, &[slow, fast]));
        let (taken, reason) = bench.fill(Source::new(port, LOSSLESS), 0, 100);
        assert_eq!((taken, reason), (frames, DropReason::HeadroomExceeded));
    }
}

#[test]
fn a_switch_may_have_pools_of_its_own() {
    let of = |name: &str, ingress, egress| OfSwitches {
        switches: vec![name.to_owned()],
        ingress_pool: Some(Bytes(ingress)),
        egress_pool: egress,
        headroom_pool: None,
    };
    let by_switch = vec![of("leaf 0", 5_000, None), of("spine 0", 6_000, Some(Bytes(7_000)))];
    let (ingress, egress) = (pool(8_000, 100, 0.5), pool(9_000, 0, 1.0));
    let spec = Spec { ingress, egress, by_switch, ..Default::default() };
    let pools = |name: &str| {
        let of = spec.at(name);
        [of.ingress, of.egress].map(|pool| pool.expect("both are there").pool.0)
    };
    assert_eq!(pools("leaf 1"), [8_000, 9_000]);
    assert_eq!(pools("leaf 0"), [5_000, 9_000]);
    assert_eq!(pools("spine 0"), [6_000, 7_000]);
    // What else a book says stays.
    assert_eq!(spec.at("leaf 0").ingress.map(|pool| pool.guaranteed), Some(Bytes(100)));
}

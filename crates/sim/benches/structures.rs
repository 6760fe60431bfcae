//! The structures of the hot path, each by itself: `cargo bench -p floodway-sim`, with a part of a
//! name for some of them. They tell which way to build a structure is the faster one; what a change
//! is worth, `floodway bench` tells.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use floodway_engine::Timers;
use floodway_model::random::Stream;
use floodway_model::{
    Body, Bytes, Class, Dscp, Duration, Echo, Ecn, FlowId, Instant, NodeId, Packet, PortIx, Rate,
    Tos,
};
use floodway_sim::host::congestion::{Control, Path, dcqcn};
use floodway_sim::link::{Link, Transmitter};
use floodway_sim::metric::bin_of;
use floodway_sim::switch::aqm::{self, Verdict, View};
use floodway_sim::switch::buffer::{self, Buffer, shared};
use floodway_sim::switch::flow_control::congestion_isolation::{self, Isolation};
use floodway_sim::switch::flow_control::pausing::Source;
use floodway_sim::switch::port::Port;
use floodway_sim::switch::queue::{Queue, Queued};
use floodway_sim::switch::{self, QueueSpec, scheduler};

fn main() {
    divan::main();
}

/// Calls of a sample, so that one is long against the clock.
const CALLS: usize = 10_000;

fn link() -> Link {
    Link {
        peer: NodeId(0),
        peer_port: PortIx(0),
        to: (NodeId(0), PortIx(0)),
        rate: Rate::from_gbps(100),
        rate_back: Rate::from_gbps(100),
        line: None,
        delay: Duration::from_ns(200),
        latency: Duration::ZERO,
        response: Duration::ZERO,
        wire_overhead: 20,
        largest_frame: 1_086,
        node: NodeId(0),
        port: PortIx(0),
    }
}

fn packet(flow: u32, ingress: u16) -> Packet {
    Packet {
        flow: FlowId(flow),
        connection: 0,
        src: NodeId(0),
        dst: NodeId(1),
        bytes: 1_086,
        ingress: PortIx(ingress),
        class: Class(0),
        physical_queue: 0,
        tos: Tos::new(Dscp::DEFAULT, Ecn::Ect0),
        indicated: false,
        body: Body::Data { echo: Echo::default(), psn: 0, sent_at: Instant::ZERO },
    }
}

/// Whole numbers below `bound`, the same on every call.
fn numbers(bound: u64) -> Vec<u64> {
    let mut stream = Stream::named(1, "bench");
    (0..CALLS).map(|_| stream.below(bound)).collect()
}

/// A queue of so many packets, of as many flows.
fn queue(packets: u32, timed: bool) -> Queue {
    let mut queue = if timed { Queue::timed() } else { Queue::default() };
    (0..packets).for_each(|flow| {
        queue.push(&Queued { packet: packet(flow, 0), not_before: 0 }, Instant::ZERO);
    });
    queue
}

/// The next timer is looked up and set anew, as after every transmission of a port.
#[divan::bench(args = [18, 50, 130])]
fn alarms_ring_and_set(bencher: Bencher, slots: usize) {
    let waits = numbers(200_000);
    let mut timers = Timers::new(slots);
    (0..slots).for_each(|slot| timers.set(slot, Instant(waits[slot])));
    bencher.counter(ItemsCount::new(CALLS)).bench_local(|| {
        for wait in &waits {
            let at = timers.next();
            timers.set(timers.next_slot(), at + Duration(1 + wait));
        }
    });
}

/// What every algorithm says of a packet that joins and of one that leaves, by its name, beside a
/// queue of 50 packets.
#[divan::bench(args = ["drop_tail", "ramp", "step", "red", "codel", "pie", "pi2", "dualpi2"])]
fn aqm_verdicts(bencher: Bencher, name: &str) {
    let spec: aqm::Spec = serde_json::from_str(&format!("{{\"{name}\": {{}}}}")).unwrap();
    let mut state = aqm::State::new(&spec, 2);
    let queues = [queue(50, true), queue(0, true)];
    let (tx, mut rng) = (Transmitter::new(link()), Stream::named(1, "bench"));
    let (arriving, mut now) = (packet(0, 0), Instant::ZERO);
    bencher.counter(ItemsCount::new(CALLS)).bench_local(|| {
        let mut passed = 0;
        for _ in 0..CALLS {
            now += Duration::from_ns(90);
            let (queues, tx, rng) = (&queues, &tx, &mut rng);
            let mut view = View { queues, memory: 54_300, indicates: false, tx, now, rng };
            let joins = state.on_arrival(0, black_box(&arriving), &mut view);
            let leaves = state.on_departure(0, black_box(&arriving), &mut view);
            passed += [joins, leaves].iter().filter(|said| **said == Verdict::Pass).count();
        }
        passed
    });
}

/// Which of two queues sends next, both with packets three times of four.
#[divan::bench(args = ["strict", "drr", "wrr", "time_shifted"])]
fn scheduler_select(bencher: Bencher, name: &str) {
    let spec: scheduler::Spec = serde_json::from_str(&format!("{{\"{name}\": {{}}}}")).unwrap();
    let mut state = scheduler::State::new(&spec, &link());
    let heads: Vec<[u32; 2]> = numbers(8)
        .iter()
        .map(|number| match number {
            0 => [1_106, 0],
            1 => [0, 1_106],
            _ => [1_106, 84],
        })
        .collect();
    bencher.counter(ItemsCount::new(CALLS)).bench_local(|| {
        let sojourn = |queue| Duration::from_ns(queue as u64 * 500);
        heads.iter().map(|heads| state.select(heads, sojourn)).sum::<usize>()
    });
}

/// A packet asks for room, joins the books and leaves them.
#[divan::bench(args = ["per_queue", "shared"])]
fn buffer_admit(bencher: Bencher, name: &str) {
    let buffer = match name {
        "shared" => buffer::Spec::Shared(shared::Spec::default()),
        _ => buffer::Spec::default(),
    };
    let queue_spec = QueueSpec { count: 1, ..QueueSpec::default() };
    let spec = switch::Spec { buffer, queue: queue_spec, ..switch::Spec::default() };
    let mut memory = Buffer::new(&spec, &[link().rate; 32]);
    let port = Port::new(
        Transmitter::new(link()),
        [queue(0, false), queue(0, false)],
        aqm::State::new(&spec.aqm, 1),
        scheduler::State::new(&spec.scheduler, &link()),
    );
    let ports = numbers(32);
    bencher.counter(ItemsCount::new(CALLS)).bench_local(|| {
        let mut admitted = 0;
        for &ingress in &ports {
            let source = Source::new(ingress as usize, 0);
            if memory.admit(source, &port, 0, 1_086).is_ok() {
                memory.join(source, 0, &port.queues[0], 1_086);
                memory.leave(source, 0, &port.queues[0], 1_086);
                admitted += 1;
            }
        }
        admitted
    });
}

/// A flow at its reaction point sends a packet, with a notification before every hundredth.
#[divan::bench(args = [false, true])]
fn dcqcn_send(bencher: Bencher, notified: bool) {
    let spec = dcqcn::Spec { window: Some(Duration::from_us(15)), ..dcqcn::Spec::default() };
    let path = Path {
        line_rate: Rate::from_gbps(100),
        payload: 1_024,
        wire: 1_106,
        initial_window: 10,
        base_rtt: Duration::from_us(8),
        hops: 3,
        trims: false,
        seed: 1,
    };
    let mut flow = dcqcn::State::new(&spec, &path);
    let mut now = Instant::ZERO;
    bencher.counter(ItemsCount::new(CALLS)).bench_local(|| {
        for call in 0..CALLS {
            now += Duration::from_ns(90);
            if notified && call % 100 == 0 {
                flow.on_cnp(&spec, now);
            }
            black_box(flow.after_send(&spec, now, 1_106));
        }
    });
}

/// Whether a packet of one of so many flows in the stream table is isolated; one in two is not in
/// the table.
#[divan::bench(args = [1, 20, 400])]
fn stream_table_place(bencher: Bencher, flows: u32) {
    // The depth of the monitored queue has the curve select for certain, then never.
    let spec = congestion_isolation::Spec::default();
    let (deep, shallow) = (queue(400, false), queue(0, false));
    let mut table = Isolation::new(&spec, Rate::from_gbps(100));
    let mut rng = Stream::named(1, "bench");
    let mut place = |flow: u32, monitored| {
        let port = congestion_isolation::Port { monitored, congesting: &shallow, paused: false };
        table.place(&spec, FlowId(flow), port, Instant(1), &mut rng).is_some()
    };
    (0..flows).for_each(|flow| assert!(place(flow * 2, &deep)));
    let asked: Vec<u32> = numbers(2 * u64::from(flows)).iter().map(|flow| *flow as u32).collect();
    bencher
        .counter(ItemsCount::new(CALLS))
        .bench_local(|| asked.iter().filter(|flow| place(**flow, &shallow)).count());
}

/// Random numbers.
#[divan::bench(args = ["chance", "exponential", "below"])]
fn random_stream(bencher: Bencher, what: &str) {
    let mut stream = Stream::named(1, "bench");
    bencher.counter(ItemsCount::new(CALLS)).bench_local(|| match what {
        "chance" => (0..CALLS).filter(|_| stream.bernoulli(0.01)).count() as f64,
        "exponential" => (0..CALLS).map(|_| stream.exponential(1.0)).sum(),
        _ => (0..CALLS).map(|_| stream.below(48) as f64).sum(),
    });
}

/// The bin of a queue's length, as samples ask for it.
#[divan::bench]
fn depth_bin(bencher: Bencher) {
    let depths: Vec<Bytes> = numbers(1_000_000).into_iter().map(Bytes).collect();
    bencher
        .counter(ItemsCount::new(CALLS))
        .bench_local(|| depths.iter().map(|depth| bin_of(depth.0)).sum::<usize>());
}

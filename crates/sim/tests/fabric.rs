//! Switches with a crossbar, against arithmetic and against what holds whatever is between ports.

use std::sync::atomic::AtomicBool;

use crate::common::*;
use floodway_model::random::Stream;
use floodway_model::{Bytes, Duration, FlowSpec, Instant};
use floodway_sim::host::congestion;
use floodway_sim::host::transport::{self, ethernet};
use floodway_sim::simulation::Run;
use floodway_sim::switch::aqm::{self, step};
use floodway_sim::switch::fabric::{self, CongestionAt, input_fifo, voq};
use floodway_sim::switch::flow_control::pfc::{MeasuredOn, Spec as Pfc};
use floodway_sim::{Outcome, Simulation, Spec};

/// A full packet on the wire at 100 Gb/s, and the way: what it takes from the wire of a port to the
/// next node.
const WIRE: u64 = (1024 + 62 + 20) * 80;
const HOP: u64 = WIRE + 200_000;
/// 64 bytes at 100 Gb/s. A full packet, 1086 bytes, has 17 cells.
const SLOT: u64 = 5_120;
const CELLS: u64 = 17;

fn input_fifo() -> fabric::Spec {
    fabric::Spec::InputFifo(input_fifo::Spec::default())
}

fn voq() -> fabric::Spec {
    fabric::Spec::Voq(voq::Spec::default())
}

fn with(fabric: fabric::Spec, mut spec: Spec) -> Spec {
    spec.switch.fabric = fabric;
    spec
}

#[test]
fn a_lone_frame_waits_for_a_slot_and_crosses_in_its_cells() {
    // It arrives at 288.48 ns. Slot 57 begins at 291.84 ns, and 17 later, at 378.88 ns, it is sent on.
    assert_eq!((HOP, 57 * SLOT, 74 * SLOT), (288_480, 291_840, 378_880));
    for fabric in [input_fifo(), voq()] {
        let outcome = run(with(fabric.clone(), plain(star(2), vec![flow(0, 1, 1_024, 0)])));
        assert_eq!(fct_ps(&outcome), [74 * SLOT + HOP]);
        // 116 ns later it arrives just when slot 79 begins, and crosses from slot 80 on.
        assert_eq!(116_000 + HOP, 79 * SLOT);
        let outcome = run(with(fabric, plain(star(2), vec![flow(0, 1, 1_024, 116)])));
        assert_eq!(fct_ps(&outcome), [(80 + CELLS) * SLOT + HOP - 116_000]);
    }
}

#[test]
fn a_faster_crossbar_has_shorter_slots() {
    // Twice as fast: slots of 2.56 ns. 288.48 ns is in slot 112; from slot 113 to slot 130.
    let fabric = fabric::Spec::Voq(voq::Spec { speedup: 2.0, ..Default::default() });
    let outcome = run(with(fabric, plain(star(2), vec![flow(0, 1, 1_024, 0)])));
    assert_eq!(fct_ps(&outcome), [130 * 2_560 + HOP]);
    // Cells of 1086 bytes: slots of 86.88 ns, from slot 4 to slot 5.
    let cell = Bytes(1_086);
    let fabric = fabric::Spec::InputFifo(input_fifo::Spec { cell, ..Default::default() });
    let outcome = run(with(fabric, plain(star(2), vec![flow(0, 1, 1_024, 0)])));
    assert_eq!(fct_ps(&outcome), [5 * 86_880 + HOP]);
}

#[test]
fn a_head_blocks_what_is_behind_it_by_hand() {
    // Hosts 0, 1 and 2 send a packet to host 3 each, all at once, and host 2 then one to host 4. All
    // three heads arrive before slot 57 and cross one after the other, 0, 1, 2: from 57, 74 and 91.
    // The other packet of host 2 is there at 376.96 ns, in slot 73.
    let flows = vec![flow(0, 3, 1_024, 0), flow(1, 3, 1_024, 0), flow(2, 3, 1_024, 0)];
    let flows = || [flows.clone(), vec![flow(2, 4, 1_024, 0)]].concat();
    let fct = |fabric| fct_ps(&run(with(fabric, plain(star(5), flows()))));
    // The wire to host 3 is free 88.48 ns after each packet, later than the next has crossed in 87.04.
    let to_3 = [0, 1, 2].map(|packet| 74 * SLOT + packet * WIRE + HOP);
    // Virtual output queues: it crosses from slot 74, when its input is still free.
    assert_eq!(fct(voq()), [&to_3[..], &[91 * SLOT + HOP]].concat());
    // One queue: behind the head, from slot 108.
    assert_eq!(fct(input_fifo()), [&to_3[..], &[125 * SLOT + HOP]].concat());
    // Nothing in the way: it is sent on at once.
    assert_eq!(fct(fabric::Spec::default())[3], HOP + WIRE + HOP);
}

#[test]
fn the_books_of_the_inputs_by_hand() {
    // As above: what blocks, how much, and for how long.
    let mut flows = vec![flow(0, 3, 1_024, 0), flow(1, 3, 1_024, 0), flow(2, 3, 1_024, 0)];
    flows.push(flow(2, 4, 1_024, 0));
    let outcome = run(with(input_fifo(), plain(star(5), flows)));
    let inputs = outcome.table("inputs");
    assert_eq!(inputs.u64s("packets"), [1, 1, 2, 0, 0]);
    assert_eq!(inputs.u64s("bytes"), [1_086, 1_086, 2_172, 0, 0]);
    assert_eq!(inputs.u64s("max_backlog_bytes"), [1_086, 1_086, 2_172, 0, 0]);
    // From the arrival at 288.48 ns to slots 57, 74 and 91; of the second packet of host 2 no time is
    // counted again while the first crosses.
    let until = |slot: u64| (slot * SLOT - HOP) as f64 / 1e3;
    assert_eq!(inputs.f64s("blocked_ns"), [until(57), until(74), until(91), 0.0, 0.0]);
    // Queues are virtual output queues: all three packets were there at once.
    let queues = outcome.table("queues");
    let rows = queues.u64s("port").iter().zip(queues.u64s("queue"));
    let row = rows.zip(queues.u64s("max_backlog_bytes")).find(|(at, _)| *at == (&3, &0));
    assert_eq!(row.unwrap().1, &(3 * 1_086));
    assert!(outcome.table("occupancy").u64s("samples").iter().sum::<u64>() > 0);
}

/// Every host sends single frames to others at random for 200 us, as fast as it may.
fn uniform(hosts: u32, fabric: fabric::Spec) -> Spec {
    let mut rng = Stream::named(3, "uniform");
    let until = Instant(Duration::from_us(200).0);
    let mut flows = Vec::new();
    for src in 0..hosts {
        for _ in 0..2_300 {
            let dst = (src + 1 + rng.below(u64::from(hosts) - 1) as u32) % hosts;
            flows.push(FlowSpec { in_turn: true, stop: until, ..flow(src, dst, 1_024, 0) });
        }
    }
    let mut spec = with(fabric, plain(star(hosts), flows));
    for profile in &mut spec.profiles {
        let ethernet = ethernet::Spec { payload: Bytes(1_024) };
        profile.transport = transport::Spec::Ethernet(ethernet);
    }
    spec.switch.queue.size = Bytes(1_000_000);
    spec.switch.flow_control.pfc = Some(Pfc {
        xoff: Bytes(20_000),
        xon: Bytes(18_000),
        measured_on: MeasuredOn::Ingress,
        ..prompt_pfc()
    });
    (spec.end, spec.measured_until) = (Duration::from_us(200), Duration::from_us(200));
    spec
}

/// The part of the capacity of all links that data has had.
fn throughput(spec: Spec) -> f64 {
    let (hosts, end) = (spec.graph.hosts().count() as f64, spec.end);
    let outcome = run(spec);
    let frames = outcome.counter("data_bytes_delivered") / 1_024;
    let frame = (1_024 + 18 + 20) * 80;
    frames as f64 * f64::from(frame) / (hosts * end.0 as f64)
}

#[test]
fn uniform_traffic_saturates_one_queue_and_not_virtual_ones() {
    // Cells as long as frames: one slot each.
    let cell = Bytes(1_042);
    let wide = Some(Bytes(1_000_000));
    let fifo = |speedup| {
        let spec = input_fifo::Spec { speedup, cell, egress_queue: wide, ..Default::default() };
        fabric::Spec::InputFifo(spec)
    };
    let single = throughput(uniform(16, fifo(1.0)));
    // 60 % by the tables; that is of a crossbar which is 1062/1042 as fast as the wires.
    assert!((0.57..0.64).contains(&single), "{single}");
    // Half as fast again, as the wires see it, and a little more.
    let faster = throughput(uniform(16, fifo(1.5)));
    assert!((1.35..1.55).contains(&(faster / single)), "{faster}");
    let virtual_queues = voq::Spec { cell, egress_queue: wide, ..Default::default() };
    let voq = throughput(uniform(16, fabric::Spec::Voq(virtual_queues)));
    assert!(voq > 0.93, "{voq}");
    let ideal = throughput(uniform(16, fabric::Spec::default()));
    assert!(ideal > 0.93 && voq < ideal + 0.01, "{ideal}");
}

#[test]
fn isolated_flows_stay_in_order() {
    for (fabric, congestion_at) in [
        (voq(), CongestionAt::VirtualOutput),
        (input_fifo(), CongestionAt::VirtualOutput),
        (voq(), CongestionAt::Egress),
    ] {
        let mut spec = with(fabric, plain(clos(4, 2, 8), busy_flows()));
        let fabric = spec.switch.fabric;
        spec.switch = isolating();
        spec.switch.fabric = match fabric {
            fabric::Spec::Voq(voq) => fabric::Spec::Voq(voq::Spec { congestion_at, ..voq }),
            other => other,
        };
        control(&mut spec, congestion::Spec::Dcqcn(quick_dcqcn()));
        spec.end = Duration::from_ms(1);
        let on = |threads| {
            let stop = AtomicBool::new(false);
            Simulation::new(spec.clone()).run_with(&Run { threads, stop: &stop, watch: &|_| {} })
        };
        let [one, two, three] = [1, 2, 3].map(on);
        // Order, books and losses are audited.
        assert_eq!(one.violations, Vec::<String>::new());
        assert_eq!((one.fingerprint, one.fingerprint), (two.fingerprint, three.fingerprint));
        let isolations = one.counter("isolations");
        assert_eq!(isolations > 20, congestion_at == CongestionAt::VirtualOutput, "{isolations}");
    }
}

/// Two hosts send to a third, and marks are counted above 20 KB.
fn marks(congestion_at: CongestionAt) -> Outcome {
    let flows = vec![flow(0, 2, 1_000_000, 0), flow(1, 2, 1_000_000, 0)];
    let fabric = fabric::Spec::Voq(voq::Spec { congestion_at, ..Default::default() });
    let mut spec = with(fabric, plain(star(3), flows));
    spec.switch.aqm = aqm::Spec::Step(step::Spec { threshold: Bytes(20_000) });
    run(spec)
}

#[test]
fn a_small_egress_queue_under_reports() {
    assert!(marks(CongestionAt::VirtualOutput).counter("marked_packets") > 500);
    // Two frames are all that it ever has.
    let outcome = marks(CongestionAt::Egress);
    assert_eq!(outcome.counter("marked_packets"), 0);
    // Everything waits at the inputs, half of it at each: the rest of what came while one left.
    let inputs = outcome.table("inputs");
    assert!(inputs.u64s("max_backlog_bytes")[..2].iter().all(|&bytes| bytes > 400_000));
}

#[test]
fn an_output_without_room_is_not_granted() {
    let flows = [flow(0, 1, 300_000, 0), flow(2, 1, 300_000, 0)];
    let slowest =
        |fabric| *fct_ps(&run(with(fabric, plain(star(3), flows.to_vec())))).iter().max().unwrap();
    let ideal = slowest(fabric::Spec::default());
    // 586 packets for one wire, which is never idle: two frames of room are enough. Only the start is
    // later, by a slot and the crossing.
    let with_voq = slowest(voq());
    assert!(with_voq >= ideal && with_voq < ideal + 18 * SLOT, "{with_voq} {ideal}");
    // One is not: the next begins to cross in the first slot in which the wire sends the one before,
    // and needs 17 slots that begin up to one later, 92.16 ns at most instead of 88.48.
    let small = voq::Spec { egress_queue: Some(Bytes(1_086)), ..Default::default() };
    let stutters = slowest(fabric::Spec::Voq(small));
    assert!(stutters > with_voq + 586 * 1_000, "{stutters} {with_voq}");
}

//! The three-queue model of the Congestion Isolation simulations: mice in a queue of their own,
//! with priority.

use crate::common::*;
use floodway_model::{Duration, FlowSpec};
use floodway_sim::host::congestion;
use floodway_sim::switch::flow_control::congestion_isolation::Mark;
use floodway_sim::switch::{classify, scheduler};
use floodway_sim::{Outcome, Spec};

const FULL: u64 = (1024 + 62 + 20) * 80;

fn strict(queues: u8) -> scheduler::Spec {
    scheduler::Spec::Drr(scheduler::drr::Spec { strict: queues, ..Default::default() })
}

fn mice_and_elephants(elephants: Option<u8>) -> classify::Spec {
    let spec = classify::mice_elephants::Spec { elephants, ..Default::default() };
    classify::Spec::MiceElephants(spec)
}

/// Two elephants fill the link to host 0; a mouse of 50 packets comes after 100 us.
fn mouse_among_elephants(scheduler: scheduler::Spec) -> u64 {
    let elephant = |src| flow(src, 0, FlowSpec::PERSISTENT, 0);
    let mouse = flow(3, 0, 51_200, 100_000);
    let mut spec = plain(star(4), vec![elephant(1), elephant(2), mouse]);
    spec.switch.queue.count = 2;
    spec.switch.classify = mice_and_elephants(Some(1));
    spec.switch.scheduler = scheduler;
    fct_ps(&run(spec))[2]
}

#[test]
fn a_mouse_waits_for_one_frame_of_an_elephant_at_most() {
    let alone = 51 * FULL + 400_000;
    let with_priority = mouse_among_elephants(strict(1));
    assert!((alone..alone + FULL).contains(&with_priority), "{with_priority}");
    // Without priority it has every second turn.
    let without = mouse_among_elephants(strict(0));
    assert!((99 * FULL..102 * FULL).contains(&(without - 400_000)), "{without}");
}

/// A 12:1 incast that never ends among 32 hosts, and short and long flows at random; isolation of
/// elephants, and marks on everything that is isolated.
fn busy(pfc: bool) -> Spec {
    let mut spec = plain(clos(8, 4, 4), busy_flows());
    spec.switch = isolating();
    spec.switch.queue.count = 3;
    spec.switch.classify = mice_and_elephants(Some(1));
    spec.switch.scheduler = strict(1);
    let flow_control = &mut spec.switch.flow_control;
    let isolation = flow_control.congestion_isolation.as_mut().unwrap();
    (isolation.monitored, isolation.congesting, isolation.mark) = (1, 2, Mark::All);
    if !pfc {
        flow_control.pfc = None;
    }
    let dcqcn = congestion::dcqcn::Spec { cnp_interval: Duration::from_us(50), ..quick_dcqcn() };
    control(&mut spec, congestion::Spec::Dcqcn(dcqcn));
    spec.end = Duration::from_ms(2);
    spec
}

/// By queue: the sum of a column of `queues`.
fn by_queue(outcome: &Outcome, column: &str) -> Vec<u64> {
    let queues = outcome.table("queues");
    let mut sums = vec![0; 4];
    for (queue, value) in queues.u64s("queue").iter().zip(queues.u64s(column)) {
        sums[*queue as usize] += value;
    }
    sums
}

#[test]
fn mice_are_never_isolated() {
    for pfc in [true, false] {
        let outcome = run(busy(pfc));
        assert!(outcome.counter("isolations") > 0 && outcome.counter("cims_received") > 0);
        // Whatever is in the congesting queue is marked, and nothing else is: a mouse in it would
        // arrive with marks.
        let (marked, packets) =
            (by_queue(&outcome, "marked_packets"), by_queue(&outcome, "packets"));
        assert_eq!(marked[..3], [0, 0, packets[2]]);
        let flows = outcome.table("flows");
        let marks = flows.u64s("bytes").iter().zip(flows.u64s("marked_packets"));
        let of_mice = |bytes: u64| (1..100_000).contains(&bytes);
        assert!(marks.clone().any(|(&bytes, &marks)| !of_mice(bytes) && marks > 0));
        assert!(marks.clone().all(|(&bytes, &marks)| !of_mice(bytes) || marks == 0));
        assert!(packets[0] > 0 && packets[1] > 0);
    }
}

#[test]
fn nics_and_switches_agree_on_classes() {
    // Without isolation and with a queue for each kind, no mouse ever waits behind an elephant: in
    // the queue of the mice there are as many packets as mice sent, once per switch on their way.
    let mut spec = busy(false);
    spec.switch.flow_control.congestion_isolation = None;
    spec.switch.queue.count = 2;
    let outcome = run(spec);
    let pauses = outcome.table("pauses");
    assert_eq!(*pauses.u64s("class").iter().max().unwrap(), 1);
    // All frames of mice cross one or three switches.
    let flows = outcome.table("flows");
    let sent: u64 = (0..flows.rows())
        .filter(|&row| (1..100_000).contains(&flows.u64s("bytes")[row]))
        .map(|row| {
            let (src, dst) = (flows.u64s("src")[row] / 4, flows.u64s("dst")[row] / 4);
            flows.u64s("packets_sent")[row] * if src == dst { 1 } else { 3 }
        })
        .sum();
    let in_queue = by_queue(&outcome, "packets")[0];
    let lost: u64 = outcome.table("drops").u64s("packets").iter().sum();
    assert!(in_queue <= sent && in_queue + 3 * lost + 100 >= sent, "{in_queue} of {sent}");
}

#[test]
fn elephants_without_a_queue_of_their_own_are_spread() {
    let mut spec = busy(true);
    spec.switch.flow_control.congestion_isolation = None;
    spec.switch.classify = mice_and_elephants(None);
    let packets = by_queue(&run(spec), "packets");
    assert!(packets[..3].iter().all(|&packets| packets > 1_000), "{packets:?}");
}

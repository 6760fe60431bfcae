//! Queues of several blocks.

use floodway_model::{Body, Class, Dscp, Echo, Ecn, FlowId, Instant, NodeId, Packet, PortIx, Tos};

use super::{Queue, Queued};

fn queued(flow: u32, not_before: u64) -> Queued {
    let packet = Packet {
        flow: FlowId(flow),
        connection: 0,
        src: NodeId(0),
        dst: NodeId(1),
        bytes: 100,
        ingress: PortIx(0),
        class: Class(0),
        physical_queue: 0,
        tos: Tos::new(Dscp::DEFAULT, Ecn::Ect0),
        indicated: false,
        body: Body::Data { echo: Echo::default(), psn: 0, sent_at: Instant::ZERO },
    };
    Queued { packet, not_before }
}

fn flows(queue: &Queue) -> Vec<u32> {
    queue.flows().map(|flow| flow.0).collect()
}

/// A queue is one cache line.
#[test]
fn a_queue_takes_64_bytes() {
    assert_eq!(size_of::<Queue>(), 64);
}

/// Compared with a list, for lengths on both sides of one, two and three blocks.
#[test]
fn packets_leave_in_order_from_any_number_of_blocks() {
    for longest in 1..30 {
        let (mut queue, mut list) = (Queue::default(), std::collections::VecDeque::new());
        for number in 0..longest {
            // Two come and one leaves, so that the head is anywhere in its block.
            for flow in [2 * number, 2 * number + 1] {
                queue.push(&queued(flow, 0), Instant::ZERO);
                list.push_back(flow);
            }
            assert_eq!(queue.pop().map(|packet| packet.flow.0), list.pop_front());
            assert_eq!(queue.head().map(|packet| packet.flow.0), list.front().copied());
            assert_eq!(queue.last().map(|packet| packet.flow.0), list.back().copied());
        }
        assert!(flows(&queue).iter().eq(&list) && queue.is_consistent((0, 0)));
        // All but the first are taken from the end, and come again.
        while list.len() > 1 {
            assert_eq!(queue.take_last().map(|packet| packet.flow.0), list.pop_back());
            assert!(flows(&queue).iter().eq(&list) && queue.is_consistent((0, 0)));
        }
        (0..longest).for_each(|flow| queue.push(&queued(flow, 0), Instant::ZERO));
        list.extend(0..longest);
        while let Some(flow) = list.pop_front() {
            assert_eq!(queue.pop().map(|packet| packet.flow.0), Some(flow));
        }
        assert!(queue.is_empty() && queue.pop().is_none() && queue.take_last().is_none());
        assert_eq!((queue.backlog(), queue.departed()), (0, u64::from(2 * longest + 1)));
    }
}

/// Of 20 packets, number 3, 11 and 19 wait for others.
#[test]
fn what_a_packet_waits_for_is_known_when_it_is_at_the_head() {
    let mut queue = Queue::default();
    let waits = |number: u32| if number % 8 == 3 { 100 + u64::from(number) } else { 0 };
    // A packet that bypasses the queue is counted, but does not wait.
    queue.pass(100);
    (0..20).for_each(|number| queue.push(&queued(number, waits(number)), Instant::ZERO));
    assert_eq!(queue.take_last().map(|packet| packet.flow.0), Some(19));
    queue.push(&queued(20, 0), Instant::ZERO);
    for number in (0..19).chain([20]) {
        let expected = if number == 20 { 0 } else { waits(number) };
        assert_eq!(queue.head_not_before(), expected, "{number}");
        assert_eq!(queue.pop().map(|packet| packet.flow.0), Some(number));
    }
    assert_eq!(queue.head_not_before(), 0);
}

/// Flow 7 is last at place 11 of 20, in the second block; two packets left before.
#[test]
fn the_last_packet_of_a_flow_is_found_in_any_block() {
    let mut queue = Queue::default();
    (0..22).for_each(|number| {
        let flow = if [6, 13].contains(&number) { 7 } else { 1 };
        queue.push(&queued(flow, 0), Instant::ZERO);
    });
    (0..2).for_each(|_| _ = queue.pop());
    assert_eq!(queue.clear_of(|flow| flow.0 == 7), 14);
    assert_eq!(queue.clear_of(|flow| flow.0 == 2), 0);
    assert_eq!(queue.clear_of(|flow| flow.0 == 1), 22);
}

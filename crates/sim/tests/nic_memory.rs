//! NICs with a memory of their own.

use crate::common::*;
use floodway_model::{Bytes, FlowSpec};
use floodway_sim::simulation::Run;
use floodway_sim::{Outcome, Simulation, Spec};

/// A packet of RoCEv2 with 1024 bytes and its 82 of headers and gap at 80 ps each.
const PACKET_PS: u64 = (1_024 + 82) * 80;

fn with_memory(flows: Vec<FlowSpec>, memory: u64) -> Spec {
    let mut spec = plain(star(4), flows);
    spec.host.buffer = Some(Bytes(memory));
    spec
}

#[test]
fn a_message_alone_is_not_slower_however_small_the_memory() {
    let flows = vec![flow(0, 1, 100 * 1_024, 0)];
    // One frame of 1024 + 62 bytes, one and a bit, and everything.
    for memory in [1_086, 2_000, 1_000_000] {
        let outcome = run(with_memory(flows.clone(), memory));
        assert_eq!(fct_ps(&outcome), [101 * PACKET_PS + 400_000], "{memory}");
    }
}

#[test]
fn what_has_left_the_host_goes_first() {
    // 1 ns after a message of ten packets, one of a single packet to another host.
    let flows = vec![flow(0, 1, 10 * 1_024, 0), flow(0, 2, 1_024, 1)];
    let second = |spec| fct_ps(&run(spec))[1];
    // Until the end of the packets before it, of its own, and of its second hop.
    let after = |packets: u64| (packets + 2) * PACKET_PS + 400_000 - 1_000;
    // Senders take turns packet by packet; the first one took its place for another before.
    assert_eq!(second(plain(star(4), flows.clone())), after(2));
    // All ten have left the host.
    assert_eq!(second(with_memory(flows.clone(), 20_000)), after(10));
    // The first is on the wire, two fill the memory, and a fourth waited for room before the second
    // flow did.
    assert_eq!(second(with_memory(flows, 2 * 1_086)), after(4));
}

#[test]
fn the_books_balance_on_any_number_of_threads() {
    let flows = busy_flows();
    let spec = || {
        let mut spec = plain(clos(4, 4, 8), flows.clone());
        spec.host.buffer = Some(Bytes(16_000));
        spec.end = floodway_model::Duration::from_us(1_500);
        spec
    };
    let on = |threads| -> Outcome {
        let stop = std::sync::atomic::AtomicBool::new(false);
        let run = Run { threads, stop: &stop, watch: &|_| {} };
        Simulation::new(spec()).run_with(&run)
    };
    let one = on(1);
    assert_eq!(one.violations, Vec::<String>::new());
    for threads in [2, 3] {
        assert_eq!(on(threads).fingerprint, one.fingerprint, "{threads} threads");
    }
}

//! Senders and receivers.

use super::*;
use crate::host::congestion;

/// Packets that the sender of flow 0 makes at these times.
fn departs(stand: &mut Stand, psns: &[(u32, u64)], rate: Option<f64>, window: Option<u64>) {
    for &(psn, at) in psns {
        let packet = packet(1, psn);
        let departure = Departure {
            packet,
            home: Class(0),
            rate,
            window,
            probes: 0,
            began: Instant::ZERO,
            ready_at: Instant::ZERO,
            eligible_at: Instant::ZERO,
        };
        stand.states(NodeId(1), &Fact::Departed(&departure), at);
    }
}

#[test]
fn a_sender_is_within_its_rate() {
    // 1106 bytes at 50 Gb/s take 176.96 ns.
    let mut stand = stand(|_| {});
    let rate = Some(50e9);
    departs(&mut stand, &[(0, T), (1, T + 176_960), (2, T + 2 * 176_960 - 10)], rate, None);
    stand.finds(&[
        "host 1 at 1353.910ns: flow 0: a packet is sent before 1353.920ns, as soon as its rate \
         allows",
    ]);
}

#[test]
fn a_sender_is_within_its_window_and_message() {
    // Two packets of 1024 bytes; an acknowledgement releases one.
    let mut stand = stand(|_| {});
    let window = Some(2_048 + 1_023);
    departs(&mut stand, &[(0, T), (1, T)], None, window);
    let ack = Body::Ack { echo: Echo::default(), psn: 1, sent_at: Instant::ZERO };
    let ack = Packet { ingress: PortIx(0), class: Class(1), body: ack, ..packet(1, 0) };
    stand.sent((NodeId(1), PortIx(0)), &ack, Class(1), Instant(T), Some(Instant(T + HOP)));
    stand.0.findings = Findings::default();
    stand.0.arrives(NodeId(1), &ack, Instant(T + HOP));
    departs(&mut stand, &[(2, 2 * T)], None, window);
    stand.finds(&[]);
    departs(&mut stand, &[(3, 2 * T), (10, 3 * T)], None, window);
    stand.finds(&[
        "host 1 at 2000.000ns: flow 0: 3 packets are in flight, and its window is 2",
        "host 1 at 3000.000ns: flow 0: 10 packets are in flight, and its window is 2",
        "host 1 at 3000.000ns: flow 0: packet 10 is sent before packet 4",
        "host 1 at 3000.000ns: flow 0: packet 10 is sent, which its 10240 bytes do not have",
    ]);
}

#[test]
fn the_buffer_of_a_nic_has_its_size() {
    let mut stand = stand(|spec| spec.host.buffer = Some(Bytes(2_000)));
    departs(&mut stand, &[(0, T), (1, T)], None, None);
    stand.finds(&[
        "host 1 at 1000.000ns: port 0, queue 0: 2172 bytes wait in the NIC, which has room for 2000",
    ]);
}

#[test]
fn what_is_delivered_acknowledged_and_complete_has_arrived() {
    let mut stand = stand(|spec| spec.flows[0].bytes = 2 * 1_024);
    let mut deliver = |psn, answered, completes, delivered| {
        let (packet, answered) = (packet(1, psn), Some(answered));
        let delivery = Delivery {
            packet: &packet,
            sent_at: Some(Instant::ZERO),
            notified: false,
            answered,
            completes,
            delivered,
        };
        stand.states(NodeId(0), &Fact::Delivered(&delivery), T + u64::from(psn));
    };
    deliver(0, 1, false, 1_024);
    // A duplicate adds no bytes.
    deliver(0, 1, false, 2_048);
    deliver(0, 2, true, 1_024);
    deliver(1, 2, false, 2_048);
    stand.finds(&[
        "host 0 at 1000.000ns: flow 0: 2048 bytes count as delivered, and 1024 have arrived",
        "host 0 at 1000.000ns: flow 0: it is complete with 1024 of 2048 bytes, or again",
        "host 0 at 1000.000ns: flow 0: packets before 2 are acknowledged, and 1 is missing",
        "host 0 at 1000.001ns: flow 0: it is not complete although all 2048 bytes have arrived",
    ]);
}

#[test]
fn a_mark_is_answered_after_the_interval_and_not_before() {
    // DCQCN: 50 us between two notifications.
    let spec =
        congestion::dcqcn::Spec { cnp_interval: Duration::from_us(50), ..Default::default() };
    let congestion = congestion::Spec::Dcqcn(spec);
    let mut stand = stand(|spec| spec.profiles[0].congestion = congestion);
    let mut deliver = |psn: u32, ecn, notified, us: u64| {
        let (packet, delivered) = (marked(packet(1, psn), ecn), u64::from(psn + 1) * 1_024);
        let (answered, completes) = (None, false);
        let delivery = Delivery {
            packet: &packet,
            sent_at: Some(Instant::ZERO),
            notified,
            answered,
            completes,
            delivered,
        };
        stand.states(NodeId(0), &Fact::Delivered(&delivery), us * T);
    };
    deliver(0, Ecn::Ect0, false, 1);
    deliver(1, Ecn::Ce, true, 2);
    deliver(2, Ecn::Ce, false, 51);
    deliver(3, Ecn::Ce, true, 52);
    deliver(4, Ecn::Ce, true, 60);
    deliver(5, Ecn::Ce, false, 110);
    deliver(6, Ecn::Ect0, true, 200);
    stand.finds(&[
        "host 0 at 60000.000ns: flow 0: a packet is answered by a CNP; the last CNP was sent \
         52000.000ns",
        "host 0 at 110000.000ns: flow 0: a packet is not answered by a CNP; the last CNP was sent \
         60000.000ns",
        "host 0 at 200000.000ns: flow 0: a packet is answered by a CNP; the last CNP was sent \
         60000.000ns",
    ]);
}

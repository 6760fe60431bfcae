//! Sender and receiver connected by a network that reorders, trims and loses.

use floodway_model::{Body, Bytes, Duration, Ecn, FlowSpec, Instant, Packet, Rate};
use proptest::prelude::*;

use super::{Receiver, Sender, Spec};
use crate::host::congestion::{self, Path};
use crate::host::transport::Progress;
use crate::switch::aqm::stand::Stand;

fn flow(bytes: u64) -> FlowSpec {
    FlowSpec { bytes, ..crate::small::flow(0, 1, 1, 0) }
}

fn pair(bytes: u64, spec: &Spec) -> (Sender, Receiver) {
    let line_rate = congestion::Spec::LineRate(Default::default());
    let control = congestion::State::new(&line_rate, &Path::at(Rate::from_gbps(100)));
    (Sender::new(&flow(bytes), control, spec, 1), Receiver::new(&flow(bytes), spec))
}

fn at(us: u64) -> Instant {
    Instant(us * 1_000_000)
}

/// The next packet of the sender.
fn next(sender: &mut Sender, spec: &Spec, us: u64) -> Option<Packet> {
    let frame = sender.next_frame(spec, at(us))?;
    Some(Packet { bytes: frame.bytes, body: frame.body, ..Stand::packet(Ecn::Ect0) })
}

fn psn(packet: &Packet) -> u32 {
    let Body::Data { psn, .. } = packet.body else { panic!("it is data") };
    psn
}

/// Its acknowledgement, if it is acknowledged now, and whether it completes the message.
fn arrive(receiver: &mut Receiver, spec: &Spec, packet: &Packet) -> (Option<Body>, bool) {
    let Body::Data { echo, psn, .. } = packet.body else { panic!("it is data") };
    let arrived = receiver.on_data(spec, packet, psn);
    let ack = arrived.acknowledge.map(|_| receiver.acknowledgement(psn, echo, packet.ecn()));
    (ack, arrived.completes)
}

fn hear(sender: &mut Sender, body: &Body, us: u64) -> Progress {
    match *body {
        Body::UetAck { received, about, ack, bitmap } => {
            sender.on_ack((received, about), (ack, bitmap), at(us))
        }
        Body::TrimNak { echo, psn, sent_at } => sender.on_trimmed(echo, psn, sent_at),
        _ => panic!("it is no reply"),
    }
}

#[test]
fn four_full_packets_are_acknowledged_at_once() {
    let spec = Spec::default();
    let (mut sender, mut receiver) = pair(12 * 4_096, &spec);
    let packets: Vec<_> = (0..12).map(|n| next(&mut sender, &spec, n).unwrap()).collect();
    assert!(next(&mut sender, &spec, 12).is_none());
    let acks = packets.iter().map(|packet| arrive(&mut receiver, &spec, packet).0.is_some());
    // 4 · 4160 is the first multiple above 16,384.
    let acks: Vec<_> = acks.collect();
    assert_eq!(acks, [false, false, false, true].repeat(3));
}

#[test]
fn marks_and_requests_are_acknowledged_at_once() {
    let spec = Spec::default();
    let (mut sender, mut receiver) = pair(12 * 4_096, &spec);
    // With a window of two packets, each asks, because less than the trigger is in flight.
    sender.limit(Some(2 * 4_096), &spec);
    let first = next(&mut sender, &spec, 0).unwrap();
    assert!(arrive(&mut receiver, &spec, &first).0.is_some());
    // With a window of ten, only the tenth: there is no room for another.
    sender.limit(Some(10 * 4_096), &spec);
    let rest: Vec<_> = (1..10).map_while(|n| next(&mut sender, &spec, n)).collect();
    let asks = |packet: &Packet| match packet.body {
        Body::Data { echo, .. } => echo.entropy().unwrap().wants_ack,
        _ => false,
    };
    assert_eq!(
        rest.iter().map(asks).collect::<Vec<_>>(),
        [[false; 8].as_slice(), &[true]].concat()
    );
    let mut marked = rest[0];
    marked.mark();
    let (ack, _) = arrive(&mut receiver, &spec, &marked);
    let Some(Body::UetAck { about, .. }) = ack else { panic!("{ack:?}") };
    assert!(about.marked());
}

/// Packets 0 to 9; 0, 3 and 7 are late. The acknowledgement of the others says which have arrived.
#[test]
fn the_bitmap_says_what_has_arrived() {
    let spec = Spec { ack_trigger: Bytes(0), ..Spec::default() };
    let (mut sender, mut receiver) = pair(10 * 4_096, &spec);
    let packets: Vec<_> = (0..10).map(|n| next(&mut sender, &spec, n).unwrap()).collect();
    let mut last = None;
    for packet in packets.iter().filter(|packet| ![0, 3, 7].contains(&psn(packet))) {
        last = arrive(&mut receiver, &spec, packet).0;
    }
    let Some(Body::UetAck { received, ack, bitmap, .. }) = last else { panic!("{last:?}") };
    // Bit n is packet 1 + n: what is acknowledged cumulatively ends before packet 0.
    assert_eq!((received, ack, bitmap), (7, 0, 0b1_1011_1011));
    let progress = hear(&mut sender, &last.unwrap(), 30);
    assert_eq!((progress.delivered, progress.acknowledged, sender.in_flight()), (7, 0, 3));
    // Packet 9, which is answered, left at 9 us.
    assert_eq!(progress.rtt, Some(Duration::from_us(21)));
    // Holes are no losses.
    assert!(!sender.has_more());
    let (ack, _) = arrive(&mut receiver, &spec, &packets[0]);
    let progress = hear(&mut sender, &ack.unwrap(), 31);
    assert_eq!((progress.delivered, progress.acknowledged, sender.in_flight()), (1, 3, 2));
}

/// An acknowledgement that answers a packet far above the first hole does not name those in between, but
/// counts them.
#[test]
fn the_counter_knows_more_than_the_bitmap() {
    let spec = Spec { ack_trigger: Bytes(1 << 15), ..Spec::default() };
    let (mut sender, mut receiver) = pair(137 * 4_096, &spec);
    let packets: Vec<_> = (0..136).map(|n| next(&mut sender, &spec, n).unwrap()).collect();
    let mut last = None;
    for packet in &packets[1..] {
        last = arrive(&mut receiver, &spec, packet).0.or(last);
    }
    // Every eighth packet is acknowledged, up to packet 128, and the last bitmap begins with 65.
    let progress = hear(&mut sender, &last.unwrap(), 300);
    assert_eq!((progress.delivered, progress.acknowledged), (128, 0));
    assert_eq!((sender.held, sender.in_flight()), (64, 8));
    let (ack, _) = arrive(&mut receiver, &spec, &packets[0]);
    // It is the eighth since then.
    let progress = hear(&mut sender, &ack.unwrap(), 301);
    assert_eq!((progress.delivered, progress.acknowledged), (8, 136));
}

#[test]
fn a_trimmed_packet_is_sent_again_once() {
    let spec = Spec { ack_trigger: Bytes(0), ..Spec::default() };
    let (mut sender, mut receiver) = pair(3 * 4_096, &spec);
    let packets: Vec<_> = (0..3).map(|n| next(&mut sender, &spec, n).unwrap()).collect();
    let Body::Data { echo, psn: 1, sent_at } = packets[1].body else { panic!("another") };
    let nak = Body::TrimNak { echo, psn: 1, sent_at };
    hear(&mut sender, &nak, 10);
    assert_eq!((sender.in_flight(), sender.sent.retransmitted), (2, 0));
    let again = next(&mut sender, &spec, 11).unwrap();
    let Body::Data { echo, psn: 1, .. } = again.body else { panic!("another") };
    assert!(echo.entropy().is_some_and(|entropy| entropy.repeated && entropy.wants_ack));
    // A second reply about the first transmission says nothing new.
    hear(&mut sender, &nak, 12);
    assert!(next(&mut sender, &spec, 12).is_none());
    // The acknowledgement of the second transmission measures it.
    let (ack, _) = arrive(&mut receiver, &spec, &again);
    assert_eq!(hear(&mut sender, &ack.unwrap(), 20).rtt, Some(Duration::from_us(9)));
}

#[test]
fn the_timeout_of_a_packet_doubles_and_those_of_others_do_not() {
    let spec = Spec { retransmit_timeout: Duration::from_us(100), ..Spec::default() };
    let (mut sender, mut receiver) = pair(3 * 4_096, &spec);
    assert_eq!(sender.deadline(), Instant::NEVER);
    for us in [0, 10, 50] {
        next(&mut sender, &spec, us).unwrap();
    }
    assert_eq!(sender.deadline(), at(100));
    assert_eq!(sender.on_timer(at(100)), 1);
    // Its second transmission has 200 us; the other packets, which left before, still have 100 us.
    let again = next(&mut sender, &spec, 100).unwrap();
    assert_eq!((psn(&again), sender.in_flight()), (0, 3));
    assert_eq!(sender.deadline(), at(110));
    assert_eq!(sender.on_timer(at(110)), 1);
    assert_eq!(psn(&next(&mut sender, &spec, 110).unwrap()), 1);
    assert_eq!(sender.deadline(), at(150));
    assert_eq!(sender.on_timer(at(150)), 1);
    assert_eq!(sender.deadline(), at(300));
    // That the first arrives changes nothing for the second, nor does it lead to a time that is past.
    let (ack, _) = arrive(&mut receiver, &spec, &again);
    hear(&mut sender, &ack.unwrap(), 290);
    assert_eq!(sender.deadline(), at(310));
    assert_eq!((sender.on_timer(at(310)), sender.sent.timeouts), (1, 4));
    assert_eq!(psn(&next(&mut sender, &spec, 310).unwrap()), 1);
    // It has timed out twice: 400 us. The third packet was not sent again until now, and has 200 us.
    assert_eq!(psn(&next(&mut sender, &spec, 320).unwrap()), 2);
    assert_eq!(sender.deadline(), at(520));
    assert_eq!((sender.on_timer(at(520)), sender.deadline()), (1, at(710)));
}

#[test]
fn no_more_than_the_range_of_the_receiver_is_sent() {
    let spec = Spec { psn_range: 5, ..Spec::default() };
    let (mut sender, mut receiver) = pair(20 * 4_096, &spec);
    let packets: Vec<_> = (0..9).map_while(|n| next(&mut sender, &spec, n)).collect();
    assert_eq!(packets.len(), 5);
    // All but the first arrive: nothing more may be sent.
    for packet in &packets[1..] {
        if let (Some(ack), _) = arrive(&mut receiver, &spec, packet) {
            hear(&mut sender, &ack, 20);
        }
    }
    assert!(sender.in_flight() < 5 && next(&mut sender, &spec, 21).is_none());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is reordered, trimmed or lost, the message is complete once, with every byte, and the
    /// sender learns it.
    #[test]
    fn every_message_arrives(
        bytes in 1..400_000_u64,
        window in 1..80_u64,
        trigger in prop_oneof![Just(0), Just(16_384)],
        fates in prop::collection::vec((any::<prop::sample::Index>(), 0..10_u8, 0..10_u8), 400..600),
    ) {
        let timeout = Duration::from_us(50);
        let spec = Spec { ack_trigger: Bytes(trigger), retransmit_timeout: timeout, ..Spec::default() };
        let (mut sender, mut receiver) = pair(bytes, &spec);
        sender.limit(Some(window * 4_096), &spec);
        let (mut wire, mut completed, mut us) = (Vec::new(), 0, 0);
        // After the given fates everything arrives, in any order.
        let lasting = (0..20_000).map(|n| (fates[n % fates.len()].0, 9, 9));
        for (place, data_fate, reply_fate) in fates.iter().copied().chain(lasting) {
            if sender.is_done() {
                break;
            }
            us += 1;
            while let Some(packet) = next(&mut sender, &spec, us) {
                wire.push(packet);
                prop_assert!(u64::from(sender.in_flight()) <= window);
            }
            if wire.is_empty() {
                us += 2_000;
                sender.on_timer(at(us));
                continue;
            }
            let packet = wire.swap_remove(place.index(wire.len()));
            let Body::Data { echo, psn, sent_at } = packet.body else { panic!("it is data") };
            let reply = match data_fate {
                0 => None,
                1 | 2 if receiver.has(psn) => Some(receiver.acknowledgement(psn, echo, Ecn::Ect0)),
                1 | 2 => Some(Body::TrimNak { echo, psn, sent_at }),
                _ => {
                    let (reply, completes) = arrive(&mut receiver, &spec, &packet);
                    completed += u32::from(completes);
                    reply
                }
            };
            if let Some(reply) = reply.filter(|_| reply_fate > 1) {
                hear(&mut sender, &reply, us);
            }
        }
        prop_assert!(sender.is_done());
        prop_assert_eq!((completed, receiver.delivered()), (1, bytes));
        prop_assert_eq!(sender.in_flight(), 0);
    }
}

/// Three packets have arrived, too few for an acknowledgement, when the window shrinks to one: nothing could go on before
/// they time out. After a round trip, 10 us, the sender requests an acknowledgement; the next one would come after 20 us more.
#[test]
fn a_blocked_sender_requests_an_acknowledgement() {
    let spec = Spec::default();
    let (mut sender, mut receiver) = pair(12 * 4_096, &spec);
    sender.requests.begin(Duration::from_us(10));
    for n in 0..3 {
        let packet = next(&mut sender, &spec, n).unwrap();
        assert_eq!(arrive(&mut receiver, &spec, &packet).0, None);
        sender.schedule_request(&spec, at(n));
    }
    assert_eq!(sender.requests.due, Instant::NEVER);
    sender.limit(Some(4_096), &spec);
    sender.schedule_request(&spec, at(5));
    assert_eq!((sender.has_more(), sender.requests.due), (false, at(15)));
    sender.schedule_request(&spec, at(14));
    assert_eq!((sender.requests.due, sender.requests.is_due), (at(15), false));
    sender.schedule_request(&spec, at(15));
    assert_eq!((sender.requests.due, sender.requests.is_due), (Instant::NEVER, true));
    sender.requests.is_due = false;
    sender.schedule_request(&spec, at(15));
    assert_eq!(sender.requests.due, at(35));
    // The answer names no packet, and measures no round-trip time.
    let progress = hear(&mut sender, &receiver.on_request(), 18);
    assert_eq!((progress.delivered, progress.acknowledged, progress.rtt), (3, 3, None));
    sender.schedule_request(&spec, at(18));
    assert_eq!((sender.has_more(), sender.requests.due), (true, Instant::NEVER));
    // A packet that asks for an acknowledgement is answered by itself.
    assert!(next(&mut sender, &spec, 18).is_some());
    sender.requests.on_packet(true);
    sender.schedule_request(&spec, at(18));
    assert_eq!((sender.has_more(), sender.requests.due), (false, Instant::NEVER));
}

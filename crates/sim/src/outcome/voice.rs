//! The tables of calls: what is played of them, and how they are rated.
//!
//! Receivers hold packets to even out their delays. Real jitter buffers differ; this one is as simple as possible and
//! our own (assumed): it remembers the packets that arrived within the last [`MEMORY`]. A packet is played as long after it
//! was sent as the slowest of these took, and at least `jitter_buffer` after what the fastest took. A packet that takes
//! longer than that is late, and is not played.

use std::collections::VecDeque;
use std::ops::Range;

use floodway_model::table::Table;
use floodway_model::tables::{voice, voice_packets};
use floodway_model::{Duration, Instant, Voice, emodel};

use super::{FlowFacts, nanoseconds};
use crate::Spec;
use crate::observe::voice::{Calls, Heard};

/// For how long a jitter buffer remembers packets: the order of a talkspurt, which has a mean of 1.004 s in
/// ITU-T P.59.
const MEMORY: Duration = Duration::from_ms(1_000);

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Fate {
    /// When it was sent, or due.
    sent: Instant,
    /// Its delay, if it arrived.
    delay: Option<Duration>,
    /// From sending to playing, if it was played.
    playout: Option<Duration>,
}

/// The packets of all calls, and the calls, in order of workload, call, direction and packet. Calls are rated over the
/// packets that were sent within `measured`.
pub(super) fn tables(
    spec: &Spec,
    facts: &FlowFacts,
    calls: Option<&Calls>,
    measured: &Range<Instant>,
) -> (Table, Table) {
    let (mut packets, mut rows) = (Vec::new(), Vec::new());
    for operation in spec.operations.iter() {
        let (Some(voice), Some(calls)) = (&operation.voice, calls) else { continue };
        for (flow, direction) in operation.flows.iter().zip(["up", "down"]) {
            let of = spec.flows.at(flow.index());
            let heard = calls.flows.get(flow).map_or(&[][..], Vec::as_slice);
            let sent = facts.sent(flow.index()).packets;
            let fates = fates(voice, of.start, sent, heard);
            let (workload, call) = (u64::from(of.workload), u64::from(operation.number));
            let time = |time: Option<Duration>| time.map_or(f64::NAN, Duration::as_ns);
            packets.extend((0..).zip(&fates).map(|(packet, fate)| voice_packets::Row {
                workload,
                call,
                flow: flow.0.into(),
                packet,
                sent_ns: nanoseconds(fate.sent),
                delay_ns: time(fate.delay),
                playout_ns: time(fate.playout),
                measured: measured.contains(&fate.sent).into(),
            }));
            let sum = Sum::of(voice, fates.iter().filter(|fate| measured.contains(&fate.sent)));
            rows.push(voice::Row {
                workload,
                call,
                direction: direction.to_owned(),
                src: of.src.0.into(),
                dst: of.dst.0.into(),
                packets: sum.packets,
                lost: sum.lost,
                late: sum.late,
                burst_ratio: sum.burst_ratio,
                mean_delay_ns: sum.mean_delay_ns,
                p99_delay_ns: sum.p99_delay_ns,
                mouth_to_ear_ns: time(sum.mouth_to_ear),
                rating: sum.rating,
                mos: if sum.rating.is_nan() { f64::NAN } else { emodel::mos(sum.rating) },
            });
        }
    }
    (packets.into_iter().collect(), rows.into_iter().collect())
}

/// What became of each of so many packets, the first of which was sent at `start`.
fn fates(voice: &Voice, start: Instant, packets: u64, heard: &[Heard]) -> Vec<Fate> {
    let due = |number| start + Duration(voice.interval.0 * number);
    let mut fates: Vec<Fate> =
        (0..packets).map(|number| Fate { sent: due(number), delay: None, playout: None }).collect();
    let (mut fastest, mut slowest) = (Memory::default(), Memory::default());
    for packet in heard {
        let delay = packet.arrived - packet.sent;
        let most = slowest.first(packet.arrived).unwrap_or_default();
        fastest.remember(packet.arrived, delay, |other| other >= delay);
        slowest.remember(packet.arrived, delay, |other| other <= delay);
        let least = fastest.first(packet.arrived).unwrap_or_default();
        let playout = most.max(least + voice.jitter_buffer);
        let playout = Some(playout).filter(|playout| delay <= *playout);
        if let Some(fate) = fates.get_mut(packet.number as usize) {
            *fate = Fate { sent: packet.sent, delay: Some(delay), playout };
        }
    }
    fates
}

/// Delays of packets by when they arrived, without those that later ones outdo: the first one is the extreme of all.
#[derive(Debug, Default)]
struct Memory(VecDeque<(Instant, Duration)>);

impl Memory {
    /// The extreme of the packets that arrived within [`MEMORY`] before now.
    fn first(&mut self, now: Instant) -> Option<Duration> {
        while self.0.front().is_some_and(|(arrived, _)| *arrived + MEMORY < now) {
            self.0.pop_front();
        }
        self.0.front().map(|(_, delay)| *delay)
    }

    /// Adds a packet that has just arrived, and forgets those that it outdoes.
    fn remember(&mut self, arrived: Instant, delay: Duration, outdone: impl Fn(Duration) -> bool) {
        while self.0.back().is_some_and(|(_, other)| outdone(*other)) {
            self.0.pop_back();
        }
        self.0.push_back((arrived, delay));
    }
}

/// A direction of a call.
#[derive(Debug, PartialEq)]
struct Sum {
    packets: u64,
    lost: u64,
    late: u64,
    burst_ratio: f64,
    mean_delay_ns: f64,
    p99_delay_ns: f64,
    mouth_to_ear: Option<Duration>,
    rating: f64,
}

impl Sum {
    fn of<'a>(voice: &Voice, fates: impl Iterator<Item = &'a Fate> + Clone) -> Self {
        let packets = fates.clone().count() as u64;
        let mut delays: Vec<Duration> = fates.clone().filter_map(|fate| fate.delay).collect();
        delays.sort_unstable();
        let arrived = delays.len() as u64;
        let played: Vec<Duration> = fates.clone().filter_map(|fate| fate.playout).collect();
        let missing = packets - played.len() as u64;
        let (mut bursts, mut in_burst) = (0_u64, false);
        for fate in fates {
            bursts += u64::from(fate.playout.is_none() && !in_burst);
            in_burst = fate.playout.is_none();
        }
        let share = missing as f64 / packets as f64;
        // Random losses follow each other for 1 / (1 - share) packets on average.
        let length = missing as f64 / bursts as f64 * (1.0 - share);
        let burst_ratio = if length > 1.0 { length } else { 1.0 };
        let mouth_to_ear = mean(&played).map(|playout| playout + voice.codec_delay);
        let rating = match mouth_to_ear {
            _ if packets == 0 => f64::NAN,
            None => 0.0,
            Some(delay) => {
                emodel::rating(delay, share, burst_ratio, voice.impairment, voice.robustness)
            }
        };
        // The smallest delay that 99 % do not exceed.
        let p99 = delays.get((arrived * 99).div_ceil(100).saturating_sub(1) as usize);
        Self {
            packets,
            lost: packets - arrived,
            late: arrived - played.len() as u64,
            burst_ratio,
            mean_delay_ns: mean(&delays).map_or(f64::NAN, Duration::as_ns),
            p99_delay_ns: p99.map_or(f64::NAN, |delay| delay.as_ns()),
            mouth_to_ear,
            rating,
        }
    }
}

fn mean(times: &[Duration]) -> Option<Duration> {
    let sum: u128 = times.iter().map(|time| u128::from(time.0)).sum();
    (!times.is_empty()).then(|| Duration((sum / times.len() as u128) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    const VOICE: Voice = Voice {
        interval: Duration::from_ms(20),
        codec_delay: Duration::from_ms(20),
        jitter_buffer: Duration::from_ms(60),
        impairment: 0.0,
        robustness: 25.1,
    };

    /// Packets with these delays in milliseconds, `None` for a lost one.
    fn fates_of(delays: &[Option<u64>]) -> Vec<Fate> {
        let at = |number: usize| Instant::ZERO + Duration::from_ms(20 * number as u64);
        let mut heard: Vec<Heard> = (0..)
            .zip(delays)
            .filter_map(|(number, delay)| {
                let sent = at(number as usize);
                let arrived = sent + Duration::from_ms((*delay)?);
                Some(Heard { number, sent, arrived })
            })
            .collect();
        heard.sort_by_key(|packet| packet.arrived);
        fates(&VOICE, Instant::ZERO, delays.len() as u64, &heard)
    }

    fn playouts(delays: &[Option<u64>]) -> Vec<Option<u64>> {
        let ms = |fate: Fate| fate.playout.map(|playout| playout.0 / Duration::from_ms(1).0);
        fates_of(delays).into_iter().map(ms).collect()
    }

    #[test]
    fn the_buffer_and_the_slowest_packet_before_decide_what_is_late() {
        // The first packet is played 60 ms after it came. One with 70 ms is just in time, one with 71 ms is not. It
        // arrives before the seventh, from which on packets are played after 71 ms, although that takes only 5 ms.
        let delays =
            [Some(10), Some(70), Some(71), None, Some(10), Some(10), Some(5), Some(71), Some(72)];
        let expected =
            [Some(70), Some(70), None, None, Some(70), Some(70), Some(71), Some(71), None];
        assert_eq!(playouts(&delays), expected);
    }

    #[test]
    fn the_buffer_follows_a_slower_path() {
        // From 1 s on every packet takes 100 ms instead of 10. The first of these is late, and the buffer knows it from
        // then on. It forgets the last fast one, which arrives at 0.99 s, after a second: at the packet of 1.9 s.
        let slow = |number: u64| if number < 50 { 10 } else { 100 };
        let delays: Vec<_> = (0..100).map(|number| Some(slow(number))).collect();
        let played = playouts(&delays);
        assert_eq!(played.iter().filter(|playout| playout.is_none()).count(), 1);
        assert_eq!((played[49], played[50], played[51]), (Some(70), None, Some(100)));
        assert_eq!((played[94], played[95]), (Some(100), Some(160)));
    }

    #[test]
    fn the_buffer_forgets_a_slow_packet_after_a_second() {
        // The packet of 0.2 s arrives at 0.4 s. That of 1.4 s, which arrives at 1.41 s, is the first that does not know it.
        let mut delays = vec![Some(10); 100];
        delays[10] = Some(200);
        let played = playouts(&delays);
        assert_eq!(
            (played[10], played[20], played[69], played[70]),
            (None, Some(200), Some(200), Some(70))
        );
    }

    #[test]
    fn a_call_by_hand() {
        // 100 packets of 20 ms each way: two are lost one after the other, and the last is late.
        let mut delays = vec![Some(20); 100];
        (delays[10], delays[11], delays[99]) = (None, None, Some(90));
        let sum = Sum::of(&VOICE, fates_of(&delays).iter());
        assert_eq!((sum.packets, sum.lost, sum.late), (100, 2, 1));
        // Three in two series, 1.5 each, where random losses of 3 % have 1 / 0.97.
        assert!((sum.burst_ratio - 1.5 * 0.97).abs() < 1e-12);
        // 97 of 20 ms and one of 90: the 98th of 98 is 90.
        assert!((sum.mean_delay_ns - (97.0 * 20e6 + 90e6) / 98.0).abs() < 0.001);
        assert_eq!(sum.p99_delay_ns, 90e6);
        // Delay, buffer and codec: 20 + 60 + 20 ms. Talker and listener echo take 2.69; loss takes
        // 95 x 3 / (3 / 1.455 + 25.1) = 10.49: R = 93.36 - 2.69 - 10.49.
        assert_eq!(sum.mouth_to_ear, Some(Duration::from_ms(100)));
        assert!((sum.rating - 80.17).abs() < 0.01, "{}", sum.rating);
    }

    #[test]
    fn a_call_of_which_nothing_arrives() {
        let sum = Sum::of(&VOICE, fates_of(&[None; 5]).iter());
        assert_eq!((sum.lost, sum.rating, sum.mouth_to_ear), (5, 0.0, None));
        assert!(Sum::of(&VOICE, [].iter()).rating.is_nan());
    }
}

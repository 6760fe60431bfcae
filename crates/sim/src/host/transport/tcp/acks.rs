//! Processing of acknowledgements in the sender.

use floodway_model::{Duration, Instant};

use super::scoreboard::Record;
use super::sender::Sender;
use super::{Acknowledgement, Rules};
use crate::host::congestion::{Ack, Control};

/// Segments that an acknowledgement newly reports as arrived.
#[derive(Debug, Default)]
struct News {
    delivered: u32,
    /// The most recently sent of them.
    newest: Option<(u32, Record)>,
    /// First and last transmission time among those that were sent once.
    first_once: Option<Instant>,
    last_once: Option<Instant>,
    /// Whether one of them was sent once, and before `recover_at`.
    original: bool,
}

impl News {
    #[inline]
    fn add(&mut self, psn: u32, record: &Record, recover_at: u32) {
        self.delivered += 1;
        if self.newest.as_ref().is_none_or(|(p, r)| (r.sent_at, *p) < (record.sent_at, psn)) {
            self.newest = Some((psn, *record));
        }
        if !record.repeated {
            self.first_once = self.first_once.or(Some(record.sent_at));
            self.last_once = self.last_once.max(Some(record.sent_at));
            self.original |= psn < recover_at;
        }
    }
}

impl<C: Control> Sender<C> {
    /// Processes an acknowledgement. Afterwards there may be something to send, or the sender may
    /// be done.
    pub fn on_ack(&mut self, rules: Rules<C>, ack: &Acknowledgement, now: Instant) {
        if !self.handshake.is_established() || ack.ack > self.board.next() {
            return;
        }
        self.unsent.end_by(now);
        self.check_application();
        let prior_in_flight = self.board.in_flight();
        let prior_una = self.board.una();
        let news = self.learn(ack, now);
        let acked = self.board.una() - prior_una;
        let rtt = self.measure(rules, &news, now);
        let marks = self.signals.marks(ack, news.delivered);
        self.sent.marked += u64::from(marks.count);
        self.rates.on_delivered(news.delivered, marks.count, now);
        if ack.flags.duplicate() {
            self.on_duplicate(rules, now);
        }
        self.settle_probe(rules, ack, news.delivered == 0, now);
        self.doubt_timeout(rules, news.original, acked > 0, now);
        self.leave_phase(rules, now);
        let lost = self.find_new_losses(rules, now);
        self.enter_phase(rules, marks.any, lost, now);
        self.follow_reduction(rules, news.delivered, acked > 0 && lost == 0, now);
        let newest = news.newest.as_ref().map(|(_, record)| record);
        let slow_start = self.control.in_slow_start(rules.congestion);
        let event = Ack {
            now,
            acked,
            delivered: news.delivered,
            marked: marks.count,
            rtt,
            smoothed_rtt: self.trips.smoothed,
            min_rtt: self.trips.min,
            prior_in_flight,
            in_flight: self.board.in_flight(),
            lost,
            phase: self.phase,
            window_limited: self.usage.is_limited(self.window, slow_start),
            round_begins: newest.is_some_and(|record| self.rates.begins_round(record)),
            rate: newest.and_then(|record| self.rates.sample(record, self.trips.min)),
        };
        self.control.on_ack(rules.congestion, &event);
        self.renew_window(rules, now);
        if news.delivered > 0 || acked > 0 {
            self.set_timers_after_ack(rules, acked > 0, now);
        }
    }

    /// Records which segments have arrived.
    #[inline]
    fn learn(&mut self, ack: &Acknowledgement, now: Instant) -> News {
        let mut news = News::default();
        let (rack, min_rtt, until) = (&mut self.rack, self.trips.min, self.episode.recover_at);
        let dup_acks = &mut self.dup_acks;
        // It is unknown whether a later or an earlier copy of one of them has arrived, or how long
        // a segment that had been held behind it took. For the first one, if it was sent once,
        // timestamps would give the time until its acknowledgement (RFC 7323, section 4.3). Without
        // this, a sender that retransmits too early because acknowledgements are late would never
        // learn it.
        let mut repeated = false;
        let first = self.board.get(self.board.una()).filter(|record| !record.repeated);
        let first = first.map(|record| record.sent_at);
        self.board.acknowledge(ack.ack, |psn, record| {
            news.add(psn, record, until);
            rack.on_arrived(psn, record, min_rtt, now);
            repeated |= record.repeated;
        });
        if repeated {
            (news.first_once, news.last_once) = (first, None);
        }
        let [first, second] = ack.sack;
        // In order of sequence numbers, so that the blocks of one acknowledgement are not mistaken
        // for reordering.
        let blocks = if first.from <= second.from { [first, second] } else { [second, first] };
        for block in blocks.into_iter().filter(|block| block.count > 0) {
            let from = ack.ack + u32::from(block.from);
            self.board.sack(from, from + u32::from(block.count), |psn, record| {
                news.add(psn, record, until);
                dup_acks.on_sacked(psn);
                rack.on_arrived(psn, record, min_rtt, now);
            });
        }
        news
    }

    /// Records the round-trip times, and returns the one of the network.
    #[inline]
    fn measure(&mut self, rules: Rules<C>, news: &News, now: Instant) -> Option<Duration> {
        self.trips.on_oldest(rules.tcp, now.since(news.first_once?));
        let latest = now.since(news.last_once?);
        self.trips.on_latest(latest);
        Some(latest)
    }
}

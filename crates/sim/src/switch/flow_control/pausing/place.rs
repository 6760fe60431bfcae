//! Pauses by the place where packets are queued. When a place (a queue, a port) exceeds XOFF, every
//! source with a packet in it is paused, and so is every further source that adds to it, until the
//! place has fallen to XON. A source that several places hold paused is resumed when the last of
//! them releases it.

use floodway_model::id::CLASSES;

use super::{Order, Source, Thresholds};

/// Which places hold which sources paused.
#[derive(Debug)]
pub struct Meter {
    /// By place: above XOFF and not yet down to XON.
    over: Vec<bool>,
    /// By place: the sources that it holds paused; empty unless the place is over.
    holds: Vec<Vec<Source>>,
    /// By source: the number of places that hold it.
    holders: Vec<u16>,
}

impl Meter {
    /// Initial state for a switch with this many ports and places.
    pub fn new(ports: usize, places: usize) -> Self {
        Self {
            over: vec![false; places],
            holds: vec![Vec::new(); places],
            holders: vec![0; ports * CLASSES],
        }
    }

    /// A packet of `source` (`None`: one that is never paused) has joined `place`, which now has
    /// `backlog` bytes. `waiting` returns the sources of all packets in it that may be paused; it
    /// is only called when the place exceeds XOFF.
    #[inline]
    pub fn on_enqueue<Waiting: Iterator<Item = Source>>(
        &mut self,
        thresholds: Thresholds,
        (place, backlog): (usize, u64),
        source: Option<Source>,
        waiting: impl FnOnce() -> Waiting,
        orders: &mut Vec<Order>,
    ) {
        if self.over[place] {
            if let Some(source) = source {
                self.hold(place, source, orders);
            }
        } else if backlog > thresholds.xoff.0 {
            self.over[place] = true;
            // This is rare enough to scan all packets; per-source counters would cost more.
            for source in waiting() {
                self.hold(place, source, orders);
            }
        }
    }

    fn hold(&mut self, place: usize, source: Source, orders: &mut Vec<Order>) {
        if self.holds[place].contains(&source) {
            return;
        }
        self.holds[place].push(source);
        let holders = &mut self.holders[source.index()];
        *holders += 1;
        if *holders == 1 {
            orders.push(Order::Pause(source));
        }
    }

    /// Whether a place has exceeded XOFF and not yet fallen to XON.
    #[inline]
    pub fn is_over(&self, place: usize) -> bool {
        self.over[place]
    }

    /// The places that hold `source`.
    pub fn holding(&self, source: Source) -> Vec<usize> {
        (0..self.holds.len()).filter(|&place| self.holds[place].contains(&source)).collect()
    }

    /// A packet has left `place`, which now has `backlog` bytes.
    #[inline]
    pub fn on_dequeue(
        &mut self,
        thresholds: Thresholds,
        (place, backlog): (usize, u64),
        orders: &mut Vec<Order>,
    ) {
        if !self.over[place] || backlog > thresholds.xon.0 {
            return;
        }
        self.over[place] = false;
        for source in self.holds[place].drain(..) {
            let holders = &mut self.holders[source.index()];
            *holders -= 1;
            if *holders == 0 {
                orders.push(Order::Resume(source));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::Bytes;

    const THRESHOLDS: Thresholds = Thresholds { xoff: Bytes(3_000), xon: Bytes(500) };

    /// Test bench: places with a meter, as in a switch, with packets by source and bytes.
    struct Bench {
        meter: Meter,
        places: [Vec<(Source, u64)>; 4],
    }

    impl Bench {
        fn backlog(&self, place: usize) -> u64 {
            self.places[place].iter().map(|(_, bytes)| bytes).sum()
        }

        fn join(&mut self, source: Source, place: usize, bytes: u64) -> Vec<Order> {
            self.places[place].push((source, bytes));
            let at = (place, self.backlog(place));
            let waiting = || self.places[place].iter().map(|(source, _)| *source);
            let mut orders = Vec::new();
            self.meter.on_enqueue(THRESHOLDS, at, Some(source), waiting, &mut orders);
            orders
        }

        fn leave(&mut self, place: usize) -> Vec<Order> {
            self.places[place].remove(0);
            let mut orders = Vec::new();
            self.meter.on_dequeue(THRESHOLDS, (place, self.backlog(place)), &mut orders);
            orders
        }
    }

    #[test]
    fn contributors_are_paused_until_the_last_place_lets_go() {
        let mut bench = Bench { meter: Meter::new(4, 4), places: Default::default() };
        let (first, second, third) = (Source::new(1, 0), Source::new(2, 1), Source::new(3, 0));
        assert_eq!(bench.join(first, 0, 2_000), []);
        // The second source pushes place 0 over XOFF: both have a packet in it.
        assert_eq!(bench.join(second, 0, 2_000), [Order::Pause(first), Order::Pause(second)]);
        // Another place holds the first source too: no further order.
        assert_eq!(bench.join(first, 3, 4_000), []);
        // A new source adds to a place that is over: paused at once.
        assert_eq!(bench.join(third, 0, 100), [Order::Pause(third)]);
        // Place 0 drains: the first source is still held by the other place.
        assert_eq!(bench.leave(0), []);
        assert_eq!(bench.leave(0), [Order::Resume(second), Order::Resume(third)]);
        assert_eq!(bench.leave(3), [Order::Resume(first)]);
    }
}

//! PFC by the ingress accounting of a shared buffer: the occupancy of each (port, class) is
//! compared with the current dynamic threshold. The threshold depends on the occupancy of all
//! others, but the comparison is made only when a packet of the same (port, class) arrives or
//! leaves, as in switch chips.

use floodway_model::id::CLASSES;

use super::{Order, Source, Spec};
use crate::switch::buffer::Share;

#[derive(Debug)]
pub(super) struct Meter {
    paused: Vec<bool>,
}

impl Meter {
    pub fn new(ports: usize) -> Self {
        Self { paused: vec![false; ports * CLASSES] }
    }

    #[inline]
    pub fn on_enqueue(&mut self, source: Source, share: Share, orders: &mut Vec<Order>) {
        let over = share.in_headroom > 0 || share.held as f64 > share.threshold;
        if over && !self.paused[source.index()] {
            self.paused[source.index()] = true;
            orders.push(Order::Pause(source));
        }
    }

    #[inline]
    pub fn on_dequeue(
        &mut self,
        spec: &Spec,
        source: Source,
        share: Share,
        orders: &mut Vec<Order>,
    ) {
        if !self.paused[source.index()] || share.in_headroom > 0 {
            return;
        }
        // A source that holds nothing is resumed, however low the threshold: none of its packets
        // can leave any more, so no later comparison would resume it.
        let xon = f64::max(share.threshold - spec.xon_offset.0 as f64, 0.0);
        if share.held as f64 <= xon {
            self.paused[source.index()] = false;
            orders.push(Order::Resume(source));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::Bytes;

    const SOURCE: usize = 3;

    fn share(held: u64, in_headroom: u64, threshold: f64) -> Share {
        Share { held, in_headroom, threshold }
    }

    #[test]
    fn pauses_above_the_threshold_and_resumes_an_offset_below_it() {
        let spec = Spec { xon_offset: Bytes(3_000), ..Spec::default() };
        let source = Source::new(SOURCE, 1);
        let (mut meter, mut orders) = (Meter::new(4), Vec::new());
        meter.on_enqueue(source, share(10_000, 0, 10_000.0), &mut orders);
        assert_eq!(orders, []);
        meter.on_enqueue(source, share(10_001, 0, 10_000.0), &mut orders);
        meter.on_enqueue(source, share(11_001, 1_000, 10_000.0), &mut orders);
        assert_eq!(orders, [Order::Pause(source)]);
        for stays in [share(7_001, 0, 10_000.0), share(7_000, 1, 10_000.0)] {
            meter.on_dequeue(&spec, source, stays, &mut orders);
        }
        assert_eq!(orders, [Order::Pause(source)]);
        meter.on_dequeue(&spec, source, share(7_000, 0, 10_000.0), &mut orders);
        meter.on_dequeue(&spec, source, share(6_000, 0, 10_000.0), &mut orders);
        assert_eq!(orders, [Order::Pause(source), Order::Resume(source)]);
    }

    #[test]
    fn a_frame_in_the_headroom_pauses_below_the_threshold_too() {
        // The pool had no room for the packet.
        let source = Source::new(SOURCE, 0);
        let (mut meter, mut orders) = (Meter::new(4), Vec::new());
        meter.on_enqueue(source, share(1_000, 1_000, 5_000.0), &mut orders);
        assert_eq!(orders, [Order::Pause(source)]);
    }

    #[test]
    fn whoever_holds_nothing_goes_on() {
        let (spec, source) = (Spec::default(), Source::new(SOURCE, 0));
        let (mut meter, mut orders) = (Meter::new(4), Vec::new());
        meter.on_enqueue(source, share(1_000, 0, 10.0), &mut orders);
        meter.on_dequeue(&spec, source, share(1, 0, 10.0), &mut orders);
        assert_eq!(orders, [Order::Pause(source)]);
        meter.on_dequeue(&spec, source, share(0, 0, 10.0), &mut orders);
        assert_eq!(orders, [Order::Pause(source), Order::Resume(source)]);
    }
}

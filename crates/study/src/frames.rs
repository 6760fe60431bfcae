//! How old the frames of interactive applications were when they had arrived.

use floodway_model::Table;
use floodway_model::tables::frames;

use crate::histogram::Histogram;

/// One frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// When it was made, in nanoseconds.
    pub made_ns: f64,
    /// Its payload.
    pub bytes: u64,
    /// From its making to the arrival of all of it, in nanoseconds; infinite if it had not arrived
    /// when the run ended.
    pub latency_ns: f64,
}

/// The frames of a run (table `frames`), in no order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frames {
    frames: Vec<Frame>,
}

impl Frames {
    /// From the tables of a run; none without the table.
    pub fn of(tables: &[Table]) -> Self {
        let Some(table) = frames::View::of(tables) else { return Self::default() };
        let (made, arrived) = (table.made_ns, table.arrived_ns);
        let frame = |(at, bytes): (usize, &u64)| {
            let latency = Some(arrived[at] - made[at]).filter(|time| time.is_finite());
            let latency_ns = latency.unwrap_or(f64::INFINITY);
            Frame { made_ns: made[at], bytes: *bytes, latency_ns }
        };
        Self { frames: table.bytes.iter().enumerate().map(frame).collect() }
    }

    /// Those that were made from one time to another, both in nanoseconds.
    pub fn made(&self, from_ns: f64, to_ns: f64) -> Self {
        let made = self.frames.iter().filter(|frame| (from_ns..to_ns).contains(&frame.made_ns));
        Self { frames: made.copied().collect() }
    }

    /// How many.
    pub fn count(&self) -> usize {
        self.frames.len()
    }

    /// Their payload, in bytes.
    pub fn bytes(&self) -> u64 {
        self.frames.iter().map(|frame| frame.bytes).sum()
    }

    /// Their latencies in ascending order.
    fn latencies(&self) -> Vec<f64> {
        let mut latencies: Vec<f64> = self.frames.iter().map(|frame| frame.latency_ns).collect();
        latencies.sort_by(f64::total_cmp);
        latencies
    }

    /// The least latency that a share `p` of the frames does not exceed, in nanoseconds; NaN of none.
    pub fn latency(&self, p: f64) -> f64 {
        let rank = libm::ceil(p * self.frames.len() as f64) as usize;
        self.latencies().get(rank.max(1) - 1).copied().unwrap_or(f64::NAN)
    }

    /// The distribution of their latencies.
    pub fn histogram(&self) -> Histogram {
        let latencies = self.latencies();
        let arrived = latencies.partition_point(|latency| latency.is_finite());
        Histogram::of_sorted(&latencies[..arrived], (latencies.len() - arrived) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::tables::complete;

    #[test]
    fn latencies_are_from_making_to_arrival() {
        let table = complete(
            Table::new("frames", "")
                .u64("flow", "", vec![2; 4])
                .f64("made_ns", "", vec![0.0, 20.0, 40.0, 60.0])
                .u64("bytes", "", vec![100, 200, 300, 400])
                .f64("arrived_ns", "", vec![5.0, 28.0, 47.0, f64::NAN]),
        );
        let all = Frames::of(&[table]);
        assert_eq!((all.count(), all.bytes()), (4, 1_000));
        // 5, 7, 8, never.
        assert_eq!(
            (all.latency(0.0), all.latency(0.5), all.latency(1.0)),
            (5.0, 7.0, f64::INFINITY)
        );
        let some = all.made(20.0, 60.0);
        assert_eq!((some.count(), some.latency(0.5)), (2, 7.0));
        assert_eq!(all.histogram().count(), 4);
        assert!(Frames::default().latency(0.5).is_nan());
    }
}

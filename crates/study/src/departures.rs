//! How long queues were, and how long packets had waited, when packets left them.

use std::collections::BTreeMap;

use floodway_model::Table;
use floodway_model::tables::departures;
use floodway_report::statistics::Scale;

/// A data queue of a switch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The name of the switch.
    pub node: String,
    /// The port of the switch.
    pub port: u64,
    /// The queue of the port.
    pub queue: u64,
}

/// What is counted at every departure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Packets in the queue, the one that leaves included.
    Packets,
    /// Nanoseconds from joining the queue to the begin of the transmission.
    Sojourn,
}

/// What packets found that left the data queues of a run (table `departures`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Departures {
    /// By queue: the packets in it, and the times in it.
    queues: BTreeMap<Place, [Counts; 2]>,
}

impl Departures {
    /// From the tables of a run; none without the table.
    pub fn of(tables: &[Table]) -> Self {
        let Some(table) = departures::View::of(tables) else { return Self::default() };
        let (nodes, kinds) = (table.node, table.kind);
        let (ports, queues) = (table.port, table.queue);
        let (edges, departures) = (table.up_to, table.departures);
        let place =
            |at: usize| Place { node: nodes[at].clone(), port: ports[at], queue: queues[at] };
        let mut of: BTreeMap<Place, [Counts; 2]> = BTreeMap::new();
        let rows: Vec<usize> = (0..table.rows()).collect();
        let same = |a: &usize, b: &usize| {
            (&nodes[*a], ports[*a], queues[*a]) == (&nodes[*b], ports[*b], queues[*b])
        };
        // The rows of a queue follow each other.
        for rows in rows.chunk_by(same) {
            let counts = of.entry(place(rows[0])).or_default();
            for kind in [Kind::Packets, Kind::Sojourn] {
                let rows = rows.iter().filter(|at| kinds[**at] == kind.name());
                let bins = rows.map(|at| (edges[*at], departures[*at]));
                counts[kind as usize].add(&Counts::of(bins));
            }
        }
        Self { queues: of }
    }

    /// The queues that packets have left, in order.
    pub fn places(&self) -> impl Iterator<Item = &Place> {
        self.queues.keys()
    }

    /// The counts of the queues of which this holds, as one.
    pub fn sum(&self, kind: Kind, holds: impl Fn(&Place) -> bool) -> Counts {
        let mut sum = Counts::default();
        for (_, counts) in self.queues.iter().filter(|(place, _)| holds(place)) {
            sum.add(&counts[kind as usize]);
        }
        sum
    }
}

impl Kind {
    /// The scale of a quantile or a mean of it. A bin of times is at most 1/64 of its upper edge wide;
    /// lengths are exact.
    pub const fn scale(self) -> Scale {
        match self {
            Self::Packets => Scale::NON_NEGATIVE,
            Self::Sojourn => Scale { resolution: 1.0 / 64.0, ..Scale::NON_NEGATIVE },
        }
    }

    /// What it is called in the table.
    const fn name(self) -> &'static str {
        match self {
            Self::Packets => "packets",
            Self::Sojourn => "sojourn_ns",
        }
    }
}

/// How many departures had which value.
///
/// A value is known by the upper edge of its bin. Lengths up to 4095 packets have a bin each and are
/// exact; times have 64 bins to a doubling and are at most 1.6 % too large.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// Upper edges in ascending order, with how many departures their bins hold. The largest number
    /// stands for what is too large to be known.
    bins: Vec<(u64, u64)>,
}

impl Counts {
    /// Of upper edges and counts, in any order.
    pub fn of(bins: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let mut bins: Vec<(u64, u64)> = bins.into_iter().collect();
        bins.sort_unstable();
        bins.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0 };
            same
        });
        bins.shrink_to_fit();
        Self { bins }
    }

    /// Adds others.
    pub fn add(&mut self, other: &Self) {
        *self = match self.bins.is_empty() {
            true => other.clone(),
            false => Self::of(self.bins.iter().chain(&other.bins).copied()),
        };
    }

    /// How many departures.
    pub fn count(&self) -> u64 {
        self.bins.iter().map(|bin| bin.1).sum()
    }

    /// The mean; NaN of nothing, infinite if a value is too large to be known.
    pub fn mean(&self) -> f64 {
        let sum: f64 = self.bins.iter().map(|(edge, count)| value(*edge) * *count as f64).sum();
        sum / self.count() as f64
    }

    /// The least value that a share `p` of the departures does not exceed; NaN of nothing, infinite
    /// if it is too large to be known.
    pub fn quantile(&self, p: f64) -> f64 {
        let rank = p * self.count() as f64;
        let mut seen = 0;
        let reaches = |(_, count): &&(u64, u64)| {
            seen += count;
            seen as f64 >= rank
        };
        self.bins.iter().find(reaches).map_or(f64::NAN, |bin| value(bin.0))
    }

    /// The share of departures above a value.
    pub fn above(&self, least: u64) -> f64 {
        let above = self.bins.iter().filter(|(edge, _)| *edge > least).map(|bin| bin.1);
        above.sum::<u64>() as f64 / self.count() as f64
    }

    /// The distribution: the share of departures in each of this many bins of the same width up to
    /// a value, from the first that holds any to the last. A step begins at the lower edge of a bin,
    /// which it does not hold, and lasts until the next; the last goes down to zero. What is larger
    /// is in no bin, so that shares need not add up to 1. Bins should be wider than the counts are
    /// exact.
    pub fn shares(&self, bins: usize, up_to: f64) -> Vec<(f64, f64)> {
        let width = up_to / bins as f64;
        let mut held = vec![0_u64; bins];
        for (edge, count) in &self.bins {
            // Zero is in the first.
            let bin = libm::ceil(value(*edge) / width - 1e-9).max(1.0);
            if bin <= bins as f64 {
                held[bin as usize - 1] += count;
            }
        }
        let Some(first) = held.iter().position(|count| *count > 0) else { return Vec::new() };
        let last = held.iter().rposition(|count| *count > 0).unwrap_or(first);
        let total = self.count() as f64;
        let at = |bin: usize| (bin as f64 * width, held[bin] as f64 / total);
        let mut steps = vec![(first as f64 * width, 0.0)];
        steps.extend((first..=last).map(at));
        steps.push(((last + 1) as f64 * width, 0.0));
        steps
    }
}

fn value(edge: u64) -> f64 {
    if edge == u64::MAX { f64::INFINITY } else { edge as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::tables::complete;

    type Row = (&'static str, u64, u64, &'static str, u64, u64);

    /// Two queues of a port and one of another; the first queue holds 1 packet at 6 departures and
    /// 11 at 2.
    fn table() -> Table {
        let rows: [Row; 8] = [
            ("left", 0, 0, "packets", 1, 6),
            ("left", 0, 0, "packets", 11, 2),
            ("left", 0, 0, "sojourn_ns", 0, 5),
            ("left", 0, 0, "sojourn_ns", 3_000, 3),
            ("left", 0, 1, "packets", 1, 4),
            ("left", 0, 1, "sojourn_ns", 0, 4),
            ("right", 2, 0, "packets", 1, 10),
            ("right", 2, 0, "packets", u64::MAX, 1),
        ];
        let number = |of: fn(&Row) -> u64| rows.iter().map(of).collect();
        complete(
            Table::new("departures", "")
                .text("node", "", rows.iter().map(|row| row.0.to_owned()).collect())
                .u64("tier", "", vec![0; rows.len()])
                .u64("port", "", number(|row| row.1))
                .u64("queue", "", number(|row| row.2))
                .text("kind", "", rows.iter().map(|row| row.3.to_owned()).collect())
                .u64("up_to", "", number(|row| row.4))
                .u64("departures", "", number(|row| row.5)),
        )
    }

    #[test]
    fn counts_are_by_queue_and_kind() {
        let of = Departures::of(&[table()]);
        let places: Vec<_> = of.places().map(|at| (at.node.as_str(), at.port, at.queue)).collect();
        assert_eq!(places, [("left", 0, 0), ("left", 0, 1), ("right", 2, 0)]);
        let left = |place: &Place| place.node == "left" && place.queue == 0;
        assert_eq!(of.sum(Kind::Packets, left), Counts::of([(1, 6), (11, 2)]));
        assert_eq!(of.sum(Kind::Sojourn, left), Counts::of([(0, 5), (3_000, 3)]));
        let both = of.sum(Kind::Packets, |place| place.node == "left");
        assert_eq!(both, Counts::of([(1, 10), (11, 2)]));
        assert_eq!(of.sum(Kind::Packets, |_| false).count(), 0);
    }

    #[test]
    fn what_counts_say() {
        let of = Counts::of([(11, 2), (1, 5), (1, 1)]);
        assert_eq!((of.count(), of.mean()), (8, 28.0 / 8.0));
        assert_eq!([0.5, 0.75, 0.76, 1.0].map(|p| of.quantile(p)), [1.0, 1.0, 11.0, 11.0]);
        assert_eq!([0, 1, 10, 11].map(|least| of.above(least)), [1.0, 0.25, 0.25, 0.0]);
        let open = Counts::of([(1, 9), (u64::MAX, 1)]);
        assert_eq!((open.quantile(0.9), open.quantile(0.91)), (1.0, f64::INFINITY));
        assert!(open.mean().is_infinite());
        assert!(Counts::default().mean().is_nan() && Counts::default().quantile(0.5).is_nan());
    }

    #[test]
    fn distributions_are_steps_of_the_same_width() {
        // Bins of 5: up to 5, up to 10, up to 15, up to 20.
        let of = Counts::of([(0, 1), (5, 1), (6, 2), (15, 4), (20, 0), (21, 1), (u64::MAX, 1)]);
        let steps = of.shares(4, 20.0);
        assert_eq!(steps, [(0.0, 0.0), (0.0, 0.2), (5.0, 0.2), (10.0, 0.4), (15.0, 0.0)]);
        // From the first bin that holds any.
        assert_eq!(Counts::of([(20, 3)]).shares(4, 20.0), [(15.0, 0.0), (15.0, 1.0), (20.0, 0.0)]);
        assert_eq!(Counts::of([(21, 3)]).shares(4, 20.0), []);
        // Sixty bins to 300 packets: the edges are exact, whatever their width in binary.
        let ones = Counts::of((1..=300).map(|length| (length, 1)));
        let steps = ones.shares(60, 300.0);
        assert!(steps[1..61].iter().all(|step| step.1 == 5.0 / 300.0), "{steps:?}");
    }
}

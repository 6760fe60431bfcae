//! Bins for times and sizes: 64 per doubling of whole nanoseconds or bytes, so that a quantile read from upper edges
//! is at most 1/64 = 1.6 % too large. Below 128 the bins are exact.

use floodway_model::Duration;

/// Bins per doubling, as a power of two.
const FINENESS: u32 = 6;

/// The bin of a sojourn time, from its nanoseconds, rounded up.
pub fn sojourn_bin(sojourn: Duration) -> usize {
    fine_bin(sojourn.0.div_ceil(1_000))
}

/// The bin of a whole number.
pub fn fine_bin(value: u64) -> usize {
    let shift = value.checked_ilog2().unwrap_or(0).saturating_sub(FINENESS);
    ((shift as usize) << FINENESS) + (value >> shift) as usize
}

/// The upper edge of a bin, inclusive; of times in nanoseconds.
pub fn fine_edge(bin: usize) -> u64 {
    let shift = (bin >> FINENESS).saturating_sub(1);
    let step = (bin - (shift << FINENESS)) as u64;
    ((step + 1) << shift) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_times_are_exact() {
        for ns in 0..128 {
            let bin = sojourn_bin(Duration::from_ns(ns));
            assert_eq!((bin as u64, fine_edge(bin)), (ns, ns));
        }
        // A fraction of a nanosecond counts as a whole one.
        assert_eq!(sojourn_bin(Duration(1)), 1);
        assert_eq!(sojourn_bin(Duration(7_001)), 8);
    }

    #[test]
    fn bins_follow_each_other_without_a_gap() {
        // The first bin of two nanoseconds begins at 128 ns, the first of four at 256 ns.
        assert_eq!([127, 128, 129, 191, 192].map(fine_edge), [127, 129, 131, 255, 259]);
        let mut ns = 0;
        while ns < 20_000_000_000 {
            let bin = sojourn_bin(Duration::from_ns(ns));
            let (below, edge) = (bin.checked_sub(1).map(fine_edge), fine_edge(bin));
            assert!(ns <= edge && below.is_none_or(|below| ns > below), "{ns} in {bin}");
            assert!((edge - ns) * 64 <= ns, "{ns} is read as {edge}");
            assert_eq!(sojourn_bin(Duration::from_ns(edge)), bin);
            ns = ns * 101 / 100 + 1;
        }
    }
}

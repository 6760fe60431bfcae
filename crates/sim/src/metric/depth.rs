//! Bins for queue depths: one for empty, then four per doubling from 1 KB to 64 MB.

/// Number of bins: the empty one, 64 between 1 KB and 65.5 MB, one up to 1 KB, and one above.
pub const BINS: usize = 1 + 1 + 64 + 1;

/// The upper edge of a bin in bytes, inclusive; `u64::MAX` for the last.
pub fn bin_edge(bin: usize) -> u64 {
    match bin {
        0 => 0,
        LAST => u64::MAX,
        // Quarter steps of an octave: 1000 · 2^((bin - 1) / 4).
        _ => (QUARTERS[(bin - 1) % 4] << ((bin - 1) / 4)) / 1_000,
    }
}

/// The bin of a backlog.
#[inline]
pub fn bin_of(backlog: u64) -> usize {
    if backlog == 0 {
        return 0;
    }
    // The octave from the highest bit of backlog / 1000, then at most four steps.
    let octave = (backlog / 1_000).checked_ilog2().unwrap_or(0) as usize;
    let mut bin = (1 + 4 * octave).min(LAST);
    while bin_edge(bin) < backlog {
        bin += 1;
    }
    bin
}

const LAST: usize = BINS - 1;

/// 10^6 · 2^(0/4 .. 3/4).
const QUARTERS: [u64; 4] = [1_000_000, 1_189_207, 1_414_214, 1_681_793];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_backlog_is_in_its_bin() {
        assert_eq!((bin_edge(1), bin_edge(5), bin_edge(65)), (1_000, 2_000, 65_536_000));
        let mut backlog = 0;
        while backlog < 100_000_000 {
            let bin = bin_of(backlog);
            assert!(backlog <= bin_edge(bin), "{backlog} in {bin}");
            assert!(bin == 0 || backlog > bin_edge(bin - 1), "{backlog} in {bin}");
            backlog = backlog * 21 / 20 + 1;
        }
    }
}

//! The promise of `docs/statistics.md`: where the intervals contain the true value in 93 to 97 % of
//! experiments, and that they never contain a value that their quantity cannot take.

use floodway_report::statistics::NoInterval;

use crate::coverage;

/// Experiments per cell: the standard error of a coverage of 95 % is 0.24 %.
const EXPERIMENTS: usize = 8_000;

#[test]
fn intervals_cover_where_it_is_promised() {
    let mut broken = Vec::new();
    let (mut promised, mut cells) = (0, 0);
    for row in coverage::measure(EXPERIMENTS) {
        for (cell, n) in row.cells.iter().zip(coverage::REPLICATIONS) {
            let place = format!("{}, {}, {:?}, n = {n}", row.metric, row.distribution, row.spread);
            cells += 1;
            promised += usize::from(cell.promised && cell.printed > 0.0);
            if cell.outside > 0 {
                broken.push(format!("{place}: {} intervals leave the domain", cell.outside));
            }
            if cell.promised && cell.printed > 0.0 && !(0.93..=0.97).contains(&cell.coverage) {
                broken.push(format!("{place}: coverage {:.1} %", cell.coverage * 100.0));
            }
            assert_eq!(cell.width.is_finite(), cell.printed > 0.0, "{place}");
            let few = NoInterval::FewFlows { needed: 1_000, least: 300 };
            if row.metric == "p99.9" && row.distribution.starts_with("300 ") {
                assert_eq!((cell.printed, &cell.reasons[..]), (0.0, &[few][..]), "{place}");
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
    assert!(2 * promised > cells, "only {promised} of {cells} cells are promised");
}

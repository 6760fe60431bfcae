//! Many comparisons at once.

/// The probabilities of several tests, each adjusted so that all of those at most `alpha` can be
/// rejected together with a family-wise error of at most `alpha`, whatever they have to do with each
/// other (S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
/// Statistics 6, 1979).
pub fn holm(probabilities: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|a, b| probabilities[*a].total_cmp(&probabilities[*b]));
    let mut adjusted = vec![1.0; probabilities.len()];
    let mut most: f64 = 0.0;
    for (rank, at) in order.iter().enumerate() {
        let times = (probabilities.len() - rank) as f64;
        most = most.max(probabilities[*at] * times).min(1.0);
        adjusted[*at] = most;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::holm;

    #[test]
    fn as_r_has_it() {
        // p.adjust(c(0.01, 0.02, 0.03, 0.04), "holm"), and in another order.
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(near(&holm(&[0.01, 0.02, 0.03, 0.04]), &[0.04, 0.06, 0.06, 0.06]));
        assert!(near(&holm(&[0.03, 0.01, 0.04, 0.02]), &[0.06, 0.04, 0.06, 0.06]));
        // p.adjust(c(0.5, 0.6), "holm").
        assert!(near(&holm(&[0.5, 0.6]), &[1.0, 1.0]));
        assert!(holm(&[]).is_empty());
    }
}

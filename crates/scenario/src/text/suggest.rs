//! Did you mean.

/// The candidate that `word` is most likely a slip of, if any is close.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // It would take long, and was not meant.
    const LONGEST: usize = 1_000;
    if word.len() > LONGEST {
        return None;
    }
    let plain = |text: &str| text.to_lowercase().replace('-', "_");
    let word = plain(word);
    let scored = candidates.into_iter().map(|candidate| {
        let other = plain(candidate);
        // A whole word left out or added is a smaller slip than its letters.
        let within = |short: &str, long: &str| short.len() >= 2 && long.contains(short);
        let contained = within(&word, &other) || within(&other, &word);
        let score = strsim::damerau_levenshtein(&word, &other);
        (if contained { score.min(2) } else { score }, score, candidate)
    });
    let (score, _, best) = scored.min_by_key(|&(score, letters, _)| (score, letters))?;
    (score <= 1 + word.chars().count() / 4).then_some(best)
}

/// The remedy for an unknown `word`: the closest candidate and all there are.
pub fn remedy(word: &str, noun: &str, candidates: &[&str]) -> String {
    let all = candidates.join(", ");
    match (closest(word, candidates.iter().copied()), candidates.len()) {
        (Some(best), 1) => format!("did you mean `{best}`?"),
        (Some(best), _) => format!("did you mean `{best}`? The {noun} are: {all}"),
        (None, 0) => format!("there are no {noun}: remove it"),
        (None, 1) => format!("the only one is `{all}`"),
        (None, _) => format!("the {noun} are: {all}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips() {
        let names = ["congestion_isolation", "pfc"];
        assert_eq!(closest("congestion-isolation", names), Some("congestion_isolation"));
        assert_eq!(closest("isolation", names), Some("congestion_isolation"));
        assert_eq!(closest("fpc", names), Some("pfc"));
        assert_eq!(closest("red", names), None);
        assert_eq!(closest("msec", ["ns", "ms", "s"]), Some("ms"));
        assert_eq!(closest("fct_p99", ["fct_p999_ns", "fct_p99_ns"]), Some("fct_p99_ns"));
        assert_eq!(closest("fortnights", ["ns", "ms", "s"]), None);
        assert_eq!(remedy("red", "members", &names), "the members are: congestion_isolation, pfc");
    }
}

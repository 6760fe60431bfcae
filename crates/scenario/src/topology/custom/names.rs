//! Names of hosts and switches as they are written: `client 0-3` is four of them.

/// One name, or several that differ in the number at their end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names<'a> {
    stem: &'a str,
    /// The first and the last number behind the stem.
    numbers: Option<(u32, u32)>,
}

impl<'a> Names<'a> {
    /// Reads them; what is wrong otherwise, as the end of a sentence that begins with the name.
    pub fn parse(text: &'a str) -> Result<Self, String> {
        let text = text.trim();
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '.' | '_' | '-');
        match text.chars().next() {
            None => return Err("is empty".to_owned()),
            Some(first) if !first.is_ascii_alphabetic() => {
                return Err(format!("begins with {first:?}"));
            }
            _ => {}
        }
        if let Some(other) = text.chars().find(|&c| !fits(c)) {
            return Err(format!("contains {other:?}"));
        }
        if text.contains(BETWEEN) {
            return Err(format!("contains {BETWEEN:?}, which stands between the ends of a link"));
        }
        let Some((head, last)) = text.rsplit_once('-') else {
            return Ok(Self { stem: text, numbers: None });
        };
        let (head, last) = (head.trim_end(), last.trim_start());
        let stem = head.trim_end_matches(|c: char| c.is_ascii_digit());
        let first = &head[stem.len()..];
        if first.is_empty() || last.is_empty() || !last.bytes().all(|b| b.is_ascii_digit()) {
            return Ok(Self { stem: text, numbers: None });
        }
        let number = |digits: &str| match digits.parse::<u32>() {
            Ok(_) if digits.len() > 1 && digits.starts_with('0') => {
                Err(format!("counts with {digits}, which has a zero in front"))
            }
            Ok(number) => Ok(number),
            Err(_) => Err(format!("counts to {digits}, above {}", u32::MAX)),
        };
        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return Err(format!("counts down, from {first} to {last}"));
        }
        Ok(Self { stem, numbers: Some((first, last)) })
    }

    /// How many.
    pub fn count(&self) -> u64 {
        self.numbers.map_or(1, |(first, last)| u64::from(last - first) + 1)
    }

    /// Each of them, in order.
    pub fn each(&self) -> impl Iterator<Item = String> + use<'a> {
        let stem = self.stem;
        let (first, last) = self.numbers.unwrap_or_default();
        let alone = self.numbers.is_none();
        (first..=last).map(move |number| match alone {
            true => stem.to_owned(),
            false => format!("{stem}{number}"),
        })
    }
}

/// What stands between the two ends of a link.
pub const BETWEEN: &str = "--";

/// What names look like, for remedies.
pub const ADVICE: &str = "a name begins with a letter and goes on with letters, digits, spaces, \
                          `.`, `_` and `-`; \"client 0-3\" is client 0, client 1, client 2 and \
                          client 3";

#[cfg(test)]
mod tests {
    use super::*;

    fn each(text: &str) -> Vec<String> {
        let names = Names::parse(text).unwrap();
        let each: Vec<_> = names.each().collect();
        assert_eq!(each.len() as u64, names.count());
        each
    }

    #[test]
    fn one_and_several() {
        assert_eq!(each("core"), ["core"]);
        assert_eq!(each(" client 7 "), ["client 7"]);
        assert_eq!(each("client 8-11"), ["client 8", "client 9", "client 10", "client 11"]);
        assert_eq!(each("client 0 - 1"), ["client 0", "client 1"]);
        assert_eq!(each("rack-a1-2"), ["rack-a1", "rack-a2"]);
        // No numbers on both sides of the dash: a name like any other.
        for text in ["rack-a", "tor-1", "a1-b2", "x_y.z", "s01", "client 1-"] {
            assert_eq!(each(text), [text]);
        }
        assert_eq!(Names::parse("n0-4294967295").unwrap().count(), 1 << 32);
    }

    #[test]
    fn what_is_no_name() {
        let wrong = |text: &str| Names::parse(text).unwrap_err();
        assert_eq!(wrong(" "), "is empty");
        assert_eq!(wrong("3 clients"), "begins with '3'");
        assert_eq!(wrong("a, b"), "contains ','");
        assert_eq!(wrong("a--b"), "contains \"--\", which stands between the ends of a link");
        assert_eq!(wrong("client 3-0"), "counts down, from 3 to 0");
        assert_eq!(wrong("client 01-03"), "counts with 01, which has a zero in front");
        assert_eq!(wrong("n0-4294967296"), "counts to 4294967296, above 4294967295");
    }
}

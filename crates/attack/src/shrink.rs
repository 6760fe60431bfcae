//! Smaller ones that fail in the same way.

use std::time::Instant;

use floodway_model::{Bytes, Duration, Rate};
use serde_json::Value;

use crate::repair::{Path, get, paths, remove};

/// When to end: at a time, or after so many tries.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Not later than this.
    pub until: Instant,
    /// Tries that are left.
    pub tries: u32,
}

impl Patience {
    fn is_over(&mut self) -> bool {
        self.tries = self.tries.saturating_sub(1);
        self.tries == 0 || Instant::now() >= self.until
    }
}

/// A smaller scenario for which `fails` still holds.
pub fn scenario(text: &str, mut patience: Patience, fails: &mut dyn FnMut(&str) -> bool) -> String {
    let Ok(mut document) = toml::from_str::<Value>(text) else { return text.to_owned() };
    let mut best = text.to_owned();
    let mut attempt = |candidate: &Value, best: &mut String| {
        let text = toml::to_string(candidate).unwrap_or_default();
        let better = text != *best && !text.is_empty() && fails(&text);
        if better {
            *best = text;
        }
        better
    };
    loop {
        let before = document.clone();
        // Whole tables first: with them their fields go.
        let mut all = Vec::new();
        paths(&document, &mut Path::new(), &mut all);
        all.sort_by_key(Vec::len);
        // Elements of a list from its end, so that the numbers of the others stay.
        all.reverse();
        all.sort_by_key(Vec::len);
        for path in &all {
            if patience.is_over() {
                return best;
            }
            let mut candidate = document.clone();
            remove(&mut candidate, path);
            if candidate != document && attempt(&candidate, &mut best) {
                document = candidate;
            }
        }
        for path in &all {
            let Some(value) = get(&mut document, path).cloned() else { continue };
            for smaller in smaller(&value) {
                if patience.is_over() {
                    return best;
                }
                let mut candidate = document.clone();
                *get(&mut candidate, path).expect("it was there") = smaller;
                if attempt(&candidate, &mut best) {
                    document = candidate;
                    break;
                }
            }
        }
        if document == before {
            return best;
        }
    }
}

/// Simpler values, the simplest first.
fn smaller(value: &Value) -> Vec<Value> {
    match value {
        Value::Number(number) => match number.as_u64() {
            Some(number) => {
                let all = [0, 1, 2, number / 2, number.saturating_sub(1)];
                all.into_iter().filter(|smaller| *smaller < number).map(Value::from).collect()
            }
            None => {
                number.as_f64().filter(|it| it.fract() != 0.0).map_or_else(Vec::new, |number| {
                    let hundredth = (number * 100.0).round() / 100.0;
                    vec![number.round().into(), hundredth.into()]
                })
            }
        },
        Value::String(text) => quantities(text).into_iter().map(Value::from).collect(),
        Value::Bool(true) => vec![false.into()],
        _ => Vec::new(),
    }
}

/// Half of a quantity, and the next round one below it.
fn quantities(text: &str) -> Vec<String> {
    fn of<T: ToString>(value: u64, unit: fn(u64) -> T) -> Vec<String> {
        let power = 10u64.pow(value.checked_ilog10().unwrap_or(0));
        let round = value / power * power;
        let all = [round, value / 2];
        all.iter()
            .filter(|smaller| **smaller < value)
            .map(|value| unit(*value).to_string())
            .collect()
    }
    if let Ok(time) = text.parse::<Duration>() {
        of(time.0, Duration)
    } else if let Ok(bytes) = text.parse::<Bytes>() {
        of(bytes.0, Bytes)
    } else if let Ok(rate) = text.parse::<Rate>() {
        of(rate.0, Rate)
    } else {
        Vec::new()
    }
}

/// A smaller file for which `fails` still holds: without some of its lines, then of its bytes.
pub fn bytes(
    whole: &[u8],
    mut patience: Patience,
    fails: &mut dyn FnMut(&[u8]) -> bool,
) -> Vec<u8> {
    let lines: Vec<Vec<u8>> =
        whole.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    let lines = fewer(lines, &mut patience, &mut |parts| fails(&parts.concat()));
    let single = lines.concat().into_iter().map(|byte| vec![byte]).collect();
    fewer(single, &mut patience, &mut |parts| fails(&parts.concat())).concat()
}

/// Leaves out parts, many at once at first.
fn fewer(
    mut parts: Vec<Vec<u8>>,
    patience: &mut Patience,
    fails: &mut dyn FnMut(&[Vec<u8>]) -> bool,
) -> Vec<Vec<u8>> {
    let mut step = parts.len().div_ceil(2);
    while step > 0 {
        let mut at = 0;
        while at < parts.len() {
            if patience.is_over() {
                return parts;
            }
            let end = (at + step).min(parts.len());
            let candidate = [&parts[..at], &parts[end..]].concat();
            if fails(&candidate) { parts = candidate } else { at = end }
        }
        step /= 2;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patience() -> Patience {
        Patience { until: Instant::now() + std::time::Duration::from_secs(60), tries: 10_000 }
    }

    #[test]
    fn what_does_not_matter_goes() {
        let text = "a = 1\nlimit = \"12345us\"\n[switch.queue]\nsize = \"2MB\"\ncount = 9\n\
                    [[workload]]\nx = 1\n[[workload]]\ny = 70\n";
        // It fails with a count above 3 and a `y` above 20.
        let mut fails = |text: &str| {
            let value: Value = toml::from_str(text).unwrap();
            let workloads = value["workload"].as_array().cloned().unwrap_or_default();
            let y = workloads.iter().any(|workload| workload["y"].as_u64() > Some(20));
            value["switch"]["queue"]["count"].as_u64() > Some(3) && y
        };
        let small = scenario(text, patience(), &mut fails);
        assert_eq!(small, "[switch.queue]\ncount = 4\n\n[[workload]]\ny = 21\n");
    }

    #[test]
    fn files_lose_lines_and_bytes() {
        let mut fails = |bytes: &[u8]| bytes.windows(3).any(|part| part == b"bad");
        let whole = b"one line\nanother bad line\nmore\n";
        assert_eq!(bytes(whole, patience(), &mut fails), b"bad");
    }
}

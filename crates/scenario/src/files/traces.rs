//! Traces of links in the format of Mahimahi: in each line a time in whole milliseconds, not before that of the line above,
//! at which a packet may leave.

use std::sync::Arc;

use floodway_machine::printable::short;
use floodway_model::Duration;
use floodway_sim::pace::Trace;

use super::lines;
use crate::text::{Place, Problem, Source};

/// The latest time, in milliseconds: a day.
const LATEST: u64 = 86_400_000;

/// Reads a trace.
pub fn read(source: &Arc<Source>) -> Result<Trace, Problem> {
    let mut times: Vec<Duration> = Vec::new();
    for line in lines(source) {
        let word = line.all;
        if word.text.starts_with('-') {
            let message =
                format!("the time is `{}`, before the start of the trace", short(word.text));
            return Err(word.problem(message, "count times from 0, in milliseconds"));
        }
        let ms = word.whole("the time")?;
        if ms > LATEST {
            let message = format!("the time is {ms} ms, more than a day");
            return Err(word.problem(message, "write milliseconds, and at most 86400000"));
        }
        let time = Duration::from_us(ms * 1_000);
        if let Some(before) = times.last().filter(|before| time < **before) {
            let message = format!("the time is {ms} ms, before that of the line above ({before})");
            return Err(word.problem(message, "sort the lines by their times"));
        }
        times.push(time);
    }
    let last = times.last().copied();
    Trace::new(times).ok_or_else(|| {
        let message = match last {
            None => "the trace has no times".to_owned(),
            Some(_) => "all times of the trace are 0, so that it has no end".to_owned(),
        };
        let help =
            "write a time in milliseconds in each line; after the last one the trace begins again";
        Problem::error(Place::at(source, 0..source.inner().len().min(1)), message, help)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Trace, String> {
        let source = Arc::new(Source::new("t.trace", text.to_owned()));
        read(&source).map_err(|problem| problem.plain())
    }

    #[test]
    fn each_line_is_an_opportunity() {
        let ms = |ms: u64| Duration::from_us(ms * 1_000);
        assert_eq!(of("0\n5\n5\n\n12\n"), Ok(Trace::new([0, 5, 5, 12].map(ms)).unwrap()));
        assert_eq!(of("1\r\n2\r\n"), Ok(Trace::new([1, 2].map(ms)).unwrap()));
    }

    #[test]
    fn what_is_no_trace_is_refused_with_its_line() {
        for (text, message, place) in [
            ("1\n-3\n", "the time is `-3`, before the start of the trace", "t.trace:2:1"),
            ("1\n3\n2\n", "the time is 2 ms, before that of the line above (3ms)", "t.trace:3:1"),
            ("1\n2.5\n", "the time is `2.5`, not a whole number", "t.trace:2:1"),
            ("1 2\n", "the time is `1 2`, not a whole number", "t.trace:1:1"),
            ("x", "the time is `x`, not a whole number", "t.trace:1:1"),
            ("1\n99999999999\n", "the time is 99999999999 ms, more than a day", "t.trace:2:1"),
            ("", "the trace has no times", "t.trace:1:1"),
            ("0\n0\n", "all times of the trace are 0, so that it has no end", "t.trace:1:1"),
        ] {
            let problem = of(text).unwrap_err();
            assert!(problem.contains(message), "{problem}");
            assert!(problem.contains(place), "{problem}");
        }
    }
}

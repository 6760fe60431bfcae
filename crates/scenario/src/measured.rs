//! The measured interval: over which part of a run counters, queue depths, waiting times and rates
//! are taken. It begins at the end of the warm-up.
//!
//! Traffic that goes on by a rate or without end is measured until the arrivals end, so that variants
//! are compared under the same offered load. Work that is given in bytes is measured until it has
//! completed, so that all of it is counted, however long that takes.

use std::borrow::Cow;
use std::fmt;

use floodway_model::{Duration, IntervalEnd};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::document::Document;
use crate::workload::Ready;

/// When the measured interval ends, as a scenario has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeasureUntil {
    /// With the arrivals.
    Arrivals,
    /// When all flows that have a size have completed.
    Completion,
    /// At this time.
    Time(Duration),
}

impl fmt::Display for MeasureUntil {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Arrivals => f.write_str("arrivals"),
            Self::Completion => f.write_str("completion"),
            Self::Time(time) => time.fmt(f),
        }
    }
}

impl Serialize for MeasureUntil {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for MeasureUntil {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = MeasureUntil;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"arrivals\", \"completion\", or a time like \"5ms\"")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<MeasureUntil, E> {
                match text {
                    "arrivals" => Ok(MeasureUntil::Arrivals),
                    "completion" => Ok(MeasureUntil::Completion),
                    time => time
                        .parse()
                        .map(MeasureUntil::Time)
                        .map_err(|_| E::invalid_type(de::Unexpected::Str(text), &self)),
                }
            }
        }
        deserializer.deserialize_str(Visitor)
    }
}

impl JsonSchema for MeasureUntil {
    fn schema_name() -> Cow<'static, str> {
        "MeasureUntil".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "`arrivals`, `completion`, or a time with its unit, like \"5ms\"",
            "examples": ["arrivals", "completion", "5ms"],
        })
    }
}

/// The measured interval of a variant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Measured {
    /// When it begins.
    pub from: Duration,
    /// What ends it.
    pub end: IntervalEnd,
    /// When it ends at the earliest; unless flows are awaited, when it ends.
    pub until: Duration,
    /// By workload: whether it lasts until the flows of that workload have completed.
    pub awaited: Vec<bool>,
}

impl Measured {
    /// That of these settings with these workloads.
    pub(crate) fn of(settings: &Document, workloads: &[Ready]) -> Self {
        if let Some(sampled) = settings.sampled() {
            // The run ends with the last of these rounds.
            let awaited =
                (0..workloads.len()).map(|at| at == usize::from(sampled.workload)).collect();
            let (from, end) = (settings.warmup, IntervalEnd::Completion);
            return Self { from, end, until: settings.warmup, awaited };
        }
        let finite: Vec<bool> = workloads.iter().map(|of| of.is_finite()).collect();
        let steady = workloads.iter().any(|of| !of.is_finite() || of.persistent_flows() > 0);
        let none = vec![false; finite.len()];
        let (end, until, awaited) = match settings.measure_until {
            Some(MeasureUntil::Arrivals) => (IntervalEnd::Arrivals, settings.arrivals, none),
            Some(MeasureUntil::Time(time)) => (IntervalEnd::Time, time, none),
            Some(MeasureUntil::Completion) => {
                (IntervalEnd::Completion, settings.warmup, vec![true; finite.len()])
            }
            None if !finite.contains(&true) => (IntervalEnd::Arrivals, settings.arrivals, none),
            None if !steady => (IntervalEnd::Completion, settings.warmup, finite),
            None => (IntervalEnd::Later, settings.arrivals, finite),
        };
        Self { from: settings.warmup, end, until, awaited }
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { until, .. } = self;
        let from = match self.from {
            Duration::ZERO => "0".to_owned(),
            from => from.to_string(),
        };
        match self.end {
            IntervalEnd::Arrivals | IntervalEnd::Time => write!(f, "{from} to {until}"),
            IntervalEnd::Completion => write!(f, "{from} to last completion"),
            IntervalEnd::Later => write!(f, "{from} to {until} or later"),
        }
    }
}

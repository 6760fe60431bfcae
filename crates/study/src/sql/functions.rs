//! Functions beside those of SQLite.

use std::collections::BTreeMap;
use std::sync::Arc;

use floodway_report::statistics;
use floodway_scenario::Variant;
use rusqlite::Connection;
use rusqlite::functions::{Aggregate, Context, FunctionFlags};
use rusqlite::types::Value;
use serde_json::Value as Json;

use crate::compile::measure::position;
use crate::leaves::leaves;

/// The settings of a run by their paths, such as `switch.queue.size`. Times are in nanoseconds, rates in b/s and
/// sizes in bytes.
pub type Settings = BTreeMap<String, Value>;

/// Those of a variant.
pub fn settings(of: &Variant) -> Settings {
    let json = serde_json::to_value(&of.settings).expect("settings are text");
    let value = |value: &Json| match value {
        Json::Bool(flag) => Value::Integer((*flag).into()),
        Json::Number(number) => Value::Real(number.as_f64().unwrap_or(f64::NAN)),
        Json::String(text) => position(text).map_or_else(|| Value::Text(text.clone()), Value::Real),
        Json::Null | Json::Array(_) | Json::Object(_) => Value::Null,
    };
    leaves(&json).into_iter().map(|(path, leaf)| (path, value(leaf))).collect()
}

/// Adds them to a connection: `quantile`, `pow`, and `setting` with these settings.
pub fn add(connection: &Connection, settings: Arc<Settings>) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_aggregate_function("quantile", 2, flags, Quantile)?;
    connection.create_aggregate_function("quantile", 3, flags, Weighted)?;
    connection.create_scalar_function("pow", 2, flags, |of| {
        let (base, exponent): (Option<f64>, Option<f64>) = (of.get(0)?, of.get(1)?);
        Ok(base.zip(exponent).map(|(base, exponent)| libm::pow(base, exponent)))
    })?;
    connection.create_scalar_function("setting", 1, flags, move |of| {
        let path: String = of.get(0)?;
        Ok(settings.get(&path).cloned().unwrap_or(Value::Null))
    })
}

/// `quantile(x, p)`: of values that are not empty; empty if there is none.
struct Quantile;

impl Aggregate<(Vec<f64>, f64), Option<f64>> for Quantile {
    fn init(&self, _: &mut Context<'_>) -> rusqlite::Result<(Vec<f64>, f64)> {
        Ok((Vec::new(), 0.5))
    }

    fn step(
        &self,
        of: &mut Context<'_>,
        (values, p): &mut (Vec<f64>, f64),
    ) -> rusqlite::Result<()> {
        *p = of.get(1)?;
        values.extend(of.get::<Option<f64>>(0)?);
        Ok(())
    }

    fn finalize(
        &self,
        _: &mut Context<'_>,
        all: Option<(Vec<f64>, f64)>,
    ) -> rusqlite::Result<Option<f64>> {
        let Some((mut values, p)) = all else { return Ok(None) };
        values.sort_unstable_by(f64::total_cmp);
        Ok((!values.is_empty()).then(|| statistics::quantile(&values, p)))
    }
}

/// `quantile(x, p, n)`: the least `x` that a share `p` of the rows does not exceed, where each stands for `n` of them.
struct Weighted;

impl Aggregate<(Vec<(f64, f64)>, f64), Option<f64>> for Weighted {
    fn init(&self, _: &mut Context<'_>) -> rusqlite::Result<(Vec<(f64, f64)>, f64)> {
        Ok((Vec::new(), 0.5))
    }

    fn step(
        &self,
        of: &mut Context<'_>,
        (values, p): &mut (Vec<(f64, f64)>, f64),
    ) -> rusqlite::Result<()> {
        *p = of.get(1)?;
        let (value, number): (Option<f64>, Option<f64>) = (of.get(0)?, of.get(2)?);
        values.extend(value.zip(number));
        Ok(())
    }

    fn finalize(
        &self,
        _: &mut Context<'_>,
        all: Option<(Vec<(f64, f64)>, f64)>,
    ) -> rusqlite::Result<Option<f64>> {
        let Some((mut values, p)) = all else { return Ok(None) };
        values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let rank = p * values.iter().map(|(_, number)| number).sum::<f64>();
        let mut seen = 0.0;
        let reaches = |(_, number): &&(f64, f64)| {
            seen += number;
            seen >= rank
        };
        Ok(values.iter().find(reaches).map(|(value, _)| *value))
    }
}

//! Headrooms for Python: sums, vendors' tables, worst cases and the risk of a shared pool.

use std::path::PathBuf;
use std::str::FromStr;

use floodway_lab::headroom::{Failed, search};
use floodway_lab::overflow::{
    Failed as NoRisk, Risk, Size, peaks, replications, risk, safe_oversubscription,
};
use floodway_model::{Bytes, Duration, Rate};
use floodway_scenario::headroom::lookup::Table;
use floodway_scenario::headroom::question::{Phy, Question};
use floodway_scenario::headroom::{Cable, Row, Sum};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::error;
use crate::scenario::Checked;

/// What a headroom depends on beside the rate and the cable, with times as texts.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Settings {
    largest_frame: u16,
    smallest_frame: u16,
    cell: u16,
    classes: u8,
    response: Option<String>,
    latency: String,
    delay_per_meter: String,
    phy: Option<String>,
    gearbox: String,
    measured_delay: Option<String>,
}

/// A text as what it means, or the reason why it means nothing.
fn parsed<T: FromStr>(name: &str, text: &str) -> PyResult<T>
where
    T::Err: std::fmt::Display,
{
    text.parse().map_err(|why| PyValueError::new_err(format!("`{name}` is {text:?}: {why}")))
}

impl Settings {
    fn question(&self, rates: &[Rate]) -> PyResult<Question> {
        let time = |name: &str, text: &str| parsed::<Duration>(name, text);
        let question = Question {
            largest_frame: self.largest_frame,
            smallest_frame: self.smallest_frame,
            cell: self.cell,
            classes: self.classes,
            response: self.response.as_deref().map(|of| time("response", of)).transpose()?,
            latency: time("latency", &self.latency)?,
            delay_per_meter: time("delay_per_meter", &self.delay_per_meter)?,
            phy: match self.phy.as_deref() {
                None => Phy::None,
                Some(text) => parsed("phy", text)?,
            },
            gearbox: time("gearbox", &self.gearbox)?,
            measured: self
                .measured_delay
                .as_deref()
                .map(|of| time("measured_delay", of))
                .transpose()?,
        };
        question.check(rates).map_err(PyValueError::new_err)?;
        Ok(question)
    }

    /// A question about one link.
    fn of_link(&self, rate: &str, cable: &str) -> PyResult<(Question, Rate, Cable)> {
        let (rate, cable) = (parsed("rate", rate)?, parsed("cable", cable)?);
        Ok((self.question(&[rate])?, rate, cable))
    }
}

/// A headroom with its parts, as JSON; times are in nanoseconds and sizes in bytes.
#[pyfunction]
pub fn headroom(rate: &str, cable: &str, settings: Settings) -> PyResult<String> {
    let (question, rate, cable) = settings.of_link(rate, cable)?;
    let sum = question.sum(rate, cable).map_err(PyValueError::new_err)?;
    let saved = question.saved(rate, cable).map_err(PyValueError::new_err)?;
    let mut value = whole(&sum);
    value["rate"] = json!(rate);
    value["cable"] = json!(cable);
    value["worst_total"] = json!(saved.map(|saved| saved.worst.0));
    Ok(value.to_string())
}

fn whole(sum: &Sum) -> Value {
    let part = |row: &Row| {
        json!({
            "part": row.part,
            "time_ns": row.time.0 as f64 / 1e3,
            "on_wire": row.on_wire.0,
            "buffer": row.buffer.0,
            "evidence": row.evidence.map(|of| of.name()),
            "source": row.source,
        })
    };
    json!({
        "total": sum.total.0,
        "worst_frame": sum.worst_frame.0,
        "worst_occupied": sum.worst_occupied.0,
        "parts": sum.rows.iter().map(part).collect::<Vec<Value>>(),
    })
}

/// A vendor's table explained, as JSON.
#[pyfunction]
pub fn headroom_table(py: Python<'_>, path: PathBuf, settings: Settings) -> PyResult<String> {
    let question = settings.question(&[])?;
    let table = Table::read(&path).map_err(|error| error::scenario(py, &error))?;
    let answer = question.explain(&table).map_err(PyValueError::new_err)?;
    let (explanation, computed) = (&answer.explanation, &answer.computed);
    let lines = explanation.lines.iter().zip(&computed.lines).map(|(line, computed)| {
        json!({
            "rate": line.entry.rate,
            "cable": line.entry.cable,
            "xoff": line.entry.xoff.0,
            "cable_holds": line.cable_holds.0,
            "reading": line.reading.map(|bytes| bytes.0),
            "computed": computed.0,
            "is_half": line.is_half,
            "too_small": line.too_small,
        })
    });
    let rests = answer.rests.iter().map(|of| {
        json!({
            "rate": of.rest.rate,
            "bytes": of.bytes.0,
            "computed": of.computed.0,
            "phy": of.phy.map(|bytes| bytes.0),
            "remains": of.remains,
            "remains_ns": of.remains_ns,
        })
    });
    let value = json!({
        "lines": lines.collect::<Vec<Value>>(),
        "rests": rests.collect::<Vec<Value>>(),
        "cell": computed.cell,
        "explained": explanation.explained,
        "tried": explanation.tried,
        "as_good": explanation.as_good,
        "reading": explanation.reading,
    });
    Ok(value.to_string())
}

/// The worst case of a link that a search finds: the largest occupancy above XOFF in bytes, the runs that it took, and the
/// scenario.
#[pyfunction]
pub fn headroom_search(
    py: Python<'_>,
    rate: &str,
    cable: &str,
    settings: Settings,
) -> PyResult<(u64, usize, String)> {
    let (question, rate, cable) = settings.of_link(rate, cable)?;
    let (link, response) = question.simulated(rate, cable).map_err(PyValueError::new_err)?;
    let found = py.detach(|| search(&link, response)).map_err(|failed| match failed {
        Failed::TooLong(_) => PyValueError::new_err(failed.to_string()),
        Failed::Scenario(error) => error::scenario(py, &error),
        Failed::Violations(_) => PyRuntimeError::new_err(failed.to_string()),
    })?;
    Ok((found.bytes.0, found.runs, found.scenario))
}

/// How likely a pool of headroom overflows under the traffic of a variant, as JSON.
#[pyfunction]
pub fn headroom_risk(
    py: Python<'_>,
    checked: &Checked,
    variant: &str,
    count: u32,
    pools: Vec<String>,
    oversubscription: Vec<f64>,
    threads: Option<usize>,
) -> PyResult<String> {
    let pools: Vec<Bytes> =
        pools.iter().map(|text| parsed("pools", text)).collect::<PyResult<_>>()?;
    if pools.contains(&Bytes(0)) {
        let text = "a pool of 0B has no room for a frame: write a size above zero in `pools`";
        return Err(PyValueError::new_err(text));
    }
    let variant = checked.variant(py, variant)?;
    let seeds: Vec<u64> = (0..count).map(|number| checked.replication_seed(number)).collect();
    let threads = threads.unwrap_or_else(floodway_lab::all_cores);
    let all =
        py.detach(|| replications(variant, &seeds, threads)).map_err(|failed| match failed {
            NoRisk::NoHeadroom(why) => PyValueError::new_err(why),
            NoRisk::Violations(_) => PyRuntimeError::new_err(failed.to_string()),
        })?;
    let has_own = all.iter().flat_map(|one| &one.switches).any(|of| of.pool_bytes.is_some());
    let own = has_own.then_some((Size::Own, json!(null)));
    let parts = oversubscription.iter().map(|&n| (Size::Oversubscribed(n), json!(n)));
    let sizes = pools.iter().map(|size| (Size::Bytes(size.0), json!(null)));
    let risks = own.into_iter().chain(parts).chain(sizes);
    let risks = risks.map(|(size, n)| row(&risk(&all, size), n)).collect::<Vec<Value>>();
    let value = json!({
        "risks": risks,
        "peaks": peaks(&all),
        "safe_oversubscription": safe_oversubscription(&all),
        "simulated_ns": all.iter().map(|one| one.simulated_ns).sum::<f64>(),
        "pauses": all.iter().map(|one| one.pauses).sum::<u64>(),
        "lost": all.iter().map(|one| one.lost).sum::<u64>(),
    });
    Ok(value.to_string())
}

fn row(of: &Risk, oversubscription: Value) -> Value {
    let pool = match of.size {
        Size::Own => "scenario",
        Size::Oversubscribed(_) => "oversubscribed",
        Size::Bytes(_) => "size",
    };
    json!({
        "pool": pool,
        "oversubscription": oversubscription,
        "smallest_bytes": of.smallest_bytes,
        "largest_bytes": of.largest_bytes,
        "overflows": of.replications.count,
        "replications": of.replications.of,
        "probability": of.replications.share(),
        "probability_low": of.replications.low,
        "probability_high": of.replications.high,
        "per_second": of.per_second.value,
        "per_pause": of.per_pause.value,
    })
}

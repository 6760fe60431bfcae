//! `floodway headroom`: the headroom of a link as a sum of its parts, the headroom tables of switch
//! vendors explained, and how likely a pool of headroom overflows.

mod pool;
mod table;

use std::path::PathBuf;

use clap::{Args, value_parser};
use floodway_lab::headroom::{Failed, search};
use floodway_model::packet::length::SHORTEST_FRAME;
use floodway_model::{Bytes, Duration, Rate};
use floodway_scenario::headroom::question::{Phy, Question, Saved};
use floodway_scenario::headroom::{Cable, Row, Sum};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output;
use crate::save::{is_taken, save};
pub use pool::PoolOptions;

/// Options of `floodway headroom`.
#[derive(Args, Debug)]
pub struct HeadroomOptions {
    /// The rate of the link; several, separated by commas, give a table.
    #[arg(long, value_name = "RATE", value_delimiter = ',', default_value = "100Gbps")]
    pub rate: Vec<Rate>,
    /// The length of the cable, such as 40m or 2km; several, separated by commas, give a table.
    #[arg(long, value_name = "LENGTH", value_delimiter = ',', default_value = "40m")]
    pub cable: Vec<Cable>,
    /// The longest frame of any class, without preamble and interframe gap.
    #[arg(long, value_name = "BYTES", default_value = "9216", value_parser = value_parser!(u16).range(64..=16_384))]
    pub largest_frame: u16,
    /// The shortest frame of the lossless class; with cells, short frames take most of the buffer. Default 64.
    #[arg(long, value_name = "BYTES", default_value_t = SHORTEST_FRAME, value_parser = value_parser!(u16).range(64..=16_384), hide_default_value = true)]
    pub smallest_frame: u16,
    /// The cells in which the switch allocates its buffer. Default 1: byte by byte.
    #[arg(long, value_name = "BYTES", default_value = "1", value_parser = value_parser!(u16).range(1..=4_096), hide_default_value = true)]
    pub cell: u16,
    /// How many lossless classes the neighbor may pause by separate frames at the same time.
    #[arg(long, value_name = "N", default_value = "2", value_parser = value_parser!(u8).range(1..=8))]
    pub classes: u8,
    /// The time that the neighbor takes to obey. Default what IEEE 802.3 allows at the rate.
    #[arg(long, value_name = "TIME")]
    pub response: Option<Duration>,
    /// The switch's own time from a frame's arrival until it is counted.
    #[arg(long, value_name = "TIME", default_value = "0ns")]
    pub latency: Duration,
    /// Delays of MAC and PHY at the switch's end, sending and receiving together: a time, or `standard` for the
    /// most that IEEE 802.3 allows at the rate. Those of the neighbor are part of its response. Default none.
    #[arg(long, value_name = "TIME", default_value_t = Phy::None, hide_default_value = true,
          allow_hyphen_values = true)]
    pub phy: Phy,
    /// The delay of gearboxes and retimers at the switch's end, sending and receiving together.
    #[arg(long, value_name = "TIME", default_value = "0ns")]
    pub gearbox: Duration,
    /// A round trip that was measured, from the switch's MAC to the neighbor's and back with its response: it takes
    /// the place of cable, response, MAC and PHY.
    #[arg(long, value_name = "TIME", conflicts_with_all = ["table", "response", "phy", "gearbox"])]
    pub measured_delay: Option<Duration>,
    /// The propagation delay of a meter of cable.
    #[arg(long, value_name = "TIME", default_value = "5ns")]
    pub delay_per_meter: Duration,
    /// Explain a vendor's table (`pg_profile_lookup.ini` of SONiC) instead, line by line.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["rate", "cable"])]
    pub table: Option<PathBuf>,
    /// Search for the worst case by simulation, for one rate, one cable and one class.
    #[arg(long, conflicts_with = "table")]
    pub search: bool,
    /// Write the worst case that was found as a scenario.
    #[arg(long, value_name = "FILE", requires = "search")]
    pub save: Option<PathBuf>,
    /// How likely a pool of headroom overflows instead.
    #[command(flatten)]
    pub pool: PoolOptions,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// Prints a headroom, a table of headrooms, or the explanation of one.
pub fn headroom(options: &HeadroomOptions) -> Result<(), Failure> {
    if let Some(file) = &options.pool.scenario {
        return options.pool.run(file, options.json);
    }
    let question = options.question();
    question.check(&options.rate).map_err(Failure::Unknown)?;
    match &options.table {
        Some(file) => table::explain(&question, file, options.json),
        None if options.search => options.worst_case(&question),
        None => options.compute(&question),
    }
}

/// A headroom, and of what.
type Of = (Rate, Cable, Sum);

impl HeadroomOptions {
    fn question(&self) -> Question {
        Question {
            largest_frame: self.largest_frame,
            smallest_frame: self.smallest_frame,
            cell: self.cell,
            classes: self.classes,
            response: self.response,
            latency: self.latency,
            delay_per_meter: self.delay_per_meter,
            phy: self.phy,
            gearbox: self.gearbox,
            measured: self.measured_delay,
        }
    }

    /// Searches for the worst case.
    fn worst_case(&self, question: &Question) -> Result<(), Failure> {
        let ([rate], [cable], 1) = (&*self.rate, &*self.cable, self.classes) else {
            return Err(Failure::Unknown(
                "a search is for one rate, one cable and one class: add --classes 1, and give one of each".into(),
            ));
        };
        if let Some(file) = self.save.as_ref().filter(|file| is_taken(file)) {
            return Err(Failure::Unknown(format!(
                "{} is there already: remove it, or name another file with --save",
                file.display()
            )));
        }
        let (link, response) = question.simulated(*rate, *cable).map_err(Failure::Unknown)?;
        let sum = question.sum(*rate, *cable).map_err(Failure::Unknown)?;
        let saved = question.saved(*rate, *cable).map_err(Failure::Unknown)?;
        let found = search(&link, response).map_err(|failed| match failed {
            Failed::TooLong(_) => Failure::Unknown(failed.to_string()),
            Failed::Scenario(error) => Failure::Scenario(error),
            Failed::Violations(wrong) => Failure::Violations(wrong),
        })?;
        if let Some(file) = &self.save {
            save(file, "scenario", &found.scenario)?;
        }
        let short = sum.total.0 - found.bytes.0;
        if self.json {
            let mut value = object(&(*rate, *cable, sum), saved);
            value["found"] = json!(found.bytes);
            value["runs"] = json!(found.runs);
            return output::print_json(&value);
        }
        output::print(&format!(
            "{}\nA search of {} runs has found a case that takes {} bytes above XOFF, {} fewer than computed.\n{}{}",
            self.one(&(*rate, *cable, sum), saved),
            found.runs,
            grouped(found.bytes.0),
            grouped(short),
            match short > u64::from(link.cell.occupied(link.largest_frame)) {
                true =>
                    "That is more than the longest frame: there may be worse cases that it has missed.\n",
                false => "",
            },
            self.save
                .iter()
                .map(|file| format!("It is in {}.\n", output::path(file)))
                .collect::<String>()
        ))
    }

    fn compute(&self, question: &Question) -> Result<(), Failure> {
        let pairs: Vec<(Rate, Cable)> = self
            .rate
            .iter()
            .flat_map(|&rate| self.cable.iter().map(move |&cable| (rate, cable)))
            .collect();
        if question.measured.is_some() && pairs.len() > 1 {
            return Err(Failure::Unknown(
                "a measured round trip is that of one link: give one rate and one cable".into(),
            ));
        }
        let sums =
            pairs.into_iter().map(|(rate, cable)| Ok((rate, cable, question.sum(rate, cable)?)));
        let sums: Result<Vec<Of>, String> = sums.collect();
        let sums = sums.map_err(Failure::Unknown)?;
        let saved = match &*sums {
            [(rate, cable, _)] => question.saved(*rate, *cable).map_err(Failure::Unknown)?,
            _ => None,
        };
        if self.json {
            let all: Vec<Value> = sums.iter().map(|of| object(of, saved)).collect();
            return output::print_json(&all);
        }
        match &*sums {
            [one] => output::print(&self.one(one, saved)),
            _ => output::print(&self.grid(&sums)),
        }
    }

    /// A headroom with its parts.
    fn one(&self, (rate, cable, sum): &Of, saved: Option<Saved>) -> String {
        let mut rows = vec![["", "time", "on the wire", "in the buffer"].map(str::to_owned)];
        let some = |bytes: Bytes| match bytes.0 {
            0 => String::new(),
            bytes => grouped(bytes),
        };
        for row in &sum.rows {
            let time =
                if row.time == Duration::ZERO { String::new() } else { row.time.to_string() };
            rows.push([row.part.to_owned(), time, some(row.on_wire), some(row.buffer)]);
        }
        // Frames fill cells, and what the parts leave of the last one fills none.
        let parts: u64 = sum.rows.iter().map(|row| row.buffer.0).sum();
        if parts > sum.total.0 {
            let less = format!("-{}", grouped(parts - sum.total.0));
            rows.push(["less what is no whole frame", "", "", &less].map(str::to_owned));
        }
        let (time, on_wire) = sum
            .rows
            .iter()
            .fold((Duration::ZERO, 0), |(time, wire), row| (time + row.time, wire + row.on_wire.0));
        rows.push(
            ["together", &time.to_string(), &grouped(on_wire), &grouped(sum.total.0)]
                .map(str::to_owned),
        );
        let mut text = format!(
            "Headroom of {rate} over {cable}, in bytes\n\n{}\n{}\n",
            aligned(&rows),
            self.why(sum)
        );
        if let Some(Saved { worst, bytes, share }) = saved {
            text += &format!(
                "Without the measurement it is {} bytes: by the cable, and with the bounds of IEEE 802.3 for the \
                 neighbor's\nresponse and, where known, for MAC and PHY of this end. The measured one is {} bytes, or {:.1} %, {}.\n",
                grouped(worst.0),
                grouped(bytes.unsigned_abs()),
                share.abs() * 100.0,
                if bytes < 0 {
                    "more: the cable is longer, or a delay is not within these bounds"
                } else {
                    "less"
                },
            );
        }
        text
    }

    /// Totals by rate and cable.
    fn grid(&self, sums: &[Of]) -> String {
        let mut rows = vec![vec![String::new()]];
        rows[0].extend(self.cable.iter().map(Cable::to_string));
        for (rate, of_rate) in self.rate.iter().zip(sums.chunks(self.cable.len())) {
            let mut row = vec![rate.to_string()];
            row.extend(of_rate.iter().map(|(_, _, sum)| grouped(sum.total.0)));
            rows.push(row);
        }
        let why = sums.first().map_or_else(String::new, |(_, _, sum)| self.why(sum));
        format!("Headroom by rate and cable, in bytes\n\n{}\n{why}\n", aligned(&rows))
    }

    /// What the numbers stand on.
    fn why(&self, sum: &Sum) -> String {
        let response = match (self.response, self.measured_delay) {
            (_, Some(_)) => "cable, response, MAC and PHY are in the round trip".to_owned(),
            (Some(response), _) => format!("the neighbor obeys within {response}"),
            _ => "the neighbor obeys within what IEEE 802.3 clause 31B.3.7 allows".to_owned(),
        };
        let buffer = if self.cell == 1 {
            format!(
                "the buffer is counted\nbyte by byte, and frames of {} bytes fill most of it",
                self.largest_frame
            )
        } else {
            format!(
                "a frame of\n{} bytes takes {} bytes of the wire and {} of the buffer, in cells of {}, and no other takes as much \
                 for its time",
                sum.worst_frame.0,
                sum.worst_frame.0 + 20,
                sum.worst_occupied.0,
                self.cell
            )
        };
        let mut text = format!("Assumed: {response}; {buffer}.");
        let sources: Vec<String> = sum.rows.iter().filter_map(source).collect();
        if !sources.is_empty() {
            text += &format!("\n{}", sources.join("\n"));
        }
        text
    }
}

/// How a part is known, if that is not one of the inputs.
fn source(row: &Row) -> Option<String> {
    let (evidence, source) = (row.evidence?, row.source.as_ref()?);
    Some(format!("{}: {} ({source}).", row.part, evidence.name()))
}

/// A headroom for programs.
fn object((rate, cable, sum): &Of, saved: Option<Saved>) -> Value {
    let mut value = json!({ "rate": rate, "cable": cable, "sum": sum });
    if let Some(saved) = saved {
        value["saved"] = json!(saved);
    }
    value
}

/// A number with a comma for every three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Rows in columns, the first to the left and others to the right.
fn aligned<R: AsRef<[String]>>(rows: &[R]) -> String {
    let columns = rows.first().map_or(0, |row| row.as_ref().len());
    let width = |column: usize| rows.iter().map(|row| row.as_ref()[column].chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let line = |row: &R| {
        let mut text = String::from("  ");
        for (column, (cell, width)) in row.as_ref().iter().zip(&widths).enumerate() {
            text += &match column {
                0 => format!("{cell:width$}"),
                _ => format!("  {cell:>width$}"),
            };
        }
        text.trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

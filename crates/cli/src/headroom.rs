//! `floodway headroom`: the headroom of a link as a sum of its parts, the headroom tables of switch
//! vendors explained, and how likely a pool of headroom overflows.

mod pool;

use std::path::{Path, PathBuf};

use clap::{Args, value_parser};
use floodway_lab::headroom::{Failed, search};
use floodway_model::packet::length::SHORTEST_FRAME;
use floodway_model::{Bytes, Duration, Rate};
use floodway_scenario::headroom::lookup::Table;
use floodway_scenario::headroom::reading::{Cells, Explanation, Reading, Sonic};
use floodway_scenario::headroom::{Cable, Sum};
use floodway_sim::switch::cell::Cell;
use floodway_sim::switch::flow_control::pausing::{Link, standard_response};
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
    if options.smallest_frame > options.largest_frame {
        return Err(Failure::Unknown(format!(
            "the shortest frame ({}) is longer than the longest ({}): lower --smallest-frame or raise \
             --largest-frame",
            options.smallest_frame, options.largest_frame
        )));
    }
    if !options.cell().holds(options.largest_frame) {
        return Err(Failure::Unknown(
            "a frame in whole cells has more than 64 KB: lower --cell".into(),
        ));
    }
    options.check_range()?;
    match &options.table {
        Some(file) => options.explain(file),
        None if options.search => options.worst_case(),
        None => options.compute(),
    }
}

impl HeadroomOptions {
    fn cell(&self) -> Cell {
        Cell::of(self.cell)
    }

    fn link(&self, rate: Rate, cable: Cable, cell: Cell) -> Link {
        Link {
            rate,
            delay: cable.delay(self.delay_per_meter),
            lossless_classes: self.classes,
            smallest_frame: self.smallest_frame,
            largest_frame: self.largest_frame,
            wire_overhead: 20,
            latency: self.latency,
            cell,
        }
    }

    /// Refuses what no link is.
    fn check_range(&self) -> Result<(), Failure> {
        const FASTEST: Rate = Rate::from_gbps(10_000);
        let refuse = |what: String| Err(Failure::Unknown(what));
        if let Some(rate) = self.rate.iter().find(|rate| rate.0 == 0 || **rate > FASTEST) {
            return refuse(format!(
                "a link of {rate}: write a rate above zero and up to {FASTEST}"
            ));
        }
        let second = Duration::from_ms(1_000);
        let times = [("--response", self.response), ("--latency", Some(self.latency))];
        for (option, time) in times {
            if let Some(time) = time.filter(|time| *time > second) {
                return refuse(format!("{option} is {time}: write at most {second}"));
            }
        }
        let most = Duration::from_us(1);
        if self.delay_per_meter > most {
            return refuse(format!(
                "--delay-per-meter is {}: write at most {most}; fiber has 5ns",
                self.delay_per_meter
            ));
        }
        Ok(())
    }

    fn response(&self, rate: Rate) -> Duration {
        self.response.unwrap_or_else(|| standard_response(rate))
    }

    fn sum(&self, rate: Rate, cable: Cable, cell: Cell) -> Sum {
        Sum::of(&self.link(rate, cable, cell), self.response(rate))
    }

    /// Searches for the worst case.
    fn worst_case(&self) -> Result<(), Failure> {
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
        let (link, response) = (self.link(*rate, *cable, self.cell()), self.response(*rate));
        let sum = Sum::of(&link, response);
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
            return output::print_json(&json!({
                "rate": rate, "cable": cable, "sum": sum, "found": found.bytes, "runs": found.runs,
            }));
        }
        output::print(&format!(
            "{}\nA search of {} runs has found a case that takes {} bytes above XOFF, {} fewer than computed.\n{}{}",
            self.one(*rate, *cable, &sum),
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

    fn compute(&self) -> Result<(), Failure> {
        let pairs = self.rate.iter().flat_map(|&rate| self.cable.iter().map(move |&of| (rate, of)));
        let sums: Vec<(Rate, Cable, Sum)> =
            pairs.map(|(rate, cable)| (rate, cable, self.sum(rate, cable, self.cell()))).collect();
        if self.json {
            let one = |(rate, cable, sum): &(Rate, Cable, Sum)| json!({ "rate": rate, "cable": cable, "sum": sum });
            return output::print_json(&sums.iter().map(one).collect::<Vec<Value>>());
        }
        match &*sums {
            [(rate, cable, sum)] => output::print(&self.one(*rate, *cable, sum)),
            _ => output::print(&self.grid(&sums)),
        }
    }

    /// A headroom with its parts.
    fn one(&self, rate: Rate, cable: Cable, sum: &Sum) -> String {
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
        let (time, on_wire) = sum
            .rows
            .iter()
            .fold((Duration::ZERO, 0), |(time, wire), row| (time + row.time, wire + row.on_wire.0));
        rows.push(
            ["together", &time.to_string(), &grouped(on_wire), &grouped(sum.total.0)]
                .map(str::to_owned),
        );
        format!(
            "Headroom of {rate} over {cable}, in bytes\n\n{}\n{}\n",
            aligned(&rows),
            self.why(sum)
        )
    }

    /// Totals by rate and cable.
    fn grid(&self, sums: &[(Rate, Cable, Sum)]) -> String {
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
        let response = match self.response {
            Some(response) => format!("the neighbor obeys within {response}"),
            None => "the neighbor obeys within what IEEE 802.3 clause 31B.3.7 allows".to_owned(),
        };
        let buffer = if self.cell().is_byte() {
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
        format!("Assumed: {response}; {buffer}.")
    }

    fn explain(&self, file: &Path) -> Result<(), Failure> {
        let table = Table::read(file)?;
        let explanation = Explanation::of(&table, self.largest_frame);
        let cell = match &explanation.reading {
            _ if !self.cell().is_byte() => self.cell,
            Some(Reading::Cells(of)) => of.cell as u16,
            Some(Reading::Sonic(of)) => of.cell as u16,
            // All numbers are multiples of it, so it may be the cell.
            None if CELLS.contains(&explanation.unit.0) => explanation.unit.0 as u16,
            None => self.cell,
        };
        let ours = |line: &floodway_scenario::headroom::reading::Line| {
            self.sum(line.entry.rate, line.entry.cable, Cell::of(cell)).total
        };
        if self.json {
            let mut value = serde_json::to_value(&explanation).expect("numbers and names are JSON");
            let computed: Vec<Bytes> = explanation.lines.iter().map(ours).collect();
            value["computed"] = json!({ "cell": cell, "lines": computed });
            return output::print_json(&value);
        }
        let mut rows = vec![
            ["speed", "cable", "table", "cable holds", "reading", "computed", "table/computed", ""]
                .map(str::to_owned),
        ];
        for line in &explanation.lines {
            let (entry, computed) = (&line.entry, ours(line));
            rows.push([
                entry.rate.to_string(),
                entry.cable.to_string(),
                grouped(entry.xoff.0),
                grouped(line.cable_holds.0),
                line.reading.map_or(String::new(), |bytes| grouped(bytes.0)),
                grouped(computed.0),
                format!("{:.2}", entry.xoff.0 as f64 / computed.0.max(1) as f64),
                match (line.is_half, line.too_small) {
                    (true, true) => "half of the reading, less than the cable holds".to_owned(),
                    (true, false) => "half of the reading".to_owned(),
                    (false, true) => "less than the cable holds".to_owned(),
                    (false, false) => String::new(),
                },
            ]);
        }
        let text = format!(
            "{}, in bytes\n\n{}\n{}\n`computed` is for {}, frames of {} to {} bytes, {} and {} a meter.\n",
            file.display(),
            aligned(&rows),
            said(&explanation),
            match cell {
                1 => "a buffer that is counted byte by byte".to_owned(),
                cell => format!("cells of {cell} bytes"),
            },
            self.smallest_frame,
            self.largest_frame,
            match self.response {
                Some(response) => format!("a response of {response}"),
                None => "the response that IEEE 802.3 clause 31B.3.7 allows".to_owned(),
            },
            self.delay_per_meter,
        );
        output::print(&text)
    }
}

/// The cells of chips, in bytes.
const CELLS: std::ops::RangeInclusive<u64> = 48..=512;

/// What the reading is, in sentences.
fn said(explanation: &Explanation) -> String {
    let lines = explanation.lines.len();
    let mut text = match &explanation.reading {
        None => format!(
            "No reading of {} that were tried explains most of the lines.\n",
            explanation.tried
        ),
        Some(reading) => {
            let what = match reading {
                Reading::Cells(cells) => cells_said(cells),
                Reading::Sonic(sonic) => sonic_said(sonic),
            };
            let others = match explanation.as_good {
                1 => "no other explains".to_owned(),
                2 => "1 other explains".to_owned(),
                more => format!("{} others explain", more - 1),
            };
            let halves = explanation.lines.iter().filter(|line| line.is_half).count();
            let halves = match halves {
                0 => String::new(),
                1 => ", and 1 is half of it, as if two ports shared a pool".to_owned(),
                more => format!(", and {more} are half of it, as if two ports shared a pool"),
            };
            format!(
                "{} of {lines} lines are what this reading gives{halves}.\nOf {} readings that were tried, {others} as many:\n{what}",
                explanation.explained, explanation.tried
            )
        }
    };
    let growths: Vec<String> =
        explanation.growth.iter().map(|(rate, growth)| format!("{growth:.2} at {rate}")).collect();
    if !growths.is_empty() {
        text += &format!(
            "For each meter they grow by this multiple of what the cable holds: {}.\n",
            growths.join(", ")
        );
    }
    let small = explanation.lines.iter().filter(|line| line.too_small).count();
    if small > 0 {
        let are = if small == 1 { "line is" } else { "lines are" };
        text += &format!(
            "{small} {are} less than the cable holds: a link that is full of long frames overflows them, whatever \
             else\nthey contain.\n"
        );
    }
    text
}

fn cells_said(cells: &Cells) -> String {
    let mut text = format!(
        "  Cells of {} bytes, each filled by a frame of 64 bytes, which takes 84 on the wire ({:.2} times as \
         much),\n  at {} a meter. What does not depend on the cable:\n",
        cells.cell,
        cells.cell as f64 / 84.0,
        cells.meter
    );
    for rest in &cells.rests {
        let as_for = match rest.computed_for == rest.rate {
            true => String::new(),
            false => format!(", computed for {}", rest.computed_for),
        };
        let bytes = rest.cells * cells.cell as f64;
        let time = rest.cells * 84.0 * 8.0 / rest.computed_for.0 as f64;
        text += &format!(
            "  {:>8}  {:.0} cells, {} bytes, or {:.2}us of frames of 64 bytes{as_for}\n",
            rest.rate,
            rest.cells,
            grouped(bytes as u64),
            time * 1e6
        );
    }
    text
}

fn sonic_said(sonic: &Sonic) -> String {
    let response = match sonic.standard_response {
        true => "and the response that IEEE 802.3 allows",
        false => "and a response of 3,891 bytes at every speed",
    };
    format!(
        "  SONiC's formula: {} bytes, and a frame of {} bytes, the cable at 198,000 km/s, 819 bytes for MAC and\n  \
         PHY, {response}; {} % of it in small frames, in cells of {} bytes;\n  rounded up to 1024.\n",
        sonic.lossless_mtu, sonic.mtu, sonic.small_frames, sonic.cell
    )
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

//! `floodway headroom --table`: the lines of a vendor's headroom table, explained.

use std::path::Path;

use floodway_scenario::headroom::lookup::Table;
use floodway_scenario::headroom::question::{Answer, Computed, Phy, Question};
use floodway_scenario::headroom::reading::{Cells, Explanation, Reading, Sonic};
use floodway_scenario::headroom::rest::Explained;

use super::{aligned, grouped};
use crate::failure::Failure;
use crate::output;

/// Prints a table with its explanation.
pub fn explain(question: &Question, file: &Path, as_json: bool) -> Result<(), Failure> {
    let table = Table::read(file)?;
    let answer = question.explain(&table).map_err(Failure::Unknown)?;
    if as_json {
        return output::print_json(&answer);
    }
    let Answer { explanation, computed: Computed { cell, lines }, rests } = &answer;
    let mut rows = vec![
        ["speed", "cable", "table", "cable holds", "reading", "computed", "table/computed", ""]
            .map(str::to_owned),
    ];
    for (line, computed) in explanation.lines.iter().zip(lines) {
        let entry = &line.entry;
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
        "{}, in bytes\n\n{}\n{}{}\n`computed` is for {}, frames of {} to {} bytes, {}{} and {} a meter.\n",
        file.display(),
        aligned(&rows),
        said(explanation),
        in_parts(rests),
        match cell {
            1 => "a buffer that is counted byte by byte".to_owned(),
            cell => format!("cells of {cell} bytes"),
        },
        question.smallest_frame,
        question.largest_frame,
        match question.response {
            Some(response) => format!("a response of {response}"),
            None => "the response that IEEE 802.3 clause 31B.3.7 allows".to_owned(),
        },
        match question.phy {
            Phy::None => String::new(),
            Phy::Standard => ", MAC and PHY of this end at their bounds".to_owned(),
            Phy::Time(time) => format!(", {time} for MAC and PHY of this end"),
        },
        question.delay_per_meter,
    );
    output::print(&text)
}

/// What does not depend on the cable, beside the terms that are known.
fn in_parts(rests: &[Explained]) -> String {
    if rests.is_empty() {
        return String::new();
    }
    let mut rows = vec![
        ["", "without the cable", "computed", "MAC and PHY", "remains", "as a time"]
            .map(str::to_owned),
    ];
    for of in rests {
        let sign = if of.remains < 0 { "-" } else { "" };
        rows.push([
            of.rest.rate.to_string(),
            grouped(of.bytes.0),
            grouped(of.computed.0),
            of.phy.map_or("-".to_owned(), |phy| grouped(phy.0)),
            format!("{sign}{}", grouped(of.remains.unsigned_abs())),
            format!("{:.0}ns", of.remains_ns),
        ]);
    }
    format!(
        "\n{}\n`MAC and PHY` are the most that IEEE 802.3 allows at this end (see `--phy standard`). What remains has no term: \
         it is the\npipeline of the switch, or margin; below zero, the table has less than the bounds.\n",
        aligned(&rows)
    )
}

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

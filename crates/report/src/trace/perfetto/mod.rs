//! A recorded run as a trace for Perfetto's viewer, in its own form (TrackEvent in protobuf): what
//! waits in queues and what links carry as counters, pauses and flows as slices.
//!
//! ```text
//! jobs              rank by rank: slices for what it computed, sent, received and exchanged
//! flows             host by host: a slice for every flow, from its start to its last byte
//! switches (tier n) switch by switch and port by port:
//!                     busy        percent of the time, a counter
//!                     queue k     bytes that wait, a counter
//!                     paused k    slices: class k may not be sent
//! hosts             the same for the ports of hosts
//! explained flows   flow by flow and hop by hop: a slice for every part of its time, with arrows from the pauses
//!                   that stop it, and between these from the root on
//! ```
//!
//! Times are those of the simulation, to the nanosecond.

mod explained;
mod fabric;
mod flows;
mod jobs;
mod message;
#[cfg(test)]
mod tests;
mod writer;

use std::io::{self, Write};

use floodway_model::Table;

use explained::Told;
use writer::Writer;

/// Flows that a trace has at most; of more, those that began first. Viewers become slow beyond some
/// hundred thousand slices.
pub const FLOWS: usize = 100_000;

/// Steps of jobs that a trace has at most; of more, those that began first.
const STEPS: usize = 100_000;

/// Parts of explained flows that a trace has at most; of more, those of the flows with the largest slowdown.
const PARTS: usize = 100_000;

/// Writes the trace of a recorded run.
pub fn write(tables: &[Table], out: &mut (dyn Write + Send)) -> io::Result<()> {
    let mut writer = Writer::new(out);
    jobs::write(tables, &mut writer)?;
    flows::write(tables, &mut writer)?;
    let told = Told::of(tables);
    fabric::write(tables, &told, &mut writer)?;
    told.write(&mut writer)
}

//! A recorded run as a trace for Perfetto's viewer, in its own form (TrackEvent in protobuf): what
//! waits in queues and what links carry as counters, pauses and flows as slices.
//!
//! ```text
//! flows             host by host: a slice for every flow, from its start to its last byte
//! switches (tier n) switch by switch and port by port:
//!                     busy        percent of the time, a counter
//!                     queue k     bytes that wait, a counter
//!                     paused k    slices: class k may not be sent
//! hosts             the same for the ports of hosts
//! ```
//!
//! Times are those of the simulation, to the nanosecond.

mod fabric;
mod flows;
mod message;
#[cfg(test)]
mod tests;
mod writer;

use std::io::{self, Write};

use floodway_model::Table;

use writer::Writer;

/// Flows that a trace has at most; of more, those that began first. Viewers become slow beyond some
/// hundred thousand slices.
pub const FLOWS: usize = 100_000;

/// Writes the trace of a recorded run.
pub fn write(tables: &[Table], out: &mut (dyn Write + Send)) -> io::Result<()> {
    let mut writer = Writer::new(out);
    flows::write(tables, &mut writer)?;
    fabric::write(tables, &mut writer)
}

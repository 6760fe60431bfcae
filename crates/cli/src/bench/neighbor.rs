//! A process beside a measurement that takes caches and memory bandwidth from it, as those of others do on a host
//! that is shared.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, Stdio};
use std::thread;

use floodway_machine::neighbor;

use crate::failure::Failure;
use crate::program;

/// What it writes when it has walked through all of its memory.
const READY: &str = "walking";

/// The process, which ends with this value.
pub struct Neighbor(Child);

impl Neighbor {
    /// Starts it, and waits until it has all of its memory.
    pub fn start() -> Result<Self, Failure> {
        if thread::available_parallelism().map_or(1, usize::from) < 2 {
            return Err(Failure::Measurement(
                "a neighbor would take the only core that this machine has from the run: leave out \
                 --neighbor"
                    .to_owned(),
            ));
        }
        let failed = |error| Failure::System("start a process that walks through memory", error);
        let mut command = program::again();
        command.args(["bench", "--be-neighbor"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut neighbor = Self(command.spawn().map_err(failed)?);
        let mut line = String::new();
        if let Some(output) = neighbor.0.stdout.take() {
            BufReader::new(output).read_line(&mut line).map_err(failed)?;
        }
        if line.trim_end() != READY {
            return Err(Failure::Measurement(format!(
                "the process that walks through {} MiB beside the run has ended; what it said stands above",
                neighbor::WALKED >> 20
            )));
        }
        Ok(neighbor)
    }
}

impl Drop for Neighbor {
    fn drop(&mut self) {
        // Either may only fail if the process has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What the process does, until its standard input ends.
pub fn be() -> ! {
    program::end_with_standard_input();
    let mut passes = 0_u64;
    neighbor::walk(|| {
        if passes == 1 {
            // Nobody may be reading any more, which standard input says as well.
            let _ = writeln!(io::stdout(), "{READY}");
        }
        passes += 1;
    })
}

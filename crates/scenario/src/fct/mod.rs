//! Completion files of the HPCC authors' simulator (`fct.txt`; alibaba-edu/
//! High-Precision-Congestion-Control, `qp_finish` in `scratch/third.cc`): read, written from the flows
//! of a run, and compared with them flow by flow.
//!
//! A line is a flow that has completed, in the order of completion: source and destination as IPv4
//! addresses in hexadecimal, source and destination port, bytes, start, completion time and the
//! completion time on an idle network, all three in whole nanoseconds.

mod compare;
mod read;
mod run;

use std::fmt::Write;

pub use compare::{Comparison, Pair, compare};
pub use read::{load, read};
pub use run::{Completed, Flow, Unfit, of_run};

/// The first port of a source that a pair of hosts uses; each of its flows uses the next one.
const FIRST_SOURCE_PORT: u64 = 10_000;

/// The destination port of a flow that names none: that of the simulator's examples, whose scripts
/// take flows to port 100 for the traffic and those to 200 for incasts.
const DESTINATION_PORT: u64 = 100;

/// The largest number of a node that has an address of its own.
pub const LARGEST_NODE: u32 = 0xffff;

/// A line of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The number of the sending node.
    pub src: u32,
    /// The number of the receiving node.
    pub dst: u32,
    /// The sender's port.
    pub src_port: u64,
    /// The receiver's port.
    pub dst_port: u64,
    /// Payload of the message.
    pub bytes: u64,
    /// When it started.
    pub start_ns: u64,
    /// How long it took: there until the last acknowledgement is back.
    pub fct_ns: u64,
    /// What it would take alone, by the simulator's own formula.
    pub standalone_ns: u64,
}

/// The address of a node: `node_id_to_ip`.
const fn address(node: u32) -> u32 {
    0x0b00_0001 + ((node / 256) << 16) + ((node % 256) << 8)
}

/// The file of these completions.
pub fn text(completions: &[Completion]) -> String {
    let mut text = String::new();
    for one in completions {
        let Completion { src_port, dst_port, bytes, start_ns, fct_ns, standalone_ns, .. } = one;
        let (src, dst) = (address(one.src), address(one.dst));
        writeln!(
            text,
            "{src:08x} {dst:08x} {src_port} {dst_port} {bytes} {start_ns} {fct_ns} {standalone_ns}"
        )
        .expect("a string takes everything");
    }
    text
}

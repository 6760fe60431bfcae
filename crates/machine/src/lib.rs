//! Resources of the machine on which floodway runs. Nothing here depends on what is simulated.
//!
//! - [`calibration`]: how fast the machine is at the moment
//! - [`cores`]: cores on which threads begin that work together
//! - [`neighbor`]: a noisy neighbor, to measure beside
//! - [`memory`]: memory that the process holds, and that is still available to it
//! - [`damaged`]: guards against libraries that panic on damaged files
//! - [`disk`]: free disk space
//! - [`read`]: reading files, with a limit on their size
//! - [`printable`]: safe display of foreign text on a terminal

pub mod calibration;
pub mod cores;
pub mod damaged;
pub mod disk;
pub mod memory;
pub mod neighbor;
pub mod printable;
pub mod read;

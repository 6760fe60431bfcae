//! What floodway asks of the machine that it runs on. Nothing here knows what is simulated.
//!
//! - [`memory`]: how much the process holds, and how much it may still take
//! - [`damaged`]: reading with libraries that panic
//! - [`disk`]: how much space is left
//! - [`read`]: files, with a limit on their size
//! - [`printable`]: text of others on a terminal

pub mod damaged;
pub mod disk;
pub mod memory;
pub mod printable;
pub mod read;

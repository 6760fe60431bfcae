//! Until when a source stays paused: what the search for deadlocks asks.

/// What must go before a source may go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Held {
    /// Of its own bytes, wherever they wait, at most so many may be left.
    ByItsBytes(u64),
    /// Each of these places must let go of it, which it does when at most so many bytes are bound for
    /// it.
    ByPlaces(Vec<usize>, u64),
    /// Of all bytes in the switch at most so many may be left.
    ByMemory(u64),
}

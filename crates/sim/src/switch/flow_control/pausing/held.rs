//! Conditions for resuming a paused source, for deadlock detection.

/// What must leave before a source is resumed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Held {
    /// At most this many of its own bytes may be left, wherever they are queued.
    ByItsBytes(u64),
    /// Each of these places must release it, which happens when at most this many bytes are bound
    /// for the place.
    ByPlaces(Vec<usize>, u64),
    /// At most this many bytes may be left in the whole switch.
    ByMemory(u64),
}

//! What became of what was read.

/// What became of one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// The scenario says the same.
    Kept,
    /// The scenario says something close to it.
    Differs,
    /// There is nothing here that it would be, or the simulator itself does nothing with it.
    Nothing,
}

/// One key of a configuration, or something that it cannot choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// What became of it.
    pub fate: Fate,
    /// The key; what it is about if it is none.
    pub key: String,
    /// What was written; the simulator's own value in brackets if nothing was; empty if it is no key.
    pub value: String,
    /// Which setting it became, or what follows from there being none.
    pub meaning: String,
}

//! The table of counters.

tables! {
    /// What the mechanisms did during the measured interval, from `warmup_ns` on for `measured_ns`. What they did
    /// before and after it is in the tables of ports and queues only, which cover the whole run.
    counters {
        /// Name of the counter.
        name: String,
        /// Its value.
        value: u64,
        /// What it counts.
        meaning: String,
    }
}

//! The table of counters.

tables! {
    /// Counters of the measured interval, which begins at `warmup_ns` and lasts for `measured_ns`. Only the tables of ports
    /// and queues cover the whole run.
    counters {
        /// Name of the counter.
        name: String,
        /// Its value.
        value: u64,
        /// What it counts.
        meaning: String,
    }
}

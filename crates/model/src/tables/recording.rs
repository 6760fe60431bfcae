//! Tables of the recording of a run, which exist only with the key `record`.

tables! {
    /// What the record of the run holds, in one row. Only with the key record, of the first replication; so are the
    /// tables samples, backlogs and pause_intervals.
    record {
        /// Samples from the warm-up to the end of the run.
        samples: u64,
        /// Every n-th sample is recorded, beginning with the first: n.
        every: u64,
        /// Samples that are recorded.
        recorded_samples: u64,
        /// Time of the first recorded sample: the end of the warm-up.
        first_ns: f64,
        /// Time between two recorded samples.
        interval_ns: f64,
        /// Rows of the table pause_intervals.
        pause_intervals: u64,
        /// Later pauses that are not in it, because it has no more than 100,000 rows.
        pause_intervals_left_out: u64,
    }

    /// The hosts and switches of the fabric, one row each.
    nodes {
        /// Number of the node, as src and dst in the table flows.
        number: u64,
        /// Name of the node.
        node: String,
    }

    /// The ports of the fabric over time: one row per recorded sample and port, of switches and hosts, that sent, was
    /// paused, or had something waiting since the previous one. A port without a row did nothing. Only with the key
    /// record.
    samples {
        /// Time of the sample.
        time_ns: f64,
        /// Time since the previous recorded sample, or since the beginning of the run.
        interval_ns: f64,
        /// Name of the sending node.
        node: String,
        /// Port of the sending node.
        port: u64,
        /// Bytes of the frames that it began to send in that time, of every kind, without preamble and gap.
        sent_bytes: u64,
        /// How much of that time the wire was busy, preamble and gap included; over interval_ns it is the utilization.
        busy_ns: f64,
        /// How much of that time it was not allowed to send, summed over the classes of data: at most interval_ns for
        /// each.
        paused_ns: f64,
        /// Backlog at the time of the sample, in all data queues of the port; of a host in the buffer of its NIC, and
        /// what its receivers answer as data.
        backlog_bytes: u64,
        /// At the time of the sample: physical queues that Backpressure Flow Control has paused, directions that
        /// Directional Rate Control holds back, and, of a host, destinations to which Source Flow Control holds back
        /// traffic, by class.
        held: u64,
    }

    /// What waits in the data queues of ports at the recorded samples: one row per queue in which something waits, or
    /// did at the previous sample. The others are empty. Only with the key record.
    backlogs {
        /// Time of the sample.
        time_ns: f64,
        /// Name of the sending node.
        node: String,
        /// Port of the sending node.
        port: u64,
        /// Data queue of the port; of a host its class.
        queue: u64,
        /// What waits in it.
        backlog_bytes: u64,
    }

    /// Pauses of ports, of switches and hosts, from beginning to end, over the whole run: one row per port, class of
    /// data and time during which it was not allowed to send the class. If there are more than 100,000, those that
    /// began first. Only with the key record.
    pause_intervals {
        /// Name of the sending node.
        node: String,
        /// Port of the sending node.
        port: u64,
        /// Traffic class.
        class: u64,
        /// When it began.
        from_ns: f64,
        /// When it ended; if it had not when the run did, the end of the run.
        until_ns: f64,
    }
}

//! Tables about queues and switch buffers.

tables! {
    /// One row per egress queue of a switch, including what waits for it at the inputs of a crossbar. Samples cover the
    /// measured interval, everything else the whole run.
    queues {
        /// Name of the switch.
        node: String,
        /// Tier of the switch: 0 is next to the hosts.
        tier: u64,
        /// Port of the switch.
        port: u64,
        /// Queue of the port; the last is the control queue.
        queue: u64,
        /// Samples taken during the measurement.
        samples: u64,
        /// Mean of the sampled backlogs; empty if no sample was taken.
        mean_backlog_bytes: f64,
        /// Largest backlog of the whole run, not only of the samples.
        max_backlog_bytes: u64,
        /// Packets that joined the queue.
        packets: u64,
        /// Their frame bytes.
        bytes: u64,
        /// Packets that were marked with CE, or with a layer 2 indication, on joining or leaving.
        marked_packets: u64,
    }

    /// Distribution of the sampled backlogs of the queues of a tier, over the measured interval.
    depths {
        /// Tier of the switches.
        tier: u64,
        /// Number of the queue within its port.
        queue: u64,
        /// Upper edge of the bin, inclusive; 0 is an empty queue.
        up_to_bytes: u64,
        /// Samples in the bin, over all ports of the tier.
        samples: u64,
    }

    /// Distributions of the queue length and of the sojourn time at departures of packets with payload from the data
    /// queues of switches, over the measured interval. Departures of acknowledgments and other feedback are not counted,
    /// although they may be in the queue too. Empty without the key departures.
    departures {
        /// Name of the switch.
        node: String,
        /// Tier of the switch: 0 is next to the hosts.
        tier: u64,
        /// Port of the switch.
        port: u64,
        /// Data queue of the port.
        queue: u64,
        /// packets: by the length of the queue in packets of any kind, the one that leaves included; sojourn_ns: by the
        /// time from joining the queue to the begin of the transmission. A packet that finds the port idle leaves a
        /// queue of 1 packet after 0 ns.
        kind: String,
        /// Upper edge of the bin, inclusive, in packets or nanoseconds. Every length up to 4095 has a bin of its own,
        /// and the largest number of 64 bits stands for all above; times have 64 bins per doubling.
        up_to: u64,
        /// Packets with payload in the bin.
        departures: u64,
    }

    /// Sojourn times of packets with payload, one row per data queue of a switch from which any departed during the
    /// measured interval. Acknowledgments and other feedback are not counted, although they may be in the queue too. Empty without
    /// the key departures.
    sojourns {
        /// Name of the switch.
        node: String,
        /// Tier of the switch: 0 is next to the hosts.
        tier: u64,
        /// Port of the switch.
        port: u64,
        /// Data queue of the port.
        queue: u64,
        /// Packets with payload that left.
        departures: u64,
        /// Mean of the times from joining the queue to the begin of the transmission.
        mean_sojourn_ns: f64,
        /// The longest such time.
        max_sojourn_ns: f64,
    }

    /// Sojourn times over time: one row per data queue of a switch and interval of the measurement in which packets with
    /// payload departed from it. A queue has at most 400 intervals, of equal length; they begin at the warm-up's end.
    /// Empty without the key departures. What it has is in no fingerprint, because the other tables sum it up.
    sojourn_series {
        /// Name of the switch.
        node: String,
        /// Port of the switch.
        port: u64,
        /// Data queue of the port.
        queue: u64,
        /// End of the interval.
        time_ns: f64,
        /// Length of the interval.
        interval_ns: f64,
        /// Packets with payload that departed.
        departures: u64,
        /// Mean of their sojourn times.
        mean_sojourn_ns: f64,
        /// The longest of them.
        max_sojourn_ns: f64,
    }

    /// Backlog over time: one row per sample and queue number, over the ports of all switches.
    timeline {
        /// When the sample was taken.
        time_ns: f64,
        /// Number of the queue within its port.
        queue: u64,
        /// Mean backlog over all switch ports.
        mean_backlog_bytes: f64,
        /// Largest backlog of any switch port.
        max_backlog_bytes: u64,
        /// Ports, of switches and hosts, that may not send this class.
        paused_ports: u64,
    }

    /// One row per switch: the occupancy of its buffer by data. Samples cover the measured interval, everything else the
    /// whole run.
    switches {
        /// Name of the switch.
        node: String,
        /// Tier of the switch: 0 is next to the hosts.
        tier: u64,
        /// Its ports.
        ports: u64,
        /// Samples taken during the measurement.
        samples: u64,
        /// Mean sampled backlog of all data queues of the switch; empty if no sample was taken.
        mean_occupancy_bytes: f64,
        /// Largest backlog of all data queues of the switch together, at any time.
        max_occupancy_bytes: u64,
        /// Largest backlog of all data queues of any one of its ports, at any time.
        max_port_occupancy_bytes: u64,
    }

    /// Distribution of the sampled buffer occupancy of ports and of switches over the measured interval: all data queues
    /// together, without the control queue.
    occupancy {
        /// Tier of the switches.
        tier: u64,
        /// port: the data queues of one port; switch: those of all its ports.
        scope: String,
        /// Upper edge of the bin, inclusive; 0 is empty.
        up_to_bytes: u64,
        /// Samples in the bin, over all ports or switches of the tier.
        samples: u64,
    }

    /// One row per switch whose ports and lossless classes share a pool of headroom, over the whole run.
    headroom {
        /// Name of the switch.
        node: String,
        /// Tier of the switch: 0 is next to the hosts.
        tier: u64,
        /// Size of the pool.
        pool_bytes: u64,
        /// What all ports and lossless classes together may use, each as much as its own headroom. Divided by the
        /// size of the pool, it is the oversubscription.
        of_all_bytes: u64,
        /// Most bytes in use at any time, with the arriving frame, even if it leaves at once. A smaller pool would have
        /// lost something.
        max_bytes: u64,
        /// Episodes: from the first byte in the empty pool until it is empty again.
        episodes: u64,
    }

    /// How far episodes filled the pool of headroom of a switch. An episode lasts from the first byte in the empty pool until
    /// it is empty again.
    headroom_episodes {
        /// Name of the switch.
        node: String,
        /// Tier of the switch: 0 is next to the hosts.
        tier: u64,
        /// Upper edge of the bin of the largest use, inclusive. There are 64 bins per doubling, and below 128 bytes every
        /// number has its own.
        up_to_bytes: u64,
        /// Episodes in the bin; one that has not ended at the end of the run counts too.
        episodes: u64,
    }

    /// One row per ingress port of a switch with a crossbar: data that waits to cross, which is also counted in its egress
    /// queue. Samples cover the measured interval, everything else the whole run.
    inputs {
        /// Name of the switch.
        node: String,
        /// Tier of the switch: 0 is next to the hosts.
        tier: u64,
        /// Port of the switch.
        port: u64,
        /// Samples taken during the measurement.
        samples: u64,
        /// Mean of the sampled bytes that waited or were crossing; empty if no sample was taken.
        mean_backlog_bytes: f64,
        /// Most bytes that waited or were crossing, at any time.
        max_backlog_bytes: u64,
        /// Data packets that were queued.
        packets: u64,
        /// Their frame bytes.
        bytes: u64,
        /// Time in which data waited and none crossed: for a slot, for an output, or for the head before it.
        blocked_ns: f64,
    }
}

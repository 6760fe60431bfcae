//! Tables about ports and links.

tables! {
    /// One row per port, of switches and hosts, and data class, over the whole run. PAUSE, which stops all classes, has
    /// its frames in the row of class 0.
    pauses {
        /// Name of the node.
        node: String,
        /// Tier of the node: 0 is next to the hosts, 255 a host.
        tier: u64,
        /// Port of the node.
        port: u64,
        /// Traffic class.
        class: u64,
        /// Pause frames that the port sent to stop its neighbor, without refreshes.
        xoff_frames: u64,
        /// Pause frames that prolonged a pause.
        refresh_frames: u64,
        /// Pause frames that ended a pause of the neighbor.
        xon_frames: u64,
        /// Time during which the port itself was not allowed to send the class.
        paused_ns: f64,
        /// The longest such time without interruption.
        longest_pause_ns: f64,
    }

    /// One row per direction of a link, by its sending end, over the whole run.
    links {
        /// Name of the sending node.
        node: String,
        /// Port of the sending node.
        port: u64,
        /// Name of the receiving node.
        peer: String,
        /// Rate of the link.
        rate_gbps: f64,
        /// Frames sent, of every kind.
        frames: u64,
        /// Their bytes, without preamble and gap.
        bytes: u64,
        /// Fraction of the simulated time in which the wire was busy, preamble and gap included.
        utilization: f64,
    }

    /// One row per port of a host that has several, over the whole run. Only there if hosts have several ports.
    host_ports {
        /// Name of the host.
        host: String,
        /// Port of the host, counted from 0.
        port: u64,
        /// Name of the port as a node.
        node: String,
        /// Number of that node, as flows have it.
        number: u64,
        /// Name of the node at the other end of its link.
        peer: String,
        /// Rate at which it sends.
        rate_gbps: f64,
        /// Flows that it has begun to send.
        flows_sent: u64,
        /// Flows to it that have begun.
        flows_received: u64,
        /// Payload of the flows that it sends, as far as it has been delivered.
        sent_bytes: u64,
        /// Payload that was delivered to it.
        received_bytes: u64,
        /// Fraction of the simulated time in which it sent, preamble and gap included.
        utilization: f64,
    }

    /// One row per port, queue and reason for which packets were dropped, over the whole run.
    drops {
        /// Name of the switch; for packets lost on a link, also that of a host.
        node: String,
        /// Egress port; for packets without a route, the ingress port.
        port: u64,
        /// Egress queue for which the packets were bound.
        queue: u64,
        /// queue_full: no room in the egress queue; headroom_exceeded: no room for the ingress port and class, headroom
        /// included; egress_threshold: above what the egress pool lets the queue have; ingress_threshold: above what
        /// the ingress pool lets the port and class have; aqm: the AQM chose a packet that is not ECN-capable, or
        /// demanded a drop; link_down: the link was known to be down; no_route: no path was left;
        /// lost_on_link: the packet was on the link when it failed, was sent before the failure was detected, or met a
        /// random loss of the line; corrupted: the packet arrived with a bit error, with a link-level retry as often as it
        /// is sent again; watchdog: bound for a queue in a storm of pauses; pushed_out: dropped by the queue
        /// discipline to make room for another.
        reason: String,
        /// Packets dropped.
        packets: u64,
        /// Their frame bytes.
        bytes: u64,
    }

    /// One row per port and data queue for which packets were trimmed, over the whole run.
    trims {
        /// Name of the switch.
        node: String,
        /// Tier of the switch: 0 is next to the hosts.
        tier: u64,
        /// Egress port.
        port: u64,
        /// Data queue that the packets were bound for or waited in.
        queue: u64,
        /// Packets trimmed.
        packets: u64,
        /// Bytes that they lost: the difference to the length of their headers.
        bytes: u64,
    }

    /// Deadlocks: ports that wait for each other in a cycle when the run ends, so that none of them can ever send. One row
    /// per port and class. Empty without a deadlock; a long pause is not one.
    deadlocks {
        /// Number of the cycle.
        cycle: u64,
        /// Place in the cycle: each waits for the next, the last for the first.
        place: u64,
        /// Name of the switch.
        node: String,
        /// Egress port that is paused.
        port: u64,
        /// Traffic class; 0 with PAUSE, which stops all.
        class: u64,
        /// Name of the switch that pauses it.
        peer: String,
        /// When its pause began.
        paused_since_ns: f64,
        /// Bytes that wait in it.
        backlog_bytes: u64,
        /// Flows of these bytes.
        flows: u64,
    }

    /// The flows that fill the ports of the table deadlocks: one row per port, class and flow. Only of a run that ends in
    /// a deadlock.
    deadlock_flows {
        /// Number of the cycle.
        cycle: u64,
        /// Place in the cycle.
        place: u64,
        /// Number of the flow.
        flow: u64,
        /// Its bytes that wait there.
        bytes: u64,
    }

    /// Storms of pauses that the watchdog of PFC has found, one row per storm; empty without
    /// switch.flow_control.pfc.watchdog.
    watchdog_events {
        /// Name of the switch.
        node: String,
        /// Egress port.
        port: u64,
        /// Traffic class, the number of the queue.
        class: u64,
        /// When it was detected.
        detected_ns: f64,
        /// When it ended; empty if the run ended first.
        restored_ns: f64,
        /// Packets dropped because of it.
        dropped_packets: u64,
    }
}

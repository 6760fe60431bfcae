//! Tables of explained delays, which exist only with the key `explained_flows` and in what `floodway why` makes.

tables! {
    /// The flows whose delays are explained, one row each. Only with the key explained_flows, of the first replication;
    /// so are the tables delays, delay_parts, delay_losses, delay_marks and pause_causes.
    explained {
        /// Number of the flow.
        flow: u64,
        /// Name of the sending host.
        src: String,
        /// Name of the receiving host.
        dst: String,
        /// When it began.
        start_ps: u64,
        /// From its start to the arrival of its last byte. Its rows in the table delays add up to it.
        fct_ps: u64,
        /// Of that, serialization and propagation.
        ideal_ps: u64,
        /// 1 if it waited for another flow before it began.
        depends: u64,
        /// The last flow that it waited for, if it did, and otherwise 0.
        after: u64,
        /// 1 if all of its parts are in the table delay_parts.
        detailed: u64,
        /// The number of measured flows that it stands for in means: of large flows not every one is explained.
        stands_for: f64,
    }

    /// What each explained flow spent its time on: one row per flow, part and place, in the order in which the flow met
    /// them. The rows of a flow add up to its completion time.
    delays {
        /// Number of the flow.
        flow: u64,
        /// serialization, propagation: also on an idle network; rate: congestion control limited the rate of the
        /// sender; window: its window was full, or credit was missing; handshake: the connection was set up; recovery:
        /// a loss was not yet known; own_flow, other_flows, other_classes, mac_control: the port sent the same flow,
        /// another one of the class, one of another class, or a MAC control frame; paused: by PFC or PAUSE; held: by
        /// the scheduler or a mechanism, with an idle port; answer: the receiver had not yet acknowledged.
        part: String,
        /// Name of the node.
        node: String,
        /// Its egress port.
        port: u64,
        /// Name of the node at the other end.
        peer: String,
        /// 1 if it is part of a round trip for which the sender waited because its window was full.
        in_window: u64,
        /// Name of the switch whose queue is the root of the pauses, or because of whose queue Directional Rate Control
        /// holds packets back; empty for other parts, if a host asked for the pause, and if credit was on its way.
        root: String,
        /// The egress port of that queue.
        root_port: u64,
        /// Name of the node at the other end of that port.
        root_peer: String,
        /// The time.
        time_ps: u64,
        /// Number of flows that caused it: that were sent meanwhile or had bytes in the queue at the root.
        causes: u64,
        /// The flow among them that caused most of it; 0 if there is none. The time of a pause is divided by the bytes in
        /// the queue when the pause was requested.
        cause: u64,
        /// How much that one caused.
        cause_ps: u64,
    }

    /// The parts of single flows in the order of time, without gap or overlap: of the explained flows with the largest
    /// slowdown.
    delay_parts {
        /// Number of the flow.
        flow: u64,
        /// Start of the part.
        from_ps: u64,
        /// End of the part.
        to_ps: u64,
        /// As in the table delays.
        part: String,
        /// Name of the node.
        node: String,
        /// Its egress port.
        port: u64,
        /// Name of the node at the other end.
        peer: String,
        /// 1 if it is part of a round trip for which the sender waited because its window was full.
        in_window: u64,
        /// 1 if a flow caused it.
        has_cause: u64,
        /// That flow, or 0.
        cause: u64,
        /// As in the table delays.
        root: String,
        /// As in the table delays.
        root_port: u64,
        /// As in the table delays.
        root_peer: String,
    }

    /// What each packet of single flows spent its time on, from its generation to its arrival, without gap or overlap. Only of
    /// `floodway why --packets`, and of the first 100,000 packets of a flow that arrived.
    packet_parts {
        /// Number of the flow.
        flow: u64,
        /// Number of the packet in the flow.
        packet: u64,
        /// Start of the part. That of the first part is the generation of the packet.
        from_ps: u64,
        /// End of the part. That of the last part is the arrival of the packet.
        to_ps: u64,
        /// As in the table delays.
        part: String,
        /// Name of the node.
        node: String,
        /// Its egress port.
        port: u64,
        /// Name of the node at the other end.
        peer: String,
        /// 1 if a flow caused it.
        has_cause: u64,
        /// That flow, or 0.
        cause: u64,
        /// As in the table delays.
        root: String,
        /// As in the table delays.
        root_port: u64,
        /// As in the table delays.
        root_peer: String,
    }

    /// Packets of explained flows that were sent again: one row per loss.
    delay_losses {
        /// Number of the flow.
        flow: u64,
        /// Number of the packet in the flow.
        packet: u64,
        /// Name of the node that dropped it, or that sent it to a link which lost it.
        node: String,
        /// As in the table drops.
        reason: String,
    }

    /// Where packets of explained flows were marked.
    delay_marks {
        /// Number of the flow.
        flow: u64,
        /// Name of the switch.
        node: String,
        /// Its egress port.
        port: u64,
        /// Name of the node at the other end.
        peer: String,
        /// Packets marked.
        packets: u64,
    }

    /// What lowered the rates and windows of the flows whose parts are in the table delay_parts: one row per reduction, up to
    /// 2,000 per flow.
    delay_cuts {
        /// Number of the flow.
        flow: u64,
        /// When the sender generated the first packet afterwards.
        time_ps: u64,
        /// rate or window.
        limit: String,
        /// Before: bits per second of a rate, bytes of a window.
        before: f64,
        /// After.
        after: f64,
        /// What the sender had learned since the packet before: mark, that a packet was marked; notification, one from a
        /// switch; loss; measured: nothing of these, so that delays, telemetry or rates that it measures are the reason.
        reason: String,
        /// Name of the switch that marked the packet or sent the notification; otherwise empty.
        node: String,
        /// The egress port at which it marked the packet; otherwise 0.
        port: u64,
        /// Name of the node at the other end of that port; otherwise empty.
        peer: String,
    }

    /// Flows that filled the queues at the roots of pauses: one row per root and flow.
    root_flows {
        /// Name of the switch at the root.
        root: String,
        /// The egress port of the queue.
        root_port: u64,
        /// Name of the node at the other end of that port.
        root_peer: String,
        /// The class of the queue.
        class: u64,
        /// Number of the flow.
        flow: u64,
        /// Number of pauses with this root for which the flow had bytes in the queue.
        pauses: u64,
        /// The time of these pauses, each divided over flows by their bytes in the queue when it was requested.
        paused_ps: u64,
    }

    /// Pauses with their causes: one row per port, class and pause. A queue that is paused itself passes the blame on,
    /// to the queue that paused it; the root is the one that is not paused. If there are more than 100,000, those that
    /// began first.
    pause_causes {
        /// Name of the node that was paused.
        node: String,
        /// Port of that node.
        port: u64,
        /// Name of the node at the other end, which asked for the pause.
        peer: String,
        /// Traffic class.
        class: u64,
        /// When it began.
        from_ps: u64,
        /// When it ended, or the run.
        until_ps: u64,
        /// The egress port of the node at the other end with most of the bytes because of which it asked; as root_port
        /// if depth is 1.
        cause_port: u64,
        /// Name of the switch at the root; empty if a host asked for the pause, and if credit was on its way.
        root: String,
        /// The egress port of the queue at the root.
        root_port: u64,
        /// Name of the node at the other end of that port.
        root_peer: String,
        /// The class of that queue.
        root_class: u64,
        /// The flow with most bytes in it when the pause was requested; the table root_flows has all of them.
        root_flow: u64,
        /// Number of pauses from this one to the root.
        depth: u64,
    }
}

//! Tables about flows, applications and operations.

use super::Packed;

tables! {
    /// One row per flow that began, ordered by its number. Numbers follow start times, except for sequential flows and for
    /// flows that depend on others.
    flows {
        /// Number of the flow.
        flow: Packed<u64>,
        /// Workload of the scenario, counted from 0.
        workload: Packed<u64>,
        /// Node number of the sending host.
        src: Packed<u64>,
        /// Node number of the receiving host.
        dst: Packed<u64>,
        /// Payload of the message; 0 for a long-lived flow.
        bytes: Packed<u64>,
        /// Time at which the message was ready to be sent: for a sequential flow, when the previous one was complete; for a
        /// flow that depends on others, when the last of them had arrived or been handed over.
        start_ns: Packed<f64>,
        /// Time from which a long-lived flow sends nothing new; empty if it has no such time.
        stop_ns: Packed<f64>,
        /// Flow completion time: from the start to the arrival of the last byte at the receiver; empty if that did not
        /// happen before the run ended.
        fct_ns: Packed<f64>,
        /// Flow completion time at the sender: from the start to the arrival of the last acknowledgement, with which
        /// the whole message is acknowledged; empty if that did not happen before the run ended (a run that is measured
        /// until a time or the end of the arrivals ends as soon as all messages have arrived, with acknowledgements
        /// under way), for flows without a size, and where nothing is acknowledged (UDP, Ethernet). It is what the
        /// simulator of HPCC's authors writes to fct.txt.
        acked_fct_ns: Packed<f64>,
        /// Completion time on an idle network, by closed form; empty for a long-lived flow.
        ideal_fct_ns: Packed<f64>,
        /// fct_ns over ideal_fct_ns; empty if the flow did not complete.
        slowdown: Packed<f64>,
        /// Payload that arrived before the run ended, each byte once, including what a receiver holds behind a missing
        /// packet.
        delivered_bytes: Packed<u64>,
        /// Data packets that the sender put on the wire, retransmissions included.
        packets_sent: Packed<u64>,
        /// Of these, retransmissions.
        retransmitted_packets: Packed<u64>,
        /// Data packets of the flow that switches dropped or that were lost on links that failed, headers of trimmed
        /// ones among them.
        lost_packets: Packed<u64>,
        /// Mean of the round-trip times that the sender measured, one for each acknowledgement that gave one: TCP
        /// always, RoCEv2 for the congestion controls that need its acknowledgements, such as HPCC and Swift; empty for
        /// all others, and if there was none.
        mean_rtt_ns: Packed<f64>,
        /// Data packets that arrived with CE.
        marked_packets: Packed<u64>,
        /// 1 if the flow started after the warm-up, has a size and is of no ping and no call; statistics are over these
        /// flows.
        measured: Packed<u64>,
    }

    /// Payload delivered by each long-lived flow at every multiple of flow_samples until the end of the run; empty without
    /// that key.
    deliveries {
        /// When the sample was taken.
        time_ns: f64,
        /// Number of the flow.
        flow: u64,
        /// Payload that had arrived before this time, each byte once.
        delivered_bytes: u64,
    }

    /// One row per frame that an interactive application handed to its transport; empty without such applications.
    frames {
        /// Number of the flow.
        flow: u64,
        /// When it was made.
        made_ns: f64,
        /// Its payload.
        bytes: u64,
        /// When it had arrived completely and in order; empty if that did not happen before the run ended.
        arrived_ns: f64,
    }

    /// One row per database entry that a client handed to its transport; empty without such applications.
    entries {
        /// Number of the flow.
        flow: u64,
        /// When it was handed over.
        requested_ns: f64,
        /// Its payload.
        bytes: u64,
        /// When it had arrived completely and in order at the server; empty if that did not happen before the run
        /// ended.
        arrived_ns: f64,
        /// When the client had an acknowledgement of all of it; empty if that did not happen before the run ended.
        completed_ns: f64,
        /// 1 if it was handed over during the measured interval.
        measured: u64,
    }

    /// One row per segment that the client of an adaptive video requested; empty without such applications.
    video_segments {
        /// Workload of the scenario, counted from 0.
        workload: u64,
        /// Number of the flow.
        flow: u64,
        /// Number of the segment in its flow, counted from 0.
        segment: u64,
        /// Bitrate of the video in it, which the client has chosen.
        bitrate_bps: f64,
        /// Its payload.
        bytes: u64,
        /// When its request was at the server, which then hands it over.
        requested_ns: f64,
        /// When the client had all of it; empty if that did not happen before the run ended.
        arrived_ns: f64,
        /// Playing time of the content in the client's buffer, this segment included, when it had arrived; empty if that
        /// did not happen before the run or the flow ended.
        buffer_ns: f64,
        /// 1 if the buffer ran dry between the arrival of the segment before and that of this one.
        stalls: u64,
        /// Time without playback between these arrivals, after playback had started. Of a segment that has not arrived:
        /// until the run or the flow ended.
        stalled_ns: f64,
        /// Time from the start of the flow to that of playback, if playback started with this segment; otherwise empty.
        startup_ns: f64,
        /// 1 if it was requested during the measured interval.
        measured: u64,
    }

    /// One row per operation that began: a remote procedure call, which is a request and its response, one round of a
    /// collective, which is all of its messages, or a job, which is all messages and computations of its ranks. Empty
    /// without such workloads.
    operations {
        /// Workload of the scenario, counted from 0.
        workload: u64,
        /// Number of the operation in its workload, counted from 0; for a collective, the round.
        operation: u64,
        /// Node number of the host that sends the request; for a collective, that of its first rank; for a job, that of
        /// the first rank that sends.
        node: u64,
        /// Flows that it takes.
        flows: u64,
        /// Payload of all of them.
        bytes: u64,
        /// When the first of its flows began; for a job, when its programs did.
        start_ns: f64,
        /// When the last byte of all of them had arrived, and for a job, all of its ranks had finished; empty if that did
        /// not happen before the run ended.
        finish_ns: f64,
        /// 1 if it began after the warm-up; statistics are over these.
        measured: u64,
    }

    /// One row per ping that was sent: a request, and the echo that the other host sends as soon as it has the request.
    /// Empty without the workload ping.
    pings {
        /// Workload of the scenario, counted from 0.
        workload: u64,
        /// Number of the ping in its workload, counted from 0.
        ping: u64,
        /// Node number of the host that sends the request.
        client: u64,
        /// Node number of the host that echoes it.
        server: u64,
        /// When the request was sent.
        sent_ns: f64,
        /// From then to the arrival of the request; empty if that did not happen before the run ended.
        up_ns: f64,
        /// From the arrival of the request to that of the echo; empty if that did not happen before the run ended.
        down_ns: f64,
        /// Round-trip time: the sum of both; empty if a frame was lost or under way when the run ended.
        rtt_ns: f64,
    }

    /// One row per web page whose load has begun. Empty without the workload web.
    pages {
        /// Workload of the scenario, counted from 0.
        workload: u64,
        /// Number of the page in its workload, counted from 0.
        page: u64,
        /// Node number of the host that loads it.
        client: u64,
        /// Node number of the host that has it.
        server: u64,
        /// Number of objects, the root document included.
        objects: u64,
        /// Sum of their sizes.
        bytes: u64,
        /// Connections that are opened for it.
        connections: u64,
        /// Start of the navigation.
        start_ns: f64,
        /// Page load time: from then to the arrival of the last byte of the last object; empty if the page was not
        /// complete when the run ended.
        load_ns: f64,
        /// 1 if the navigation started during the measured interval.
        measured: u64,
    }

    /// One row per packet of a call. Empty without the workload voice.
    voice_packets {
        /// Workload of the scenario, counted from 0.
        workload: u64,
        /// Number of the call in its workload, counted from 0.
        call: u64,
        /// Number of the flow.
        flow: u64,
        /// Number of the packet in its flow, counted from 0.
        packet: u64,
        /// When it was sent; of a lost packet when it was due, at the interval of its codec.
        sent_ns: f64,
        /// From then to its arrival; empty if it was lost or under way when the run ended.
        delay_ns: f64,
        /// From when it was sent to when it was played; empty if it was not, because it was lost or late.
        playout_ns: f64,
        /// 1 if it was sent during the measured interval.
        measured: u64,
    }

    /// One row per call and direction, over the packets of the measured interval. Ratings are those of the E-model (ITU-T
    /// G.107). Empty without the workload voice. Not part of the fingerprint, because all of it follows from voice_packets.
    voice {
        /// Workload of the scenario, counted from 0.
        workload: u64,
        /// Number of the call in its workload, counted from 0.
        call: u64,
        /// `up` from the host that calls, `down` to it.
        direction: String,
        /// Node number of the sending host.
        src: u64,
        /// Node number of the receiving host.
        dst: u64,
        /// Packets that were sent.
        packets: u64,
        /// Of these, those that did not arrive before the run ended.
        lost: u64,
        /// Of these, those that arrived after they were to be played.
        late: u64,
        /// Mean length of a series of packets that were not played, lost or late, over that of random losses of the same
        /// share; at least 1.
        burst_ratio: f64,
        /// Mean delay of those that arrived; empty if none did.
        mean_delay_ns: f64,
        /// 99th percentile of their delays.
        p99_delay_ns: f64,
        /// Mean time from mouth to ear: the delay of the codec, and from sending to playing; empty if nothing was played.
        mouth_to_ear_ns: f64,
        /// Rating factor R, 0 to 100; 0 if nothing was played, empty if nothing was sent.
        rating: f64,
        /// Mean opinion score of R, 1 to 4.5.
        mos: f64,
    }

    /// One row per round of a collective that began, beside its row in `operations`. Bandwidths are as nccl-tests
    /// defines them. Empty without collectives. Not part of the fingerprint, because all of it follows from that row.
    collectives {
        /// Workload of the scenario, counted from 0.
        workload: u64,
        /// Number of the operation in its workload, counted from 0. Those of a job are counted from 1.
        operation: u64,
        /// `all_reduce`, `reduce_scatter`, `all_gather`, `broadcast` or `all_to_all`.
        kind: String,
        /// Ranks that take part.
        ranks: u64,
        /// Its size: the buffer of all_reduce and broadcast, all of the input of reduce_scatter and all_to_all, all of
        /// the output of all_gather.
        bytes: u64,
        /// Time from its beginning at the first rank until it was complete at all; empty if the run ended before.
        time_ns: f64,
        /// The size divided by the time.
        algorithm_bandwidth_bps: f64,
        /// That times 2 (N - 1) / N for all_reduce, 1 for broadcast, (N - 1) / N for the others, with N ranks: what the
        /// port of a rank must carry with an algorithm that sends no more than it has to.
        bus_bandwidth_bps: f64,
        /// 1 if it began after the warm-up; statistics are over these.
        measured: u64,
    }

    /// Distribution of the latencies of data packets that arrived during the measured interval, from their first byte
    /// leaving the memory of the source to their last byte in the memory of the destination; empty without the key
    /// latencies.
    latencies {
        /// Workload of the scenario, counted from 0.
        workload: u64,
        /// Upper edge of the bin, inclusive; there are 64 bins per doubling.
        up_to_ns: u64,
        /// Data packets in the bin.
        packets: u64,
        /// Sum of their latencies.
        total_ns: f64,
    }
}

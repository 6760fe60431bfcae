//! Tables of jobs whose ranks have programs.

tables! {
    /// One row per rank of a job. Only there with the workloads goal and chakra.
    ranks {
        /// Workload of the scenario, counted from 0.
        workload: u64,
        /// Rank in the job, counted from 0.
        rank: u64,
        /// Node number of its host.
        node: u64,
        /// Steps of its program.
        steps: u64,
        /// Of these, steps that have finished.
        steps_done: u64,
        /// When its program began.
        start_ns: f64,
        /// When the last of its steps finished; empty if that did not happen before the run ended.
        finish_ns: f64,
        /// Time during which at least one of its streams computed.
        compute_ns: f64,
        /// Exposed communication: the rest of the time from its start to its finish, or to the end of the run, in which
        /// it computed nothing because it waited for messages.
        exposed_ns: f64,
        /// Payload of the messages that it has begun to send.
        sent_bytes: u64,
    }

    /// One row per step of a rank that has begun, in order of workload, rank and step. Only there with the
    /// workloads goal and chakra.
    steps {
        /// Workload of the scenario, counted from 0.
        workload: u64,
        /// Rank in the job, counted from 0.
        rank: u64,
        /// Number of the step in the program of its rank, counted from 0.
        step: u64,
        /// Line of the file in which it is written, counted from 1; 0 if the file has no lines.
        line: u64,
        /// `compute`, `send` or `receive`; of traces also `hold` and `release`, between which a node occupies its
        /// stream, and `delay`, a time in which nothing is computed.
        kind: String,
        /// Its stream: cpu in GOAL; in Chakra 0 for the GPU, 1 for the CPU, 2 for communication, 3 for none.
        stream: u64,
        /// The flow that it sends or receives; empty if it computes.
        flow: f64,
        /// The other rank; empty if it computes.
        peer: f64,
        /// Payload of the message; 0 if it computes.
        bytes: u64,
        /// When it began: of a send, when the flow started, and of a receive, when it was posted.
        start_ns: f64,
        /// When it finished; empty if that did not happen before the run ended.
        finish_ns: f64,
    }

    /// Who waits for whom when the run ends: one row per step that has begun and not finished. Only there with the
    /// workloads goal and chakra.
    waits {
        /// Workload of the scenario, counted from 0.
        workload: u64,
        /// The rank that waits, counted from 0.
        rank: u64,
        /// Node number of its host.
        node: u64,
        /// Number of the step in the program of its rank, counted from 0.
        step: u64,
        /// Line of the file in which it is written, counted from 1; 0 if the file has no lines.
        line: u64,
        /// `compute`, `send`, `receive` or `delay`.
        kind: String,
        /// Since when it waits: when it began.
        since_ns: f64,
        /// The rank at the other end of the message; empty if it computes.
        peer: f64,
        /// Node number of the host of that rank; empty if it computes.
        peer_node: f64,
        /// The step at the other end of the message; empty if it computes.
        peer_step: f64,
        /// The line of that step; 0 if there is none.
        peer_line: u64,
        /// The flow that is the message; empty if it computes.
        flow: f64,
        /// Payload of the message; 0 if it computes.
        bytes: u64,
        /// Of these, bytes that have arrived.
        delivered_bytes: u64,
        /// 1 if the send has begun; 0 if the rank that is to send has not come to it.
        sent: u64,
    }

    /// One row per node of the trace of a rank, in order of workload, rank and node. Only there with the workload chakra.
    trace_nodes {
        /// Workload of the scenario, counted from 0.
        workload: u64,
        /// Rank in the job, counted from 0.
        rank: u64,
        /// Identifier of the node in the file of its rank.
        id: u64,
        /// Name of the node.
        name: String,
        /// `compute`, `memory`, `metadata`, `send`, `receive`, or the collective, like `all_reduce`.
        kind: String,
        /// Its first step in the table steps.
        first_step: u64,
        /// Number of its steps: of a collective one per message of this rank, besides its beginning and its end.
        steps: u64,
        /// When it began at this rank; empty if that did not happen before the run ended.
        start_ns: f64,
        /// When it finished at this rank; empty if that did not happen before the run ended.
        finish_ns: f64,
    }

    /// One row per round of the sampled workload that was complete when the run ended, in their order. Only there with
    /// `[sampling]`.
    rounds {
        /// Workload of the scenario, counted from 0.
        workload: u64,
        /// The round, or iteration of a training, counted from 0.
        round: u64,
        /// Rounds of the whole job, most of which are not simulated.
        of: u64,
        /// 1 of a round of the warm-up of `[sampling]`, which estimates leave out.
        warmup: u64,
        /// When all ranks had finished the round before; of the first round, when the job began.
        begin_ns: f64,
        /// When the last rank had finished this round.
        finish_ns: f64,
        /// Time of the round: from `begin_ns` to `finish_ns`.
        time_ns: f64,
        /// Of a collective, the time from the first message of any rank to the last arrival; empty for a training.
        operation_ns: f64,
        /// Of a collective, its bus bandwidth as nccl-tests defines it; empty for a training.
        bus_bandwidth_bps: f64,
        /// Of a training, the time in which a rank computed nothing between its ends of the round before and of this
        /// one, mean over the ranks; empty for a collective.
        exposed_ns: f64,
        /// Of a training, the time in which a rank computed, mean over the ranks; empty for a collective.
        compute_ns: f64,
        /// 1 if every flow of the round has the same times, packets and marks, counted from the beginning of the round,
        /// as its counterpart in the round before.
        repeats: u64,
        /// 1 if everything that was sent before had been acknowledged when the round began, longer ago than a frame
        /// takes through the network.
        at_rest: u64,
    }

    /// One row per complete round of the sampled workload and per other workload, with its flows that have a size. Only
    /// there with `[sampling]`.
    round_flows {
        /// Workload of the flows, counted from 0.
        workload: u64,
        /// The round of the sampled workload, counted from 0.
        round: u64,
        /// Flows that began in the round.
        begun: u64,
        /// Sum over all flows of the time in the round during which they were in progress: from their start until all
        /// of the flow had arrived.
        active_ns: f64,
        /// Of the flows that began in the round, those that completed before the run ended.
        completed: u64,
        /// Sum of their completion times.
        fct_ns: f64,
    }

    /// What other workloads were to send in each round of the whole job: one row per round, of which those after the
    /// simulated ones have the mean length of those after the warm-up. Only there with `[sampling]`.
    round_loads {
        /// The round of the sampled workload, counted from 0.
        round: u64,
        /// When it begins.
        begin_ns: f64,
        /// Payload of flows whose size and start are known before the run, each distributed over its time on the link of
        /// its source, as many times as long as it took flows in the simulated rounds.
        bytes: f64,
    }
}

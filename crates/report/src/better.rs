//! Whether less or more of a metric is better.

use serde::Serialize;

/// Which values of a metric are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Small ones: a completion time, a number of dropped packets.
    Less,
    /// Large ones: a goodput.
    More,
}

/// Ends of names of which more is better.
const MORE: [&str; 12] = [
    "video_bitrate_bps",
    "_mos",
    "_mos_up",
    "_mos_down",
    "goodput_bps",
    "goodput_gbps",
    "throughput_bps",
    "bandwidth_bps",
    "operations_per_s",
    "_finished",
    "data_bytes_delivered",
    "persistent_bytes_delivered",
];

/// Ends of names of which less is better.
const LESS: [&str; 39] = [
    "video_stalls",
    "video_stalled_ns",
    "video_switches",
    "video_startup_ns",
    "page_load_ns",
    "pages_incomplete",
    "voice_missing_up",
    "voice_missing_down",
    "_rtt_ns",
    "_up_ns",
    "_down_ns",
    "pings_lost",
    "unfinished",
    "latency_ns",
    "sojourn_ns",
    "response_ns",
    "operation_ns",
    "exposed_ns",
    "paused_ns",
    "drc_stopped_ns",
    "pause_frames",
    "xoff_frames",
    "backlog_bytes",
    "occupancy_bytes",
    "headroom_pool_max_bytes",
    "timeouts",
    "naks_sent",
    "headers_dropped",
    "retransmitted_packets",
    "reordered_packets",
    "lost_on_links",
    "lost_to_errors",
    "replayed_frames",
    "watchdog_drops",
    "watchdog_storms",
    "flows_not_begun",
    "deadlocks",
    "deadlocked_ports",
    "deadlocked_flows",
];

impl Better {
    /// Of a metric of a run by its name, also of a workload, a tier, a queue or a class of flow sizes;
    /// none where neither is better in itself, such as the number of marked packets.
    pub fn of(metric: &str) -> Option<Self> {
        let ends = |ends: &[&str]| ends.iter().any(|end| metric.ends_with(end));
        let of_flows =
            |name: &str| metric.starts_with(name) || metric.contains(&format!("_{name}"));
        if ends(&MORE) || metric == "finished" {
            return Some(Self::More);
        }
        let less = ends(&LESS)
            || of_flows("fct_")
            || of_flows("slowdown_")
            || metric.starts_with("dropped_packets");
        less.then_some(Self::Less)
    }

    /// How two values compare: the better one is less.
    pub fn compare(self, a: f64, b: f64) -> std::cmp::Ordering {
        match self {
            Self::Less => a.total_cmp(&b),
            Self::More => b.total_cmp(&a),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_that_usually_matters_has_a_direction_or_none_in_itself() {
        for name in [
            "fct_mean_ns",
            "under_100KB_fct_p99_ns",
            "over_10MB_slowdown_p99",
            "unfinished",
            "over_10MB_unfinished",
            "paused_ns",
            "tier_0_paused_ns",
            "dropped_packets",
            "dropped_packets_queue_full",
            "switch_p99_occupancy_bytes",
            "queue_0_mean_sojourn_ns",
            "p99_latency_ns",
            "workload_1_p99_response_ns",
            "workload_0_entries_unfinished",
            "workload_0_mean_operation_ns",
        ] {
            assert_eq!(Better::of(name), Some(Better::Less), "{name}");
        }
        for name in [
            "persistent_goodput_gbps",
            "workload_0_goodput_bps",
            "workload_0_entry_throughput_bps",
            "throughput_bps",
            "finished",
            "under_100KB_finished",
            "workload_2_operations_per_s",
        ] {
            assert_eq!(Better::of(name), Some(Better::More), "{name}");
        }
        for name in ["marked_packets", "cnps_sent", "hops", "measured_ns", "isolations", "flows"] {
            assert_eq!(Better::of(name), None, "{name}");
        }
    }
}

//! Cross-checks of AQM parameters with the rest of the switch.

use floodway_model::check::Findings;

use super::Spec;
use crate::switch::check::{Facts, there_are};
use crate::switch::{classify, scheduler};

impl Spec {
    /// Checks that the queues allow AQM decisions at dequeue if the AQM needs them, and that there
    /// are two queues if the AQM is for a dual queue.
    pub fn check_beside(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        let bfc = facts.switch.flow_control.bfc.is_some();
        if self.decides_on_departure() && bfc {
            let otherwise =
                "choose an AQM that judges arrivals only, for example [switch.aqm.step]";
            findings.error(
                ["/switch.flow_control.bfc", ""],
                format!(
                    "`{}` judges packets that leave, and those of Backpressure Flow Control leave by \
                     physical queue",
                    findings.path("")
                ),
                self.on_arrival_instead().unwrap_or(otherwise),
            );
        }
        if let Self::Ramp(ramp) = self {
            ramp.check_queues(facts, findings);
        }
        if self.is_for_two_queues() {
            self.dual_queue(facts, findings);
        }
    }

    /// Checks what an AQM for a dual queue requires.
    fn dual_queue(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        let switch = facts.switch;
        let count = switch.queue.count;
        let what = format!(
            "`{}` is for two queues, 0 for low latency and 1 for classic packets",
            findings.path("")
        );
        if count != 2 {
            findings.error(
                ["/switch.queue.count", ""],
                format!("{what}, but {}", there_are(count)),
                "write `switch.queue.count` = 2",
            );
        }
        if !matches!(switch.classify, classify::Spec::Ecn(_)) {
            findings.error(
                ["/switch.classify", ""],
                format!("{what}, but `{}` assigns packets otherwise", switch.classify.name()),
                "choose [switch.classify.ecn]",
            );
        }
        if let scheduler::Spec::Drr(_) = &switch.scheduler
            && count == 2
        {
            let (share, all) = switch.scheduler.share(0, 0b11, count);
            if 2 * share <= all {
                findings.error(
                    ["/switch.scheduler", ""],
                    format!("{what}, but `drr` gives the low latency queue no priority"),
                    "choose [switch.scheduler.strict], [switch.scheduler.wrr] or \
                     [switch.scheduler.time_shifted]",
                );
            }
        }
    }
}

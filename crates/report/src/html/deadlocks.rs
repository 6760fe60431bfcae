//! The section about deadlocks: in which order the ports of a cycle were paused, and what fills them.

use maud::html;

use super::section::Section;
use super::r#type::{raw, set};
use super::{Page, tables};
use crate::deadlock::Member;
use crate::words;

/// Flows of a port that are named.
const FLOWS: usize = 3;

impl Page<'_> {
    /// The ports of every cycle, in the order in which they were paused.
    pub(super) fn deadlocks(&self) -> Option<Section> {
        let variants = self.summary.order.iter().enumerate();
        let all: Vec<(usize, &String, &[Member])> = variants
            .map(|(series, name)| (series, name, self.experiment.deadlock(series)))
            .filter(|(_, _, members)| !members.is_empty())
            .collect();
        if all.is_empty() {
            return None;
        }
        let mut section = Section::new("deadlocks", "Deadlocks");
        section.text(html! {
            p {
                "Ports that wait for each other when the run ends, in the order in which they were paused. The last pause \
                 of a cycle closes it. The table " code { "deadlock_flows" } " has all flows."
            }
            div.scroll {
                table {
                    thead {
                        tr {
                            th { "port" } th { "class" } th { "paused" br; "since" } th { "after the" br; "first" }
                            th { "waiting" } th.text { "most of it" }
                        }
                    }
                    tbody {
                        @for (series, name, members) in &all {
                            tr.group { td colspan="6" { (tables::key(*series, name)) } }
                            @for cycle in members.chunk_by(|a, b| a.cycle == b.cycle) {
                                @for member in cycle {
                                    tr {
                                        td { (raw(&member.ends.0)) " to " (raw(&member.ends.1)) }
                                        td { (member.class) }
                                        td { (self.played((member.since_ns * 1e3).round() as u64)) }
                                        td { (set(&words::time(member.since_ns - cycle[0].since_ns))) }
                                        td { (set(&words::bytes(member.bytes as f64))) }
                                        td.text.wrap { (set(&flows(member))) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        });
        Some(section)
    }
}

/// The flows with most bytes in a port.
fn flows(member: &Member) -> String {
    let one = |(flow, bytes): &(u64, u64)| {
        let share = 100.0 * *bytes as f64 / member.bytes.max(1) as f64;
        format!("flow {flow} ({share:.0} %)")
    };
    let mut named: Vec<String> = member.flows.iter().take(FLOWS).map(one).collect();
    if let more @ 1.. = member.flows.len().saturating_sub(FLOWS) {
        named.push(format!("{more} more"));
    }
    words::list(&named)
}

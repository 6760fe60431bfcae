//! The section about ranks of jobs: which finish last, and what they spend their time on.

use maud::html;

use super::section::Section;
use super::r#type::set;
use super::{Page, tables};
use crate::jobs::Rank;
use crate::words;

impl Page<'_> {
    /// The ranks that finish last.
    pub(super) fn ranks(&self) -> Option<Section> {
        let variants = self.summary.order.iter().enumerate();
        let all: Vec<(usize, &String, &[Rank])> = variants
            .map(|(series, name)| (series, name, self.experiment.ranks(series)))
            .filter(|(_, _, ranks)| !ranks.is_empty())
            .collect();
        if all.is_empty() {
            return None;
        }
        let time = |ns: f64| if ns.is_nan() { "not".to_owned() } else { words::time(ns) };
        let share = |rank: &Rank| {
            let whole = (rank.compute_ns + rank.exposed_ns).max(f64::MIN_POSITIVE);
            format!("{:.1} %", 100.0 * rank.exposed_ns / whole)
        };
        let mut section = Section::new("ranks", "Ranks of jobs");
        section.text(html! {
            p {
                "The ranks that finish last, in the first replication. A rank computes as long as at least one of its \
                 streams does; the rest of its time is exposed communication. The table " code { "ranks" } " has all \
                 ranks, and " code { "steps" } " what each of them did when."
            }
            div.scroll {
                table {
                    thead {
                        tr {
                            th.text { "workload" } th { "rank" } th { "node" } th { "finished" } th { "computed" }
                            th { "exposed" br; "communication" } th { "share" }
                        }
                    }
                    tbody {
                        @for (series, name, ranks) in &all {
                            tr.group { td colspan="7" { (tables::key(*series, name)) } }
                            @for rank in *ranks {
                                tr {
                                    td.text { (set(&self.summary.workload(rank.workload))) }
                                    td { (rank.rank.0) }
                                    td { (rank.rank.1) }
                                    td { (set(&time(rank.finish_ns))) }
                                    td { (set(&words::time(rank.compute_ns))) }
                                    td { (set(&words::time(rank.exposed_ns))) }
                                    td { (set(&share(rank))) }
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

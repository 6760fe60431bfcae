//! The section about hosts with several ports: which of them carried what.

use maud::html;

use super::section::Section;
use super::r#type::set;
use super::{Page, tables};
use crate::host_ports::Ports;
use crate::words;

impl Page<'_> {
    /// What the ports of hosts carried.
    pub(super) fn host_ports(&self) -> Option<Section> {
        let variants = self.summary.order.iter().enumerate();
        let all: Vec<(usize, &String, &[Ports])> = variants
            .map(|(series, name)| (series, name, self.experiment.host_ports(series)))
            .filter(|(_, _, ports)| !ports.is_empty())
            .collect();
        if all.is_empty() {
            return None;
        }
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        let mut section = Section::new("host-ports", "Ports of hosts");
        section.text(html! {
            p {
                "What the ports of hosts sent, by the number of the port at its host and its rate, in the first \
                 replication, over the whole run. The table " code { "host_ports" } " has every port."
            }
            div.scroll {
                table {
                    thead {
                        tr {
                            th { "port" } th { "rate" } th { "hosts" } th { "flows" } th { "payload" }
                            th { "utilization," br; "mean" } th { "largest" } th.text { "of" }
                        }
                    }
                    tbody {
                        @for (series, name, ports) in &all {
                            tr.group { td colspan="8" { (tables::key(*series, name)) } }
                            @for port in *ports {
                                tr {
                                    td { (port.port) }
                                    td { (set(&format!("{} Gb/s", port.rate_gbps))) }
                                    td { (port.hosts) }
                                    td { (set(&words::count(port.flows as f64))) }
                                    td { (set(&words::bytes(port.bytes as f64))) }
                                    td { (set(&percent(port.busy))) }
                                    td { (set(&percent(port.busiest.1))) }
                                    td.text { (set(&port.busiest.0)) }
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

//! The scenario of a capture: its hosts on one switch, and its flows as files.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::net::IpAddr;

use super::{Account, Flow, Imported, Transport};

/// Makes the scenario. Times begin with the first flow.
pub fn of(name: &str, flows: Vec<Flow>, account: Account) -> Imported {
    let ends = flows.iter().flat_map(|flow| [flow.source, flow.destination]);
    let hosts: Vec<IpAddr> = ends.collect::<BTreeSet<_>>().into_iter().collect();
    let first = flows.iter().map(|flow| flow.start_ns).min().unwrap_or(0);
    let last = flows.iter().map(|flow| flow.start_ns - first).max().unwrap_or(0);
    let mut scenario = head(name, &flows, &hosts, last);
    let mut files = Vec::new();
    for transport in Transport::ALL {
        let of: Vec<&Flow> = flows.iter().filter(|flow| flow.transport == transport).collect();
        if of.is_empty() {
            continue;
        }
        let file = format!("flows-{}.csv", transport.name());
        let kind = transport.name();
        let _ = write!(
            scenario,
            "\n[[workload]]\nname = \"{kind}\"\n[workload.file]\npath = \"{file}\"\n[workload.transport.{kind}]\n"
        );
        files.push((file, table(&of, &hosts, first)));
    }
    Imported { scenario, files, flows, hosts, account }
}

fn head(name: &str, flows: &[Flow], hosts: &[IpAddr], last: u64) -> String {
    let count = hosts.len();
    let arrivals = last + 1;
    format!(
        "# The traffic of a capture: {} flows of {} hosts. The network is not in it, and is a star until you say\n\
         # what it is; host 0 has the first address of the list in the files of flows.\n\n\
         name = \"{name}\"\nquestion = \"What does this network do with the traffic of the capture?\"\n\n\
         arrivals = \"{arrivals}ns\"\nlimit = \"{}ns\"\n\n[topology.star]\nhosts = {count}\n",
        flows.len(),
        hosts.len(),
        arrivals.saturating_mul(10).max(1_000_000_000),
    ) + match flows.iter().any(|flow| flow.transport == Transport::Rocev2) {
        // The usual congestion control of RoCEv2 needs marks.
        true => "\n[switch.aqm.ramp]\n",
        false => "",
    }
}

/// The flows of one transport, with the hosts in front.
fn table(flows: &[&Flow], hosts: &[IpAddr], first: u64) -> String {
    let mut text = String::new();
    for (number, host) in hosts.iter().enumerate() {
        let _ = writeln!(text, "# host {number} is {host}");
    }
    text += "src,dst,bytes,start_ns\n";
    let number = |host: IpAddr| hosts.binary_search(&host).expect("it is one of them");
    for flow in flows {
        let (source, destination) = (number(flow.source), number(flow.destination));
        let _ = writeln!(text, "{source},{destination},{},{}", flow.bytes, flow.start_ns - first);
    }
    text
}

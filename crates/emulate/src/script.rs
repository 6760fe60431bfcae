//! The first program of a kernel: a script of the shell that sets up its network and runs the command.

use std::fmt::Write;
use std::net::Ipv4Addr;

use floodway_sim::kernel::{Kernel, Port};
use floodway_wire::Mac;

use crate::control;

/// Files in the directory of a kernel.
pub const SCRIPT: &str = "init";
/// The table of hosts.
pub const HOSTS: &str = "hosts";
/// The command.
pub const COMMAND: &str = "command";
/// What the command prints.
pub const OUTPUT: &str = "output";
/// Its exit status.
pub const STATUS: &str = "status";
/// What the kernel prints.
pub const CONSOLE: &str = "console";

/// A host as kernels see it.
#[derive(Clone, Copy, Debug)]
pub struct Neighbor {
    /// Its number.
    pub number: u32,
    /// Its address.
    pub ip: Ipv4Addr,
    /// The address of its NIC.
    pub mac: Mac,
}

impl Neighbor {
    /// The name by which programs find it.
    pub fn name(&self) -> String {
        format!("host-{}", self.number)
    }
}

/// The table of hosts.
pub fn hosts(neighbors: &[Neighbor]) -> String {
    let mut table = "127.0.0.1 localhost\n".to_owned();
    for neighbor in neighbors {
        let _ = writeln!(table, "{} {}", neighbor.ip, neighbor.name());
    }
    table
}

/// Before anything else: what programs expect, and a place to write to.
const BEGIN: &str = r#"#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd -P)
export PATH=/run/host:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmp /run
mkdir /run/host /run/work
mount -t hostfs -o "$here" none /run/host
mount --bind /run/host/hosts /etc/hosts
mount -t tmpfs tmp /tmp
cd /run/host || exit
: >output
fail() {
  echo "floodway: $1" >>output
  echo 1 >status
  sync
  exec endpoint idle
}
"#;

/// The last lines. The command has its output in a file, and a directory of its own.
const END: &str = r#"cd /run/work || fail "no directory for the command"
sh /run/host/command >>/run/host/output 2>&1 </dev/null
echo $? >/run/host/status
sync
exec endpoint idle
"#;

/// The script of a kernel, which is one of the neighbors. `epoch` is the time of day at the beginning of the run in
/// nanoseconds.
pub fn script(kernel: &Kernel, number: u32, neighbors: &[Neighbor], epoch: u64) -> String {
    let mut script = BEGIN.to_owned();
    let mut line = |text: String| {
        let _ = writeln!(script, "{text}");
    };
    // It would send packets of its own at random times.
    line(
        "for each in /proc/sys/net/ipv6/conf/*/disable_ipv6; do echo 1 >\"$each\"; done".to_owned(),
    );
    line("ip link set lo up".to_owned());
    line(format!("ip link set eth0 mtu {} up || fail 'the NIC is missing'", kernel.mtu));
    for neighbor in neighbors {
        match neighbor.number == number {
            true => line(format!("ip addr add {}/8 dev eth0", neighbor.ip)),
            // Nobody answers a broadcast in the network.
            false => line(format!(
                "ip neigh replace {} lladdr {} dev eth0 nud permanent",
                neighbor.ip, neighbor.mac
            )),
        }
    }
    for (name, value) in &kernel.sysctl {
        let path = name.replace('.', "/");
        let quoted = quoted(value);
        line(format!(
            "echo {quoted} 2>/dev/null >/proc/sys/{path} || fail 'the kernel refuses the setting {name}'"
        ));
    }
    if kernel.long_flows.is_some() || !kernel.takes.is_empty() {
        // Answers go to the simulation.
        let (ip, mac) = (control::IP, control::MAC);
        line(format!("ip neigh replace {ip} lladdr {mac} dev eth0 nud permanent"));
        let port = |port: &Port| match &port.congestion {
            Some(congestion) => format!(" {}:{congestion}", port.number),
            None => format!(" {}", port.number),
        };
        let ports: String = kernel.takes.iter().map(port).collect();
        line(format!("{{ endpoint flows{ports} || echo $? >status; }} >>output 2>&1 </dev/null &"));
    }
    if kernel.command.is_empty() {
        line("exec endpoint idle".to_owned());
        return script;
    }
    line(format!("endpoint until {}", epoch + kernel.start.0 / 1_000));
    script + END
}

/// As one word of the shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::{Duration, NodeId};

    fn neighbors() -> [Neighbor; 2] {
        [0, 300].map(|number: u32| {
            let [a, b, c, d] = (0x0a00_0001 + number).to_be_bytes();
            let ip = Ipv4Addr::new(a, b, c, d);
            Neighbor { number, ip, mac: Mac([2, 0, a, b, c, d]) }
        })
    }

    #[test]
    fn a_script_sets_up_the_network_and_runs_the_command() {
        let kernel = Kernel {
            host: NodeId(9),
            workload: 0,
            command: "echo hello".to_owned(),
            start: Duration::from_ms(100),
            mtu: 1482,
            sysctl: [("net.ipv4.tcp_congestion_control".to_owned(), "it's".to_owned())].into(),
            long_flows: None,
            takes: Vec::new(),
        };
        let text = script(&kernel, 300, &neighbors(), 1_000);
        for line in [
            "ip link set eth0 mtu 1482 up || fail 'the NIC is missing'",
            "ip addr add 10.0.1.45/8 dev eth0",
            "ip neigh replace 10.0.0.1 lladdr 02:00:0a:00:00:01 dev eth0 nud permanent",
            r"echo 'it'\''s' 2>/dev/null >/proc/sys/net/ipv4/tcp_congestion_control || fail 'the kernel refuses the setting net.ipv4.tcp_congestion_control'",
            "endpoint until 100001000",
            "sh /run/host/command >>/run/host/output 2>&1 </dev/null",
        ] {
            assert!(text.lines().any(|other| other == line), "{line}\n{text}");
        }
        assert!(!text.contains("endpoint flows"), "{text}");
        let takes = [(6_001, None), (6_003, Some("dctcp".to_owned()))]
            .map(|(number, congestion)| Port { number, congestion });
        let asked = Kernel { takes: takes.to_vec(), ..kernel.clone() };
        let expected =
            "{ endpoint flows 6001 6003:dctcp || echo $? >status; } >>output 2>&1 </dev/null &";
        let text = script(&asked, 300, &neighbors(), 0);
        assert!(text.lines().any(|line| line == expected), "{text}");
        let idle = script(&Kernel { command: String::new(), ..kernel }, 0, &neighbors(), 0);
        assert!(idle.ends_with("exec endpoint idle\n") && !idle.contains("until"), "{idle}");
        assert_eq!(
            hosts(&neighbors()),
            "127.0.0.1 localhost\n10.0.0.1 host-0\n10.0.1.45 host-300\n"
        );
    }
}

//! What is kept of the kernels of a run, beside the tables of the simulation.

use std::fmt::Write;
use std::net::Ipv4Addr;

use floodway_lab::Kept;

/// What is known of a kernel when a run has ended.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// The name of its host.
    pub host: String,
    /// Its number.
    pub number: u32,
    /// Its address.
    pub address: Option<Ipv4Addr>,
    /// Its command.
    pub command: String,
    /// Counters.
    pub counters: Counters,
    /// The exit status of the command; `None` if it has not ended, or there is none.
    pub status: Option<i32>,
    /// What the command has printed.
    pub output: String,
    /// What the kernel has printed.
    pub console: String,
}

/// Counters of the NIC of a kernel. Octets are those of frames without padding and FCS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counters {
    /// Frames sent, and their octets.
    pub sent: (u64, u64),
    /// Frames received, and their octets.
    pub received: (u64, u64),
    /// Frames that arrived when the kernel had no buffer.
    pub no_buffer: u64,
    /// Frames to nobody in the network, which were not sent.
    pub unaddressed: u64,
    /// Hash of the times, lengths and octets of all frames that were sent or received.
    pub hash: u64,
}

impl Default for Counters {
    fn default() -> Self {
        // The offset basis of FNV-1a.
        let hash = 0xcbf2_9ce4_8422_2325;
        Self { sent: (0, 0), received: (0, 0), no_buffer: 0, unaddressed: 0, hash }
    }
}

impl Counters {
    /// Adds octets to the hash.
    pub fn add(&mut self, octets: &[u8]) {
        for octet in octets {
            self.hash = (self.hash ^ u64::from(*octet)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

/// The files of a run.
pub fn files(accounts: &[Account]) -> Vec<Kept> {
    let kept = |name, what, text: String| Kept { name, what, octets: text.into_bytes() };
    let text =
        |of: fn(&Account) -> &str| accounts.iter().map(|one| section(one, of(one))).collect();
    vec![
        kept("kernels.csv", "the table of kernels", table(accounts)),
        kept("output.txt", "the output of commands", text(|one| &one.output)),
        kept("consoles.txt", "the consoles of kernels", text(|one| &one.console)),
    ]
}

fn table(accounts: &[Account]) -> String {
    let mut text = "host,number,address,frames_sent,bytes_sent,frames_received,bytes_received,\
                    no_buffer,unaddressed,exit_status,hash\n"
        .to_owned();
    for one in accounts {
        let Counters { sent, received, no_buffer, unaddressed, hash } = one.counters;
        let address = one.address.map(|address| address.to_string()).unwrap_or_default();
        let status = one.status.map(|status| status.to_string()).unwrap_or_default();
        let host = one.host.replace('"', "\"\"");
        let _ = writeln!(
            text,
            "\"{host}\",{},{address},{},{},{},{},{no_buffer},{unaddressed},{status},{hash:016x}",
            one.number, sent.0, sent.1, received.0, received.1
        );
    }
    text
}

fn section(one: &Account, text: &str) -> String {
    let command = match one.command.as_str() {
        "" => "no command".to_owned(),
        command => command.lines().collect::<Vec<_>>().join("; "),
    };
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("==== {} (host-{}): {command}\n{text}{end}", one.host, one.number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_keeps_a_table_and_what_was_printed() {
        let one = Account {
            host: "host 3".to_owned(),
            number: 3,
            address: Some(Ipv4Addr::new(10, 0, 0, 4)),
            command: "one\ntwo".to_owned(),
            counters: Counters { sent: (2, 200), hash: 0xab, ..Counters::default() },
            status: Some(0),
            output: "done".to_owned(),
            console: String::new(),
        };
        let files = files(&[one]);
        let text = |place: usize| String::from_utf8(files[place].octets.clone()).unwrap();
        assert!(text(0).ends_with("\n\"host 3\",3,10.0.0.4,2,200,0,0,0,0,0,00000000000000ab\n"));
        assert_eq!(text(1), "==== host 3 (host-3): one; two\ndone\n");
        assert_eq!(text(2), "==== host 3 (host-3): one; two\n");
    }

    #[test]
    fn the_hash_is_fnv() {
        // Published vector: FNV-1a of 64 bits of "a".
        let mut counters = Counters::default();
        counters.add(b"a");
        assert_eq!(counters.hash, 0xaf63_dc4c_8601_ec8c);
    }
}

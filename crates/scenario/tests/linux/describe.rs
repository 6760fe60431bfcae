//! The scenario of a situation: the same link, queueing discipline and flows as in the kernel.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::traces::Situation;

/// Frames with 1448 bytes of payload, and their acknowledgments with a timestamp, FCS included.
const FRAME: f64 = 1_518.0;
const ACK: f64 = 70.0;

/// The frame check sequence, which Linux does not count.
const FCS: u64 = 4;

/// Propagation delay of the links of hosts, in ms. Their rate is such that frames cost no time there.
const HOST_DELAY: f64 = 0.1;

/// The time within which flows begin at random, where totals are compared.
pub const TOTALS: &str = "1s";

/// The same where windows over time are compared: flows begin at once.
pub const WINDOWS: &str = "0s";

/// The scenario as text.
pub fn scenario(situation: &Situation, tc: &str, jitter: &str) -> String {
    let bits_per_ms = situation.rate * 1e3;
    let serialization = (FRAME + ACK) * 8.0 / bits_per_ms;
    let delay = (situation.rtt_ms - serialization) / 2.0 - 2.0 * HOST_DELAY;
    let mut text = format!(
        "name = \"linux\"\nseed = 1\narrivals = \"{end}s\"\nlimit = \"{end}.001s\"\nwarmup = \"{warmup}s\"\n\
         flow_samples = \"1s\"\nsample_interval = \"100ms\"\ndepartures = true\nwire_overhead = \"0B\"\n\
         [topology.dumbbell]\nleft = 1\nright = 1\nhost_rate = \"100Gbps\"\nhost_delay = \"{HOST_DELAY}ms\"\n\
         bottleneck_rate = \"{rate}Mbps\"\nbottleneck_delay = \"{delay:.6}ms\"\n\
         [switch]\nlatency = \"0ns\"\n[host.transport.tcp]\n",
        end = situation.seconds,
        warmup = situation.warmup,
        rate = situation.rate,
    );
    text.push_str(&queue(tc));
    for flows in &situation.bulk {
        let (control, count) = (&flows.control, flows.count);
        write!(
            text,
            "[[workload]]\n[workload.long_flows]\ncount = {count}\nfrom = \"0\"\nto = \"1\"\njitter = \"{jitter}\"\n\
             [workload.congestion.{control}]\n"
        )
        .unwrap();
        if flows.ecn {
            text.push_str("[workload.transport.tcp]\necn = \"classic\"\n");
        }
    }
    text
}

/// The queue of the bottleneck, from the arguments of `tc`.
fn queue(tc: &str) -> String {
    let words: Vec<&str> = tc.split_whitespace().collect();
    let values: BTreeMap<&str, &str> =
        words[1..].windows(2).map(|pair| (pair[0], pair[1])).collect();
    let packets = |name: &str| values[name].parse::<u64>().unwrap() * FRAME as u64;
    let ecn = words.contains(&"ecn");
    let (size, aqm) = match words[0] {
        "bfifo" => (values["limit"].parse().unwrap(), "[switch.aqm.drop_tail]\n".to_owned()),
        // Its own limit is part of the command.
        "red" => (
            2 * values["limit"].parse::<u64>().unwrap(),
            format!("[switch.aqm.red]\ncommand = \"tc qdisc add dev r1 root {tc}\"\n"),
        ),
        "codel" => (
            packets("limit"),
            format!(
                "[switch.aqm.codel]\ntarget = \"{}\"\ninterval = \"{}\"\necn = {ecn}\n",
                values["target"], values["interval"]
            ),
        ),
        "pie" => (
            packets("limit"),
            format!(
                "[switch.aqm.pie]\ntarget = \"{}\"\ntupdate = \"{}\"\necn = {ecn}\n",
                values["target"], values["tupdate"]
            ),
        ),
        "fq_codel" => (
            packets("limit"),
            // Frames have their FCS here.
            format!(
                "[switch.queue.discipline.fq_codel]\nqueues = {}\nquantum = \"{}B\"\ntarget = \"{}\"\n\
                 interval = \"{}\"\necn = {ecn}\n",
                values["flows"],
                values["quantum"].parse::<u64>().unwrap() + FCS,
                values["target"],
                values["interval"]
            ),
        ),
        // Its buffer has no limit without a shaper.
        "cake" => {
            assert_eq!(words[1..], ["unlimited", "besteffort"]);
            let table = "[switch.queue.discipline.cake]\ndiffserv = \"besteffort\"\n";
            (15_180_000, table.to_owned())
        }
        "dualpi2" => return dualpi2(),
        other => panic!("no scenario for the queueing discipline {other}"),
    };
    format!("[switch.queue]\nsize = \"{size}B\"\n{aqm}")
}

/// All that is ECN-capable is in the low latency queue, as in the kernel; its limit of 10000 packets is for both queues.
fn dualpi2() -> String {
    "[switch.queue]\ncount = 2\nsize = \"15180000B\"\n[switch.classify.ecn]\nlow_latency = \"ecn_capable\"\n\
     [switch.scheduler.wrr]\n[switch.aqm.dualpi2]\n"
        .to_owned()
}

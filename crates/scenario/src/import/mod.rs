//! Experiments of other tools, and captures of networks, written as scenarios.

pub mod hpcc;
pub mod pcap;

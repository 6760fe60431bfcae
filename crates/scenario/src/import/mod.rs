//! Experiments of other tools, captures of networks and configurations of switches, written as scenarios.

pub mod account;
pub mod hpcc;
pub mod pcap;
pub mod sonic;
mod writer;

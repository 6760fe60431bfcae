//! Frames in octets: the formats of everything that floodway simulates, in both directions, and files of captures.
//!
//! Each format is a table of fields, from which reading and writing follow, or a type with `octets` or `frame` and
//! `parse`. What reads octets returns an [`Invalid`] for octets that are not of the format, whatever they are; what
//! writes them panics if a value does not fit into its field, and cuts none.
//!
//! | format | module | source |
//! | --- | --- | --- |
//! | Ethernet, VLAN tag, FCS | [`ethernet`] | IEEE 802.3 clause 3, IEEE 802.1Q clause 9 |
//! | PAUSE, PFC, DRC feedback | [`mac_control`] | IEEE 802.3 annexes 31B and 31D, IEEE 802.1Q clause 36; DRC assumed |
//! | CNM, CN-TAG | [`cnm`] | IEEE 802.1Q clauses 30 to 33, by a manual |
//! | CIM | [`cim`] | IEEE 802.1Q clause 49, assumed layout |
//! | SFC message | [`sfc`] | project P802.1Qdw, assumed layout |
//! | IPv4, IPv6, UDP | [`ip`] | RFC 791, RFC 8200, RFC 768; by `etherparse` |
//! | TCP and its options | [`tcp`] | RFC 9293, 7323, 2018, 9768; by `etherparse` |
//! | RoCEv2: BTH, RETH, AETH, CNP, ICRC | [`roce`] | InfiniBand Architecture Specification volume 1, annex A17 |
//! | INT of HPCC | [`telemetry`] | SIGCOMM 2019, units of its authors' simulator |
//! | BFC, link credit, layer 2 indication | [`experimental`] | floodway's own |
//!
//! [`pcapng`] writes captures, and [`capture`] reads them.

mod error;
pub mod layout;

pub mod capture;
pub mod cim;
pub mod cnm;
pub mod ethernet;
pub mod experimental;
pub mod ip;
pub mod mac_control;
pub mod pcapng;
pub mod roce;
pub mod sfc;
pub mod tcp;
pub mod telemetry;

pub use error::Invalid;
pub use ethernet::Mac;

//! Frame lengths and overheads, in bytes.

/// Preamble, start delimiter and inter-frame gap: 8 + 12.
pub const PREAMBLE_AND_GAP: u16 = 20;
/// The shortest Ethernet frame, and the length of a MAC control frame.
pub const SHORTEST_FRAME: u16 = 64;
/// Ethernet 14, FCS 4.
pub const ETHERNET_OVERHEAD: u16 = 18;
/// Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4.
pub const ROCE_OVERHEAD: u16 = 62;
/// Ethernet 14, IPv4 20, UDP 8, FCS 4.
pub const UDP_OVERHEAD: u16 = 46;
/// Ethernet 14, IPv4 20, TCP 20 with timestamps 12, FCS 4, for a segment with data.
pub const TCP_OVERHEAD: u16 = 70;
/// [`ROCE_OVERHEAD`] and AETH 4.
pub const ROCE_ACK: u16 = 66;
/// Telemetry in a RoCEv2 packet and in its acknowledgement: 2 bytes, and 8 for each of 5 hops
/// (HPCC, SIGCOMM 2019, section 4.1).
pub const TELEMETRY: u16 = 42;
/// [`ROCE_OVERHEAD`] and a 4-byte counter. The layout is an assumption: that of an
/// acknowledgement.
pub const ROCE_CREDIT: u16 = 66;
/// Data of Ultra Ethernet: what uet-htsim has, 64 bytes of headers and FCS.
pub const UET_OVERHEAD: u16 = 64;
/// Ethernet 14, IPv4 20, UDP 8, ACK_CC 28, FCS 4.
pub const UET_ACK: u16 = 74;
/// Credit of Ultra Ethernet, and the request for it: what uet-htsim has.
pub const UET_CREDIT: u16 = 64;
/// [`ROCE_OVERHEAD`] and 16 reserved bytes.
pub const ROCE_CNP: u16 = 78;
/// Ethernet 14, payload 18 (version, addresses, VLAN, length), 48 bytes of the packet, FCS 4.
/// The bit layout is an assumption; the 48 bytes are the default of the managed object
/// `min-header-octets` in the 802.1Qcz YANG module.
pub const CIM: u16 = 84;
/// Ethernet 14, VLAN tag 4, CN-TAG 4, PDU 24, FCS 4: a CNM without data of the sampled frame,
/// before padding to [`SHORTEST_FRAME`].
pub const CNM: u16 = 50;
/// Ethernet 14, IPv4 20, UDP 8, payload 28 (version and flags, addresses, protocol, ports and
/// DSCP of the packet, pause time), FCS 4. The layout is an assumption, because the text of the
/// project is not public.
pub const SFC: u16 = 74;

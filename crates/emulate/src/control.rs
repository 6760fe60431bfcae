//! How a kernel is asked for long-lived flows: by datagrams of UDP that arrive at its NIC without having crossed the network,
//! to the program `endpoint flows` (`oracle/endpoint.c`), and its answers, which do not get into the network either.

use std::net::Ipv4Addr;

use etherparse::{SlicedPacket, TransportSlice};
use floodway_sim::kernel::{LongFlow, Order};
use floodway_wire::Mac;
use floodway_wire::ethernet::{Header, ethertype, frame};
use floodway_wire::ip::Ip;

use crate::script::Neighbor;

/// The address of the simulation, which no host has: the last one of the network.
pub const IP: Ipv4Addr = Ipv4Addr::new(10, 255, 255, 254);
/// The same of Ethernet.
pub const MAC: Mac = Mac([2, 0, 10, 255, 255, 254]);
/// The port of the program, and that of the simulation.
const PORT: u16 = 7_000;
/// The frame check sequence, which frames of kernels do not have.
const FCS: usize = 4;

/// The frame that asks a kernel for something, without FCS; `to` is the address of the receiver of the flow.
pub fn frame_of(order: Order, to: Ipv4Addr, kernel: Neighbor) -> Vec<u8> {
    let text = match order {
        Order::Start(LongFlow { source, port, .. }) => format!("start {source} {to} {port}"),
        Order::Stop(LongFlow { source, .. }) => format!("stop {source}"),
    };
    let ip = Ip { source: IP, destination: kernel.ip, dscp: 0, ecn: 0, ttl: 64 };
    let header = Header { destination: kernel.mac, source: MAC, ethertype: ethertype::IPV4 };
    let mut octets = frame(header, &[], &ip.udp((PORT, PORT), text.as_bytes()), 0);
    octets.truncate(octets.len() - FCS);
    octets
}

/// What the program says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// It can be asked for flows.
    Ready,
    /// Something has gone wrong.
    Trouble(String),
    /// Nothing.
    Nothing,
}

/// What the program says with a frame of its kernel; `None` if the frame is to others.
pub fn said(octets: &[u8]) -> Option<Said> {
    if octets.get(..6)? != MAC.0 {
        return None;
    }
    let Ok(packet) = SlicedPacket::from_ethernet(octets) else { return Some(Said::Nothing) };
    Some(match packet.transport {
        Some(TransportSlice::Udp(udp)) if udp.payload() == b"ready" => Said::Ready,
        Some(TransportSlice::Udp(udp)) => {
            Said::Trouble(String::from_utf8_lossy(udp.payload()).into_owned())
        }
        // Nobody listens at its port.
        Some(TransportSlice::Icmpv4(_)) => {
            Said::Trouble("the program for long-lived flows has ended".to_owned())
        }
        _ => Said::Nothing,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::NodeId;

    fn kernel() -> Neighbor {
        Neighbor { number: 4, ip: [10, 0, 0, 5].into(), mac: Mac([2, 0, 10, 0, 0, 5]) }
    }

    #[test]
    fn a_frame_asks_for_a_flow() {
        let flow = LongFlow { to: NodeId(9), source: 20_003, port: 6_001 };
        let octets = frame_of(Order::Start(flow), [10, 0, 0, 7].into(), kernel());
        // Addresses, type, headers of 20 and 8 octets, and the text.
        assert_eq!(octets[..14], [2, 0, 10, 0, 0, 5, 2, 0, 10, 255, 255, 254, 8, 0]);
        assert_eq!(octets[34..38], [0x1b, 0x58, 0x1b, 0x58]);
        assert_eq!(octets[42..], *b"start 20003 10.0.0.7 6001");
        let octets = frame_of(Order::Stop(flow), [10, 0, 0, 7].into(), kernel());
        assert_eq!(octets[42..], *b"stop 20003");
    }

    #[test]
    fn what_the_program_says_is_not_sent_to_others() {
        let ip = Ip { source: kernel().ip, destination: IP, dscp: 0, ecn: 0, ttl: 64 };
        let header = Header { destination: MAC, source: kernel().mac, ethertype: ethertype::IPV4 };
        let of = |content: &[u8]| frame(header, &[], content, 0);
        let octets = of(&ip.udp((PORT, PORT), b"there is no flow"));
        assert_eq!(said(&octets), Some(Said::Trouble("there is no flow".to_owned())));
        assert_eq!(said(&of(&ip.udp((PORT, PORT), b"ready"))), Some(Said::Ready));
        // Destination unreachable, port unreachable (RFC 792).
        let unreachable =
            of(&ip.datagram(etherparse::IpNumber::ICMP, &[3, 3, 0xfc, 0xfc, 0, 0, 0, 0]));
        let ended = "the program for long-lived flows has ended".to_owned();
        assert_eq!(said(&unreachable), Some(Said::Trouble(ended)));
        let other = Header { destination: kernel().mac, ..header };
        assert_eq!(said(&frame(other, &[], b"1234", 0)), None);
        assert_eq!(said(&[2, 0]), None);
    }
}

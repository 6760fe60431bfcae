//! What switches need to know of a frame of a kernel, and what they change in it.

use std::collections::BTreeMap;

use etherparse::{NetSlice, SlicedPacket, TransportSlice};
use floodway_model::{Dscp, Ecn, NodeId, Tos};
use floodway_sim::kernel::{Header, connection};
use floodway_wire::Mac;

/// What is known of a frame; `None` if it is not for one of these hosts.
pub fn header(octets: &[u8], hosts: &BTreeMap<Mac, NodeId>) -> Option<Header> {
    let to: [u8; 6] = octets.get(..6)?.try_into().ok()?;
    let dst = *hosts.get(&Mac(to))?;
    let other = Header {
        dst,
        tos: Tos::default(),
        connection: 0,
        payload: octets.len().saturating_sub(14) as u16,
        end: None,
    };
    let Ok(packet) = SlicedPacket::from_ethernet(octets) else { return Some(other) };
    let Some(NetSlice::Ipv4(ip)) = &packet.net else { return Some(other) };
    let fields = ip.header();
    let tos = Tos::new(Dscp(fields.dcp().value()), ecn(fields.ecn().value()));
    let (ports, payload, end) = match &packet.transport {
        Some(TransportSlice::Tcp(tcp)) => {
            let payload = tcp.payload().len();
            let flags = u32::from(tcp.syn()) + u32::from(tcp.fin());
            let end = tcp.sequence_number().wrapping_add(payload as u32).wrapping_add(flags);
            ((tcp.source_port(), tcp.destination_port()), payload, (payload > 0).then_some(end))
        }
        Some(TransportSlice::Udp(udp)) => {
            ((udp.source_port(), udp.destination_port()), udp.payload().len(), None)
        }
        _ => ((0, 0), ip.payload().payload.len(), None),
    };
    let connection = connection(fields.protocol().0, ports);
    Some(Header { dst, tos, connection, payload: payload as u16, end })
}

fn ecn(field: u8) -> Ecn {
    match field & 3 {
        0 => Ecn::NotEct,
        1 => Ecn::Ect1,
        2 => Ecn::Ect0,
        _ => Ecn::Ce,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_wire::ethernet::{Header as Ethernet, ethertype, frame};
    use floodway_wire::ip::Ip;

    const HERE: Mac = Mac([2, 0, 10, 0, 0, 1]);
    const THERE: Mac = Mac([2, 0, 10, 0, 0, 2]);

    fn hosts() -> BTreeMap<Mac, NodeId> {
        [(HERE, NodeId(3)), (THERE, NodeId(4))].into()
    }

    fn udp(destination: Mac) -> Vec<u8> {
        let ip = Ip {
            source: [10, 0, 0, 1].into(),
            destination: [10, 0, 0, 2].into(),
            dscp: 18,
            ecn: 2,
            ttl: 64,
        };
        let header = Ethernet { destination, source: HERE, ethertype: ethertype::IPV4 };
        let mut octets = frame(header, &[], &ip.udp((1_000, 2_000), &[7; 100]), 0);
        octets.truncate(octets.len() - 4);
        octets
    }

    #[test]
    fn a_datagram_has_fields_and_ports() {
        let found = header(&udp(THERE), &hosts()).unwrap();
        let expected = Header {
            dst: NodeId(4),
            tos: Tos::new(Dscp(18), Ecn::Ect0),
            connection: 17 << 32 | 1_000 << 16 | 2_000,
            payload: 100,
            end: None,
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn frames_for_nobody_and_frames_of_other_protocols() {
        assert_eq!(header(&udp(Mac([0xff; 6])), &hosts()), None);
        assert_eq!(header(&[0; 5], &hosts()), None);
        let arp = [&THERE.0[..], &HERE.0, &[8, 6], &[0; 28]].concat();
        let found = header(&arp, &hosts()).unwrap();
        assert_eq!((found.dst, found.connection, found.payload), (NodeId(4), 0, 28));
    }
}
